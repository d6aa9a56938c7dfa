"""Bake from NLA: what the strips play as one action, to work on."""

import bpy
from bpy.app.translations import pgettext_tip as tip_

from ..rig import mapping, nla_bake
from ..solvers.wording import counted
from .base import ArmatureOperator
from .long_work import LongWork


class FOOTLOCK_OT_bake_nla(LongWork, ArmatureOperator, bpy.types.Operator):
    bl_idname = "footlock.bake_nla"
    bl_label = "Bake from NLA"
    bl_description = (
        "Make one action of what the NLA strips play, with a key on every frame, and mute their tracks. The strips and"
        " their actions stay as they are"
    )

    @classmethod
    def poll(cls, context):
        if not super().poll(context):
            return False
        if not nla_bake.can(context.object):
            cls.poll_message_set(tip_("No NLA strip moves the armature"))
            return False
        return True

    def work(self, context, armature):
        action, curves = yield from nla_bake.baking(context.scene, armature)
        mapping.forget(armature)
        first, last = action.frame_range
        return counted(
            curves,
            "“{action}” has what the strips play, {count} curve from frame {first:.0f} to {last:.0f}.",
            "“{action}” has what the strips play, {count} curves from frame {first:.0f} to {last:.0f}.",
            action=action.name,
            first=first,
            last=last,
        )
