"""Why?, Update, Copy, Save and Plot: what the report of contacts says, and where it goes."""

from pathlib import Path

import bpy
import numpy as np
from bpy.app.translations import pgettext_tip as tip_
from bpy.props import StringProperty
from bpy_extras.io_utils import ExportHelper

from ..rig import contact_property, contact_reports, mapping, results, sentences, whole_file
from ..solvers import plot_svg, reasons, report_table
from ..solvers.errors import FootlockError
from ..solvers.wording import Said, counted, together
from . import chosen_file, detect_contacts, report_view, reporting
from .base import ActionOperator, ArmatureOperator
from .properties import ClipProperties

_JSON = ".json"
_LAYER_CHANGED = Said(
    "The layer or the action under it was edited after sliding was removed, or does not show in full: set its influence"
    " to 1, or click Revert first."
)
# Frames further than this outside of the action have nothing to say of.
_OUTSIDE = 0.5 + 1e-3


class _OfReport(ArmatureOperator):
    """Works on the report that the armature's action has."""

    # Nothing is changed that could be undone.
    bl_options = {"REGISTER"}

    @classmethod
    def poll(cls, context):
        if not super().poll(context):
            return False
        if contact_reports.find(context.object) is None:
            cls.poll_message_set(tip_("The action has no report yet: click Detect Contacts"))
            return False
        return True


def current(scene, armature):
    """The Report of what an armature shows. Raises FootlockError where its curves were edited since."""
    kept = contact_reports.find(armature)
    if not contact_reports.is_current(scene, armature, kept):
        if armature.animation_data.action is None:
            raise FootlockError(_LAYER_CHANGED)
        raise FootlockError("Curves, legs or size were edited after the report was made: click Update first.")
    return contact_reports.read(armature, kept)


class FOOTLOCK_OT_explain_frame(ClipProperties, ArmatureOperator, bpy.types.Operator):
    bl_idname = "footlock.explain_frame"
    bl_label = "Why?"
    bl_description = "Say why each foot is planted or free in the current frame: its speed, its height, or by hand"
    bl_options = {"REGISTER"}

    @classmethod
    def poll(cls, context):
        if not super().poll(context):
            return False
        if results.subject(context.object) is None:
            cls.poll_message_set(tip_("Assign or import an animation first"))
            return False
        return True

    def run(self, context, armature):
        scene = context.scene
        said, state = explained(scene, armature, scene.frame_current_final, self.unit)
        view = context.window_manager.footlock_report
        view.answer = "\n".join(map(sentences.on_screen, said))
        view.answered = report_view.key(armature, scene.frame_current_final, state)
        return together(*said)


def explained(scene, armature, frame, unit=0.0):
    """A sentence for each leg why it is planted or free in a frame of the scene, and the state of the curves of which
    that holds. From the report where it holds still, and else from a detection on the clip as it is now."""
    kept = contact_reports.find(armature)
    state = contact_reports.state(scene, armature, kept.bones if kept else "")
    if kept and kept.state == state:
        report = contact_reports.read(armature, kept)
    else:
        if armature.animation_data.action is None:
            raise FootlockError(_LAYER_CHANGED)
        settings = detect_contacts.Settings.of_text(kept.settings if kept else "")
        _, report = measured(scene, armature, mapping.of(armature), settings, unit)
    index = _index(report.frames, frame)
    traces = report.traces
    return [
        reasons.of_frame(
            label,
            reasons.Frame(
                float(traces.weights[index, leg]),
                report.origins[leg],
                bool(traces.detected[index, leg]),
                float(traces.speed[index, leg]),
                float(traces.height[index, leg]),
                report.enter,
                report.highest,
                float(traces.missed[index, leg]),
            ),
        )
        for leg, label in enumerate(report.legs)
    ], state


def measured(scene, armature, legs, settings, unit=0.0):
    """The Clip of an armature's action as it is now, and the Report of that. Raises FootlockError where it cannot be
    read."""
    found = detect_contacts.detect(scene, armature, legs, settings, unit)
    clip = found.clip
    weights = contact_property.weights(armature, legs, clip.frames)
    weights = np.zeros(found.labels.shape) if weights is None else weights
    origins = contact_property.origins(armature, legs)
    return clip, reporting.of_detection(armature, legs, found, weights, origins)()


class FOOTLOCK_OT_update_report(ClipProperties, ActionOperator, bpy.types.Operator):
    bl_idname = "footlock.update_report"
    bl_label = "Update Report"
    bl_description = (
        "Measure the contacts anew as the curves are now. What there was before sliding was removed is not known then"
    )

    def run(self, context, armature):
        legs = mapping.of(armature)
        kept = contact_reports.find(armature)
        results.check_writable(armature)
        settings = detect_contacts.Settings.of_text(kept.settings if kept else "")
        clip, report = measured(context.scene, armature, legs, settings, self.unit)
        reporting.store(context.scene, armature, clip, report, settings)
        mapping.remember(armature, legs)
        return report_table.summary(report)


class FOOTLOCK_OT_copy_report(_OfReport, bpy.types.Operator):
    bl_idname = "footlock.copy_report"
    bl_label = "Copy Report"
    bl_description = "Copy the report as a table, to be pasted into a spreadsheet or a message"

    def run(self, context, armature):
        return copied(current(context.scene, armature), context.window_manager)


def copied(report, manager):
    """Put a Report on the clipboard of the window manager; says so."""
    manager.clipboard = report_table.as_text(report)
    return counted(len(report.rows), "Copied {count} contact.", "Copied {count} contacts.")


class _ToFile(_OfReport, ExportHelper):
    """Writes the report to a file whose name is offered after the action's."""

    def invoke(self, context, event):
        if not self.filepath:
            name = bpy.path.clean_name(contact_reports.find(context.object).id_data.name)
            self.filepath = f"{name}{self.filename_ext}"
        return super().invoke(context, event)

    def write(self, text):
        """Write the file in one step; returns its path."""
        path = chosen_file.path(self.filepath)
        whole_file.write(path, [text.encode("utf-8", "replace")])
        return path


class FOOTLOCK_OT_save_report(_ToFile, bpy.types.Operator):
    bl_idname = "footlock.save_report"
    bl_label = "Save Report"
    bl_description = "Write the report as a table: CSV, or JSON where the name ends in .json"

    filename_ext = ".csv"
    filter_glob: StringProperty(default="*.csv;*.json", options={"HIDDEN"})

    def check(self, context):
        """A name keeps its .json."""
        return False if Path(self.filepath).suffix.lower() == _JSON else super().check(context)

    def run(self, context, armature):
        report = current(context.scene, armature)
        as_json = Path(self.filepath).suffix.lower() == _JSON
        path = self.write(report_table.as_json(report) if as_json else report_table.as_csv(report))
        return counted(
            len(report.rows),
            "{count} contact written to “{file}”.",
            "{count} contacts written to “{file}”.",
            file=path.name,
        )


class FOOTLOCK_OT_save_plot(_ToFile, bpy.types.Operator):
    bl_idname = "footlock.save_plot"
    bl_label = "Save Plot"
    bl_description = "Draw speed, height, labels and slide of each foot as an SVG file, which a browser shows"

    filename_ext = ".svg"
    filter_glob: StringProperty(default="*.svg", options={"HIDDEN"})

    def run(self, context, armature):
        path = self.write(plot_svg.draw(current(context.scene, armature)))
        return Said("Plot written to “{file}”.", file=path.name)


def _index(frames, frame):
    """Index of the frame of a clip that is at, or nearest to, a frame of the scene."""
    step = abs(frames[-1] - frames[0]) / max(len(frames) - 1, 1)
    index = int(np.argmin(np.abs(frames - frame)))
    if abs(frames[index] - frame) > _OUTSIDE * max(step, 1.0):
        first, last = (report_table.frame_text(one) for one in (frames.min(), frames.max()))
        raise FootlockError(
            "Frame {frame} is outside of the action, which goes from {first} to {last}: move the playhead there.",
            frame=report_table.frame_text(frame),
            first=first,
            last=last,
        )
    return index
