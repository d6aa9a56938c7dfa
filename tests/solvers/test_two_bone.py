"""Two-bone inverse kinematics: the reference values, what a leg must keep, and every leg that has no proper answer."""

import itertools
import json
import math
import unittest
from pathlib import Path

import numpy as np

from footlock.solvers import rotations as rot
from footlock.solvers import two_bone

VECTORS = Path(__file__).resolve().parent.parent / "data" / "vectors"
# A cosine at 1 knows its angle to the root of rounding and no better; metres or radians, of a leg of a metre.
STRAIGHT = 5e-8


def norm(v):
    return np.linalg.norm(v, axis=-1, keepdims=True)


def unit(v):
    return v / norm(v)


def random_legs(rng, count, bend=(0.3, 2.4)):
    """Hip, knee, heel and the true side vector of legs whose knees are bent by so many radians."""
    thigh, shin = rng.uniform(0.3, 0.5, (2, count, 1))
    along = unit(rng.normal(size=(count, 3)))
    side = unit(np.cross(along, rng.normal(size=(count, 3))))
    angle = rng.uniform(*bend, (count, 1))
    shin_along = along * np.cos(angle) + np.cross(side, along) * np.sin(angle)
    hip = rng.normal(size=(count, 3))
    return hip, hip + thigh * along, hip + thigh * along + shin * shin_along, side


def random_targets(rng, legs, margin=0.02):
    """Targets in any direction, within reach by a margin in metres."""
    hip, knee, heel, _ = legs
    thigh, shin = norm(knee - hip), norm(heel - knee)
    return hip + unit(rng.normal(size=hip.shape)) * rng.uniform(np.abs(thigh - shin) + margin, thigh + shin - margin)


def tilted(rng, side, degrees):
    """Directions that are so many degrees off, any way."""
    axis = unit(np.cross(side, rng.normal(size=side.shape)))
    return rot.rotate(rot.from_scaled_angle_axis(axis * np.radians(degrees)), side)


def about(axis, angle, v):
    """A vector turned about a unit axis."""
    return v * math.cos(angle) + np.cross(axis, v) * math.sin(angle) + axis * (axis @ v) * (1.0 - math.cos(angle))


def articles_knee_and_heel(hip, knee, heel, target, side):
    """Where the article's listing puts them, for one leg, in vectors instead of quaternions."""
    angle_of = lambda cosine: math.acos(min(max(cosine, -1.0), 1.0))  # noqa: E731
    down = unit(heel - hip)
    axis = unit(np.cross(down, unit(np.cross(down, side))))
    thigh, shin, wanted = math.dist(knee, hip), math.dist(heel, knee), math.dist(target, hip)
    hip_now = angle_of(down @ (knee - hip) / thigh)
    knee_now = angle_of((hip - knee) @ (heel - knee) / (thigh * shin))
    hip_then = angle_of((thigh**2 + wanted**2 - shin**2) / (2.0 * thigh * wanted))
    knee_then = angle_of((thigh**2 + shin**2 - wanted**2) / (2.0 * thigh * shin))
    hip_turn, knee_turn = hip_then - hip_now, knee_then - knee_now
    aim_axis = np.cross(down, target - hip)
    aim_angle = math.atan2(np.linalg.norm(aim_axis), down @ (target - hip))
    aim_axis = unit(aim_axis)
    knee_then = hip + about(aim_axis, aim_angle, about(axis, hip_turn, knee - hip))
    shin_then = about(aim_axis, aim_angle, about(axis, hip_turn, about(axis, knee_turn, heel - knee)))
    return knee_then, knee_then + shin_then


class TwoBoneCase(unittest.TestCase):
    def check_honest(self, legs, target, result):
        """Finite, bones as long as before, and positions and residual that are those of the rotations."""
        hip, knee, heel = (np.asarray(a, float) for a in legs[:3])
        for name in ("hip", "knee", "knee_world", "heel_world", "residual"):
            self.assertTrue(np.isfinite(getattr(result, name)).all(), name)
        for q in (result.hip, result.knee):
            np.testing.assert_allclose(norm(q), 1.0, rtol=0, atol=1e-14)
        knee_world = hip + np.einsum("...ij,...j->...i", rot.to_matrix(result.hip), knee - hip)
        heel_world = knee_world + np.einsum("...ij,...j->...i", rot.to_matrix(result.knee), heel - knee)
        np.testing.assert_allclose(result.knee_world, knee_world, rtol=0, atol=1e-13)
        np.testing.assert_allclose(result.heel_world, heel_world, rtol=0, atol=1e-13)
        np.testing.assert_allclose(norm(result.knee_world - hip), norm(knee - hip), rtol=0, atol=1e-14)
        np.testing.assert_allclose(norm(result.heel_world - result.knee_world), norm(heel - knee), rtol=0, atol=1e-14)
        np.testing.assert_allclose(result.residual, norm(heel_world - target)[..., 0], rtol=1e-14, atol=1e-13)


class Reference(TwoBoneCase):
    def test_all_cases(self):
        cases = json.loads((VECTORS / "two_bone.json").read_text())["cases"]
        self.assertEqual(len(cases), 60)
        clamped = 0
        for number, case in enumerate(cases):
            with self.subTest(case=number):
                a = {name: np.array(value) for name, value in case.items()}
                offset = a["target"] - a["hip"]
                distance = norm(offset)
                reach = two_bone.soft_clamp(distance, a["max_extension"], a["softening"])
                clamped += int(reach[0] < distance[0])
                target = a["hip"] + offset / distance * reach
                found = two_bone.solve(a["hip"], a["knee"], a["heel"], target, a["side"])
                hip_world = rot.multiply(found.hip, a["hip_rotation"])
                knee_world = rot.multiply(found.knee, a["knee_rotation"])
                local_hip = rot.multiply(rot.inverse(a["pelvis_rotation"]), hip_world)
                local_knee = rot.multiply(rot.inverse(hip_world), knee_world)
                for got, wanted in ((local_hip, a["local_hip_rotation"]), (local_knee, a["local_knee_rotation"])):
                    got = got * np.sign(got @ wanted)
                    np.testing.assert_allclose(got, wanted, rtol=0, atol=1e-6)
                np.testing.assert_allclose(found.heel_world, a["reached_heel"], rtol=0, atol=1e-6)
                self.check_honest((a["hip"], a["knee"], a["heel"]), target, found)
        self.assertGreater(clamped, 0)

    def test_any_side_vector_as_the_article(self):
        """The cases in the file have side vectors that are square to the leg; the listing says what others do."""
        rng = np.random.default_rng(15)
        legs = random_legs(rng, 300)
        target = random_targets(rng, legs)
        for degrees in (0.0, 20.0, 60.0):
            side = tilted(rng, legs[3], degrees)
            found = two_bone.solve(*legs[:3], target, side)
            for i in range(300):
                knee, heel = articles_knee_and_heel(*(a[i] for a in legs[:3]), target[i], side[i])
                np.testing.assert_allclose(found.knee_world[i], knee, rtol=0, atol=1e-9)
                np.testing.assert_allclose(found.heel_world[i], heel, rtol=0, atol=1e-9)


class Bent(TwoBoneCase):
    def setUp(self):
        self.rng = np.random.default_rng(11)

    def test_unchanged_target(self):
        legs = random_legs(self.rng, 500, (0.05, 2.9))
        for side, passes in ((legs[3], 1), (legs[3], 3), (tilted(self.rng, legs[3], 40.0), 1)):
            found = two_bone.solve(*legs[:3], legs[2], side, passes)
            self.check_honest(legs, legs[2], found)
            for q in (found.hip, found.knee):
                np.testing.assert_allclose(q, np.tile(rot.IDENTITY, (500, 1)), rtol=0, atol=1e-9)
            np.testing.assert_allclose(found.heel_world, legs[2], rtol=0, atol=1e-9)

    def test_unchanged_target_of_nearly_and_exactly_straight_legs(self):
        for bend in (0.0, 1e-12, 1e-8, 1e-6, 1e-4):
            legs = random_legs(self.rng, 200, (bend, bend))
            for passes in (1, 3):
                found = two_bone.solve(*legs[:3], legs[2], legs[3], passes)
                self.check_honest(legs, legs[2], found)
                np.testing.assert_allclose(found.hip, np.tile(rot.IDENTITY, (200, 1)), rtol=0, atol=STRAIGHT)
                np.testing.assert_allclose(found.heel_world, legs[2], rtol=0, atol=STRAIGHT)
                np.testing.assert_allclose(found.knee_world, legs[1], rtol=0, atol=STRAIGHT)

    def test_exact_side_reaches_in_one_pass(self):
        legs = random_legs(self.rng, 2000)
        target = random_targets(self.rng, legs)
        found = two_bone.solve(*legs[:3], target, legs[3])
        self.check_honest(legs, target, found)
        self.assertLess(found.residual.max(), 1e-9)

    def test_where_the_knee_comes_to_be(self):
        """By the law of cosines in the plane of the leg, turned the shortest way to the target."""
        legs = random_legs(self.rng, 200)
        target = random_targets(self.rng, legs)
        found = two_bone.solve(*legs[:3], target, legs[3])
        for i in range(200):
            hip, knee, heel, side = (a[i] for a in legs)
            thigh, shin = math.dist(hip, knee), math.dist(knee, heel)
            old, new = unit(heel - hip), unit(target[i] - hip)
            distance = math.dist(hip, target[i])
            angle = math.acos((thigh**2 + distance**2 - shin**2) / (2 * thigh * distance))
            axis = np.cross(old, new)
            turn = math.atan2(np.linalg.norm(axis), old @ new)
            axis /= np.linalg.norm(axis)
            cos, sin = math.cos(turn), math.sin(turn)
            normal = side * cos + np.cross(axis, side) * sin + axis * (axis @ side) * (1 - cos)
            # Seen along the side vector the thigh stands before the line to the heel: a bend turns the shin back.
            wanted = hip + thigh * (math.cos(angle) * new - math.sin(angle) * np.cross(normal, new))
            np.testing.assert_allclose(found.knee_world[i], wanted, rtol=0, atol=1e-9)

    def test_three_passes_reach_with_side_vectors_up_to_forty_degrees_off(self):
        for degrees in (5.0, 10.0, 20.0, 40.0):
            with self.subTest(degrees=degrees):
                legs = random_legs(self.rng, 1000)
                target = random_targets(self.rng, legs)
                found = two_bone.solve(*legs[:3], target, tilted(self.rng, legs[3], degrees), passes=3)
                self.check_honest(legs, target, found)
                self.assertLess(found.residual.max(), 1e-9)

    def test_three_passes_reach_a_near_target_with_side_vectors_up_to_forty_degrees_off(self):
        """As slides are: a few centimetres to make good."""
        for degrees in (5.0, 10.0, 20.0, 40.0):
            with self.subTest(degrees=degrees):
                legs = random_legs(self.rng, 1000, (0.9, 1.5))
                target = legs[2] + 0.03 * unit(self.rng.normal(size=(1000, 3)))
                found = two_bone.solve(*legs[:3], target, tilted(self.rng, legs[3], degrees), passes=3)
                self.assertLess(found.residual.max(), 1e-9)

    def test_more_passes_are_no_worse(self):
        legs = random_legs(self.rng, 1000)
        target = random_targets(self.rng, legs)
        side = tilted(self.rng, legs[3], 40.0)
        worst = [two_bone.solve(*legs[:3], target, side, passes).residual.max() for passes in (1, 2, 3, 4)]
        for fewer, more in itertools.pairwise(worst):
            self.assertLessEqual(more, fewer + 1e-12)

    def test_knee_stays_on_its_side(self):
        legs = random_legs(self.rng, 1000)
        target = random_targets(self.rng, legs)
        found = two_bone.solve(*legs[:3], target, legs[3], passes=3)
        normal = np.cross(found.knee_world - legs[0], found.heel_world - found.knee_world)
        self.assertGreater(np.einsum("ni,ni->n", normal, rot.rotate(found.hip, legs[3])).min(), 0.0)

    def test_arguments_untouched(self):
        legs = random_legs(self.rng, 20)
        arrays = (*legs[:3], random_targets(self.rng, legs), legs[3])
        for array in arrays:
            array.setflags(write=False)
        two_bone.solve(*arrays, passes=3)


class Worlds(TwoBoneCase):
    """The answer does not depend on where the world's origin, axes, hand and unit are."""

    def setUp(self):
        self.rng = np.random.default_rng(12)
        self.legs = random_legs(self.rng, 100)
        self.target = random_targets(self.rng, self.legs)
        self.side = tilted(self.rng, self.legs[3], 20.0)

    def check_world(self, move, turn, side_sign=1.0):
        """``move`` maps points, ``turn`` is its matrix."""
        for passes in (1, 3):
            here = two_bone.solve(*self.legs[:3], self.target, self.side, passes)
            there = two_bone.solve(
                *(move(p) for p in self.legs[:3]), move(self.target), side_sign * self.side @ turn.T, passes
            )
            np.testing.assert_allclose(there.knee_world, move(here.knee_world), rtol=0, atol=1e-9)
            np.testing.assert_allclose(there.heel_world, move(here.heel_world), rtol=0, atol=1e-9)
            for a, b in ((there.hip, here.hip), (there.knee, here.knee)):
                np.testing.assert_allclose(
                    rot.to_matrix(a), turn @ rot.to_matrix(b) @ np.linalg.inv(turn), rtol=0, atol=1e-9
                )

    def test_rotated(self):
        turn = rot.to_matrix(unit(self.rng.normal(size=4)))
        self.check_world(lambda p: p @ turn.T, turn)

    def test_translated(self):
        self.check_world(lambda p: p + np.array([3.0, -20.0, 7.0]), np.eye(3))

    def test_mirrored(self):
        """A mirrored leg bends about the mirrored axis, turned round: a side vector is no arrow but an axis."""
        mirror = np.diag([-1.0, 1.0, 1.0])
        self.check_world(lambda p: p @ mirror, mirror, side_sign=-1.0)

    def test_scaled(self):
        for scale in (0.01, 100.0):
            there = two_bone.solve(*(scale * p for p in self.legs[:3]), scale * self.target, self.side, 3)
            here = two_bone.solve(*self.legs[:3], self.target, self.side, 3)
            np.testing.assert_allclose(there.heel_world, scale * here.heel_world, rtol=0, atol=1e-9 * scale)
            np.testing.assert_allclose(there.hip, here.hip, rtol=0, atol=1e-9)
            np.testing.assert_allclose(there.knee, here.knee, rtol=0, atol=1e-9)

    def test_length_of_the_side_vector(self):
        one = two_bone.solve(*self.legs[:3], self.target, self.side)
        other = two_bone.solve(*self.legs[:3], self.target, 1e-3 * self.side)
        np.testing.assert_allclose(one.hip, other.hip, rtol=0, atol=1e-12)

    def test_together_as_one_by_one(self):
        arrays = [a.reshape(25, 4, 3) for a in (*self.legs[:3], self.target, self.side)]
        together = two_bone.solve(*arrays, passes=3)
        self.assertEqual(together.hip.shape, (25, 4, 4))
        self.assertEqual(together.heel_world.shape, (25, 4, 3))
        self.assertEqual(together.residual.shape, (25, 4))
        for index in np.ndindex(25, 4):
            alone = two_bone.solve(*(a[index] for a in arrays), passes=3)
            self.assertEqual(alone.residual.shape, ())
            for name in ("hip", "knee", "knee_world", "heel_world", "residual"):
                np.testing.assert_allclose(getattr(together, name)[index], getattr(alone, name), rtol=0, atol=1e-13)

    def test_one_side_for_all(self):
        found = two_bone.solve(*self.legs[:3], self.target, [1.0, 0.0, 0.0])
        wanted = two_bone.solve(*self.legs[:3], self.target, np.tile([1.0, 0.0, 0.0], (100, 1)))
        np.testing.assert_array_equal(found.heel_world, wanted.heel_world)


class Degenerate(TwoBoneCase):
    def setUp(self):
        self.rng = np.random.default_rng(13)

    def test_beyond_reach(self):
        legs = random_legs(self.rng, 200)
        hip, knee, heel, side = legs
        full = norm(knee - hip) + norm(heel - knee)
        for beyond in (0.0, 1e-9, 1e-3, 1.0, 1e3):
            for passes in (1, 3):
                way = unit(self.rng.normal(size=hip.shape))
                target = hip + way * (full + beyond)
                found = two_bone.solve(hip, knee, heel, target, side, passes)
                self.check_honest(legs, target, found)
                np.testing.assert_allclose(found.residual, beyond, rtol=1e-12, atol=STRAIGHT)
                np.testing.assert_allclose(found.heel_world, hip + way * full, rtol=0, atol=STRAIGHT)

    def test_nearer_than_the_folded_leg(self):
        legs = random_legs(self.rng, 200)
        hip, knee, heel, side = legs
        folded = np.abs(norm(knee - hip) - norm(heel - knee))
        for share in (0.1, 0.5, 0.999, 1.0):
            for passes in (1, 3):
                way = unit(self.rng.normal(size=hip.shape))
                target = hip + way * folded * share
                found = two_bone.solve(hip, knee, heel, target, side, passes)
                self.check_honest(legs, target, found)
                np.testing.assert_allclose(found.residual, (folded * (1.0 - share))[:, 0], rtol=0, atol=STRAIGHT)

    def test_target_on_the_hip(self):
        """The leg folds, and the heel stays in the direction in which it was."""
        for scale in (1.0, 100.0):
            legs = tuple(scale * a for a in random_legs(self.rng, 200)[:3])
            hip, knee, heel = legs
            side = unit(np.cross(knee - hip, heel - knee))
            folded = np.abs(norm(knee - hip) - norm(heel - knee))
            for passes in (1, 3):
                with self.subTest(scale=scale, passes=passes):
                    found = two_bone.solve(hip, knee, heel, hip, side, passes)
                    self.check_honest(tuple(a / scale for a in legs), hip / scale, _scaled(found, 1.0 / scale))
                    np.testing.assert_allclose(found.residual, folded[:, 0], rtol=0, atol=STRAIGHT * scale)
                    np.testing.assert_allclose(
                        found.heel_world, hip + unit(heel - hip) * folded, rtol=0, atol=1e-6 * scale
                    )

    def test_near_the_hip_is_as_on_the_hip(self):
        """No jump as the target comes to the hip along the leg."""
        legs = random_legs(self.rng, 50)
        hip, knee, heel, side = legs
        on = two_bone.solve(hip, knee, heel, hip, side)
        near = two_bone.solve(hip, knee, heel, hip + 1e-7 * unit(heel - hip), side)
        np.testing.assert_allclose(on.knee_world, near.knee_world, rtol=0, atol=1e-5)

    def test_equal_bones_and_target_on_the_hip(self):
        hip, knee, heel = np.zeros(3), np.array([0.0, -0.3, -0.4]), np.array([0.0, 0.0, -0.8])
        found = two_bone.solve(hip, knee, heel, hip, [1.0, 0.0, 0.0], passes=3)
        self.check_honest((hip, knee, heel), hip, found)
        self.assertLess(found.residual, 1e-7)

    def test_heel_on_the_hip(self):
        """A leg that is folded onto itself has no direction of its own; the target gives one."""
        hip, knee = np.zeros(3), np.array([0.0, -0.3, -0.4])
        target = np.array([0.0, 0.1, -0.7])
        for passes in (1, 3):
            found = two_bone.solve(hip, knee, hip, target, [1.0, 0.0, 0.0], passes)
            self.check_honest((hip, knee, hip), target, found)

    def test_straight_leg_bends_about_the_side_vector(self):
        for _ in range(100):
            hip, knee, heel, side = (a[0] for a in random_legs(self.rng, 1, (0.0, 0.0)))
            target = hip + (heel - hip) * 0.9
            for passes in (1, 3):
                found = two_bone.solve(hip, knee, heel, target, side, passes)
                self.check_honest((hip, knee, heel), target, found)
                self.assertLess(found.residual, STRAIGHT)
                bend = np.cross(found.knee_world - hip, found.heel_world - found.knee_world)
                np.testing.assert_allclose(unit(bend), side, rtol=0, atol=1e-6)

    def test_straight_leg_without_a_usable_side_vector(self):
        hip, knee, heel, _ = random_legs(self.rng, 50, (0.0, 0.0))
        target = hip + (heel - hip) * 0.9
        for side in (np.zeros(3), heel - hip, hip - heel, knee - hip, 1e-200 * np.ones(3)):
            found = two_bone.solve(hip, knee, heel, target, side, passes=3)
            self.check_honest((hip, knee, heel), target, found)
            self.assertLess(found.residual.max(), STRAIGHT)

    def test_bent_leg_without_a_usable_side_vector(self):
        legs = random_legs(self.rng, 50)
        hip, knee, heel, _ = legs
        target = random_targets(self.rng, legs)
        for side in (np.zeros(3), heel - hip, hip - heel, knee - hip, heel - knee):
            for passes in (1, 3):
                self.check_honest(legs, target, two_bone.solve(hip, knee, heel, target, side, passes))

    def test_side_vector_nearly_along_the_leg(self):
        legs = random_legs(self.rng, 50)
        for off in (1e-3, 1e-9, 1e-15):
            side = unit(legs[2] - legs[0]) + off * self.rng.normal(size=(50, 3))
            target = random_targets(self.rng, legs)
            self.check_honest(legs, target, two_bone.solve(*legs[:3], target, side, 3))

    def test_zero_length_bones(self):
        legs = random_legs(self.rng, 50)
        hip, knee, heel, side = legs
        for passes in (1, 3):
            target = random_targets(self.rng, legs)
            without_thigh = (hip, hip, heel)
            found = two_bone.solve(*without_thigh, target, side, passes)
            self.check_honest(without_thigh, target, found)
            missed = np.abs(norm(heel - hip) - norm(target - hip))[:, 0]
            np.testing.assert_allclose(found.residual, missed, rtol=0, atol=1e-9)

            without_shin = (hip, knee, knee)
            found = two_bone.solve(*without_shin, target, side, passes)
            self.check_honest(without_shin, target, found)
            missed = np.abs(norm(knee - hip) - norm(target - hip))[:, 0]
            np.testing.assert_allclose(found.residual, missed, rtol=0, atol=1e-9)

            found = two_bone.solve(hip, hip, hip, target, side, passes)
            self.check_honest((hip, hip, hip), target, found)
            np.testing.assert_array_equal(found.hip, np.tile(rot.IDENTITY, (50, 1)))
            np.testing.assert_array_equal(found.knee, np.tile(rot.IDENTITY, (50, 1)))

    def test_opposite_target(self):
        legs = random_legs(self.rng, 100)
        target = 2.0 * legs[0] - legs[2]
        found = two_bone.solve(*legs[:3], target, legs[3], passes=3)
        self.check_honest(legs, target, found)
        self.assertLess(found.residual.max(), 1e-9)


class SoftClamp(unittest.TestCase):
    def test_against_the_article(self):
        rng = np.random.default_rng(14)
        for _ in range(500):
            limit, softening = rng.uniform(0.5, 1.0), rng.uniform(1e-4, 0.1)
            distance = rng.uniform(0.0, 1.5)
            wanted = distance
            if distance > limit - softening:
                wanted = limit - softening + softening * (1.0 - math.exp(-(distance - limit + softening) / softening))
            self.assertAlmostEqual(float(two_bone.soft_clamp(distance, limit, softening)), wanted, delta=1e-15)

    def test_hard(self):
        np.testing.assert_array_equal(two_bone.soft_clamp([0.5, 1.0, 1.0001, 9.0], 1.0, 0.0), [0.5, 1.0, 1.0, 1.0])


class ReachLimit(unittest.TestCase):
    """Over legs from bent to straight, and softenings from none to much."""

    FULL = 0.9
    CASES = list(itertools.product((0.3, 0.8, 0.885, 0.8999, 0.9 - 1e-9, 0.9), (0.0, 1e-6, 0.01, 0.2)))

    def reach(self, distance, source, softening):
        return two_bone.reach_limit(np.asarray(distance, float), source, self.FULL, softening)

    def test_identity_up_to_the_source(self):
        for source, softening in self.CASES:
            with self.subTest(source=source, softening=softening):
                distance = np.linspace(0.0, source, 1001)
                np.testing.assert_array_equal(self.reach(distance, source, softening), distance)

    def test_identity_up_to_where_the_softening_starts(self):
        distance = np.linspace(0.0, self.FULL - 0.01, 1001)
        np.testing.assert_array_equal(self.reach(distance, 0.3, 0.01), distance)

    def test_never_above_the_full_length(self):
        distance = np.concatenate([np.linspace(0.0, 1.2, 5000), [10.0, 1e6]])
        for source, softening in self.CASES:
            with self.subTest(source=source, softening=softening):
                self.assertLessEqual(self.reach(distance, source, softening).max(), self.FULL)

    def test_never_more_than_asked_for_and_monotone(self):
        distance = np.linspace(0.0, 1.2, 12001)
        for source, softening in self.CASES:
            with self.subTest(source=source, softening=softening):
                reached = self.reach(distance, source, softening)
                self.assertTrue((reached <= distance + 1e-15).all())
                self.assertGreaterEqual(np.diff(reached).min(), -1e-15)

    def test_no_kink_where_it_starts(self):
        """Slopes on either side of the start, over a step so small that the curve beyond has hardly bent."""
        for source, softening in ((0.3, 0.01), (0.3, 0.2), (0.885, 0.2), (0.8999, 0.01), (0.8, 0.05)):
            with self.subTest(source=source, softening=softening):
                start = max(source, self.FULL - softening)
                step = 1e-4 * (self.FULL - start)
                before, at, after = self.reach([start - step, start, start + step], source, softening)
                self.assertAlmostEqual((at - before) / step, 1.0, delta=1e-6)
                self.assertAlmostEqual((after - at) / step, 1.0, delta=1e-4)

    def test_slope_changes_smoothly_throughout(self):
        distance = np.linspace(0.8, 1.1, 30001)
        slope = np.diff(self.reach(distance, 0.84, 0.04)) / np.diff(distance)
        # The steepest bend of the curve is 1 / (full - start).
        self.assertLess(np.abs(np.diff(slope)).max(), 1.05 * (distance[1] - distance[0]) / 0.04)

    def test_nears_the_full_length(self):
        self.assertAlmostEqual(float(self.reach(1.2, 0.3, 0.01)), self.FULL, delta=1e-9)

    def test_no_softening_is_a_hard_limit(self):
        np.testing.assert_array_equal(self.reach([0.5, 0.9, 0.95], 0.7, 0.0), [0.5, 0.9, 0.9])

    def test_source_longer_than_the_full_length(self):
        """Rounding, or a stretched pose: the limit is the full length and nothing is divided by zero."""
        for source in (self.FULL + 1e-12, 1.5):
            np.testing.assert_array_equal(self.reach([0.5, 0.9, 1.0, 1.5], source, 0.01), [0.5, 0.9, 0.9, 0.9])

    def test_softening_longer_than_the_leg(self):
        distance = np.linspace(0.0, 3.0, 301)
        reached = self.reach(distance, 0.4, 5.0)
        np.testing.assert_array_equal(reached[distance <= 0.4], distance[distance <= 0.4])
        self.assertLessEqual(reached.max(), self.FULL)

    def test_broadcast(self):
        found = two_bone.reach_limit(np.full((5, 2, 1), 1.0), np.full((2, 1), 0.5), 0.9, 0.01)
        self.assertEqual(found.shape, (5, 2, 1))


def _scaled(result, scale):
    return two_bone.TwoBoneResult(
        result.hip, result.knee, scale * result.knee_world, scale * result.heel_world, scale * result.residual
    )
