"""What a user does, one file each."""

import bpy

from ..rig import live
from . import (
    bake_nla,
    detect_contacts,
    edit_legs,
    exchange_labels,
    fit_root,
    leg_presets,
    live_lock,
    map_legs,
    remove_sliding,
    revert,
)

classes = (
    map_legs.FOOTLOCK_OT_map_legs,
    edit_legs.FOOTLOCK_OT_add_leg,
    edit_legs.FOOTLOCK_OT_add_hands,
    edit_legs.FOOTLOCK_OT_mirror_leg,
    edit_legs.FOOTLOCK_OT_remove_leg,
    edit_legs.FOOTLOCK_OT_choose_legs,
    leg_presets.FOOTLOCK_OT_save_leg_preset,
    leg_presets.FOOTLOCK_OT_load_leg_preset,
    leg_presets.FOOTLOCK_OT_delete_leg_preset,
    detect_contacts.FOOTLOCK_OT_detect_contacts,
    fit_root.FOOTLOCK_OT_fit_root,
    remove_sliding.FOOTLOCK_OT_remove_sliding,
    live_lock.FOOTLOCK_OT_live_lock,
    live_lock.FOOTLOCK_OT_bake_live,
    revert.FOOTLOCK_OT_revert,
    revert.FOOTLOCK_OT_copy_action,
    bake_nla.FOOTLOCK_OT_bake_nla,
    exchange_labels.FOOTLOCK_OT_export_contacts,
    exchange_labels.FOOTLOCK_OT_import_contacts,
    exchange_labels.FOOTLOCK_OT_contacts_to_markers,
    exchange_labels.FOOTLOCK_OT_markers_to_contacts,
)


def register():
    for cls in classes:
        bpy.utils.register_class(cls)


def unregister():
    live.stop_all()
    for cls in reversed(classes):
        bpy.utils.unregister_class(cls)
