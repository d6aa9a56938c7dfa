"""Result: how much the last run helped."""

from bpy.app.translations import pgettext_iface as iface_

from ..rig.sentences import on_screen
from ..solvers.wording import counted, out_of_reach
from .panel import FootlockSubPanel, action_of, armature_of, draw_hint, draw_row, in_editors, leg_name

_MM = 1000.0


class Result(FootlockSubPanel):
    bl_label = "Result"
    bl_options = set()  # open: it comes only with a run, and is what the run was for

    @classmethod
    def poll(cls, context):
        armature = armature_of(context)
        action = action_of(armature) if armature is not None else None
        return action is not None and armature.data.footlock.result_action == action.name

    def draw(self, context):
        layout = self.layout
        draw_hint(layout, "Slide of planted feet per frame")
        for leg in armature_of(context).data.footlock.legs:
            _draw_leg(layout.box().column(align=True), leg)


classes = in_editors("FOOTLOCK_PT_result", Result)


def _draw_leg(layout, leg):
    counts = counted(leg.contacts, "{leg}: {count} contact", "{leg}: {count} contacts", leg=leg_name(leg))
    layout.label(text=on_screen(counts), translate=False)
    _draw_slide(layout, "Mean", leg.slide_before, leg.slide_after)
    _draw_slide(layout, "Largest", leg.largest_before, leg.largest_after)
    if leg.out_of_reach:
        layout.label(text=on_screen(out_of_reach(leg.out_of_reach)), icon="ERROR", translate=False)


def _draw_slide(layout, caption, before, after):
    draw_row(layout, caption, iface_("{:.2f} → {:.2f} mm").format(before * _MM, after * _MM))
