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
        return _inverse(matrices)


def _inverse(m):
    k = m.shape[-1]
    if k == 1:
        return 1.0 / m
    if k == 2:
        return _inverse_of_two(m)
    if k == 3:
        return _inverse_of_three(m)
    # By blocks: the first three unknowns are eliminated from the others.
    first, across = _inverse_of_three(m[:, :3, :3]), np.ascontiguousarray(m[:, :3, 3:])
    solved = first @ across
    rest = _inverse(m[:, 3:, 3:] - across.transpose(0, 2, 1) @ solved)
    back = solved @ rest
    result = np.empty_like(m)
    result[:, :3, :3] = first + back @ solved.transpose(0, 2, 1)
    result[:, :3, 3:] = -back
    result[:, 3:, :3] = -back.transpose(0, 2, 1)
    result[:, 3:, 3:] = rest
    return result


def _inverse_of_two(m):
    a, b, c, d = m[:, 0, 0], m[:, 0, 1], m[:, 1, 0], m[:, 1, 1]
    return np.stack([d, -b, -c, a], axis=-1).reshape(-1, 2, 2) / (a * d - b * c)[:, None, None]


def _inverse_of_three(m):
    """The cofactors over the determinant."""
    (a, b, c), (d, e, f), (g, h, i) = m.transpose(1, 2, 0)
    result = np.empty((len(m), 3, 3))
    result[:, 0, 0], result[:, 0, 1], result[:, 0, 2] = e * i - f * h, c * h - b * i, b * f - c * e
    result[:, 1, 0], result[:, 1, 1], result[:, 1, 2] = f * g - d * i, a * i - c * g, c * d - a * f
    result[:, 2, 0], result[:, 2, 1], result[:, 2, 2] = d * h - e * g, b * g - a * h, a * e - b * d
    result /= (a * result[:, 0, 0] + b * result[:, 1, 0] + c * result[:, 2, 0])[:, None, None]
    return result
