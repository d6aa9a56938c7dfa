"""Blender's armatures in numpy: poses against a naive twin, and every pose back to the channels that made it."""

import itertools
import math
import unittest

import numpy as np

from footlock.rig import kinematics
from footlock.rig.kinematics import Bone, Channels
from footlock.solvers import rotations as rot

EULERS = ["".join(order) for order in itertools.permutations("XYZ")]
MODES = ["QUATERNION", "AXIS_ANGLE", *EULERS]
INHERIT_SCALE = ["FULL", "FIX_SHEAR", "ALIGNED", "AVERAGE", "NONE", "NONE_LEGACY"]
FRAMES = 40


def unit(v):
    return v / np.linalg.norm(v, axis=-1, keepdims=True)


def random_rest(rng):
    rest = np.eye(4)
    rest[:3, :3] = rot.to_matrix(unit(rng.normal(size=4)))
    rest[:3, 3] = rng.normal(size=3)
    return rest


def random_rotation(rng, mode, frames=FRAMES):
    if mode == "QUATERNION":
        return rng.normal(size=(frames, 4))
    if mode == "AXIS_ANGLE":
        return np.concatenate([rng.uniform(-7.0, 7.0, (frames, 1)), unit(rng.normal(size=(frames, 3)))], axis=1)
    return rng.uniform(-7.0, 7.0, (frames, 3))


def random_channels(rng, mode, frames=FRAMES):
    scale = rng.uniform(0.4, 2.0, (frames, 3))
    return Channels(rng.normal(size=(frames, 3)), random_rotation(rng, mode, frames), scale)


def random_parent(rng, scaled=True, sheared=True):
    """The pose of a parent: turned, moved, and on request scaled unevenly and sheared, as a chain may leave it."""
    pose = np.tile(np.eye(4), (FRAMES, 1, 1))
    matrix = rot.to_matrix(unit(rng.normal(size=(FRAMES, 4))))
    if scaled:
        matrix = matrix * rng.uniform(0.5, 1.5, (FRAMES, 1, 3))
    if sheared:
        matrix = (rot.to_matrix(unit(rng.normal(size=(FRAMES, 4)))) * rng.uniform(0.7, 1.3, (FRAMES, 1, 3))) @ matrix
    pose[:, :3, :3] = matrix
    pose[:, :3, 3] = rng.normal(size=(FRAMES, 3))
    return pose


def naive_rotation(rotation, mode):
    """One matrix, by the textbook."""
    if mode == "QUATERNION":
        w, x, y, z = rotation / math.sqrt(sum(v * v for v in rotation))
        return np.array(
            [
                [w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
                [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
                [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z],
            ]
        )
    if mode == "AXIS_ANGLE":
        angle, axis = rotation[0], rotation[1:] / math.sqrt(sum(v * v for v in rotation[1:]))
        cross = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
        return np.eye(3) + math.sin(angle) * cross + (1 - math.cos(angle)) * cross @ cross
    product = np.eye(3)
    for axis in mode:  # the first letter turns first, so it stands rightmost
        c, s = math.cos(rotation["XYZ".index(axis)]), math.sin(rotation["XYZ".index(axis)])
        about = {
            "X": [[1, 0, 0], [0, c, -s], [0, s, c]],
            "Y": [[c, 0, s], [0, 1, 0], [-s, 0, c]],
            "Z": [[c, -s, 0], [s, c, 0], [0, 0, 1]],
        }
        product = np.array(about[axis]) @ product
    return product


def variants(rng, mode="QUATERNION"):
    """Bones of every way to inherit, under a parent of their own."""
    both = (True, False)
    for inherit_scale, inherit_rotation, local_location in itertools.product(INHERIT_SCALE, both, both):
        parent = Bone("parent", -1, random_rest(rng), 1.0)
        bone = Bone(
            "child", 0, random_rest(rng), 1.0, mode, inherit_rotation=inherit_rotation, inherit_scale=inherit_scale,
            local_location=local_location,
        )  # fmt: skip
        yield bone, parent


class Rotations(unittest.TestCase):
    def setUp(self):
        self.rng = np.random.default_rng(101)

    def test_matrix_of_a_channel(self):
        for mode in MODES:
            with self.subTest(mode=mode):
                channel = random_rotation(self.rng, mode)
                if mode == "AXIS_ANGLE":
                    channel[:, 1:] *= self.rng.uniform(0.2, 3.0, (FRAMES, 1))  # Blender normalises the axis
                wanted = [naive_rotation(row, mode) for row in channel]
                np.testing.assert_allclose(kinematics.rotation_matrix(channel, mode), wanted, rtol=0, atol=1e-13)

    def test_unchanged_gives_its_own_numbers_back(self):
        """Sign and length of quaternions, full turns and sides of axes, both solutions of Euler angles."""
        for mode in MODES:
            with self.subTest(mode=mode):
                channel = random_rotation(self.rng, mode, 2000)
                found = kinematics.rotation_channel(kinematics.rotation_matrix(channel, mode), mode, channel)
                well = np.ones(2000, bool)
                if mode in EULERS:  # the middle angle, away from gimbal lock
                    well = np.abs(np.cos(channel[:, "XYZ".index(mode[1])])) > 1e-2
                if mode == "AXIS_ANGLE":
                    well = np.abs(np.sin(0.5 * channel[:, 0])) > 1e-2
                np.testing.assert_allclose(found[well], channel[well], rtol=0, atol=1e-10)
                np.testing.assert_allclose(found, channel, rtol=0, atol=1e-5)

    def test_axis_of_another_length(self):
        """An axis that is not a unit vector is that channel's own number too."""
        channel = random_rotation(self.rng, "AXIS_ANGLE", 200)
        channel[:, 1:] *= 2.0
        found = kinematics.rotation_channel(kinematics.rotation_matrix(channel, "AXIS_ANGLE"), "AXIS_ANGLE", channel)
        np.testing.assert_allclose(found, channel, rtol=0, atol=1e-6)

    def test_no_turn_keeps_the_axis(self):
        for turns in (0.0, 2.0 * np.pi, -4.0 * np.pi):
            channel = np.array([[turns, 0.0, 0.6, 0.8]])
            found = kinematics.rotation_channel(np.eye(3)[None], "AXIS_ANGLE", channel)
            np.testing.assert_allclose(found, channel, rtol=0, atol=1e-12)

    def test_another_rotation_is_met(self):
        """Whatever stood there before, one frame for all or one for each, zeros among them."""
        wanted = rot.to_matrix(unit(self.rng.normal(size=(FRAMES, 4))))
        for mode in MODES:
            size = {"QUATERNION": 4, "AXIS_ANGLE": 4}.get(mode, 3)
            for near in (random_rotation(self.rng, mode), random_rotation(self.rng, mode, 1), np.zeros((1, size))):
                with self.subTest(mode=mode, near=len(near)):
                    found = kinematics.rotation_channel(wanted, mode, near)
                    self.assertEqual(found.shape, (FRAMES, size))
                    np.testing.assert_allclose(kinematics.rotation_matrix(found, mode), wanted, rtol=0, atol=1e-12)

    def test_near_is_near(self):
        """A small change of the rotation is a small change of the numbers."""
        for mode in MODES:
            with self.subTest(mode=mode):
                channel = random_rotation(self.rng, mode, 500)
                if mode in EULERS:
                    channel[:, "XYZ".index(mode[1])] = self.rng.uniform(-1.0, 1.0, 500)
                if mode == "AXIS_ANGLE":
                    channel[:, 0] = self.rng.choice([-5.0, -2.0, 2.0, 5.0], 500)
                small = rot.to_matrix(rot.from_scaled_angle_axis(1e-3 * unit(self.rng.normal(size=(500, 3)))))
                matrix = small @ kinematics.rotation_matrix(channel, mode)
                found = kinematics.rotation_channel(matrix, mode, channel)
                size = np.linalg.norm(channel, axis=1) if mode == "QUATERNION" else 1.0
                self.assertLess((np.abs(found - channel).max(axis=1) / size).max(), 3e-3)

    def test_zero_quaternion_is_half_a_turn_about_x(self):
        zero = np.zeros((1, 4))
        half_turn = np.diag([1.0, -1.0, -1.0])[None]
        np.testing.assert_array_equal(kinematics.rotation_matrix(zero, "QUATERNION"), half_turn)
        found = kinematics.rotation_channel(np.eye(3)[None], "QUATERNION", zero)
        np.testing.assert_allclose(np.abs(found), [[1, 0, 0, 0]], rtol=0, atol=1e-15)

    def test_arguments_untouched(self):
        for mode in MODES:
            channel = random_rotation(self.rng, mode)
            channel.setflags(write=False)
            matrix = kinematics.rotation_matrix(channel, mode)
            matrix.setflags(write=False)
            kinematics.rotation_channel(matrix, mode, channel)


class Poses(unittest.TestCase):
    def setUp(self):
        self.rng = np.random.default_rng(102)

    def test_channel_matrices(self):
        for mode in MODES:
            channels = random_channels(self.rng, mode)
            for connected in (False, True):
                found = kinematics.basis(channels, mode, connected)
                for i in range(FRAMES):
                    wanted = np.eye(4)
                    wanted[:3, :3] = naive_rotation(channels.rotation[i], mode) @ np.diag(channels.scale[i])
                    wanted[:3, 3] = 0.0 if connected else channels.location[i]
                    np.testing.assert_allclose(found[i], wanted, rtol=0, atol=1e-13)

    def test_channels_of_one_frame_hold_for_all(self):
        channels = random_channels(self.rng, "XYZ")
        still = Channels(channels.location[:1], channels.rotation, channels.scale[:1])
        found = kinematics.basis(still, "XYZ", False)
        every = Channels(*(np.tile(a[:1], (FRAMES, 1)) for a in (still.location, channels.rotation, still.scale)))
        self.assertEqual(found.shape, (FRAMES, 4, 4))
        np.testing.assert_array_equal(found[:, :3, 3], every.location)
        np.testing.assert_allclose(np.linalg.det(found[:, :3, :3]), np.prod(still.scale), rtol=1e-12)

    def pose(self, bone, parent, parent_pose, channels):
        space = kinematics.space(bone, parent, parent_pose)
        return space, kinematics.pose(space, kinematics.basis(channels, bone.rotation_mode, bone.connected))

    def test_root(self):
        for local in (True, False):
            bone = Bone("root", -1, random_rest(self.rng), 1.0, "ZXY", local_location=local)
            channels = random_channels(self.rng, "ZXY")
            _, found = self.pose(bone, None, None, channels)
            for i in range(FRAMES):
                turned = naive_rotation(channels.rotation[i], "ZXY") @ np.diag(channels.scale[i])
                shift = bone.rest[:3, :3] @ channels.location[i] if local else channels.location[i]
                np.testing.assert_allclose(found[i, :3, :3], bone.rest[:3, :3] @ turned, rtol=0, atol=1e-13)
                np.testing.assert_allclose(found[i, :3, 3], bone.rest[:3, 3] + shift, rtol=0, atol=1e-13)

    def test_full_inheritance_is_a_product(self):
        parent = Bone("parent", -1, random_rest(self.rng), 1.0)
        bone = Bone("child", 0, random_rest(self.rng), 1.0, "XYZ")
        parent_pose, channels = random_parent(self.rng), random_channels(self.rng, "XYZ")
        _, found = self.pose(bone, parent, parent_pose, channels)
        basis = kinematics.basis(channels, "XYZ", False)
        for i in range(FRAMES):
            wanted = parent_pose[i] @ np.linalg.inv(parent.rest) @ bone.rest @ basis[i]
            np.testing.assert_allclose(found[i], wanted, rtol=0, atol=1e-12)

    def test_every_inheritance_under_an_even_scale(self):
        """Under a parent that is turned and evenly scaled each mode has one plain answer."""
        for bone, parent in variants(self.rng):
            with self.subTest(scale=bone.inherit_scale, rotation=bone.inherit_rotation, local=bone.local_location):
                parent_pose = random_parent(self.rng, scaled=False, sheared=False)
                size = self.rng.uniform(0.5, 2.0, FRAMES)
                parent_turn = parent_pose[:, :3, :3].copy()
                parent_pose[:, :3, :3] *= size[:, None, None]
                channels = random_channels(self.rng, bone.rotation_mode)
                _, found = self.pose(bone, parent, parent_pose, channels)
                offset = np.linalg.inv(parent.rest) @ bone.rest
                for i in range(FRAMES):
                    turn = parent_turn[i] if bone.inherit_rotation else parent.rest[:3, :3]
                    scale = 1.0 if bone.inherit_scale in ("NONE", "NONE_LEGACY") else size[i]
                    own = naive_rotation(channels.rotation[i], bone.rotation_mode) @ np.diag(channels.scale[i])
                    np.testing.assert_allclose(
                        found[i, :3, :3], scale * turn @ offset[:3, :3] @ own, rtol=0, atol=1e-12
                    )
                    frame = parent_pose[i, :3, :3] @ (offset[:3, :3] if bone.local_location else np.eye(3))
                    head = parent_pose[i, :3, :3] @ offset[:3, 3] + parent_pose[i, :3, 3]
                    np.testing.assert_allclose(found[i, :3, 3], head + frame @ channels.location[i], rtol=0, atol=1e-12)

    def test_scale_that_is_not_inherited(self):
        """Without scale the axes are square and of unit length, whatever the parent's are."""
        for bone, parent in variants(self.rng):
            if bone.inherit_scale != "NONE" or not bone.inherit_rotation:
                continue
            channels = random_channels(self.rng, bone.rotation_mode)
            channels = Channels(channels.location, channels.rotation, np.ones((1, 3)))
            _, found = self.pose(bone, parent, random_parent(self.rng), channels)
            square = found[:, :3, :3].transpose(0, 2, 1) @ found[:, :3, :3]
            np.testing.assert_allclose(square, np.tile(np.eye(3), (FRAMES, 1, 1)), rtol=0, atol=1e-10)

    def test_average_keeps_the_volume(self):
        for bone, parent in variants(self.rng):
            if bone.inherit_scale not in ("AVERAGE", "FIX_SHEAR") or not bone.inherit_rotation:
                continue
            with self.subTest(scale=bone.inherit_scale):
                channels = random_channels(self.rng, bone.rotation_mode)
                channels = Channels(channels.location, channels.rotation, np.ones((1, 3)))
                parent_pose = random_parent(self.rng)
                _, found = self.pose(bone, parent, parent_pose, channels)
                np.testing.assert_allclose(
                    np.linalg.det(found[:, :3, :3]), np.linalg.det(parent_pose[:, :3, :3]), rtol=1e-6
                )


class ThereAndBack(unittest.TestCase):
    """Every rotation mode and way to inherit, with uneven scale and shear above and uneven scale of its own."""

    def setUp(self):
        self.rng = np.random.default_rng(103)

    def check(self, bone, parent, parent_pose):
        mode = bone.rotation_mode
        channels = random_channels(self.rng, mode)
        space = kinematics.space(bone, parent, parent_pose)
        pose = kinematics.pose(space, kinematics.basis(channels, mode, False))
        location = kinematics.local_location(space, pose[:, :3, 3])
        np.testing.assert_allclose(location, channels.location, rtol=0, atol=1e-10)
        rotation = kinematics.local_rotation(space, pose[:, :3, :3])
        wanted = kinematics.rotation_matrix(channels.rotation, mode)
        np.testing.assert_allclose(rotation, wanted, rtol=0, atol=1e-10)
        channel = kinematics.rotation_channel(rotation, mode, channels.rotation)
        back = kinematics.pose(space, kinematics.basis(Channels(location, channel, channels.scale), mode, False))
        np.testing.assert_allclose(back, pose, rtol=0, atol=1e-9)

    def test_children(self):
        for mode in MODES:
            for bone, parent in variants(self.rng, mode):
                with self.subTest(mode=mode, scale=bone.inherit_scale, rotation=bone.inherit_rotation):
                    self.check(bone, parent, random_parent(self.rng))
                    self.check(bone, parent, random_parent(self.rng, sheared=False))

    def test_roots(self):
        for mode, local in itertools.product(MODES, (True, False)):
            self.check(Bone("root", -1, random_rest(self.rng), 1.0, mode, local_location=local), None, None)

    def test_turned_pose(self):
        """What the solver asks for: the bone's pose turned in the armature, its head where it shall be. The channels
        give just that but where an uneven scale of the parent shears what turns in it."""
        for bone, parent in variants(self.rng):
            even = bone.inherit_scale in ("FULL", "FIX_SHEAR", "NONE_LEGACY")
            parent_pose = random_parent(self.rng, scaled=not even, sheared=not even)
            if even:
                parent_pose[:, :3, :3] *= self.rng.uniform(0.5, 2.0, (FRAMES, 1, 1))
            with self.subTest(scale=bone.inherit_scale, rotation=bone.inherit_rotation, local=bone.local_location):
                channels = random_channels(self.rng, bone.rotation_mode)
                space = kinematics.space(bone, parent, parent_pose)
                pose = kinematics.pose(space, kinematics.basis(channels, bone.rotation_mode, False))
                turn = rot.to_matrix(unit(self.rng.normal(size=(FRAMES, 4))))
                head = self.rng.normal(size=(FRAMES, 3))
                wanted = turn @ pose[:, :3, :3]
                rotation = kinematics.local_rotation(space, wanted)
                channel = kinematics.rotation_channel(rotation, bone.rotation_mode, channels.rotation)
                location = kinematics.local_location(space, head)
                again = Channels(location, channel, channels.scale)
                found = kinematics.pose(space, kinematics.basis(again, bone.rotation_mode, False))
                np.testing.assert_allclose(found[:, :3, :3], wanted, rtol=0, atol=1e-10)
                np.testing.assert_allclose(found[:, :3, 3], head, rtol=0, atol=1e-10)

    def test_still_parent(self):
        """A parent of one frame broadcasts."""
        for bone, parent in variants(self.rng):
            channels = random_channels(self.rng, bone.rotation_mode)
            space = kinematics.space(bone, parent, random_parent(self.rng)[:1])
            pose = kinematics.pose(space, kinematics.basis(channels, bone.rotation_mode, False))
            self.assertEqual(pose.shape, (FRAMES, 4, 4))
            location = kinematics.local_location(space, pose[:, :3, 3])
            np.testing.assert_allclose(location, channels.location, rtol=0, atol=1e-10)
            rotation = kinematics.local_rotation(space, pose[:, :3, :3])
            wanted = kinematics.rotation_matrix(channels.rotation, bone.rotation_mode)
            np.testing.assert_allclose(rotation, wanted, rtol=0, atol=1e-10)

    def test_arguments_untouched(self):
        for bone, parent in variants(self.rng):
            parent_pose, channels = random_parent(self.rng), random_channels(self.rng, bone.rotation_mode)
            matrix = kinematics.basis(channels, bone.rotation_mode, False)
            for array in (parent_pose, matrix, bone.rest, parent.rest):
                array.setflags(write=False)
            space = kinematics.space(bone, parent, parent_pose)
            pose = kinematics.pose(space, matrix)
            pose.setflags(write=False)
            kinematics.local_rotation(space, pose[:, :3, :3])
            kinematics.local_location(space, pose[:, :3, 3])

    def test_results_are_rotations(self):
        """Under shear too, where the nearest is all that there is."""
        for bone, parent in variants(self.rng):
            space = kinematics.space(bone, parent, random_parent(self.rng))
            oriented = rot.to_matrix(unit(self.rng.normal(size=(FRAMES, 4))))
            found = kinematics.local_rotation(space, oriented)
            square = found.transpose(0, 2, 1) @ found
            np.testing.assert_allclose(square, np.tile(np.eye(3), (FRAMES, 1, 1)), rtol=0, atol=1e-7)
            np.testing.assert_allclose(np.linalg.det(found), 1.0, rtol=0, atol=1e-7)
