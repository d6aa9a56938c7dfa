"""What the offline pass weighs beside the article's terms, on clips whose root travels too far or too little."""

import unittest
from functools import cache

import motions
import numpy as np

from footlock.solvers import slide_removal
from footlock.solvers.slide_removal import Terms

RATE = 60.0
TERMS = Terms(smoothing=1.0 / 30.0, lower_hips=0.2)
FACTORS = (0.75, 1.25, 1.5)
load = cache(motions.load)


@cache
def case(name, factor, rate=RATE):
    """A clip with its root's travel scaled, the labels of the clean clip, and the height of the ground (legs,)."""
    source = load(name)
    motion = motions.root_scaled(source.at_rate(rate), factor)
    labels = motions.at_frames(motions.truth(source), len(motion.root), rate)
    ground = np.array([np.median(motion.toes[labels[:, leg], leg, 2]) for leg in range(2)])
    return motion, labels, ground


def solve(motion, labels, ground, terms=TERMS, **more):
    return slide_removal.solve(
        motion.root, motion.toes, labels, ground, motion.rate, **{"terms": terms, "floor": ground} | more
    )


@cache
def solved(name, factor, rate=RATE):
    """What becomes of a case by the terms in use, solved once for all tests."""
    return solve(*case(name, factor, rate))


def runs(contact):
    edges = np.flatnonzero(np.diff(np.concatenate([[0], contact, [0]]).astype(int)))
    return edges.reshape(-1, 2)


def kicks(before, after, labels, rate, margin=0):
    """For each end of a contact the largest acceleration of the toe within a thirtieth of a second: before and after,
    (ends, 2), m/s². margin: frames at either end of the clip of which nothing is said."""
    reach = round(rate / 30.0)

    def acceleration(points):
        size = np.linalg.norm(np.diff(points, 2, axis=0), axis=-1) * rate**2
        return np.pad(size, ((1, 1), (0, 0)))

    sizes = acceleration(before), acceleration(after)
    found = []
    for leg in range(labels.shape[1]):
        for start, stop in runs(labels[:, leg]):
            for frame in ([start] if start > 0 else []) + ([stop - 1] if stop < len(labels) else []):
                if stop - start > 1 and margin <= frame < len(labels) - margin:
                    near = slice(max(frame - reach, 0), frame + reach + 1)
                    found.append([size[near, leg].max() for size in sizes])
    return np.array(found)


def slid(toes, labels):
    """Longest step (metres) of a toe from one frame of contact to the next."""
    both = labels[1:] & labels[:-1]
    return (np.linalg.norm(np.diff(toes, axis=0), axis=-1) * both).max()


class Smooth(unittest.TestCase):
    def test_no_kick_at_any_end_of_a_contact(self):
        """Toes accelerate no more than 1.1 times as much as in the source, where the article's terms have up to 12."""
        worst = 0.0
        for name in motions.CLIPS:
            for factor in FACTORS:
                with self.subTest(clip=name, factor=factor):
                    motion, labels, ground = case(name, factor)
                    found = solved(name, factor)
                    self.assertTrue(found.converged)
                    self.assertEqual(slid(found.toes, labels), 0.0)
                    before, after = kicks(motion.toes, found.toes, labels, RATE).T
                    self.assertLess((after / before).max(), 1.1)
                    plain = solve(motion, labels, ground, Terms())
                    before, after = kicks(motion.toes, plain.toes, labels, RATE).T
                    worst = max(worst, (after / before).max())
        self.assertGreater(worst, 5.0)

    def test_at_other_rates(self):
        for rate in (30.0, 120.0):
            for factor in FACTORS:
                with self.subTest(rate=rate, factor=factor):
                    motion, labels, _ = case("cmu_12_01", factor, rate)
                    toes = solved("cmu_12_01", factor, rate).toes
                    before, after = kicks(motion.toes, toes, labels, rate).T
                    self.assertLess((after / before).max(), 1.1)

    def test_the_pelvis_is_as_smooth_as_it_was(self):
        for name in motions.CLIPS:
            motion, found = case(name, 1.5)[0], solved(name, 1.5)
            before, after = (np.linalg.norm(np.diff(a, 2, axis=0), axis=1).max() for a in (motion.root, found.pelvis))
            self.assertLess(after, 1.1 * before)

    def test_rate_hardly_matters(self):
        """60 and 120 Hz: the paths differ by less than an eighth of what the pelvis is moved."""
        for name in ("cmu_12_01", "cmu_131_01", "cmu_131_03"):
            with self.subTest(clip=name):
                (slow, labels, ground), (fast, finer, _) = case(name, 1.25), case(name, 1.25, 120.0)
                finer = np.zeros_like(finer)
                finer[: 2 * len(labels) : 2] = labels
                finer[1 : 2 * len(labels) - 1 : 2] = labels[1:] & labels[:-1]
                a, b = solved(name, 1.25).pelvis, solve(fast, finer, ground).pelvis[::2][: len(labels)]
                moved = np.linalg.norm(a - slow.root, axis=1).mean()
                self.assertGreater(moved, 0.1)
                self.assertLess(np.linalg.norm(a - b, axis=1).max(), 0.125 * moved)


class Floor(unittest.TestCase):
    def test_free_toes_stay_above(self):
        for name in motions.CLIPS:
            for factor in FACTORS:
                ground = case(name, factor)[2]
                self.assertGreater((solved(name, factor).toes[..., 2] - ground).min(), -1e-4)

    def test_they_sink_without(self):
        motion, labels, ground = case("cmu_131_01", 1.25)
        self.assertLess((solve(motion, labels, ground, floor=None).toes[..., 2] - ground).min(), -0.01)

    def test_a_clip_without_contact_is_lifted_too(self):
        motion, labels, ground = case("cmu_131_01", 1.25)
        found = solve(motion, np.zeros_like(labels), ground)
        self.assertGreater((found.toes[..., 2] - ground).min(), -1e-4)


class Pelvis(unittest.TestCase):
    def test_keeps_its_path(self):
        motion, labels, ground = case("cmu_12_01", 1.25)
        moved = [
            np.linalg.norm((solve(motion, labels, ground, Terms(1 / 30, keep_path=share)).pelvis - motion.root)[:, :2])
            for share in (0.0, 0.3, 0.7, 1.0)
        ]
        self.assertTrue(moved[0] > moved[1] > moved[2] > moved[3] == 0.0, moved)

    def test_planted_toes_stand_while_it_keeps_its_path(self):
        motion, labels, ground = case("cmu_131_03", 1.25)
        found = solve(motion, labels, ground, Terms(1 / 30, keep_path=1.0))
        self.assertEqual(slid(found.toes, labels), 0.0)
        self.assertTrue(found.converged)

    def test_stays_to_the_bit_where_it_may_not_move(self):
        """On a floor that goes up, too."""
        motion, labels, ground = case("cmu_131_03", 1.25)
        terms = Terms(1 / 30, keep_path=1.0, keep_height=True)
        for rise in (None, np.full((len(labels), 1 + labels.shape[1]), 0.05)):
            up = 0.0 if rise is None else 0.05
            found = solve(motion, labels, ground + up, terms, rise=rise)
            np.testing.assert_array_equal(found.pelvis, motion.root)
            self.assertEqual(slid(found.toes, labels), 0.0)

    def test_sinks_as_far_as_it_may(self):
        motion, labels, ground = case("cmu_12_01", 1.5)
        length = np.linalg.norm(motion.root[:, None] - motion.toes, axis=-1)
        reach = slide_removal.Reach(np.zeros_like(motion.toes), np.maximum(length, np.percentile(length, 60.0)))
        sunk = [
            (motion.root - solve(motion, labels, ground, Terms(1 / 30, lower_hips=share), reach=reach).pelvis)[:, 2]
            for share in (1.0, 0.5, 0.1, 0.0)
        ]
        sunk = [down.max() for down in sunk]
        self.assertTrue(sunk[0] > sunk[1] > sunk[2] > sunk[3], sunk)
        self.assertLess(sunk[3], 1e-4)


class Ends(unittest.TestCase):
    def setUp(self):
        self.motion, self.labels, self.ground = case("cmu_12_01", 1.25)

    def solve(self, **more):
        return solve(self.motion, self.labels, self.ground, **more)

    def test_pinned_poses_stay(self):
        pinned = np.zeros(len(self.labels), bool)
        pinned[[0, 1, -1]] = True
        found = self.solve(pinned=pinned)
        np.testing.assert_array_equal(found.pelvis[pinned], self.motion.root[pinned])
        np.testing.assert_array_equal(found.toes[pinned], self.motion.toes[pinned])
        self.assertFalse(found.locked[pinned].any())
        self.assertTrue(found.converged)
        held = found.locked[1:] & found.locked[:-1]
        self.assertEqual((np.linalg.norm(np.diff(found.toes, axis=0), axis=-1) * held).max(), 0.0)
        step = np.linalg.norm(np.diff(found.pelvis - self.motion.root, axis=0), axis=1)
        self.assertLess(step.max(), 0.02)

    def test_a_contact_at_a_pinned_frame_stays_where_it_is_there(self):
        labels, pinned = np.zeros_like(self.labels), np.zeros(len(self.labels), bool)
        labels[:20, 0] = labels[-20:, 1] = True
        pinned[[0, -1]] = True
        found = solve(self.motion, labels, self.ground, pinned=pinned)
        np.testing.assert_array_equal(found.toes[:20, 0], np.tile(self.motion.toes[0, 0], (20, 1)))
        np.testing.assert_array_equal(found.toes[-20:, 1], np.tile(self.motion.toes[-1, 1], (20, 1)))

    def test_a_contact_between_two_pinned_frames_is_let_go(self):
        """Its places there are not one."""
        labels, pinned = self.labels.copy(), np.zeros(len(self.labels), bool)
        labels[:, 0] = True
        pinned[[0, -1]] = True
        found = solve(self.motion, labels, self.ground, pinned=pinned)
        self.assertFalse(found.locked[:, 0].any())
        self.assertTrue(found.locked[:, 1].any())

    def test_a_loop_stays_one(self):
        """A cycle of the walk: first and last frame are the same but for the way, in place, velocity and contacts."""
        start, period = 60, 76
        weight = np.linspace(0.0, 1.0, period + 1)[:, None]

        def closed(points):
            part = points[start : start + period + 1]
            way = (self.motion.root[start + period] - self.motion.root[start]) * motions.LEVEL
            gap = part[0] + way - part[-1]
            return part + gap * weight.reshape(-1, *(1,) * (points.ndim - 1))

        motion = self.motion.moved(closed)
        labels = self.labels[start : start + period + 1].copy()
        labels[-1] = labels[0]
        way = motion.root[-1] - motion.root[0]
        ground = np.array([np.median(motion.toes[labels[:, leg], leg, 2]) for leg in range(2)])
        found = solve(motion, labels, ground, cyclic=True)
        self.assertTrue(found.converged)
        np.testing.assert_allclose(found.pelvis[-1], found.pelvis[0] + way, rtol=0, atol=1e-12)
        np.testing.assert_allclose(found.toes[-1], found.toes[0] + way, rtol=0, atol=1e-12)
        self.assertLess(slid(found.toes, labels), 1e-12)
        # Over the seam as everywhere else.
        twice = np.concatenate([found.toes[:-1], found.toes + way])
        doubled = np.concatenate([labels[:-1], labels])
        source = np.concatenate([motion.toes[:-1], motion.toes + way])
        self.assertLess(slid(twice, doubled), 1e-12)
        before, after = kicks(source, twice, doubled, RATE, 4).T
        self.assertLess((after / before).max(), 1.1)
        # Where the loop is cut does not matter.
        turn = 31

        def cut_elsewhere(points):
            return np.concatenate([points[turn:-1], points[: turn + 1] + way])

        turned = np.concatenate([labels[turn:-1], labels[: turn + 1]])
        other = solve(motion.moved(cut_elsewhere), turned, ground, cyclic=True)
        np.testing.assert_allclose(other.pelvis, cut_elsewhere(found.pelvis), rtol=0, atol=1e-4)


class Weights(unittest.TestCase):
    def setUp(self):
        self.motion, self.labels, self.ground = case("cmu_131_01", 1.5)

    def slides(self, weight):
        found = solve(self.motion, self.labels * weight, self.ground)
        both = self.labels[1:] & self.labels[:-1]
        way = np.diff(found.toes, axis=0)[..., :2]
        source = np.diff(self.motion.toes, axis=0)[..., :2]
        return way[both], source[both]

    def test_half_locked_slides_half_as_far(self):
        for weight in (0.25, 0.5, 0.75):
            with self.subTest(weight=weight):
                way, source = self.slides(weight)
                np.testing.assert_allclose(way, (1.0 - weight) * source, rtol=0, atol=1e-3)

    def test_a_slide_on_purpose_is_left_alone(self):
        way, source = self.slides(-1.0)
        np.testing.assert_allclose(way, source, rtol=0, atol=1e-6)

    def test_among_contacts_it_keeps_its_velocity(self):
        first, last = runs(self.labels[:, 0])[2]
        labels = self.labels.astype(float)
        labels[first:last, 0] = -1.0
        found = solve(self.motion, labels, self.ground)
        own, source = (np.diff(a[first:last, 0], axis=0)[:, :2] for a in (found.toes, self.motion.toes))
        np.testing.assert_allclose(own, source, rtol=0, atol=3e-4)
        self.assertEqual(slid(found.toes, labels >= 1.0), 0.0)

    def test_bool_and_ones_are_the_same(self):
        a, b = solved("cmu_131_01", 1.5), solve(self.motion, self.labels.astype(float), self.ground)
        np.testing.assert_array_equal(a.toes, b.toes)


class Steps(unittest.TestCase):
    def test_each_lowers_the_energy(self):
        """Coarse levels apart, since they have sums of their own."""
        seen = []
        original = slide_removal._lowered

        def watched(problem, points, energy, newton, halvings):
            result = original(problem, points, energy, newton, halvings)
            if result is not None:
                seen.append((id(problem), energy, result[1]))
            return result

        slide_removal._lowered = watched
        try:
            motion, labels, ground = case("cmu_131_03", 1.5)
            found = solve(motion, labels, ground)
        finally:
            slide_removal._lowered = original
        self.assertGreater(len(seen), 5)
        for _, before, after in seen:
            self.assertLessEqual(after, before * (1.0 + 1e-9))
        self.assertAlmostEqual(seen[-1][2], found.energy, delta=1e-9 * found.energy)

    def test_it_says_when_it_stops_early(self):
        motion, labels, ground = case("cmu_131_03", 1.5)
        most = slide_removal._MOST_STEPS
        slide_removal._MOST_STEPS = 2
        try:
            found = solve(motion, labels, ground)
        finally:
            slide_removal._MOST_STEPS = most
        self.assertFalse(found.converged)
        self.assertEqual(slid(found.toes, labels), 0.0)


class Worlds(unittest.TestCase):
    """Rotated, translated, mirrored, in another unit: the same answer."""

    def setUp(self):
        self.motion, self.labels, self.ground = case("cmu_131_01", 1.25)
        self.found = solved("cmu_131_01", 1.25)

    def check(self, change, ground=None, tolerance=1e-6):
        there = solve(self.motion.moved(change), self.labels, self.ground if ground is None else ground)
        np.testing.assert_allclose(there.pelvis, change(self.found.pelvis), rtol=0, atol=tolerance)
        np.testing.assert_allclose(there.toes, change(self.found.toes), rtol=0, atol=tolerance)

    def test_turned(self):
        c, s = np.cos(0.8), np.sin(0.8)
        self.check(lambda points: points @ np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]]))

    def test_moved(self):
        self.check(lambda points: points + np.array([30.0, -70.0, 0.0]))
        self.check(lambda points: points + np.array([0.0, 0.0, -2.0]), self.ground - 2.0)

    def test_mirrored(self):
        self.check(lambda points: points * np.array([1.0, -1.0, 1.0]))

    def test_another_unit(self):
        for scale in (0.01, 100.0):
            self.check(lambda points, scale=scale: scale * points, scale * self.ground, 1e-6 * scale)
