"""Add Leg, Add Hands, Mirror Leg, Remove Leg and the choice between legs: the list of legs by hand."""

import bpy
from bpy.props import EnumProperty, IntProperty

from ..rig import mapping, mirroring, names
from ..solvers.errors import FootlockError
from ..solvers.wording import Listed, Said
from .base import ArmatureOperator

_SIDES = {"LEFT": "L", "RIGHT": "R", "NONE": ""}
_PLACES = {"ONLY": "", "FRONT": "Front", "MIDDLE": "Middle", "HIND": "Hind", "HAND": names.HAND}


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
    place: EnumProperty(
        name="Place",
        description="Where the leg is on the body",
        items=(
            ("ONLY", "Only One", "The only leg of its side"),
            ("FRONT", "Front", "A front leg"),
            ("MIDDLE", "Middle", "A leg between the front and the hind leg"),
            ("HIND", "Hind", "A hind leg"),
            ("HAND", "Hand", "An arm that is planted as a leg: upper arm, forearm, hand and a finger"),
        ),
    )

    def run(self, context, armature):
        mapping.check_listed(armature)
        stored = armature.data.footlock
        leg = stored.legs.add()
        leg.side, leg.place = _SIDES[self.side], _PLACES[self.place]
        stored.result_action = ""
        return Said("Leg added: choose its thigh, shin and foot.")


class FOOTLOCK_OT_add_hands(ArmatureOperator, bpy.types.Operator):
    bl_idname = "footlock.add_hands"
    bl_label = "Add Hands"
    bl_description = "Add the arms as legs, so that hands can be planted: for crawls, cartwheels, climbing"

    def run(self, context, armature):
        legs = mapping.with_hands(armature, mapping.of(armature))
        mapping.check(armature, legs)
        mapping.store(armature, legs)
        return Said("Hands added: {legs}.", legs=mapping.described(legs))


class FOOTLOCK_OT_mirror_leg(ArmatureOperator, bpy.types.Operator):
    bl_idname = "footlock.mirror_leg"
    bl_label = "Mirror Leg"
    bl_description = "Fill in the leg of the other side by the names of this one's bones, or by where they are"

    index: IntProperty(name="Index", description="Which leg of the list, from 0", default=0, min=0, soft_max=8)

    def run(self, context, armature):
        mapping.check_listed(armature)
        stored = armature.data.footlock
        item = _item(stored, self.index, Said("mirror"))
        leg = mirroring.mirrored(mapping.leg_of(item), stored.pelvis, mapping.rest(armature))
        same = [one for one in stored.legs if one != item and (one.side, one.place) == (leg.side, leg.place)]
        mapping.store_leg(same[0] if same else stored.legs.add(), leg)
        stored.result_action = stored.found_action = ""
        return Said("{leg}: {bones}.", leg=leg.label, bones=Listed(leg.bones))


class FOOTLOCK_OT_remove_leg(ArmatureOperator, bpy.types.Operator):
    bl_idname = "footlock.remove_leg"
    bl_label = "Remove Leg"
    bl_description = "Take this leg off the list. Its bones and their animation stay as they are"

    index: IntProperty(name="Index", description="Which leg of the list, from 0", default=0, min=0, soft_max=8)

    def run(self, context, armature):
        mapping.check_listed(armature)
        stored = armature.data.footlock
        _item(stored, self.index, Said("remove"))
        stored.legs.remove(self.index)
        stored.result_action = ""
        return Said("Leg removed.")


class FOOTLOCK_OT_choose_legs(ArmatureOperator, bpy.types.Operator):
    bl_idname = "footlock.choose_legs"
    bl_label = "Choose Legs"
    bl_description = "Take these bones for the legs, where it is not clear which they are"

    index: IntProperty(name="Index", description="Which of the possible legs, from 0", default=0, min=0, soft_max=8)

    def run(self, context, armature):
        maps = mapping.choices(armature)
        if self.index >= len(maps):
            raise FootlockError(
                "There is no choice {index}: “{armature}” has {count}, from 0.",
                index=self.index,
                armature=armature.name,
                count=len(maps),
            )
        legs = maps[self.index]
        mapping.check(armature, legs)
        mapping.store(armature, legs)
        return mapping.said(legs)


def _item(stored, index, what):
    """A leg of the list."""
    if index >= len(stored.legs):
        raise FootlockError(
            "There is no leg {index} to {what}: the list has {count}.", index=index, what=what, count=len(stored.legs)
        )
    return stored.legs[index]
