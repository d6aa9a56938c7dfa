"""How much a joint has to be lifted to stay above the floor, without a kink where it comes to it.

A clamp lifts a joint by max(required, 0), which starts and ends at once: the joint meets the floor at full speed and
stops. Here the lift is the curve that meets the same bound with the least change of velocity and acceleration.
"""

import numpy as np

from . import block_tridiagonal

_RATE = 60.0
# Weight of the lift itself beside that of its change from frame to frame at 60 Hz, and of what is missing of it.
_LOW, _MISSING = 0.1, 1e5
# A lift that misses no more than this (metres) is enough.
_ENOUGH = 1e-6
_MOST_STEPS = 30


def smooth(required, frame_rate, smoothing, none):
    """Lifts (frames, n), metres, no less than ``required`` (frames, n) and than zero, each column by itself; zero where
    nothing near asks for one, and in the frames ``none`` (frames, n) bool, which ask for nothing. smoothing: seconds
    over which acceleration counts."""
    required = np.where(none, 0.0, np.maximum(np.asarray(required, float), 0.0))
    lift = np.zeros_like(required)
    asked = np.flatnonzero(required.any(axis=0))
    if len(required) < 3 or smoothing <= 0.0:
        return required
    if len(asked):
        lift[:, asked] = _solve(required[:, asked], none[:, asked], frame_rate / _RATE, smoothing * _RATE)
    return np.maximum(lift, required)


def _solve(required, none, pace, reach):
    """Newton's method on the active set, for all columns at once, one behind the other."""
    frames, columns = required.shape
    even = frames + frames % 2
    blocks = even // 2 * columns
    band = np.zeros((3, even))
    _add(band[:, :frames], (1.0, -1.0), pace)
    _add(band[:, :frames], (1.0, -2.0, 1.0), reach**2 * pace**3)
    band[0] += _LOW / pace
    own, one, two = (np.tile(row, columns).reshape(-1, 2) for row in band)
    diagonal = np.zeros((blocks, 2, 2))
    diagonal[:, [0, 1], [0, 1]] = own
    diagonal[:, 0, 1] = diagonal[:, 1, 0] = one[:, 0]
    upper = np.zeros((blocks - 1, 2, 2))
    upper[:, 1, 0] = one[:-1, 1]
    upper[:, [0, 1], [0, 1]] = two[:-1]
    free = np.zeros((columns, even), bool)
    free[:, :frames] = ~none.T
    free = free.reshape(-1, 2)
    diagonal *= free[:, :, None] & free[:, None, :]
    diagonal[:, [0, 1], [0, 1]] += ~free
    upper *= free[:-1, :, None] & free[1:, None, :]
    elimination = block_tridiagonal.Elimination(np.zeros((blocks - 1, 2), bool), (blocks, 2))

    bound = np.zeros((columns, even))
    bound[:, :frames] = required.T
    bound = bound.reshape(-1, 2)
    pull, active = _MISSING / pace, bound > 0.0
    for _ in range(_MOST_STEPS):
        matrix = diagonal.copy()
        matrix[:, [0, 1], [0, 1]] += pull * active
        lift = elimination.minimize(matrix, upper, -pull * active * bound)
        now = (bound > lift) & free
        if (now == active).all() or np.abs((now ^ active) * (bound - lift)).max() < _ENOUGH:
            break
        active = now
    return lift.reshape(columns, even)[:, :frames].T


def _add(band, stencil, weight):
    """Add the square of a difference along frames to a band (3, frames): what couples i with i, i + 1 and i + 2."""
    count = band.shape[1] - len(stencil) + 1
    for i, a in enumerate(stencil):
        for j, b in enumerate(stencil[i:]):
            band[j, i : i + count] += weight * a * b
