"""Save, load and delete presets of legs."""

import bpy
from bpy.props import StringProperty

from ..rig import mapping, presets
from ..solvers.errors import FootlockError
from ..solvers.wording import Said
from .base import ArmatureOperator


class FOOTLOCK_OT_save_leg_preset(ArmatureOperator, bpy.types.Operator):
    bl_idname = "footlock.save_leg_preset"
    bl_label = "Save Legs as Preset"
    bl_description = "Save which bones the legs are, for other characters with the same bones"

    name: StringProperty(name="Name", description="What the preset is called", options={"SKIP_SAVE"})

    def invoke(self, context, _event):
        self.name = self.name or presets.suggested(context.object.name)
        return context.window_manager.invoke_props_dialog(self)

    def run(self, context, armature):
        saved = presets.save(self.name, mapping.of(armature))
        return Said("Legs saved as “{preset}”.", preset=saved)


class FOOTLOCK_OT_load_leg_preset(ArmatureOperator, bpy.types.Operator):
    bl_idname = "footlock.load_leg_preset"
    bl_label = "Load Legs from Preset"
    bl_description = "Take the legs of a preset, whose bones this armature must have"

    name: StringProperty(name="Name", description="Which preset", options={"SKIP_SAVE"})

    def run(self, context, armature):
        legs = presets.load(self.name)
        missing = presets.lacking(legs, armature.data.bones)
        if missing is not None:
            raise FootlockError(
                "The preset “{preset}” needs the bone “{bone}”, which “{armature}” does not have: choose the"
                " preset of another rig, or click Find Legs.",
                preset=self.name,
                bone=missing,
                armature=armature.name,
            )
        mapping.check(armature, legs)
        mapping.store(armature, legs)
        return Said("Legs of the preset “{preset}”: {legs}.", preset=self.name, legs=mapping.described(legs))


class FOOTLOCK_OT_delete_leg_preset(ArmatureOperator, bpy.types.Operator):
    bl_idname = "footlock.delete_leg_preset"
    bl_label = "Delete Preset of Legs"
    bl_description = "Delete a preset of legs. Armatures keep theirs"

    name: StringProperty(name="Name", description="Which preset", options={"SKIP_SAVE"})

    def run(self, context, armature):
        presets.remove(self.name)
        return Said("Preset “{preset}” deleted.", preset=self.name)
