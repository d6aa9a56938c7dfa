"""Compare: the source and the correction by turns."""

import bpy
from bpy.app.translations import pgettext_tip as tip_

from ..rig import results, sources
from ..solvers.wording import Said
from .base import ArmatureOperator, muted


class FOOTLOCK_OT_compare(ArmatureOperator, bpy.types.Operator):
    bl_idname = "footlock.compare"
    bl_label = "Compare"
    bl_description = (
        "Switch between the animation as it was before the correction and the corrected one, at the playhead"
    )

    @classmethod
    def poll(cls, context):
        if not super().poll(context):
            return False
        if not sources.shows_source(context.object) and sources.of(context.object) is None:
            hidden = results.muted_layer(context.object)
            cls.poll_message_set(muted() if hidden else tip_("Nothing was corrected yet: click Remove Sliding"))
            return False
        return True

    def run(self, context, armature):
        sources.compare(armature)
        shown = sources.shows_source(armature)
        return Said("The source is shown.") if shown else Said("The correction is shown.")
