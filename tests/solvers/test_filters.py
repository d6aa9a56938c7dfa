"""Smoothing and sums over frames, against the same written out."""

import unittest

import numpy as np

from footlock.solvers import filters


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

    def test_what_is_steady_stays(self):
        """A straight line, up to its ends; shorter than the Gaussian too."""
        for frames in (2, 5, 60):
            line = np.outer(np.arange(frames), [1.0, -2.0]) + 5.0
            for deviation in (1.0, 4.0, 7.0):
                np.testing.assert_allclose(filters.gaussian(line, deviation, "lines")[:1], line[:1], atol=1e-9)
                if frames > 4 * deviation + 1:
                    np.testing.assert_allclose(filters.gaussian(line, deviation, "lines"), line, atol=1e-9)

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
