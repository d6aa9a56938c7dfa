"""Which unknown each point of each frame is, in blocks that meet only their neighbours.

A motion couples frames that are one apart, or two, where accelerations count. One frame a block, or two, make that
block tridiagonal; a cyclic motion is folded, so that two frames from its front and two from its back share a block, and
its ends meet in the first. Frames in which a point stands in one place share one unknown, within a block and from block
to block.
"""

import numpy as np


class Unknowns:
    """``blocks`` and ``size``: number of blocks and of unknowns in each. ``same`` (blocks - 1, size) bool: what is one
    unknown in a block and the next, as ``block_tridiagonal.Elimination`` takes it."""

    def __init__(self, joined, cyclic, apart):
        """joined: (steps, points) bool, true where a point stands in one place in frames i and i + 1. There are
        ``frames`` - 1 steps, or ``frames`` for a cyclic motion, whose last leads to the first frame. apart: how many
        frames are between those that are coupled, 1 or 2."""
        frames = len(joined) + (0 if cyclic else 1)
        points = joined.shape[1]
        self._block, self._position, width = _folded(frames) if cyclic else _in_order(frames, apart)
        self.blocks, self.size = int(self._block.max()) + 1, 3 * points * width
        self.same = np.zeros((self.blocks - 1, points, width, 3), bool)
        slot = np.stack([self._slots(joined[:, point], width, cyclic, point) for point in range(points)], axis=1)
        self.same = self.same.reshape(self.blocks - 1, self.size)
        # (frames, points, 3): place within the block.
        self._column = (3 * (np.arange(points) * width + slot))[..., None] + np.arange(3)
        self._rows = [np.flatnonzero(self._position == position) for position in range(width)]
        self._places = {}
        self._pairs = [self._pairs_apart(away, cyclic) for away in range(apart + 1)]

    def matrix(self, band):
        """Blocks ``diagonal`` (blocks, size, size) and ``upper`` (blocks - 1, size, size) of a symmetric matrix that
        couples the same component of frames. band: arrays (pairs, points, 3): what couples frame i with i, with i + 1
        and with i + 2, wrapped around for a cyclic motion."""
        diagonal = np.zeros((self.blocks, self.size, self.size))
        upper = np.zeros((self.blocks - 1, self.size, self.size))
        for apart, (values, pairs) in enumerate(zip(band, self._pairs, strict=False)):
            flat = values.reshape(len(values), self._column[0].size)
            for index, one, other in pairs:
                a, b = self._block[one], self._block[other]
                row, column = self._flat_columns(one), self._flat_columns(other)
                if a[0] == b[0]:
                    diagonal[a[:, None], row, column] += flat[index]
                    if apart:
                        diagonal[a[:, None], column, row] += flat[index]
                elif a[0] < b[0]:
                    upper[a[:, None], row, column] += flat[index]
                else:
                    upper[b[:, None], column, row] += flat[index]
        return diagonal, upper

    def add_pairs(self, diagonal, one, other, values):
        """Add ``values`` (frames, 3, 3), which couple point ``one`` (rows) with ``other`` (columns) of each frame, to
        the blocks, which have to be contiguous; both ways where the points differ."""
        flat = diagonal.reshape(-1)
        for rows, there, back in self._pair_places(one, other):
            flat[there] += values[rows]
            if one != other:
                flat[back] += values[rows]

    def add_heights(self, diagonal, point, values):
        """Add ``values`` (frames,) to what couples the height of a point with itself."""
        for rows in self._rows:
            column = self._column[rows, point, 2]
            diagonal[self._block[rows], column, column] += values[rows]

    def add_between(self, diagonal, upper, one, other, values):
        """Add ``values`` (n, 3, 3), which couple one point in one frame (rows) with another in another (columns), no
        more than a block apart, to the blocks, which have to be contiguous. one, other: (frames (n,), points (n,)).
        Both ways, unless the two are the same."""
        (frames, points), (other_frames, other_points) = one, other
        a, b = self._block[frames], self._block[other_frames]
        row, column = self._column[frames, points], self._column[other_frames, other_points]
        alike = (frames == other_frames) & (points == other_points)
        there = (row[:, :, None] * self.size + column[:, None, :]).reshape(-1, 9)
        back = (column[:, None, :] * self.size + row[:, :, None]).reshape(-1, 9)
        values, area = values.reshape(-1, 9), self.size**2
        for blocks, i, index, place in (
            (diagonal, a, a == b, there),
            (upper, a, a < b, there),
            (diagonal, a, (a == b) & ~alike, back),
            (upper, b, a > b, back),
        ):
            # One index into all blocks, laid out flat, is many times faster than three.
            place = i[index, None] * area + place[index]
            np.add.at(blocks.reshape(-1), place.reshape(-1), values[index].reshape(-1))

    def gathered(self, values):
        """Values (frames, points, 3) summed over the frames in which a point stands: (blocks, size)."""
        result = np.zeros((self.blocks, self.size))
        for rows in self._rows:
            result[self._block[rows][:, None], self._flat_columns(rows)] += values[rows].reshape(
                len(rows), self._column[0].size
            )
        return result

    def spread(self, values):
        """Values of the unknowns (blocks, size) at each frame: (frames, points, 3)."""
        return values[self._block[:, None, None], self._column]

    def _pair_places(self, one, other):
        """For each group of frames that share no block: the frames, and where in all blocks, laid out flat, what
        couples their points goes, there and back (rows, 3, 3)."""
        if (one, other) not in self._places:
            groups = []
            for rows in self._rows:
                start = self._block[rows, None, None] * self.size**2
                row, column = self._column[rows, one][:, :, None], self._column[rows, other][:, None, :]
                groups.append((rows, start + row * self.size + column, start + column * self.size + row))
            self._places[one, other] = groups
        return self._places[one, other]

    def _flat_columns(self, frames):
        return self._column[frames].reshape(len(frames), self._column[0].size)

    def _slots(self, joined, width, cyclic, point):
        """For each frame which of the block's ``width`` places for this point it has (frames,)."""
        frames = len(self._block)
        slot = np.full(frames, -1)
        taken = np.zeros((self.blocks, width), bool)
        free_from = np.zeros(width, int)
        spans = []
        for run in runs(joined, cyclic):
            blocks = self._block[run]
            spans.append((blocks.min(), blocks.max(), run))
        for first, last, run in sorted(spans, key=lambda span: span[0]):
            place = int(np.argmax(free_from <= first))
            free_from[place] = last + 1
            slot[run] = place
            taken[first : last + 1, place] = True
            self.same[first:last, point, place] = True
        for position in range(width):
            rows = np.flatnonzero((self._position == position) & (slot < 0))
            block = self._block[rows]
            slot[rows] = np.argmin(taken[block], axis=1)
            taken[block, slot[rows]] = True
        return slot

    def _pairs_apart(self, apart, cyclic):
        """Frames so far apart, in groups: (index of the pair, frame, other frame), in each of which no block occurs
        twice and all pairs lie in the same order."""
        frames = len(self._block)
        count = frames if cyclic else max(frames - apart, 0)
        one = np.arange(count)
        other = (one + apart) % frames
        order = np.sign(self._block[other] - self._block[one])
        groups = []
        for position in np.unique(self._position):
            for way in (-1, 0, 1):
                index = np.flatnonzero((self._position[one] == position) & (order == way))
                if len(index):
                    groups.append((index, one[index], other[index]))
        return groups


def runs(joined, cyclic=False):
    """The frames, in order, of each run that is joined from frame to frame: one array each. joined: (steps,) bool; in a
    cyclic motion a run may go on from the last frame to the first."""
    frames = len(joined) + (0 if cyclic else 1)
    if cyclic and joined.all():
        return [np.arange(frames)]
    shift = 0
    if cyclic and joined[-1]:
        shift = int(np.flatnonzero(~joined)[-1]) + 1
        joined = np.roll(joined, -shift)
    edges = np.flatnonzero(np.diff(np.concatenate([[False], joined, [False]]).astype(int)))
    return [(np.arange(start, stop + 1) + shift) % frames for start, stop in edges.reshape(-1, 2)]


def _in_order(frames, width):
    """Block and position within it of each frame, and how many frames a block has."""
    frame = np.arange(frames)
    return frame // width, frame % width, width


def _folded(frames):
    """The same where the ends of the motion meet: front and back run side by side."""
    frame, front = np.arange(frames), 2 * ((frames + 1) // 4)
    back = frames - 1 - frame
    return (
        np.where(frame < front, frame // 2, back // 2),
        np.where(frame < front, frame % 2, 2 + back % 2),
        4,
    )
