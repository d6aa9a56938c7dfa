"""Quadratic problems in which each block of unknowns meets only its neighbours, solved for all blocks at once.

Cyclic reduction: every second block is eliminated, which leaves a problem of the same kind with half the blocks. Each
level is a handful of batched numpy calls, so the time is linear in the blocks and there is no Python loop over them.
"""

import numpy as np

from . import small_matrices

# Blocks that are eliminated together: what they need stays in the processor's cache.
_CHUNK = 512


def minimize(diagonal, upper, gradient, joined):
    """The x (n, k) that minimises ½ xᵀ H x + gradientᵀ x under equalities between neighbours.

    diagonal: (n, k, k) blocks of the symmetric H, upper: (n - 1, k, k) the blocks that couple i (rows) with i + 1
    (columns), gradient: (n, k). joined: (n - 1, k) bool; where it is true, component j of blocks i and i + 1 is one
    and the same unknown. H must be positive definite on the vectors that respect the joints; otherwise
    what is returned is no minimum, or not finite.
    """
    levels = []
    while len(gradient) > 1:
        level, diagonal, upper, gradient, joined = _eliminate_odd(diagonal, upper, gradient, joined)
        levels.append(level)
    x = -np.einsum("nij,nj->ni", small_matrices.inverse(diagonal), gradient)
    for free, from_left, from_right, to_gradient, to_neighbours in reversed(levels):
        pairs = len(free)
        left, right = x[:pairs], x[1 : pairs + 1] if len(x) > pairs else np.zeros_like(x)
        own = -to_gradient - np.einsum("nij,nj->ni", to_neighbours, np.concatenate([left, right], axis=1))
        whole = np.empty((len(x) + pairs, x.shape[1]))
        whole[: 2 * pairs : 2], whole[2 * pairs :] = left, x[pairs:]
        whole[1 : 2 * pairs : 2] = free * own + from_left * left + from_right * right
        x = whole
    return x


def _eliminate_odd(diagonal, upper, gradient, joined):
    """Eliminate blocks 1, 3, 5 … that have a neighbour on either side, or of two blocks the second; what is needed to
    get them back, and the problem that is left. A last block without such a neighbour stays as it is."""
    count, k = gradient.shape
    if count == 2:
        # The second block meets nothing on its right: a block that is idle stands there, and is left out again.
        diagonal, gradient = np.concatenate([diagonal, np.eye(k)[None]]), np.concatenate([gradient, np.zeros((1, k))])
        upper, joined = np.concatenate([upper, np.zeros((1, k, k))]), np.concatenate([joined, np.zeros((1, k), bool)])
    pairs = (len(gradient) - 1) // 2
    odd, even, rest = slice(1, 2 * pairs, 2), slice(0, 2 * pairs, 2), slice(2 * pairs, None)
    joined_left, joined_right = joined[even], joined[odd]
    from_left = joined_left.astype(float)
    from_right = (joined_right & ~joined_left).astype(float)

    kept = np.concatenate([diagonal[even], diagonal[rest]])
    kept_gradient = np.concatenate([gradient[even], gradient[rest]])
    across, solved = np.empty((pairs, k, k)), np.empty((pairs, k, 2 * k + 1))
    for start in range(0, pairs, _CHUNK):
        some = slice(start, min(start + _CHUNK, pairs))
        after = slice(some.start + 1, some.stop + 1)
        left, right, across[some], solved[some] = _eliminate(
            diagonal[odd][some],
            gradient[odd][some],
            upper[even][some],
            upper[odd][some],
            from_left[some],
            from_right[some],
        )
        kept[some] += left[0]
        kept_gradient[some] += left[1]
        kept[after] += right[0]
        kept_gradient[after] += right[1]

    level = (1.0 - from_left - from_right, from_left, from_right, solved[:, :, 2 * k], solved[:, :, : 2 * k])
    kept_upper = np.concatenate([across, upper[rest]])
    kept_joined = np.concatenate([joined_left & joined_right, joined[rest]])
    size = 1 if count == 2 else len(kept)
    return level, kept[:size], kept_upper[: size - 1], kept_gradient[:size], kept_joined[: size - 1]


def _eliminate(own, gradient, above, below, from_left, from_right):
    """What blocks leave to their neighbours when they are eliminated.

    own: (n, k, k), gradient: (n, k); above: (n, k, k) couples the left neighbour (rows) with the block, below: the
    block (rows) with the right neighbour. A component that is joined to a neighbour, 1 in from_left or from_right (n,
    k), is first replaced by the neighbour's; the others are eliminated. Returns what is added to the left and to the
    right neighbour (block and gradient each), the block that couples the two (n, k, k), and how the block's own
    components follow from the neighbours' (n, k, 2 k + 1).
    """
    k = gradient.shape[1]
    # Rows: this block; columns: left neighbour, right neighbour, gradient.
    wide = np.empty((len(gradient), k, 2 * k + 1))
    with_left, with_right, wide[:, :, 2 * k] = wide[:, :, :k], wide[:, :, k : 2 * k], gradient
    np.multiply(own, from_left[:, None, :], out=with_left)
    with_left += above.transpose(0, 2, 1)
    np.multiply(own, from_right[:, None, :], out=with_right)
    with_right += below

    left = from_left[:, :, None] * with_left
    left += above * from_left[:, None, :]
    right = from_right[:, :, None] * with_right
    right += below.transpose(0, 2, 1) * from_right[:, None, :]
    across = from_left[:, :, None] * with_right
    across += above * from_right[:, None, :]

    free = 1.0 - from_left - from_right
    wide *= free[:, :, None]
    free_own = own * free[:, :, None]
    free_own *= free[:, None, :]
    free_own[:, np.arange(k), np.arange(k)] += 1.0 - free
    solved = small_matrices.inverse(free_own) @ wide
    schur = wide[:, :, : 2 * k].transpose(0, 2, 1) @ solved
    left -= schur[:, :k, :k]
    right -= schur[:, k:, k : 2 * k]
    across -= schur[:, :k, k : 2 * k]
    left_gradient = from_left * gradient - schur[:, :k, 2 * k]
    right_gradient = from_right * gradient - schur[:, k:, 2 * k]
    return (left, left_gradient), (right, right_gradient), across, solved
