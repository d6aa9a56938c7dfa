"""Save one of Rigify's metarigs, or the rig that is generated from it: KIND metarig|rig PATH, under Blender or a Python
that has the bpy module.

A process of its own, since Blender 4.2 and 4.3 crash sooner or later in one in which Rigify was enabled.
"""

import importlib
import os
import sys

import bpy


def make(kind, what, path):
    """kind: a module of Rigify's metarigs ("human", "Basic.basic_quadruped", …)."""
    import addon_utils  # there is none before bpy is

    addon_utils.enable("rigify", default_set=True)
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    metarig = bpy.data.objects.new("metarig", bpy.data.armatures.new("metarig"))
    bpy.context.scene.collection.objects.link(metarig)
    bpy.context.view_layer.objects.active = metarig
    metarig.select_set(True)
    bpy.ops.object.mode_set(mode="EDIT")
    importlib.import_module(f"rigify.metarigs.{kind}").create(metarig)
    bpy.ops.object.mode_set(mode="OBJECT")
    if what == "rig":
        bpy.ops.pose.rigify_generate()
        bpy.data.objects.remove(metarig)
    bpy.ops.wm.save_as_mainfile(filepath=path)


if __name__ == "__main__":
    make(*sys.argv[-3:])
    sys.stdout.flush()
    os._exit(0)
