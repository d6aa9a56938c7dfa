"""Find Legs: map the leg bones of the active armature by their names, or by the shape of the skeleton."""

import bpy
from bpy.props import BoolProperty, StringProperty

from ..rig import mapping
from ..rig.names import Leg, LegMap
from ..solvers.errors import FootlockError
from ..solvers.wording import counted, together
from .base import ArmatureOperator, legs_notes


class FOOTLOCK_OT_map_legs(ArmatureOperator, bpy.types.Operator):
    bl_idname = "footlock.map_legs"
    bl_label = "Find Legs"
    bl_description = (
        "Find the pelvis and the bones of each leg by their names and the shape of the skeleton; where these tell of"
        " different legs, it is asked. Given bones are taken instead: thigh, shin, foot and toe of each leg"
    )

    pelvis: StringProperty(
        name="Pelvis", description="Bone between the legs; empty to find it by its name", options={"SKIP_SAVE"}
    )
    left: StringProperty(
        name="Left Leg",
        description="Thigh, shin, foot and, where there is one, toe, separated by |; empty to find it",
        options={"SKIP_SAVE"},
    )
    right: StringProperty(
        name="Right Leg",
        description="Thigh, shin, foot and, where there is one, toe, separated by |; empty to find it",
        options={"SKIP_SAVE"},
    )

    hands: BoolProperty(
        name="Hands",
        description="Find the arms, too, so that hands can be planted: for crawls, cartwheels, climbing",
        default=False,
        options={"SKIP_SAVE"},
    )

    def run(self, context, armature):
        given = tuple(_leg(side, bones) for side, bones in (("L", self.left), ("R", self.right)) if bones)
        if given:
            legs = LegMap(self.pelvis or _parent_of(armature, given[0].thigh), given)
            mapping.check(armature, legs)
        else:
            legs = mapping.find(armature)
            if self.pelvis:
                legs = LegMap(self.pelvis, legs.legs)
                mapping.check(armature, legs)
        if self.hands:
            legs = mapping.with_hands(armature, legs)
            mapping.check(armature, legs)
        mapping.store(armature, legs)
        return together(mapping.said(legs), *legs_notes(legs))


def _leg(side, bones):
    names = [name.strip() for name in bones.split("|")]
    if not 3 <= len(names) <= 4:
        raise FootlockError(
            counted(
                len(names),
                "A leg is thigh, shin, foot and perhaps toe, and “{bones}” names {count} bone: give three or four,"
                " separated by |.",
                "A leg is thigh, shin, foot and perhaps toe, and “{bones}” names {count} bones: give three or four,"
                " separated by |.",
                bones=bones,
            )
        )
    return Leg(side, *names)


def _parent_of(armature, thigh):
    bone = armature.data.bones.get(thigh)
    return bone.parent.name if bone and bone.parent else ""
