"""Contact labels by thresholds: the labels of a real clip, naive twins, and the same answer at every frame rate."""

import math
import unittest
from dataclasses import replace
from pathlib import Path

import numpy as np

from footlock.solvers import contacts
from footlock.solvers.contacts import ThresholdSettings

VECTORS = Path(__file__).resolve().parent.parent / "data" / "vectors"


def naive_majority(labels, window):
    """More than half of the frames around, the nearest frame of the clip voting for one outside of it."""
    reach = round(window) // 2
    result = []
    for i in range(len(labels)):
        votes = [labels[min(max(j, 0), len(labels) - 1)] for j in range(i - reach, i + reach + 1)]
        result.append(sum(map(int, votes)) * 2 > len(votes))
    return np.array(result, bool)


def stepping(time, swing=0.35, stance=0.45, stride=1.2):
    """A toe that stands and swings in turn, exactly still while it stands, from a stance on."""
    cycle = swing + stance
    count, phase = np.divmod(np.asarray(time, float), cycle)
    u = np.clip((phase - stance) / swing, 0.0, 1.0)
    x = stride * (count + u**3 * (10.0 - 15.0 * u + 6.0 * u**2))
    return np.stack([x, 0.0 * x, 0.03 + 0.12 * np.sin(np.pi * u) ** 2], axis=-1)


def touching(time, still=0.025, acceleration=40.0):
    """A toe that comes, stands from -``still`` to ``still`` seconds, and leaves, as in a run."""
    out = np.maximum(np.abs(time) - still, 0.0)
    x = np.sign(time) * 0.5 * acceleration * out**2
    return np.stack([x, 0.0 * x, 0.03 + 0.5 * out], axis=-1)


class Clip(unittest.TestCase):
    def test_labels_of_the_unscaled_clip(self):
        """The clip without its extra travel has the labels that the reference took from it."""
        data = np.load(VECTORS / "slide_removal_cmu_131_01_x125.npz")
        pelvis = data["source_pelvis"]
        travel = (pelvis - pelvis[0]) * [1.0, 1.0, 0.0] * (0.25 / 1.25)
        toes = data["source_toes"] - travel[:, None]
        for floor in (0.0, contacts.floor_height(toes)):
            found = contacts.detect(toes, float(data["frame_rate"]), floor)
            np.testing.assert_array_equal(found.labels, data["contacts"])
            np.testing.assert_array_equal(found.signal, data["contacts"].astype(float))

    def test_sliding_hides_them(self):
        """The known limit of thresholds; should it ever go, the notes are wrong."""
        data = np.load(VECTORS / "slide_removal_cmu_131_01_x125.npz")
        found = contacts.detect(data["source_toes"], float(data["frame_rate"]), 0.0)
        self.assertGreater(np.count_nonzero(found.labels != data["contacts"]), 50)


class Vote(unittest.TestCase):
    def test_against_counting(self):
        rng = np.random.default_rng(51)
        for frames in (1, 2, 3, 4, 5, 11, 60):
            for window in (0, 0.4, 1, 2, 2.4, 3, 4, 5, 5.0001, 9, 10, 61, 200):
                labels = rng.random((frames, 3)) < 0.5
                found = contacts.majority(labels, window)
                self.assertEqual(found.dtype, bool)
                for leg in range(3):
                    wanted = naive_majority(labels[:, leg], window)
                    np.testing.assert_array_equal(found[:, leg], wanted, f"{frames} frames, window {window}")

    def test_one_dimension_and_nothing(self):
        labels = np.array([0, 1, 0, 0, 1, 1, 1, 0, 1], bool)
        np.testing.assert_array_equal(contacts.majority(labels, 3), naive_majority(labels, 3))
        self.assertEqual(contacts.majority(np.zeros((0, 2), bool), 5).shape, (0, 2))
        self.assertEqual(contacts.majority(np.zeros((7, 0), bool), 5).shape, (7, 0))

    def test_untouched(self):
        labels = np.array([0, 1, 0, 0, 1, 1], bool)
        labels.setflags(write=False)
        contacts.majority(labels, 3)
        self.assertIsNot(contacts.majority(labels, 0), labels)

    def test_runs(self):
        rng = np.random.default_rng(52)
        for _ in range(50):
            labels = rng.random(rng.integers(0, 20)) < 0.6
            rebuilt = np.zeros_like(labels)
            found = contacts.runs(labels)
            for first, after in found:
                self.assertLess(first, after)
                self.assertFalse(rebuilt[first:after].any())
                self.assertTrue(first == 0 or not labels[first - 1])
                self.assertTrue(after == len(labels) or not labels[after])
                rebuilt[first:after] = True
            np.testing.assert_array_equal(rebuilt, labels)
            self.assertEqual(found.shape, (len(found), 2))


class Rates(unittest.TestCase):
    RATES = (24.0, 25.0, 30.0, 59.94, 60.0, 120.0, 240.0)

    def test_the_same_contacts_at_every_rate(self):
        """Each contact begins and ends within one frame of the slowest clip from where it truly does."""
        seconds, swing, stance = 4.3, 0.35, 0.45
        edges = [(k * (swing + stance), k * (swing + stance) + stance) for k in range(6)]
        edges = [(begin, min(end, seconds)) for begin, end in edges if begin < seconds]
        found = {}
        for rate in self.RATES:
            time = np.arange(math.floor(seconds * rate) + 1) / rate
            labels = contacts.detect(stepping(time)[:, None], rate, 0.0).labels[:, 0]
            found[rate] = contacts.runs(labels) / rate - [0.0, 1.0 / rate]
        for rate, runs in found.items():
            with self.subTest(rate=rate):
                self.assertEqual(len(runs), len(found[24.0]))
                self.assertLess(np.abs(runs - found[24.0]).max(), 1.0 / 24.0 + 1e-9)
                self.assertEqual(len(runs), len(edges))
                # The slow beginning and end of a swing count as contact: 0.25 m/s is reached after 0.03 s.
                self.assertLess(np.abs(runs - edges).max(), 1.0 / 24.0 + 0.03)

    def test_contact_of_one_frame_at_thirty(self):
        """Planted for 50 ms: one frame at 30 Hz, which the vote must not take away."""
        time = np.arange(-15, 16) / 30.0
        toes = touching(time)[:, None]
        self.assertEqual(np.count_nonzero(np.abs(time) <= 0.025), 1)
        labels = contacts.detect(toes, 30.0, 0.0).labels[:, 0]
        np.testing.assert_array_equal(labels, np.arange(-15, 16) == 0)

    def test_contact_of_one_frame_at_thirty_as_at_sixty(self):
        for shift in (0.0, 0.003, -0.005):
            slow, fast = np.arange(-15, 16) / 30.0, np.arange(-30, 31) / 60.0
            at_thirty = contacts.detect(touching(slow + shift)[:, None], 30.0, 0.0).labels[:, 0]
            at_sixty = contacts.detect(touching(fast + shift)[:, None], 60.0, 0.0).labels[:, 0]
            self.assertTrue(at_sixty.any())
            np.testing.assert_array_equal(at_thirty, at_sixty[::2])

    def test_a_flicker_is_voted_away(self):
        """A jolt in a contact, which two frames feel, and one slow frame in a swing."""
        toes = np.zeros((60, 1, 3))
        toes[30:, 0, 0] += np.arange(30) * 0.02
        toes[11:, 0, 1] += 0.02
        toes[46, 0, 0] = toes[44, 0, 0]
        found = contacts.detect(toes, 60.0, 0.0)
        np.testing.assert_array_equal(np.flatnonzero(found.speed[:28, 0] > 0.25), [10, 11])
        np.testing.assert_array_equal(np.flatnonzero(found.speed[33:, 0] < 0.25) + 33, [45])
        self.assertTrue(found.labels[:28, 0].all())
        self.assertFalse(found.labels[33:, 0].any())


class Judging(unittest.TestCase):
    def setUp(self):
        rng = np.random.default_rng(53)
        self.toes = np.cumsum(0.004 * rng.normal(size=(80, 2, 3)), axis=0) + np.array([0.0, 0.0, 0.05])

    def test_speed_and_height(self):
        found = contacts.detect(self.toes, 60.0, np.array([0.01, 0.02]))
        for i in range(1, 79):
            for leg in range(2):
                speed = math.dist(self.toes[i + 1, leg], self.toes[i - 1, leg]) * 30.0
                self.assertAlmostEqual(found.speed[i, leg], speed, delta=1e-12)
        for i, j in ((0, 1), (-1, -2)):
            wanted = [math.dist(self.toes[i, leg], self.toes[j, leg]) * 60.0 for leg in range(2)]
            np.testing.assert_allclose(found.speed[i], wanted, rtol=0, atol=1e-12)
        np.testing.assert_allclose(found.height, self.toes[..., 2] - [0.01, 0.02], rtol=0, atol=1e-15)

    def test_labels_are_the_vote_over_both_thresholds(self):
        settings = ThresholdSettings(velocity=0.4, height=0.05, vote=7 / 60)
        found = contacts.detect(self.toes, 60.0, 0.0, settings)
        for leg in range(2):
            raw = [
                found.speed[i, leg] < settings.velocity and found.height[i, leg] < settings.height for i in range(80)
            ]
            np.testing.assert_array_equal(found.labels[:, leg], naive_majority(raw, 7))
        self.assertTrue(found.labels.any() and not found.labels.all())

    def test_height_alone_and_velocity_alone(self):
        still = np.zeros((20, 1, 3)) + np.array([0.0, 0.0, 0.5])
        self.assertFalse(contacts.detect(still, 60.0, 0.0).labels.any())
        self.assertTrue(contacts.detect(still, 60.0, 0.45).labels.all())
        fast = still + np.arange(20)[:, None, None] * [0.01, 0.0, 0.0]
        self.assertFalse(contacts.detect(fast, 60.0, 0.45).labels.any())

    def test_smoothing(self):
        """The signal is the labels under a Gaussian, its ends held, and stays between 0 and 1."""
        settings = ThresholdSettings(velocity=0.4, smoothing=0.025)
        plain = contacts.detect(self.toes, 60.0, 0.0, replace(settings, smoothing=0.0)).labels
        for level in (0.2, 0.5, 0.8):
            found = contacts.detect(self.toes, 60.0, 0.0, replace(settings, contact=level))
            self.assertGreaterEqual(found.signal.min(), 0.0)
            self.assertLessEqual(found.signal.max(), 1.0)
            np.testing.assert_array_equal(found.labels, found.signal > level)
            for i in (0, 1, 20, 40, 79):
                for leg in range(2):
                    weights = {j: math.exp(-0.5 * ((j - i) / 1.5) ** 2) for j in range(i - 30, i + 31)}
                    total = sum(w * plain[min(max(j, 0), 79), leg] for j, w in weights.items())
                    self.assertAlmostEqual(found.signal[i, leg], total / sum(weights.values()), delta=2e-4)

    def test_smoothing_of_all_or_nothing(self):
        for toes, wanted in ((np.zeros((30, 1, 3)), 1.0), (np.zeros((30, 1, 3)) + 1.0, 0.0)):
            found = contacts.detect(toes, 60.0, 0.0, ThresholdSettings(smoothing=0.05))
            np.testing.assert_allclose(found.signal, wanted, rtol=0, atol=1e-12)
            self.assertGreaterEqual(found.signal.min(), 0.0)
            self.assertLessEqual(found.signal.max(), 1.0)

    def test_floor_height(self):
        toes = np.zeros((100, 2, 3)) + np.array([5.0, -9.0, 0.04])
        toes[50:, :, 2] = 0.2
        toes[:3, 0, 2] = -0.5
        self.assertAlmostEqual(contacts.floor_height(toes), 0.04, delta=1e-12)


class Edges(unittest.TestCase):
    def test_short_clips(self):
        low, high = [0.0, 0.0, 0.01], [0.0, 0.0, 0.4]
        for rate in (24.0, 30.0, 60.0, 120.0):
            for smoothing in (0.0, 0.025):
                settings = ThresholdSettings(smoothing=smoothing)
                one = contacts.detect(np.array([[low, high]]), rate, 0.0, settings)
                np.testing.assert_array_equal(one.labels, [[True, False]])
                np.testing.assert_array_equal(one.speed, [[0.0, 0.0]])
                two = contacts.detect(np.array([[low, high], [low, high]]), rate, 0.0, settings)
                np.testing.assert_array_equal(two.labels, [[True, False], [True, False]])
                far = np.array([[low], [[1.0, 0.0, 0.01]]])
                self.assertFalse(contacts.detect(far, rate, 0.0, settings).labels.any())

    def test_no_legs(self):
        for smoothing in (0.0, 0.025):
            found = contacts.detect(np.zeros((9, 0, 3)), 30.0, 0.0, ThresholdSettings(smoothing=smoothing))
            self.assertEqual(found.labels.shape, (9, 0))
            self.assertEqual(found.signal.shape, (9, 0))

    def test_no_frames(self):
        self.assertEqual(contacts.detect(np.zeros((0, 2, 3)), 30.0, 0.0).labels.shape, (0, 2))

    def test_as_many_frames_as_before(self):
        for frames in range(1, 12):
            for rate in (10.0, 24.0, 29.97, 50.0, 59.94, 60.0, 144.0):
                found = contacts.detect(np.zeros((frames, 2, 3)), rate, 0.0, ThresholdSettings(smoothing=0.02))
                for values in (found.labels, found.signal, found.speed, found.height):
                    self.assertEqual(values.shape, (frames, 2))

    def test_wrong_shapes_and_rates(self):
        for shape in ((5, 3), (5, 2, 2), (3,), (5, 2, 1, 3)):
            with self.assertRaisesRegex(ValueError, "toes"):
                contacts.detect(np.zeros(shape), 60.0, 0.0)
        for rate in (0.0, -30.0, math.nan):
            with self.assertRaisesRegex(ValueError, "frame_rate"):
                contacts.detect(np.zeros((5, 2, 3)), rate, 0.0)

    def test_untouched(self):
        toes = stepping(np.arange(60) / 30.0)[:, None]
        toes.setflags(write=False)
        contacts.detect(toes, 30.0, 0.0, ThresholdSettings(smoothing=0.025))
        contacts.detect(toes, 60.0, 0.0)
