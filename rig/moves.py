"""What a correction does to bones, and the channels that do it.

A LegSolution says how the parts of a leg turn. In a plain skeleton each part is a bone with keys; in a control rig
other bones drive it, and these get the moves that bring it there.
"""

from dataclasses import dataclass, field

import numpy as np

from ..solvers import rotations as rot
from ..solvers import small_matrices
from . import clip as clips
from . import held, kinematics

# A channel that changes by less than this (radians, parts of a quaternion, or metres) keeps the number that it has:
# it is below what single precision keeps of it.
UNCHANGED = 1e-6


@dataclass(frozen=True)
class Moves:
    """What a correction does to bones, in armature space and units. ``shifts``: bone → (frames, 3), by which its head
    moves; ``turns``: bone → (frames, 3, 3), put before its orientation; ``sizes``: bone → (frames,), how many times as
    large it becomes, what it inherits included. ``active``: bone → (frames,) bool, where its keys count; a bone that is
    not there has them count always. ``carried``: bone → (shift, turn) of those that constraints move, which get no
    keys."""

    shifts: dict
    turns: dict = field(default_factory=dict)
    sizes: dict = field(default_factory=dict)
    active: dict = field(default_factory=dict)
    carried: dict = field(default_factory=dict)


def corrected_channels(clip, moves):
    """The channels that change by Moves: (bone, property, old (frames or 1, n), new (frames, n)) of each. Bones below
    are carried along."""
    changed, poses = [], list(clip.poses)
    moved = set()
    metres = np.linalg.norm(clip.world_from_armature[0, :3, 0])  # of one unit of the armature
    constrained = clip.controls is not None and clip.controls.constrained
    for i, bone in enumerate(clip.bones):
        keyed = bone.name in moves.shifts or bone.name in moves.turns
        if not keyed and bone.name not in moves.carried and bone.parent not in moved:
            continue
        moved.add(i)
        if not keyed and bone.name in moves.carried:
            shift, turn = moves.carried[bone.name]
            poses[i] = poses[i].copy()
            poses[i][:, :3, :3] = turn @ poses[i][:, :3, :3]
            poses[i][:, :3, 3] += shift
            continue
        if not keyed and constrained:
            # Whatever places it goes along with its parent, as far as can be told before the rig is evaluated.
            way = poses[bone.parent] @ small_matrices.inverse_affine(clip.poses[bone.parent])
            poses[i] = way @ poses[i]
            continue
        channels = clip.channels[i]
        above = clip.poses if bone.follows else poses
        parent = (clip.bones[bone.parent], above[bone.parent]) if bone.parent >= 0 else (None, None)
        space = kinematics.space(bone, *parent)
        if bone.follows:
            # A constraint stands for its parent, too.
            own = kinematics.pose(space, kinematics.basis(channels, bone.rotation_mode, bone.connected))
            space = kinematics.carried(space, clip.poses[i] @ small_matrices.inverse_affine(own))
        location, rotation, scale = channels.location, channels.rotation, channels.scale
        if bone.name in moves.shifts:
            location = kinematics.local_location(space, clip.poses[i][:, :3, 3] + moves.shifts[bone.name])
            location = _kept(location, channels.location, UNCHANGED / metres, moves.active.get(bone.name))
            changed.append((bone, "location", channels.location, location))
        if bone.name in moves.turns:
            turned = moves.turns[bone.name] @ clip.poses[i][:, :3, :3]
            local = kinematics.local_rotation(space, turned, channels.scale)
            rotation = kinematics.rotation_channel(local, bone.rotation_mode, channels.rotation)
            rotation = _kept(rotation, channels.rotation, UNCHANGED, moves.active.get(bone.name))
            changed.append((bone, clips.rotation_property(bone), channels.rotation, rotation))
        posed = _posed(bone, space, location, rotation, scale)
        if bone.name in moves.sizes:
            wanted = np.linalg.norm(clip.poses[i][:, :3, :3], axis=1) * moves.sizes[bone.name][:, None]
            scale = _kept(scale * (wanted / np.linalg.norm(posed[:, :3, :3], axis=1)), channels.scale, UNCHANGED)
            changed.append((bone, "scale", channels.scale, scale))
            posed = _posed(bone, space, location, rotation, scale)
        poses[i] = np.broadcast_to(posed, poses[i].shape)
    return changed


def _posed(bone, space, location, rotation, scale):
    matrix = kinematics.basis(kinematics.Channels(location, rotation, scale), bone.rotation_mode, bone.connected)
    return kinematics.pose(space, matrix)


def of_solution(clip, pelvis, solution, stretch=None, whole=False, left=held.NOTHING):
    """The Moves that bring the pelvis to ``pelvis`` (frames, 3), world, metres, and the legs to a LegSolution (frames,
    legs), by the clip's Controls. whole: it is not the rest of a way, and targets that were out of a leg's reach come
    back into it. left: Held, what is left alone."""
    driven_by, shifts, turns, carried = clip.controls, {}, {}, {}
    shift = pelvis - clip.head(clip.legs.pelvis)
    if shift.any() and not left.carrier:
        shifts[driven_by.carrier] = in_armature(clip, shift)
    pose = clip.leg_pose() if driven_by.constrained or any(limb.places for limb in driven_by.limbs) else None
    for i, (leg, limb) in enumerate(zip(clip.legs.legs, driven_by.limbs, strict=True)):
        for role, sources in limb.turns.items():
            turns.update(dict.fromkeys((one.bone for one in sources), getattr(solution, f"{role}_turn")[:, i]))
        for source in limb.places:
            turn = turns[source.bone] = getattr(solution, f"{limb.carry}_turn")[:, i] if limb.carry else None
            # What has to be right is where the toe is; a foot that turns by itself leaves the ankle to be placed.
            end = "toe" if limb.carry or not limb.turns["foot"] else "heel"
            point, target = getattr(pose, end)[:, i], getattr(solution, end)[:, i]
            if whole and source.tip:
                # A target that was out of the leg's reach was not followed.
                point = point + clip.head(source.tip) - pose.heel[:, i]
            arm = clip.head(source.bone) - point
            turned = arm if turn is None else rot.rotate(turn, arm)
            moved = rot.length(solution.heel[:, i] - pose.heel[:, i]) + rot.length(shift) > UNCHANGED
            shifts[source.bone] = in_armature(clip, np.where(moved, target - point + turned - arm, 0.0))
        if driven_by.constrained:
            for name, moved, turn in (
                (leg.thigh, shift, solution.thigh_turn),
                (leg.shin, (solution.knee - pose.knee)[:, i], solution.shin_turn),
            ):
                carried[name] = in_armature(clip, moved), in_axes(clip, turn[:, i])
    turns = {bone: in_axes(clip, turn) for bone, turn in turns.items() if turn is not None and bone not in left.bones}
    shifts = {bone: shift for bone, shift in shifts.items() if bone not in left.bones}
    sizes = {} if left.sizes else _sizes(clip, stretch)
    return Moves(shifts, turns, sizes, _active(clip), carried)


def _active(clip):
    """Where keys on a bone count, (frames,) bool, of those bones where they do not always."""
    active = {}
    for source in (source for limb in clip.controls.limbs for source in limb.sources()):
        active[source.bone] = active.get(source.bone, False) | source.active(clip.influences)
    return {bone: where for bone, where in active.items() if not np.all(where)}


def turn_left(clip, bone, wanted):
    """World rotations (frames, 4) that bring a bone to an orientation (frames, 3, 3) in the armature, where the columns
    of both may be scaled."""
    poses = clip.poses[clip.index(bone)][:, :3, :3]
    way = wanted / np.linalg.norm(wanted, axis=1, keepdims=True)
    way = way @ (poses / np.linalg.norm(poses, axis=1, keepdims=True)).transpose(0, 2, 1)
    turn = rot.from_matrix(way)
    world = clip.world_from_armature[:, :3, :3]
    upright = world / np.linalg.norm(world, axis=1, keepdims=True)
    return np.concatenate([turn[:, :1], (upright @ turn[:, 1:, None])[..., 0]], axis=1)


def in_axes(clip, turn):
    """World rotations (frames, 4) as matrices (frames, 3, 3) in the armature: the same turns, whose axes are seen from
    there."""
    world = clip.world_from_armature[:, :3, :3]
    upright = world / np.linalg.norm(world, axis=1, keepdims=True)
    axis = (turn[:, None, 1:] @ upright)[:, 0]
    return rot.to_matrix(np.concatenate([turn[:, :1], axis], axis=1))


def _sizes(clip, stretch):
    """How many times as large (frames,) the bones of the legs become, by name."""
    sizes = {}
    for i, leg in enumerate(clip.legs.legs):
        if stretch is not None and (stretch[:, i] != 1.0).any():
            sizes.update({leg.thigh: stretch[:, i], leg.shin: stretch[:, i], leg.foot: np.ones(len(stretch))})
    return sizes


def _kept(new, old, least, active=None):
    """The new channel (frames, n), with the old numbers in frames where it changes by less than ``least``, or is not
    ``active`` (frames,)."""
    same = np.abs(new - old).max(axis=1, keepdims=True) < least
    if active is not None:
        same |= ~active[:, None]
    return np.where(same, old, new)


def in_armature(clip, vectors):
    """World vectors (frames, 3), metres, in the armature's space and units."""
    armature_from_world = small_matrices.inverse(clip.world_from_armature[:, :3, :3])
    return (armature_from_world @ vectors[..., None])[..., 0]
