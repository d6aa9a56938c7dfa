"""The Overlay section of the panel."""

import bpy

from ..rig import trail_cache
from ..rig.sentences import on_screen
from .panel import FootlockSubPanel


class FOOTLOCK_PT_overlay(FootlockSubPanel, bpy.types.Panel):
    bl_label = "Overlay"

    def draw_header(self, context):
        self.layout.prop(context.scene.footlock_overlay, "show", text="")

    def draw(self, context):
        layout = self.split_layout()
        settings = context.scene.footlock_overlay
        _draw_state(layout, context)
        drawn = layout.column(align=True)
        drawn.active = settings.show
        for name in ("paths", "footprints", "slides", "source", "ghost"):
            drawn.prop(settings, name)
        layout.prop(settings, "bars")
        path = layout.column(align=True)
        path.active = settings.show and settings.paths
        path.prop(settings, "line_width")
        path.prop(settings, "reach")
        colours = layout.column(align=True)
        for name in ("planted", "free", "sliding", "out_of_reach", "source_colour", "left", "right"):
            colours.prop(settings, name)


def _draw_state(layout, context):
    """What is missing in the overlay, where something is, and the button that reads it."""
    armature = context.object
    if armature is None or armature.type != "ARMATURE":
        return
    entry = trail_cache.current(context.scene, armature)
    if entry is not None and entry.why:
        row = layout.row()
        row.active = False
        row.label(text=on_screen(entry.why), icon="INFO", translate=False)
    if entry is not None and (entry.stale or entry.trails is None):
        layout.operator("footlock.refresh_overlay", icon="FILE_REFRESH")
