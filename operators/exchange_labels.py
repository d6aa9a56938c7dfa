"""Contacts out of and into the action: as a JSON file, and as pose markers for sounds and game events."""

import bpy
import numpy as np
from bpy.props import StringProperty
from bpy_extras.io_utils import ExportHelper, ImportHelper

from ..rig import clip as clips
from ..rig import contact_property, labels, mapping, markers, results
from ..rig.contact_property import PROTECTED, State
from ..solvers import contacts
from ..solvers.errors import FootlockError
from ..solvers.wording import Listed, Said, contacts_of, counted, together
from . import chosen_file
from .base import ActionOperator
from .detect_contacts import kept_words
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
    each = (
        kept_words(leg, kept[i]) if i in kept else contacts_of(leg.label, counts[i]) for i, leg in enumerate(legs.legs)
    )
    return Said("{contacts}.", contacts=Listed(each))


def _silent(armature, legs):
    """Indices of legs whose curve is muted or missing."""
    states = contact_property.states(armature, legs)
    return [i for i, state in enumerate(states) if state in (State.MUTED, State.ABSENT)]


def _labels(legs, which):
    return Listed(legs.legs[i].label for i in which)


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
        written = counted(
            len(clip.frames),
            "Contacts of {count} frame written to “{file}”.",
            "Contacts of {count} frames written to “{file}”.",
            file=path.name,
        )
        silent = _labels(clip.legs, _silent(armature, clip.legs))
        return together(
            written, silent and Said("{legs}: the curve is muted or missing and is written as 0.", legs=silent)
        )


class FOOTLOCK_OT_import_contacts(ClipProperties, ActionOperator, ImportHelper, bpy.types.Operator):
    bl_idname = "footlock.import_contacts"
    bl_label = "Import Contacts"
    bl_description = "Read contact curves from a JSON file that Export Contacts or the batch wrote"

    filename_ext = ".json"
    filter_glob: StringProperty(default="*.json", options={"HIDDEN"})

    def run(self, context, armature):
        results.check_writable(armature)
        legs = mapping.of(armature)
        clip = clips.read(context.scene, armature, legs, self.unit)
        found = labels.read(chosen_file.path(self.filepath), legs, len(clip.frames))
        return _write(armature, legs, clip.frames, found, of_file=True)


class FOOTLOCK_OT_contacts_to_markers(ClipProperties, ActionOperator, bpy.types.Operator):
    bl_idname = "footlock.contacts_to_markers"
    bl_label = "Contacts to Markers"
    bl_description = (
        "Write pose markers into the action where a foot comes down and where it lifts, such as “L down” and"
        " “L up”, in place of those that are there"
    )

    def run(self, context, armature):
        results.check_writable(armature)
        clip, found = _read(context, armature, self.unit)
        silent = _silent(armature, clip.legs)
        planted = found > contact_property.LEVEL
        count = markers.write(armature.animation_data.action, clip.legs, clip.frames, planted, silent)
        names = _labels(clip.legs, silent)
        return together(
            counted(count, "{count} pose marker written.", "{count} pose markers written."),
            names and Said("{legs}: the curve is muted or missing and is left out.", legs=names),
        )


class FOOTLOCK_OT_markers_to_contacts(ClipProperties, ActionOperator, bpy.types.Operator):
    bl_idname = "footlock.markers_to_contacts"
    bl_label = "Markers to Contacts"
    bl_description = "Write the contact curves from the pose markers of the action, such as “L down” and “L up”"

    def run(self, context, armature):
        results.check_writable(armature)
        legs = mapping.of(armature)
        clip = clips.read(context.scene, armature, legs, self.unit)
        found, known = markers.read(armature.animation_data.action, legs, clip.frames)
        if not known.any():
            raise FootlockError(
                "The action has no pose marker of a foot, such as {markers}: add some first.",
                markers=Listed(f"“{name} down”" for name in markers.tags(legs)),
            )
        if not known.all():
            own = contact_property.read(armature, legs, clip.frames)
            found = np.where(known, found, False if own is None else own)
        return _write(armature, legs, clip.frames, found)
