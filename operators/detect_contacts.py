"""Detect Contacts: label when each foot is planted, as a curve in the action."""

from dataclasses import dataclass

import bpy
import numpy as np

from ..rig import clip as clips
from ..rig import contact_property, mapping
from ..solvers import contacts
from ..solvers.errors import FootlockError
from .base import ActionOperator, one_leg_note
from .properties import DetectionProperties

_DEFAULT = contacts.ThresholdSettings()


@dataclass(frozen=True)
class Detection:
    """``labels`` (frames, legs) bool of a ``clip``, over a ``floor`` at this height, world z in metres."""

    clip: clips.Clip
    labels: np.ndarray
    floor: float

    def counts(self):
        """How many contacts each leg has."""
        return [len(contacts.runs(self.labels[:, leg])) for leg in range(self.labels.shape[1])]


def detect(scene, armature, legs, settings=_DEFAULT, unit=0.0):
    """Detect the contacts of an armature's action, without writing anything. Raises FootlockError where there are
    none."""
    clip = clips.read(scene, armature, legs, unit)
    toes = clip.leg_pose().toe
    floor = contacts.floor_height(toes)
    labels = contacts.detect(toes, clip.frame_rate, floor, settings).labels
    if not labels.any():
        raise FootlockError(
            "No contact was found: raise the speed or height threshold, or key the contact curves by hand."
        )
    return Detection(clip, labels, floor)


class FOOTLOCK_OT_detect_contacts(DetectionProperties, ActionOperator, bpy.types.Operator):
    bl_idname = "footlock.detect_contacts"
    bl_label = "Detect Contacts"
    bl_description = (
        "Find when each foot is planted and write it as a curve, the property “contact” of"
        " the toe bone, which can be edited like any curve"
    )

    def run(self, context, armature):
        legs = mapping.of(armature)
        settings = contacts.ThresholdSettings(self.velocity, self.height, self.vote, self.smoothing, self.level)
        found = detect(context.scene, armature, legs, settings, self.unit)
        contact_property.write(armature, legs, found.clip.frames, found.labels)
        if not len(armature.data.footlock.legs):
            mapping.store(armature, legs)
        armature.data.footlock.result_action = ""
        counts = ", ".join(
            f"{leg.label} {count} contacts" for leg, count in zip(legs.legs, found.counts(), strict=True)
        )
        return f"{counts}.{one_leg_note(legs)}"
