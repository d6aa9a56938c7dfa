"""Detect Contacts: label when each foot is planted, as a curve in the action."""

from dataclasses import dataclass

import bpy
import numpy as np
from bpy.props import FloatProperty

from ..rig import clip as clips
from ..rig import contact_property, mapping
from ..solvers import contacts
from ..solvers.errors import FootlockError
from .base import ArmatureOperator, one_leg_note


@dataclass(frozen=True)
class Detection:
    """``labels`` (frames, legs) bool of a ``clip``, over a ``floor`` at this height, world z in metres."""

    clip: clips.Clip
    labels: np.ndarray
    floor: float

    def counts(self):
        """How many contacts each leg has."""
        return [len(contacts.runs(self.labels[:, leg])) for leg in range(self.labels.shape[1])]


def detect(scene, armature, legs, settings=contacts.ThresholdSettings(), unit=0.0):
    """Detect the contacts of an armature's action, without writing anything. Raises FootlockError where there are none."""
    clip = clips.read(scene, armature, legs, unit)
    toes = clip.leg_pose().toe
    floor = contacts.floor_height(toes)
    labels = contacts.detect(toes, clip.frame_rate, floor, settings).labels
    if not labels.any():
        raise FootlockError("No contact was found: raise the speed or height threshold, or key the contact curves by hand.")
    return Detection(clip, labels, floor)


class FOOTLOCK_OT_detect_contacts(ArmatureOperator, bpy.types.Operator):
    bl_idname = "footlock.detect_contacts"
    bl_label = "Detect Contacts"
    bl_description = "Find when each foot is planted and write it as a curve, the property “contact” of the toe bone, which can be edited like any curve"

    velocity: FloatProperty(
        name="Speed", description="A toe slower than this may be planted, metres per second", default=0.25, min=0.0, soft_max=2.0, unit="VELOCITY"
    )
    height: FloatProperty(
        name="Height", description="A toe lower than this over the floor may be planted, metres", default=0.1, min=0.0, soft_max=0.5, unit="LENGTH"
    )
    vote: FloatProperty(
        name="Vote",
        description="Labels that differ from most of the others in this time are changed, seconds",
        default=1.0 / 12.0, min=0.0, soft_max=0.5, precision=3, subtype="TIME_ABSOLUTE",
    )  # fmt: skip
    smoothing: FloatProperty(
        name="Smoothing",
        description="Standard deviation of the Gaussian that smooths the labels before they are cut at Level, seconds; 0 for none",
        default=0.0, min=0.0, soft_max=0.2, precision=3, subtype="TIME_ABSOLUTE",
    )  # fmt: skip
    level: FloatProperty(
        name="Level", description="Smoothed labels above this are a contact", default=0.5, min=0.0, max=1.0, subtype="FACTOR"
    )
    unit: FloatProperty(name="Unit", description="Metres of one unit of the scene; 0 to judge it from the legs", default=0.0, min=0.0, soft_max=1.0, precision=6)

    def run(self, context, armature):
        legs = mapping.of(armature)
        settings = contacts.ThresholdSettings(self.velocity, self.height, self.vote, self.smoothing, self.level)
        found = detect(context.scene, armature, legs, settings, self.unit)
        if not len(armature.data.footlock.legs):
            mapping.store(armature, legs)
        contact_property.write(armature, legs, found.clip.frames, found.labels)
        counts = ", ".join(f"{leg.label} {count} contacts" for leg, count in zip(legs.legs, found.counts(), strict=True))
        return f"{counts}.{one_leg_note(legs)}"
