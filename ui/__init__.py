"""Settings and panels."""

import bpy

from . import overlay, overlay_panel, overlay_settings, panel, settings, timeline_bars

# Parents before their sub-panels, which are shown in this order.
classes = (
    settings.FootlockSettings,
    *overlay_settings.classes,
    panel.FOOTLOCK_MT_leg_presets,
    panel.FOOTLOCK_PT_main,
    panel.FOOTLOCK_PT_result,
    panel.FOOTLOCK_PT_found,
    panel.FOOTLOCK_PT_legs,
    panel.FOOTLOCK_PT_contacts,
    panel.FOOTLOCK_PT_removal,
    overlay_panel.FOOTLOCK_PT_overlay,
    panel.FOOTLOCK_PT_advanced,
)


def register():
    for cls in classes:
        bpy.utils.register_class(cls)
    settings.register()
    overlay_settings.register()
    overlay.register()
    timeline_bars.register()


def unregister():
    timeline_bars.unregister()
    overlay.unregister()
    overlay_settings.unregister()
    settings.unregister()
    for cls in reversed(classes):
        bpy.utils.unregister_class(cls)
