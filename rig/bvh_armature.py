"""A BVH file as an armature in Blender, and the armature's action back as the motion of the same file.

Blender's importer builds a bone for each joint, turned as it likes, and converts the axes; its exporter writes z up
and its own channels. So a corrected clip goes back through the file it came from: the channels of the joints that
changed are replaced, all others keep their numbers.
"""

import codecs
import tempfile
from contextlib import contextmanager, redirect_stdout
from io import StringIO
from pathlib import Path

import bpy
import numpy as np

from ..solvers import euler
from ..solvers.errors import FootlockError
from ..solvers.wording import counted
from . import clip, curves, kinematics, names

# World axes of Blender from those of a file that is y up, as the importer turns it, and of one that is z up.
_AXES = {
    "Y": ({"axis_forward": "-Z", "axis_up": "Y"}, np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])),
    "Z": ({"axis_forward": "Y", "axis_up": "Z"}, np.eye(3)),
}
# A joint whose channels differ by less than this (degrees, or units of the file) from those of the file keeps those:
# it is what single precision makes of them.
_SAME_DEGREES = 3e-5
_SAME_SHARE = 1e-6


def load(path, motion):
    """Import a BVH file into the current scene, whose frame rate and range become the clip's. ``motion``: the BvhFile
    that ``bvh.read`` made of it. Returns the armature object, whose bones are named as the joints."""
    options, _ = _AXES[up_axis(motion)]
    before = set(bpy.data.objects)
    with redirect_stdout(StringIO()), _plain(path) as plain:  # the importer talks to itself
        bpy.ops.import_anim.bvh(
            filepath=str(plain), rotate_mode="NATIVE", frame_start=1, update_scene_fps=True, **options
        )
    armature = next(ob for ob in bpy.data.objects if ob not in before and ob.type == "ARMATURE")
    missing = [joint.name for joint in motion.joints if joint.name not in armature.data.bones]
    if missing:
        raise FootlockError(
            "Blender shortens the joint name “{joint}”: rename the joints in the file to fewer than 64"
            " letters, each once.",
            joint=missing[0],
        )
    return armature


@contextmanager
def _plain(path):
    """The file itself, or where it starts with a byte order mark, which Blender's importer does not know, a copy."""
    with open(path, "rb") as file:
        marked = file.read(3) == codecs.BOM_UTF8
    if not marked:
        yield path
        return
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / Path(path).name
        copy.write_bytes(Path(path).read_bytes().removeprefix(codecs.BOM_UTF8))
        yield copy


def up_axis(motion):
    """ "Y" or "Z": the axis along which the legs hang from the pelvis in the file's rest pose; "Y", the usual one,
    without legs."""
    parents = {joint.name: motion.joints[joint.parent].name if joint.parent >= 0 else None for joint in motion.joints}
    legs = names.find_legs(parents)
    if legs is None:
        return "Y"
    offset = {joint.name: np.array(joint.offset) for joint in motion.joints}
    down = np.zeros(3)
    for leg in legs.legs:
        chain = [leg.foot, *names.ancestors(leg.foot, parents)]
        down += sum(offset[name] for name in chain[: chain.index(legs.pelvis)])
    return "Z" if abs(down[2]) > abs(down[1]) else "Y"


def carrier(motion, legs):
    """The bone whose location can move the pelvis in the file: the pelvis, or the nearest joint above it that has
    position channels."""
    parents = {joint.name: motion.joints[joint.parent].name if joint.parent >= 0 else None for joint in motion.joints}
    for name in (legs.pelvis, *names.ancestors(legs.pelvis, parents)):
        if motion.position_columns(motion.joint_index(name))[1]:
            return name
    raise FootlockError(
        "No joint above the legs has position channels, so the pelvis cannot move:"
        " export the clip with the root's position."
    )


def store(armature, motion, legs):
    """The BvhFile with the corrected motion of the armature's action: the rotations of the legs' joints and the
    position of the one that carries the pelvis, which are all that a correction may change."""
    frames = np.arange(1.0, len(motion.motion) + 1.0)
    paths = curves.by_path(armature)
    _, world = _AXES[up_axis(motion)]
    rows = motion.motion.copy()
    turned = [name for leg in legs.legs for name in (leg.thigh, leg.shin, leg.foot, leg.toe) if name]
    for name in turned:
        pose_bone = armature.pose.bones[name]
        channel = _channel(pose_bone, paths, clip.rotation_property(pose_bone), frames)
        rest = _rest(pose_bone, world)
        matrices = rest @ kinematics.rotation_matrix(channel, pose_bone.rotation_mode) @ rest.T
        _replace_rotation(rows, motion, motion.joint_index(name), matrices)
    carrier_bone = armature.pose.bones[legs.carrier or legs.pelvis]
    moved = _channel(carrier_bone, paths, "location", frames) @ _rest(carrier_bone, world).T
    _replace_position(rows, motion, motion.joint_index(carrier_bone.name), moved)
    return motion.with_motion(rows)


def _rest(pose_bone, world):
    """The bone's rest orientation (3, 3), seen from the file's axes."""
    return world.T @ np.array(pose_bone.bone.matrix_local, float)[:3, :3]


def _channel(pose_bone, paths, name, frames):
    path = pose_bone.path_from_id(name)
    value = getattr(pose_bone, name)
    columns = [
        curves.sample(curve, frames) if (curve := paths.get((path, i))) else np.full(len(frames), value[i])
        for i in range(len(value))
    ]
    return np.stack(columns, axis=1)


def _replace_rotation(rows, motion, joint, matrices):
    columns, axes = motion.rotation_columns(joint)
    if not axes:
        return
    old = np.radians(rows[:, columns])
    if len(axes) < 3:
        if np.abs(euler.to_matrix(old, axes) - matrices).max() < np.radians(_SAME_DEGREES):
            return
        raise FootlockError(
            counted(
                len(axes),
                "The joint “{joint}” has {count} rotation channel and needs three to be corrected: export all three.",
                "The joint “{joint}” has {count} rotation channels and needs three to be corrected: export all three.",
                joint=motion.joints[joint].name,
            )
        )
    new = np.degrees(euler.from_matrix(matrices, axes, old))
    kept = np.abs(new - rows[:, columns]).max(axis=1, keepdims=True) < _SAME_DEGREES
    rows[:, columns] = np.where(kept, rows[:, columns], new)


def _replace_position(rows, motion, joint, moved):
    columns, axes = motion.position_columns(joint)
    for column, axis in zip(columns, ["XYZ".index(axis) for axis in axes], strict=True):
        new = moved[:, axis] + motion.joints[joint].offset[axis]
        kept = np.abs(new - rows[:, column]) < _SAME_SHARE * np.abs(rows[:, columns]).max()
        rows[:, column] = np.where(kept, rows[:, column], new)
