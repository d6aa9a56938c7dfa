"""Quaternions and vectors, any number at once.

Quaternions are (w, x, y, z) in the last axis; vectors are (x, y, z) in the last axis; all other axes broadcast.
The exponential and ``between`` follow the listings of the article.
"""

import numpy as np

IDENTITY = np.array([1.0, 0.0, 0.0, 0.0])

# Below this half angle (radians) sin(a)/a is 1 to double precision times 1e-9; the article branches at the same place.
_SMALL_HALF_ANGLE = 1e-4
# A sum of two vectors' quaternion shorter than this, relative to their lengths, has no direction: they are opposite.
_OPPOSITE = 1e-8


def dot(a, b):
    """Dot product over the last axis, which is kept: (…, 3), (…, 3) → (…, 1)."""
    return np.einsum("...i,...i->...", a, b)[..., None]


def length(v):
    """Length over the last axis, which is kept: (…, 3) → (…, 1)."""
    return np.sqrt(dot(v, v))


def cross(a, b):
    """Cross product over the last axis; several times faster than numpy's on long arrays."""
    ax, ay, az = a[..., 0], a[..., 1], a[..., 2]
    bx, by, bz = b[..., 0], b[..., 1], b[..., 2]
    return np.stack([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx], axis=-1)


def normalized(v, fallback=None):
    """Unit vectors (or quaternions); where the length is zero, ``fallback``, or zeros without one."""
    size = length(v)
    unit = v / np.where(size > 0.0, size, 1.0)
    return unit if fallback is None else np.where(size > 0.0, unit, fallback)


def multiply(a, b):
    """Hamilton product: turning by ``multiply(a, b)`` is turning by ``b`` and then by ``a``."""
    aw, ax, ay, az = a[..., 0], a[..., 1], a[..., 2], a[..., 3]
    bw, bx, by, bz = b[..., 0], b[..., 1], b[..., 2], b[..., 3]
    return np.stack(
        [
            aw * bw - ax * bx - ay * by - az * bz,
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
        ],
        axis=-1,
    )


def inverse(q):
    """Inverse of unit quaternions."""
    return q * np.array([1.0, -1.0, -1.0, -1.0])


def rotate(q, v):
    """Vectors ``v`` (…, 3) turned by unit quaternions ``q`` (…, 4)."""
    axis = q[..., 1:]
    t = 2.0 * cross(axis, v)
    return v + q[..., :1] * t + cross(axis, t)


def from_scaled_angle_axis(v):
    """Quaternions (…, 4) of the rotation vectors ``v`` (…, 3), whose length is the angle in radians."""
    half = 0.5 * v
    angle = length(half)
    small = angle < _SMALL_HALF_ANGLE
    safe = np.where(small, 1.0, angle)
    exact = np.concatenate([np.cos(safe), np.sin(safe) / safe * half], axis=-1)
    near = np.concatenate([np.ones_like(angle), half], axis=-1)
    return normalized(np.where(small, near, exact), IDENTITY)


def between(p, q):
    """The shortest rotations (…, 4) that turn the directions ``p`` into the directions ``q`` (…, 3), of any lengths.

    Opposite directions have no shortest rotation: they get a half turn about an axis square to ``p`` (the article
    takes the x axis, which is no solution where ``p`` is not square to it). A zero vector asks for nothing and gets
    the identity.
    """
    sizes = length(p) * length(q)
    result = np.concatenate([sizes + dot(p, q), cross(p, q)], axis=-1)
    size = length(result)
    degenerate = size <= _OPPOSITE * sizes
    if degenerate.any():
        least = np.eye(3)[np.argmin(np.abs(p), axis=-1)]
        half_turn = np.concatenate([np.zeros_like(size), normalized(cross(p, least))], axis=-1)
        result = np.where(degenerate, np.where(sizes > 0.0, half_turn, IDENTITY), result)
    return normalized(result, IDENTITY)


def to_matrix(q):
    """Rotation matrices (…, 3, 3) of unit quaternions (…, 4)."""
    w, x, y, z = q[..., 0], q[..., 1], q[..., 2], q[..., 3]
    m = np.empty((*q.shape[:-1], 3, 3))
    m[..., 0, 0] = 1 - 2 * (y * y + z * z)
    m[..., 0, 1] = 2 * (x * y - w * z)
    m[..., 0, 2] = 2 * (x * z + w * y)
    m[..., 1, 0] = 2 * (x * y + w * z)
    m[..., 1, 1] = 1 - 2 * (x * x + z * z)
    m[..., 1, 2] = 2 * (y * z - w * x)
    m[..., 2, 0] = 2 * (x * z - w * y)
    m[..., 2, 1] = 2 * (y * z + w * x)
    m[..., 2, 2] = 1 - 2 * (x * x + y * y)
    return m


def from_matrix(m):
    """Unit quaternions (…, 4) of rotation matrices (…, 3, 3), with w ≥ 0.

    Each of the four components can be the one that is taken from the diagonal; the largest is, so that no small
    number divides.
    """
    diagonal = np.stack([m[..., 0, 0], m[..., 1, 1], m[..., 2, 2]], axis=-1)
    trace = diagonal.sum(-1)
    squares = np.concatenate([1.0 + trace[..., None], 1.0 + 2.0 * diagonal - trace[..., None]], axis=-1)
    zy, xz, yx = m[..., 2, 1] - m[..., 1, 2], m[..., 0, 2] - m[..., 2, 0], m[..., 1, 0] - m[..., 0, 1]
    xy, xz_, yz = m[..., 1, 0] + m[..., 0, 1], m[..., 0, 2] + m[..., 2, 0], m[..., 2, 1] + m[..., 1, 2]
    rows = np.stack(
        [
            np.stack([squares[..., 0], zy, xz, yx], axis=-1),
            np.stack([zy, squares[..., 1], xy, xz_], axis=-1),
            np.stack([xz, xy, squares[..., 2], yz], axis=-1),
            np.stack([yx, xz_, yz, squares[..., 3]], axis=-1),
        ],
        axis=-2,
    )
    best = np.argmax(squares, axis=-1)
    q = normalized(np.take_along_axis(rows, best[..., None, None], axis=-2)[..., 0, :], IDENTITY)
    return np.where(q[..., :1] < 0.0, -q, q)


def continuous(q):
    """Quaternions ``q`` (frames, …, 4) with the signs that keep neighbours in time less than half a turn apart (q and
    -q turn alike)."""
    flips = np.einsum("...i,...i->...", q[1:], q[:-1]) < 0.0
    sign = np.where(np.cumsum(flips, axis=0) % 2 == 1, -1.0, 1.0)
    return np.concatenate([q[:1], q[1:] * sign[..., None]], axis=0)
