"""Inverses of many small matrices, against numpy's."""

import unittest

import numpy as np

from footlock.solvers import small_matrices


class Inverse(unittest.TestCase):
    def test_symmetric_of_every_size(self):
        rng = np.random.default_rng(1)
        for k in range(1, 31):
            with self.subTest(k=k):
                half = rng.normal(size=(20, k, k))
                matrices = half @ half.transpose(0, 2, 1) + np.eye(k)
                found = small_matrices.inverse(matrices)
                np.testing.assert_allclose(found, np.linalg.inv(matrices), rtol=0, atol=1e-9)
                if k > 3:
                    np.testing.assert_array_equal(found, found.transpose(0, 2, 1))

    def test_any_of_up_to_three(self):
        rng = np.random.default_rng(2)
        for k in (1, 2, 3):
            matrices = rng.normal(size=(50, k, k)) + 3.0 * np.eye(k)
            np.testing.assert_allclose(small_matrices.inverse(matrices), np.linalg.inv(matrices), rtol=0, atol=1e-9)

    def test_stiff(self):
        """One direction of three frames weighs a million times as much as the rest: six digits are lost, not all."""
        rng = np.random.default_rng(3)
        way = rng.normal(size=(200, 1, 3))
        way /= np.linalg.norm(way, axis=2, keepdims=True)
        row = (np.array([1.0, -2.0, 1.0])[:, None] * way).reshape(200, 9)
        matrices = 1e6 * row[:, :, None] * row[:, None] + np.eye(9) * (1.0 + rng.random((200, 1, 9)))
        self.assertLess(np.abs(small_matrices.inverse(matrices) @ matrices - np.eye(9)).max(), 1e-3)

    def test_none(self):
        self.assertFalse(np.isfinite(small_matrices.inverse(np.zeros((1, 4, 4)))).all())
