"""Side vectors from the motion: the hinge of a knee, whichever way the rig's bones are turned."""

import unittest
from dataclasses import fields

import numpy as np

from footlock.solvers import knee_side, two_bone
from footlock.solvers import rotations as rot
from footlock.solvers.leg_chain import LegPose


def unit(v):
    return v / np.linalg.norm(v, axis=-1, keepdims=True)


def hinged(rng, bend, bone_frame=None):
    """Legs (frames, legs) whose knees are hinges. ``bend``: (frames, legs) radians. Returns the pose, the shin bones'
    frames and the hinges (frames, legs, 3), about which a positive turn bends further."""
    frames, legs = bend.shape
    along = unit(rng.normal(size=(frames, legs, 3)))
    hinge = unit(np.cross(along, rng.normal(size=(frames, legs, 3))))
    shin = along * np.cos(bend)[..., None] + np.cross(hinge, along) * np.sin(bend)[..., None]
    ahead = np.cross(shin, hinge)
    hip = rng.normal(size=(frames, legs, 3))
    knee = hip + 0.42 * along
    heel = knee + 0.4 * shin
    toe = heel + 0.15 * unit(ahead + 0.4 * shin)
    own = np.stack([hinge, shin, np.cross(hinge, shin)], axis=-1)
    # How the bone's axes lie to hinge and shin is the rig's business; each leg has its own.
    if bone_frame is None:
        bone_frame = rot.to_matrix(unit(rng.normal(size=(legs, 4))))
    return LegPose(hip, knee, heel, toe, toe), own @ bone_frame, hinge


class Hinges(unittest.TestCase):
    def setUp(self):
        self.rng = np.random.default_rng(71)

    def test_found(self):
        pose, shin_frames, hinge = hinged(self.rng, self.rng.uniform(0.0, 1.5, (60, 3)))
        side = knee_side.side_vectors(pose, shin_frames)
        np.testing.assert_allclose(side, hinge, rtol=0, atol=1e-12)

    def test_fixed_in_the_shin(self):
        """Even where the knee wobbles and where it is straight."""
        pose, shin_frames, _ = hinged(self.rng, self.rng.uniform(0.0, 1.5, (60, 2)))
        knee = pose.knee + 0.01 * self.rng.normal(size=pose.knee.shape)
        wobble = LegPose(pose.hip, knee, pose.heel, pose.toe, pose.toe)
        side = knee_side.side_vectors(wobble, shin_frames)
        local = np.einsum("flij,fli->flj", shin_frames, side)
        np.testing.assert_allclose(local, np.broadcast_to(local[:1], local.shape), rtol=0, atol=1e-14)
        np.testing.assert_allclose(np.linalg.norm(side, axis=-1), 1.0, rtol=0, atol=1e-14)

    def test_bends_further_by_a_positive_turn(self):
        pose, shin_frames, _ = hinged(self.rng, self.rng.uniform(0.2, 1.2, (20, 2)))
        side = knee_side.side_vectors(pose, shin_frames)
        shin = rot.rotate(rot.from_scaled_angle_axis(0.1 * side), pose.heel - pose.knee)
        before = np.linalg.norm(pose.heel - pose.hip, axis=-1)
        self.assertTrue((np.linalg.norm(pose.knee + shin - pose.hip, axis=-1) < before).all())

    def test_average_counts_bent_frames(self):
        """By the sine of the bend, naively summed; straight frames have no say."""
        bend = self.rng.uniform(0.0, 1.5, (30, 1))
        bend[::3] = 0.0
        pose, shin_frames, _ = hinged(self.rng, bend)
        knee = pose.knee + 0.03 * self.rng.normal(size=pose.knee.shape)
        noisy = LegPose(pose.hip, knee, pose.heel, pose.toe, pose.toe)
        total = np.zeros(3)
        for i in range(30):
            thigh, shin = unit(knee[i, 0] - pose.hip[i, 0]), unit(pose.heel[i, 0] - knee[i, 0])
            total += shin_frames[i, 0].T @ np.cross(thigh, shin)
        wanted = np.array([shin_frames[i, 0] @ unit(total) for i in range(30)])
        found = knee_side.side_vectors(noisy, shin_frames)[:, 0]
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12)

    def test_a_few_frames_bent_the_wrong_way(self):
        bend = np.full((50, 1), 0.5)
        bend[:5] = -0.1
        pose, shin_frames, hinge = hinged(self.rng, bend)
        np.testing.assert_allclose(knee_side.side_vectors(pose, shin_frames), hinge, rtol=0, atol=1e-12)

    def test_straight_leg_bends_as_its_foot_points(self):
        for bend in (0.0, 1e-9, 1e-3):
            pose, shin_frames, hinge = hinged(self.rng, np.full((10, 2), bend))
            side = knee_side.side_vectors(pose, shin_frames)
            np.testing.assert_allclose(side, hinge, rtol=0, atol=1e-2)
            # The knee goes the way the foot points.
            target = pose.hip + 0.95 * (pose.heel - pose.hip)
            bent = two_bone.solve(pose.hip, pose.knee, pose.heel, target, side)
            ahead = np.einsum("fli,fli->fl", bent.knee_world - pose.knee, pose.toe - pose.heel)
            self.assertGreater(ahead.min(), 0.0)

    def test_straight_leg_without_a_foot(self):
        pose, shin_frames, _ = hinged(self.rng, np.zeros((10, 1)))
        for toe in (pose.heel, pose.heel + 0.3 * (pose.heel - pose.hip)):
            side = knee_side.side_vectors(LegPose(pose.hip, pose.knee, pose.heel, toe, toe), shin_frames)
            np.testing.assert_allclose(np.linalg.norm(side, axis=-1), 1.0, rtol=0, atol=1e-12)

    def test_no_lengths_at_all(self):
        zero = np.zeros((4, 1, 3))
        frames = np.broadcast_to(np.eye(3), (4, 1, 3, 3))
        side = knee_side.side_vectors(LegPose(zero, zero, zero, zero, zero), frames)
        np.testing.assert_allclose(np.linalg.norm(side, axis=-1), 1.0, rtol=0, atol=1e-12)


class Worlds(unittest.TestCase):
    def setUp(self):
        rng = np.random.default_rng(72)
        self.pose, self.shin_frames, self.hinge = hinged(rng, rng.uniform(0.1, 1.5, (20, 2)))
        self.turn = rot.to_matrix(unit(rng.normal(size=4)))

    def moved(self, matrix, offset=0.0, scale=1.0):
        return LegPose(*(scale * getattr(self.pose, f.name) @ matrix.T + offset for f in fields(self.pose)))

    def test_turned_moved_and_scaled(self):
        side = knee_side.side_vectors(self.pose, self.shin_frames)
        pose = self.moved(self.turn, offset=5.0, scale=100.0)
        there = knee_side.side_vectors(pose, self.turn @ self.shin_frames)
        np.testing.assert_allclose(there, side @ self.turn.T, rtol=0, atol=1e-12)

    def test_mirrored(self):
        """The mirrored leg's hinge is the mirrored one, turned round; the bone's frame stays right-handed."""
        mirror = np.diag([-1.0, 1.0, 1.0])
        shin_frames = mirror @ self.shin_frames @ mirror
        there = knee_side.side_vectors(self.moved(mirror), shin_frames)
        np.testing.assert_allclose(there, -self.hinge @ mirror, rtol=0, atol=1e-12)

    def test_each_leg_alone(self):
        both = knee_side.side_vectors(self.pose, self.shin_frames)
        for leg in range(2):
            pose = LegPose(*(getattr(self.pose, f.name)[:, leg : leg + 1] for f in fields(self.pose)))
            alone = knee_side.side_vectors(pose, self.shin_frames[:, leg : leg + 1])
            np.testing.assert_allclose(both[:, leg], alone[:, 0], rtol=0, atol=1e-14)

    def test_arguments_untouched(self):
        for array in (*(getattr(self.pose, f.name) for f in fields(self.pose)), self.shin_frames):
            array.setflags(write=False)
        knee_side.side_vectors(self.pose, self.shin_frames)
