"""The whole method on arrays, on a real clip whose root travels too far."""

import unittest
from dataclasses import fields, replace
from functools import cache
from pathlib import Path

import measure
import numpy as np

from footlock.solvers import foot_lock, foot_skate, ground, knee_side, leg_chain, slide, slide_removal
from footlock.solvers import rotations as rot
from footlock.solvers.leg_chain import LegPose

DATA = Path(__file__).resolve().parent.parent / "data"
RATE = 60.0
Z_UP = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
POINTS = ("hip", "knee", "heel", "toe", "toe_end")


@cache
def walk(travel=1.25):
    """Pelvis, legs, side vectors and contacts of CMU 131_01 at 60 Hz, z up, its root's travel scaled."""
    motion = measure.load(DATA / "cmu_131_01.bvh")
    with np.load(DATA / "vectors" / "slide_removal_cmu_131_01_x125.npz") as data:
        contacts = data["contacts"]
    pelvis = (motion.point("Hips") @ Z_UP.T)[::2]
    more = (travel - 1.0) * (pelvis - pelvis[0]) * [1.0, 1.0, 0.0]

    def legs(joint):
        points = np.stack([motion.point(side + joint) for side in ("Left", "Right")], axis=1) @ Z_UP.T
        return points[::2] + more[:, None]

    pose = LegPose(*(legs(joint) for joint in ("Hip", "Knee", "Ankle", "Toe", "Toe end")))
    knees = [motion.names.index(side + "Knee") for side in ("Left", "Right")]
    side = knee_side.side_vectors(pose, Z_UP @ motion.orientations[::2][:, knees])
    for array in (*(getattr(pose, f.name) for f in fields(pose)), side, contacts):
        array.setflags(write=False)  # and so for every test: none of this may be written to
    pelvis = pelvis + more
    pelvis.setflags(write=False)
    return pelvis, pose, side, contacts


@cache
def corrected(method="offline", travel=1.25):
    return foot_skate.remove_sliding(*walk(travel), RATE, foot_skate.Settings(method=method))


def norm(v):
    return np.linalg.norm(v, axis=-1)


class Offline(unittest.TestCase):
    def setUp(self):
        self.pelvis, self.pose, self.side, self.contacts = walk()
        self.found = corrected()

    def test_planted_toes_stand_still(self):
        self.assertTrue(self.found.converged)
        before = slide.measure(self.pose.toe, self.contacts)
        after = slide.measure(self.found.legs.toe, self.contacts & ~self.found.out_of_reach)
        for leg in range(2):
            self.assertGreater(before[leg].largest, 0.003)
            self.assertLess(after[leg].largest, 2.0 * foot_skate.OUT_OF_REACH)
        self.assertLess(np.count_nonzero(self.found.out_of_reach), 0.05 * np.count_nonzero(self.found.locked))

    def test_toes_within_reach_are_where_they_shall_be(self):
        solution = slide_removal.solve(
            self.pelvis,
            self.pose.toe,
            self.contacts,
            self.found.ground,
            RATE,
            self.naive_reach(),
            foot_skate.Settings().terms,
            self.found.ground,
        )
        # What is within two thousandths of a millimetre of the source is the source.
        np.testing.assert_allclose(self.found.pelvis, solution.pelvis, rtol=0, atol=2e-6)
        np.testing.assert_array_equal(self.found.locked, solution.locked)
        missed = norm(self.found.legs.toe - solution.toes)
        np.testing.assert_array_equal(self.found.out_of_reach, solution.locked & (missed > 1e-4))

    def naive_reach(self):
        """As long as in the source, or up to where the leg solver begins to soften."""
        pose, (frames, legs) = self.pose, self.contacts.shape
        offset, length = np.zeros((frames, legs, 3)), np.zeros((frames, legs))
        for i in range(frames):
            for leg in range(legs):
                hip, knee, heel, toe = (getattr(pose, name)[i, leg] for name in ("hip", "knee", "heel", "toe"))
                offset[i, leg] = (hip - heel) - (self.pelvis[i] - toe)
                full = norm(knee - hip) + norm(heel - knee)
                length[i, leg] = max(norm(heel - hip), full - leg_chain.LegChainSettings().softening)
        return slide_removal.Reach(offset, length)

    def test_article_knows_no_reach(self):
        article = foot_skate.Settings(chain=leg_chain.ARTICLE, terms=slide_removal.Terms(), keep_dips=True)
        found = foot_skate.remove_sliding(self.pelvis, self.pose, self.side, self.contacts, RATE, article)
        solution = slide_removal.solve(self.pelvis, self.pose.toe, self.contacts, found.ground, RATE)
        np.testing.assert_allclose(found.pelvis, solution.pelvis, rtol=0, atol=2e-6)

    def test_bones_keep_their_lengths(self):
        shift = (self.found.pelvis - self.pelvis)[:, None]
        old = [getattr(self.pose, name) for name in POINTS]
        new = [self.pose.hip + shift, *(getattr(self.found.legs, name) for name in POINTS[1:])]
        for a, b, c, d in zip(old, old[1:], new, new[1:], strict=False):
            np.testing.assert_allclose(norm(d - c), norm(b - a), rtol=0, atol=1e-12)

    def test_nothing_sinks_into_the_floor(self):
        """Heels, toes and toe ends stay above the floor, which is where they are while the foot is flat."""
        for name in ("heel", "toe", "toe_end"):
            with self.subTest(joint=name):
                over_toe = (getattr(self.pose, name) - self.pose.toe)[..., 2]
                result = getattr(self.found.legs, name)[..., 2]
                for leg in range(2):
                    within = self.found.legs.residual[:, leg] < 1e-6
                    flat = [over_toe[i + (j - i) // 4 : j - (j - i) // 4, leg].min() for i, j in self.runs(leg)]
                    floor = self.found.ground[leg] + min(flat)
                    self.assertGreaterEqual((result[:, leg] - floor)[within].min(), -1e-6)

    def runs(self, leg):
        """First frame and frame after the last of each contact."""
        edges = np.flatnonzero(np.diff(np.concatenate([[0], self.contacts[:, leg], [0]]).astype(int)))
        return edges.reshape(-1, 2)

    def test_smooth(self):
        """Joints do not jump: the fastest frame-to-frame step is near the source's own."""
        for name in ("knee", "heel", "toe", "toe_end"):
            with self.subTest(joint=name):
                before = norm(np.diff(getattr(self.pose, name), axis=0)).max()
                after = norm(np.diff(getattr(self.found.legs, name), axis=0)).max()
                self.assertLess(after, 1.2 * before)

    def test_turns_are_unit_and_finite(self):
        for name in ("thigh_turn", "shin_turn", "foot_turn", "toe_turn"):
            np.testing.assert_allclose(norm(getattr(self.found.legs, name)), 1.0, rtol=0, atol=1e-12)

    def test_other_travels(self):
        for travel in (0.75, 1.0):
            with self.subTest(travel=travel):
                _, _, _, contacts = walk(travel)
                found = corrected(travel=travel)
                self.assertTrue(found.converged)
                for leg in slide.measure(found.legs.toe, contacts & ~found.out_of_reach):
                    self.assertLess(leg.largest, 2.0 * foot_skate.OUT_OF_REACH)


class Nothing(unittest.TestCase):
    def check_unchanged(self, method):
        pelvis, pose, side, contacts = walk()
        settings = foot_skate.Settings(method=method)
        found = foot_skate.remove_sliding(pelvis, pose, side, np.zeros_like(contacts), RATE, settings)
        np.testing.assert_array_equal(found.pelvis, pelvis)
        self.assertFalse(found.locked.any() or found.out_of_reach.any())
        for name in POINTS[1:]:
            np.testing.assert_allclose(getattr(found.legs, name), getattr(pose, name), rtol=0, atol=1e-6, err_msg=name)
        for name in ("thigh_turn", "shin_turn", "foot_turn", "toe_turn"):
            turn = getattr(found.legs, name)
            np.testing.assert_allclose(turn, np.broadcast_to(rot.IDENTITY, turn.shape), rtol=0, atol=1e-6, err_msg=name)

    def test_offline(self):
        self.check_unchanged("offline")

    def test_runtime(self):
        self.check_unchanged("runtime")

    def test_one_leg_in_contact(self):
        pelvis, pose, side, contacts = walk()
        left = contacts * np.array([True, False])
        found = foot_skate.remove_sliding(pelvis, pose, side, left, RATE)
        self.assertFalse(found.locked[:, 1].any())
        self.assertTrue(found.locked[:, 0].any())
        kept = left & ~found.out_of_reach
        self.assertLess(slide.measure(found.legs.toe, kept)[0].largest, 2.0 * foot_skate.OUT_OF_REACH)


class Runtime(unittest.TestCase):
    def test_pelvis_stays(self):
        pelvis, pose, _, contacts = walk()
        found = corrected("runtime")
        np.testing.assert_array_equal(found.pelvis, pelvis)
        self.assertEqual((found.steps, found.converged), (0, True))
        targets, locked = foot_lock.lock(pose.toe, contacts, found.ground, 1.0 / RATE)
        np.testing.assert_array_equal(found.locked, locked)
        missed = norm(found.legs.toe - targets)
        raised = found.legs.toe_target[..., 2] > targets[..., 2] + 1e-9
        np.testing.assert_array_equal((locked & (missed > 1e-4))[~raised], found.out_of_reach[~raised])

    def test_slides_less(self):
        _, pose, _, contacts = walk()
        before, after = slide.measure(pose.toe, contacts), slide.measure(corrected("runtime").legs.toe, contacts)
        for a, b in zip(before, after, strict=True):
            self.assertLess(b.mean, 0.7 * a.mean)

    def test_settings_are_used(self):
        pelvis, pose, side, contacts = walk()
        never = foot_lock.FootLockSettings(lock_distance=-1.0)
        settings = foot_skate.Settings(method="runtime", lock=never)
        self.assertFalse(foot_skate.remove_sliding(pelvis, pose, side, contacts, RATE, settings).locked.any())
        article = foot_skate.Settings(chain=leg_chain.ARTICLE, terms=slide_removal.Terms(), keep_dips=True)
        found = foot_skate.remove_sliding(pelvis, pose, side, contacts, RATE, article)
        self.assertGreater(found.legs.residual.max(), corrected().legs.residual.max())


class Grounds(unittest.TestCase):
    def test_median_of_contact_or_low(self):
        rng = np.random.default_rng(81)
        toes = rng.normal(size=(101, 3, 3))
        contacts = np.zeros((101, 3), bool)
        contacts[::5, 0] = contacts[7, 1] = True
        found = ground.toe_heights(toes, contacts)
        ordered = sorted(toes[::5, 0, 2])
        self.assertAlmostEqual(found[0], ordered[len(ordered) // 2], delta=1e-15)
        self.assertAlmostEqual(found[1], toes[7, 1, 2], delta=1e-15)
        self.assertAlmostEqual(found[2], sorted(toes[:, 2, 2])[5], delta=1e-15)

    def test_of_the_clip(self):
        _, pose, _, contacts = walk()
        found = corrected()
        np.testing.assert_array_equal(found.ground, ground.toe_heights(pose.toe, contacts))
        for leg in range(2):
            heights = found.legs.toe[found.locked[:, leg] & ~found.out_of_reach[:, leg], leg, 2]
            np.testing.assert_allclose(heights, found.ground[leg], rtol=0, atol=1e-4)


class Refusing(unittest.TestCase):
    def test_method(self):
        with self.assertRaisesRegex(ValueError, "method"):
            foot_skate.remove_sliding(*walk(), RATE, foot_skate.Settings(method="none"))

    def test_shapes(self):
        pelvis, pose, side, contacts = walk()
        for wrong in (
            (pelvis[1:], pose, side, contacts),
            (pelvis, pose, side, contacts[1:]),
            (pelvis, pose, side[1:], contacts),
            (pelvis, pose, side, contacts[:, :1]),
        ):
            for method in foot_skate.METHODS:
                shapes = [np.shape(wrong[i]) for i in (0, 2, 3)]
                settings = replace(foot_skate.Settings(), method=method)
                with self.subTest(method=method, shapes=shapes), self.assertRaises(ValueError):
                    foot_skate.remove_sliding(*wrong, RATE, settings)
