"""Vectors and quaternions of ``rotations`` once more, one at a time, as tuples of numbers.

numpy takes a microsecond or more to begin with anything; what is done for one leg in one frame, while it plays, is done
in a tenth of the time on plain numbers.
"""

from math import cos, sin, sqrt

IDENTITY = (1.0, 0.0, 0.0, 0.0)
# As in ``rotations``.
_OPPOSITE = 1e-8


def add(a, b):
    """The sum of vectors."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


def sub(a, b):
    """The difference of vectors."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


def along(a, b, share):
    """``a`` and so many times the vector ``b``."""
    return a[0] + share * b[0], a[1] + share * b[1], a[2] + share * b[2]


def scaled(v, factor):
    """A vector so many times as long."""
    return v[0] * factor, v[1] * factor, v[2] * factor


def dot(a, b):
    """Dot product of vectors."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def length(v):
    """Length of a vector."""
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2])


def cross(a, b):
    """Cross product of vectors."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def normalized(v, fallback=(0.0, 0.0, 0.0)):
    """The unit vector, ``fallback`` where the length is zero."""
    size = length(v)
    return scaled(v, 1.0 / size) if size > 0.0 else fallback


def multiply(a, b):
    """Hamilton product of quaternions: ``b`` first, then ``a``."""
    aw, ax, ay, az = a
    bw, bx, by, bz = b
    return (
        aw * bw - ax * bx - ay * by - az * bz,
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
    )


def inverse(q):
    """Inverse of a unit quaternion."""
    return q[0], -q[1], -q[2], -q[3]


def rotate(q, v):
    """A vector turned by a unit quaternion."""
    w, x, y, z = q
    a, b, c = v
    tx, ty, tz = 2.0 * (y * c - z * b), 2.0 * (z * a - x * c), 2.0 * (x * b - y * a)
    return a + w * tx + y * tz - z * ty, b + w * ty + z * tx - x * tz, c + w * tz + x * ty - y * tx


def about(axis, angle):
    """The turn by ``angle`` (radians) about a unit vector; none where that is zero."""
    if axis == (0.0, 0.0, 0.0):
        return IDENTITY
    half = 0.5 * angle
    s = sin(half)
    return cos(half), s * axis[0], s * axis[1], s * axis[2]


def between(p, q):
    """The shortest turn of the direction ``p`` into ``q``, as in ``rotations``."""
    sizes = length(p) * length(q)
    w, (x, y, z) = sizes + dot(p, q), cross(p, q)
    size = sqrt(w * w + x * x + y * y + z * z)
    if size <= _OPPOSITE * sizes or size == 0.0:
        if sizes == 0.0:
            return IDENTITY
        least = min(range(3), key=lambda i: abs(p[i]))
        return 0.0, *normalized(cross(p, tuple(float(i == least) for i in range(3))))
    return w / size, x / size, y / size, z / size
