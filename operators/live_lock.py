"""Live Lock: the feet are locked while the clip plays, and Bake writes the same as keys."""

import bpy

from ..rig import contact_property, footprints, live, live_legs, mapping
from ..rig.stepwise import part
from ..solvers import contact_report, contacts, foot_lock, foot_skate, leg_chain
from ..solvers.errors import FootlockError
from ..solvers.wording import Said
from . import properties, remove_sliding
from .base import ActionOperator
from .long_work import LongWork


def settings(scene):
    """The live_legs.Settings that stand in the panel. Raises FootlockError where these are no numbers to work with."""
    given = scene.footlock
    properties.check(given)
    return live_legs.Settings(
        foot_lock.FootLockSettings(given.lock_distance, given.unlock_distance, given.blend_time),
        leg_chain.LegChainSettings(softening=given.softening),
        contacts.ThresholdSettings(
            None if given.auto_velocity else given.velocity, None if given.auto_height else given.height, given.vote
        ),
        None if given.auto_floor else given.floor,
        given.unit,
    )


class FOOTLOCK_OT_live_lock(ActionOperator, bpy.types.Operator):
    bl_idname = "footlock.live_lock"
    bl_label = "Live Lock"
    bl_description = (
        "Lock planted feet while the clip plays, as a game would, by the settings below. No key is written;"
        " scrubbing backwards or jumping begins anew"
    )
    bl_options = {"REGISTER"}  # nothing that could be undone is changed

    @classmethod
    def poll(cls, context):
        armature = context.object
        return (armature is not None and live.is_on(armature)) or super().poll(context)

    def run(self, context, armature):
        if live.is_on(armature):
            live.stop(armature)
            return Said("Live Lock is off; the pose is as it was.")
        live.start(context.scene, armature, mapping.of(armature), settings)
        if live.by_curves(armature):
            return Said("Live Lock is on, feet are planted by their contact curves: play the clip.")
        return Said("Live Lock is on, feet are planted by the thresholds under Live Lock: play the clip.")


class FOOTLOCK_OT_bake_live(LongWork, ActionOperator, bpy.types.Operator):
    bl_idname = "footlock.bake_live"
    bl_label = "Bake"
    bl_description = (
        "Write what Live Lock shows as keys, from the first frame on, and switch it off: as Remove Sliding does with"
        " the method Runtime. Where there are no contact curves, feet are planted by the thresholds below"
    )

    def work(self, context, armature):
        scene, given, legs = context.scene, settings(context.scene), mapping.of(armature)
        edit = None
        if not any(contact_property.labelled(armature, legs)):
            found = yield from part(live_legs.labelling(scene, armature, legs, given), 0.0, 0.2)
            if not found.any():
                raise FootlockError(
                    "No foot is planted by these thresholds: raise the speed or height, or click Detect Contacts first."
                )
            origins = [contact_report.FOUND] * len(legs.legs)
            edit = remove_sliding.Edit(lambda _: found, footprints.stored(armature), origins, write=lambda: None)
        # It begins with what is shown, corrected or not, and not with the source of that.
        options = remove_sliding.Options(result=scene.footlock.result, keep_source=True)
        lock = foot_skate.Settings("runtime", given.chain, given.lock)
        removing = remove_sliding.removing_reported(scene, armature, legs, lock, given.unit, options, edit)
        done = yield from part(removing, 0.2, 1.0)
        live.stop(armature)
        return remove_sliding.sentence(legs, done)
