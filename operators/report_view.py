"""What the list of contacts shows: the chosen row, the leg, and the last answer to Why. It is the window manager's, so
that choosing a row is nothing to undo, and is not part of the file's own data."""

import math

import bpy
from bpy.props import IntProperty, PointerProperty, StringProperty

from ..rig import contact_reports


def _jump(view, context):
    """Bring the playhead to the frame of the chosen row that is to be looked at."""
    armature = context.object
    kept = contact_reports.find(armature) if armature is not None and armature.type == "ARMATURE" else None
    if kept is None or not 0 <= view.index < len(kept.contacts):
        return
    frame = contact_reports.frame(armature, kept, kept.contacts[view.index].worst)
    # A hair beside a whole frame is that frame.
    frame = round(frame) if abs(frame - round(frame)) < _SAME_FRAME else frame
    whole = math.floor(frame)
    context.scene.frame_set(whole, subframe=min(frame - whole, _LAST_SUBFRAME))


_SAME_FRAME, _LAST_SUBFRAME = 2e-3, 0.99999


class FootlockReportView(bpy.types.PropertyGroup):
    """The state of the list of contacts."""

    index: IntProperty(
        name="Contact", description="Row of the list; choosing one goes to its worst frame", default=-1,
        update=_jump, options={"SKIP_SAVE"},
    )  # fmt: skip
    leg: StringProperty(
        name="Leg", description="Show the contacts of this leg only; empty for all", options={"SKIP_SAVE"}
    )
    answer: StringProperty(name="Answer", description="Why the feet are planted or free", options={"SKIP_SAVE"})
    answered: StringProperty(
        name="Answered", description="What was asked about: armature, frame and state of its curves",
        options={"SKIP_SAVE"},
    )  # fmt: skip


def key(armature, frame, state):
    """What an answer is about."""
    return f"{armature.name_full} {frame:.3f} {state}"


def register():
    bpy.utils.register_class(FootlockReportView)
    bpy.types.WindowManager.footlock_report = PointerProperty(
        type=FootlockReportView, name="Footlock Report", description="What the list of contacts shows"
    )


def unregister():
    del bpy.types.WindowManager.footlock_report
    bpy.utils.unregister_class(FootlockReportView)
