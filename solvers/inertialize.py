"""Inertialization: from one motion to another at once, with the difference faded out by a cubic.

From the article's ``InertializeCubicUpdate`` and ``InertializeCubicTransition``. The listing of the latter drops an
offset that is still decaying, so the foot jumps when a lock follows a lock within the blend time. Here the new offset
is what is left of the old one plus the new difference, for position and for velocity, both from the old offset.
"""

from dataclasses import dataclass, replace

import numpy as np

# Blend times and time steps, seconds, are never taken shorter; as in the article.
SHORTEST = 1e-8


@dataclass(frozen=True)
class Offset:
    """What is still to fade: ``position`` (…, 3) metres and ``velocity`` (…, 3) metres per second when the transition
    began, and ``time`` (…), the seconds since."""

    position: np.ndarray
    velocity: np.ndarray
    time: np.ndarray

    @classmethod
    def none(cls, shape):
        """No offset, for points of ``shape`` (…)."""
        return cls(np.zeros((*shape, 3)), np.zeros((*shape, 3)), np.zeros(shape))


def decayed(offset, blend_time):
    """Position and velocity (…, 3) that are left of an offset after its time."""
    blend = np.maximum(blend_time, SHORTEST)
    t = np.clip(offset.time / blend, 0.0, 1.0)[..., None]
    w0 = 2.0 * t * t * t - 3.0 * t * t + 1.0
    w1 = (t * t * t - 2.0 * t * t + t) * blend_time
    w2 = (6.0 * t * t - 6.0 * t) / blend
    w3 = 3.0 * t * t - 4.0 * t + 1.0
    return offset.position * w0 + offset.velocity * w1, offset.position * w2 + offset.velocity * w3


def advanced(offset, delta_time):
    """The offset after another ``delta_time`` seconds."""
    return replace(offset, time=offset.time + delta_time)


def transition(offset, where, source, destination, blend_time):
    """The offset after a change from ``source`` to ``destination``, each a pair (position (…, 3), velocity (…, 3)),
    at the points where the mask ``where`` (…) is true. Source plus what is left of the offset is, at that moment,
    destination plus the new offset."""
    left, left_velocity = decayed(offset, blend_time)
    mask = where[..., None]
    return Offset(
        np.where(mask, left + source[0] - destination[0], offset.position),
        np.where(mask, left_velocity + source[1] - destination[1], offset.velocity),
        np.where(where, 0.0, offset.time),
    )
