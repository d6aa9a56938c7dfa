"""Quadratic problems in which each block of unknowns meets only its neighbours, solved for all blocks at once.

Cyclic reduction: every second block is eliminated, which leaves a problem of the same kind with half the blocks. Each
level is a handful of batched numpy calls, so the time is linear in the blocks and there is no Python loop over them.
"""

import numpy as np

from . import small_matrices

# Blocks that are eliminated together: what they need stays in the processor's cache.
_CHUNK = 128


class Elimination:
    """Problems with the same joints, one after the other: what they need is made once."""

    def __init__(self, joined, shape):
        """joined: (n - 1, k) bool; where it is true, component j of blocks i and i + 1 is one and the same unknown.
        shape: (n, k)."""
        count, k = shape
        self._levels = []
        while count > 1:
            level = _Level(joined, count, k)
            self._levels.append(level)
            count, joined = level.kept, level.kept_joined
        self._work = _Work(min(shape[0] // 2, _CHUNK), k)

    def minimize(self, diagonal, upper, gradient):
        """The x (n, k) that minimises ½ xᵀ H x + gradientᵀ x and respects the joints.

        diagonal: (n, k, k) blocks of the symmetric H, upper: (n - 1, k, k) the blocks that couple i (rows) with i + 1
        (columns), gradient: (n, k). H must be positive definite on the vectors that respect the joints; otherwise what
        is returned is no minimum, or not finite.
        """
        for level in self._levels:
            diagonal, upper, gradient = level.eliminate(self._work, diagonal, upper, gradient)
        x = -np.einsum("nij,nj->ni", small_matrices.inverse(diagonal), gradient)
        for level in reversed(self._levels):
            x = level.restore(x)
        return x


class _Level:
    """Blocks 1, 3, 5 … that have a neighbour on either side are eliminated, or of two blocks the second. A last block
    without such a neighbour stays as it is."""

    def __init__(self, joined, count, k):
        self._two = count == 2
        if self._two:
            # The second block meets nothing on its right: a block that is idle stands there, and is left out again.
            joined, count = np.concatenate([joined, np.zeros((1, k), bool)]), 3
        self._k, self._pairs = k, (count - 1) // 2
        self._odd, self._even = slice(1, 2 * self._pairs, 2), slice(0, 2 * self._pairs, 2)
        self._rest = slice(2 * self._pairs, None)
        joined_left, joined_right = joined[self._even], joined[self._odd]
        self._from_left = joined_left.astype(float)
        self._from_right = (joined_right & ~joined_left).astype(float)
        left = count - self._pairs
        self.kept = 1 if self._two else left
        self.kept_joined = np.concatenate([joined_left & joined_right, joined[self._rest]])[: self.kept - 1]
        self._diagonal, self._gradient = np.empty((left, k, k)), np.empty((left, k))
        self._upper = np.empty((left - 1, k, k))
        self._solved = np.empty((self._pairs, k, 2 * k + 1))

    def eliminate(self, work, diagonal, upper, gradient):
        """The blocks of the problem that is left."""
        k, pairs = self._k, self._pairs
        if self._two:
            diagonal = np.concatenate([diagonal, np.eye(k)[None]])
            gradient, upper = np.concatenate([gradient, np.zeros((1, k))]), np.concatenate([upper, np.zeros((1, k, k))])
        kept, kept_gradient = self._diagonal, self._gradient
        for target, source in ((kept, diagonal), (kept_gradient, gradient)):
            target[:pairs], target[pairs:] = source[self._even], source[self._rest]
        self._upper[pairs:] = upper[self._rest]
        for start in range(0, pairs, _CHUNK):
            some = slice(start, min(start + _CHUNK, pairs))
            after = slice(some.start + 1, some.stop + 1)
            work.own, work.gradient = diagonal[self._odd][some], gradient[self._odd][some]
            work.above, work.below = upper[self._even][some], upper[self._odd][some]
            work.from_left, work.from_right = self._from_left[some], self._from_right[some]
            # Blocks to the left and to the right overlap, so they are done one after the other.
            work.eliminate(self._solved[some], self._upper[some])
            work.leave_left(kept[some], kept_gradient[some])
            work.leave_right(kept[after], kept_gradient[after])
        return kept[: self.kept], self._upper[: self.kept - 1], kept_gradient[: self.kept]

    def restore(self, x):
        """All blocks (count, k) from those that were kept."""
        k, pairs = self._k, self._pairs
        left, right = x[:pairs], x[1 : pairs + 1] if len(x) > pairs else np.zeros_like(x)
        both = np.concatenate([left, right, np.ones((pairs, 1))], axis=1)
        own = -np.einsum("nij,nj->ni", self._solved, both)
        whole = np.empty((len(x) + pairs, k))
        whole[: 2 * pairs : 2], whole[2 * pairs :] = left, x[pairs:]
        free = 1.0 - self._from_left - self._from_right
        whole[1 : 2 * pairs : 2] = free * own + self._from_left * left + self._from_right * right
        return whole


class _Work:
    """Blocks that are eliminated together, in arrays that are used again for the next ones.

    ``own``: (n, k, k), ``gradient``: (n, k); ``above``: (n, k, k) couples the left neighbour (rows) with the block,
    ``below`` the block (rows) with the right neighbour. A component that is joined to a neighbour, 1 in ``from_left``
    or ``from_right`` (n, k), is replaced by the neighbour's; the others are eliminated.
    """

    own: np.ndarray
    gradient: np.ndarray
    above: np.ndarray
    below: np.ndarray
    from_left: np.ndarray
    from_right: np.ndarray

    def __init__(self, count, k):
        # Rows: this block; columns: left neighbour, right neighbour, gradient.
        self._wide = np.empty((count, k, 2 * k + 1))
        self._left, self._right, self._some = (np.empty((count, k, k)) for _ in range(3))
        self._by_left, self._by_right = np.empty((count, k, 2 * k + 1)), np.empty((count, k, k + 1))

    def eliminate(self, solved, across):
        """Write to ``solved`` (n, k, 2 k + 1) how the block's own components follow from the neighbours', and to
        ``across`` (n, k, k) the block that then couples the neighbours."""
        n, k = self.gradient.shape
        wide, left, right = self._wide[:n], self._left[:n], self._right[:n]
        with_left, with_right, wide[:, :, 2 * k] = wide[:, :, :k], wide[:, :, k : 2 * k], self.gradient
        free = 1.0 - self.from_left - self.from_right
        with_left[...] = self.above.transpose(0, 2, 1)
        with_right[...] = self.below
        left[...] = right[...] = across[...] = 0.0
        own = self.own
        if not free.all():
            own = self._take_joined(free, wide, left, right, across)
        np.matmul(small_matrices.inverse(own), wide, out=solved)
        by_left = np.matmul(with_left.transpose(0, 2, 1), solved, out=self._by_left[:n])
        by_right = np.matmul(with_right.transpose(0, 2, 1), solved[:, :, k:], out=self._by_right[:n])
        left -= by_left[:, :, :k]
        right -= by_right[:, :, :k]
        across -= by_left[:, :, k : 2 * k]

    def _take_joined(self, free, wide, left, right, across):
        """Replace joined components by the neighbours'; the block that is left. What they add is gathered and put where
        it belongs one component at a time, since most are not joined."""
        n, k = self.gradient.shape
        with_left, with_right = wide[:, :, :k], wide[:, :, k : 2 * k]
        by_left, by_right = np.nonzero(self.from_left), np.nonzero(self.from_right)
        for (block, j), side in ((by_left, with_left), (by_right, with_right)):
            side[block, :, j] += self.own[block, :, j]
        block, j = by_left
        left[block, j] = with_left[block, j]
        across[block, j] = with_right[block, j]
        left[block, :, j] += self.above[block, :, j]
        block, j = by_right
        right[block, j] = with_right[block, j]
        right[block, :, j] += self.below[block, j]
        across[block, :, j] += self.above[block, :, j]
        block, j = np.nonzero(free == 0.0)
        wide[block, j] = 0.0
        own = self._some[:n]
        own[...] = self.own
        own[block, j] = 0.0
        own[block, :, j] = 0.0
        own[block, j, j] = 1.0
        return own

    def leave_left(self, block, gradient):
        """Add to the left neighbours what the eliminated blocks leave to them."""
        n, k = self.gradient.shape
        block += self._left[:n]
        gradient += self.from_left * self.gradient - self._by_left[:n, :, 2 * k]

    def leave_right(self, block, gradient):
        """Add to the right neighbours what the eliminated blocks leave to them."""
        n, k = self.gradient.shape
        block += self._right[:n]
        gradient += self.from_right * self.gradient - self._by_right[:n, :, k]
