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

    def test_a_cycle_again_and_again(self):
        """However long the clip is, whole cycles or not, its one cycle is found."""
        for frames in (41, 48, 61, 101, 400):
            for speed in (0.0, 1.5):
                with self.subTest(frames=frames, speed=speed):
                    toes, root = cycle(frames, 20, speed)
                    found = loops.find(toes, root, RATE)
                    self.assertEqual((found.period, found.held), (20, 0))
                    again = found.repeated(toes)
                    np.testing.assert_allclose(again, cycle(len(again), 20, speed)[0], atol=1e-9)
                    np.testing.assert_array_equal(found.phases(frames), found.first + np.arange(frames) % 20)
        toes, root = cycle(61, 20)
        toes[-1] += 0.02
        self.assertEqual(loops.find(toes, root, RATE).period, 20, "its last frame is not quite the first again")
        toes, root = cycle(101, 20)
        toes[30:35] += 0.1
        self.assertEqual(loops.find(toes, root, RATE).period, 0, "a cycle is another one")
        toes, root = cycle(301, 100)
        self.assertEqual(loops.find(toes, root, RATE).period, 0, "a cycle is long")

    def test_a_loop_that_ends_in_a_hold(self):
        toes, root = cycle(21, 20)
        for count in (4, 30):
            held = [np.concatenate([one, np.repeat(one[-1:], count, axis=0)]) for one in (toes, root)]
            found = loops.find(*held, RATE)
            self.assertEqual((found.period, found.held), (20, count))
            np.testing.assert_allclose(found.repeated(held[0]), loops.find(toes, root, RATE).repeated(toes))
            self.assertEqual(len(found.phases(21 + count)), 21 + count)
            self.assertEqual(set(found.phases(21 + count)[20:]), {found.first})
        short = [np.concatenate([one, np.repeat(one[-1:], 2, axis=0)]) for one in (toes, root)]
        self.assertEqual(loops.find(*short, RATE).held, 0)


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
        self.assertEqual(np.count_nonzero(again[:, 0]), 6 * (2 * found.before + 1))
