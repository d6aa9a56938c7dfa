"""The panel of the live lock."""

import bpy
from bpy.app.translations import pgettext_iface as iface_

from ..rig import live
from .fix_panel import draw_planted
from .panel import FootlockSubPanel


class FOOTLOCK_PT_live(FootlockSubPanel, bpy.types.Panel):
    bl_label = "Live Lock"

    def draw(self, context):
        layout = self.split_layout()
        settings = context.scene.footlock
        armature = context.object
        on = armature is not None and live.is_on(armature)
        buttons = layout.column(align=True)
        text = iface_("Live: On") if on else iface_("Live")
        buttons.operator("footlock.live_lock", text=text, icon="PLAY", depress=on, translate=False)
        buttons.operator("footlock.bake_live", icon="KEY_HLT")
        lock = layout.column(align=True)
        for name in ("lock_distance", "unlock_distance", "blend_time"):
            lock.prop(settings, name)
        thresholds = layout.column()
        # Contact curves stand before thresholds.
        thresholds.active = not (on and live.by_curves(armature))
        draw_planted(thresholds, settings)
        thresholds.prop(settings, "vote")
