"""The list of contacts, worst first: choosing one goes to its worst frame."""

import time

import bpy
from bpy.app.translations import pgettext_iface as iface_

from ..operators import properties, report_view
from ..rig import contact_reports, names, results
from ..rig.sentences import on_screen
from ..solvers import reasons, report_table
from ..solvers.wording import out_of_reach
from .panel import FootlockSubPanel, draw_hint, draw_row, wrapped

_MM = 1000.0
# A toe that is left further than this from its place, metres, is marked.
_LEFT = 1e-3
# Looking whether the curves were edited takes up at most this part of the time.
_SHARE = 0.02
# Widths of the columns of the list, as parts of what is left.
_LEG, _FRAMES = 0.24, 0.42
# About so many letters of a sentence fit into the panel's width, pixels of one letter.
_LETTER = 8.0
_ROWS = 6
# Millimetres from which on tenths are left out.
_WHOLE = 100.0


class FOOTLOCK_UL_contacts(bpy.types.UIList):
    """Contacts of a report: leg, frames, and how far the toe gets from its place before and after."""

    def draw_item(self, context, layout, data, item, icon, active_data, active_property, index):
        armature = context.object
        row = layout.split(factor=_LEG)
        row.label(text=_leg_name(data, item), translate=False)
        row = row.split(factor=_FRAMES)
        row.label(text=_frames(armature, data, item), translate=False)
        row = row.row(align=True)
        row.label(text=_slide(data, item), translate=False)
        if item.missed:
            row.label(text="", icon="ERROR")
        elif data.corrected and item.residual > _LEFT:
            row.label(text="", icon="MOD_PHYSICS")

    def filter_items(self, context, data, name):
        leg = data.legs.find(context.window_manager.footlock_report.leg)
        return [self.bitflag_filter_item if leg < 0 or item.leg == leg else 0 for item in data.contacts], []

    def draw_filter(self, context, layout):
        """The legs are chosen under the list."""


class FOOTLOCK_PT_report(FootlockSubPanel, bpy.types.Panel):
    bl_label = "Report"
    bl_options = set()  # open: it comes only with a run, and is what one goes through after it

    @classmethod
    def poll(cls, context):
        armature = context.object
        return armature is not None and armature.type == "ARMATURE" and results.subject(armature) is not None

    def draw(self, context):
        layout = self.layout
        armature, view = context.object, context.window_manager.footlock_report
        kept = contact_reports.find(armature)
        state = _glance(context, armature, kept)
        settings = context.scene.footlock
        if kept is None:
            draw_hint(layout, "Detect Contacts lists them here")
        else:
            if state != kept.state:
                stale = layout.column(align=True)
                stale.label(text="Curves, legs or size were edited since", icon="ERROR")
                properties.copy(
                    properties.ClipProperties,
                    settings,
                    stale.operator("footlock.update_report", text="Update", icon="FILE_REFRESH"),
                )
            draw_hint(layout, "Contacts: mm from the toe's place")
            column = layout.column()
            column.active = state == kept.state
            column.template_list("FOOTLOCK_UL_contacts", "", kept, "contacts", view, "index", rows=_ROWS)
            if len(kept.legs) > 1:
                column.prop_search(view, "leg", kept, "legs")
            if 0 <= view.index < len(kept.contacts):
                _draw_contact(column.box().column(align=True), kept, kept.contacts[view.index], context)
            files = layout.row(align=True)
            files.operator("footlock.copy_report", text="Copy", icon="COPYDOWN")
            files.operator_context = "INVOKE_DEFAULT"
            files.operator("footlock.save_report", text="Save…", icon="FILE_TICK")
            files.operator("footlock.save_plot", text="Plot…", icon="GRAPH")
        why = layout.operator("footlock.explain_frame", icon="QUESTION")
        properties.copy(properties.ClipProperties, settings, why)
        if view.answer and view.answered == report_view.key(armature, context.scene.frame_current_final, state):
            _draw_wrapped(layout.box().column(align=True), view.answer, context)


# What the last look was at, when it was, what it took, and what was seen.
_last_look = {}


def _glance(context, armature, kept):
    """The state of the curves, as of a moment ago: while an animation plays, and where looking takes long, not every
    redraw looks."""
    about = (armature.name_full, results.subject(armature).name_full, kept.bones if kept else "")
    now = time.perf_counter()
    known = _last_look.get("about") == about
    playing = context.screen is not None and context.screen.is_animation_playing
    if known and (playing or now - _last_look["at"] < _last_look["took"] / _SHARE):
        return _last_look["state"]
    state = contact_reports.state(context.scene, armature, about[2])
    then = time.perf_counter()
    _last_look.update(about=about, at=then, took=then - now, state=state)
    return state


def _leg_name(kept, item):
    return on_screen(names.labelled(kept.legs[item.leg].name))


def _frames(armature, kept, item):
    first, last = (contact_reports.frame(armature, kept, index) for index in (item.first, item.last))
    return f"{report_table.frame_text(first)}–{report_table.frame_text(last)}"


def _slide(kept, item):
    before = _millimetres(item.away_before)
    return f"{before} → {_millimetres(item.residual)}" if kept.corrected else before


def _millimetres(metres):
    """As short as it may be: the list is narrow."""
    value = _MM * metres
    return f"{value:.0f}" if value >= _WHOLE else f"{value:.1f}"


def _draw_contact(layout, kept, item, context):
    """All that is known of the chosen contact."""
    after = kept.corrected
    for caption, before, left in (
        ("Mean step", item.mean_before, item.mean_after),
        ("Largest step", item.largest_before, item.largest_after),
        ("First to last", item.drift_before, item.drift_after),
        ("From its place", item.away_before, item.residual),
    ):
        text = iface_("{:.2f} → {:.2f} mm") if after else iface_("{:.2f} mm")
        draw_row(layout, caption, text.format(*((_MM * before, _MM * left) if after else (_MM * before,))))
    draw_row(
        layout, "Over the floor", iface_("{:.2f} m/s, {:.1f} cm high").format(item.mean_speed, 100.0 * item.mean_height)
    )
    if item.missed:
        layout.label(text=on_screen(out_of_reach(item.missed)), icon="ERROR", translate=False)
    row = contact_reports.row_of(kept, item)
    why = on_screen(reasons.of_contact(row, kept.enter, kept.highest))
    _draw_wrapped(layout, why[:1].upper() + why[1:], context)


def _draw_wrapped(layout, text, context):
    """Lines that fit into the panel, of a text with one or several."""
    for sentence in text.split("\n"):
        for i, line in enumerate(wrapped(sentence, context, _LETTER)):
            layout.label(text=line, icon="BLANK1" if i else "DOT", translate=False)
