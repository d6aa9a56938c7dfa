"""Revert and Copy Action: back from a corrected copy or layer, and a copy to work on."""

import bpy

from ..rig import mapping, results
from ..solvers.errors import FootlockError
from .base import ActionOperator, ArmatureOperator


class FOOTLOCK_OT_revert(ArmatureOperator, bpy.types.Operator):
    bl_idname = "footlock.revert"
    bl_label = "Revert"
    bl_description = (
        "Go back from the corrected copy, or the correction layer, to the action that it was made from. It works after"
        " the file was saved and opened, too"
    )

    @classmethod
    def poll(cls, context):
        if not super().poll(context):
            return False
        if results.original(results.subject(context.object)) is None:
            cls.poll_message_set("The action is no copy or layer that Footlock made of another")
            return False
        return True

    def run(self, context, armature):
        action = results.revert(armature)
        mapping.forget(armature)
        return f"“{armature.name}” has its action “{action.name}” again."


class FOOTLOCK_OT_copy_action(ActionOperator, bpy.types.Operator):
    bl_idname = "footlock.copy_action"
    bl_label = "Copy Action"
    bl_description = (
        "Work on a copy of the action in use, as one that is linked from another file cannot be changed. Revert goes"
        " back"
    )

    def run(self, context, armature):
        if armature.animation_data.use_tweak_mode:
            raise FootlockError("A strip is being tweaked: leave tweak mode (Tab in the NLA Editor) and run again.")
        base = armature.animation_data.action
        copy = results.copy_action(armature)
        return f"“{copy.name}” is a copy of “{base.name}”: Revert goes back."
