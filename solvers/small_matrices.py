"""Inverses of many small matrices at once, by formulas that run over all of them.

LAPACK is called once for each matrix, and its threads, which may wait for each other at every one, can make that a
hundred times slower on a machine that is busy; these are not.
"""

import numpy as np


def inverse(matrices):
    """Inverses (n, k, k) of matrices (n, k, k): symmetric ones without pivoting, or any with k ≤ 3.

    A matrix that has none gives infinities or NaN.
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        if matrices.shape[-1] == 3:
            return _inverse_of_three(matrices)
        inverses = _inverse(matrices)
        if matrices.shape[-1] > 3:
            # Rounding that is not symmetric would grow from level to level of a long elimination.
            inverses = 0.5 * (inverses + inverses.transpose(0, 2, 1))
        return inverses


def inverse_affine(matrices):
    """Inverses (n, 4, 4) of matrices whose last row is (0, 0, 0, 1)."""
    result = np.zeros_like(matrices)
    result[:, :3, :3] = inverse(matrices[:, :3, :3])
    result[:, :3, 3] = -(result[:, :3, :3] @ matrices[:, :3, 3, None])[..., 0]
    result[:, 3, 3] = 1.0
    return result


def _inverse(m):
    k = m.shape[-1]
    if k == 1:
        return 1.0 / m
    if k == 2:
        return _inverse_of_two(m)
    if k == 3:
        return _inverse_of_three_symmetric(m)
    # By blocks: the first half of the unknowns, in threes, is eliminated from the others.
    half = max(3, 3 * (k // 6))
    first, across = _inverse(m[:, :half, :half]), np.ascontiguousarray(m[:, :half, half:])
    solved = first @ across
    rest = _inverse(m[:, half:, half:] - across.transpose(0, 2, 1) @ solved)
    back = solved @ rest
    result = np.empty_like(m)
    result[:, :half, :half] = first + back @ solved.transpose(0, 2, 1)
    result[:, :half, half:] = -back
    result[:, half:, :half] = -back.transpose(0, 2, 1)
    result[:, half:, half:] = rest
    return result


def _inverse_of_two(m):
    a, b, c, d = m[:, 0, 0], m[:, 0, 1], m[:, 1, 0], m[:, 1, 1]
    return np.stack([d, -b, -c, a], axis=-1).reshape(-1, 2, 2) / (a * d - b * c)[:, None, None]


def _inverse_of_three_symmetric(m):
    """By elimination, L D Lᵀ: where the numbers differ much in size, the cofactors' differences would lose them."""
    a, b, c, d, e, f = m[:, 0, 0], m[:, 1, 0], m[:, 2, 0], m[:, 1, 1], m[:, 2, 1], m[:, 2, 2]
    first, second = b / a, c / a
    below = e - second * b
    pivot = d - first * b
    third = below / pivot
    x, y, z = 1.0 / a, 1.0 / pivot, 1.0 / (f - second * c - third * below)
    corner = first * third - second
    result = np.empty((len(m), 3, 3))
    result[:, 0, 0] = x + first * first * y + corner * corner * z
    result[:, 1, 1] = y + third * third * z
    result[:, 2, 2] = z
    result[:, 0, 1] = result[:, 1, 0] = -first * y - corner * third * z
    result[:, 0, 2] = result[:, 2, 0] = corner * z
    result[:, 1, 2] = result[:, 2, 1] = -third * z
    return result


def _inverse_of_three(m):
    """The cofactors over the determinant."""
    (a, b, c), (d, e, f), (g, h, i) = m.transpose(1, 2, 0)
    result = np.empty((len(m), 3, 3))
    result[:, 0, 0], result[:, 0, 1], result[:, 0, 2] = e * i - f * h, c * h - b * i, b * f - c * e
    result[:, 1, 0], result[:, 1, 1], result[:, 1, 2] = f * g - d * i, a * i - c * g, c * d - a * f
    result[:, 2, 0], result[:, 2, 1], result[:, 2, 2] = d * h - e * g, b * g - a * h, a * e - b * d
    result /= (a * result[:, 0, 0] + b * result[:, 1, 0] + c * result[:, 2, 0])[:, None, None]
    return result
