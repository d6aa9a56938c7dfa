"""The contact curve: a custom property on the bone that bears a leg's label, animated in the action in use."""

import numpy as np

from ..solvers.errors import FootlockError
from . import compat, curves

NAME = "contact"
# A value above this is a contact.
LEVEL = 0.5


def read(armature, legs, frames):
    """Labels (frames, legs) bool as the curves have them at ``frames``; a leg without a curve has none. None where no
    leg has a curve."""
    paths = curves.by_path(armature)
    columns = []
    for leg in legs.legs:
        curve = paths.get((_path(armature, leg), 0))
        columns.append(curves.sample(curve, frames) > LEVEL if curve and len(curve.keyframe_points) else None)
    if all(column is None for column in columns):
        return None
    return np.stack([np.zeros(len(frames), bool) if column is None else column for column in columns], axis=1)


def write(armature, legs, frames, labels):
    """Bake labels (frames, legs) into one stepped curve a leg, with keys only where they change."""
    for leg in legs.legs:
        if not isinstance(armature.pose.bones[leg.bearer].get(NAME, 0.0), (int, float)):
            raise FootlockError(
                f"Bone “{leg.bearer}” has a property “{NAME}” of its own that is no number: rename that property."
            )
    for i, leg in enumerate(legs.legs):
        pose_bone = armature.pose.bones[leg.bearer]
        pose_bone[NAME] = 0.0
        pose_bone.id_properties_ui(NAME).update(
            min=0.0,
            max=1.0,
            soft_min=0.0,
            soft_max=1.0,
            default=0.0,
            precision=2,
            description="1 while this foot is planted, 0 while it is free",
        )
        pose_bone.property_overridable_library_set(f'["{NAME}"]', True)
        values = labels[:, i].astype(float)
        keyed = np.concatenate([[True], values[1:] != values[:-1]])
        curve = compat.ensure_fcurve(armature, _path(armature, leg), 0, leg.bearer)
        curve.mute = False
        curve.keyframe_points.clear()
        curves.write(curve, frames[keyed], values[keyed], "CONSTANT")


def _path(armature, leg):
    # Blender gives the path of a property only while it exists; that of the bone it always gives.
    return f'{armature.pose.bones[leg.bearer].path_from_id()}["{NAME}"]'
