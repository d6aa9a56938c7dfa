"""Rigs that the tests build for themselves, what Blender makes of them, and everything that must not change.

``biped`` makes an armature, ``wobble`` and ``walk`` animate it, ``evaluated`` is where Blender itself has its bones
(the truth), ``everything`` holds all that a run that fails must leave alone.
"""

import contextlib
import itertools
from unittest import mock

import bpy
import numpy as np
from mathutils import Euler, Matrix, Quaternion, Vector

from footlock import operators
from footlock.rig import compat

EULERS = ("XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX")
MODES = ("QUATERNION", "AXIS_ANGLE", *EULERS)
INHERIT_SCALE = ("FULL", "FIX_SHEAR", "ALIGNED", "AVERAGE", "NONE", "NONE_LEGACY")

# Heads of a leg's joints and the end of its toe, metres, for the side on +x; knees bent a little, toes to -y.
_JOINTS = ((0.1, 0.0, 0.92), (0.11, -0.05, 0.5), (0.105, 0.03, 0.1), (0.105, -0.12, 0.03), (0.105, -0.2, 0.03))
_ROLES = ("thigh", "shin", "foot", "toe")
# Length of thigh and shin together.
LEG = sum((Vector(b) - Vector(a)).length for a, b in itertools.pairwise(_JOINTS))

_KEY_ARRAYS = (
    ("co", 2, np.float32), ("handle_left", 2, np.float32), ("handle_right", 2, np.float32),
    ("interpolation", 1, np.int32), ("handle_left_type", 1, np.int32), ("handle_right_type", 1, np.int32),
    ("easing", 1, np.int32), ("type", 1, np.int32), ("amplitude", 1, np.float32), ("back", 1, np.float32),
    ("period", 1, np.float32), ("select_control_point", 1, bool),
)  # fmt: skip
_CURVE_SETTINGS = ("mute", "lock", "hide", "extrapolation", "auto_smoothing", "color_mode")


def new_file():
    """An empty file at 24 frames a second; the add-on stays."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)


def biped(
    name="Biped", *, sides="LR", root=False, socket=False, twist=False, connect=False, toes=True, names=None, size=1.0,
    joints=_JOINTS, seed=1,
):  # fmt: skip
    """An armature object with legs, made active. ``root``: a bone above the pelvis; ``socket``: one above each thigh;
    ``twist``: one between thigh and shin, and one between shin and foot; ``connect``: the joints of a leg are;
    ``names``: other names for bones; ``size``: units of a metre."""
    rng = np.random.default_rng(seed)
    names = names or {}
    data = bpy.data.armatures.new(name)
    armature = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(armature)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")

    def bone(role, head, tail, parent, use_connect=False):
        made = data.edit_bones.new(names.get(role, role))
        made.head, made.tail = Vector(head) * size, Vector(tail) * size
        made.roll = rng.uniform(-np.pi, np.pi)
        made.parent, made.use_connect = parent, use_connect
        return made

    above = bone("root", (0.0, 0.0, 0.0), (0.1, 0.3, 0.05), None) if root else None
    pelvis = bone("pelvis", (0.0, 0.02, 0.95), (0.03, 0.0, 1.1), above)
    for side in sides:
        mirror = Vector((1.0 if side == "L" else -1.0, 1.0, 1.0))
        points = [Vector(joint) * mirror for joint in joints]
        last = pelvis
        if socket:
            last = bone(f"socket.{side}", (0.0, 0.01, 0.93), points[0], last)
        for i, role in enumerate(_ROLES if toes else _ROLES[:3]):
            if twist and role in ("shin", "foot"):
                middle = (points[i - 1] + points[i]) / 2.0
                last = bone(f"{_ROLES[i - 1]}_twist.{side}", middle, middle + Vector((0.01, 0.02, -0.1)), last)
            last = bone(f"{role}.{side}", points[i], points[i + 1], last, connect and i > 0)
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.view_layer.update()
    return armature


def rotation_path(pose_bone):
    """Data path of the rotation that a pose bone's mode reads."""
    name = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}
    return pose_bone.path_from_id(name.get(pose_bone.rotation_mode, "rotation_euler"))


def new_action(owner, name="Action"):
    """A new action, assigned."""
    data = owner.animation_data or owner.animation_data_create()
    data.action = bpy.data.actions.new(name)
    return data.action


def key(owner, path, values, frames, interpolation=1, group="Keys", skip=()):
    """Keys with ``values`` (n, components) of a channel, those of ``skip`` left out. interpolation: 0 constant, 1
    linear, 2 Bézier."""
    if owner.animation_data is None or owner.animation_data.action is None:
        new_action(owner)
    for i, column in enumerate(np.transpose(values)):
        if i in skip:
            continue
        curve = compat.ensure_fcurve(owner, path, i, group)
        points = curve.keyframe_points
        points.clear()
        points.add(len(frames))
        co = np.empty(2 * len(frames), np.float32)
        co[0::2], co[1::2] = frames, column
        points.foreach_set("co", co)
        points.foreach_set("interpolation", np.full(len(frames), interpolation, np.int32))
        curve.update()


def wave(rng, frames, width, size):
    """Smooth random numbers (n, width) of about this size."""
    t = np.asarray(frames, float)[:, None] / 24.0
    total = np.zeros((len(frames), width))
    for _ in range(3):
        frequency, phase = rng.uniform(0.2, 1.2, width), rng.uniform(0.0, 2.0 * np.pi, width)
        total += np.sin(2.0 * np.pi * frequency * t + phase)
    return total * size / 2.0


def rotations(rng, frames, mode):
    """Smooth random values of a rotation channel, quaternions and axes of any length."""
    if mode == "QUATERNION":
        q = np.array([1.0, 0.0, 0.0, 0.0]) + wave(rng, frames, 4, 0.4)
        return q / np.linalg.norm(q, axis=1, keepdims=True) * (1.5 + wave(rng, frames, 1, 0.7))
    if mode == "AXIS_ANGLE":
        axis = rng.normal(size=3)
        axis = axis / np.linalg.norm(axis) + wave(rng, frames, 3, 0.2)
        return np.concatenate([0.8 + wave(rng, frames, 1, 0.6), axis * rng.uniform(0.3, 3.0)], axis=1)
    return wave(rng, frames, 3, 0.5)


def wobble(armature, frames, *, mode=None, scale=0.0, uniform=True, interpolation=1, seed=2, only=None):
    """Random smooth keys for every bone: location, rotation and, by up to about the share ``scale``, scale."""
    rng = np.random.default_rng(seed)
    size = armature.data.bones[0].length / 0.15
    for pose_bone in armature.pose.bones:
        if only and pose_bone.name not in only:
            continue
        if mode:
            pose_bone.rotation_mode = mode
        values = rotations(rng, frames, pose_bone.rotation_mode)
        key(armature, rotation_path(pose_bone), values, frames, interpolation, pose_bone.name)
        travel = 0.2 if not pose_bone.parent else 0.03
        values = wave(rng, frames, 3, travel * size)
        key(armature, pose_bone.path_from_id("location"), values, frames, interpolation, pose_bone.name)
        if scale:
            values = 1.0 + wave(rng, frames, 1 if uniform else 3, scale) * np.ones(3)
            key(armature, pose_bone.path_from_id("scale"), values, frames, interpolation, pose_bone.name)


def walk(armature, frames, *, speed=1.0, mode="QUATERNION", size=1.0):
    """A walk along -y with feet that slide: thighs swing, knees bend. Bones by their usual names; any rest
    orientation."""
    pelvis = armature.pose.bones["pelvis"]
    t = (np.asarray(frames, float) - frames[0]) / 24.0
    travel = np.stack([0.02 * np.sin(6.0 * t), -speed * t, 0.02 * np.cos(12.0 * t) - 0.06], axis=1) * size
    turned = {"pelvis": [Euler((0.05, 0.0, 0.1 * np.sin(6.0 * x))).to_matrix() for x in t]}
    _key_turned(armature, "pelvis", turned, frames, mode)
    rest = np.array(pelvis.bone.matrix_local.to_3x3())
    key(armature, pelvis.path_from_id("location"), travel @ rest, frames, group="pelvis")
    for side, phase in (("L", 0.0), ("R", np.pi)):
        if f"thigh.{side}" not in armature.pose.bones:
            continue
        swing = 0.4 * np.sin(6.0 * t + phase)
        bend = 0.35 + 0.3 * np.cos(6.0 * t + phase)
        for role, angles in (("thigh", -swing), ("shin", bend - swing), ("foot", 0.2 * swing), ("toe", 0.0 * swing)):
            name = f"{role}.{side}"
            if name in armature.pose.bones:
                turned[name] = [Matrix.Rotation(angle, 3, "X") for angle in angles]
                _key_turned(armature, name, turned, frames, mode)
    bpy.context.view_layer.update()


def _key_turned(armature, name, turned, frames, mode):
    """Keys that turn a bone against its rest by ``turned[name]``, matrices in armature space. ``turned`` must have the
    bones above it that turn."""
    pose_bone = armature.pose.bones[name]
    pose_bone.rotation_mode = mode
    above = pose_bone.parent
    while above is not None and above.name not in turned:
        above = above.parent
    parents = turned[above.name] if above else [Matrix.Identity(3)] * len(frames)
    rest = pose_bone.bone.matrix_local.to_3x3()
    rows, last = [], None
    for parent, own in zip(parents, turned[name], strict=True):
        local = rest.inverted_safe() @ parent.inverted() @ own @ rest
        if mode == "QUATERNION":
            last = _near_quaternion(local.to_quaternion(), last)
            rows.append(tuple(last))
        elif mode == "AXIS_ANGLE":
            last = _near_quaternion(local.to_quaternion(), last)
            axis, angle = last.to_axis_angle()
            rows.append((angle, *axis))
        else:
            last = local.to_euler(mode, last) if last else local.to_euler(mode)
            rows.append(tuple(last))
    key(armature, rotation_path(pose_bone), np.array(rows), frames, group=name)


def _near_quaternion(q, last):
    return -q if last is not None and Quaternion(q).dot(last) < 0.0 else q


def set_frame(scene, frame):
    whole = int(np.floor(frame))
    scene.frame_set(whole, subframe=min(float(frame - whole), 0.99999))


def evaluated(armature, frames, names):
    """Heads and tails, each (frames, bones, 3), in the world, as Blender evaluates them."""
    scene = bpy.context.scene
    heads, tails = [], []
    for frame in frames:
        set_frame(scene, frame)
        world = armature.matrix_world
        bones = [armature.pose.bones[name] for name in names]
        heads.append([tuple(world @ bone.head) for bone in bones])
        tails.append([tuple(world @ bone.tail) for bone in bones])
    return np.array(heads), np.array(tails)


def curves(owner):
    """The F-curves in use, by path and index."""
    return {(curve.data_path, curve.array_index): curve for curve in compat.channels(owner).fcurves}


def curve_of(armature, bone, channel, index=0):
    """One F-curve of a bone; channel "rotation" is the one that its mode reads."""
    pose_bone = armature.pose.bones[bone]
    path = rotation_path(pose_bone) if channel == "rotation" else pose_bone.path_from_id(channel)
    return curves(armature)[(path, index)]


def values(curve):
    """Frames and values (n,) of a curve's keys, single precision."""
    co = np.empty(2 * len(curve.keyframe_points), np.float32)
    curve.keyframe_points.foreach_get("co", co)
    return co[0::2], co[1::2]


def dump_curve(curve):
    """Everything that a curve holds, to be compared to the byte."""
    arrays = []
    for name, width, kind in _KEY_ARRAYS:
        array = np.empty(width * len(curve.keyframe_points), kind)
        curve.keyframe_points.foreach_get(name, array)
        arrays.append((name, array.tobytes()))
    modifiers = tuple((modifier.type, repr(_plain(modifier))) for modifier in curve.modifiers)
    settings = tuple(getattr(curve, name) for name in _CURVE_SETTINGS)
    return (*arrays, settings, tuple(curve.color), curve.group.name if curve.group else None, modifiers)


def _plain(struct):
    """The simple properties of an RNA struct."""
    return {
        name: getattr(struct, name)
        for name, kind in struct.bl_rna.properties.items()
        if kind.type in ("BOOLEAN", "INT", "FLOAT", "ENUM", "STRING") and not getattr(kind, "is_array", False)
    }


def containers(action):
    """(slot identifier, what holds its curves) of each slot of an action, or of the action itself up to 4.3."""
    if not compat.LAYERED:
        return [("", action)]
    found = []
    for layer in action.layers:
        for strip in layer.strips:
            for slot in action.slots:
                bag = strip.channelbag(slot)
                if bag:
                    found.append((slot.identifier, bag))
    return found


def dump(owner):
    """The curves in use, to the byte, by path and index."""
    return {key: dump_curve(curve) for key, curve in curves(owner).items()}


def everything():
    """All that a run that fails must leave alone: every curve of every slot of every action and their groups, the
    custom properties and channels' modes of every bone, the maps of legs, and where the scene stands."""
    state = {}
    for action in bpy.data.actions:
        state[("action", action.name)] = (action.users, len(getattr(action, "slots", ())))
        for slot, held in containers(action):
            for curve in held.fcurves:
                state[("curve", action.name, slot, curve.data_path, curve.array_index)] = dump_curve(curve)
            state[("groups", action.name, slot)] = [(g.name, g.mute, g.lock, g.color_set) for g in held.groups]
    for ob in bpy.data.objects:
        data = ob.animation_data
        slot = getattr(data, "action_slot", None) if data else None
        state[("object", ob.name)] = (
            data.action.name if data and data.action else None,
            slot.identifier if slot else None,
            sorted(ob.keys()),
            ob.mode,
        )
        if ob.type != "ARMATURE":
            continue
        for bone in ob.pose.bones:
            own = sorted((name, repr(bone[name])) for name in bone.keys() if name != "rigify_parameters")  # noqa: SIM118
            state[("bone", ob.name, bone.name)] = (own, bone.rotation_mode, [c.name for c in bone.constraints])
        legs = ob.data.footlock
        state[("legs", ob.name)] = (legs.pelvis, legs.result_action, [repr(_plain(leg)) for leg in legs.legs])
    for scene in bpy.data.scenes:
        state[("scene", scene.name)] = (scene.frame_current, scene.frame_subframe, scene.render.fps)
    return state


@contextlib.contextmanager
def reports():
    """The sentences that the operators report within, in a list."""
    said = []

    def listening(run):
        def wrapped(self, *arguments):
            said.append(run(self, *arguments))
            return said[-1]

        return wrapped

    with contextlib.ExitStack() as stack:
        for cls in operators.classes:
            stack.enter_context(mock.patch.object(cls, "run", listening(cls.run)))
        yield said
