"""The root: the bone, or bones, that carry a character over the ground."""

import numpy as np

from ..solvers.errors import FootlockError
from . import names


def keyed(clip):
    """The highest bone above the pelvis, or the pelvis, that has keys on its location; None without."""
    animated = [name for name in _upwards(clip) if len(clip.channels[clip.index(name)].location) > 1]
    return animated[-1] if animated else None


def travelling(clip):
    """The bone by whose travel feet are judged: the keyed one, or else the pelvis."""
    return keyed(clip) or clip.legs.pelvis


def carrying(armature, clip):
    """The bones (names) that carry pelvis and feet alike: the keyed one, or, where that leaves a foot behind or there
    is none, the highest; where the feet hang from no bone in common with the pelvis, all that hang from none. Raises
    FootlockError where one of these has nothing to do with the legs."""
    parents = _parents(clip)
    limbs = [bone for leg in clip.legs.legs for bone in (leg.thigh, leg.foot)]
    common = [
        bone for bone in _upwards(clip) if all(bone == limb or bone in names.ancestors(limb, parents) for limb in limbs)
    ]
    if common:
        bone = keyed(clip)
        return (bone if bone in common else common[-1],)
    tops = [bone.name for bone in armature.data.bones if bone.parent is None]
    left = next((name for name in tops if name not in parents), None)
    if left:
        raise FootlockError(
            f"The feet and “{clip.legs.pelvis}” hang from no bone in common, and “{left}” would be left behind: parent"
            " them all to a root bone."
        )
    first = _upwards(clip)[-1]
    return (first, *(name for name in tops if name != first))


def travel(clip, bone):
    """How far a bone's head is from where it is in the first frame, level: (frames, 3), metres, world."""
    head = clip.head(bone)
    return (head - head[0]) * np.array([1.0, 1.0, 0.0])


def _upwards(clip):
    """The pelvis and the bones above it, nearest first."""
    return [clip.legs.pelvis, *names.ancestors(clip.legs.pelvis, _parents(clip))]


def _parents(clip):
    return {bone.name: clip.bones[bone.parent].name if bone.parent >= 0 else None for bone in clip.bones}
