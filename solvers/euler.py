"""Euler angles of any order of the three axes, any number at once.

``axes`` is the order in which the matrices are multiplied: "ZYX" is Rz @ Ry @ Rx. A BVH file lists its channels so;
Blender's rotation modes are named the other way round. Angles are radians, in the order of ``axes``.
"""

from functools import reduce
from itertools import permutations

import numpy as np

ORDERS = tuple("".join(order) for order in permutations("XYZ"))

# Cosine of the middle angle below which the first and the last axis count as parallel, so that only the sum or the
# difference of their angles is known.
_LOCKED = 1e-7
# Radians. A first angle that turns the result by less than this is as good as the computed one.
_SAME_ANGLE = 1e-12


def to_matrix(angles, axes):
    """Rotation matrices (frames, 3, 3) of angles (frames, n) about the n ``axes``, one to three of them, each once."""
    angles = np.asarray(angles, float)
    if angles.ndim != 2 or angles.shape[1] != len(axes) or len(set(axes)) != len(axes) or not set(axes) <= set("XYZ"):
        raise ValueError(
            f"angles: expected shape (frames, {len(axes)}) for different axes {axes!r}, got {angles.shape}"
        )
    if not axes:
        return np.tile(np.eye(3), (len(angles), 1, 1))
    return reduce(np.matmul, [_about_axis("XYZ".index(axis), angles[:, i]) for i, axis in enumerate(axes)])


def from_matrix(matrices, axes, near=None):
    """Angles (frames, 3) of rotation matrices (frames, 3, 3) for three different ``axes``.

    Of the two solutions and their full turns, each frame takes the one closest to ``near`` (frames, 3); in gimbal
    lock, where the first angle is free, it keeps that of ``near``. So rotations that did not change give their
    numbers back. Without ``near`` the angles are continuous over the frames. Raises ValueError for shapes or axes
    that do not fit.
    """
    matrices = np.asarray(matrices, float)
    if axes not in ORDERS:
        raise ValueError(f"axes: expected X, Y and Z in any order, got {axes!r}")
    if matrices.ndim != 3 or matrices.shape[1:] != (3, 3):
        raise ValueError(f"matrices: expected shape (frames, 3, 3), got {matrices.shape}")
    if near is not None and np.shape(near) != (len(matrices), 3):
        raise ValueError(f"near: expected shape {(len(matrices), 3)}, got {np.shape(near)}")

    i, j, k = ("XYZ".index(axis) for axis in axes)
    sign = 1.0 if (j - i) % 3 == 1 else -1.0
    first = np.arctan2(-sign * matrices[:, j, k], matrices[:, k, k])
    lever = np.hypot(matrices[:, j, k], matrices[:, k, k])

    def completed(first):
        """All three angles for a given first one: it is undone first, so the others are exact in gimbal lock too."""
        cos, sin = np.cos(first), sign * np.sin(first)
        middle = np.arctan2(sign * matrices[:, i, k], cos * matrices[:, k, k] - sin * matrices[:, j, k])
        row = cos[:, None] * matrices[:, j] + sin[:, None] * matrices[:, k]
        return np.stack([first, middle, np.arctan2(sign * row[:, i], row[:, j])], axis=1)

    if near is None:
        known = np.flatnonzero(lever >= _LOCKED)
        # In gimbal lock the first angle stays what it was before, or at the start what it will be.
        last_known = np.maximum(np.searchsorted(known, np.arange(len(first)), side="right") - 1, 0)
        return _continuous(completed(first[known[last_known]] if len(known) else np.zeros_like(first)))
    near = np.asarray(near, float)
    choices = []
    for start in (first, first + np.pi):
        start = start + _turns(near[:, 0] - start)
        free = (lever < _LOCKED) | (lever * np.abs(start - near[:, 0]) < _SAME_ANGLE)
        angles = completed(np.where(free, near[:, 0], start))
        angles[:, 1:] += _turns(near[:, 1:] - angles[:, 1:])
        choices.append(angles)
    one, other = (np.abs(angles - near).sum(axis=1, keepdims=True) for angles in choices)
    return np.where(one <= other, *choices)


def solutions(angles, near):
    """The angles (3,) of the same rotation that are nearest to ``near`` (3,), of three different axes."""
    found = [angles, angles * (1.0, -1.0, 1.0) + np.pi]
    found = [one + _turns(near - one) for one in found]
    return min(found, key=lambda one: np.abs(one - near).sum())


def _about_axis(axis, angle):
    """Rotation matrices (frames, 3, 3) by ``angle`` (frames,) about one of the axes."""
    cos, sin = np.cos(angle), np.sin(angle)
    matrix = np.zeros((len(angle), 3, 3))
    i, j = (axis + 1) % 3, (axis + 2) % 3
    matrix[:, axis, axis] = 1.0
    matrix[:, i, i] = matrix[:, j, j] = cos
    matrix[:, i, j], matrix[:, j, i] = -sin, sin
    return matrix


def _turns(difference):
    """The whole turns in an angle."""
    return 2.0 * np.pi * np.round(difference / (2.0 * np.pi))


def _continuous(angles):
    """Angles (frames, 3) of the same rotations without jumps, by the other solution and by full turns."""
    other = angles * (1.0, -1.0, 1.0) + np.pi

    def step(source):
        difference = angles[1:] - source[:-1]
        return np.abs(difference - _turns(difference)).sum(axis=1)

    # A step from one solution to the other is as long in either direction, so where they change is known beforehand.
    changes = np.cumsum(step(other) < step(angles)) % 2 == 1
    chosen = np.concatenate([angles[:1], np.where(changes[:, None], other[1:], angles[1:])])
    return np.unwrap(chosen, axis=0)
