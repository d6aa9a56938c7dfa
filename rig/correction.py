"""A correction written into the action: the legs' rotations and the location that carries the pelvis, and nothing
else."""

from dataclasses import dataclass, field, fields, replace
from itertools import pairwise

import numpy as np

from ..solvers import contacts, knee_side, leg_chain, small_matrices
from ..solvers import rotations as rot
from ..solvers.errors import FootlockError
from . import clip as clips
from . import compat, controls, curves, key_reduction, kinematics, root

# A channel that changes by less than this (radians, parts of a quaternion, or metres) keeps the number that it has:
# it is below what single precision keeps of it.
_UNCHANGED = 1e-6
# A planted toe further than this from its place halfway between two frames (metres) slides there.
_STILL_BETWEEN = 2e-5
# How far a knee may move for that, metres, beside twice as far as the toe.
_MOST_KNEE = 1e-3
# Share of the leg's length by which a foot that hangs loose may be away from its shin: as much as legs may stretch.
_GAP = 0.02
# A control rig is brought nearer to where it shall be so often, until its toes are no further away, metres, or as near
# as its constraints let them come.
_SETTLED = 3e-5
_SETTLING = 3
# A modifier that repeats the keys leaves those of the whole action as they are.
_HARMLESS_MODIFIERS = {"CYCLES"}


def check(armature, legs, stretched=False):
    """The Controls of the legs. Raises FootlockError where no keys would move them: constraints that lead nowhere,
    drivers, muted curves, modifiers. Call before anything is changed. stretched: legs get keys on their scale, too."""
    driven_by = controls.of(armature, legs)
    pose_bones = armature.pose.bones
    keyed = [(name, "location") for name, kinds in driven_by.channels().items() if "place" in kinds]
    for name, kinds in driven_by.channels().items():
        if "turn" in kinds:
            keyed.append((name, clips.rotation_property(pose_bones[name])))
        if "place" in kinds:
            _check_loose(pose_bones[name])
    if stretched:
        if driven_by.constrained:
            raise FootlockError(
                "Constraints move these legs, and their length is the rig's own: set Stretch Legs to 0."
            )
        keyed += [(name, "scale") for leg in legs.legs for name in (leg.thigh, leg.shin, leg.foot)]
    _check_curves(armature, set(keyed))
    for leg in legs.legs:
        for upper, lower in pairwise(filter(None, (leg.thigh, leg.shin, leg.foot, leg.toe))):
            between = pose_bones[lower].parent
            while between is not None and between.name != upper and not driven_by.constrained:
                if not between.bone.use_inherit_rotation and pose_bones[upper] in between.parent_recursive:
                    raise FootlockError(
                        f"Bone “{between.name}” within a leg does not inherit rotation, so the leg falls apart when it"
                        " turns: switch on Inherit Rotation in its bone properties."
                    )
                between = between.parent
    return driven_by


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
    moves = _moves(clip, pelvis, solution, stretch, whole=True)
    _write_channels(armature, clip, corrected_channels(clip, moves), keys, moves.active)


def reached(clip, solution):
    """The LegSolution with the feet that hang from no shin where they shall be, as far as the leg nearly gets there:
    such a foot can be put down, and a gap of a fiftieth of the leg is hardly seen."""
    if clip.controls.constrained:
        return solution
    loose = np.array([bool(limb.places) for limb in clip.controls.limbs])
    missing = solution.toe_target - solution.toe
    size = rot.length(missing)
    gap = np.minimum(size, _GAP * clip.leg_pose().leg_lengths()[:, None]) if loose.any() else size
    way = np.where(loose[:, None], missing * (gap / np.where(size > 0.0, size, 1.0)), 0.0)
    moved = {name: getattr(solution, name) + way for name in ("heel", "toe", "toe_end")}
    return replace(solution, **moved, residual=solution.residual - np.where(loose, gap[..., 0], 0.0))


def settle(scene, armature, clip, pelvis, solution, keys=ALL_KEYS):
    """Bring the legs of a control rig to where ``write`` was to bring them, as far as constraints had another way with
    it, and return the Clip as it is then.

    clip, pelvis, solution: as they were given to ``write``.
    """
    no_floor = leg_chain.MinimumHeights(-np.inf, -np.inf, -np.inf)
    feet = [leg.foot for leg in clip.legs.legs]
    wanted = [
        _in_axes(clip, solution.foot_turn[:, i]) @ clip.poses[clip.index(foot)][:, :3, :3]
        for i, foot in enumerate(feet)
    ]
    now, last = clips.read(scene, armature, clip.legs, clip.unit, clip.controls), np.inf
    for _ in range(_SETTLING):
        pose, shift = now.leg_pose(), (pelvis - now.head(clip.legs.pelvis))[:, None]
        away = max(rot.length(solution.toe - pose.toe).max(), rot.length(shift).max())
        if away < _SETTLED or away > 0.5 * last:
            break
        last = away
        pose = leg_chain.LegPose(*(getattr(pose, field.name) + shift for field in fields(pose)))
        shins = np.stack([now.world_rotation(leg.shin) for leg in now.legs.legs], axis=1)
        turn = np.stack([_turn_left(now, foot, wanted[i]) for i, foot in enumerate(feet)], axis=1)
        turn = np.where([[[limb.carry != "toe"] for limb in clip.controls.limbs]], turn, rot.IDENTITY)
        side = knee_side.side_vectors(pose, shins)
        left = leg_chain.solve(pose, solution.toe, side, no_floor, turn=turn)
        # What the legs reach from here says nothing of where they reach when their feet have been carried there.
        moves = _moves(now, pelvis, replace(left, heel=solution.heel, toe=solution.toe))
        _write_channels(armature, now, corrected_channels(now, moves), keys, moves.active)
        now = clips.read(scene, armature, clip.legs, clip.unit, clip.controls)
    return now


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
    leg_of = {source.bone: i for i, limb in enumerate(clip.controls.limbs) for source in limb.sources()}
    paths = curves.by_path(armature)
    bends = []
    moves = _moves(half, half.head(half.legs.pelvis), solution)
    for bone, channel, old, new in corrected_channels(half, moves):
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
    _write_channels(armature, clip, corrected_channels(clip, Moves(dict.fromkeys(bones, shift))))


def move_level(armature, clip, bones, shift):
    """Move bones over the ground by ``shift`` (frames, 2), world, metres, and all that hangs from them."""
    move(armature, clip, bones, np.concatenate([shift, np.zeros((len(shift), 1))], axis=1))


def check_root(armature, bone):
    """Raise FootlockError where keys on a bone's location would not move it."""
    clips.check_keys_move(armature, [bone])
    _check_curves(armature, {(bone, "location")})
    _check_loose(armature.pose.bones[bone])


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
            location = _kept(location, channels.location, _UNCHANGED / metres, moves.active.get(bone.name))
            changed.append((bone, "location", channels.location, location))
        if bone.name in moves.turns:
            turned = moves.turns[bone.name] @ clip.poses[i][:, :3, :3]
            local = kinematics.local_rotation(space, turned, channels.scale)
            rotation = kinematics.rotation_channel(local, bone.rotation_mode, channels.rotation)
            rotation = _kept(rotation, channels.rotation, _UNCHANGED, moves.active.get(bone.name))
            changed.append((bone, clips.rotation_property(bone), channels.rotation, rotation))
        posed = _posed(bone, space, location, rotation, scale)
        if bone.name in moves.sizes:
            wanted = np.linalg.norm(clip.poses[i][:, :3, :3], axis=1) * moves.sizes[bone.name][:, None]
            scale = _kept(scale * (wanted / np.linalg.norm(posed[:, :3, :3], axis=1)), channels.scale, _UNCHANGED)
            changed.append((bone, "scale", channels.scale, scale))
            posed = _posed(bone, space, location, rotation, scale)
        poses[i] = np.broadcast_to(posed, poses[i].shape)
    return changed


def _posed(bone, space, location, rotation, scale):
    matrix = kinematics.basis(kinematics.Channels(location, rotation, scale), bone.rotation_mode, bone.connected)
    return kinematics.pose(space, matrix)


def _moves(clip, pelvis, solution, stretch=None, whole=False):
    """The Moves that bring the pelvis to ``pelvis`` (frames, 3), world, metres, and the legs to a LegSolution (frames,
    legs), by the clip's Controls. whole: it is not the rest of a way, and targets that were out of a leg's reach come
    back into it."""
    driven_by, shifts, turns, carried = clip.controls, {}, {}, {}
    shift = pelvis - clip.head(clip.legs.pelvis)
    if shift.any():
        shifts[driven_by.carrier] = _in_armature(clip, shift)
    pose = clip.leg_pose() if driven_by.constrained or any(limb.places for limb in driven_by.limbs) else None
    for i, (leg, limb) in enumerate(zip(clip.legs.legs, driven_by.limbs, strict=True)):
        for role, sources in limb.turns.items():
            turns.update(dict.fromkeys((one.bone for one in sources), getattr(solution, f"{role}_turn")[:, i]))
        for source in limb.places:
            turn = turns[source.bone] = getattr(solution, f"{limb.carry}_turn")[:, i] if limb.carry else None
            # What has to be right is where the toe is; a foot that turns by itself leaves the ankle to be placed.
            point, target = (
                (pose.toe[:, i], solution.toe[:, i]) if limb.carry else (pose.heel[:, i], solution.heel[:, i])
            )
            if whole and source.tip:
                # A target that was out of the leg's reach was not followed.
                point = point + clip.head(source.tip) - pose.heel[:, i]
            arm = clip.head(source.bone) - point
            turned = arm if turn is None else rot.rotate(turn, arm)
            moved = rot.length(solution.heel[:, i] - pose.heel[:, i]) + rot.length(shift) > _UNCHANGED
            shifts[source.bone] = _in_armature(clip, np.where(moved, target - point + turned - arm, 0.0))
        if driven_by.constrained:
            for name, moved, turn in (
                (leg.thigh, shift, solution.thigh_turn),
                (leg.shin, (solution.knee - pose.knee)[:, i], solution.shin_turn),
            ):
                carried[name] = _in_armature(clip, moved), _in_axes(clip, turn[:, i])
    turns = {bone: _in_axes(clip, turn) for bone, turn in turns.items() if turn is not None}
    return Moves(shifts, turns, _sizes(clip, stretch), _active(clip), carried)


def _active(clip):
    """Where keys on a bone count, (frames,) bool, of those bones where they do not always."""
    active = {}
    for source in (source for limb in clip.controls.limbs for source in limb.sources()):
        active[source.bone] = active.get(source.bone, False) | source.active(clip.influences)
    return {bone: where for bone, where in active.items() if not np.all(where)}


def _turn_left(clip, bone, wanted):
    """World rotations (frames, 4) that bring a bone to an orientation (frames, 3, 3) in the armature, where the columns
    of both may be scaled."""
    poses = clip.poses[clip.index(bone)][:, :3, :3]
    way = wanted / np.linalg.norm(wanted, axis=1, keepdims=True)
    way = way @ (poses / np.linalg.norm(poses, axis=1, keepdims=True)).transpose(0, 2, 1)
    turn = rot.from_matrix(way)
    world = clip.world_from_armature[:, :3, :3]
    upright = world / np.linalg.norm(world, axis=1, keepdims=True)
    return np.concatenate([turn[:, :1], (upright @ turn[:, 1:, None])[..., 0]], axis=1)


def _in_axes(clip, turn):
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


def _check_curves(armature, keyed):
    """Raise FootlockError where a curve of the channels that are to be keyed, (bone, channel), would hide the keys."""
    for curve in compat.fcurves(armature):
        bone, channel = curves.bone_and_property(curve.data_path)
        if (bone, channel) not in keyed:
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


def _kept(new, old, least, active=None):
    """The new channel (frames, n), with the old numbers in frames where it changes by less than ``least``, or is not
    ``active`` (frames,)."""
    same = np.abs(new - old).max(axis=1, keepdims=True) < least
    if active is not None:
        same |= ~active[:, None]
    return np.where(same, old, new)


def _in_armature(clip, vectors):
    """World vectors (frames, 3), metres, in the armature's space and units."""
    armature_from_world = small_matrices.inverse(clip.world_from_armature[:, :3, :3])
    return (armature_from_world @ vectors[..., None])[..., 0]


def _write_channels(armature, clip, changed, keys=ALL_KEYS, active=None):
    """Write what ``corrected_channels`` returns; components that are as they were are left alone. active: bone →
    (frames,) bool, of bones that get keys in some frames only."""
    frames, paths = clip.frames, curves.by_path(armature)
    few = key_reduction.frames_of_keys(clip, changed, keys.tolerance, keys.span) if keys.tolerance > 0.0 else None
    for bone, channel, old, new in changed:
        same = [np.array_equal(np.broadcast_to(old[:, i], len(new)), new[:, i]) for i in range(new.shape[1])]
        if all(same):
            continue
        path = armature.pose.bones[bone.name].path_from_id(channel)
        spans = _spans(frames, keys.span, (active or {}).get(bone.name))
        for i, unchanged in enumerate(same):
            curve = paths.get((path, i))
            if curve is None or not unchanged:
                if keys.only_there and curve is None:
                    continue
                curve = curve or compat.ensure_fcurve(armature, path, i, bone.name)
                for span in spans:
                    _write_curve(curve, frames, new[:, i], span, few, keys)


def _spans(frames, span, active):
    """The spans, (first, last) frame or None for all, in which a channel gets keys."""
    if active is None:
        return [span]
    where = active if span is None else active & curves.within(frames, span)
    return [(frames[first], frames[last - 1]) for first, last in contacts.runs(where)]


def _write_curve(curve, frames, values, span, few, keys):
    if keys.only_there:
        curves.write_at_keys(curve, frames, values, span)
        return
    inside = span and curves.within(frames, span)
    span = span and curves.widened(curve, frames, span)
    if few is not None:
        beside = span and curves.within(frames, span) & ~inside
        at = few if span is None else np.union1d(few, np.flatnonzero(beside))
        slopes = key_reduction.slopes(values)[at] / (frames[1] - frames[0])
        curves.write_smooth(curve, frames[at], values[at], slopes, span)
    elif span is None:
        curves.write(curve, frames, values)
    else:
        curves.write_span(curve, frames, values, span)
