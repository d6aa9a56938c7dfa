"""Floor, Fix and Advanced: how the correction is made."""

import bpy

from ..operators import properties
from .panel import FootlockSubPanel, draw_hint


class FOOTLOCK_PT_floor(FootlockSubPanel, bpy.types.Panel):
    bl_label = "Floor"

    def draw(self, context):
        layout = self.split_layout()
        settings = context.scene.footlock
        if settings.method == "runtime":
            draw_hint(layout, "The runtime lock takes the floor as it is")
        floor = layout.column(align=True)
        floor.active = settings.method == "offline"
        floor.prop(settings, "ground")
        if settings.ground == "HEIGHT":
            floor.prop(settings, "ground_height")
        elif settings.ground == "OBJECT":
            row = floor.row()
            row.alert = settings.ground_object not in context.scene.objects
            row.prop_search(settings, "ground_object", context.scene, "objects")
            floor.prop(settings, "follow_slope")
        floor.prop(settings, "keep_dips")


class FOOTLOCK_PT_fix(FootlockSubPanel, bpy.types.Panel):
    bl_label = "Fix"

    def draw(self, context):
        layout = self.split_layout()
        settings = context.scene.footlock
        layout.prop(settings, "result")
        properties.copy(properties.ResultProperties, settings, layout.operator("footlock.fit_root"))
        if settings.method == "runtime":
            draw_hint(layout, "The runtime lock moves the legs alone")
        whole = layout.column()
        whole.active = settings.method == "offline"
        for group in (("keep_path", "lower_hips", "stretch"), ("hold_heading", "cyclic")):
            column = whole.column(align=True)
            for name in group:
                column.prop(settings, name)


class FOOTLOCK_PT_advanced(FootlockSubPanel, bpy.types.Panel):
    bl_label = "Advanced"

    def draw(self, context):
        layout = self.split_layout()
        settings = context.scene.footlock
        _draw_detection(layout.column(heading="Detection"), settings)
        layout.separator()
        layout.prop(settings, "method")
        if settings.method == "runtime":
            lock = layout.column(align=True)
            for name in ("lock_distance", "unlock_distance", "blend_time"):
                lock.prop(settings, name)
        else:
            _draw_whole_clip(layout, settings)
        layout.separator()
        layout.prop(settings, "softening")
        unit = layout.column(align=True)
        unit.prop(settings, "unit")
        if settings.unit == 0.0:
            draw_hint(unit, "0: judged from the length of the legs")


classes = (FOOTLOCK_PT_floor, FOOTLOCK_PT_fix, FOOTLOCK_PT_advanced)


def _draw_detection(layout, settings):
    layout.prop(settings, "mode")
    if settings.mode == "THRESHOLD":
        _draw_thresholds(layout, settings)
    _draw_range(layout.column(align=True), settings, "use_range", "range_start", "range_end")
    layout.prop(settings, "replace_edited")
    layout.prop(settings, "bake")


def _draw_thresholds(layout, settings):
    draw_planted(layout, settings)
    cleaned = layout.column(align=True)
    cleaned.prop(settings, "vote")
    cleaned.prop(settings, "smoothing")
    level = cleaned.column(align=True)
    level.active = settings.smoothing > 0.0
    level.prop(settings, "level")


def draw_planted(layout, settings):
    """The thresholds below which a foot may be planted, each with a switch that has it chosen."""
    planted = layout.column(align=True)
    for name in ("velocity", "height", "floor"):
        row = planted.row(align=True)
        value = row.row(align=True)
        value.active = not getattr(settings, f"auto_{name}")
        value.prop(settings, name)
        row.prop(settings, f"auto_{name}", text="", icon="AUTO")


def _draw_whole_clip(layout, settings):
    layout.prop(settings, "smooth_time")
    keys = layout.column(align=True)
    keys.prop(settings, "keys")
    if settings.keys == "REDUCED":
        keys.prop(settings, "key_tolerance")
    if settings.cyclic:
        draw_hint(layout, "A loop has no first and last pose, and no range")
    pins = layout.column(align=True)
    pins.active = not settings.cyclic
    pins.prop(settings, "pin_first")
    pins.prop(settings, "pin_last")
    _draw_range(pins.column(align=True), settings, "solve_range", "solve_start", "solve_end")


def _draw_range(layout, settings, switch, first, last):
    layout.prop(settings, switch)
    frames = layout.column(align=True)
    frames.active = getattr(settings, switch)
    frames.prop(settings, first)
    frames.prop(settings, last)
