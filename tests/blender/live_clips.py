"""What the tests of the live lock share: clips that slide, and what is there of a pose and of handlers."""

import unittest

import bpy
import clips
import numpy as np
from blender import rigs

from footlock.rig import clip as reading
from footlock.rig import contact_property, correction, live, mapping

PARTS = ("thigh", "shin", "foot", "toe")
HANDLERS = ("frame_change_pre", "frame_change_post", "depsgraph_update_post", "save_pre", "save_post", "load_pre")
HANDLERS += (
    "render_complete",
    "render_cancel",
    "load_post",
    "save_post_fail",
    "undo_pre",
    "undo_post",
    "redo_pre",
    "redo_post",
)


def handlers():
    """Names of all functions that Blender calls by itself."""
    return {name: [one.__name__ for one in getattr(bpy.app.handlers, name)] for name in HANDLERS}


def sliding_walk(factor=1.25, labels=True):
    """The armature of the walk whose root travels too far, with contact curves of the clip before that."""

    def make():
        armature = clips.import_clip()
        legs = mapping.of(armature)
        mapping.store(armature, legs)
        if labels:
            bpy.ops.footlock.detect_contacts()
        correction.scale_travel(armature, reading.read(bpy.context.scene, armature, legs), factor)

    armature = clips.opened(("sliding walk", factor, labels), make)
    bpy.context.scene.frame_set(1)
    return armature


def play(armature, frames, legs=None):
    """Joints (frames, legs, 4, 3) in the world, as Blender evaluates them: hip, knee, heel, toe (or heel)."""
    legs = legs or mapping.stored(armature)
    names = [getattr(leg, part) or leg.foot for leg in legs.legs for part in PARTS]
    rows = []
    for frame in frames:
        bpy.context.scene.frame_set(int(frame))
        evaluated = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
        rows.append([evaluated.matrix_world @ evaluated.pose.bones[name].head for name in names])
    return np.array(rows).reshape(len(rows), len(legs.legs), 4, 3)


def channels(armature):
    """Every transform of every bone, to be compared to the byte."""
    return {
        (bone.name, name): np.array(getattr(bone, name), np.float32).tobytes()
        for bone in armature.pose.bones
        for name in ("location", "rotation_quaternion", "rotation_euler", "rotation_axis_angle", "scale")
    }


def differ(one, other):
    """(bone, transform) of what differs between two of ``channels``."""
    return sorted(key for key in one if one[key] != other.get(key))


def played(armature, first, last):
    """The channels at the last frame, come to through those before it."""
    for frame in range(first, last + 1):
        bpy.context.scene.frame_set(frame)
    return channels(armature)


def without_keys(armature, bone):
    """Take the keys from a bone's rotation."""
    held = rigs.compat.channels(armature)
    for curve in [one for one in held.fcurves if one.data_path == rigs.rotation_path(bone)]:
        held.fcurves.remove(curve)


def switch():
    assert bpy.ops.footlock.live_lock() == {"FINISHED"}


class LiveCase(unittest.TestCase):
    def setUp(self):
        rigs.new_file()
        self.handlers = handlers()
        self.addCleanup(live.stop_all)

    def is_clean(self):
        """Live Lock is off, and has left no handler."""
        self.assertEqual(handlers(), self.handlers)
        self.assertFalse(live._sessions)


def walking(frames, mode="QUATERNION", kind="plain"):
    """A biped that wobbles, with contact curves: ``kind`` says what is odd about it."""
    size = 100.0 if kind == "turned" else 1.0
    armature = rigs.biped(root=True, twist=kind == "plain", toes=kind != "toeless", size=size)
    rigs.wobble(armature, frames, mode=mode, seed=4)
    if kind == "turned":
        bpy.context.scene.unit_settings.scale_length = 0.01
        armature.rotation_euler, armature.location = (0.0, 0.0, 2.0), (300.0, -50.0, 0.0)
    if kind == "moving":
        moves = np.stack([0.01 * frames, 0.0 * frames, 0.1 * np.sin(0.1 * frames)], axis=1)
        rigs.key(armature, "location", moves, frames)
        rigs.key(armature, "rotation_euler", moves * 0.5, frames)
    bpy.context.view_layer.update()
    legs = mapping.of(armature)
    mapping.store(armature, legs)
    labels = np.stack([np.sin(0.25 * frames) > 0.0, np.sin(0.25 * frames) < -0.2], axis=1)
    contact_property.write(armature, legs, frames, labels)
    bpy.context.scene.footlock.lock_distance = 1.0
    return armature
