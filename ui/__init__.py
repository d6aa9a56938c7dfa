"""Settings and panels."""

import bpy

from . import live_panel, panel, settings

# Parents before their sub-panels, which are shown in this order.
classes = (
    settings.FootlockSettings,
    panel.FOOTLOCK_MT_leg_presets,
    panel.FOOTLOCK_PT_main,
    panel.FOOTLOCK_PT_result,
    panel.FOOTLOCK_PT_found,
    panel.FOOTLOCK_PT_legs,
    panel.FOOTLOCK_PT_contacts,
    panel.FOOTLOCK_PT_removal,
    live_panel.FOOTLOCK_PT_live,
    panel.FOOTLOCK_PT_advanced,
)


def register():
    for cls in classes:
        bpy.utils.register_class(cls)
    settings.register()


def unregister():
    settings.unregister()
    for cls in reversed(classes):
        bpy.utils.unregister_class(cls)
