"""Settings and panels."""

import bpy

from . import (
    batch_settings,
    contacts_panel,
    fix_panel,
    footprint_tool,
    legs_panel,
    live_panel,
    overlay,
    overlay_panel,
    overlay_settings,
    panel,
    presets_panel,
    report_panel,
    result_panel,
    settings,
    timeline_bars,
)

# Parents before their sub-panels, which are shown in this order.
classes = (
    settings.FootlockSettings,
    batch_settings.FOOTLOCK_OT_save_settings,
    *presets_panel.classes,
    *overlay_settings.classes,
    *panel.classes,
    *legs_panel.classes,
    fix_panel.FOOTLOCK_PT_floor,
    *contacts_panel.classes,
    fix_panel.FOOTLOCK_PT_fix,
    *result_panel.classes,
    report_panel.FOOTLOCK_UL_contacts,
    report_panel.FOOTLOCK_PT_report,
    live_panel.FOOTLOCK_PT_live,
    overlay_panel.FOOTLOCK_PT_overlay,
    fix_panel.FOOTLOCK_PT_advanced,
    *footprint_tool.classes,
)


def register():
    for cls in classes:
        bpy.utils.register_class(cls)
    settings.register()
    presets_panel.register()
    overlay_settings.register()
    overlay.register()
    timeline_bars.register()


def unregister():
    timeline_bars.unregister()
    overlay.unregister()
    overlay_settings.unregister()
    presets_panel.unregister()
    settings.unregister()
    for cls in reversed(classes):
        bpy.utils.unregister_class(cls)
