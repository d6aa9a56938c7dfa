"""Motion at a higher rate: cubic interpolation between evenly spaced samples."""

import numpy as np


def upsampled(values, factor):
    """Samples (frames, …) with ``factor`` - 1 more between each two, by cubic Hermite curves through them
    (Catmull-Rom slopes, one-sided at the ends): shape ((frames - 1) · factor + 1, …). Every ``factor``-th sample is
    one of the given, to the bit.
    """
    values = np.asarray(values, float)
    if factor == 1 or len(values) < 2:
        return values
    slope = np.gradient(values, axis=0)
    t = np.arange(factor) / factor
    t = t.reshape(1, factor, *(1,) * (values.ndim - 1))
    a, b = values[:-1, None], values[1:, None]
    u, v = slope[:-1, None], slope[1:, None]
    between = a + t * (u + t * ((3 * (b - a) - 2 * u - v) + t * (2 * (a - b) + u + v)))
    between[:, 0] = values[:-1]
    return np.concatenate([between.reshape(factor * (len(values) - 1), *values.shape[1:]), values[-1:]], axis=0)
