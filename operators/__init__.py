"""What a user does, one file each."""

import bpy

from ..rig import live
from . import (
    bake_nla,
    compare,
    contact_report,
    detect_contacts,
    edit_contacts,
    edit_legs,
    exchange_labels,
    fit_root,
    leg_presets,
    live_lock,
    long_work,
    map_legs,
    refresh_overlay,
    remove_sliding,
    report_view,
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
    edit_contacts.FOOTLOCK_OT_edit_contact,
    edit_contacts.FOOTLOCK_OT_move_footprint,
    edit_contacts.FOOTLOCK_OT_reset_footprint,
    compare.FOOTLOCK_OT_compare,
    live_lock.FOOTLOCK_OT_live_lock,
    live_lock.FOOTLOCK_OT_bake_live,
    revert.FOOTLOCK_OT_revert,
    revert.FOOTLOCK_OT_copy_action,
    bake_nla.FOOTLOCK_OT_bake_nla,
    refresh_overlay.FOOTLOCK_OT_refresh_overlay,
    exchange_labels.FOOTLOCK_OT_export_contacts,
    exchange_labels.FOOTLOCK_OT_import_contacts,
    exchange_labels.FOOTLOCK_OT_contacts_to_markers,
    exchange_labels.FOOTLOCK_OT_markers_to_contacts,
    contact_report.FOOTLOCK_OT_explain_frame,
    contact_report.FOOTLOCK_OT_update_report,
    contact_report.FOOTLOCK_OT_copy_report,
    contact_report.FOOTLOCK_OT_save_report,
    contact_report.FOOTLOCK_OT_save_plot,
)


def register():
    report_view.register()
    for cls in classes:
        bpy.utils.register_class(cls)
    long_work.register()


def unregister():
    long_work.unregister()
    live.stop_all()
    for cls in reversed(classes):
        bpy.utils.unregister_class(cls)
    report_view.unregister()
