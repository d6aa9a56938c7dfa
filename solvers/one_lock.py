"""The runtime lock of one toe in plain numbers, for what has to be quick: ``foot_lock.update`` and the parts of
``inertialize`` that it needs, with the same result."""

from typing import NamedTuple

from .inertialize import SHORTEST
from .plain import add, along, length, scaled, sub

_NONE = (0.0, 0.0, 0.0)


class State(NamedTuple):
    """State of a toe: ``position`` as locked, ``source`` as last seen, ``anchor`` the point of the floor, ``locked``;
    the offset that is fading, its ``left`` and ``left_velocity`` when it began, and the ``time`` since, seconds."""

    position: tuple
    source: tuple
    anchor: tuple
    locked: bool = False
    left: tuple = _NONE
    left_velocity: tuple = _NONE
    time: float = 0.0


def start(source):
    """The state at rest on the toe ``source`` (x, y, z)."""
    return State(source, source, source)


def update(state, source, contact, ground_height, delta_time, settings):
    """The state one frame later.

    source: the toe of the animation (x, y, z), world, metres. contact: bool. ground_height: world z at which a toe is
    locked. delta_time: seconds since the last update. settings: FootLockSettings. Returns a new State.
    """
    blend = settings.blend_time
    velocity = scaled(sub(source, state.source), 1.0 / max(delta_time, SHORTEST))
    time, locked, anchor = state.time + delta_time, state.locked, state.anchor
    left, left_velocity = state.left, state.left_velocity
    now, now_velocity = _decayed(left, left_velocity, time, blend)
    position = add(anchor if locked else source, now)
    distance = length(sub(position, source))

    # What is left goes on from where it is, with the difference between what was followed and what is.
    if locked and (not contact or distance > settings.unlock_distance):
        locked = False
        left, left_velocity, time = add(now, sub(anchor, source)), sub(now_velocity, velocity), 0.0
    elif not locked and contact and distance < settings.lock_distance:
        locked, anchor = True, (source[0], source[1], ground_height)
        left, left_velocity, time = add(now, sub(source, anchor)), add(now_velocity, velocity), 0.0
    return State(position, source, anchor, locked, left, left_velocity, time)


def _decayed(position, velocity, time, blend):
    """Position and velocity that are left of an offset after its time."""
    if position == _NONE and velocity == _NONE:
        return _NONE, _NONE
    size = max(blend, SHORTEST)
    t = min(max(time / size, 0.0), 1.0)
    w0 = 2.0 * t * t * t - 3.0 * t * t + 1.0
    w1 = (t * t * t - 2.0 * t * t + t) * blend
    w2 = (6.0 * t * t - 6.0 * t) / size
    w3 = 3.0 * t * t - 4.0 * t + 1.0
    return along(scaled(position, w0), velocity, w1), along(scaled(position, w2), velocity, w3)
