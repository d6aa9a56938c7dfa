"""Short loops: seen, and repeated so that each cycle goes on from where the one before ended."""

import unittest

import numpy as np

from footlock.solvers import loops

RATE = 24.0


def cycle(frames, period, speed=0.0):
    """Two feet going round once a period, and the root travelling at a speed: toes, root."""
    t = np.arange(frames) / period
    toes = [
        np.stack([0.4 * np.sin(2 * np.pi * (t + lag)), 0.0 * t, 0.1 + 0.1 * np.cos(2 * np.pi * (t + lag))], axis=1)
        for lag in (0.0, 0.5)
    ]
    root = np.stack([speed * np.arange(frames) / RATE, 0.0 * t, 0.9 + 0.02 * np.sin(4 * np.pi * t)], axis=1)
    return np.stack(toes, axis=1) + (root * [1.0, 1.0, 0.0])[:, None], root


class Find(unittest.TestCase):
    def test_whether_the_last_frame_repeats_the_first_or_not(self):
        for period in (14, 20, 31, 58):
            for speed in (0.0, 1.5):
                with self.subTest(period=period, speed=speed):
                    self.assertEqual(loops.find(*cycle(period + 1, period, speed), RATE).period, period)
                    found = loops.find(*cycle(period, period, speed), RATE)
                    self.assertEqual(found.period, period)
                    np.testing.assert_allclose(found.way, [speed * period / RATE, 0.0, 0.0], atol=1e-12)

    def test_what_is_none(self):
        toes, root = cycle(20, 33)
        self.assertEqual(loops.find(toes, root, RATE).period, 0, "it ends elsewhere")
        toes, root = cycle(100, 99)
        self.assertEqual(loops.find(toes, root, RATE).period, 0, "it is long")
        toes, root = cycle(21, 20)
        self.assertEqual(loops.find(toes, root, RATE).period, 20)
        self.assertEqual(loops.find(0.1 * toes, root, RATE).period, 0, "it hardly moves")
        toes, root = cycle(3, 2)
        still = loops.find(toes, root, RATE)
        self.assertEqual(still.period, 0, "it is too short")
        self.assertIs(still.repeated(toes), toes)
        self.assertEqual(still.first, 0)


class Repeated(unittest.TestCase):
    def test_it_goes_on(self):
        """The same as the motion that goes on by itself."""
        for given in (20, 21):
            for speed in (0.0, 1.5):
                toes, root = cycle(given, 20, speed)
                found = loops.find(toes, root, RATE)
                again = found.repeated(toes)
                long_toes, _ = cycle(len(again), 20, speed)
                np.testing.assert_allclose(again, long_toes, atol=1e-9)
                self.assertGreaterEqual(len(again) / RATE, 4.0)
                away = speed * found.first / RATE
                np.testing.assert_allclose(again[found.first :][:given], toes + np.array([away, 0.0, 0.0]), atol=1e-9)

    def test_labels(self):
        labels = np.zeros((21, 2), bool)
        labels[3:9, 0] = True
        found = loops.find(*cycle(21, 20), RATE)
        again = found.repeated_labels(labels)
        self.assertEqual(len(again), len(found.repeated(np.zeros((21, 3)))))
        np.testing.assert_array_equal(again[found.first :][:20], labels[:20])
        self.assertEqual(np.count_nonzero(again[:, 0]), 6 * found.times)
