"""The same walk in every space, unit and kind of bone: the corrected toes take the same path over the ground.

The rigs are built by Blender's own conversion from poses to channels, and judged by where Blender evaluates them.
"""

import unittest
from dataclasses import dataclass, field

import bpy
import clips
import measure
import numpy as np
from blender import rigs
from mathutils import Euler, Matrix, Vector

from footlock.operators import remove_sliding
from footlock.rig import clip, contact_property, mapping
from footlock.solvers.errors import FootlockError

JOINTS = ("Hips", *(f"{side}{joint}" for side in ("Left", "Right") for joint in ("Hip", "Knee", "Ankle", "Toe")))
PARENTS = {"LeftHip": "Hips", "RightHip": "Hips"} | {
    f"{side}{lower}": f"{side}{upper}"
    for side in ("Left", "Right")
    for upper, lower in (("Hip", "Knee"), ("Knee", "Ankle"), ("Ankle", "Toe"))
}
TOES = ("LeftToe", "RightToe")
# Frames of the clip: two steps of the walk, every fourth one, so that it is one of 30 Hz.
PART = slice(300, 541, 4)
COUNT = len(range(*PART.indices(995)))
FRAMES = np.arange(1.0, COUNT + 1.0)
# How much too far the root travels.
TOO_FAR = 1.25
# Metres.
SAME = 1e-4
# Single precision 100 m from the origin is 8 µm.
BUILT = 2e-5
STANDS = 0.05e-3
Z_UP = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])


@dataclass
class Space:
    """How the walk is built. ``object``: matrix of the armature, and ``above`` of what it hangs from, each (4, 4) or
    one a frame; ``world``: units of the world in a metre; ``rolled``: bones turned by 90 degrees about themselves;
    ``travel_on_object``: the root's travel is the object's; ``bones``: settings of the bones; ``away``: where the walk
    is, metres."""

    object: object = None
    above: object = None
    world: float = 1.0
    scene_scale: float = 1.0
    mode: str = "QUATERNION"
    rolled: tuple = ()
    connected: bool = False
    travel_on_object: bool = False
    bones: dict = field(default_factory=dict)
    away: tuple = (0.0, 0.0, 0.0)


class Walk:
    """The joints of the clip, scaled travel included: ``heads`` and ``tails`` (frames, 3) by joint, metres, z up;
    ``turns`` (frames, 3, 3) against the rest pose; ``rest``: heads and tails of that; ``labels`` (frames, 2)."""

    def __init__(self):
        motion = measure.load(clips.WALK)
        labels = [measure.majority_contacts(motion.point(toe), motion.frame_time)[PART] for toe in TOES]
        self.labels = np.stack(labels, axis=1)
        hips = motion.point("Hips")[PART] @ Z_UP.T
        travel = (TOO_FAR - 1.0) * (hips - hips[0]) * np.array([1.0, 1.0, 0.0])
        self.travel = TOO_FAR * (hips - hips[0]) * np.array([1.0, 1.0, 0.0])
        self.heads, self.turns, self.rest, self.tails = {}, {}, {}, {}
        for name in JOINTS:
            joint = motion.names.index(name)
            self.heads[name] = motion.point(name)[PART] @ Z_UP.T + travel
            self.turns[name] = Z_UP @ motion.orientations[PART, joint] @ Z_UP.T
            offset = Z_UP @ motion.offsets[joint]
            self.rest[name] = self.rest[PARENTS[name]] + offset if name in PARENTS else np.array([0.0, 0.0, 1.0])
        for name in JOINTS:
            below = next((one for one, above in PARENTS.items() if above == name and name != "Hips"), None)
            end = Z_UP @ motion.offsets[motion.names.index(f"{name}{measure.END}")] if name in TOES else None
            self.tails[name] = (
                self.rest[below] if below else self.rest[name] + (end if end is not None else np.array([0, 0, 0.2]))
            )


def build(walk, space):
    """The walk as an armature."""
    rigs.new_file()
    scene = bpy.context.scene
    scene.render.fps, scene.unit_settings.scale_length = 30, space.scene_scale
    above = [Matrix(one) for one in per_frame(space.above)]
    on_object = [Matrix(one) for one in per_frame(space.object)]
    if space.travel_on_object:
        on_object = [
            Matrix.Translation(Vector(step) * space.world) @ one
            for step, one in zip(walk.travel, on_object, strict=True)
        ]
    armature = bpy.data.objects.new("Walker", bpy.data.armatures.new("Walker"))
    scene.collection.objects.link(armature)
    if space.above is not None:
        empty = bpy.data.objects.new("Above", None)
        scene.collection.objects.link(empty)
        armature.parent = empty
        place(empty, above)
    place(armature, on_object)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    to_armature = (above[0] @ on_object[0]).inverted()
    if space.travel_on_object:
        to_armature = (above[0] @ Matrix(per_frame(space.object)[0])).inverted()
    for name in JOINTS:
        bone = armature.data.edit_bones.new(name)
        bone.head, bone.tail = (
            to_armature @ Vector((p + space.away) * space.world) for p in (walk.rest[name], walk.tails[name])
        )
        bone.roll = 0.3 + (np.pi / 2 if name in space.rolled else 0.0)
        if name in PARENTS:
            bone.parent = armature.data.edit_bones[PARENTS[name]]
            bone.use_connect = space.connected and PARENTS[name] != "Hips"
    bpy.ops.object.mode_set(mode="OBJECT")
    for bone in armature.data.bones:
        for setting, value in space.bones.items():
            setattr(bone, setting, value)
    bpy.context.view_layer.update()
    key_bones(walk, space, armature, above, on_object, to_armature.inverted())
    bpy.context.view_layer.update()
    return armature


def per_frame(matrix):
    """(frames, 4, 4) of one matrix, of many, or of none."""
    return np.broadcast_to(np.eye(4) if matrix is None else matrix, (COUNT, 4, 4))


def place(owner, matrices):
    """Let an object be there, by keys where it moves."""
    owner.rotation_mode = "QUATERNION"
    owner.matrix_basis = matrices[0]
    if len({tuple(map(tuple, one)) for one in matrices}) > 1:
        parts = [one.decompose() for one in matrices]
        for i, channel in enumerate(("location", "rotation_quaternion", "scale")):
            rigs.key(owner, channel, [tuple(one[i]) for one in parts], FRAMES)


def key_bones(walk, space, armature, above, on_object, rest_world):
    """Keys that have the bones where the walk has them, as Blender itself makes them of poses."""
    poses = {}
    for bone in armature.data.bones:
        parent, rows = bone.parent, []
        upright = (rest_world @ bone.matrix_local).to_3x3().normalized()
        for i in range(COUNT):
            world = above[i] @ on_object[i]
            turned = (Matrix(walk.turns[bone.name][i]) @ upright).to_4x4()
            turned.translation = Vector((walk.heads[bone.name][i] + space.away) * space.world)
            size = world.to_scale()[0]
            pose = world.inverted() @ turned @ Matrix.Scale(size, 4)
            over = (
                {"parent_matrix": poses[parent.name][i], "parent_matrix_local": parent.matrix_local} if parent else {}
            )
            basis = bone.convert_local_to_pose(pose, bone.matrix_local, invert=True, **over)
            rows.append(basis)
            poses.setdefault(bone.name, []).append(pose)
        pose_bone = armature.pose.bones[bone.name]
        pose_bone.rotation_mode = space.mode
        if not parent:
            rigs.key(armature, pose_bone.path_from_id("location"), [tuple(one.translation) for one in rows], FRAMES)
        rigs.key(armature, rigs.rotation_path(pose_bone), rotation_values(rows, space.mode), FRAMES)


def rotation_values(matrices, mode):
    found, last = [], None
    for matrix in matrices:
        turned = matrix.to_3x3().normalized()
        if mode in ("QUATERNION", "AXIS_ANGLE"):
            q = turned.to_quaternion()
            last = -q if last is not None and q.dot(last) < 0.0 else q
            axis, angle = last.to_axis_angle()
            found.append(tuple(last) if mode == "QUATERNION" else (angle, *axis))
        else:
            last = turned.to_euler(mode, last) if last else turned.to_euler(mode)
            found.append(tuple(last))
    return np.array(found)


def moving(turn=1.0, travel=(2.0, -1.0, 0.3), scale=1.0):
    """Matrices of something that moves and turns."""
    share = np.linspace(0.0, 1.0, COUNT)
    return [
        np.array(
            Matrix.Translation(Vector(travel) * s)
            @ Euler((0.2 * np.sin(4.0 * s), 0.0, turn * s)).to_matrix().to_4x4()
            @ Matrix.Scale(scale, 4)
        )
        for s in share
    ]


def turned(*angles, scale=1.0, at=(0.0, 0.0, 0.0)):
    """The matrix of an object, turned by degrees about x, y and z."""
    return np.array(Matrix.Translation(at) @ Euler(np.radians(angles)).to_matrix().to_4x4() @ Matrix.Scale(scale, 4))


SPACES = {
    "centimetres inside": Space(object=turned(0, 0, 0, scale=0.01)),
    "millimetres inside": Space(object=turned(0, 0, 0, scale=0.001)),
    "scale 100": Space(object=turned(0, 0, 0, scale=100.0)),
    "y up inside": Space(object=turned(90, 0, 0)),
    "y up in centimetres": Space(object=turned(90, 0, 0, scale=0.01)),
    "turned about z": Space(object=turned(0, 0, 90)),
    "turned about all": Space(object=turned(35, -70, 120, at=(3.0, -40.0, 2.0))),
    "far away": Space(object=turned(0, 0, 0, at=(100.0, 50.0, 0.0)), away=(100.0, 50.0, 0.0)),
    "under a moving empty": Space(above=moving()),
    "under a moving empty, turned and scaled": Space(above=moving(-2.0), object=turned(90, 0, 30, scale=0.01)),
    "under a scaled empty": Space(above=turned(0, 0, 0, scale=0.01)),
    "under a scaled and moving empty": Space(above=moving(scale=0.5), object=turned(0, 0, 0, scale=2.0)),
    "travel on the object": Space(travel_on_object=True),
    "travel on the object, y up in centimetres": Space(object=turned(90, 0, 0, scale=0.01), travel_on_object=True),
    "moving object": Space(object=moving(1.5)),
    "rolled": Space(rolled=("LeftHip", "RightHip", "LeftKnee", "RightKnee")),
    "connected": Space(connected=True),
    "scene in centimetres": Space(world=100.0, scene_scale=0.01),
    "scene of metres that says centimetres": Space(scene_scale=0.01),
    "centimetres that say nothing": Space(world=100.0),
    "locations in the parent's axes": Space(bones={"use_local_location": False}),
    "rotations that are not inherited": Space(bones={"use_inherit_rotation": False}),
    # Without quaternions and full scale, which all others have.
    **{f"rotation {mode}": Space(mode=mode) for mode in rigs.MODES if mode != "QUATERNION"},
    **{f"scale {mode}": Space(bones={"inherit_scale": mode}) for mode in rigs.INHERIT_SCALE if mode != "FULL"},
}  # fmt: skip


class Spaces(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.walk = Walk()

    def corrected(self, space):
        """World paths of the corrected toes (frames, 2, 3), metres."""
        armature = build(self.walk, space)
        before = rigs.evaluated(armature, FRAMES, JOINTS)[0] / space.world - space.away
        wanted = np.stack([self.walk.heads[name] for name in JOINTS], axis=1)
        self.assertLess(np.abs(before - wanted).max(), BUILT, "the rig itself is built wrong")
        legs = mapping.find(armature)
        contact_property.write(armature, legs, FRAMES, self.walk.labels)
        done = remove_sliding.remove(bpy.context.scene, armature, legs)
        self.assertAlmostEqual(done.clip.unit, 1.0 / space.world, delta=1e-6)
        self.assertGreater(max(one.largest for one in done.before), 5.0 * STANDS)
        return rigs.evaluated(armature, FRAMES, TOES)[0] / space.world - space.away

    def test_the_same_path(self):
        first = self.corrected(Space())
        step = np.linalg.norm(np.diff(first, axis=0), axis=2)
        planted = self.walk.labels[1:] & self.walk.labels[:-1]
        self.assertGreater(planted.sum(), 50)
        self.assertLess(step[planted].max(), STANDS)
        for name, space in SPACES.items():
            with self.subTest(name):
                path = self.corrected(space)
                self.assertLess(np.linalg.norm(path - first, axis=2).max(), SAME)

    def test_scales_that_are_refused(self):
        """In one sentence, and nothing is changed."""
        uneven, mirrored = np.diag([1.0, 1.0, 1.2, 1.0]), np.diag([-1.0, 1.0, 1.0, 1.0])
        for name, matrix in (("uneven", uneven), ("mirrored", mirrored), ("all mirrored", -mirrored @ mirrored)):
            for where in ("object", "above"):
                with self.subTest(name, where=where):
                    armature = build(self.walk, Space())
                    owner = armature
                    if where == "above":
                        owner = bpy.data.objects.new("Above", None)
                        bpy.context.scene.collection.objects.link(owner)
                        armature.parent = owner
                    owner.scale = np.diag(matrix)[:3]
                    bpy.context.view_layer.update()
                    legs, held = mapping.find(armature), rigs.everything()
                    for run in (clip.read, remove_sliding.remove):
                        with self.assertRaisesRegex(FootlockError, "scaled unevenly or mirrored: apply its scale"):
                            run(bpy.context.scene, armature, legs)
                    self.assertEqual(rigs.everything(), held)

    def test_an_uneven_scale_that_is_even_in_the_end(self):
        """An empty and the armature below it may undo each other's scale."""
        armature = build(self.walk, Space())
        first = rigs.evaluated(armature, FRAMES, TOES)[0]
        empty = bpy.data.objects.new("Above", None)
        bpy.context.scene.collection.objects.link(empty)
        armature.parent = empty
        empty.scale, armature.scale = (2.0, 0.5, 1.0), (0.5, 2.0, 1.0)
        bpy.context.view_layer.update()
        self.assertLess(np.abs(rigs.evaluated(armature, FRAMES, TOES)[0] - first).max(), 1e-6)
        legs = mapping.find(armature)
        contact_property.write(armature, legs, FRAMES, self.walk.labels)
        done = remove_sliding.remove(bpy.context.scene, armature, legs)
        self.assertLess(max(one.largest for one in done.after), STANDS)
