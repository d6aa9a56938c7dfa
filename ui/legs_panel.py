"""Legs: which bones they are."""

import bpy

from ..rig import presets
from ..rig.names import ROLES
from ..rig.sentences import on_screen
from ..solvers.wording import Said
from .panel import FootlockSubPanel, armature_of, draw_hint, leg_name


class FOOTLOCK_PT_legs(FootlockSubPanel, bpy.types.Panel):
    bl_label = "Legs"

    @classmethod
    def poll(cls, context):
        return armature_of(context) is not None

    def draw(self, context):
        layout = self.split_layout()
        armature = armature_of(context).data
        mapping = armature.footlock
        find = layout.row(align=True)
        find.operator("footlock.map_legs", icon="VIEWZOOM")
        find.menu("FOOTLOCK_MT_leg_presets", text="", icon="PRESET")
        _draw_question(layout, mapping)
        if len(mapping.legs):
            _draw_bone(layout, mapping, "pelvis", armature)
        else:
            draw_hint(layout, "Found by their names when needed")
        for index, leg in enumerate(mapping.legs):
            _draw_leg(layout.box(), index, leg, armature, several=len(mapping.legs) > 2)
        add = layout.row(align=True)
        add.operator_menu_enum("footlock.add_leg", "side", icon="ADD")
        add.operator("footlock.add_hands", icon="VIEW_PAN")


class FOOTLOCK_MT_leg_presets(bpy.types.Menu):
    bl_label = "Presets of Legs"

    def draw(self, context):
        layout = self.layout
        for name in presets.names():
            layout.operator("footlock.load_leg_preset", text=name, translate=False).name = name
        layout.separator()
        layout.operator_context = "INVOKE_DEFAULT"
        layout.operator("footlock.save_leg_preset", icon="ADD")
        for name in presets.names():
            text = on_screen(Said("Delete “{name}”", name=name))
            layout.operator("footlock.delete_leg_preset", text=text, icon="X", translate=False).name = name


classes = (FOOTLOCK_MT_leg_presets, FOOTLOCK_PT_legs)


def _draw_question(layout, mapping):
    """The legs to choose from where it is not clear which they are."""
    if not len(mapping.question):
        return
    column = layout.column(align=True)
    column.label(text="Which are the legs?", icon="QUESTION")
    for index, choice in enumerate(mapping.question):
        column.operator("footlock.choose_legs", text=choice.name, translate=False).index = index


def _draw_leg(layout, index, leg, armature, several):
    header = layout.row()
    header.label(text=leg_name(leg), translate=False)
    header.operator("footlock.mirror_leg", text="", icon="MOD_MIRROR", emboss=False).index = index
    header.operator("footlock.remove_leg", text="", icon="X", emboss=False).index = index
    bones = layout.column(align=True)
    if several:
        bones.prop(leg, "place")
    for role in ROLES:
        _draw_bone(bones, leg, role, armature, needed=role != "toe")


def _draw_bone(layout, owner, role, armature, needed=True):
    """A picker of a bone, red where the bone is not there, or not chosen though it is needed."""
    name = getattr(owner, role)
    row = layout.row(align=True)
    row.alert = name not in armature.bones if name else needed
    row.prop_search(owner, role, armature, "bones")
