"""Add Leg and Remove Leg: the list of legs by hand, where the names of the bones do not tell."""

import bpy
from bpy.props import EnumProperty, IntProperty

from ..rig import mapping as mappings
from ..solvers.errors import FootlockError
from .base import ArmatureOperator

_SIDES = {"LEFT": "L", "RIGHT": "R", "NONE": ""}


class FOOTLOCK_OT_add_leg(ArmatureOperator, bpy.types.Operator):
    bl_idname = "footlock.add_leg"
    bl_label = "Add Leg"
    bl_description = "Add a leg whose bones are chosen by hand"

    side: EnumProperty(
        name="Side",
        description="The side of the body that the leg is on",
        items=(
            ("LEFT", "Left", "A leg on the character's left"),
            ("RIGHT", "Right", "A leg on the character's right"),
            ("NONE", "No Side", "A leg that is neither left nor right, called by its bone"),
        ),
    )

    def run(self, context, armature):
        mappings.check_listed(armature)
        mapping = armature.data.footlock
        leg = mapping.legs.add()
        leg.side = _SIDES[self.side]
        mapping.result_action = ""
        return "Leg added: choose its thigh, shin and foot."


class FOOTLOCK_OT_remove_leg(ArmatureOperator, bpy.types.Operator):
    bl_idname = "footlock.remove_leg"
    bl_label = "Remove Leg"
    bl_description = "Take this leg off the list. Its bones and their animation stay as they are"

    index: IntProperty(name="Index", description="Which leg of the list, from 0", default=0, min=0, soft_max=8)

    def run(self, context, armature):
        mappings.check_listed(armature)
        mapping = armature.data.footlock
        if self.index >= len(mapping.legs):
            raise FootlockError(f"There is no leg {self.index} to remove: the list has {len(mapping.legs)}.")
        mapping.legs.remove(self.index)
        mapping.result_action = ""
        return "Leg removed."
