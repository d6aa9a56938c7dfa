"""The leg chain: the article's reference values, and what Footlock's own settings promise beyond the article."""

import json
import unittest
from dataclasses import fields, replace
from pathlib import Path

import numpy as np

from footlock.solvers import leg_chain, two_bone
from footlock.solvers import rotations as rot
from footlock.solvers.leg_chain import ARTICLE, LegChainSettings, LegPose, MinimumHeights

VECTORS = Path(__file__).resolve().parent.parent / "data" / "vectors"
DEFAULT = LegChainSettings()
NO_FLOOR = MinimumHeights(-100.0, -100.0, -100.0)
# A cosine at 1, of a leg stretched out, knows its angle to the root of rounding and no better; metres or radians.
STRAIGHT = 5e-8
POINTS = ("knee", "heel", "toe", "toe_end")
TURNS = ("thigh_turn", "shin_turn", "foot_turn", "toe_turn")


def norm(v):
    return np.sqrt(np.einsum("...i,...i->...", v, v))


def unit(v):
    return v / np.linalg.norm(v, axis=-1, keepdims=True)


def standing(bend, turn=0.0, pitch=0.5, shape=()):
    """A leg of 0.42 m and 0.4 m over a foot of 0.16 m, knee bent by ``bend``, about its hip; and its side vector. The
    character looks along -y turned by ``turn`` about z, the leg's heel is below the hip."""
    thigh, shin, foot, tip = 0.42, 0.4, 0.16, 0.06
    bend = np.broadcast_to(np.asarray(bend, float), shape)[..., None]
    side = np.array([1.0, 0.0, 0.0])
    down, ahead = np.array([0.0, 0.0, -1.0]), np.array([0.0, -1.0, 0.0])
    reach = np.sqrt(thigh**2 + shin**2 + 2 * thigh * shin * np.cos(bend))
    lean = np.arctan2(shin * np.sin(bend), thigh + shin * np.cos(bend))
    hip = np.zeros((*bend.shape[:-1], 3))
    knee = thigh * (np.cos(lean) * down + np.sin(lean) * ahead)
    heel = reach * down + 0.0 * knee
    toe = heel + foot * (np.cos(pitch) * ahead + np.sin(pitch) * down)
    toe_end = toe + tip * ahead
    about_z = np.array([[np.cos(turn), -np.sin(turn), 0], [np.sin(turn), np.cos(turn), 0], [0, 0, 1]])
    hip = hip + np.array([0.3, -0.2, 1.0])
    pose = LegPose(hip, *(hip + (p + 0.0 * hip) @ about_z.T for p in (knee, heel, toe, toe_end)))
    return pose, np.broadcast_to(side @ about_z.T, hip.shape)


def random_poses(rng, count, bend=(0.1, 2.0)):
    """Legs in any position that a leg may have, feet included, and their side vectors."""
    thigh, shin, foot, tip = rng.uniform([[0.35], [0.35], [0.1], [0.03]], [[0.5], [0.5], [0.2], [0.08]], (4, count))
    along = unit(rng.normal(size=(count, 3)))
    side = unit(np.cross(along, rng.normal(size=(count, 3))))
    angle = rng.uniform(*bend, (count, 1))
    hip = rng.normal(size=(count, 3))
    knee = hip + thigh[:, None] * along
    shin_along = along * np.cos(angle) + np.cross(side, along) * np.sin(angle)
    heel = knee + shin[:, None] * shin_along
    forward = np.cross(side, shin_along)
    toe = heel - foot[:, None] * unit(forward + 0.6 * rng.normal(size=(count, 3)))
    toe_end = toe + tip[:, None] * unit(rng.normal(size=(count, 3)))
    return LegPose(hip, knee, heel, toe, toe_end), side


class ChainCase(unittest.TestCase):
    def check_honest(self, pose, found):
        """Finite, every bone as long as before, positions those of the rotations, and the residual true. Returns the
        rotations as matrices."""
        for field in fields(found):
            self.assertTrue(np.isfinite(getattr(found, field.name)).all(), field.name)
        old = [getattr(pose, name) for name in ("hip", *POINTS)]
        new = [pose.hip, *(getattr(found, name) for name in POINTS)]
        matrices = [rot.to_matrix(getattr(found, turn)) for turn in TURNS]
        for i, turn in enumerate(TURNS):
            bone = np.einsum("...ij,...j->...i", matrices[i], old[i + 1] - old[i])
            np.testing.assert_allclose(new[i + 1], new[i] + bone, rtol=0, atol=1e-13, err_msg=turn)
            np.testing.assert_allclose(norm(new[i + 1] - new[i]), norm(old[i + 1] - old[i]), rtol=0, atol=1e-14)
        np.testing.assert_allclose(found.residual, norm(found.toe - found.toe_target), rtol=0, atol=1e-14)
        full = norm(pose.knee - pose.hip) + norm(pose.heel - pose.knee)
        self.assertLessEqual((norm(found.heel - pose.hip) - full).max(), 1e-14)
        return matrices


class Article(ChainCase):
    def test_all_cases(self):
        cases = json.loads((VECTORS / "leg_chain.json").read_text())["cases"]
        self.assertEqual(len(cases), 60)
        for number, case in enumerate(cases):
            with self.subTest(case=number):
                self.check_case(case)

    def check_case(self, case):
        local, offsets = np.array(case["rotations"]), np.array(case["offsets"])
        positions, rotations = [offsets[0]], [local[0]]
        for i in range(1, 6):
            positions.append(positions[-1] + rot.rotate(rotations[-1], offsets[i]))
            rotations.append(rot.multiply(rotations[-1], local[i]) if i < len(local) else rotations[-1])
        pose = LegPose(*positions[1:])
        side = rot.rotate(rotations[2], np.array(case["side_local"], float))
        minimum = MinimumHeights(case["heel_min"], case["toe_min"], case["toe_end_min"])
        switches = {name: case[name] for name in ("softening", "height_clamp", "heel_look_at", "toe_look_at")}
        found = leg_chain.solve(pose, case["toe_target"], side, minimum, replace(ARTICLE, **switches))

        turned = [rotations[0]]
        turned += [rot.multiply(getattr(found, turn), rotations[i + 1]) for i, turn in enumerate(TURNS)]
        wanted = np.array(case["out_rotations"])
        for i in range(5):
            got = turned[0] if i == 0 else rot.multiply(rot.inverse(turned[i - 1]), turned[i])
            np.testing.assert_allclose(got * np.sign(got @ wanted[i]), wanted[i], rtol=0, atol=1e-6)
        got = [positions[0], pose.hip, found.knee, found.heel, found.toe, found.toe_end]
        np.testing.assert_allclose(got, case["out_positions"], rtol=0, atol=1e-6)
        np.testing.assert_allclose(found.heel_target, case["heel_target"], rtol=0, atol=1e-6)
        np.testing.assert_allclose(found.residual, norm(found.toe - found.toe_target), rtol=0, atol=1e-13)

    def test_cases_use_every_switch(self):
        cases = json.loads((VECTORS / "leg_chain.json").read_text())["cases"]
        for name in ("height_clamp", "heel_look_at", "toe_look_at"):
            self.assertEqual({case[name] for case in cases}, {True, False})


class Unchanged(ChainCase):
    """A target that is the pose's own toe gives the pose back."""

    def check_unchanged(self, pose, side, settings=DEFAULT):
        found = leg_chain.solve(pose, pose.toe, side, NO_FLOOR, settings)
        self.check_honest(pose, found)
        for name in POINTS:
            np.testing.assert_allclose(getattr(found, name), getattr(pose, name), rtol=0, atol=1e-6, err_msg=name)
        for name in TURNS:
            turn = getattr(found, name)
            np.testing.assert_allclose(turn, np.broadcast_to(rot.IDENTITY, turn.shape), rtol=0, atol=1e-6, err_msg=name)
        self.assertLess(np.max(found.residual), 1e-6)

    def test_bent(self):
        rng = np.random.default_rng(21)
        pose, side = random_poses(rng, 500)
        self.check_unchanged(pose, side)
        self.check_unchanged(pose, unit(side + 0.3 * rng.normal(size=side.shape)))

    def test_nearly_and_exactly_straight(self):
        rng = np.random.default_rng(22)
        for bend in (0.0, 1e-10, 1e-7, 1e-5, 1e-3, 0.03):
            with self.subTest(bend=bend):
                pose, side = random_poses(rng, 200, (bend, bend))
                self.check_unchanged(pose, side)
                self.check_unchanged(pose, unit(side + 0.3 * rng.normal(size=side.shape)))

    def test_any_softening(self):
        pose, side = random_poses(np.random.default_rng(23), 200)
        for softening in (0.0, 1e-4, 0.05, 0.5):
            self.check_unchanged(pose, side, replace(DEFAULT, softening=softening))

    def test_on_the_floor_of_its_own_heights(self):
        pose, side = standing(0.3)
        minimum = MinimumHeights(pose.heel[2], pose.toe[2], pose.toe_end[2])
        found = leg_chain.solve(pose, pose.toe, side, minimum)
        for name in POINTS:
            np.testing.assert_allclose(getattr(found, name), getattr(pose, name), rtol=0, atol=1e-9)

    def test_article_does_move_it(self):
        """The reason for the reach limit; if this fails, the article's limit is no longer to be had."""
        pose, side = standing(0.3)
        found = leg_chain.solve(pose, pose.toe, side, NO_FLOOR, ARTICLE)
        self.assertGreater(norm(found.heel - pose.heel), 1e-3)


class Reach(ChainCase):
    def test_toe_meets_a_target_that_the_leg_reaches(self):
        rng = np.random.default_rng(24)
        pose, side = random_poses(rng, 2000)
        foot = pose.toe - pose.heel
        thigh, shin = norm(pose.knee - pose.hip), norm(pose.heel - pose.knee)
        distance = rng.uniform(np.abs(thigh - shin) + 0.02, thigh + shin - DEFAULT.softening)
        target = pose.hip + distance[:, None] * unit(rng.normal(size=(2000, 3))) + foot
        found = leg_chain.solve(pose, target, side, NO_FLOOR)
        self.check_honest(pose, found)
        self.assertLess(found.residual.max(), 1e-9)
        np.testing.assert_allclose(found.heel, target - foot, rtol=0, atol=1e-9)

    def test_toe_meets_a_near_target_with_a_side_vector_that_is_off(self):
        rng = np.random.default_rng(25)
        pose, side = random_poses(rng, 1000, (0.6, 1.5))
        side = unit(side + 0.3 * rng.normal(size=side.shape))
        target = pose.toe + 0.03 * unit(rng.normal(size=pose.toe.shape))
        found = leg_chain.solve(pose, target, side, NO_FLOOR)
        self.assertLess(found.residual.max(), 1e-9)

    def test_longer_than_in_the_source(self):
        """A leg may become longer than it was: the article's may not, and so leaves the slide in."""
        pose, side = standing(0.8)
        target = pose.toe + np.array([0.0, 0.0, -0.04])
        own = leg_chain.solve(pose, target, side, NO_FLOOR)
        article = leg_chain.solve(pose, target, side, NO_FLOOR, ARTICLE)
        self.assertLess(own.residual, 1e-9)
        self.assertGreater(article.residual, 0.01)

    def test_heel_rises_for_a_leg_that_is_too_short(self):
        """Up to half the most the pivot has no softness: the toe stays on its target."""
        for turn in (0.0, 0.7, 2.0):
            pose, side = standing(0.1, turn)
            for drag in np.linspace(0.0, 0.1, 21):
                behind = -unit(np.append(pose.toe[:2] - pose.heel[:2], 0.0))
                target = pose.toe + drag * behind
                found = leg_chain.solve(pose, target, side, NO_FLOOR)
                self.check_honest(pose, found)
                pivot = _angle(found.toe - found.heel, pose.toe - pose.heel)
                if pivot < 0.5 * DEFAULT.max_pivot:
                    self.assertLess(found.residual, 1e-9, f"drag {drag}")

    def test_heel_does_rise(self):
        pose, side = standing(0.1)
        target = pose.toe + np.array([0.0, 0.14, 0.0])
        found = leg_chain.solve(pose, target, side, NO_FLOOR)
        pivot = _angle(found.toe - found.heel, pose.toe - pose.heel)
        self.assertGreater(pivot, np.radians(1.0))
        self.assertLess(pivot, 0.5 * DEFAULT.max_pivot)
        self.assertLess(found.residual, 1e-9)
        self.assertGreater(found.heel[2] - (target - (pose.toe - pose.heel))[2], 0.003)
        without = leg_chain.solve(pose, target, side, NO_FLOOR, replace(DEFAULT, max_pivot=0.0))
        self.assertGreater(without.residual, 1e-3)

    def test_pivot_softens_before_its_most(self):
        """The toe gives way little by little, so that the foot comes to its most pitch without a stop."""
        pose, side = standing(0.1)
        drag = np.linspace(0.0, 0.3, 601)[:, None]
        whole = LegPose(*(np.broadcast_to(getattr(pose, f.name), (601, 3)) for f in fields(pose)))
        found = leg_chain.solve(whole, pose.toe + drag * [0.0, 1.0, 0.0], np.broadcast_to(side, (601, 3)), NO_FLOOR)
        pivot = np.degrees(_angle(found.toe - found.heel, whole.toe - whole.heel))
        self.assertLess(found.residual[pivot < 10.0].max(), 1e-9)
        soft = (pivot > 12.0) & (pivot < 19.0)
        self.assertGreater(np.count_nonzero(soft), 5)
        self.assertGreater(found.residual[soft].min(), 1e-5)
        self.assertTrue((np.diff(found.residual[pivot > 10.5]) > 0.0).all())

    def test_pivot_is_never_more_than_its_most(self):
        """Whatever is asked for: what the heel cannot give the toe must."""
        rng = np.random.default_rng(26)
        for most in (np.radians(5.0), np.radians(20.0)):
            for away in (0.02, 0.1, 0.3, 2.0):
                with self.subTest(most=round(float(np.degrees(most))), away=away):
                    pose, side = standing(rng.uniform(0.02, 0.6, 300), shape=(300,))
                    target = pose.toe + away * unit(rng.normal(size=pose.toe.shape))
                    found = leg_chain.solve(pose, target, side, NO_FLOOR, replace(DEFAULT, max_pivot=most))
                    self.check_honest(pose, found)
                    pivot = _angle(found.toe - found.heel, pose.toe - pose.heel)
                    self.assertLessEqual(np.degrees(pivot.max()), np.degrees(most) + 1e-6)

    def test_out_of_reach_is_honest(self):
        pose, side = standing(0.2)
        for direction in np.vstack([np.eye(3), -np.eye(3), [[0, -0.6, -0.8]]]):
            for away in (0.5, 5.0):
                found = leg_chain.solve(pose, pose.toe + away * direction, side, NO_FLOOR)
                self.check_honest(pose, found)
                self.assertGreater(found.residual, 0.0 if away < 1.0 else 3.0)

    def test_legs_without_foot_or_toe(self):
        pose, side = random_poses(np.random.default_rng(27), 50)
        target = pose.toe + 0.02
        short = LegPose(pose.hip, pose.knee, pose.heel, pose.toe, pose.toe)
        self.check_honest(short, leg_chain.solve(short, target, side, NO_FLOOR))
        footless = LegPose(pose.hip, pose.knee, pose.heel, pose.heel, pose.heel)
        found = leg_chain.solve(footless, pose.heel + 0.01, side, NO_FLOOR)
        self.check_honest(footless, found)
        np.testing.assert_array_equal(found.foot_turn, np.tile(rot.IDENTITY, (50, 1)))
        far = leg_chain.solve(footless, pose.heel + 5.0, side, MinimumHeights(0.0, 0.0, 0.0))
        self.check_honest(footless, far)

    def test_foot_in_line_with_the_hip(self):
        """The plane in which the heel rises has no normal there: nothing may break."""
        hip, knee, heel = np.array([0, 0, 1.0]), np.array([0, -0.1, 0.6]), np.array([0, 0, 0.2])
        for toe in (np.array([0, 0, 0.05]), np.array([0, 0, 0.35])):
            pose = LegPose(hip, knee, heel, toe, toe + np.array([0, -0.05, 0]))
            for target in (toe, toe - [0, 0, 0.3], toe - [0, 0, 3.0], hip, heel):
                self.check_honest(pose, leg_chain.solve(pose, target, [1.0, 0.0, 0.0], NO_FLOOR))


class Floor(ChainCase):
    def test_heights_of_the_targets(self):
        rng = np.random.default_rng(28)
        pose, side = standing(rng.uniform(0.1, 1.0, 300), shape=(300,))
        target = pose.toe + 0.1 * rng.normal(size=pose.toe.shape)
        minimum = MinimumHeights(pose.heel[..., 2] - 0.02, pose.toe[..., 2] - 0.01, pose.toe_end[..., 2] - 0.01)
        found = leg_chain.solve(pose, target, side, minimum)
        self.check_honest(pose, found)
        self.assertGreaterEqual((found.toe_target[..., 2] - minimum.toe).min(), 0.0)
        self.assertGreaterEqual((found.heel_target[..., 2] - minimum.heel).min(), 0.0)
        np.testing.assert_array_equal(found.toe_target[..., :2], target[..., :2])
        above = target[..., 2] > minimum.toe
        np.testing.assert_array_equal(found.toe_target[above], target[above])
        self.assertTrue(above.any() and not above.all())
        np.testing.assert_allclose(norm(found.heel_target - found.toe_target), norm(pose.heel - pose.toe), atol=1e-12)

    def test_heights_are_respected_where_the_leg_reaches(self):
        rng = np.random.default_rng(29)
        pose, side = standing(rng.uniform(0.6, 1.2, 500), shape=(500,))
        target = pose.toe + rng.uniform(-1, 1, pose.toe.shape) * [0.05, 0.05, 0.04]
        minimum = MinimumHeights(pose.heel[..., 2] - 0.01, pose.toe[..., 2] - 0.005, pose.toe_end[..., 2] - 0.005)
        found = leg_chain.solve(pose, target, side, minimum)
        for name in ("heel", "toe", "toe_end"):
            with self.subTest(joint=name):
                self.assertGreaterEqual((getattr(found, name)[..., 2] - getattr(minimum, name)).min(), -1e-9)

    def test_toe_end_comes_up_to_the_floor(self):
        """A toe that points down comes to lie with its end at the floor, not below it and not above."""
        pose, side = standing(0.8)
        for dip in (0.01, 0.03, 0.05):
            tip = pose.toe + np.array([0.0, -np.sqrt(0.06**2 - dip**2), -dip])
            steep = replace(pose, toe_end=tip)
            for floor in (0.0, 0.3, 0.7, 0.99):
                with self.subTest(dip=dip, floor=floor):
                    minimum = MinimumHeights(-100.0, -100.0, pose.toe[2] - dip * floor)
                    found = leg_chain.solve(steep, pose.toe, side, minimum)
                    self.check_honest(steep, found)
                    self.assertAlmostEqual(float(found.toe_end[2]), float(minimum.toe_end), delta=1e-9)

    def test_no_height_clamp_no_floor(self):
        pose, side = standing(0.8)
        high = MinimumHeights(10.0, 10.0, 10.0)
        found = leg_chain.solve(pose, pose.toe, side, high, replace(DEFAULT, height_clamp=False))
        for name in POINTS:
            np.testing.assert_allclose(getattr(found, name), getattr(pose, name), rtol=0, atol=1e-9)

    def test_heights_broadcast(self):
        pose, side = standing(0.5, shape=(6, 2))
        target = pose.toe - [0.0, 0.0, 0.1]
        floor = np.array([pose.toe[0, 0, 2], pose.toe[0, 0, 2] - 0.05])
        found = leg_chain.solve(pose, target, side, MinimumHeights(-9.0, floor, -9.0))
        np.testing.assert_allclose(found.toe_target[..., 2], np.tile(floor, (6, 1)), rtol=0, atol=1e-15)


class Foot(ChainCase):
    def test_foot_and_toe_keep_their_rotation_in_the_world(self):
        pose, side = random_poses(np.random.default_rng(30), 500, (0.8, 1.5))
        target = pose.toe + 0.02 * unit(np.random.default_rng(31).normal(size=pose.toe.shape))
        found = leg_chain.solve(pose, target, side, NO_FLOOR)
        for turn in (found.foot_turn, found.toe_turn):
            np.testing.assert_allclose(turn, np.tile(rot.IDENTITY, (500, 1)), rtol=0, atol=1e-9)

    def test_a_pivot_neither_rolls_nor_carries_the_toe(self):
        pose, side = standing(0.1)
        found = leg_chain.solve(pose, pose.toe + np.array([0.02, 0.14, 0.0]), side, NO_FLOOR)
        axis = found.foot_turn[1:]
        self.assertGreater(norm(axis), 0.01)
        self.assertAlmostEqual(float(axis @ unit(pose.toe - pose.heel)), 0.0, delta=1e-12)
        np.testing.assert_allclose(found.toe_turn, rot.IDENTITY, rtol=0, atol=1e-12)

    def test_without_keep_foot_the_shin_carries_it(self):
        pose, side = random_poses(np.random.default_rng(32), 50)
        target = pose.toe + 0.05
        settings = replace(DEFAULT, keep_foot=False, heel_look_at=False, toe_look_at=False)
        found = leg_chain.solve(pose, target, side, NO_FLOOR, settings)
        self.check_honest(pose, found)
        np.testing.assert_array_equal(found.foot_turn, found.shin_turn)
        np.testing.assert_array_equal(found.toe_turn, found.shin_turn)


class Continuous(ChainCase):
    """Targets that move smoothly through every limit: nothing jumps."""

    def outputs(self, pose, side, path, count, settings):
        s = np.linspace(0.0, 1.0, count)[:, None]
        whole = LegPose(*(np.broadcast_to(getattr(pose, f.name), (count, 3)) for f in fields(pose)))
        found = leg_chain.solve(whole, path(s), np.broadcast_to(side, (count, 3)), NO_FLOOR, settings)
        columns = [matrix.reshape(count, 9) for matrix in self.check_honest(whole, found)]
        columns += [getattr(found, name) for name in POINTS]
        return np.concatenate(columns, axis=1)

    def paths(self, pose):
        toe, foot = pose.toe, pose.toe - pose.heel
        back = -unit(np.append(foot[:2], 0.0))
        return {
            "down": lambda s: toe + s * np.array([0.0, 0.0, -0.3]),
            "down, from above": lambda s: toe + (s - 0.5) * np.array([0.0, 0.0, -0.4]),
            "back": lambda s: toe + s * 0.5 * back,
            "ahead": lambda s: toe - s * 0.5 * back,
            "aside": lambda s: toe + s * np.array([0.5, 0.1, -0.1]),
            "round": lambda s: toe + 0.15 * np.concatenate(
                [np.sin(2 * np.pi * s), np.cos(2 * np.pi * s) - 1.0, -np.sin(2 * np.pi * s)], axis=1
            ),
        }  # fmt: skip

    def test_no_jumps(self):
        """With steps sixteen times finer the largest difference is far smaller; a jump would stay as large as it is."""
        for bend in (0.0, 0.02, 0.2, 0.5, 1.0):
            pose, side = standing(bend)
            for settings in (DEFAULT, replace(DEFAULT, softening=0.03), replace(DEFAULT, max_pivot=0.0)):
                for name, path in self.paths(pose).items():
                    with self.subTest(bend=bend, path=name, softening=settings.softening, pivot=settings.max_pivot):
                        found = self.outputs(pose, side, path, 16001, settings)
                        coarse, fine = (np.abs(np.diff(found[::each], axis=0)).max() for each in (16, 1))
                        # A straight knee opens as a root does: a quarter, where what is smooth goes to a sixteenth.
                        # Nothing moves where a straight leg may neither stretch nor pivot, but for the rounding of
                        # arccos.
                        self.assertLess(fine, 0.3 * coarse + 1e-7)

    def test_bounded_rate(self):
        """Away from the straight leg the rate of every output to its target is bounded: finer steps do not raise it, as
        they would at a jump (to four times) or where a root begins (to twice)."""
        for bend in (0.5, 1.0):
            pose, side = standing(bend)
            for name, path in self.paths(pose).items():
                with self.subTest(bend=bend, path=name):
                    found = self.outputs(pose, side, path, 20001, DEFAULT)
                    coarse, fine = (np.abs(np.diff(found[::each], axis=0)).max() / each for each in (4, 1))
                    self.assertLess(fine, 1.1 * coarse)


class Worlds(ChainCase):
    def test_together_as_one_by_one(self):
        rng = np.random.default_rng(33)
        pose, side = random_poses(rng, 40)
        target = pose.toe + 0.2 * rng.normal(size=pose.toe.shape)
        minimum = MinimumHeights(*rng.normal(-1.0, 1.0, (3, 40)))
        for settings in (DEFAULT, ARTICLE):
            together = leg_chain.solve(pose, target, side, minimum, settings)
            grid = lambda a: np.asarray(a).reshape(20, 2, *np.shape(a)[1:])  # noqa: E731
            as_grid = leg_chain.solve(
                LegPose(*(grid(getattr(pose, f.name)) for f in fields(pose))), grid(target), grid(side),
                MinimumHeights(*(grid(getattr(minimum, f.name)) for f in fields(minimum))), settings,
            )  # fmt: skip
            for i in range(40):
                alone = leg_chain.solve(
                    LegPose(*(getattr(pose, f.name)[i] for f in fields(pose))), target[i], side[i],
                    MinimumHeights(*(getattr(minimum, f.name)[i] for f in fields(minimum))), settings,
                )  # fmt: skip
                for field in fields(alone):
                    wanted = getattr(alone, field.name)
                    np.testing.assert_allclose(getattr(together, field.name)[i], wanted, rtol=0, atol=1e-12)
                    np.testing.assert_allclose(getattr(as_grid, field.name)[divmod(i, 2)], wanted, rtol=0, atol=1e-12)

    def test_turned_moved_and_mirrored(self):
        """About the vertical, over the floor and left for right; the floor itself allows no other."""
        rng = np.random.default_rng(34)
        pose, side = random_poses(rng, 200)
        target = pose.toe + 0.1 * rng.normal(size=pose.toe.shape)
        minimum = MinimumHeights(*rng.normal(-1.5, 1.0, (3, 200)))
        here = leg_chain.solve(pose, target, side, minimum)
        c, s = np.cos(1.1), np.sin(1.1)
        for turn, sign in ((np.array([[c, -s, 0], [s, c, 0], [0, 0, 1.0]]), 1.0), (np.diag([-1.0, 1, 1]), -1.0)):
            move = lambda p, turn=turn: p @ turn.T + np.array([4.0, -3.0, 0.0])  # noqa: E731
            moved = LegPose(*(move(getattr(pose, f.name)) for f in fields(pose)))
            there = leg_chain.solve(moved, move(target), sign * side @ turn.T, minimum)
            for name in (*POINTS, "heel_target", "toe_target"):
                np.testing.assert_allclose(getattr(there, name), move(getattr(here, name)), rtol=0, atol=STRAIGHT)
            for name in TURNS:
                np.testing.assert_allclose(
                    rot.to_matrix(getattr(there, name)), turn @ rot.to_matrix(getattr(here, name)) @ turn.T,
                    rtol=0, atol=STRAIGHT,
                )  # fmt: skip

    def test_arguments_untouched(self):
        pose, side = random_poses(np.random.default_rng(35), 20)
        arrays = [getattr(pose, f.name) for f in fields(pose)]
        target, side = pose.toe + 0.3, np.array(side)
        minimum = MinimumHeights(*np.zeros((3, 20)))
        for array in (*arrays, target, side, minimum.heel, minimum.toe, minimum.toe_end):
            array.setflags(write=False)
        for settings in (DEFAULT, ARTICLE):
            leg_chain.solve(pose, target, side, minimum, settings)


class Refusing(unittest.TestCase):
    def setUp(self):
        self.pose, self.side = random_poses(np.random.default_rng(36), 6)

    def test_pose(self):
        arrays = {f.name: getattr(self.pose, f.name) for f in fields(self.pose)}
        for name in arrays:
            for wrong in (arrays[name][:5], arrays[name][:, :2], arrays[name][0]):
                with self.subTest(field=name, shape=wrong.shape):
                    # All others are measured by the hip.
                    blamed = r"LegPose\." + (name if name != "hip" or wrong.shape[-1] != 3 else "knee")
                    with self.assertRaisesRegex(ValueError, blamed):
                        LegPose(**{**arrays, name: wrong})

    def test_target(self):
        for wrong in (np.zeros(3), np.zeros((6, 2)), np.zeros((5, 3)), 0.0):
            with self.assertRaisesRegex(ValueError, "toe_target"):
                leg_chain.solve(self.pose, wrong, self.side, NO_FLOOR)

    def test_side(self):
        for wrong in (np.zeros((6, 2)), np.zeros((5, 3))):
            with self.subTest(shape=wrong.shape), self.assertRaisesRegex(ValueError, "side"):
                leg_chain.solve(self.pose, self.pose.toe, wrong, NO_FLOOR)

    def test_heights(self):
        for name in ("heel", "toe", "toe_end"):
            minimum = replace(NO_FLOOR, **{name: np.zeros(5)})
            with self.subTest(field=name), self.assertRaisesRegex(ValueError, rf"\b{name}\b"):
                leg_chain.solve(self.pose, self.pose.toe, self.side, minimum)

    def test_limit(self):
        with self.assertRaisesRegex(ValueError, "limit"):
            leg_chain.solve(self.pose, self.pose.toe, self.side, NO_FLOOR, replace(DEFAULT, limit="none"))

    def test_article_is_the_articles(self):
        self.assertEqual(
            ARTICLE,
            LegChainSettings(True, True, True, softening=0.005, limit="pose", keep_foot=False, max_pivot=0.0, passes=1),
        )
        self.assertIs(leg_chain.two_bone, two_bone)


def _angle(a, b):
    return np.arctan2(norm(np.cross(a, b)), np.einsum("...i,...i->...", a, b))
