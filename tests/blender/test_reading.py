"""A clip as it is read, against the rig as Blender evaluates it frame by frame."""

import contextlib
import unittest
from unittest import mock

import bpy
import clips
import numpy as np
from blender import rigs

from footlock.rig import clip as reading
from footlock.rig import compat, mapping
from footlock.rig import stepping as frame_stepping
from footlock.solvers.errors import FootlockError

# Positions agree within this share of the length of thigh and shin.
SAME = 1e-5
FRAMES = np.arange(1.0, 31.0)


def stepping(expected):
    """Fails where frames are stepped through and need not be, or need be and are not."""
    real = frame_stepping.posing
    calls = []

    def counted(*arguments):
        calls.append(arguments)
        return real(*arguments)

    @contextlib.contextmanager
    def checked():
        with mock.patch.object(frame_stepping, "posing", counted):
            yield
        if bool(calls) != expected:
            raise AssertionError(f"frames stepped through: {bool(calls)}, expected {expected}")

    return checked()


class ReadingCase(unittest.TestCase):
    def setUp(self):
        rigs.new_file()

    @property
    def scene(self):
        """The scene of the file that is open now."""
        return bpy.context.scene

    def check(self, armature, *, legs=None, stepped=False, unit=1.0, frames=None, rate=None):
        """Read the clip and compare all bones of it, the joints of the legs and the poses with the evaluated rig."""
        bpy.context.view_layer.update()
        legs = legs or mapping.of(armature)
        self.scene.frame_set(7, subframe=0.25)
        with stepping(stepped):
            clip = reading.read(self.scene, armature, legs, unit)
        self.assertEqual((self.scene.frame_current, self.scene.frame_subframe), (7, 0.25))
        if frames is not None:
            np.testing.assert_array_equal(np.float32(clip.frames), np.float32(frames))
        if rate is not None:
            self.assertAlmostEqual(clip.frame_rate, rate, delta=1e-4 * rate)

        names = [bone.name for bone in clip.bones]
        heads, tails = rigs.evaluated(armature, clip.frames, names)
        self.assertTrue(np.isfinite(heads).all())
        leg = legs.legs[0]
        hip, knee, heel = (heads[:, names.index(name)] for name in (leg.thigh, leg.shin, leg.foot))
        size = np.median(np.linalg.norm(knee - hip, axis=1) + np.linalg.norm(heel - knee, axis=1))
        for i, name in enumerate(names):
            self.near(clip.head(name), heads[:, i] * clip.unit, SAME * size * clip.unit, f"head of {name}")
            self.near(clip.tail(name), tails[:, i] * clip.unit, SAME * size * clip.unit, f"tail of {name}")
        joints = clip.leg_pose()
        for i, leg in enumerate(legs.legs):
            for part, name in (("hip", leg.thigh), ("knee", leg.shin), ("heel", leg.foot), ("toe", leg.toe)):
                if name:
                    got = getattr(joints, part)[:, i]
                    self.near(got, heads[:, names.index(name)] * clip.unit, SAME * size * clip.unit, f"{part} {i}")
        return clip

    def near(self, got, expected, within, what):
        self.assertEqual(got.shape, expected.shape, what)
        off = np.abs(got - expected).max(axis=-1)
        self.assertLess(off.max(), within, f"{what} in frame index {off.argmax()}")


class Imported(ReadingCase):
    def test_walk(self):
        armature = clips.import_clip()
        clip = self.check(armature, unit=0.0, frames=np.arange(1.0, 996.0), rate=120.0)
        self.assertEqual(clip.unit, 1.0)

    def test_walk_in_quaternions(self):
        with contextlib.redirect_stdout(None):
            bpy.ops.import_anim.bvh(filepath=str(clips.DATA / "cmu_12_01.bvh"), rotate_mode="QUATERNION")
        clip = self.check(bpy.context.object, unit=0.0, frames=np.arange(1.0, 525.0), rate=24.0)
        self.assertAlmostEqual(clip.unit, 0.056444)

    def test_120_hz_in_a_scene_at_24(self):
        with contextlib.redirect_stdout(None):
            bpy.ops.import_anim.bvh(filepath=str(clips.DATA / "cmu_131_03.bvh"), use_fps_scale=True)
        armature = bpy.context.object
        keyed = rigs.values(rigs.curve_of(armature, "Hips", "location"))[0]
        self.assertAlmostEqual(float(keyed[5]), 2.0, delta=1e-3)
        self.check(armature, frames=keyed, rate=120.0)


class RotationModes(ReadingCase):
    def test_every_mode(self):
        for mode in rigs.MODES:
            with self.subTest(mode):
                rigs.new_file()
                armature = rigs.biped()
                rigs.wobble(armature, FRAMES, mode=mode)
                self.check(armature)

    def test_every_bone_its_own_mode(self):
        armature = rigs.biped(root=True, socket=True, twist=True)
        for i, bone in enumerate(armature.pose.bones):
            bone.rotation_mode = rigs.MODES[i % len(rigs.MODES)]
        rigs.wobble(armature, FRAMES)
        self.check(armature)

    def test_quaternions_and_axes_of_no_length(self):
        for mode, dead in (("QUATERNION", (0.0,) * 4), ("AXIS_ANGLE", (1.0, 0.0, 0.0, 0.0))):
            with self.subTest(mode):
                rigs.new_file()
                armature = rigs.biped()
                rigs.wobble(armature, FRAMES, mode=mode)
                rows = np.tile(dead, (len(FRAMES), 1))
                rigs.key(armature, rigs.rotation_path(armature.pose.bones["thigh.L"]), rows, FRAMES)
                self.check(armature)

    def test_many_turns(self):
        armature = rigs.biped()
        rigs.wobble(armature, FRAMES, mode="ZXY")
        turning = np.linspace(-20.0, 20.0, len(FRAMES))[:, None] * (1.0, 0.3, -0.7)
        for name in ("thigh.L", "shin.R"):
            rigs.key(armature, armature.pose.bones[name].path_from_id("rotation_euler"), turning, FRAMES)
        self.check(armature)


class Inheritance(ReadingCase):
    def test_every_way(self):
        for inherit_scale in rigs.INHERIT_SCALE:
            for rotation in (True, False):
                for local in (True, False):
                    with self.subTest(inherit_scale=inherit_scale, rotation=rotation, local_location=local):
                        rigs.new_file()
                        armature = rigs.biped(root=True, twist=True)
                        for bone in armature.data.bones:
                            bone.inherit_scale = inherit_scale
                            bone.use_inherit_rotation = rotation
                            bone.use_local_location = local
                        rigs.wobble(armature, FRAMES, scale=0.2, uniform=False, mode="YZX")
                        self.check(armature)

    def test_connected_bones_ignore_their_location(self):
        armature = rigs.biped(connect=True)
        self.assertTrue(armature.data.bones["shin.L"].use_connect)
        rigs.wobble(armature, FRAMES)
        self.check(armature)

    def test_bones_between_and_above(self):
        armature = rigs.biped(root=True, socket=True, twist=True)
        rigs.wobble(armature, FRAMES, scale=0.1)
        clip = self.check(armature)
        names = {bone.name for bone in clip.bones}
        self.assertLessEqual({"root", "socket.L", "thigh_twist.R", "shin_twist.L"}, names)

    def test_no_toes(self):
        armature = rigs.biped(toes=False)
        rigs.wobble(armature, FRAMES)
        clip = self.check(armature)
        foot = rigs.evaluated(armature, clip.frames, ["foot.L"])[1][:, 0]
        np.testing.assert_allclose(clip.leg_pose().toe[:, 0], foot, atol=SAME)


class Curves(ReadingCase):
    def test_sparse_bezier_keys(self):
        armature = rigs.biped()
        rigs.wobble(armature, FRAMES[::3], interpolation=2)
        self.check(armature, frames=np.arange(1.0, 29.0), rate=24.0)

    def test_keys_between_frames(self):
        armature = rigs.biped()
        frames = 1.3 + np.array([0.0, 2.1, 5.7, 11.2, 17.9, 24.4])
        rigs.wobble(armature, frames, interpolation=2)
        self.check(armature, frames=np.arange(1.0, 27.0))

    def test_curves_of_different_length(self):
        armature = rigs.biped()
        rigs.wobble(armature, FRAMES)
        rigs.wobble(armature, FRAMES[4:9], only=("thigh.L",), seed=5)
        rigs.wobble(armature, FRAMES[::7], only=("foot.R",), seed=6, interpolation=0)
        self.check(armature, frames=FRAMES)

    def test_interpolation_extrapolation_modifiers(self):
        armature = rigs.biped()
        rigs.wobble(armature, FRAMES)
        rigs.wobble(armature, FRAMES[5:20:3], only=("thigh.L", "shin.R", "pelvis"), interpolation=2)
        for bone, channel in (("thigh.L", "rotation"), ("shin.R", "rotation"), ("pelvis", "location")):
            rigs.curve_of(armature, bone, channel, 0).extrapolation = "LINEAR"
            rigs.curve_of(armature, bone, channel, 1).modifiers.new("NOISE").strength = 0.2
            rigs.curve_of(armature, bone, channel, 2).modifiers.new("CYCLES")
        rigs.curve_of(armature, "foot.L", "rotation").modifiers.new("NOISE").strength = 0.3
        self.check(armature, frames=FRAMES)

    def test_missing_components(self):
        armature = rigs.biped(root=True)
        rigs.wobble(armature, FRAMES, mode="XYZ")
        held = compat.channels(armature).fcurves
        for bone, channel, index in (
            ("root", "location", 1), ("pelvis", "location", 2), ("thigh.L", "rotation", 0), ("shin.R", "rotation", 2)
        ):  # fmt: skip
            held.remove(rigs.curve_of(armature, bone, channel, index))
        armature.pose.bones["root"].location[1] = 0.7
        armature.pose.bones["thigh.L"].rotation_euler[0] = 0.9
        self.check(armature)

    def test_values_without_keys(self):
        armature = rigs.biped(root=True)
        rigs.wobble(armature, FRAMES, only=("pelvis", "foot.L"))
        armature.pose.bones["root"].location = (0.3, 0.1, -0.4)
        armature.pose.bones["root"].scale = (1.3, 1.3, 1.3)
        armature.pose.bones["thigh.R"].rotation_quaternion = (1.0, 0.5, -0.3, 0.1)
        armature.pose.bones["shin.L"].rotation_mode = "AXIS_ANGLE"
        armature.pose.bones["shin.L"].rotation_axis_angle = (0.6, 1.0, 2.0, -1.0)
        self.check(armature)

    def test_muted_curves(self):
        armature = rigs.biped()
        rigs.wobble(armature, FRAMES, mode="XYZ")
        for bone, channel in (("thigh.L", "rotation"), ("pelvis", "location"), ("shin.R", "rotation")):
            rigs.curve_of(armature, bone, channel, 1).mute = True
        armature.pose.bones["thigh.L"].rotation_euler[1] = 0.8
        self.check(armature)

    def test_muted_group(self):
        """Up to 4.3 the mute of a group stops its curves; later it does not."""
        armature = rigs.biped()
        rigs.wobble(armature, FRAMES)
        rigs.curve_of(armature, "thigh.L", "rotation").group.mute = True
        rigs.curve_of(armature, "pelvis", "location").group.mute = True
        self.check(armature)

    def test_all_but_one_curve_ends_early(self):
        armature = rigs.biped(root=True)
        rigs.wobble(armature, FRAMES)
        rigs.wobble(armature, [1.0, 60.0], only=("root",), seed=3)
        self.check(armature, frames=np.arange(1.0, 61.0))

    def test_second_slot(self):
        if not compat.LAYERED:
            self.skipTest("actions have no slots before 4.4")
        other = rigs.biped("Other", seed=9)
        rigs.wobble(other, FRAMES + 40.0, seed=9)
        armature = rigs.biped()
        data = armature.animation_data_create()
        data.action = other.animation_data.action
        data.action_slot = data.action.slots.new(id_type="OBJECT", name="Mine")
        rigs.wobble(armature, FRAMES)
        self.check(armature, frames=FRAMES)
        self.check(other, frames=FRAMES + 40.0)


class Time(ReadingCase):
    def test_five_keys_a_frame(self):
        armature = rigs.biped()
        frames = 1.0 + np.arange(150) * 0.2
        rigs.wobble(armature, frames)
        self.check(armature, frames=frames, rate=120.0)

    def test_frame_base(self):
        self.scene.render.fps, self.scene.render.fps_base = 30, 1.001
        armature = rigs.biped()
        rigs.wobble(armature, FRAMES)
        self.check(armature, frames=FRAMES, rate=30.0 / 1.001)

    def test_frame_base_and_keys_between_frames(self):
        self.scene.render.fps, self.scene.render.fps_base = 24, 1.001
        armature = rigs.biped()
        frames = 1.0 + np.arange(120) * 0.25
        rigs.wobble(armature, frames)
        self.check(armature, frames=frames, rate=96.0 / 1.001)

    def test_dense_keys_far_down_the_timeline(self):
        armature = rigs.biped()
        frames = 5000.0 + np.arange(120) * 0.2
        rigs.wobble(armature, frames)
        self.check(armature, frames=frames, rate=120.0)

    def test_frames_before_zero(self):
        armature = rigs.biped()
        rigs.wobble(armature, FRAMES - 20.5)
        self.check(armature, frames=FRAMES - 20.5, rate=24.0)

    def test_one_late_key_does_not_thin_out_dense_keys(self):
        """A clip at 120 Hz stays one, where some other bone has a key further down the timeline."""
        armature = rigs.biped(root=True)
        frames = 1.0 + np.arange(150) * 0.2
        rigs.wobble(armature, frames)
        rigs.wobble(armature, [1.0, 40.0], only=("root",))
        clip = self.check(armature, rate=120.0)
        self.assertGreaterEqual(len(clip.frames), len(frames))

    def test_another_bone_with_as_many_keys_elsewhere(self):
        """Which of two curves of one length is looked at does not matter to a clip at 120 Hz."""
        armature = rigs.biped(root=True)
        frames = 1.0 + np.arange(150) * 0.2
        rigs.wobble(armature, frames)
        uneven = np.sort(np.random.default_rng(0).uniform(1.0, 30.8, 150))
        uneven[[0, -1]] = frames[[0, -1]]
        rigs.wobble(armature, uneven, only=("root",))
        self.check(armature, rate=120.0, frames=frames)


class Places(ReadingCase):
    def armature(self, **options):
        armature = rigs.biped(root=True, **options)
        rigs.wobble(armature, FRAMES)
        return armature

    def test_moved_turned_scaled(self):
        armature = self.armature(size=100.0)
        armature.location, armature.scale = (3.0, -2.0, 0.5), (0.01,) * 3
        armature.rotation_euler = (0.3, -0.2, 2.0)
        clip = self.check(armature, unit=0.0)
        self.assertEqual(clip.unit, 1.0)

    def test_unit_is_judged_from_legs_in_the_world(self):
        for size, scale, unit in ((1.0, 1.0, 1.0), (100.0, 1.0, 0.01), (1.0, 100.0, 0.01), (0.01, 100.0, 1.0)):
            with self.subTest(size=size, scale=scale):
                rigs.new_file()
                armature = self.armature(size=size)
                armature.scale = (scale,) * 3
                self.assertAlmostEqual(self.check(armature, unit=0.0).unit, unit)

    def test_delta_transforms(self):
        armature = self.armature()
        armature.delta_location, armature.delta_rotation_euler = (1.0, 2.0, 0.0), (0.0, 0.0, 1.0)
        self.check(armature)

    def test_parented_to_an_animated_empty(self):
        empty = bpy.data.objects.new("Mover", None)
        self.scene.collection.objects.link(empty)
        rng = np.random.default_rng(4)
        rigs.key(empty, "location", rigs.wave(rng, FRAMES, 3, 2.0), FRAMES)
        rigs.key(empty, "rotation_euler", rigs.wave(rng, FRAMES, 3, 1.0), FRAMES)
        empty.scale = (0.5, 0.5, 0.5)
        armature = self.armature()
        armature.parent = empty
        armature.location = (1.0, 0.0, 0.0)
        self.check(armature, stepped=True)

    def test_parented_to_a_bone(self):
        carrier = rigs.biped("Carrier", seed=8)
        rigs.wobble(carrier, FRAMES, seed=8)
        armature = self.armature()
        armature.parent, armature.parent_type, armature.parent_bone = carrier, "BONE", "foot.L"
        self.check(armature, stepped=True)

    def test_object_itself_animated(self):
        armature = self.armature()
        rng = np.random.default_rng(4)
        rigs.key(armature, "location", rigs.wave(rng, FRAMES, 3, 2.0), FRAMES)
        rigs.key(armature, "rotation_euler", rigs.wave(rng, FRAMES, 3, 1.0), FRAMES)
        rigs.key(armature, "scale", 1.0 + rigs.wave(rng, FRAMES, 1, 0.3) * np.ones(3), FRAMES)
        self.check(armature, stepped=True)

    def test_object_itself_animated_between_frames(self):
        frames = 1.0 + np.arange(100) * 0.2
        armature = rigs.biped(root=True)
        rigs.wobble(armature, frames)
        rigs.key(armature, "location", rigs.wave(np.random.default_rng(4), frames, 3, 2.0), frames)
        self.check(armature, stepped=True, frames=frames, rate=120.0)

    def test_object_with_a_constraint(self):
        armature = self.armature()
        empty = bpy.data.objects.new("Mover", None)
        self.scene.collection.objects.link(empty)
        rigs.key(empty, "location", rigs.wave(np.random.default_rng(4), FRAMES, 3, 2.0), FRAMES)
        armature.constraints.new("COPY_LOCATION").target = empty
        self.check(armature, stepped=True)

    def test_object_driven(self):
        armature = self.armature()
        armature.driver_add("location", 2).driver.expression = "frame * 0.03"
        self.check(armature, stepped=True)

    def test_bone_above_with_a_constraint(self):
        armature = self.armature()
        empty = bpy.data.objects.new("Mover", None)
        self.scene.collection.objects.link(empty)
        rigs.key(empty, "location", rigs.wave(np.random.default_rng(4), FRAMES, 3, 1.0), FRAMES)
        armature.pose.bones["root"].constraints.new("COPY_LOCATION").target = empty
        self.check(armature, stepped=True)

    def test_bone_above_with_a_driver(self):
        armature = self.armature()
        rigs.key(armature, 'pose.bones["root"].location', np.zeros((2, 3)), [1.0, 30.0])
        armature.pose.bones["root"].driver_add("location", 1).driver.expression = "frame * 0.02"
        self.check(armature, stepped=True)

    def test_constraint_without_influence_is_none(self):
        armature = self.armature()
        root = armature.pose.bones["root"]
        root.constraints.new("LIMIT_LOCATION").mute = True
        root.constraints.new("LIMIT_LOCATION").influence = 0.0
        self.check(armature)

    def test_constraint_whose_influence_is_animated(self):
        """It has none in the current frame, and all in the middle of the clip."""
        armature = self.armature()
        empty = bpy.data.objects.new("Mover", None)
        self.scene.collection.objects.link(empty)
        empty.location = (0.0, 2.0, 0.0)
        limit = armature.pose.bones["root"].constraints.new("COPY_LOCATION")
        limit.target = empty
        values = np.where((FRAMES > 12.0) & (FRAMES < 25.0), 1.0, 0.0)[:, None]
        path = f'{armature.pose.bones["root"].path_from_id()}.constraints["{limit.name}"].influence'
        rigs.key(armature, path, values, FRAMES)
        self.check(armature, stepped=True)

    def test_constraint_that_is_muted_by_a_curve(self):
        armature = self.armature()
        limit = armature.pose.bones["root"].constraints.new("LIMIT_LOCATION")
        limit.use_max_y, limit.max_y = True, -3.0
        path = f'{armature.pose.bones["root"].path_from_id()}.constraints["{limit.name}"].enabled'
        rigs.key(armature, path, np.where(FRAMES > 12.0, 1.0, 0.0)[:, None], FRAMES, interpolation=0)
        self.check(armature, stepped=True)

    def test_hidden_armature(self):
        """Blender stops evaluating what is hidden, and says nothing."""
        for hide in ("viewport", "collection"):
            for animated in (False, True):
                with self.subTest(hide=hide, object_animated=animated):
                    rigs.new_file()
                    armature = self.armature()
                    armature.location = (1.0, 2.0, 3.0)
                    if animated:
                        values = rigs.wave(np.random.default_rng(4), FRAMES, 3, 2.0)
                        rigs.key(armature, "location", values, FRAMES)
                    bpy.context.view_layer.update()
                    names = ["toe.L", "toe.R"]
                    truth = rigs.evaluated(armature, FRAMES, names)[0]
                    legs = mapping.of(armature)
                    if hide == "viewport":
                        armature.hide_viewport = True
                    else:
                        holder = bpy.data.collections.new("Holder")
                        self.scene.collection.children.link(holder)
                        holder.objects.link(armature)
                        self.scene.collection.objects.unlink(armature)
                        bpy.context.view_layer.layer_collection.children["Holder"].exclude = True
                    bpy.context.view_layer.update()
                    try:
                        toes = reading.read(self.scene, armature, legs, 1.0).leg_pose().toe
                    except FootlockError as error:
                        self.assertTrue(str(error).endswith("."))
                    else:
                        np.testing.assert_allclose(toes, truth, atol=SAME * rigs.LEG)

    def test_time_remapping(self):
        """Keys are where the action has them, whatever the scene makes of time: or the clip is refused."""
        armature = self.armature()
        values = rigs.wave(np.random.default_rng(4), FRAMES, 3, 2.0)
        rigs.key(armature, "location", values, FRAMES)
        legs = mapping.of(armature)
        straight = reading.read(self.scene, armature, legs, 1.0).leg_pose().toe
        self.scene.render.frame_map_old, self.scene.render.frame_map_new = 100, 50
        try:
            toes = reading.read(self.scene, armature, legs, 1.0).leg_pose().toe
        except FootlockError as error:
            self.assertTrue(str(error).endswith("."))
        else:
            np.testing.assert_allclose(toes, straight, atol=SAME * rigs.LEG)
