"""The root: the bone, or bones, that carry a character over the ground."""

import numpy as np

from . import names


def keyed(clip):
    """The highest bone above the pelvis, or the pelvis, that has keys on its location; None without."""
    animated = [name for name in _upwards(clip) if len(clip.channels[clip.index(name)].location) > 1]
    return animated[-1] if animated else None


def travelling(clip):
    """The bone by whose travel feet are judged: the keyed one, or else the pelvis."""
    return keyed(clip) or clip.legs.pelvis


def carrying(clip):
    """The bones that carry pelvis and feet alike, in a tuple: the keyed one, or, where that leaves a foot behind or
    there is none, the highest. Where they hang from no bone in common, as of legs that were baked from a control rig,
    all that hang from nothing."""
    parents = _parents(clip)
    if clip.controls is not None and clip.controls.constrained:
        common = clip.controls.carriers
    else:
        limbs = [bone for leg in clip.legs.legs for bone in (leg.thigh, leg.foot)]
        common = [
            bone
            for bone in _upwards(clip)
            if all(bone == limb or bone in names.ancestors(limb, parents) for limb in limbs)
        ]
    if not common:
        own = _upwards(clip)[-1]
        return (own, *(name for name, parent in parents.items() if parent is None and name != own))
    bone = keyed(clip)
    return (bone if bone in common else common[-1],)


def tops(armature):
    """Names of the bones that hang from nothing."""
    return tuple(bone.name for bone in armature.data.bones if bone.parent is None)


def travel(clip, bone):
    """How far a bone's head is from where it is in the first frame, level: (frames, 3), metres, world."""
    head = clip.head(bone)
    return (head - head[0]) * np.array([1.0, 1.0, 0.0])


def _upwards(clip):
    """The pelvis and the bones above it, nearest first."""
    return [clip.legs.pelvis, *names.ancestors(clip.legs.pelvis, _parents(clip))]


def _parents(clip):
    return {bone.name: clip.bones[bone.parent].name if bone.parent >= 0 else None for bone in clip.bones}
