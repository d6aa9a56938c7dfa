"""Contacts on feet that slide, tremble, run or walk in place: the project's bars on recorded clips, made clips whose
truth is known, and what must not matter."""

import unittest
from dataclasses import replace

import motions
import numpy as np

from footlock.solvers import auto_contacts, contacts

# The least F1 of each condition.
BARS = {
    "clean": 0.95,
    "×0.5": 0.93,
    "×0.75": 0.93,
    "×1.25": 0.93,
    "×1.5": 0.93,
    "×2": 0.93,
    "in place": 0.90,
    "turned": 0.90,
    "5 mm": 0.92,
    "10 mm": 0.88,
    "×1.25, 5 mm": 0.85,
    "×1.5, 10 mm": 0.85,
    "30 fps": 0.95,
    "at 0.5 m": 0.95,
}
RATES = (24.0, 25.0, 29.97, 30.0, 60.0, 100.0, 120.0)


def detect(motion, **settings):
    return auto_contacts.detect(
        motion.toes, motion.hips, motion.root, motion.leg_lengths, motion.rate, auto_contacts.AutoSettings(**settings)
    )


def counts(labels):
    return tuple(len(contacts.runs(labels[:, leg])) for leg in range(labels.shape[1]))


class Recorded(unittest.TestCase):
    """F1 against the labels of the clean clip."""

    def test_every_condition(self):
        for name in motions.CLIPS:
            source = motions.load(name).at_rate(motions.TRUTH_RATE)
            wanted = motions.truth(source)
            for condition, motion in motions.conditions(source):
                with self.subTest(clip=name, condition=condition):
                    found = detect(motion).labels
                    here = motions.at_frames(wanted, len(found), motion.rate)
                    self.assertGreaterEqual(motions.f1(found, here), BARS[condition])

    def test_the_height_of_the_floor_does_not_matter(self):
        source = motions.load("cmu_131_01").at_rate(60.0)
        raised = source.moved(lambda points: points + np.array([0.0, 0.0, 0.5]))
        low, high = detect(source), detect(raised)
        np.testing.assert_array_equal(low.labels, high.labels)
        np.testing.assert_allclose(high.ground, low.ground + 0.5)

    def test_faster_than_it_was_recorded(self):
        """A walk at one and a half times its speed, with its root too far."""
        source = motions.load("cmu_12_01")
        source = replace(source, rate=1.5 * source.rate).at_rate(60.0)
        wanted = motions.truth(source)
        for factor, least in ((1.0, 0.95), (1.5, 0.93), (0.0, 0.9)):
            found = detect(motions.root_scaled(source, factor)).labels
            self.assertGreater(motions.f1(found, wanted), least)


class Made(unittest.TestCase):
    def test_how_many_contacts_each_leg_has(self):
        for motion, wanted in motions.synthetic():
            with self.subTest(motion.name):
                self.assertEqual(counts(detect(motion).labels), wanted)

    def test_a_foot_that_stands_is_planted_all_the_time(self):
        """Noise neither breaks a stance nor hides it."""
        for motion, _ in motions.synthetic():
            if motion.name.startswith("stands with"):
                with self.subTest(motion.name):
                    self.assertGreater(detect(motion).labels.mean(), 0.97)

    def test_hops_are_where_they_are(self):
        """Each contact of 0.3 s within a frame or two."""
        for motion, _ in motions.synthetic():
            if motion.name.startswith("hops"):
                with self.subTest(motion.name):
                    for i, (start, stop) in enumerate(contacts.runs(detect(motion).labels[:, 0])):
                        self.assertAlmostEqual(start, 36 * i, delta=2)
                        self.assertAlmostEqual(stop, min(36 * i + 19, 181), delta=2)

    def test_the_contact_of_a_run_at_30_fps(self):
        """A foot that stays down for two frames only, over and over, while the root travels too far."""
        rate, stride = 30.0, 20
        frame = np.arange(6 * stride)

        def foot(lag):
            cycle, phase = np.divmod(frame + lag, stride)
            air = np.clip((phase - 3.0) / (stride - 3.0), 0.0, 1.0)
            return np.stack([2.4 * (cycle + air - lag / stride), 0.0 * air, 0.03 + 0.5 * np.sin(np.pi * air)], axis=1)

        root = np.stack([2.4 * frame / stride, 0.0 * frame, 0.9 + 0.0 * frame], axis=1)
        toes = np.stack([foot(0), foot(stride // 2)], axis=1)
        run = motions.Motion("run", toes, np.repeat(root[:, None], 2, 1), root, np.full(2, 0.84), rate)
        for factor in (1.0, 1.25, 1.5):
            found = detect(motions.root_scaled(run, factor)).labels
            self.assertEqual(counts(found[:, :1]), (6,))
            lengths = [stop - start for start, stop in contacts.runs(found[stride:-stride, 0])]
            self.assertLessEqual(max(lengths), 5)
            self.assertGreaterEqual(min(lengths), 2)

    def test_no_contact_goes_across_a_cut(self):
        """Two takes glued together, standing in both."""
        motion = next(motion for motion, _ in motions.synthetic() if motion.name == "stands with 1 mm of noise")
        for step in (0.05, 0.3, 2.0):
            away = np.where(np.arange(len(motion.root)) >= 90, step, 0.0)[:, None] * np.array([1.0, 0.5, 0.0])
            cut = motion.moved(lambda points, away=away: points + (away if points.ndim == 2 else away[:, None]))
            for rate in (24.0, 30.0, 60.0, 120.0):
                with self.subTest(step=step, rate=rate):
                    nearest = np.round(np.arange(int(180 * rate / 60.0) + 1) * (60.0 / rate)).astype(int)
                    given = replace(cut.moved(lambda points, nearest=nearest: points[nearest]), rate=rate)
                    self.assertEqual(counts(detect(given).labels), (2, 2))


class Rates(unittest.TestCase):
    def test_contacts_are_the_same_at_every_rate(self):
        """As many, and each edge within a frame of the slowest."""
        for name, factor in (("cmu_12_01", 1.0), ("cmu_12_01", 1.25), ("cmu_12_01", 0.0), ("cmu_01_01", 1.25)):
            source = motions.root_scaled(motions.load(name), factor)
            reference = None
            for rate in RATES:
                with self.subTest(clip=name, factor=factor, rate=rate):
                    labels = detect(source.at_rate(rate)).labels
                    edges = [contacts.runs(labels[:, leg]) / rate for leg in range(2)]
                    reference = reference or edges
                    for own, first in zip(edges, reference, strict=True):
                        self.assertEqual(len(own), len(first))
                        self.assertLess(np.abs(own - first).max(), 1.5 / 24.0)

    def test_thirds_of_frames(self):
        """An action keyed on thirds, 72 Hz at 24 fps."""
        source = motions.root_scaled(motions.load("cmu_12_01"), 1.25)
        fine, whole = detect(source.at_rate(72.0)).labels[::3], detect(source.at_rate(24.0)).labels
        self.assertGreater((fine[: len(whole)] == whole[: len(fine)]).mean(), 0.97)


class Indifferent(unittest.TestCase):
    """What must not change a label."""

    def setUp(self):
        self.motion = motions.root_scaled(motions.load("cmu_12_01").at_rate(60.0), 1.5)
        self.labels = detect(self.motion).labels

    def check(self, change):
        np.testing.assert_array_equal(detect(self.motion.moved(change)).labels, self.labels)

    def test_where_the_clip_is(self):
        self.check(lambda points: points + np.array([10.0, -20.0, 3.0]))

    def test_where_it_goes(self):
        self.check(lambda points: np.stack([-points[..., 1], points[..., 0], points[..., 2]], axis=-1))

    def test_mirrored(self):
        self.check(lambda points: points * (-1.0, 1.0, 1.0))

    def test_which_leg_is_first(self):
        swapped = replace(self.motion, toes=self.motion.toes[:, ::-1], hips=self.motion.hips[:, ::-1])
        np.testing.assert_array_equal(detect(swapped).labels, self.labels[:, ::-1])

    def test_a_longer_clip(self):
        """The walk twice in a row has the labels of the walk, but for half a second at the seam."""
        way = (self.motion.root[-1] - self.motion.root[0]) * motions.LEVEL
        twice = self.motion.moved(lambda points: np.concatenate([points[:-1], points + way]))
        found = detect(twice).labels
        frames = len(self.labels) - 1
        for start in (0, frames):
            own = slice(30, frames - 30)
            self.assertGreater((found[start : start + frames][own] == self.labels[:frames][own]).mean(), 0.99)


class Result(unittest.TestCase):
    def test_speed_and_height_are_over_the_floor(self):
        """On a floor that moves with the root, known here: the toes' own velocity less a third of the root's."""
        motion = motions.root_scaled(motions.load("cmu_12_01").at_rate(60.0), 1.5)
        found = detect(motion)
        feet = np.gradient(motion.toes, axis=0) * 60.0
        root = np.gradient(motion.root, axis=0)[:, None] * 60.0
        wanted = np.linalg.norm(feet - root * motions.LEVEL / 3.0, axis=-1)
        np.testing.assert_allclose(found.speed, wanted, atol=0.05)
        np.testing.assert_allclose(found.height, motion.toes[..., 2] - found.ground, atol=0.003)
        np.testing.assert_allclose(found.floor, np.broadcast_to(root[..., :2] / 3.0, found.floor.shape), atol=0.05)

    def test_shapes(self):
        for frames in (1, 2, 3, 5, 40):
            for legs in (1, 2, 4):
                for rate in (1.0, 24.0, 60.0, 480.0):
                    with self.subTest(frames=frames, legs=legs, rate=rate):
                        toes = np.zeros((frames, legs, 3))
                        hips = toes + np.array([0.0, 0.0, 0.9])
                        found = auto_contacts.detect(toes, hips, hips[:, 0], np.full(legs, 0.84), rate)
                        for values in (found.labels, found.speed, found.height):
                            self.assertEqual(values.shape, (frames, legs))
                            self.assertTrue(np.isfinite(values).all())
                        self.assertEqual(found.floor.shape, (frames, legs, 2))
                        self.assertEqual(found.kind.shape, (frames,))
                        self.assertEqual((found.ground.shape, found.noise.shape), ((legs,), (legs,)))

    def test_arguments_are_left_alone(self):
        motion = motions.noisy(motions.load("cmu_12_01").at_rate(30.0), 0.005)
        arrays = (motion.toes, motion.hips, motion.root, motion.leg_lengths)
        for array in arrays:
            array.setflags(write=False)
        before = [array.copy() for array in arrays]
        detect(motion)
        for array, copy in zip(arrays, before, strict=True):
            np.testing.assert_array_equal(array, copy)

    def test_wrong_arguments(self):
        toes, root, length = np.zeros((9, 2, 3)), np.zeros((9, 3)), np.ones(2)
        for arguments in (
            (toes[..., :2], toes, root, length, 60.0),
            (toes[0], toes, root, length, 60.0),
            (toes, toes[:8], root, length, 60.0),
            (toes, toes, root[:8], length, 60.0),
            (toes, toes, root, length, 0.0),
            (toes, toes, root, length, -24.0),
            (toes, toes, root, length, float("nan")),
        ):
            with self.assertRaises(ValueError):
                auto_contacts.detect(*arguments)

    def test_settings(self):
        """A higher level finds more, a lower height less, and short contacts are dropped."""
        motion = motions.load("cmu_131_01").at_rate(60.0)
        shares = [detect(motion, enter=enter, leave=enter + 0.03).labels.mean() for enter in (0.1, 0.25, 0.6)]
        self.assertTrue(shares[0] < shares[1] < shares[2], shares)
        self.assertLess(detect(motion, height=0.02).labels.mean(), 0.8 * shares[1])
        labels = detect(motion, shortest=0.3).labels
        lengths = [stop - start for leg in range(2) for start, stop in contacts.runs(labels[:, leg])]
        self.assertGreaterEqual(min(lengths), 18)


class Noise(unittest.TestCase):
    def test_its_size(self):
        rng = np.random.default_rng(3)
        for name in motions.CLIPS:
            for rate in (30.0, 60.0, 120.0):
                toes = motions.load(name).at_rate(rate).toes
                for deviation in (0.003, 0.01):
                    with self.subTest(clip=name, rate=rate, deviation=deviation):
                        measured = auto_contacts.noise(toes + rng.normal(0.0, deviation, toes.shape))
                        np.testing.assert_allclose(measured, deviation, rtol=0.25)

    def test_recorded_motion_has_hardly_any(self):
        for name in motions.CLIPS:
            self.assertLess(auto_contacts.noise(motions.load(name).at_rate(60.0).toes).max(), 0.0006)

    def test_one_leg_only(self):
        rng = np.random.default_rng(4)
        toes = motions.load("cmu_12_01").at_rate(60.0).toes.copy()
        still = toes.copy()
        toes[:, 1] += rng.normal(0.0, 0.01, toes[:, 1].shape)
        smooth = auto_contacts.steadied(toes, 60.0)
        np.testing.assert_allclose(smooth[:, 0], still[:, 0], atol=0.001)
        left = np.gradient(smooth[:, 1] - still[:, 1], axis=0)[10:-10] * 60.0
        self.assertLess(left.std(), 0.13)  # m/s along each axis, what is blurred of the swings included
        self.assertGreater((np.gradient(toes[:, 1] - still[:, 1], axis=0) * 60.0).std(), 0.4)


class Hysteresis(unittest.TestCase):
    def test_against_going_through(self):
        rng = np.random.default_rng(5)
        for frames in (1, 2, 7, 60):
            level = rng.random((frames, 3))
            enter, leave = level < 0.3, level < 0.6
            wanted = np.zeros_like(enter)
            for leg in range(3):
                for frame in range(frames):
                    first = last = frame
                    while first > 0 and leave[first - 1, leg]:
                        first -= 1
                    while last < frames - 1 and leave[last + 1, leg]:
                        last += 1
                    wanted[frame, leg] = leave[frame, leg] and enter[first : last + 1, leg].any()
            np.testing.assert_array_equal(auto_contacts.hysteresis(enter, leave), wanted)
