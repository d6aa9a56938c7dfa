"""Where contacts shall stand, moved or turned by hand: kept with the action whose contacts they are.

A footprint is known by a frame within its contact, so that it stays with it when that is trimmed or split, and goes
with it. Its place is kept in the space of the armature, which it goes with when the character is put elsewhere.
"""

import json
from dataclasses import asdict, dataclass, replace

import numpy as np

from ..solvers import contacts, foot_skate
from . import compat, contact_property

_FOOTPRINTS = "footlock_footprints"


@dataclass(frozen=True)
class Footprint:
    """``bone`` that bears the contact; ``frame`` of the action within it; ``place`` of the toe in armature space, or
    None where only the rest is given; ``lift`` over the ground, metres; ``turn`` about the vertical, radians."""

    bone: str
    frame: float
    place: tuple | None = None
    lift: float = 0.0
    turn: float = 0.0


def stored(armature):
    """The Footprints of the action in use."""
    found = armature.animation_data.action.get(_key(armature))
    return [Footprint(**one) for one in json.loads(found)] if isinstance(found, str) else []


def store(armature, found):
    """Store Footprints with the action in use, in place of those that are there."""
    action = armature.animation_data.action
    if found:
        action[_key(armature)] = json.dumps([asdict(one) for one in found])
    else:
        action.pop(_key(armature), None)


def of_contact(found, bone, *spans):
    """That of Footprints which belongs to a contact from one frame of the action to another, or None. A contact has two
    ``spans`` where a cyclic motion begins anew within it."""
    return next((one for one in found if _within(one, bone, spans)), None)


def without(found, bone, *spans):
    """Footprints but for those of contacts from one frame of the action to another."""
    return [one for one in found if not _within(one, bone, spans)]


def moved(found, bone, spans, when):
    """Footprints when a contact has come to other frames: ``when`` is the new one as a function of the old one."""
    return [replace(one, frame=when(one.frame)) if _within(one, bone, spans) else one for one in found]


def prune(armature, legs, frames, weights):
    """Forget those of legs whose contact is gone, weights (frames, legs) at frames (n,) of the action; returns how many
    are left."""
    found, planted = stored(armature), weights > contact_property.LEVEL
    spans = {
        leg.bearer: [(frames[start], frames[stop - 1]) for start, stop in contacts.runs(planted[:, i])]
        for i, leg in enumerate(legs.legs)
    }
    left = [one for one in found if one.bone not in spans or _within(one, one.bone, spans[one.bone])]
    store(armature, left)
    return len(left)


def given(clip, weights, found):
    """The foot_skate.Placements of a Clip whose contacts have ``weights`` (frames, legs), as Footprints say; None
    without any. Those whose contact is gone mean nothing."""
    if not found:
        return None
    shape, planted = weights.shape, weights > contact_property.LEVEL
    made = foot_skate.Placements(np.full((*shape, 2), np.nan), np.zeros(shape), np.zeros(shape))
    for i, leg in enumerate(clip.legs.legs):
        for start, stop in contacts.runs(planted[:, i]):
            span = clip.frames[start], clip.frames[stop - 1]
            footprint = of_contact(found, leg.bearer, span)
            if footprint is None:
                continue
            if footprint.place is not None:
                made.places[start:stop, i] = world(clip, footprint)[:2]
            made.lift[start:stop, i], made.turn[start:stop, i] = footprint.lift, footprint.turn
    return made


def world(clip, footprint):
    """The place (3,) of a Footprint in the world, metres."""
    matrix = _space(clip, footprint.frame)
    return matrix[:3, :3] @ np.array(footprint.place) + matrix[:3, 3]


def in_armature(clip, frame, place):
    """A place (3,) in the world, metres, in the space that the armature has in a frame of the action."""
    matrix = _space(clip, frame)
    return tuple(np.linalg.solve(matrix[:3, :3], np.asarray(place, float) - matrix[:3, 3]).tolist())


def _space(clip, frame):
    if len(clip.world_from_armature) == 1:
        return clip.world_from_armature[0]
    return clip.world_from_armature[np.abs(clip.frames - frame).argmin()]


def _within(footprint, bone, spans):
    return footprint.bone == bone and any(first <= footprint.frame <= last for first, last in spans)


def _key(armature):
    return f"{_FOOTPRINTS}_{compat.slot_handle(armature)}"
