"""Short loops, as games have them: a cycle goes on where it ends, so its first frames know what came before."""

from dataclasses import dataclass, field, replace
from math import ceil

import numpy as np

# A clip shorter than this (seconds) that moves by so much (metres) is a loop where its last frame repeats the first, up
# to the first share of its largest step, or is the one before it: then a step is missing, of about the size and way of
# those beside it, up to the second share.
_SECONDS, _MOVES, _CLOSED, _NEXT = 3.0, 0.1, 0.1, 0.5
_LEAST_FRAMES = 4
# A loop is repeated until it has so many seconds.
_REPEATED = 4.0
# Poses that differ by less than this, as shares of the largest step and metres, are the same: of a cycle that a clip
# repeats, or of a pose that is held to its end, for at least so many frames.
_SAME_SHARE, _SAME, _HELD = 0.01, 1e-5, 4
# So many frames are looked at as the start of a second cycle.
_MOST_TRIES = 64


@dataclass(frozen=True)
class Cycle:
    """``period``: frames of a cycle, 0 where the clip is no loop. ``before``: how many cycles are put before the clip,
    and behind it, to repeat it. ``way`` (3,): how far it gets in a cycle, metres, level. ``held``: frames at the end
    of the clip that belong to no cycle, in which its last pose is held. ``again``: the clip has more than one cycle."""

    period: int = 0
    before: int = 0
    way: np.ndarray = field(default_factory=lambda: np.zeros(3))
    held: int = 0
    again: bool = False

    @property
    def first(self):
        """The frame of the repeated clip that is the clip's first."""
        return self.before * self.period

    def repeated(self, points):
        """Points (frames, …, 3) of the clip with cycles before and behind it, each going on from where the one before
        ended; the clip itself where it is no loop."""
        if not self.period:
            return points
        at, turn = self._places(len(points))
        return points[at] + turn.reshape(-1, *[1] * (points.ndim - 1)) * self.way

    def repeated_labels(self, labels):
        """Labels (frames, legs) in the same way."""
        return labels[self._places(len(labels))[0]] if self.period else labels

    def phases(self, frames):
        """For each of the clip's frames (n,) the frame of the repeated clip that tells what it is: the same for the
        same phase of all its cycles."""
        at = np.minimum(np.arange(frames), frames - 1 - self.held)
        return self.first + (at % self.period if self.period else at)

    def _places(self, frames):
        """The clip's frame for each of the repeated one's, and how many cycles it is moved on by."""
        own = frames - self.held
        index = np.arange(-self.first, own + self.first + (own == self.period))
        # The last frame is not quite the first again, and comes once.
        inside = (index >= 0) & (index < own - 1)
        turn, phase = np.divmod(index, self.period)
        return np.where(inside, index, phase), np.where(inside, 0, turn) + self.before


def find(toes, root, frame_rate):
    """The Cycle of toes (frames, legs, 3) and root (frames, 3), world space, z up, metres, at ``frame_rate`` (Hz).

    A clip is a loop where its end goes on in its beginning, where it consists of the same cycle again and again, or
    where it is a loop before it holds its last pose.
    """
    held = _held(toes, root)
    toes, root = toes[: len(toes) - held], root[: len(root) - held]
    period = _repetition(toes, root)
    cycle = ends(toes[: period + 1], root[: period + 1]) if period else ends(toes, root)
    if not cycle.period or cycle.period > _SECONDS * frame_rate:
        return Cycle()
    return replace(cycle, before=max(1, ceil(0.5 * _REPEATED * frame_rate / cycle.period)), held=held, again=period > 0)


def _pose(toes, root):
    """Toes seen from the root."""
    return toes - (root * np.array([1.0, 1.0, 0.0]))[:, None]


def _held(toes, root):
    """How many frames at the end have the pose of the one before them, 0 where that is no hold."""
    away = np.abs(np.concatenate([toes, root[:, None]], axis=1) - np.append(toes[-1], root[-1:], axis=0)).max(
        axis=(1, 2)
    )
    moving = np.flatnonzero(away > _SAME)
    held = len(toes) - 2 - moving[-1] if len(moving) else 0
    return held if held >= _HELD else 0


def _repetition(toes, root):
    """Frames of the cycle that the clip repeats, twice at least; 0 where there is none."""
    pose = _pose(toes, root)
    if len(pose) < 2 * _LEAST_FRAMES:
        return 0
    same = _SAME + _SAME_SHARE * np.abs(np.diff(pose, axis=0)).max()
    again = np.flatnonzero(np.abs(pose[: len(pose) // 2 + 1] - pose[0]).max(axis=(1, 2)) < same)
    for period in again[again >= _LEAST_FRAMES][:_MOST_TRIES]:
        # The last frame is that of the cycle as it was before it was repeated: not always quite the first again.
        if np.abs(pose[period:-1] - pose[: -period - 1]).max() < same:
            return int(period)
    return 0


def ends(toes, root, least=_MOVES):
    """The Cycle of toes (frames, points, 3) and root (frames, 3), however long it is, not repeated. least: metres; what
    moves less is none."""
    frames = len(toes)
    if frames < _LEAST_FRAMES:
        return Cycle()
    level = np.array([1.0, 1.0, 0.0])
    pose = _pose(toes, root)
    if np.ptp(pose, axis=0).max() < least:
        return Cycle()
    step, gap = np.diff(pose, axis=0), pose[0] - pose[-1]
    most = np.abs(step).max()
    way = (root[-1] - root[0]) * level
    if np.abs(gap).max() <= _CLOSED * most:
        period = frames - 1
    elif np.abs(gap - 0.5 * (step[0] + step[-1])).max() < _NEXT * most:
        period = frames
        way = way + 0.5 * (root[1] - root[0] + root[-1] - root[-2]) * level
    else:
        return Cycle()
    return Cycle(period, 0, way)
