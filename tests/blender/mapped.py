"""What the tests of the legs' map share: armatures made of skeletons, and the legs that are stored with them."""

import unittest

import bpy
import skeletons
from blender import rigs

from footlock.rig import mapping

ROWS = {row["name"]: row for row in skeletons.PEOPLE}


def build(made, name="Rig"):
    """An armature object of a skeleton, made active."""
    data = bpy.data.armatures.new(name)
    armature = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(armature)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    for bone_name, bone in made.bones.items():
        edit = data.edit_bones.new(bone_name)
        assert edit.name == bone_name
        edit.head, edit.tail, edit.use_deform = bone.head, bone.tail, bone.deform
    for bone_name, bone in made.bones.items():
        if bone.parent:
            data.edit_bones[bone_name].parent = data.edit_bones[bone.parent]
    bpy.ops.object.mode_set(mode="OBJECT")
    return armature


def stored(armature):
    return [[leg.side, leg.thigh, leg.shin, leg.foot, leg.toe] for leg in armature.data.footlock.legs]


def labels(armature):
    return [leg.label for leg in mapping.stored(armature).legs]


class MappingCase(unittest.TestCase):
    def setUp(self):
        rigs.new_file()

    def person(self, name="Unreal UE4", **options):
        return build(skeletons.person(ROWS[name], **options))
