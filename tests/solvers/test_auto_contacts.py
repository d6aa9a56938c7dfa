"""Contacts on feet that slide, tremble, run or walk in place: the project's bars on recorded clips, made clips whose
truth is known, and what must not matter."""

import unittest
from dataclasses import replace
from functools import cache

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
load = cache(motions.load)


def detect(motion, **settings):
    return auto_contacts.detect(
        motion.toes, motion.hips, motion.root, motion.leg_lengths, motion.rate, auto_contacts.AutoSettings(**settings)
    )


@cache
def made():
    """The made clips: (name, Motion, contacts of each leg, labels that are found)."""
    return [(*clip, detect(clip[1]).labels) for clip in motions.synthetic()]


def cut(motion, frame, step):
    """Everything moved by a step (3,) from a frame on."""
    away = np.where(np.arange(len(motion.root)) >= frame, 1.0, 0.0)[:, None] * np.array(step)
    return motion.moved(lambda points: points + (away if points.ndim == 2 else away[:, None]))


def running(t, stance, forth, up):
    """A run at 3.6 m/s at times ``t`` of 30 fps, and where its feet stand (frames, legs): for so many seconds of each
    step, between which they go ``forth`` and ``up`` by functions of 0..1."""
    speed, period = 3.6, 2.0 / 3.0
    toes, planted = [], []
    for lag in (0.0, 0.5 * period):
        step, phase = np.divmod(t + lag + 1e-9, period)
        air = np.clip((phase - stance) / (period - stance), 0.0, 1.0)
        x = speed * (period * (step + forth(air)) - lag)
        toes.append(np.stack([x, 0.0 * t, 0.03 + 0.5 * up(air)], axis=1))
        planted.append(air < 1e-6)
    root = np.stack([speed * t, 0.0 * t, 0.9 + 0.0 * t], axis=1)
    hips = np.repeat(root[:, None], 2, axis=1)
    return motions.Motion("run", np.stack(toes, 1), hips, root, np.full(2, 0.84), 30.0), np.stack(planted, 1)


def counts(labels):
    return tuple(len(contacts.runs(labels[:, leg])) for leg in range(labels.shape[1]))


class Recorded(unittest.TestCase):
    """F1 against the labels of the clean clip."""

    def test_every_condition(self):
        for name in motions.CLIPS:
            source = load(name).at_rate(motions.TRUTH_RATE)
            wanted = motions.truth(source)
            for condition, motion in motions.conditions(source):
                with self.subTest(clip=name, condition=condition):
                    found = detect(motion).labels
                    here = motions.at_frames(wanted, len(found), motion.rate)
                    self.assertGreaterEqual(motions.f1(found, here), BARS[condition])

    def test_the_height_of_the_floor_does_not_matter(self):
        """A floor at 0.5 m gives the very labels."""
        for name in motions.CLIPS:
            with self.subTest(clip=name):
                source = load(name).at_rate(60.0)
                low, high = detect(source), detect(source.moved(lambda points: points + np.array([0.0, 0.0, 0.5])))
                np.testing.assert_array_equal(low.labels, high.labels)
                np.testing.assert_allclose(high.ground, low.ground + 0.5)

    def test_faster_than_it_was_recorded(self):
        """A walk at one and a half times its speed, with its root too far."""
        source = load("cmu_12_01")
        source = replace(source, rate=1.5 * source.rate).at_rate(60.0)
        wanted = motions.truth(source)
        for factor, least in ((1.0, 0.95), (1.5, 0.93), (0.0, 0.9)):
            found = detect(motions.root_scaled(source, factor)).labels
            self.assertGreater(motions.f1(found, wanted), least)

    def test_a_cut_splits_the_contact(self):
        """Half a metre in the middle of each stance: no contact goes across, and both sides of it are still found."""
        for name in motions.CLIPS:
            source = load(name).at_rate(60.0)
            whole = detect(source).labels
            stances = [
                (leg, start, stop)
                for leg in range(2)
                for start, stop in contacts.runs(motions.truth(source)[:, leg])
                if stop - start >= 12 and whole[start + 2 : stop - 2, leg].all()
            ]
            self.assertGreater(len(stances), 4)
            for leg, start, stop in stances:
                middle = (start + stop) // 2
                with self.subTest(clip=name, leg=leg, cut=int(middle)):
                    labels = detect(cut(source, middle, (0.5, 0.0, 0.0))).labels[:, leg]
                    self.assertFalse(labels[middle - 1] and labels[middle])
                    self.assertTrue(labels[start:middle].any(), "the stance before the cut is lost")
                    self.assertTrue(labels[middle:stop].any(), "the stance after the cut is lost")


class Made(unittest.TestCase):
    def test_how_many_contacts_each_leg_has(self):
        for name, _, wanted, labels in made():
            with self.subTest(name):
                self.assertEqual(counts(labels), wanted)

    def test_a_foot_that_stands_is_planted_all_the_time(self):
        """Noise neither breaks a stance nor hides it."""
        for name, _, _, labels in made():
            if name.startswith("stands with"):
                with self.subTest(name):
                    self.assertGreater(labels.mean(), 0.97)

    def test_hops_are_where_they_are(self):
        """Each contact of 0.3 s within a frame or two."""
        for name, _, _, labels in made():
            if name.startswith("hops"):
                with self.subTest(name):
                    for i, (start, stop) in enumerate(contacts.runs(labels[:, 0])):
                        self.assertAlmostEqual(start, 36 * i, delta=2)
                        self.assertAlmostEqual(stop, min(36 * i + 19, 181), delta=2)

    def test_the_contact_of_a_run_at_30_fps(self):
        """Feet that are down for two frames only, over and over, whatever the root's travel."""
        t = (np.arange(120) + 0.5) / 30.0
        run, planted = running(
            t, 2.0 / 30.0, lambda air: air**2 * (3.0 - 2.0 * air), lambda air: np.sin(np.pi * air) ** 2
        )
        self.assertEqual({int(stop - start) for leg in range(2) for start, stop in contacts.runs(planted[:, leg])}, {2})
        for factor in (0.0, 0.75, 1.0, 1.25, 1.5, 2.0):
            with self.subTest(factor=factor):
                np.testing.assert_array_equal(detect(motions.root_scaled(run, factor)).labels, planted)

    def test_feet_that_leave_at_full_speed(self):
        """Down for four frames of 30 fps, and away at once; the frames at either end may be lost, no more."""
        t = np.arange(120) / 30.0
        run, planted = running(t, 0.1, lambda air: air, lambda air: np.sin(np.pi * air))
        for factor in (1.0, 1.25, 1.5):
            with self.subTest(factor=factor):
                labels = detect(motions.root_scaled(run, factor)).labels
                self.assertEqual(counts(labels), (6, 6))
                self.assertFalse((labels & ~planted).any())
                self.assertTrue(labels[1:-1][planted[:-2] & planted[1:-1] & planted[2:]].all())

    def test_no_contact_goes_across_a_cut(self):
        """Two takes glued together, standing in both."""
        motion = next(motion for name, motion, *_ in made() if name == "stands with 1 mm of noise")
        for step in (0.05, 0.3, 0.5, 2.0):
            glued = cut(motion, 90, (step, 0.5 * step, 0.0))
            for rate in (24.0, 30.0, 60.0, 120.0):
                with self.subTest(step=step, rate=rate):
                    nearest = np.round(np.arange(int(180 * rate / 60.0) + 1) * (60.0 / rate)).astype(int)
                    given = replace(glued.moved(lambda points, nearest=nearest: points[nearest]), rate=rate)
                    labels = detect(given).labels
                    self.assertEqual(counts(labels), (2, 2))
                    middle, near = int(np.argmax(nearest >= 90)), max(2.0, rate / 30.0)
                    for leg in range(2):
                        (_, end), (begin, _) = contacts.runs(labels[:, leg])
                        self.assertTrue(middle - near <= end <= middle <= begin <= middle + near, (end, begin))


class Rates(unittest.TestCase):
    def check(self, source, between):
        """As many contacts as at 60 fps, and each edge within a frame of 24 fps of where it is there. ``between``:
        frames by which an edge is taken to lie before the first frame on its other side."""
        edges = {}
        for rate in RATES:
            labels = detect(source.at_rate(rate)).labels
            edges[rate] = [(contacts.runs(labels[:, leg]) - between) / rate for leg in range(2)]
        for rate in RATES:
            with self.subTest(clip=source.name, rate=rate):
                for own, at_sixty in zip(edges[rate], edges[60.0], strict=True):
                    self.assertEqual(len(own), len(at_sixty))
                    self.assertLessEqual(np.abs(own - at_sixty).max(), 1.0 / 24.0)

    def test_contacts_are_the_same_at_every_rate(self):
        source = load("cmu_12_01")
        for factor in (1.0, 1.25):
            self.check(motions.root_scaled(source, factor), 0.0)

    def test_in_place_and_in_jumps(self):
        """Edges here lie midway between two frames: the frame after them alone is up to a 24th of a second late."""
        for name, factor in (("cmu_12_01", 0.0), ("cmu_01_01", 1.25)):
            self.check(motions.root_scaled(load(name), factor), 0.5)

    def test_noise_does_not_split_a_stance(self):
        """10 mm at every rate, ten draws each."""
        for rate in RATES:
            t = np.arange(int(3.0 * rate) + 1) / rate
            feet = np.stack([np.stack([0.1 + 0.0 * t, side + 0.0 * t, 0.04 + 0.0 * t], 1) for side in (0.1, -0.1)], 1)
            root = np.stack([0.02 * np.sin(t), 0.0 * t, 0.9 + 0.0 * t], axis=1)
            stands = motions.Motion("stands", feet, np.repeat(root[:, None], 2, 1), root, np.full(2, 0.84), rate)
            for seed in range(10):
                with self.subTest(rate=rate, seed=seed):
                    self.assertEqual(counts(detect(motions.noisy(stands, 0.01, seed)).labels), (1, 1))

    def test_thirds_of_frames(self):
        """An action keyed on thirds, 72 Hz at 24 fps."""
        source = motions.root_scaled(load("cmu_12_01"), 1.25)
        fine, whole = detect(source.at_rate(72.0)).labels[::3], detect(source.at_rate(24.0)).labels
        self.assertGreater((fine[: len(whole)] == whole[: len(fine)]).mean(), 0.97)


class Indifferent(unittest.TestCase):
    """What must not change a label."""

    @classmethod
    def setUpClass(cls):
        cls.motion = motions.root_scaled(load("cmu_12_01").at_rate(60.0), 1.5)
        cls.labels = detect(cls.motion).labels

    def check(self, change):
        np.testing.assert_array_equal(detect(self.motion.moved(change)).labels, self.labels)

    def test_where_the_clip_is(self):
        self.check(lambda points: points + np.array([10.0, -20.0, 3.0]))

    def test_how_small_it_is(self):
        """Legs of 8 to 40 cm: the labels of the grown character, its speeds and heights as small as it is."""
        for name in motions.CLIPS:
            motion = motions.root_scaled(load(name).at_rate(60.0), 1.25)
            labels = detect(motion).labels
            for size in (0.1, 0.4):
                with self.subTest(clip=name, size=size):
                    small = motion.moved(lambda points, size=size: size * points)
                    found = detect(replace(small, leg_lengths=size * motion.leg_lengths))
                    self.assertGreater(motions.f1(found.labels, labels), 0.98)
                    self.assertLess(found.enter, size * 0.3)
                    self.assertLess(found.highest, size * 0.15)

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
            np.testing.assert_array_equal(found[start : start + frames][own], self.labels[:frames][own])


class Result(unittest.TestCase):
    def test_speed_and_height_are_over_the_floor(self):
        """On a floor that moves with the root, known here: the toes' own velocity less a third of the root's."""
        motion = motions.root_scaled(load("cmu_12_01").at_rate(60.0), 1.5)
        found = detect(motion)
        feet = np.gradient(motion.toes, axis=0) * 60.0
        root = np.gradient(motion.root, axis=0)[:, None] * 60.0
        wanted = np.linalg.norm(feet - root * motions.LEVEL / 3.0, axis=-1)
        np.testing.assert_allclose(found.speed, wanted, atol=0.05)
        np.testing.assert_allclose(found.height, motion.toes[..., 2] - found.ground, atol=0.003)
        np.testing.assert_allclose(found.floor, np.broadcast_to(root[..., :2] / 3.0, found.floor.shape), atol=0.05)

    def test_shapes(self):
        """Of clips of any length, still and moving, with nothing in them that is no number."""
        rng = np.random.default_rng(6)
        for frames in (1, 2, 3, 5, 40):
            for legs in (1, 2, 4):
                for rate in (1.0, 24.0, 60.0, 480.0):
                    for toes in (np.zeros((frames, legs, 3)), rng.normal(0.0, 0.1, (frames, legs, 3)).cumsum(0)):
                        with self.subTest(frames=frames, legs=legs, rate=rate):
                            hips = toes + np.array([0.0, 0.0, 0.9])
                            found = auto_contacts.detect(toes, hips, hips[:, 0], np.full(legs, 0.84), rate)
                            for values in (found.labels, found.speed, found.height):
                                self.assertEqual(values.shape, (frames, legs))
                            self.assertEqual(found.labels.dtype, bool)
                            self.assertEqual(found.floor.shape, (frames, legs, 2))
                            self.assertEqual(found.kind.shape, (frames,))
                            self.assertEqual((found.ground.shape, found.noise.shape), ((legs,), (legs,)))
                            for values in (found.speed, found.height, found.floor, found.ground, found.noise):
                                self.assertTrue(np.isfinite(values).all())

    def test_arguments_are_left_alone(self):
        motion = motions.noisy(load("cmu_12_01").at_rate(30.0), 0.005)
        arrays = (motion.toes, motion.hips, motion.root, motion.leg_lengths)
        for array in arrays:
            array.setflags(write=False)
        before = [array.copy() for array in arrays]
        detect(motion)
        for array, copy in zip(arrays, before, strict=True):
            np.testing.assert_array_equal(array, copy)

    def test_wrong_arguments(self):
        toes, root, length = np.zeros((9, 2, 3)), np.zeros((9, 3)), np.ones(2)
        broken = toes.copy()
        broken[3, 1, 2] = np.inf
        for arguments in (
            (toes[..., :2], toes, root, length, 60.0),
            (toes[0], toes, root, length, 60.0),
            (toes, toes[:8], root, length, 60.0),
            (toes, toes, root[:8], length, 60.0),
            (toes, toes, root, length, 0.0),
            (toes, toes, root, length, -24.0),
            (toes, toes, root, length, float("nan")),
            (toes[:0], toes[:0], root[:0], length, 60.0),
            (toes[:, :0], toes[:, :0], root, length[:0], 60.0),
            (toes, toes, root, np.ones(3), 60.0),
            (broken, toes, root, length, 60.0),
            (toes, broken, root, length, 60.0),
            (toes, toes, root * np.nan, length, 60.0),
        ):
            with self.assertRaisesRegex(ValueError, "expected"):
                auto_contacts.detect(*arguments)

    def test_settings(self):
        """A higher level finds more, a lower height less, and short contacts are dropped."""
        motion = load("cmu_131_01").at_rate(60.0)
        shares = [detect(motion, enter=enter, leave=enter + 0.03).labels.mean() for enter in (0.1, 0.25, 0.6)]
        self.assertTrue(shares[0] < shares[1] < shares[2], shares)
        self.assertLess(detect(motion, height=0.02).labels.mean(), 0.8 * shares[1])
        labels = detect(motion, shortest=0.3).labels
        lengths = [stop - start for leg in range(2) for start, stop in contacts.runs(labels[:, leg])]
        self.assertGreaterEqual(min(lengths), 18)


class Noise(unittest.TestCase):
    def test_its_size_on_smooth_motion(self):
        t = np.arange(1000) / 60.0
        toes = np.stack([np.stack([t, 0.3 * np.sin(2.0 * t + lag), 0.1 * np.cos(3.0 * t)], 1) for lag in (0.0, 1.0)], 1)
        self.assertLess(auto_contacts.noise(toes).max(), 1e-6)
        for deviation in (0.001, 0.005, 0.02):
            for seed in range(10):
                with self.subTest(deviation=deviation, seed=seed):
                    measured = auto_contacts.noise(
                        toes + np.random.default_rng(seed).normal(0.0, deviation, toes.shape)
                    )
                    np.testing.assert_allclose(measured, deviation, rtol=0.15)

    def test_its_size_on_recorded_motion(self):
        """Mean of ten draws: a clip of four seconds has too few frames for one to say more than a quarter."""
        for name in motions.CLIPS:
            for rate in (30.0, 60.0, 120.0):
                toes = load(name).at_rate(rate).toes
                for deviation in (0.003, 0.01):
                    with self.subTest(clip=name, rate=rate, deviation=deviation):
                        rng = np.random.default_rng(3)
                        draws = [auto_contacts.noise(toes + rng.normal(0.0, deviation, toes.shape)) for _ in range(10)]
                        np.testing.assert_allclose(np.mean(draws, axis=0), deviation, rtol=0.15)
                        np.testing.assert_allclose(draws[0], deviation, rtol=0.25)

    def test_recorded_motion_has_hardly_any(self):
        for name in motions.CLIPS:
            self.assertLess(auto_contacts.noise(load(name).at_rate(60.0).toes).max(), 0.0006)

    def test_one_leg_only(self):
        rng = np.random.default_rng(4)
        toes = load("cmu_12_01").at_rate(60.0).toes.copy()
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
