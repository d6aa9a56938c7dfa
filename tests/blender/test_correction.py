"""A correction as it is written: where the evaluated rig has its joints afterwards, and all that must not change."""

import bpy
import numpy as np
from blender import rigs

# Joints land within this share of the length of thigh and shin.
from blender.corrections import FRAMES, SAME, TURNS, CorrectionCase, chain, neighbours, random_correction

from footlock.rig import clip as reading
from footlock.rig import compat, controls, correction, mapping
from footlock.rig.names import LegMap
from footlock.solvers import rotations as rot
from footlock.solvers.errors import FootlockError


class RotationModes(CorrectionCase):
    def test_every_mode(self):
        for mode in rigs.MODES:
            with self.subTest(mode):
                rigs.new_file()
                armature = rigs.biped()
                rigs.wobble(armature, FRAMES, mode=mode)
                self.apply(armature)

    def test_every_bone_its_own_mode(self):
        armature = rigs.biped(root=True, socket=True, twist=True)
        for i, bone in enumerate(armature.pose.bones):
            bone.rotation_mode = rigs.MODES[i % len(rigs.MODES)]
        rigs.wobble(armature, FRAMES)
        self.apply(armature)

    def test_two_full_turns(self):
        """Angles that wind keep winding."""
        winding = np.linspace(-4.0 * np.pi, 4.0 * np.pi, len(FRAMES))[:, None]
        for mode in (*rigs.EULERS, "AXIS_ANGLE"):
            with self.subTest(mode):
                rigs.new_file()
                armature = rigs.biped()
                rigs.wobble(armature, FRAMES, mode=mode)
                for name in ("thigh.L", "shin.R", "foot.L"):
                    path = rigs.rotation_path(armature.pose.bones[name])
                    rows = winding * (1.0, 0.2, 0.1)
                    if mode == "AXIS_ANGLE":
                        rows = np.concatenate([winding, np.tile((0.2, 0.9, 0.4), (len(FRAMES), 1))], axis=1)
                    rigs.key(armature, path, rows, FRAMES, group=name)
                clip = self.apply(armature)
                for name in ("thigh.L", "shin.R", "foot.L"):
                    turned = self.rotation(armature, name, clip.frames)
                    # A correction that goes round the other side of gimbal lock may cost one turn, and nothing jumps.
                    self.assertGreater(np.ptp(turned[:, 0]), 5.5 * np.pi)

    def test_quaternions_two_full_turns(self):
        armature = rigs.biped()
        rigs.wobble(armature, FRAMES, mode="QUATERNION")
        half = np.linspace(-2.0 * np.pi, 2.0 * np.pi, len(FRAMES))[:, None]
        rows = np.concatenate([np.cos(half), np.sin(half) * (0.6, 0.0, 0.8)], axis=1) * 1.7
        for name in ("thigh.L", "shin.R", "foot.L"):
            path = rigs.rotation_path(armature.pose.bones[name])
            rigs.key(armature, path, rows, FRAMES, group=name)
        clip = self.apply(armature)
        for name in ("thigh.L", "shin.R", "foot.L"):
            new = self.rotation(armature, name, clip.frames)
            self.assertTrue((neighbours(new) > 0.0).all())
            np.testing.assert_allclose(np.linalg.norm(new, axis=1), 1.7, rtol=1e-5)

    def test_through_gimbal_lock(self):
        """The middle angle goes through a quarter turn, and stops in it; the corrections are as small as usual."""
        for mode in rigs.EULERS:
            for turn in (0.0, 0.01, 0.1, 0.4):
                with self.subTest(mode=mode, turn=turn):
                    rigs.new_file()
                    armature = rigs.biped()
                    rigs.wobble(armature, FRAMES, mode=mode)
                    rows = np.zeros((len(FRAMES), 3))
                    middle = "XYZ".index(mode[1])
                    rows[:, middle] = np.clip(np.linspace(0.2, 3.0, len(FRAMES)), 0.0, np.pi / 2.0)
                    rows[30:, middle] = np.linspace(np.pi / 2.0, 3.0, len(FRAMES) - 30)
                    rows[:, "XYZ".index(mode[0])] = np.linspace(-1.0, 2.0, len(FRAMES))
                    rows[:, "XYZ".index(mode[2])] = 0.5 * np.sin(FRAMES / 5.0)
                    for name in ("thigh.L", "shin.R", "foot.L"):
                        rigs.key(armature, rigs.rotation_path(armature.pose.bones[name]), rows, FRAMES, group=name)
                    self.apply(armature, turn=turn)

    def test_quaternions_of_no_length(self):
        armature = rigs.biped()
        rigs.wobble(armature, FRAMES)
        rigs.key(armature, 'pose.bones["shin.L"].rotation_quaternion', np.zeros((len(FRAMES), 4)), FRAMES)
        self.apply(armature)

    def test_axes_of_no_length(self):
        armature = rigs.biped()
        rigs.wobble(armature, FRAMES, mode="AXIS_ANGLE")
        rows = np.tile((1.0, 0.0, 0.0, 0.0), (len(FRAMES), 1))
        rigs.key(armature, 'pose.bones["shin.L"].rotation_axis_angle', rows, FRAMES)
        self.apply(armature)


class Rigs(CorrectionCase):
    def test_every_way_to_inherit(self):
        for inherit_scale in rigs.INHERIT_SCALE:
            for rotation in (True, False):
                for local in (True, False):
                    with self.subTest(inherit_scale=inherit_scale, rotation=rotation, local_location=local):
                        rigs.new_file()
                        armature = rigs.biped(root=True)
                        for bone in armature.data.bones:
                            bone.inherit_scale = inherit_scale
                            bone.use_inherit_rotation = rotation
                            bone.use_local_location = local
                        rigs.wobble(armature, FRAMES, scale=0.2)
                        self.apply(armature)

    def apply_or_refuse(self, armature):
        """The correction lands, or is refused before anything changes."""
        held = rigs.everything()
        try:
            correction.check(armature, mapping.of(armature), controls.of(armature, mapping.of(armature)))
            reading.read(self.scene, armature, mapping.of(armature), 1.0)
        except FootlockError as error:
            self.assertTrue(str(error).endswith("."))
            self.assertEqual(rigs.everything(), held)
        else:
            self.apply(armature)

    def test_bones_between_that_do_not_inherit_rotation(self):
        """A shin under a twist bone that does not turn with the thigh."""
        armature = rigs.biped(twist=True)
        for side in "LR":
            armature.data.bones[f"thigh_twist.{side}"].use_inherit_rotation = False
        rigs.wobble(armature, FRAMES)
        self.apply_or_refuse(armature)

    def test_stretched_bones(self):
        """Bones that are scaled along themselves only, as stretchy legs are."""
        armature = rigs.biped()
        rigs.wobble(armature, FRAMES)
        for name in ("thigh.L", "shin.L", "foot.R"):
            armature.data.bones[name].inherit_scale = "NONE"
            scales = np.ones((len(FRAMES), 3))
            scales[:, 1] = np.linspace(0.9, 1.2, len(FRAMES))
            rigs.key(armature, armature.pose.bones[name].path_from_id("scale"), scales, FRAMES)
        for name in ("toe.L", "toe.R", "foot.L", "shin.R"):
            armature.data.bones[name].inherit_scale = "NONE"
        self.apply(armature)

    def test_mirrored_bone(self):
        """A thigh whose own scale mirrors it."""
        armature = rigs.biped()
        rigs.wobble(armature, FRAMES)
        rigs.key(armature, 'pose.bones["thigh.L"].scale', np.tile((-1.0, 1.0, 1.0), (len(FRAMES), 1)), FRAMES)
        self.apply_or_refuse(armature)

    def test_mirrored_pelvis(self):
        armature = rigs.biped()
        rigs.wobble(armature, FRAMES)
        rigs.key(armature, 'pose.bones["pelvis"].scale', np.tile((-1.0, 1.0, 1.0), (len(FRAMES), 1)), FRAMES)
        self.apply_or_refuse(armature)

    def test_connected(self):
        armature = rigs.biped(connect=True)
        rigs.wobble(armature, FRAMES)
        self.apply(armature)

    def test_bones_between_and_above(self):
        armature = rigs.biped(root=True, socket=True, twist=True)
        rigs.wobble(armature, FRAMES, scale=0.1)
        self.apply(armature)

    def test_no_toes(self):
        armature = rigs.biped(toes=False)
        rigs.wobble(armature, FRAMES)
        self.apply(armature)

    def test_one_leg(self):
        armature = rigs.biped(sides="R")
        rigs.wobble(armature, FRAMES)
        self.apply(armature)

    def test_carrier_above_the_pelvis(self):
        armature = rigs.biped(root=True)
        rigs.wobble(armature, FRAMES)
        found = mapping.of(armature)
        legs = LegMap(found.pelvis, found.legs, "root")
        held = rigs.dump(armature)
        self.apply(armature, legs=legs)
        after = rigs.dump(armature)
        for i in range(3):
            key = ('pose.bones["pelvis"].location', i)
            self.assertEqual(after[key], held[key])

    def test_object_moved_turned_scaled(self):
        for size, scale in ((100.0, 0.01), (1.0, 1.0), (0.01, 100.0), (0.001, 1000.0)):
            with self.subTest(size=size, scale=scale):
                rigs.new_file()
                armature = rigs.biped(root=True, size=size)
                rigs.wobble(armature, FRAMES)
                armature.location, armature.scale = (1.0, -2.0, 0.5), (scale,) * 3
                armature.rotation_euler = (0.3, -0.2, 2.0)
                self.apply(armature)

    def test_small_corrections_of_small_armatures(self):
        """An armature whose unit is 100 m, as some FBX files have it: a millimetre counts."""
        armature = rigs.biped(size=0.01)
        rigs.wobble(armature, FRAMES)
        armature.scale = (100.0,) * 3
        self.apply(armature, shift=1e-4, turn=1e-4)

    def test_small_corrections(self):
        armature = rigs.biped()
        rigs.wobble(armature, FRAMES)
        self.apply(armature, shift=1e-4, turn=1e-4)

    def test_parented_to_an_animated_empty(self):
        empty = bpy.data.objects.new("Mover", None)
        self.scene.collection.objects.link(empty)
        rng = np.random.default_rng(4)
        rigs.key(empty, "location", rigs.wave(rng, FRAMES, 3, 2.0), FRAMES)
        rigs.key(empty, "rotation_euler", rigs.wave(rng, FRAMES, 3, 1.0), FRAMES)
        armature = rigs.biped(root=True)
        rigs.wobble(armature, FRAMES)
        armature.parent = empty
        self.apply(armature)

    def test_object_itself_animated(self):
        armature = rigs.biped(root=True)
        rigs.wobble(armature, FRAMES)
        rng = np.random.default_rng(4)
        rigs.key(armature, "location", rigs.wave(rng, FRAMES, 3, 2.0), FRAMES)
        rigs.key(armature, "rotation_euler", rigs.wave(rng, FRAMES, 3, 1.0), FRAMES)
        self.apply(armature)

    def test_bone_above_with_a_constraint(self):
        armature = rigs.biped(root=True)
        rigs.wobble(armature, FRAMES)
        empty = bpy.data.objects.new("Mover", None)
        self.scene.collection.objects.link(empty)
        rigs.key(empty, "location", rigs.wave(np.random.default_rng(4), FRAMES, 3, 1.0), FRAMES)
        armature.pose.bones["root"].constraints.new("COPY_LOCATION").target = empty
        armature.pose.bones["root"].driver_add("rotation_quaternion", 2).driver.expression = "frame * 0.01"
        self.apply(armature)


class Keys(CorrectionCase):
    def test_missing_components_are_made(self):
        armature = rigs.biped()
        rigs.wobble(armature, FRAMES, mode="XYZ")
        held = compat.channels(armature).fcurves
        for bone, channel, index in (
            ("pelvis", "location", 2), ("thigh.L", "rotation", 0), ("shin.R", "rotation", 1), ("shin.R", "rotation", 2)
        ):  # fmt: skip
            held.remove(rigs.curve_of(armature, bone, channel, index))
        armature.pose.bones["thigh.L"].rotation_euler[0] = 0.9
        self.apply(armature)
        self.assertEqual(rigs.curve_of(armature, "shin.R", "rotation", 2).group.name, "shin.R")

    def test_bones_without_curves_get_them(self):
        armature = rigs.biped()
        rigs.wobble(armature, FRAMES, only=("pelvis",))
        armature.pose.bones["thigh.R"].rotation_quaternion = (-2.0, 0.5, -0.3, 0.1)
        self.apply(armature)

    def test_sparse_bezier_keys(self):
        armature = rigs.biped()
        rigs.wobble(armature, FRAMES[::3], interpolation=2)
        self.apply(armature)

    def test_keys_five_a_frame(self):
        armature = rigs.biped()
        frames = 1.0 + np.arange(150) * 0.2
        rigs.wobble(armature, frames)
        self.apply(armature)
        at, _ = rigs.values(rigs.curve_of(armature, "thigh.L", "rotation"))
        np.testing.assert_array_equal(at, np.float32(frames))

    def test_bezier_keys_on_every_frame_keep_their_kind(self):
        armature = rigs.biped()
        rigs.wobble(armature, FRAMES, interpolation=2)
        points = rigs.curve_of(armature, "thigh.L", "rotation", 1).keyframe_points
        points[3].type, points[5].interpolation, points[7].handle_left_type = "EXTREME", "CONSTANT", "FREE"
        self.apply(armature)
        points = rigs.curve_of(armature, "thigh.L", "rotation", 1).keyframe_points
        self.assertEqual(points[3].type, "EXTREME")
        self.assertEqual([point.interpolation for point in points[4:7]], ["BEZIER", "CONSTANT", "BEZIER"])
        self.assertEqual(points[7].handle_left_type, "FREE")

    def test_handles_move_along(self):
        armature = rigs.biped()
        rigs.wobble(armature, FRAMES, interpolation=2)
        curve = rigs.curve_of(armature, "thigh.L", "rotation", 1)
        for point in curve.keyframe_points:
            point.handle_left_type = point.handle_right_type = "FREE"
        curve.update()
        before = [(p.handle_left[1] - p.co[1], p.handle_right[1] - p.co[1]) for p in curve.keyframe_points]
        self.apply(armature)
        curve = rigs.curve_of(armature, "thigh.L", "rotation", 1)
        after = [(p.handle_left[1] - p.co[1], p.handle_right[1] - p.co[1]) for p in curve.keyframe_points]
        np.testing.assert_allclose(after, before, atol=1e-6)

    def test_settings_of_curves_are_kept(self):
        armature = rigs.biped()
        rigs.wobble(armature, FRAMES)
        for bone in ("thigh.L", "pelvis"):
            curve = rigs.curve_of(armature, bone, "rotation" if bone != "pelvis" else "location", 1)
            curve.extrapolation, curve.color_mode, curve.color = "LINEAR", "CUSTOM", (0.2, 0.4, 0.6)
            curve.lock = curve.hide = True
            curve.modifiers.new("CYCLES").cycles_before = 3
        other = rigs.curve_of(armature, "thigh.L", "location", 0)
        other.modifiers.new("NOISE").strength = 0.5
        other.mute = True
        self.apply(armature)  # compares settings of all curves

    def test_unchanged_frames_keep_their_bits(self):
        still = np.zeros(len(FRAMES), bool)
        still[5:20] = still[33:] = True
        for mode in rigs.MODES:
            with self.subTest(mode):
                rigs.new_file()
                armature = rigs.biped()
                rigs.wobble(armature, FRAMES, mode=mode)
                names = [name for leg in mapping.of(armature).legs for name in chain(leg)]
                paths = [(rigs.rotation_path(armature.pose.bones[name]), i) for name in names for i in range(3)]
                paths += [('pose.bones["pelvis"].location', i) for i in range(3)]
                before = {path: rigs.values(rigs.curves(armature)[path])[1] for path in paths}
                self.apply(armature, still=still)
                changed = 0
                for path, old in before.items():
                    new = rigs.values(rigs.curves(armature)[path])[1]
                    np.testing.assert_array_equal(new[still].view(np.int32), old[still].view(np.int32), str(path))
                    changed += int((new != old).sum())
                self.assertGreater(changed, 100)

    def test_no_correction_changes_no_byte(self):
        for mode in rigs.MODES:
            with self.subTest(mode):
                rigs.new_file()
                armature = rigs.biped(root=True, twist=True)
                rigs.wobble(armature, FRAMES, mode=mode, scale=0.2, uniform=False)
                held = rigs.dump(armature)
                self.apply(armature, still=np.ones(len(FRAMES), bool), tolerance=1e-7)
                self.assertEqual(rigs.dump(armature), held)

    def test_one_leg_corrected_leaves_the_other_to_the_byte(self):
        armature = rigs.biped()
        rigs.wobble(armature, FRAMES)
        legs = mapping.of(armature)
        clip = reading.read(self.scene, armature, legs, 1.0, controls.of(armature, legs))
        _, solution = random_correction(clip)
        for name in TURNS:
            getattr(solution, name)[:, 1] = rot.IDENTITY
        held = rigs.dump(armature)
        correction.write(armature, clip, clip.head("pelvis"), solution)
        changed = {path for (path, i), old in held.items() if rigs.dump(armature)[(path, i)] != old}
        bones = ("thigh.L", "shin.L", "foot.L", "toe.L", "thigh.R")
        paths = [rigs.rotation_path(armature.pose.bones[name]) for name in bones]
        self.assertEqual(changed, set(paths[:4]))


class ScaledTravel(CorrectionCase):
    def test_travel_is_scaled_level_and_nothing_else(self):
        armature = rigs.biped(root=True)
        rigs.wobble(armature, FRAMES)
        armature.rotation_euler = (0.0, 0.0, 0.7)
        bpy.context.view_layer.update()
        legs = mapping.of(armature)
        before = rigs.evaluated(armature, FRAMES, ["root", "toe.L"])[0]
        held = rigs.dump(armature)
        correction.scale_travel(armature, reading.read(self.scene, armature, legs, 1.0), 1.25)
        after = rigs.evaluated(armature, FRAMES, ["root", "toe.L"])[0]
        travel = before[:, 0] - before[0, 0]
        expected = before[:, 0] + 0.25 * travel * (1.0, 1.0, 0.0)
        np.testing.assert_allclose(after[:, 0], expected, atol=SAME * rigs.LEG)
        np.testing.assert_allclose(after[:, 1] - after[:, 0], before[:, 1] - before[:, 0], atol=SAME * rigs.LEG)
        changed = {path for (path, i), old in held.items() if rigs.dump(armature)[(path, i)] != old}
        self.assertEqual(changed, {'pose.bones["root"].location'})
