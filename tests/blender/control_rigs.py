"""Control rigs for the tests: Rigify's own, made by its add-on, and rigs that somebody built; and walks keyed on their
controls, on which the feet skate."""

import subprocess
import sys
import tempfile
from pathlib import Path

import bpy
import clips
import numpy as np
from blender import rigs
from mathutils import Vector

FRAMES = 49
RATE = 24.0
# Metres a second at which the feet would have the body travel.
SPEED = 0.6
_STEP, _STANCE, _LIFT = 0.6, 0.62, 0.12
_ROLES = ("thigh", "shin", "foot", "toe")


def rigify(kind, what="rig"):
    """A metarig of Rigify's ("human", "Basic.basic_quadruped", …), or the rig that is generated from it, active in a
    file of its own. what: "metarig" or "rig"."""

    def make():
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"{kind}.{what}.blend"
            _make(kind, what, path)
            bpy.ops.wm.open_mainfile(filepath=str(path))
        rig = next(ob for ob in bpy.data.objects if ob.type == "ARMATURE")
        bpy.context.view_layer.objects.active = rig

    return clips.opened(("Rigify", kind, what), make)


def _make(kind, what, path):
    script = str(Path(__file__).with_name("make_rigify.py"))
    program = [sys.executable, script]
    if bpy.app.binary_path:
        options = ("--background", "--factory-startup", "--python-exit-code", "1")
        program = [bpy.app.binary_path, *options, "--python", script, "--"]
    made = subprocess.run([*program, kind, what, str(path)], capture_output=True, text=True, check=False)
    if made.returncode or not path.exists():
        raise RuntimeError(f"Rigify made no {kind}: {made.stdout}{made.stderr}")


def gait(phase):
    """A foot of a walk: how far it got (frames,), how high it is, and where it is planted, bool. phase: of its cycle,
    in cycles."""
    cycle = np.arange(FRAMES) / RATE + phase
    share = cycle % 1.0
    swing = np.clip((share - _STANCE) / (1.0 - _STANCE), 0.0, 1.0)
    way = _STEP * (np.floor(cycle) + swing * swing * (3.0 - 2.0 * swing))
    return way - way[0], _LIFT * np.sin(np.pi * swing) ** 2, share < _STANCE


def walk(rig, feet, body, fast=1.25, size=1.0):
    """Key a walk along -y on controls of feet (name → phase) and of the body; it is ``fast`` times as fast over the
    ground as the feet allow. Returns where each foot is planted, (frames, feet) bool. size: that of the walk."""
    rigs.new_action(rig, "Walk")
    time = np.arange(FRAMES) / RATE
    too_far = (fast - 1.0) * SPEED * time
    planted = []
    for name, phase in feet.items():
        way, height, down = gait(phase)
        _key_place(rig, name, np.stack([0.0 * way, -way - too_far, height], axis=1) * size)
        planted.append(down)
    height = -0.05 + 0.02 * np.cos(4.0 * np.pi * time)
    _key_place(rig, body, np.stack([0.0 * time, -SPEED * time - too_far, height], axis=1) * size)
    bpy.context.view_layer.update()
    return np.stack(planted, axis=1)


def _key_place(rig, name, offset):
    """Key a control's location so that it is moved by ``offset`` (frames, 3), where its parents do not move."""
    bone = rig.pose.bones[name]
    axes = bone.bone.matrix_local.to_3x3()
    if not bone.bone.use_local_location:
        axes = bone.parent.bone.matrix_local.to_3x3() if bone.parent else axes.Identity(3)
    rigs.key(rig, bone.path_from_id("location"), offset @ np.array(axes), 1.0 + np.arange(FRAMES), group=name)


def turns_in_fk(rig, pairs):
    """How FK controls turn that hold the bones where the rig has them now: the quaternions (frames, 4) of each. pairs:
    (control, bone that follows it), from the hip down."""
    scene, frames = bpy.context.scene, 1.0 + np.arange(FRAMES)
    places = {control: [] for control, _ in pairs}
    for frame in frames:
        rigs.set_frame(scene, frame)
        for control, bone in pairs:
            places[control].append(rig.pose.bones[bone].matrix.copy())
    turns = {control: [] for control, _ in pairs}
    for i, frame in enumerate(frames):
        rigs.set_frame(scene, frame)
        for control, _ in pairs:
            bone = rig.pose.bones[control]
            bone.matrix = places[control][i]
            bpy.context.view_layer.update()
            turn = bone.rotation_quaternion.copy()
            turns[control].append(-turn if turns[control] and turn.dot(turns[control][-1]) < 0.0 else turn)
    return {control: np.array(rows) for control, rows in turns.items()}


def key_turns(rig, turns):
    """Key controls as ``turns_in_fk`` has them."""
    for control, rows in turns.items():
        path = rig.pose.bones[control].path_from_id("rotation_quaternion")
        rigs.key(rig, path, rows, 1.0 + np.arange(FRAMES), group=control)


def built(*, foot="copies", roll=False, pole=True, parented=False, copied=False):
    """A rig as people build it: legs whose shin has inverse kinematics to a foot control that hangs from the root.

    foot: "copies" the control's rotation, or has its "own" keys. roll: a bone between control and target turns the foot
    over its toe. pole: a bone tells where the knee points. parented: the control has no parent but a Child Of
    constraint. copied: what deforms are copies of these legs, with other names.
    """
    armature = rigs.biped("Built", root=True)
    bpy.ops.object.mode_set(mode="EDIT")
    edit = armature.data.edit_bones
    for side in "LR":
        heel, toe = edit[f"foot.{side}"].head.copy(), edit[f"toe.{side}"].head.copy()
        control = edit.new(f"control.{side}")
        control.head, control.tail = heel, heel + Vector((0.0, -0.2, 0.0))
        control.parent = None if parented else edit["root"]
        target = edit.new(f"target.{side}")
        target.head, target.tail, target.roll, target.parent = heel, toe, edit[f"foot.{side}"].roll, control
        if roll:
            bone = edit.new(f"roll.{side}")
            bone.head, bone.tail, bone.parent = toe, toe + Vector((0.0, 0.0, 0.1)), control
            target.parent = bone
        knee = edit.new(f"pole.{side}")
        knee.head = edit[f"shin.{side}"].head + Vector((0.0, -0.5, 0.0))
        knee.tail, knee.parent = knee.head + Vector((0.0, 0.0, 0.1)), edit["pelvis"]
        for role in _ROLES if copied else ():
            source = edit[f"{role}.{side}"]
            bone = edit.new(f"DEF-{role}.{side}")
            bone.head, bone.tail, bone.roll, bone.parent = source.head, source.tail, source.roll, edit["root"]
    bpy.ops.object.mode_set(mode="POSE")
    for side in "LR":
        bones = armature.pose.bones
        chain = bones[f"shin.{side}"].constraints.new("IK")
        chain.target, chain.subtarget, chain.chain_count = armature, f"target.{side}", 2
        if pole:
            chain.pole_target, chain.pole_subtarget = armature, f"pole.{side}"
            _set_pole(chain, bones[f"shin.{side}"])
        if foot == "copies":
            copy = bones[f"foot.{side}"].constraints.new("COPY_ROTATION")
            copy.target, copy.subtarget = armature, f"target.{side}"
        if parented:
            holder = bones[f"control.{side}"].constraints.new("CHILD_OF")
            holder.target, holder.subtarget = armature, "root"
            holder.inverse_matrix = bones["root"].matrix.inverted()
        for role in _ROLES if copied else ():
            copy = bones[f"DEF-{role}.{side}"].constraints.new("COPY_TRANSFORMS")
            copy.target, copy.subtarget = armature, f"{role}.{side}"
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.view_layer.update()
    return armature


def _set_pole(chain, shin):
    """The angle of the pole with which the knee is nearest to where it rests."""
    away = {}
    for angle in np.linspace(-np.pi, np.pi, 73):
        chain.pole_angle = angle
        bpy.context.view_layer.update()
        away[angle] = (shin.head - shin.bone.head_local).length
    chain.pole_angle = min(away, key=away.get)


# The bones of a leg of Auto-Rig Pro: what deforms, its FK controls, and its IK bones.
_DEFORM = ("thigh_stretch", "leg_stretch", "foot", "toes_01")
_FK = ("c_thigh_fk", "c_leg_fk", "c_foot_fk", "c_toes_fk")
_IK = ("thigh_ik", "leg_ik", "foot_ik_target", "c_toes_ik")


def auto_rig_pro():
    """A rig with Auto-Rig Pro's names and manner: what deforms copies FK controls and IK bones, and a property of the
    foot control, 0 for IK and 1 for FK, fades the latter out."""
    names = {
        f"{role}.{side}": f"{name}.{side.lower()}" for role, name in zip(_ROLES, _DEFORM, strict=True) for side in "LR"
    }
    rig = rigs.biped("Character", names={"pelvis": "root.x", **names})
    bpy.ops.object.mode_set(mode="EDIT")
    edit = rig.data.edit_bones

    def copy(source, name, parent):
        bone = edit.new(name)
        bone.head, bone.tail, bone.roll = edit[source].head, edit[source].tail, edit[source].roll
        bone.parent = edit[parent] if parent else None
        return name

    traj = edit.new("c_traj")
    traj.head, traj.tail = (0.0, 0.0, 0.0), (0.0, 0.5, 0.0)
    master = copy("root.x", "c_root_master.x", "c_traj")
    copy("root.x", "c_root.x", master)
    for side in "lr":
        last = "c_root.x"
        for source, control in zip(_DEFORM, _FK, strict=True):
            last = copy(f"{source}.{side}", f"{control}.{side}", last)
        foot = edit.new(f"c_foot_ik.{side}")
        foot.head = edit[f"foot.{side}"].head
        foot.tail, foot.parent = foot.head + Vector((0.0, -0.2, 0.0)), edit["c_traj"]
        copy(f"thigh_stretch.{side}", f"thigh_ik.{side}", "c_root.x")
        copy(f"leg_stretch.{side}", f"leg_ik.{side}", f"thigh_ik.{side}")
        copy(f"foot.{side}", f"foot_ik_target.{side}", f"c_foot_ik.{side}")
        copy(f"toes_01.{side}", f"c_toes_ik.{side}", f"foot_ik_target.{side}")
    bpy.ops.object.mode_set(mode="POSE")
    bones = rig.pose.bones
    _copy(rig, "root.x", "c_root.x")
    for side in "lr":
        chain = bones[f"leg_ik.{side}"].constraints.new("IK")
        chain.target, chain.subtarget, chain.chain_count = rig, f"foot_ik_target.{side}", 2
        bones[f"c_foot_ik.{side}"]["ik_fk_switch"] = 0.0
        for deformed, fk, ik in zip(_DEFORM, _FK, _IK, strict=True):
            _copy(rig, f"{deformed}.{side}", f"{fk}.{side}")
            _fade_out(rig, _copy(rig, f"{deformed}.{side}", f"{ik}.{side}"), f"c_foot_ik.{side}")
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.view_layer.update()
    return rig


def _copy(rig, name, source):
    constraint = rig.pose.bones[name].constraints.new("COPY_TRANSFORMS")
    constraint.target, constraint.subtarget = rig, source
    return constraint


def _fade_out(rig, constraint, switch):
    """Drive an influence by 1 minus the property of the foot control."""
    driver = constraint.driver_add("influence").driver
    driver.type = "SCRIPTED"
    driver.expression = "1 - fk"
    variable = driver.variables.new()
    variable.name = "fk"
    variable.targets[0].id = rig
    variable.targets[0].data_path = f'pose.bones["{switch}"]["ik_fk_switch"]'
