"""Runtime foot locking: a causal state for each toe, as a game would run it.

From the article's ``UpdateFootLockingState``, with the mended transition of ``inertialize``. In contact a toe follows
a fixed point of the floor, otherwise the source; it changes between the two by inertialization.
"""

from dataclasses import dataclass

import numpy as np

from . import inertialize
from . import rotations as rot


@dataclass(frozen=True)
class FootLockSettings:
    """``lock_distance``: metres; a toe further than this from the source does not lock. ``unlock_distance``: metres;
    a locked toe from which the source has gone further than this is let go. ``blend_time``: seconds of a change."""

    lock_distance: float = 0.01
    unlock_distance: float = 0.25
    blend_time: float = 0.5


@dataclass(frozen=True)
class FootLockState:
    """State of toes (legs,): ``position`` (legs, 3) as locked, ``source`` (legs, 3) as last seen, ``anchor`` (legs,
    3) the point of the floor, ``locked`` (legs,) bool, ``offset``."""

    position: np.ndarray
    source: np.ndarray
    anchor: np.ndarray
    locked: np.ndarray
    offset: inertialize.Offset


def start(source):
    """The state at rest on the toes ``source`` (legs, 3)."""
    source = np.array(source, float)
    shape = source.shape[:-1]
    return FootLockState(source, source, source, np.zeros(shape, bool), inertialize.Offset.none(shape))


def update(state, source, contact, ground_height, delta_time, settings=FootLockSettings()):
    """The state one frame later.

    source: (legs, 3) toes of the animation, world, metres. contact: (legs,) bool. ground_height: scalar or (legs,),
    world z at which a toe is locked. delta_time: seconds since the last update. Returns a new FootLockState.
    """
    source_velocity = (source - state.source) / max(delta_time, inertialize.SHORTEST)
    still = np.zeros_like(source)
    locked = state.locked[..., None]
    offset = inertialize.advanced(state.offset, delta_time)
    left, _ = inertialize.decayed(offset, settings.blend_time)
    position = np.where(locked, state.anchor, source) + left

    distance = rot.length(position - source)[..., 0]
    locks = ~state.locked & contact & (distance < settings.lock_distance)
    unlocks = state.locked & (~contact | (distance > settings.unlock_distance))
    anchor = np.where(locks[..., None], source, state.anchor)
    anchor[..., 2] = np.where(locks, ground_height, anchor[..., 2])

    follow, hold = (source, source_velocity), (anchor, still)
    if locks.any():
        offset = inertialize.transition(offset, locks, follow, hold, settings.blend_time)
    if unlocks.any():
        offset = inertialize.transition(offset, unlocks, hold, follow, settings.blend_time)
    return FootLockState(position, source, anchor, (state.locked | locks) & ~unlocks, offset)


def lock(toes, contacts, ground_height, delta_time, settings=FootLockSettings()):
    """The runtime lock over a whole clip: toes (frames, legs, 3) → locked positions (frames, legs, 3) and locked
    (frames, legs) bool.

    contacts: (frames, legs) bool; ground_height: scalar or (legs,); delta_time: seconds a frame. The loop over frames
    is the method's own: each frame's state depends on the one before.
    """
    toes = np.asarray(toes, float)
    contacts = np.asarray(contacts, bool)
    if toes.ndim != 3 or toes.shape[-1] != 3 or contacts.shape != toes.shape[:-1]:
        raise ValueError(
            f"expected toes (frames, legs, 3) and contacts (frames, legs), got {toes.shape} and {contacts.shape}"
        )
    positions, locked = toes.copy(), np.zeros(contacts.shape, bool)
    if len(toes) == 0:
        return positions, locked
    state = start(toes[0])
    for i in range(len(toes)):
        state = update(state, toes[i], contacts[i], ground_height, delta_time, settings)
        positions[i], locked[i] = state.position, state.locked
    return positions, locked
