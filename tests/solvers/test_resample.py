"""Motion at another rate: what the curves go through, and where they may not go."""

import unittest

import numpy as np

from footlock.solvers import resample


class At(unittest.TestCase):
    def test_samples_to_the_bit(self):
        values = np.random.default_rng(1).normal(size=(30, 2, 3))
        for overshoot in (True, False):
            np.testing.assert_array_equal(resample.at(values, np.arange(30), overshoot), values)
            np.testing.assert_array_equal(resample.at_rate(values, 24.0, 24.0, overshoot), values)

    def test_a_parabola_between_its_ends(self):
        t = np.arange(20.0)
        places = np.linspace(1.0, 18.0, 200)
        np.testing.assert_allclose(resample.at(t**2, places), places**2, atol=1e-9)

    def test_upsampled_is_at(self):
        values = np.random.default_rng(2).normal(size=(9, 3))
        fine = resample.upsampled(values, 4)
        self.assertEqual(len(fine), 33)
        np.testing.assert_array_equal(fine, resample.at(values, np.arange(33) / 4.0))
        self.assertIs(resample.upsampled(values, 1), values)

    def test_how_many(self):
        for rate, new_rate, count in ((120.0, 60.0, 50), (24.0, 60.0, 246), (29.97, 60.0, 197), (30.0, 60.0, 197)):
            self.assertEqual(len(resample.at_rate(np.zeros((99, 2)), rate, new_rate)), count)
        for frames in (1, 2):
            self.assertEqual(len(resample.at_rate(np.ones((frames, 2)), 30.0, 60.0)), 2 * frames - 1)

    def test_still_stays_still_without_overshoot(self):
        """Between samples that are equal nothing moves, however fast it comes and goes; with overshoot it does."""
        values = np.array([0.0, 3.0, 5.0, 5.0, 5.0, 9.0, 15.0])
        places = np.linspace(2.0, 4.0, 41)
        np.testing.assert_allclose(resample.at(values, places, overshoot=False), 5.0, atol=1e-12)
        self.assertGreater(np.abs(resample.at(values, places) - 5.0).max(), 0.1)

    def test_nothing_beyond_its_neighbours_without_overshoot(self):
        values = np.random.default_rng(3).normal(size=60)
        places = np.linspace(1.0, 58.0, 3000)
        before = np.minimum(places.astype(int), 58)
        low = np.minimum(values[before], values[before + 1])
        high = np.maximum(values[before], values[before + 1])
        found = resample.at(values, places, overshoot=False)
        self.assertTrue(((found >= low - 1e-12) & (found <= high + 1e-12)).all())
