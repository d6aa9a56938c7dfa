"""Motion at another rate: cubic interpolation between evenly spaced samples."""

import numpy as np


def upsampled(values, factor):
    """Samples (frames, …) with ``factor`` - 1 more between each two: shape ((frames - 1) · factor + 1, …). Every
    ``factor``-th sample is one of the given, to the bit."""
    values = np.asarray(values, float)
    if factor == 1 or len(values) < 2:
        return values
    count = (len(values) - 1) * factor + 1
    return at(values, np.arange(count) / factor)


def at_rate(values, rate, new_rate, overshoot=True):
    """Samples (frames, …) at ``rate`` as samples at ``new_rate``, from the same first moment to the last that fits; see
    ``at``."""
    values = np.asarray(values, float)
    count = int((len(values) - 1) * new_rate / rate + 1e-6) + 1
    return at(values, np.arange(count) * (rate / new_rate), overshoot)


def at(values, places, overshoot=True):
    """Samples (frames, …) at ``places`` (n,), counted in frames from 0: (n, …), on cubic Hermite curves through them
    (Catmull-Rom slopes, one-sided at the ends). A place on a frame gives that sample, to the bit.

    overshoot: False to limit the slopes so that nothing between two samples is beyond them (Hyman's filter): what is
    still for some frames is then still between them too, however fast it comes and goes.
    """
    values = np.asarray(values, float)
    if len(values) < 2:
        return np.repeat(values, len(places), axis=0)
    slope = np.gradient(values, axis=0)
    if not overshoot:
        slope[1:-1] = _limited(slope[1:-1], np.diff(values, axis=0))
    before = np.clip(np.floor(places).astype(int), 0, len(values) - 2)
    t = (places - before).reshape(-1, *(1,) * (values.ndim - 1))
    a, b, u, v = values[before], values[before + 1], slope[before], slope[before + 1]
    return np.where(t == 0.0, a, np.where(t == 1.0, b, hermite(a, b, u, v, t)))


def hermite(a, b, u, v, t):
    """The cubic that goes from ``a`` at t = 0 with slope ``u`` to ``b`` at t = 1 with slope ``v``; all broadcast."""
    return a + t * (u + t * ((3 * (b - a) - 2 * u - v) + t * (2 * (a - b) + u + v)))


def _limited(slope, step):
    """Slopes (frames - 2, …) no steeper than three times the steps (frames - 1, …) on either side, and flat where those
    go different ways."""
    before, after = step[:-1], step[1:]
    most = 3.0 * np.minimum(np.abs(before), np.abs(after)) * (np.sign(before) == np.sign(after))
    return np.clip(slope, -most, most)
