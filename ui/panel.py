"""The Footlock tab: its first panel, and what all panels share. They show what is stored and compute nothing.

The tab is in the sidebar of the 3D viewport. Its first panel and those that belong to the frames of the action are in
the sidebars of the Dope Sheet and the Graph Editor, too.
"""

import textwrap

import bpy
from bpy.app.translations import pgettext_iface as iface_

from ..operators import properties
from ..rig import clip as clips
from ..rig import mapping as legs_of
from ..rig import nla, results, sources
from ..rig.sentences import on_screen
from ..solvers.wording import Said

# How much larger than usual the buttons are that a new user shall see first.
_BUTTON_SCALE = 1.5
# Share of the width that captions take, as in Blender's own panels.
_CAPTION = 0.4
# Pixels that a letter takes on average at a resolution scale of 1, and the fewest letters of a line.
_LETTER, _LEAST_LETTERS = 6.5, 20
# The editors, by what the names of the panels in them end with.
_EDITORS = {"": "VIEW_3D", "_dope_sheet": "DOPESHEET_EDITOR", "_graph": "GRAPH_EDITOR"}


class FootlockPanel:
    """Where the panels are."""

    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Footlock"


class FootlockSubPanel(FootlockPanel):
    """A panel within the first one, collapsed until it is wanted."""

    bl_parent_id = "FOOTLOCK_PT_main"
    bl_options = {"DEFAULT_CLOSED"}

    def split_layout(self):
        """The panel's layout with names left of values, and nothing about keyframes, which settings do not have."""
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        return layout


def in_editors(name, panel):
    """The panel as one class for each editor, the first that of the viewport."""
    parent = getattr(panel, "bl_parent_id", None)
    found = []
    for ending, editor in _EDITORS.items():
        own = {"bl_space_type": editor, "__module__": panel.__module__}
        if parent:
            own["bl_parent_id"] = parent + ending
        found.append(type(name + ending, (panel, bpy.types.Panel), own))
    return tuple(found)


class Main(FootlockPanel):
    bl_label = "Footlock"

    def draw_header_preset(self, context):
        self.layout.emboss = "NONE"
        self.layout.popover(panel="FOOTLOCK_PT_presets", icon="PRESET", text="")

    def draw(self, context):
        layout = self.layout
        settings = context.scene.footlock
        armature = armature_of(context)
        _draw_subject(layout.column(align=True), armature, context.scene)
        buttons = layout.column()
        buttons.scale_y = _BUTTON_SCALE
        detect = buttons.operator("footlock.detect_contacts")
        properties.copy(properties.DetectionProperties, settings, detect)
        remove = buttons.operator("footlock.remove_sliding")
        properties.copy(properties.RemovalProperties, settings, remove)
        if armature is not None:
            _draw_root_hint(layout.column(align=True), armature, settings)
            _draw_way_back(layout.row(align=True), armature)
            action = action_of(armature)
            if action is not None and action.footlock_said:
                draw_text(layout.column(align=True), action.footlock_said, context)


FOOTLOCK_PT_main, *in_other_editors = in_editors("FOOTLOCK_PT_main", Main)
classes = (FOOTLOCK_PT_main, *in_other_editors)


def armature_of(context):
    """The armature that the operators would work on, or None."""
    armature = context.object
    return armature if armature is not None and armature.type == "ARMATURE" else None


def action_of(armature):
    """The action that is shown: that in use, or of the correction layer, or None."""
    return results.subject(armature)


def leg_name(leg):
    """What a leg is called, ready to be shown: a side is translated, a bone's name never."""
    return on_screen(legs_of.leg_of(leg).label or Said("Leg"))


def draw_hint(layout, text, icon="NONE"):
    """A line that is less than the others."""
    row = layout.row()
    row.active = False
    row.label(text=text, icon=icon)


def draw_row(layout, caption, text):
    """A caption, and a text that is not translated."""
    row = layout.split(factor=_CAPTION)
    row.label(text=caption)
    row.label(text=text, translate=False)


def draw_text(layout, text, context):
    """A text in as many lines as it takes in the region."""
    layout.scale_y = 0.8
    for line in wrapped(text, context, _LETTER):
        layout.label(text=line, translate=False)


def wrapped(text, context, letter):
    """The lines of a text that fit into the region, where a letter takes about so many pixels at a scale of 1."""
    region, scale = context.region, context.preferences.system.ui_scale or 1.0  # 0 without a window
    return textwrap.wrap(text, max(int((region.width if region else 0) / (letter * scale)), _LEAST_LETTERS))


def _draw_subject(layout, armature, scene):
    """What the buttons work on, or what to do to give them something."""
    if armature is None:
        draw_hint(layout, "Select the armature of the character", icon="ARMATURE_DATA")
        return
    layout.label(text=armature.name, icon="ARMATURE_DATA", translate=False)
    action = action_of(armature)
    if action is not None:
        layout.label(text=action.name, icon="ACTION", translate=False)
        layout.label(text=_range(action, scene), icon="TIME", translate=False)
        if action.library is not None:
            layout.operator("footlock.copy_action", icon="DUPLICATE")
    strips = results.layer(armature) is None and nla.live_strips(armature.animation_data)
    if strips:
        draw_hint(layout, "NLA strips move it, too" if action else "NLA strips alone move it", icon="NLA")
        layout.operator("footlock.bake_nla", icon="NLA_PUSHDOWN")
    elif action is None:
        draw_hint(layout, "Assign or import an animation", icon="ACTION")


def _range(action, scene):
    """The frames of an action, in words, and those of them that are corrected."""
    first, last = action.frame_range
    frames = {"first": first, "last": last, "seconds": (last - first) / clips.frame_rate(scene)}
    settings = scene.footlock
    if not settings.solve_range:
        return on_screen(Said("Frames {first:g} to {last:g}, {seconds:.1f} s", **frames))
    return on_screen(
        Said(
            "Frames {first:g} to {last:g}, {seconds:.1f} s; fixed {start:d} to {end:d}",
            **frames,
            start=settings.solve_start,
            end=settings.solve_end,
        )
    )


def _draw_root_hint(layout, armature, settings):
    """What the last detection says of the root, and the button that mends it."""
    found = armature.data.footlock
    action = action_of(armature)
    if action is None or found.found_action != action.name or sources.shows_source(armature):
        return
    text = root_words(found)
    if text:
        layout.label(text=text, icon="ERROR", translate=False)
        properties.copy(properties.ResultProperties, settings, layout.operator("footlock.fit_root"))


def root_words(found):
    """What is wrong with the root's travel, ready to be shown; empty where it fits the feet."""
    if found.root_kind == "scale":
        much = found.root_scale > 1.0
        ratio = found.root_scale if much else 1.0 / found.root_scale
        return on_screen(Said("Root {ratio:.2f}× too fast" if much else "Root {ratio:.2f}× too slow", ratio=ratio))
    if found.in_place:
        return iface_("The character walks in place")
    return iface_("The root does not fit the feet") if found.root_kind == "path" else ""


def _draw_way_back(layout, armature):
    """How much of a correction layer shows, the source to compare with, and the way back to it."""
    shown = sources.shows_source(armature)
    if not shown and sources.of(armature) is None:
        return
    if results.layer(armature):
        layout.prop(armature, "footlock_influence", slider=True)
    text = "Show Correction" if shown else "Show Source"
    layout.operator("footlock.compare", text=text, icon="HIDE_OFF", depress=shown)
    layout.operator("footlock.revert", icon="LOOP_BACK")
