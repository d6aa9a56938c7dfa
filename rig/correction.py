"""A correction written into the action: the legs' rotations and the location that carries the pelvis, and nothing
else."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ..solvers import knee_side, leg_chain, small_matrices
from ..solvers import rotations as rot
from ..solvers.errors import FootlockError
from . import clip as clips
from . import compat, curves, key_reduction, kinematics, root

# A channel that changes by less than this (radians, parts of a quaternion, or metres) keeps the number that it has:
# it is below what single precision keeps of it.
_UNCHANGED = 1e-6
# A planted toe further than this from its place halfway between two frames (metres) slides there.
_STILL_BETWEEN = 2e-5
# How far a knee may move for that, metres, beside twice as far as the toe.
_MOST_KNEE = 1e-3
# A modifier that repeats the keys leaves those of the whole action as they are.
_HARMLESS_MODIFIERS = {"CYCLES"}


def check(armature, legs, stretched=False):
    """Raise FootlockError where the legs' keys would not move them: constraints, drivers, muted curves, modifiers.
    Call before anything is changed. stretched: legs get keys on their scale, too."""
    keyed = {legs.carrier or legs.pelvis: "location"}
    clips.check_keys_move(armature, clips.limb_bones(armature, legs))
    pose_bones = armature.pose.bones
    for leg in legs.legs:
        for name in filter(None, (leg.thigh, leg.shin, leg.foot, leg.toe)):
            keyed[name] = clips.rotation_property(pose_bones[name])
    _check_curves(armature, keyed)
    if stretched:
        sized = (name for leg in legs.legs for name in (leg.thigh, leg.shin, leg.foot))
        _check_curves(armature, dict.fromkeys(sized, "scale"))
    for leg in legs.legs:
        for upper, lower in pairwise(filter(None, (leg.thigh, leg.shin, leg.foot, leg.toe))):
            between = pose_bones[lower].parent
            while between is not None and between.name != upper:
                if not between.bone.use_inherit_rotation:
                    raise FootlockError(
                        f"Bone “{between.name}” within a leg does not inherit rotation, so the leg falls apart when it"
                        " turns: switch on Inherit Rotation in its bone properties."
                    )
                between = between.parent
            if between is None:
                raise FootlockError(
                    f"The foot “{lower}” does not hang from “{upper}”, so bending the leg would not move it:"
                    " contacts and the root's fit work on such a rig, Remove Sliding does not yet."
                )
    _check_loose(pose_bones[legs.carrier or legs.pelvis])


@dataclass(frozen=True)
class Keys:
    """Which keys a correction gets: on every frame of ``span``, (first, last), or of the clip; with ``only_there``
    those that are there get new values, and none is added; with a ``tolerance`` (metres) as few as leave the joints of
    the legs no further than that from where they belong."""

    span: tuple | None = None
    only_there: bool = False
    tolerance: float = 0.0


ALL_KEYS = Keys()


def write(armature, clip, pelvis, solution, keys=ALL_KEYS, stretch=None):
    """Write a correction: ``pelvis`` (frames, 3) in the world, metres, and the turns of a LegSolution (frames, legs),
    into the action in use. keys: Keys. stretch: (frames, legs), how many times as long thighs and shins become; the
    feet keep their size.

    Only frames that change get another value; bones that do not change in any frame are not touched. Each bone keeps
    its rotation mode, the signs of its quaternions and the turns of its Euler angles.
    """
    shift = _in_armature(clip, pelvis - clip.head(clip.legs.pelvis))
    carrier = clip.legs.carrier or clip.legs.pelvis
    changed = corrected_channels(clip, {carrier: shift}, _turns(clip, solution), _sizes(clip, stretch))
    _write_channels(armature, clip, changed, keys)


def hold_between(scene, armature, clip, standing):
    """Bend the legs' curves between frames so that planted toes do not slide there either.

    clip: as it was read from the action after ``write``. standing (frames - 1, legs) bool: steps in which a toe stands
    still. Joints turn evenly from key to key, and a toe at their end then swings out halfway: by some tenths of a
    millimetre at 120 Hz, some millimetres at 30. Nothing changes at the keys, and nothing where one of a leg's curves
    has none.
    """
    half = clips.halfway(scene, armature, clip)
    pose, toe = half.leg_pose(), clip.leg_pose().toe
    place = 0.5 * (toe[1:] + toe[:-1])
    away = rot.length(pose.toe - place)[..., 0]
    bent = standing & (away > _STILL_BETWEEN)
    if not bent.any():
        return
    shins = np.stack([half.world_rotation(leg.shin) for leg in half.legs.legs], axis=1)
    side, no_floor = knee_side.side_vectors(pose, shins), leg_chain.MinimumHeights(-np.inf, -np.inf, -np.inf)
    share = bent.astype(float)
    for _ in range(2):
        solution = leg_chain.solve(pose, pose.toe + share[..., None] * (place - pose.toe), side, no_floor)
        # A leg that is nearly straight bends far for a little: it shall not, its knee moves as the root of that.
        knee, most = rot.length(solution.knee - pose.knee)[..., 0], _MOST_KNEE + 2.0 * away
        if (knee <= most).all():
            break
        share = np.where(knee > most, share * (most / np.maximum(knee, most)) ** 2, share)
    leg_of = {name: i for i, leg in enumerate(clip.legs.legs) for name in (leg.thigh, leg.shin, leg.foot, leg.toe)}
    paths = curves.by_path(armature)
    bends = []
    for bone, channel, old, new in corrected_channels(half, {}, _turns(half, solution)):
        path, leg = armature.pose.bones[bone.name].path_from_id(channel), leg_of[bone.name]
        for i in range(new.shape[1]):
            curve, turned = paths.get((path, i)), np.abs(new[:, i] - old[:, i]) > _UNCHANGED
            bent[:, leg] &= ~turned | (False if curve is None else curves.keyed_steps(curve, clip.frames))
            bends.append((curve, leg, turned, new[:, i]))
    for curve, leg, turned, values in bends:
        if curve is not None and (bent[:, leg] & turned).any():
            curves.pass_halfway(curve, clip.frames, bent[:, leg] & turned, values)


def scale_travel(armature, clip, factor):
    """Scale the horizontal travel of the character's root, from where it is in the first frame, as the article does
    to make a clip slide. Raises FootlockError where no bone from the pelvis up has keys on its location."""
    bone = root.keyed(clip)
    if bone is None:
        raise FootlockError(
            f"No bone from the pelvis of “{armature.name}” up has keys on its location: there is no travel to scale."
        )
    move(armature, clip, [bone], (factor - 1.0) * root.travel(clip, bone))


def move(armature, clip, bones, shift):
    """Move bones by ``shift`` (frames, 3), world, metres, and all that hangs from them."""
    shift = _in_armature(clip, shift)
    _write_channels(armature, clip, corrected_channels(clip, dict.fromkeys(bones, shift), {}))


def move_level(armature, clip, bones, shift):
    """Move bones over the ground by ``shift`` (frames, 2), world, metres, and all that hangs from them."""
    move(armature, clip, bones, np.concatenate([shift, np.zeros((len(shift), 1))], axis=1))


def go_on(armature, bones):
    """Where modifiers repeat the action, let the locations of ``bones`` go on from where a cycle ended."""
    if not any(_repeats(curve) for curve in compat.fcurves(armature)):
        return
    paths = {armature.pose.bones[bone].path_from_id("location") for bone in bones}
    for curve in compat.fcurves(armature):
        if curve.data_path in paths:
            modifier = _repeats(curve) or curve.modifiers.new("CYCLES")
            modifier.mode_before = modifier.mode_after = "REPEAT_OFFSET"


def _repeats(curve):
    """The modifier that repeats a curve, or None."""
    return next((one for one in curve.modifiers if one.type == "CYCLES" and not one.mute), None)


def check_root(armature, bone):
    """Raise FootlockError where keys on a bone's location would not move it."""
    clips.check_keys_move(armature, [bone])
    _check_curves(armature, {bone: "location"})
    _check_loose(armature.pose.bones[bone])


def corrected_channels(clip, shifts, turns, sizes=None):
    """The channels that change: (bone, property, old (frames or 1, n), new (frames, n)) of each.

    shifts: bone name → (frames, 3), by which its head moves; turns: bone name → (frames, 3, 3), put before its
    orientation; sizes: bone name → (frames,), how many times as large it becomes, what it inherits included. Armature
    space and units. Bones below are carried along.
    """
    sizes = sizes or {}
    changed, poses = [], list(clip.poses)
    moved = set()
    metres = np.linalg.norm(clip.world_from_armature[0, :3, 0])  # of one unit of the armature
    for i, bone in enumerate(clip.bones):
        if bone.name not in shifts and bone.name not in turns and bone.parent not in moved:
            continue
        moved.add(i)
        channels = clip.channels[i]
        parent = (clip.bones[bone.parent], poses[bone.parent]) if bone.parent >= 0 else (None, None)
        space = kinematics.space(bone, *parent)
        location, rotation, scale = channels.location, channels.rotation, channels.scale
        if bone.name in shifts:
            location = kinematics.local_location(space, poses[i][:, :3, 3] + shifts[bone.name])
            location = _kept(location, channels.location, _UNCHANGED / metres)
            changed.append((bone, "location", channels.location, location))
        if bone.name in turns:
            local = kinematics.local_rotation(space, turns[bone.name] @ poses[i][:, :3, :3], channels.scale)
            rotation = kinematics.rotation_channel(local, bone.rotation_mode, channels.rotation)
            rotation = _kept(rotation, channels.rotation, _UNCHANGED)
            changed.append((bone, clips.rotation_property(bone), channels.rotation, rotation))
        posed = _posed(bone, space, location, rotation, scale)
        if bone.name in sizes:
            wanted = np.linalg.norm(clip.poses[i][:, :3, :3], axis=1) * sizes[bone.name][:, None]
            scale = _kept(scale * (wanted / np.linalg.norm(posed[:, :3, :3], axis=1)), channels.scale, _UNCHANGED)
            changed.append((bone, "scale", channels.scale, scale))
            posed = _posed(bone, space, location, rotation, scale)
        poses[i] = np.broadcast_to(posed, poses[i].shape)
    return changed


def _posed(bone, space, location, rotation, scale):
    matrix = kinematics.basis(kinematics.Channels(location, rotation, scale), bone.rotation_mode, bone.connected)
    return kinematics.pose(space, matrix)


def _turns(clip, solution):
    """The turns of a LegSolution (frames, legs) as matrices (frames, 3, 3) in the armature, by bone."""
    world = clip.world_from_armature[:, :3, :3]
    upright = world / np.linalg.norm(world, axis=1, keepdims=True)
    turns = {}
    for i, leg in enumerate(clip.legs.legs):
        bones = (
            (leg.thigh, solution.thigh_turn),
            (leg.shin, solution.shin_turn),
            (leg.foot, solution.foot_turn),
            (leg.toe, solution.toe_turn),
        )
        for name, turn in bones:
            if name:
                # The same turn seen from the armature: its axis is.
                axis = (turn[:, i, None, 1:] @ upright)[:, 0]
                turns[name] = rot.to_matrix(np.concatenate([turn[:, i, :1], axis], axis=1))
    return turns


def _sizes(clip, stretch):
    """How many times as large (frames,) the bones of the legs become, by name."""
    sizes = {}
    for i, leg in enumerate(clip.legs.legs):
        if stretch is not None and (stretch[:, i] != 1.0).any():
            sizes.update({leg.thigh: stretch[:, i], leg.shin: stretch[:, i], leg.foot: np.ones(len(stretch))})
    return sizes


def _check_curves(armature, keyed):
    """Raise FootlockError where a curve of the channels that are to be keyed, bone → channel, would hide the keys."""
    for curve in compat.fcurves(armature):
        bone, channel = curves.bone_and_property(curve.data_path)
        if channel != keyed.get(bone):
            continue
        if compat.is_muted(curve):
            raise FootlockError(
                f"The curve “{channel}” of bone “{bone}” is muted, so keys on it would do nothing:"
                " unmute it, or delete it."
            )
        if any(not modifier.mute and modifier.type not in _HARMLESS_MODIFIERS for modifier in curve.modifiers):
            raise FootlockError(
                f"The curve “{channel}” of bone “{bone}” has a modifier that would change the corrected keys:"
                " bake it first (Key, Bake)."
            )


def _check_loose(bone):
    if bone.bone.use_connect:
        raise FootlockError(
            f"Bone “{bone.name}” is connected to its parent and cannot move:"
            " choose another pelvis, or disconnect it in Edit Mode."
        )


def _kept(new, old, least):
    """The new channel (frames, n), with the old numbers in frames where it changes by less than ``least``."""
    same = np.abs(new - old).max(axis=1, keepdims=True) < least
    return np.where(same, old, new)


def _in_armature(clip, vectors):
    """World vectors (frames, 3), metres, in the armature's space and units."""
    armature_from_world = small_matrices.inverse(clip.world_from_armature[:, :3, :3])
    return (armature_from_world @ vectors[..., None])[..., 0]


def _write_channels(armature, clip, changed, keys=ALL_KEYS):
    """Write what ``corrected_channels`` returns; components that are as they were are left alone."""
    frames, paths = clip.frames, curves.by_path(armature)
    few = key_reduction.frames_of_keys(clip, changed, keys.tolerance, keys.span) if keys.tolerance > 0.0 else None
    for bone, channel, old, new in changed:
        same = [np.array_equal(np.broadcast_to(old[:, i], len(new)), new[:, i]) for i in range(new.shape[1])]
        if all(same):
            continue
        path = armature.pose.bones[bone.name].path_from_id(channel)
        for i, unchanged in enumerate(same):
            curve = paths.get((path, i))
            if curve is None or not unchanged:
                if keys.only_there:
                    if curve is not None:
                        curves.write_at_keys(curve, frames, new[:, i], keys.span)
                    continue
                curve = curve or compat.ensure_fcurve(armature, path, i, bone.name)
                span = keys.span and curves.widened(curve, frames, keys.span)
                if few is not None:
                    beside = span and curves.within(frames, span) & ~curves.within(frames, keys.span)
                    at = few if span is None else np.union1d(few, np.flatnonzero(beside))
                    slopes = key_reduction.slopes(new[:, i])[at] / (frames[1] - frames[0])
                    curves.write_smooth(curve, frames[at], new[at, i], slopes, span)
                elif span is None:
                    curves.write(curve, frames, new[:, i])
                else:
                    curves.write_span(curve, frames, new[:, i], span)
