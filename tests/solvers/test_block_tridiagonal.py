"""The block tridiagonal solver, against numpy's dense solver on the same problem."""

import unittest

import numpy as np

from footlock.solvers import block_tridiagonal


def minimize(diagonal, upper, gradient, joined):
    return block_tridiagonal.Elimination(joined, gradient.shape).minimize(diagonal, upper, gradient)


def problem(rng, n, k):
    """Blocks of a random H = B Bᵀ with B lower bidiagonal, so that H is positive definite and block tridiagonal."""
    own = np.eye(k) * 1.5 + 0.4 * rng.normal(size=(n, k, k)) / np.sqrt(k)
    below = 0.6 * rng.normal(size=(max(n - 1, 0), k, k)) / np.sqrt(k)
    diagonal = own @ own.transpose(0, 2, 1)
    diagonal[1:] += below @ below.transpose(0, 2, 1)
    upper = own[:-1] @ below.transpose(0, 2, 1)
    return diagonal, upper, rng.normal(size=(n, k))


def dense(diagonal, upper, gradient, joined):
    """Each unknown that is left gets a column of its own; joined components share one."""
    n, k = gradient.shape
    whole = np.zeros((n * k, n * k))
    for i in range(n):
        whole[i * k : (i + 1) * k, i * k : (i + 1) * k] = diagonal[i]
        if i + 1 < n:
            whole[i * k : (i + 1) * k, (i + 1) * k : (i + 2) * k] = upper[i]
            whole[(i + 1) * k : (i + 2) * k, i * k : (i + 1) * k] = upper[i].T
    column = np.zeros((n, k), int)
    count = 0
    for i in range(n):
        for j in range(k):
            if i > 0 and joined[i - 1, j]:
                column[i, j] = column[i - 1, j]
            else:
                column[i, j] = count
                count += 1
    spread = np.zeros((n * k, count))
    spread[np.arange(n * k), column.ravel()] = 1.0
    y = np.linalg.solve(spread.T @ whole @ spread, -spread.T @ gradient.ravel())
    return (spread @ y).reshape(n, k)


class Minimum(unittest.TestCase):
    def check(self, rng, n, k, share):
        diagonal, upper, gradient = problem(rng, n, k)
        joined = rng.random((max(n - 1, 0), k)) < share
        found = minimize(diagonal, upper, gradient, joined)
        wanted = dense(diagonal, upper, gradient, joined)
        self.assertEqual(found.shape, (n, k))
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-10 * max(1.0, np.abs(wanted).max()))
        same = found[1:][joined] - found[:-1][joined]
        self.assertFalse(same.any(), "joined components differ")

    def test_every_size(self):
        rng = np.random.default_rng(1)
        # Halved again and again: all that are even and odd in turn, and those about powers of two.
        for n in (*range(1, 21), 31, 32, 33, 40):
            for k in range(1, 10):
                with self.subTest(n=n, k=k):
                    self.check(rng, n, k, rng.choice([0.0, 0.2, 0.5, 0.8]))

    def test_all_joined(self):
        rng = np.random.default_rng(2)
        for n in (1, 2, 3, 7, 16, 33):
            with self.subTest(n=n):
                self.check(rng, n, 3, 1.1)

    def test_long_runs_and_gaps(self):
        """As contacts are: components in threes, joined for a while, then free."""
        rng = np.random.default_rng(3)
        n, k = 61, 9
        diagonal, upper, gradient = problem(rng, n, k)
        joined = np.zeros((n - 1, k), bool)
        joined[0:20, 3:6] = joined[35:60, 3:6] = joined[15:40, 6:9] = joined[50:51, 6:9] = True
        found = minimize(diagonal, upper, gradient, joined)
        np.testing.assert_allclose(found, dense(diagonal, upper, gradient, joined), rtol=0, atol=1e-11)

    def test_definite_only_where_the_joints_are_respected(self):
        """H may fall in the directions that the joints forbid."""
        rng = np.random.default_rng(4)
        n, k = 24, 4
        diagonal, upper, gradient = problem(rng, n, k)
        joined = rng.random((n - 1, k)) < 0.5
        for i, j in np.argwhere(joined):
            diagonal[i, j, j] -= 50.0
            diagonal[i + 1, j, j] -= 50.0
            upper[i, j, j] += 50.0
        found = minimize(diagonal, upper, gradient, joined)
        np.testing.assert_allclose(found, dense(diagonal, upper, gradient, joined), rtol=0, atol=1e-9)

    def test_no_gradient_no_step(self):
        diagonal, upper, gradient = problem(np.random.default_rng(5), 12, 3)
        found = minimize(diagonal, upper, 0.0 * gradient, np.zeros((11, 3), bool))
        self.assertFalse(found.any())

    def test_is_lower_than_all_about_it(self):
        rng = np.random.default_rng(6)
        n, k = 19, 5
        diagonal, upper, gradient = problem(rng, n, k)
        joined = rng.random((n - 1, k)) < 0.4

        def value(x):
            total = 0.0
            for i in range(n):
                total += 0.5 * x[i] @ diagonal[i] @ x[i] + gradient[i] @ x[i]
                if i + 1 < n:
                    total += x[i] @ upper[i] @ x[i + 1]
            return total

        found = minimize(diagonal, upper, gradient, joined)
        for _ in range(50):
            shift = 1e-3 * rng.normal(size=(n, k))
            for i, j in np.argwhere(joined):
                shift[i + 1, j] = shift[i, j]
            self.assertGreater(value(found + shift), value(found))

    def test_singular_block(self):
        diagonal, upper, gradient = problem(np.random.default_rng(7), 5, 3)
        diagonal[1], upper[0], upper[1] = 0.0, 0.0, 0.0
        found = minimize(diagonal, upper, gradient, np.zeros((4, 3), bool))
        self.assertFalse(np.isfinite(found[1]).any())

    def test_arguments_untouched(self):
        for n in (1, 2, 5, 8):
            diagonal, upper, gradient = problem(np.random.default_rng(8), n, 3)
            joined = np.random.default_rng(9).random((n - 1, 3)) < 0.5
            for array in (diagonal, upper, gradient, joined):
                array.setflags(write=False)
            minimize(diagonal, upper, gradient, joined)
