"""Quadratic problems in which each block of unknowns meets only its neighbours, solved for all blocks at once.

Cyclic reduction: every second block is eliminated, which leaves a problem of the same kind with half the blocks. Each
level is a handful of batched numpy calls, so the time is linear in the blocks and there is no Python loop over them.
"""

import numpy as np


def minimize(diagonal, upper, gradient, joined):
    """The x (n, k) that minimises ½ xᵀ H x + gradientᵀ x under equalities between neighbours.

    diagonal: (n, k, k) blocks of the symmetric H, upper: (n - 1, k, k) the blocks that couple i (rows) with i + 1
    (columns), gradient: (n, k). joined: (n - 1, k) bool; where it is true, component j of blocks i and i + 1 is one
    and the same unknown. H must be positive definite on the vectors that respect the joints; numpy's LinAlgError
    where an eliminated block is singular.
    """
    diagonal, upper, gradient = diagonal.copy(), upper.copy(), gradient.copy()
    levels = []
    while len(gradient) > 1:
        count = len(gradient)
        if count % 2 == 0:
            diagonal, upper, gradient, joined = _with_idle_block(diagonal, upper, gradient, joined)
        level, diagonal, upper, gradient, joined = _eliminate_odd(diagonal, upper, gradient, joined)
        if count % 2 == 0:
            diagonal, upper, gradient, joined = diagonal[:-1], upper[:-1], gradient[:-1], joined[:-1]
        levels.append((count, *level))
    x = -np.linalg.solve(diagonal, gradient[..., None])[..., 0]
    for count, free, from_left, from_right, to_gradient, to_neighbours in reversed(levels):
        if count % 2 == 0:
            x = np.concatenate([x, np.zeros((1, x.shape[1]))])
        left, right = x[:-1], x[1:]
        own = -to_gradient - np.einsum("nij,nj->ni", to_neighbours, np.concatenate([left, right], axis=1))
        whole = np.empty((len(x) + len(own), x.shape[1]))
        whole[0::2] = x
        whole[1::2] = free * own + from_left * left + from_right * right
        x = whole[:count]
    return x


def _with_idle_block(diagonal, upper, gradient, joined):
    """One more block at the end that meets nothing and stays zero, so that every odd block has a neighbour on either
    side."""
    k = gradient.shape[1]
    return (
        np.concatenate([diagonal, np.eye(k)[None]]),
        np.concatenate([upper, np.zeros((1, k, k))]),
        np.concatenate([gradient, np.zeros((1, k))]),
        np.concatenate([joined, np.zeros((1, k), bool)]),
    )


def _eliminate_odd(diagonal, upper, gradient, joined):
    """Eliminate blocks 1, 3, 5 … of an odd number of blocks; what is needed to get them back, and the problem that is
    left.

    A component that is joined to a neighbour is first replaced by the neighbour's; the others are eliminated.
    """
    own, own_gradient = diagonal[1::2], gradient[1::2]
    to_left, to_right = upper[0::2].transpose(0, 2, 1), upper[1::2]
    joined_left, joined_right = joined[0::2], joined[1::2]
    from_left = joined_left.astype(float)
    from_right = (joined_right & ~joined_left).astype(float)
    free = 1.0 - from_left - from_right

    # Rows: this block; columns: the left and the right neighbour.
    with_left = own * from_left[:, None, :] + to_left
    with_right = own * from_right[:, None, :] + to_right
    even, even_gradient = diagonal[0::2].copy(), gradient[0::2].copy()
    even[:-1] += from_left[:, :, None] * with_left + to_left.transpose(0, 2, 1) * from_left[:, None, :]
    even[1:] += from_right[:, :, None] * with_right + to_right.transpose(0, 2, 1) * from_right[:, None, :]
    across = from_left[:, :, None] * with_right + to_left.transpose(0, 2, 1) * from_right[:, None, :]
    even_gradient[:-1] += from_left * own_gradient
    even_gradient[1:] += from_right * own_gradient

    k = gradient.shape[1]
    free_own = own * free[:, :, None] * free[:, None, :]
    free_own[:, np.arange(k), np.arange(k)] += 1.0 - free
    neighbours = np.concatenate([with_left, with_right], axis=2) * free[:, :, None]
    solved = np.linalg.solve(free_own, np.concatenate([neighbours, (free * own_gradient)[:, :, None]], axis=2))
    schur = neighbours.transpose(0, 2, 1) @ solved
    even[:-1] -= schur[:, :k, :k]
    even[1:] -= schur[:, k:, k : 2 * k]
    even_gradient[:-1] -= schur[:, :k, 2 * k]
    even_gradient[1:] -= schur[:, k:, 2 * k]
    across -= schur[:, :k, k : 2 * k]
    level = (free, from_left, from_right, solved[:, :, 2 * k], solved[:, :, : 2 * k])
    return level, even, across, even_gradient, joined_left & joined_right
