"""Settings and panels."""

import bpy

from . import panel, report_panel, settings

# Parents before their sub-panels, which are shown in this order.
classes = (
    settings.FootlockSettings,
    panel.FOOTLOCK_MT_leg_presets,
    panel.FOOTLOCK_PT_main,
    panel.FOOTLOCK_PT_result,
    panel.FOOTLOCK_PT_found,
    report_panel.FOOTLOCK_UL_contacts,
    report_panel.FOOTLOCK_PT_report,
    panel.FOOTLOCK_PT_legs,
    panel.FOOTLOCK_PT_contacts,
    panel.FOOTLOCK_PT_removal,
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
