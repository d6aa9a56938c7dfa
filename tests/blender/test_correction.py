"""A correction as it is written: where the evaluated rig has its joints afterwards, and all that must not change."""

import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import bpy
import clips
import numpy as np
from blender import rigs

from footlock.operators import remove_sliding
from footlock.rig import clip as reading
from footlock.rig import compat, contact_property, correction, mapping
from footlock.rig.names import Leg, LegMap
from footlock.solvers import rotations as rot
from footlock.solvers.errors import FootlockError

# Joints land within this share of the length of thigh and shin.
SAME = 1e-5
FRAMES = np.arange(1.0, 41.0)
TURNS = ("thigh_turn", "shin_turn", "foot_turn", "toe_turn")


def random_correction(clip, seed=3, shift=0.05, turn=0.4, still=None):
    """A pelvis (frames, 3) in the world, metres, and turns as a LegSolution has them, both smooth and random.
    ``still``: frames (n,) bool in which nothing changes."""
    rng = np.random.default_rng(seed)
    count, legs = len(clip.frames), len(clip.legs.legs)
    moves = np.ones((count, 1)) if still is None else ~still[:, None]
    moved = clip.head(clip.legs.pelvis) + moves * rigs.wave(rng, clip.frames, 3, shift)
    turns = {}
    for name in TURNS:
        angles = moves * rigs.wave(rng, clip.frames, 3 * legs, turn)
        turns[name] = rot.from_scaled_angle_axis(angles.reshape(count, legs, 3))
    return moved, SimpleNamespace(**turns)


def chain(leg):
    return [name for name in (leg.thigh, leg.shin, leg.foot, leg.toe) if name]


def expected_joints(heads, tails, legs, shift, solution):
    """Where heads of the legs' bones and the tail of the last go, (frames, joints, 3) for each leg. heads, tails: as
    ``rigs.evaluated`` gives them for the legs' bones in order; shift (frames, 3), in the same units."""
    result, at = [], 0
    for i, leg in enumerate(legs.legs):
        names = chain(leg)
        points = [*(heads[:, at + j] for j in range(len(names))), tails[:, at + len(names) - 1]]
        moved = [points[0] + shift]
        for j, turn in enumerate(TURNS[: len(names)]):
            moved.append(moved[-1] + rot.rotate(getattr(solution, turn)[:, i], points[j + 1] - points[j]))
        result.append(np.stack(moved, axis=1))
        at += len(names)
    return result


def neighbours(values):
    """Dot products of neighbouring rows."""
    return np.einsum("ij,ij->i", values[1:], values[:-1])


class CorrectionCase(unittest.TestCase):
    def setUp(self):
        rigs.new_file()

    @property
    def scene(self):
        """The scene of the file that is open now."""
        return bpy.context.scene

    def apply(self, armature, *, legs=None, unit=1.0, still=None, shift=0.05, turn=0.4, tolerance=SAME):
        """Write a random correction; the evaluated rig must have it, and everything else must be as it was."""
        bpy.context.view_layer.update()
        legs = legs or mapping.of(armature)
        names = [name for leg in legs.legs for name in chain(leg)]
        clip = reading.read(self.scene, armature, legs, unit)
        before = rigs.evaluated(armature, clip.frames, names)
        held = rigs.dump(armature)
        channels = {name: self.rotation(armature, name, clip.frames) for name in names}
        modes = [bone.rotation_mode for bone in armature.pose.bones]
        pelvis, solution = random_correction(clip, still=still, shift=shift, turn=turn)

        correction.check(armature, legs)
        correction.write(armature, clip, pelvis, solution)

        self.assertEqual([bone.rotation_mode for bone in armature.pose.bones], modes)
        self.only_legs_and_carrier(armature, legs, held)
        after = rigs.evaluated(armature, clip.frames, names)
        move = (pelvis - clip.head(legs.pelvis)) / clip.unit
        wanted = expected_joints(*before, legs, move, solution)
        at = 0
        for leg, points in zip(legs.legs, wanted, strict=True):
            bones = chain(leg)
            size = np.median(
                np.linalg.norm(points[:, 1] - points[:, 0], axis=1)
                + np.linalg.norm(points[:, 2] - points[:, 1], axis=1)
            )
            got = np.concatenate([after[0][:, at : at + len(bones)], after[1][:, at + len(bones) - 1, None]], axis=1)
            off = np.abs(got - points).max(axis=-1) / size
            worst = np.unravel_index(off.argmax(), off.shape)
            self.assertLess(off.max(), tolerance, f"joint {worst[1]} of {bones} in frame index {worst[0]}")
            at += len(bones)
        for name, old in channels.items():
            self.no_new_jumps(armature, name, old, clip.frames)
        return clip

    def rotation(self, armature, name, frames):
        """The values (n, components) of a bone's rotation channel as Blender evaluates them."""
        pose_bone = armature.pose.bones[name]
        prop = reading.rotation_property(pose_bone)
        rows = []
        for frame in frames:
            rigs.set_frame(self.scene, frame)
            rows.append(tuple(getattr(pose_bone, prop)))
        return np.array(rows)

    def no_new_jumps(self, armature, name, old, frames):
        new = self.rotation(armature, name, frames)
        mode = armature.pose.bones[name].rotation_mode
        if mode == "QUATERNION":
            flipped = (neighbours(new) < 0.0) & (neighbours(old) > 0.0)
        elif mode == "AXIS_ANGLE":
            flipped = (np.abs(np.diff(new[:, 0])) > np.pi) & (np.abs(np.diff(old[:, 0])) <= np.pi)
        else:
            flipped = ((np.abs(np.diff(new, axis=0)) > np.pi) & (np.abs(np.diff(old, axis=0)) <= np.pi)).any(axis=1)
        self.assertFalse(flipped.any(), f"{name} jumps between frame indices {np.flatnonzero(flipped)} and the next")

    def only_legs_and_carrier(self, armature, legs, before):
        """Curves that are there already and not of the legs are the same to the byte; those that are keep all but their
        keys."""
        allowed = {armature.pose.bones[legs.carrier or legs.pelvis].path_from_id("location")}
        allowed |= {rigs.rotation_path(armature.pose.bones[name]) for leg in legs.legs for name in chain(leg)}
        after = rigs.dump(armature)
        self.assertEqual(before.keys() - after.keys(), set())
        self.assertLessEqual({path for path, _ in after.keys() - before.keys()}, allowed)
        for key, old in before.items():
            if key[0] not in allowed:
                self.assertEqual(after[key], old, key)
            settings = len(rigs._KEY_ARRAYS)
            self.assertEqual(after[key][settings:], old[settings:], key)


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
            correction.check(armature, mapping.of(armature))
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
        clip = reading.read(self.scene, armature, legs, 1.0)
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


class RemoveCase(CorrectionCase):
    """The whole removal, on a walk that slides."""

    FRAMES = np.arange(1.0, 61.0)

    def labels(self, count=60):
        """One foot planted after the other, by hand."""
        labels = np.zeros((count, 2), bool)
        labels[6:18, 0] = labels[31:43, 0] = labels[19:30, 1] = labels[44:54, 1] = True
        return labels

    def remove(self, armature, labels, unit=1.0):
        """Remove sliding; returns the legs, the Removal, and what the solver said: pelvis and LegSolution."""
        bpy.context.view_layer.update()
        legs = mapping.of(armature)
        with mock.patch.object(correction, "write", wraps=correction.write) as write:
            done = remove_sliding.remove(self.scene, armature, legs, unit=unit, labels=labels)
        _, clip, pelvis, solution = write.call_args.args
        return legs, done, clip, pelvis, solution

    def check_landed(self, armature, labels, unit=1.0):
        """The evaluated joints are where the solver said, and planted toes stand."""
        held = rigs.dump(armature)
        legs, done, clip, pelvis, solution = self.remove(armature, labels, unit)
        self.only_legs_and_carrier(armature, legs, held)
        names = [legs.pelvis, *(name for leg in legs.legs for name in chain(leg))]
        heads = rigs.evaluated(armature, clip.frames, names)[0] * clip.unit
        size = rigs.LEG
        np.testing.assert_allclose(heads[:, 0], pelvis, atol=SAME * size, rtol=0.0)
        for i, leg in enumerate(legs.legs):
            for part, name in (("knee", leg.shin), ("heel", leg.foot), ("toe", leg.toe)):
                wanted = getattr(solution, part)[:, i]
                np.testing.assert_allclose(heads[:, names.index(name)], wanted, atol=SAME * size, rtol=0.0)
            toe = heads[:, names.index(leg.toe)]
            steps = np.linalg.norm(np.diff(toe, axis=0), axis=1)
            planted = labels[1:, i] & labels[:-1, i] & ~done.out_of_reach[1:, i] & ~done.out_of_reach[:-1, i]
            self.assertGreater(planted.sum(), 5)
            self.assertLess(steps[planted].max(), 5e-5)
        return done

    def moved_by_a_second_run(self, armature, labels, unit=1.0):
        """Metres by which any joint moves."""
        names = [bone.name for bone in armature.pose.bones]
        once = np.stack(rigs.evaluated(armature, self.FRAMES, names))
        _, _, clip, _, _ = self.remove(armature, labels, unit)
        twice = np.stack(rigs.evaluated(armature, self.FRAMES, names))
        return float(np.linalg.norm(twice - once, axis=-1).max()) * clip.unit


class Removal(RemoveCase):
    def test_walk_in_every_mode(self):
        for mode in rigs.MODES:
            with self.subTest(mode):
                rigs.new_file()
                armature = rigs.biped()
                rigs.walk(armature, self.FRAMES, mode=mode)
                done = self.check_landed(armature, self.labels())
                self.assertGreater(min(slide.mean for slide in done.before), 1e-3)
                self.assertLess(self.moved_by_a_second_run(armature, self.labels()), 1e-4)

    def test_walk_on_rigs_of_many_kinds(self):
        kinds = {
            "connected": {"connect": True},
            "bones between and above": {"root": True, "socket": True, "twist": True},
            "centimetres": {"size": 100.0},
        }
        for name, options in kinds.items():
            with self.subTest(name):
                rigs.new_file()
                armature = rigs.biped(**options)
                size = options.get("size", 1.0)
                rigs.walk(armature, self.FRAMES, size=size)
                armature.rotation_euler = (0.0, 0.0, 2.0)
                armature.scale = (1.0 / size,) * 3
                self.check_landed(armature, self.labels())
                self.assertLess(self.moved_by_a_second_run(armature, self.labels()), 1e-4)

    def test_small_armature_scaled_up(self):
        """An armature whose unit is 100 m, as some FBX files have it."""
        armature = rigs.biped(size=0.01)
        rigs.walk(armature, self.FRAMES, size=0.01)
        armature.scale = (100.0,) * 3
        self.check_landed(armature, self.labels())
        self.assertLess(self.moved_by_a_second_run(armature, self.labels()), 1e-4)

    def test_centimetre_scene(self):
        armature = rigs.biped(size=100.0)
        rigs.walk(armature, self.FRAMES, size=100.0)
        done = self.check_landed(armature, self.labels(), unit=0.0)
        self.assertEqual(done.clip.unit, 0.01)
        self.assertLess(self.moved_by_a_second_run(armature, self.labels(), unit=0.0), 1e-4)

    def test_object_carried_by_an_animated_empty(self):
        armature = rigs.biped()
        rigs.walk(armature, self.FRAMES, speed=0.5)
        empty = bpy.data.objects.new("Mover", None)
        self.scene.collection.objects.link(empty)
        travel = np.outer((self.FRAMES - 1.0) / 24.0, (0.0, -0.5, 0.0))
        rigs.key(empty, "location", travel, self.FRAMES)
        armature.parent = empty
        self.check_landed(armature, self.labels())
        self.assertLess(self.moved_by_a_second_run(armature, self.labels()), 1e-4)

    def test_object_animated_and_pelvis_not(self):
        """The travel is on the object, as game exports have it; the pelvis has no location keys yet."""
        armature = rigs.biped()
        rigs.walk(armature, self.FRAMES)
        for i in range(3):
            compat.channels(armature).fcurves.remove(rigs.curve_of(armature, "pelvis", "location", i))
        armature.pose.bones["pelvis"].location = (0.0, 0.0, 0.0)
        travel = np.outer((self.FRAMES - 1.0) / 24.0, (0.0, -1.0, 0.0)) - (0.0, 0.0, 0.06)
        rigs.key(armature, "location", travel, self.FRAMES)
        self.check_landed(armature, self.labels())
        self.assertLess(self.moved_by_a_second_run(armature, self.labels()), 1e-4)

    def test_sparse_bezier_keys(self):
        armature = rigs.biped()
        rigs.walk(armature, self.FRAMES[::3])
        for curve in compat.channels(armature).fcurves:
            for point in curve.keyframe_points:
                point.interpolation = "BEZIER"
            curve.update()
        labels = self.labels()[:58]
        self.check_landed(armature, labels)
        self.FRAMES = self.FRAMES[:58]
        self.assertLess(self.moved_by_a_second_run(armature, labels), 1e-4)

    def test_captured_walk(self):
        armature = clips.import_clip()
        legs = mapping.of(armature)
        clip = reading.read(self.scene, armature, legs)
        labels = np.zeros((995, 2), bool)
        for column, foot in enumerate(clip.leg_pose().toe.transpose(1, 0, 2)):
            speed = np.linalg.norm(np.gradient(foot, axis=0), axis=-1) * 120.0
            labels[:, column] = speed < 0.2
        correction.scale_travel(armature, clip, 1.25)
        self.check_landed(armature, labels)
        self.FRAMES = clip.frames[::5]
        self.assertLess(self.moved_by_a_second_run(armature, labels), 1e-4)

    def test_scale_along_the_pelvis_is_told_or_held(self):
        """Under a parent that is scaled unevenly no rotation does what the solver wants: the slide that is reported
        is what is there."""
        armature = rigs.biped()
        rigs.walk(armature, self.FRAMES)
        rigs.key(armature, 'pose.bones["pelvis"].scale', np.tile((1.0, 1.2, 0.9), (60, 1)), self.FRAMES)
        labels = self.labels()
        legs, done, clip, _, _ = self.remove(armature, labels)
        toes = rigs.evaluated(armature, clip.frames, [leg.toe for leg in legs.legs])[0]
        for i in range(2):
            steps = np.linalg.norm(np.diff(toes[:, i], axis=0), axis=1)[labels[1:, i] & labels[:-1, i]]
            self.assertAlmostEqual(done.after[i].mean, steps.mean(), delta=1e-5)
            self.assertLess(steps.mean(), done.before[i].mean)

    def test_remove_by_operator_and_undo(self):
        armature = rigs.biped()
        rigs.walk(armature, self.FRAMES)
        legs = mapping.of(armature)
        contact_property.write(armature, legs, self.FRAMES, self.labels())
        name, held = armature.name, rigs.everything()
        names = [bone.name for bone in armature.pose.bones]
        where = rigs.evaluated(armature, self.FRAMES, names)[0]
        self.scene.frame_set(1)
        bpy.ops.ed.undo_push(message="base")
        self.assertEqual(bpy.ops.footlock.remove_sliding("EXEC_DEFAULT", True), {"FINISHED"})
        self.assertNotEqual(rigs.everything(), held)
        bpy.ops.ed.undo()
        self.assertEqual(rigs.everything(), held)
        armature = bpy.data.objects[name]
        np.testing.assert_allclose(rigs.evaluated(armature, self.FRAMES, names)[0], where, atol=1e-6)
        bpy.ops.ed.redo()
        self.assertGreater(len(bpy.data.objects[name].data.footlock.legs), 0)

    def test_undo_of_detection_takes_property_and_curve(self):
        armature = rigs.biped()
        rigs.walk(armature, self.FRAMES, speed=0.3)
        name, held = armature.name, rigs.everything()
        bpy.ops.ed.undo_push(message="base")
        bpy.ops.footlock.detect_contacts("EXEC_DEFAULT", True, velocity=2.0, height=1.0)
        self.assertIn("contact", bpy.data.objects[name].pose.bones["toe.L"])
        bpy.ops.ed.undo()
        self.assertEqual(rigs.everything(), held)

    def test_frame_and_selection_are_kept(self):
        armature = rigs.biped()
        rigs.walk(armature, self.FRAMES)
        contact_property.write(armature, mapping.of(armature), self.FRAMES, self.labels())
        self.scene.frame_set(17, subframe=0.5)
        bpy.ops.footlock.remove_sliding()
        self.assertEqual((self.scene.frame_current, self.scene.frame_subframe), (17, 0.5))
        self.assertEqual(bpy.context.object, armature)


class ContactProperty(CorrectionCase):
    def setUp(self):
        super().setUp()
        self.armature = rigs.biped()
        rigs.walk(self.armature, FRAMES)
        self.legs = mapping.of(self.armature)
        self.labels = np.zeros((len(FRAMES), 2), bool)
        self.labels[0:9, 0] = self.labels[20:30, 0] = self.labels[10:19, 1] = True
        contact_property.write(self.armature, self.legs, FRAMES, self.labels)

    def curve(self, bone="toe.L"):
        return rigs.curve_of(self.armature, bone, '["contact"]')

    def read(self):
        return contact_property.read(self.armature, self.legs, FRAMES)

    def set_keys(self, keys, interpolation="CONSTANT"):
        points = self.curve().keyframe_points
        points.clear()
        for frame, value in keys:
            points.insert(frame, value).interpolation = interpolation
        self.curve().update()

    def test_what_it_is(self):
        for bone in ("toe.L", "toe.R"):
            pose_bone = self.armature.pose.bones[bone]
            self.assertIsInstance(pose_bone["contact"], float)
            shown = pose_bone.id_properties_ui("contact").as_dict()
            self.assertEqual([shown[name] for name in ("min", "max", "default")], [0.0, 1.0, 0.0])
            self.assertEqual([shown[name] for name in ("soft_min", "soft_max")], [0.0, 1.0])
            self.assertTrue(shown["description"])
            self.assertTrue(pose_bone.is_property_overridable_library('["contact"]'))
            self.assertEqual(self.curve(bone).group.name, bone)

    def test_keys_where_it_changes(self):
        at, values = rigs.values(self.curve())
        self.assertEqual(list(zip(at, values, strict=True)), [(1.0, 1.0), (10.0, 0.0), (21.0, 1.0), (31.0, 0.0)])
        self.assertEqual({point.interpolation for point in self.curve().keyframe_points}, {"CONSTANT"})
        at, values = rigs.values(self.curve("toe.R"))
        self.assertEqual(list(zip(at, values, strict=True)), [(1.0, 0.0), (11.0, 1.0), (20.0, 0.0)])

    def test_evaluated_property(self):
        for i, frame in enumerate(FRAMES):
            self.scene.frame_set(int(frame))
            shown = [self.armature.pose.bones[bone]["contact"] for bone in ("toe.L", "toe.R")]
            self.assertEqual(shown, self.labels[i].astype(float).tolist())

    def test_read_back(self):
        np.testing.assert_array_equal(self.read(), self.labels)

    def test_moved_keys(self):
        points = self.curve().keyframe_points
        points[1].co[0], points[2].co[0] = 12.0, 25.4
        self.curve().update()
        expected = (FRAMES < 12.0) | ((FRAMES > 25.4) & (FRAMES < 31.0))
        np.testing.assert_array_equal(self.read()[:, 0], expected)

    def test_other_interpolation(self):
        self.set_keys([(1.0, 0.0), (11.0, 1.0), (21.0, 0.0)], "LINEAR")
        np.testing.assert_array_equal(self.read()[:, 0], (FRAMES > 6.0) & (FRAMES < 16.0))
        self.set_keys([(1.0, 0.0), (11.0, 1.0), (21.0, 0.0)], "BEZIER")
        np.testing.assert_array_equal(self.read()[:, 0], (FRAMES > 6.0) & (FRAMES < 16.0))

    def test_values_between(self):
        for value, expected in ((0.0, False), (0.3, False), (0.7, True), (1.0, True)):
            with self.subTest(value=value):
                self.set_keys([(1.0, 1.0 - value), (5.0, value), (15.0, 0.0)])
                self.assertEqual(set(self.read()[4:14, 0]), {expected})

    def test_extrapolated_beyond_its_keys(self):
        self.set_keys([(10.0, 1.0), (20.0, 0.0)])
        np.testing.assert_array_equal(self.read()[:, 0], FRAMES < 20.0)

    def test_one_curve_deleted_is_a_leg_without_contacts(self):
        compat.channels(self.armature).fcurves.remove(self.curve())
        np.testing.assert_array_equal(self.read(), self.labels * (False, True))
        compat.channels(self.armature).fcurves.remove(self.curve("toe.R"))
        self.assertIsNone(self.read())

    def test_muted_is_none(self):
        self.curve().mute = self.curve("toe.R").mute = True
        self.assertIsNone(self.read())

    def test_detection_replaces_hand_edits(self):
        self.set_keys([(1.0, 0.3), (7.5, 0.9)], "BEZIER")
        bpy.ops.footlock.detect_contacts(velocity=5.0, height=1.0)
        at, values = rigs.values(self.curve())
        self.assertEqual((list(at), list(values)), ([1.0], [1.0]))

    def test_edits_are_what_removal_uses(self):
        """Only the frames that the edited curve marks are held."""
        self.set_keys([(1.0, 0.0), (12.0, 0.7), (22.0, 0.3)])
        compat.channels(self.armature).fcurves.remove(self.curve("toe.R"))
        bpy.ops.footlock.remove_sliding()
        toe = rigs.evaluated(self.armature, FRAMES, ["toe.L"])[0][:, 0]
        steps = np.linalg.norm(np.diff(toe, axis=0), axis=1)
        self.assertLess(steps[11:20].max(), 5e-5)
        self.assertGreater(steps[21:].min(), 1e-3)
        self.assertEqual([leg.contacts for leg in self.armature.data.footlock.legs], [1, 0])
        self.assertEqual(rigs.values(self.curve())[1].tolist(), [0.0, np.float32(0.7), np.float32(0.3)])

    def test_dense_keys(self):
        frames = 1.0 + np.arange(100) * 0.2
        rigs.new_file()
        armature = rigs.biped()
        rigs.walk(armature, frames)
        legs = mapping.of(armature)
        labels = np.random.default_rng(0).random((100, 2)) > 0.5
        contact_property.write(armature, legs, frames, labels)
        clip = reading.read(self.scene, armature, legs, 1.0)
        np.testing.assert_array_equal(clip.frames, np.float32(frames))
        np.testing.assert_array_equal(contact_property.read(armature, legs, clip.frames), labels)

    def test_save_and_reload(self):
        self.set_keys([(1.0, 0.3), (12.0, 0.7), (22.0, 0.3)])
        expected, name = self.read(), self.armature.name
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder) / "saved.blend")
            bpy.ops.wm.save_as_mainfile(filepath=path)
            bpy.ops.wm.open_mainfile(filepath=path)
            self.armature = bpy.data.objects[name]
            self.legs = mapping.of(self.armature)
            np.testing.assert_array_equal(self.read(), expected)
            self.test_what_it_is()
            rigs.new_file()

    def test_bearer_without_toe_is_the_foot(self):
        rigs.new_file()
        self.armature = rigs.biped(toes=False)
        rigs.walk(self.armature, FRAMES)
        legs = mapping.of(self.armature)
        contact_property.write(self.armature, legs, FRAMES, self.labels)
        self.assertIn("contact", self.armature.pose.bones["foot.L"])
        np.testing.assert_array_equal(contact_property.read(self.armature, legs, FRAMES), self.labels)


@unittest.skipUnless(compat.LAYERED, "actions have no slots before 4.4")
class Slots(RemoveCase):
    def pair(self):
        """Two bipeds that walk by slots of one action, each by its own; the second is made active last."""
        first = rigs.biped("First", seed=5)
        rigs.walk(first, self.FRAMES)
        second = rigs.biped("Second", seed=6)
        data = second.animation_data_create()
        data.action = first.animation_data.action
        data.action_slot = data.action.slots.new(id_type="OBJECT", name="Second")
        rigs.walk(second, self.FRAMES, mode="XYZ")
        self.assertEqual(len(rigs.containers(data.action)), 2)
        return first, second

    def others(self, armature):
        """The curves of all slots but the armature's own."""
        own = armature.animation_data.action_slot.identifier
        return {key: value for key, value in rigs.everything().items() if key[0] == "curve" and key[2] != own}

    def test_own_slot_only(self):
        for which in (0, 1):
            with self.subTest(which=which):
                rigs.new_file()
                pair = self.pair()
                armature, other = pair[which], pair[1 - which]
                names = [bone.name for bone in other.pose.bones]
                held, where = self.others(armature), rigs.evaluated(other, self.FRAMES, names)[0]
                self.assertGreater(len(held), 20)
                contact_property.write(armature, mapping.of(armature), self.FRAMES, self.labels())
                self.check_landed(armature, self.labels())
                self.assertEqual(self.others(armature), held)
                np.testing.assert_array_equal(rigs.evaluated(other, self.FRAMES, names)[0], where)
                self.assertNotIn("contact", other.pose.bones["toe.L"])

    def test_new_curves_go_into_the_own_slot(self):
        first, second = self.pair()
        held = compat.channels(second).fcurves
        for i in range(3):
            held.remove(rigs.curve_of(second, "pelvis", "location", i))
        before = self.others(second)
        self.check_landed(second, self.labels())
        self.assertEqual(self.others(second), before)
        self.assertEqual(rigs.curve_of(second, "pelvis", "location", 2).group.name, "pelvis")
        self.assertEqual(len(first.animation_data.action.slots), 2)

    def test_slot_of_another_kind_of_data(self):
        armature = rigs.biped()
        rigs.walk(armature, self.FRAMES)
        action = armature.animation_data.action
        slot = action.slots.new(id_type="MATERIAL", name="Skin")
        bag = action.layers[0].strips[0].channelbag(slot, ensure=True)
        bag.fcurves.new("roughness", index=0).keyframe_points.insert(300.0, 0.5)
        before = self.others(armature)
        done = self.check_landed(armature, self.labels())
        self.assertEqual(len(done.clip.frames), 60)
        self.assertEqual(self.others(armature), before)

    def test_two_rigs_on_one_slot_move_alike(self):
        first = rigs.biped("First")
        rigs.walk(first, self.FRAMES)
        second = first.copy()
        second.location = (3.0, 0.0, 0.0)
        self.scene.collection.objects.link(second)
        self.check_landed(first, self.labels())
        heads = [rigs.evaluated(ob, self.FRAMES, ["toe.L", "toe.R"])[0] for ob in (first, second)]
        np.testing.assert_allclose(heads[1], heads[0] + (3.0, 0.0, 0.0), atol=1e-6)


class LegsByHand(CorrectionCase):
    def test_toes_that_hang_from_a_bone_between(self):
        """A map that leaves bones out moves those along."""
        armature = rigs.biped(root=True, socket=True, twist=True)
        rigs.wobble(armature, FRAMES)
        legs = LegMap("root", (Leg("L", "thigh.L", "shin.L", "toe.L"), Leg("R", "thigh.R", "shin.R", "foot.R")))
        self.apply(armature, legs=legs)
