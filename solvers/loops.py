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


@dataclass(frozen=True)
class Cycle:
    """``period``: frames of a cycle, 0 where the clip is no loop. ``times``: how often it is repeated. ``way`` (3,):
    how far it gets in a cycle, metres, level."""

    period: int = 0
    times: int = 1
    way: np.ndarray = field(default_factory=lambda: np.zeros(3))

    @property
    def first(self):
        """The frame of the repeated clip that is the clip's first: that of the cycle in the middle."""
        return self.times // 2 * self.period

    def repeated(self, points):
        """Points (frames, …, 3) of the clip, as often as it is repeated, each cycle going on from where the one before
        ended; the clip itself where it is no loop."""
        if not self.period:
            return points
        again = [points[: self.period] + time * self.way for time in range(self.times)]
        return np.concatenate([*again, points[:1] + self.times * self.way])

    def repeated_labels(self, labels):
        """Labels (frames, legs) in the same way."""
        if not self.period:
            return labels
        return np.concatenate([np.tile(labels[: self.period], (self.times, 1)), labels[:1]])


def find(toes, root, frame_rate):
    """The Cycle of toes (frames, legs, 3) and root (frames, 3), world space, z up, metres, at ``frame_rate`` (Hz)."""
    if len(toes) > _SECONDS * frame_rate + 1:
        return Cycle()
    cycle = ends(toes, root)
    if not cycle.period:
        return cycle
    return replace(cycle, times=2 * max(1, ceil(0.5 * _REPEATED * frame_rate / cycle.period)) + 1)


def ends(toes, root, least=_MOVES):
    """The Cycle of toes (frames, points, 3) and root (frames, 3), however long it is, not repeated. least: metres; what
    moves less is none."""
    frames = len(toes)
    if frames < _LEAST_FRAMES:
        return Cycle()
    level = np.array([1.0, 1.0, 0.0])
    pose = toes - (root * level)[:, None]
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
    return Cycle(period, 1, way)
