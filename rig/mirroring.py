"""The bones of a leg's mirror image: those of the other side's names, or where names have no side those in the mirrored
places."""

from dataclasses import replace

import numpy as np

from ..solvers.errors import FootlockError
from . import words

_OTHER = {"L": "R", "R": "L"}
# Bones begin in mirrored places where they are no further apart than this share of the leg's length.
_NEAR = 0.03


def mirrored(leg, pelvis, bones):
    """The Leg on the other side. bones: dict of name → Rest, any order; ``pelvis``: name of the bone in the middle.
    Raises FootlockError where a bone has no mirror image."""
    side = leg.side or next((side for name in leg.bones if (side := words.read(name).side)), "")
    if not side:
        raise FootlockError("A leg that is neither left nor right has no other side: choose its side first.")
    missing = [name for name in (leg.thigh, leg.shin, leg.foot, *leg.bones) if name not in bones]
    if missing:
        raise FootlockError(
            "Bone “{bone}” is not in the armature: choose the bones of this leg first."
            if missing[0]
            else "The leg lacks a bone: choose the bones of this leg first.",
            bone=missing[0],
        )
    found = [_named(name, bones) for name in leg.bones]
    if None in found:
        placed = _placed(leg.bones, pelvis, bones)
        found = [by_name or by_place for by_name, by_place in zip(found, placed, strict=True)]
    if None in found:
        name = leg.bones[found.index(None)]
        raise FootlockError("No bone mirrors “{bone}”: choose the bones of the other leg by hand.", bone=name)
    by_role = dict(zip(leg.bones, found, strict=True))
    roles = {role: by_role.get(getattr(leg, role), "") for role in ("thigh", "shin", "foot", "toe")}
    return replace(leg, side=_OTHER[side], **roles)


def _named(name, bones):
    """The bone that is called the same but for the side; of several the one with the most of the name, letter by
    letter. None without."""
    read = words.read(name)
    if not read.side:
        return None
    wanted = replace(read, side=_OTHER[read.side])
    same = [other for other in bones if words.read(other) == wanted]
    return max(same, key=lambda other: (_alike(name, other), other), default=None)


def _alike(one, other):
    """How many letters two names share at their beginning and their end."""

    def shared(a, b):
        return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))

    return shared(one, other) + shared(one[::-1], other[::-1])


def _placed(names, pelvis, bones):
    """The bones in the places mirrored through the pelvis along the axis that has most there; None for the others."""
    heads = {name: np.asarray(bone.head, float) for name, bone in bones.items()}
    chain = np.array([heads[name] for name in names])
    limit = _NEAR * np.linalg.norm(np.diff(chain, axis=0), axis=1).sum()
    centre = heads.get(pelvis, chain[0])
    tried = []
    for axis in range(3):
        mirror = np.where(np.arange(3) == axis, -1.0, 1.0)
        found = []
        for name in names:
            place = centre + mirror * (heads[name] - centre)
            near = min(bones, key=lambda other: (float(np.linalg.norm(heads[other] - place)), other))
            found.append(near if np.linalg.norm(heads[near] - place) < limit and near not in names else None)
        tried.append(found)
    return min(tried, key=lambda found: found.count(None))
