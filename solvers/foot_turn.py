"""Turns of whole feet about their toes: planted feet that keep their heading, or pitch with the slope they stand on.

What a contact asks for goes over smoothly, between two contacts, to what the next one does.
"""

from itertools import pairwise

import numpy as np

from . import contacts as labels_of
from . import resample
from . import rotations as rot


def turns(foot, locked, still, normals, hold_heading, follow_slope, yaw=None):
    """World rotations (frames, legs, 4) of feet, from heel to toe (frames, legs, 3); None where none turns.

    locked: (frames, legs) bool, frames in which the foot is planted; still: the same, in which it does not turn;
    normals: (frames, legs, 3) of the ground under it; hold_heading: planted feet do not turn about the vertical;
    follow_slope: 0..1, how far they pitch with the ground; yaw: (frames, legs), radians by which planted feet are
    turned about the vertical besides, or None.
    """
    vectors = np.zeros(foot.shape)
    if follow_slope > 0.0:
        vectors = follow_slope * _tilt(normals)
    heading = np.zeros(foot.shape[:2])
    if hold_heading:
        heading = np.unwrap(np.arctan2(foot[..., 1], foot[..., 0]), axis=0)
    yaw = np.zeros(foot.shape[:2]) if yaw is None else yaw
    wanted = np.concatenate([vectors, np.zeros((*foot.shape[:2], 1))], axis=-1)
    for leg in range(foot.shape[1]):
        wanted[still[:, leg], leg] = 0.0
        spans = labels_of.runs(locked[:, leg] & ~still[:, leg])
        for start, stop in spans:
            wanted[start:stop, leg, :3] = vectors[start:stop, leg].mean(axis=0)
            own = heading[start:stop, leg]
            wanted[start:stop, leg, 3] = np.median(own) - own + yaw[start, leg]
        fixed = [(frame, frame + 1) for frame in np.flatnonzero(still[:, leg])]
        wanted[:, leg] = _between(wanted[:, leg], sorted([*map(tuple, spans), *fixed]))
    if not wanted.any():
        return None
    about_up = rot.from_scaled_angle_axis(wanted[..., 3:] * np.array([0.0, 0.0, 1.0]))
    return rot.multiply(rot.from_scaled_angle_axis(wanted[..., :3]), about_up)


def _tilt(normals):
    """Rotation vectors (…, 3) from upright to normals (…, 3), radians."""
    level = np.stack([-normals[..., 1], normals[..., 0], 0.0 * normals[..., 0]], axis=-1)
    sine = rot.length(level)
    return level * (np.arctan2(sine, normals[..., 2:]) / np.where(sine > 0.0, sine, 1.0))


def _between(values, spans):
    """Values (frames, n) that are given within spans, drawn on smooth curves between them, held before and after."""
    values = values.copy()
    if not len(spans):
        return np.zeros_like(values)
    values[: spans[0][0]] = values[spans[0][0]]
    values[spans[-1][1] :] = values[spans[-1][1] - 1]
    for (start, end), (begin, stop) in pairwise(spans):
        a, b, wide = values[end - 1], values[begin], begin - end + 1.0
        u = (values[end - 1] - values[end - 2]) * wide if end - start > 1 else 0.0 * a
        v = (values[begin + 1] - values[begin]) * wide if stop - begin > 1 else 0.0 * b
        t = ((np.arange(end, begin) - end + 1.0) / wide)[:, None]
        values[end:begin] = resample.hermite(a, b, u, v, t)
    return values
