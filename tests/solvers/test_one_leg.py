"""The leg chain on plain numbers: the same as on arrays, for every kind of leg and target."""

import unittest

import numpy as np

from footlock.solvers import leg_chain, one_leg, plain
from footlock.solvers import rotations as rot

TURNS = ("thigh", "shin", "foot", "toe")
UP = np.array([0.0, 0.0, 1.0])
DEFAULT = leg_chain.LegChainSettings()
JOINTS = ("hip", "knee", "heel", "toe", "toe_end")


def legs(count, seed=5):
    """Random legs, bent and nearly straight, feet of all directions, side vectors not quite square: (pose, side)."""
    rng = np.random.default_rng(seed)
    hip = rng.normal(size=(count, 3)) + UP
    thigh = rng.normal(size=(count, 3)) * 0.3 - UP
    thigh *= 0.42 / rot.length(thigh)
    side = rot.normalized(rot.cross(thigh, rng.normal(size=(count, 3))))
    bend = np.where(np.arange(count) % 3 == 0, 1e-3, 1.0) * rng.uniform(0.0, 1.6, count)
    shin = rot.rotate(rot.from_scaled_angle_axis(side * bend[:, None]), thigh) * 0.98
    foot = rng.normal(size=(count, 3)) * 0.06 + rot.cross(side, thigh) * 0.3
    knee, heel = hip + thigh, hip + thigh + shin
    toe = heel + foot
    end = toe + 0.4 * foot + rng.normal(size=(count, 3)) * 0.01
    tilted = rot.normalized(side + 0.1 * rng.normal(size=(count, 3)))
    return leg_chain.LegPose(hip, knee, heel, toe, end), tilted


def row(array, i):
    return tuple(array[i].tolist())


class SameAsArrays(unittest.TestCase):
    def compare(self, pose, targets, side, lowest, settings=DEFAULT):
        wanted = leg_chain.solve(pose, targets, side, leg_chain.MinimumHeights(*lowest.T), settings)
        for i in range(len(targets)):
            joints = [row(getattr(pose, joint), i) for joint in JOINTS]
            got = one_leg.solve(*joints, row(targets, i), row(side, i), row(lowest, i), settings)
            for name in TURNS:
                turn = getattr(wanted, f"{name}_turn")
                turn = np.broadcast_to(turn, (len(targets), 4))[i]
                self.assertLess(1.0 - abs(np.dot(turn, getattr(got, name))), 1e-9, (name, i))
            np.testing.assert_allclose(got.toe_place, wanted.toe[i], rtol=0, atol=1e-7)
            self.assertAlmostEqual(got.residual, wanted.residual[i], delta=1e-7)
        return wanted

    def test_targets_near_and_far(self):
        pose, side = legs(300)
        rng = np.random.default_rng(6)
        lowest = np.full((300, 3), -9.0)
        for size in (0.0, 0.01, 0.1, 0.6):
            with self.subTest(size=size):
                wanted = self.compare(pose, pose.toe + size * rng.normal(size=(300, 3)), side, lowest)
        self.assertTrue((wanted.residual > 0.01).any() and (wanted.residual < 1e-6).any())

    def test_heights(self):
        """Heel, toe and toe end each under the floor in some of the legs."""
        pose, side = legs(300)
        rng = np.random.default_rng(7)
        lowest = np.stack([getattr(pose, joint)[:, 2] for joint in ("heel", "toe", "toe_end")], axis=1)
        lowest = lowest + rng.uniform(-0.05, 0.03, lowest.shape)
        self.compare(pose, pose.toe + 0.03 * rng.normal(size=(300, 3)), side, lowest)

    def test_other_settings(self):
        pose, side = legs(60)
        targets = pose.toe + np.array([0.02, -0.05, 0.03])
        lowest = np.full((60, 3), -9.0)
        for settings in (
            leg_chain.LegChainSettings(softening=0.0),
            leg_chain.LegChainSettings(softening=0.05, max_pivot=0.0),
            leg_chain.LegChainSettings(passes=1),
        ):
            with self.subTest(settings=settings):
                self.compare(pose, targets, side, lowest, settings)

    def test_degenerate_legs(self):
        """Straight along its side vector, a shin or a foot without length, a target on the hip."""
        down = -UP
        hip = np.zeros((4, 3))
        knee, heel = hip + 0.4 * down, hip + 0.8 * down
        heel[1] = knee[1]
        toe = heel + np.array([0.0, -0.1, 0.0])
        toe[2] = heel[2]
        side = np.tile([1.0, 0.0, 0.0], (4, 1))
        side[0] = down
        targets = toe + 0.1 * UP
        targets[3] = hip[3] + np.array([0.0, -0.1, 0.0])
        self.compare(leg_chain.LegPose(hip, knee, heel, toe, toe), targets, side, np.full((4, 3), -9.0))


class Plain(unittest.TestCase):
    def test_as_rotations(self):
        rng = np.random.default_rng(8)
        for _ in range(50):
            a, b = rot.normalized(rng.normal(size=(2, 4)))
            v, w = rng.normal(size=(2, 3))
            pairs = (
                (plain.multiply(a, b), rot.multiply(a, b)),
                (plain.rotate(a, v), rot.rotate(a, v)),
                (plain.cross(v, w), rot.cross(v, w)),
                (plain.between(v, w), rot.between(v, w)),
                (plain.about(tuple(rot.normalized(v)), 0.7), rot.from_scaled_angle_axis(0.7 * rot.normalized(v))),
            )
            for got, wanted in pairs:
                np.testing.assert_allclose(got, wanted, rtol=0, atol=1e-12)

    def test_between_opposite_and_none(self):
        turned = plain.rotate(plain.between((0.0, 0.0, 2.0), (0.0, 0.0, -1.0)), (0.0, 0.0, 1.0))
        np.testing.assert_allclose(turned, (0.0, 0.0, -1.0), atol=1e-12)
        self.assertEqual(plain.between((0.0, 0.0, 0.0), (0.0, 0.0, 1.0)), plain.IDENTITY)
