"""Refresh: read anew what the overlay shows, where that takes stepping the scene's frames."""

import bpy

from ..rig import trail_cache
from ..solvers.errors import FootlockError
from ..solvers.wording import Said
from .base import ArmatureOperator


class FOOTLOCK_OT_refresh_overlay(ArmatureOperator, bpy.types.Operator):
    bl_idname = "footlock.refresh_overlay"
    bl_label = "Refresh"
    bl_description = (
        "Read anew what the overlay shows. On control rigs and under a correction layer the frames are played for it;"
        " on others it happens by itself"
    )
    bl_options = {"REGISTER"}  # nothing of the file changes

    def run(self, context, armature):
        entry = trail_cache.refresh(context.scene, armature, step=True)
        if entry.trails is None:
            raise FootlockError(entry.why)
        return Said("The paths of “{armature}” were read.", armature=armature.name)
