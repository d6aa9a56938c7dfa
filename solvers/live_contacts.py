"""Contact labels while a clip plays: by the thresholds of ``contacts``, from what is past.

A majority vote looks ahead, so in its place there are two things: a foot is planted when it has been slow and low for
half the time of the vote, and it is free again when it is clearly faster or higher than that. Labels do not flutter,
and come later than those of the vote by no more than it reaches.
"""

from math import exp
from typing import NamedTuple

import numpy as np

from . import arguments
from .plain import along, length, scaled, sub

# Seconds in which the velocity of a toe settles: a trembling toe has none.
_SETTLES = 1.0 / 60.0
# A planted foot is free when it is so many times as fast, or as high, as one that becomes planted may be.
_LEAVE = 1.25
# Part of a frame by which frames may come early.
_EARLY = 0.01


class Thresholds(NamedTuple):
    """``velocity``: m/s below which, and ``height``: metres over the floor below which a toe may be planted. ``vote``:
    seconds, half of which it has to be. ``floor``: world z, metres."""

    velocity: float = 0.25
    height: float = 0.1
    vote: float = 1.0 / 12.0
    floor: float = 0.0


class State(NamedTuple):
    """A toe: where it was, its ``velocity``, None before there is one, whether it is ``planted``, and for how many
    seconds it ``may`` have been."""

    toe: tuple
    velocity: tuple | None = None
    planted: bool = False
    may: float = 0.0


def start(toe):
    """The state of a toe (x, y, z) of which nothing is known but its place."""
    return State(toe)


def update(state, toe, delta_time, thresholds):
    """The State ``delta_time`` seconds later, when the toe is at (x, y, z), world, metres."""
    velocity = scaled(sub(toe, state.toe), 1.0 / delta_time)
    fresh = state.velocity is None
    if not fresh:
        velocity = along(velocity, sub(state.velocity, velocity), exp(-delta_time / _SETTLES))
    speed, height = length(velocity), toe[2] - thresholds.floor
    if state.planted:
        leaves = speed >= _LEAVE * thresholds.velocity or height >= _LEAVE * thresholds.height
        return State(toe, velocity, not leaves)
    may = state.may + delta_time if speed < thresholds.velocity and height < thresholds.height else 0.0
    lasts = fresh or may >= 0.5 * thresholds.vote - _EARLY * delta_time
    return State(toe, velocity, may > 0.0 and lasts, may)


def detect(toes, frame_rate, thresholds):
    """The labels (frames, legs) bool that playing a clip gives. toes: (frames, legs, 3), world, metres; frame_rate: Hz.
    In the first frame no foot is planted. Raises ValueError as ``contacts.detect`` does."""
    toes = arguments.toes(toes, frame_rate, least=0)
    labels = np.zeros(toes.shape[:2], bool)
    for leg in range(toes.shape[1]):
        path = [tuple(toe) for toe in toes[:, leg].tolist()]
        state = start(path[0]) if path else None
        for i, toe in enumerate(path[1:], 1):
            state = update(state, toe, 1.0 / frame_rate, thresholds)
            labels[i, leg] = state.planted
    return labels
