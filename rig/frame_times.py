"""The frame rate in which the keys of a file stand on whole frames."""

import numpy as np

# Frames per second, and what Blender divides them by: whole rates first, the usual ones before others.
_USUAL = (*((rate, 1.0) for rate in (24, 25, 30, 48, 50, 60, 72, 90, 100, 120, 144, 200, 240)),
          *((rate, 1.001) for rate in (24, 30, 60, 120)))  # fmt: skip
# A key further than this from a whole frame is between frames.
_OFF = 0.02
# Keys that were set by hand may stand anywhere; so many of them must stand on frames.
_SHARE = 0.98
_WITHOUT = (60, 1.0)


def judged(times, said=None):
    """(fps, fps_base) for key times (n,) in seconds, each once. ``said``: those that the file gives, or None, which
    are believed where they fit.

    Otherwise the first of the usual rates that fits, the one at which most keys are a frame apart, or 60, so that
    nothing is lost that is seen.
    """
    usual = _USUAL if said is None else (said, *_USUAL)
    if len(times) < 2:
        return said or _USUAL[0]
    for rate in usual:
        if _fits(times, rate):
            return rate
    between = 1.0 / float(np.median(np.diff(times)))
    own = (max(round(between), 1), max(round(between), 1) / between)
    return own if between <= 1000.0 and _fits(times, own) else _WITHOUT


def _fits(times, rate):
    frames = times * rate[0] / rate[1]
    return np.mean(np.abs(frames - np.round(frames)) < _OFF) >= _SHARE
