"""Signals over frames, smoothed and summed. Frames come first; the other axes are independent signals."""

from math import ceil

import numpy as np

# A Gaussian is cut off at this many standard deviations.
_REACH = 4.0
# From this deviation on (frames), three running means in a row stand for it: they differ by less than 6 % of its
# height, and their cost does not grow with it.
_WIDE = 8.0
# A Gaussian narrower than this (frames) changes nothing.
_NARROW = 0.2


def gaussian(values, deviation, ends="hold"):
    """Values (frames, …) smoothed by a Gaussian of ``deviation`` frames. Beyond the clip its ``ends`` "hold" the first
    and last value, go on as "lines" (mirrored through the end point, so that a steady motion stays what it is), or
    are "nothing", zeros, as sums with weights want it."""
    values = np.asarray(values, float)
    if deviation < _NARROW or len(values) == 0:
        return values.copy()
    if deviation >= _WIDE:
        reaches = _reaches(deviation)
        beyond = sum(reaches)
        padded = _padded(values, beyond, ends)
        for reach in reaches:
            padded = window_sum(padded, reach) / (2 * reach + 1)
        return padded[beyond : len(padded) - beyond]
    reach = max(1, ceil(_REACH * deviation))
    kernel = np.exp(-0.5 * (np.arange(-reach, reach + 1) / deviation) ** 2)
    kernel /= kernel.sum()
    signals = _padded(values, reach, ends).reshape(len(values) + 2 * reach, -1)
    smooth = np.empty((len(values), signals.shape[1]))
    for i in range(signals.shape[1]):
        smooth[:, i] = np.convolve(signals[:, i], kernel, mode="valid")
    return smooth.reshape(values.shape)


def window_sum(values, reach):
    """Sum of values (frames, …) over each frame and ``reach`` more on either side, as far as the clip goes."""
    total = np.concatenate([np.zeros((1, *values.shape[1:])), np.cumsum(values, axis=0)])
    frame = np.arange(len(values))
    return total[np.minimum(frame + reach + 1, len(values))] - total[np.maximum(frame - reach, 0)]


def _padded(values, reach, ends):
    width = [(reach, reach)] + [(0, 0)] * (values.ndim - 1)
    if ends == "lines":
        return np.pad(values, width, mode="reflect", reflect_type="odd")
    return np.pad(values, width, mode="edge" if ends == "hold" else "constant")


def _reaches(deviation):
    """Reaches of three running means that have together the variance of a Gaussian."""
    least = int(np.sqrt(deviation**2 + 0.25) - 0.5)
    choices = [[least] * (3 - more) + [least + 1] * more for more in range(4)]
    return min(choices, key=lambda reaches: abs(sum(reach * (reach + 1) for reach in reaches) / 3.0 - deviation**2))
