"""Settings and panels."""

import bpy

from . import contacts_panel, fix_panel, legs_panel, panel, presets_panel, result_panel, settings

# Parents before their sub-panels, which are shown in this order.
classes = (
    settings.FootlockSettings,
    *presets_panel.classes,
    *panel.classes,
    *legs_panel.classes,
    fix_panel.FOOTLOCK_PT_floor,
    *contacts_panel.classes,
    fix_panel.FOOTLOCK_PT_fix,
    *result_panel.classes,
    fix_panel.FOOTLOCK_PT_advanced,
)


def register():
    for cls in classes:
        bpy.utils.register_class(cls)
    settings.register()
    presets_panel.register()


def unregister():
    presets_panel.unregister()
    settings.unregister()
    for cls in reversed(classes):
        bpy.utils.unregister_class(cls)
