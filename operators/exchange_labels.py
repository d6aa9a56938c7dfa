"""Contacts out of and into the action: as a JSON file, and as pose markers for sounds and game events."""

import bpy
import numpy as np
from bpy.props import StringProperty
from bpy_extras.io_utils import ExportHelper, ImportHelper

from ..rig import clip as clips
from ..rig import contact_property, labels, mapping, markers
from ..rig.contact_property import PROTECTED, State
from ..solvers import contacts
from ..solvers.errors import FootlockError
from . import chosen_file
from .base import ActionOperator
from .properties import ClipProperties


def _read(context, armature, unit):
    """The clip and the weights (frames, legs) of its curves."""
    legs = mapping.of(armature)
    clip = clips.read(context.scene, armature, legs, unit)
    found = contact_property.weights(armature, legs, clip.frames)
    if found is None:
        raise FootlockError("The action has no contact curve for these legs: click Detect Contacts first.")
    return clip, found


def _write(armature, legs, frames, found, of_file=False):
    """Write weights (frames, legs) that are the user's own, so that no detection replaces them unasked; curves that are
    locked or muted stay. of_file: they are from a file."""
    kept = {i: state for i, state in enumerate(contact_property.states(armature, legs)) if state in PROTECTED}
    if len(kept) == len(legs.legs):
        raise FootlockError("All contact curves are locked or muted: unlock and unmute those that shall be written.")
    contact_property.write(armature, legs, frames, found, skip=kept, of_file=of_file)
    mapping.remember(armature, legs)
    mapping.forget(armature)
    counts = [len(contacts.runs(found[:, i] > contact_property.LEVEL)) for i in range(found.shape[1])]
    return ", ".join(
        f"{leg.label} {f'kept ({kept[i].value})' if i in kept else f'{count} contacts'}"
        for i, (leg, count) in enumerate(zip(legs.legs, counts, strict=True))
    )


def _silent(armature, legs):
    """Indices of legs whose curve is muted or missing."""
    states = contact_property.states(armature, legs)
    return [i for i, state in enumerate(states) if state in (State.MUTED, State.ABSENT)]


def _silent_note(legs, silent, how):
    names = [legs.legs[i].label for i in silent]
    return f" {', '.join(names)}: the curve is muted or missing and {how}." if names else ""


class FOOTLOCK_OT_export_contacts(ClipProperties, ActionOperator, ExportHelper, bpy.types.Operator):
    bl_idname = "footlock.export_contacts"
    bl_label = "Export Contacts"
    bl_description = "Write the contact curves as a JSON file, one value a frame"
    bl_options = {"REGISTER"}
    remembered = False

    filename_ext = ".json"
    filter_glob: StringProperty(default="*.json", options={"HIDDEN"})

    def run(self, context, armature):
        clip, found = _read(context, armature, self.unit)
        path = chosen_file.path(self.filepath)
        labels.write(path, clip.legs, found, clip.frame_rate, clip.scene_frames[0])
        note = _silent_note(clip.legs, _silent(armature, clip.legs), "is written as 0")
        return f"Contacts of {len(clip.frames)} frames written to “{path.name}”.{note}"


class FOOTLOCK_OT_import_contacts(ClipProperties, ActionOperator, ImportHelper, bpy.types.Operator):
    bl_idname = "footlock.import_contacts"
    bl_label = "Import Contacts"
    bl_description = "Read contact curves from a JSON file that Export Contacts or the batch wrote"

    filename_ext = ".json"
    filter_glob: StringProperty(default="*.json", options={"HIDDEN"})

    def run(self, context, armature):
        legs = mapping.of(armature)
        clip = clips.read(context.scene, armature, legs, self.unit)
        found = labels.read(chosen_file.path(self.filepath), legs, len(clip.frames))
        return f"{_write(armature, legs, clip.frames, found, of_file=True)}."


class FOOTLOCK_OT_contacts_to_markers(ClipProperties, ActionOperator, bpy.types.Operator):
    bl_idname = "footlock.contacts_to_markers"
    bl_label = "Contacts to Markers"
    bl_description = (
        "Write pose markers into the action where a foot comes down and where it lifts, such as “L down” and"
        " “L up”, in place of those that are there"
    )

    def run(self, context, armature):
        clip, found = _read(context, armature, self.unit)
        silent = _silent(armature, clip.legs)
        planted = found > contact_property.LEVEL
        count = markers.write(armature.animation_data.action, clip.legs, clip.frames, planted, silent)
        return f"{count} pose markers written.{_silent_note(clip.legs, silent, 'is left out')}"


class FOOTLOCK_OT_markers_to_contacts(ClipProperties, ActionOperator, bpy.types.Operator):
    bl_idname = "footlock.markers_to_contacts"
    bl_label = "Markers to Contacts"
    bl_description = "Write the contact curves from the pose markers of the action, such as “L down” and “L up”"

    def run(self, context, armature):
        legs = mapping.of(armature)
        clip = clips.read(context.scene, armature, legs, self.unit)
        found, known = markers.read(armature.animation_data.action, legs, clip.frames)
        if not known.any():
            names = ", ".join(f"“{name} down”" for name in markers.tags(legs))
            raise FootlockError(f"The action has no pose marker of a foot, such as {names}: add some first.")
        if not known.all():
            own = contact_property.read(armature, legs, clip.frames)
            found = np.where(known, found, False if own is None else own)
        return f"{_write(armature, legs, clip.frames, found)}."
