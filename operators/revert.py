"""Revert and Copy Action: back from a corrected copy or layer, and a copy to work on."""

import bpy
from bpy.app.translations import pgettext_tip as tip_

from ..rig import footprints, mapping, results, sources
from ..solvers.errors import FootlockError
from ..solvers.wording import Said, together
from .base import ActionOperator, ArmatureOperator, moved_note, muted


class FOOTLOCK_OT_revert(ArmatureOperator, bpy.types.Operator):
    bl_idname = "footlock.revert"
    bl_label = "Revert"
    bl_description = (
        "Go back to the animation as it was before the correction: to its keys, or to the action that a copy or a layer"
        " was made from. It works after the file was saved and opened, too"
    )

    @classmethod
    def poll(cls, context):
        if not super().poll(context):
            return False
        if sources.compared(context.object) is not None:
            cls.poll_message_set(tip_("The source is shown for comparison: click Compare to go back"))
            return False
        if sources.of(context.object) is None:
            hidden = results.muted_layer(context.object)
            cls.poll_message_set(muted() if hidden else tip_("The action was not corrected by Footlock"))
            return False
        return True

    def run(self, context, armature):
        if sources.in_place(armature):
            _check_own(armature.animation_data.action)
            action = sources.revert(armature)
            mapping.forget(armature)
            back = Said("“{action}” is as it was before the correction. Its contacts are kept.", action=action.name)
            return together(back, moved_note(len(footprints.stored(armature))))
        action = results.revert(armature)
        mapping.forget(armature)
        return Said("“{armature}” has its action “{action}” again.", armature=armature.name, action=action.name)


def _check_own(action):
    """Raise FootlockError for an action of another file that was corrected there."""
    if action.library is not None:
        raise FootlockError(
            "The action “{action}” is linked from another file and was corrected there: open that file to revert it.",
            action=action.name,
        )


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
        return Said("“{copy}” is a copy of “{action}”: Revert goes back.", copy=copy.name, action=base.name)
