"""Smoothing and sums over frames, against the same written out."""

import unittest

import numpy as np

from footlock.solvers import filters


def beyond(values, i, ends):
    """The value (…,) of frame ``i``, which the clip may not have."""
    last = len(values) - 1
    if 0 <= i <= last:
        return values[i]
    end = values[0 if i < 0 else last]
    if ends == "lines":
        return 2.0 * end - values[-i if i < 0 else 2 * last - i]
    return end if ends == "hold" else 0.0 * end


class WindowSum(unittest.TestCase):
    def test_against_counting(self):
        rng = np.random.default_rng(1)
        for frames in (1, 2, 5, 40):
            values = rng.normal(size=(frames, 3))
            for reach in (0, 1, 4, 60):
                wanted = [values[max(i - reach, 0) : i + reach + 1].sum(0) for i in range(frames)]
                np.testing.assert_allclose(filters.window_sum(values, reach), wanted, atol=1e-12)


class Gaussian(unittest.TestCase):
    def test_against_weights(self):
        """Far from the ends, by the weights themselves; three means stand for a wide one within 6 % of its height."""
        impulse = np.zeros((401, 1))
        impulse[200] = 1.0
        away = np.arange(401) - 200
        for deviation in (0.5, 1.0, 3.0, 7.9, 8.0, 12.0, 30.0):
            with self.subTest(deviation=deviation):
                wanted = np.exp(-0.5 * (away / deviation) ** 2)
                wanted /= wanted.sum()
                found = filters.gaussian(impulse, deviation)[:, 0]
                np.testing.assert_allclose(found, wanted, atol=1e-4 if deviation < 8.0 else 0.06 * wanted.max())
                self.assertAlmostEqual(found.sum(), 1.0)

    def test_what_is_level_stays(self):
        for deviation in (0.1, 2.0, 20.0):
            for ends in ("hold", "lines"):
                level = np.full((50, 2), 3.0)
                np.testing.assert_allclose(filters.gaussian(level, deviation, ends), level, atol=1e-12)

    def test_ends_against_weights(self):
        """Every frame of a clip with nothing regular in it, its ends carried on frame by frame."""
        values = np.random.default_rng(3).normal(size=(60, 2))
        for deviation in (0.5, 1.5, 4.0, 7.9):
            reach = int(np.ceil(4.0 * deviation))
            weights = np.exp(-0.5 * (np.arange(-reach, reach + 1) / deviation) ** 2)
            for ends in ("hold", "lines", "nothing"):
                wanted = [
                    sum(w * beyond(values, i + j - reach, ends) for j, w in enumerate(weights)) / weights.sum()
                    for i in range(60)
                ]
                np.testing.assert_allclose(filters.gaussian(values, deviation, ends), wanted, atol=1e-12)

    def test_what_is_steady_stays(self):
        """A straight line, up to its ends, for every width; shorter than the Gaussian too."""
        for frames in (1, 2, 3, 5, 60):
            line = np.outer(np.arange(frames), [1.0, -2.0]) + 5.0
            for deviation in (0.5, 1.0, 4.0, 7.9, 8.0, 20.0):
                np.testing.assert_allclose(filters.gaussian(line, deviation, "lines"), line, rtol=0, atol=1e-12)

    def test_beyond_the_ends_is_nothing(self):
        ones = np.ones((21, 1))
        found = filters.gaussian(ones, 2.0, "nothing")[:, 0]
        self.assertAlmostEqual(found[10], 1.0, places=4)
        self.assertAlmostEqual(found[0], 0.5 + 0.5 * 0.1995, places=3)

    def test_any_shape_and_none(self):
        rng = np.random.default_rng(2)
        values = rng.normal(size=(30, 2, 3))
        values.setflags(write=False)
        for deviation in (0.0, 2.0, 10.0):
            found = filters.gaussian(values, deviation)
            self.assertEqual(found.shape, values.shape)
            np.testing.assert_allclose(found[:, 1], filters.gaussian(values[:, 1], deviation), atol=1e-12)
        self.assertIsNot(filters.gaussian(values, 0.0), values)
        self.assertEqual(filters.gaussian(np.zeros((0, 2)), 3.0).shape, (0, 2))
        np.testing.assert_allclose(filters.gaussian(values[:1], 3.0, "lines"), values[:1])
