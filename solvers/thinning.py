"""A path of fewer points for the eye: runs of steps of the same state that are nearly straight become one line."""

import numpy as np


def thinned(points, states, tolerance):
    """Indices (k,) of the points (n, 3) of a path that are needed so that no other is further than ``tolerance`` from
    the lines between them, and no line stands for steps of different states (n - 1,). The first and last are.

    Spans of two, four, eight … steps are joined as long as they are straight, so a few points more than necessary may
    stay, and it takes a pass over the points for each doubling only.
    """
    steps = len(points) - 1
    if steps < 2:
        return np.arange(len(points))
    points, states = np.asarray(points, float), np.asarray(states)
    needed = np.ones(len(points), bool)
    whole, size = np.ones(steps, bool), 1
    while len(whole) > 1:
        size *= 2
        count = steps // size
        if not count:
            break
        corners = points[: count * size + 1 : size]
        inner = points[: count * size].reshape(count, size, 3)[:, 1:]
        state = states[: count * size].reshape(count, size)
        straight = _away(inner, corners[:-1], corners[1:]).max(axis=1) <= tolerance
        whole = whole[: 2 * count].reshape(count, 2).all(axis=1) & straight & (state == state[:, :1]).all(axis=1)
        if not whole.any():
            break
        needed[: count * size].reshape(count, size)[whole, 1:] = False
    return np.flatnonzero(needed)


def _away(points, start, end):
    """Distances (m, k) of points (m, k, 3) from the lines between start and end (m, 3)."""
    line = (end - start)[:, None]
    length = (line * line).sum(axis=-1)
    along = ((points - start[:, None]) * line).sum(axis=-1) / np.where(length > 0.0, length, 1.0)
    nearest = start[:, None] + np.clip(along, 0.0, 1.0)[..., None] * line
    return np.linalg.norm(points - nearest, axis=-1)
