"""The legs of an armature, locked in one frame after the other while it plays.

What stays the same over a clip is read once; then a frame is a few matrices in and a few rotation channels out, in
plain numbers, for this has to be done in a small part of a frame's time.
"""

from dataclasses import dataclass
from math import tau
from typing import NamedTuple

import numpy as np
from mathutils import Euler, Quaternion

from ..solvers import (
    auto_contacts,
    contacts,
    foot_lock,
    foot_skate,
    knee_side,
    leg_chain,
    live_contacts,
    one_leg,
    one_lock,
    plain,
)
from ..solvers.errors import FootlockError
from . import clip as clips
from . import contact_property, controls, correction, curves, moves, root

# A bone whose axes differ in length by more than this share, or whose cosines are larger, is not turned as a whole.
_UNEVEN = 1e-3
_PARTS = ("thigh", "shin", "foot", "toe")
_HEAD = 0.0


class Settings(NamedTuple):
    """``lock``: FootLockSettings. ``chain``: LegChainSettings. ``thresholds``: contacts.ThresholdSettings, for legs
    without contact curves, of which those that are None are chosen, as a ``floor`` (world z, metres) is that is None.
    ``unit``: metres of one unit of the scene, 0 to judge it."""

    lock: foot_lock.FootLockSettings
    chain: leg_chain.LegChainSettings
    thresholds: contacts.ThresholdSettings
    floor: float | None = None
    unit: float = 0.0


class Change(NamedTuple):
    """A rotation channel of a bone, and its new numbers."""

    bone: str
    channel: str
    value: tuple


class State(NamedTuple):
    """Of one leg: a live_contacts.State and a one_lock.State."""

    contact: live_contacts.State
    lock: one_lock.State


@dataclass(frozen=True)
class _Leg:
    """What a leg's pose is made of. ``joints``: (part, length of its bone where the joint is at its tail, else 0);
    ``side``: about which the knee bends, as the shin has it; ``heights``: of heel, toe and toe end, at which the foot
    stands; ``bearer``: the bone whose contact curve says when it is planted, "" for never, None for by thresholds;
    ``parts``: names of the bones there are; ``turned``: those that get a rotation, ``inherits``: those that turn with
    the part above; ``stiff``: the foot moves with the shin."""

    parts: dict
    joints: tuple
    side: tuple
    heights: tuple
    bearer: str | None
    turned: frozenset
    inherits: frozenset
    stiff: bool


@dataclass(frozen=True)
class LiveLegs:
    """The legs of an armature, ready to be locked: ``legs``, the ``thresholds`` of those without contact curves, metres
    of a ``unit``, and ``unkeyed``: (bone, channel) of rotations that keep what is written into them."""

    legs: tuple
    thresholds: live_contacts.Thresholds
    unit: float
    unkeyed: frozenset

    def step(self, armature, states, delta_time, settings):
        """The legs of an evaluated armature, locked: the Change of each channel, and the States; from ``states`` that
        were ``delta_time`` seconds ago, None to begin anew. settings: Settings."""
        bones = armature.pose.bones
        world = _World(armature.matrix_world, self.unit)
        changes, after = [], []
        for i, leg in enumerate(self.legs):
            try:
                matrices = {part: bones[name].matrix.copy() for part, name in leg.parts.items()}
            except KeyError as gone:
                raise FootlockError(
                    "“{armature}” has lost a bone of its legs: click Find Legs.", armature=armature.name
                ) from gone
            joints = [_joint(world, matrices[part], length) for part, length in leg.joints]
            state, target = self._locked(leg, bones, joints[3], states and states[i], delta_time, settings)
            after.append(state)
            if _differs(target, joints[3]):
                changes += _turned(leg, bones, world, matrices, joints, target, settings.chain)
        return changes, tuple(after)

    def _locked(self, leg, bones, toe, state, delta_time, settings):
        """The State of a leg, and where its toe belongs."""
        if state is None:
            contact, lock = live_contacts.start(toe), one_lock.start(toe)
        else:
            contact, lock = live_contacts.update(state.contact, toe, delta_time, self.thresholds), state.lock
        planted = contact.planted
        if leg.bearer is not None:
            value = bones[leg.bearer].get(contact_property.NAME, 0.0) if leg.bearer else 0.0
            planted = value > contact_property.LEVEL
        lock = one_lock.update(lock, toe, planted, leg.heights[1], delta_time, settings.lock)
        return State(contact, lock), lock.position


def prepare(scene, armature, legs, settings):
    """The LiveLegs of an armature as its action has them now. Raises FootlockError where they cannot be locked while
    they play."""
    driven_by = controls.of(armature, legs)
    _check_plain(armature, driven_by)
    left = correction.check(armature, legs, driven_by)
    clip = clips.read(scene, armature, legs, settings.unit, driven_by)
    _check_even(clip)
    pose = left.reaching(clip.leg_pose())
    thresholds = _thresholds(clip, settings)
    planted = contact_property.read(armature, legs, clip.frames)
    bearers = [None] * len(legs.legs)
    if planted is not None:
        labelled = contact_property.labelled(armature, legs)
        bearers = [leg.bearer if has else "" for leg, has in zip(legs.legs, labelled, strict=True)]
    else:
        planted = live_contacts.detect(pose.toe, clip.frame_rate, thresholds)
    planted[:, left.legs] = False
    heights = foot_skate.standing_heights(pose, planted)
    shins = np.stack([clip.world_rotation(leg.shin) for leg in legs.legs], axis=1)
    sides = knee_side.local_sides(pose, shins)
    found, bones = [], armature.pose.bones
    for i, leg in enumerate(legs.legs):
        parts = {part: getattr(leg, part) for part in _PARTS if getattr(leg, part)}
        part_of = {name: part for part, name in parts.items()}
        ends = [(part_of[name], bones[name].bone.length if tail else _HEAD) for name, tail in clip.joint_bones(leg)]
        inherits = frozenset(part for part, name in parts.items() if bones[name].bone.use_inherit_rotation)
        turned = frozenset(
            part for part, name in parts.items() if driven_by.limbs[i].turns[part] and name not in left.bones
        )
        found.append(
            _Leg(
                parts,
                tuple(ends),
                tuple(sides[i].tolist()),
                (float(heights.heel[i]), float(heights.toe[i]), float(heights.toe_end[i])),
                "" if i in left.legs else bearers[i],
                turned,
                inherits,
                i in left.stiff,
            )
        )
    return LiveLegs(tuple(found), thresholds, clip.unit, _unkeyed(armature, found))


def labelling(scene, armature, legs, settings):
    """Steps that find the labels (frames, legs) bool that playing a clip gives where it has no contact curves. For the
    same frames as Remove Sliding reads."""
    clip = yield from clips.reading(scene, armature, legs, settings.unit, controls.of(armature, legs))
    return live_contacts.detect(clip.leg_pose().toe, clip.frame_rate, _thresholds(clip, settings))


def own_rotation(armature, bone):
    """(channel, numbers) of the rotation that a pose bone's mode reads."""
    channel = clips.rotation_property(armature.pose.bones[bone])
    return channel, tuple(getattr(armature.pose.bones[bone], channel))


def legs_of(armature):
    """What tells a map of legs from another, cheap enough for every frame."""
    stored = armature.data.footlock
    return stored.pelvis, *((leg.thigh, leg.shin, leg.foot, leg.toe) for leg in stored.legs)


def _check_plain(armature, driven_by):
    if driven_by.constrained or any(limb.places for limb in driven_by.limbs):
        raise FootlockError(
            "The legs of “{armature}” follow controls, which Live Lock cannot move while it plays: use Remove"
            " Sliding with the method Runtime.",
            armature=armature.name,
        )


def _check_even(clip):
    """Raise FootlockError where bones of the legs are sheared or scaled unevenly."""
    for name in (getattr(leg, part) for leg in clip.legs.legs for part in _PARTS if getattr(leg, part)):
        axes = clip.poses[clip.index(name)][:, :3, :3]
        size = np.linalg.norm(axes, axis=1)
        square = np.abs(np.einsum("fij,fik->fjk", axes, axes) / (size[:, :, None] * size[:, None, :]) - np.eye(3))
        if np.ptp(size, axis=1).max() > _UNEVEN * size.max() or square.max() > _UNEVEN or np.linalg.det(axes).min() < 0:
            raise FootlockError(
                "Bone “{name}” is scaled unevenly or mirrored, which Live Lock cannot follow: use Remove"
                " Sliding with the method Runtime.",
                name=name,
            )


def _thresholds(clip, settings):
    """The Thresholds of a clip, with what is to be chosen chosen."""
    given, toes = settings.thresholds, clip.leg_pose().toe
    floor = contacts.floor_height(toes) if settings.floor is None else settings.floor
    if given.velocity is None or given.height is None:
        pose, travel = clip.leg_pose(), clip.head(root.travelling(clip))
        wanted = auto_contacts.detect(toes, pose.hip, travel, pose.leg_lengths(), clip.frame_rate).labels
        given = contacts.nearest(toes, clip.frame_rate, floor, wanted, given)
    return live_contacts.Thresholds(given.velocity, given.height, given.vote, floor)


def _unkeyed(armature, legs):
    """(bone, channel) of rotations that no curve sets in every frame."""
    paths, found = curves.by_path(armature), set()
    for name in (leg.parts[part] for leg in legs for part in leg.turned):
        channel, value = own_rotation(armature, name)
        path = armature.pose.bones[name].path_from_id(channel)
        if not all((path, i) in paths for i in range(len(value))):
            found.add((name, channel))
    return frozenset(found)


class _World:
    """The way from armature space to the world, metres."""

    def __init__(self, matrix, unit):
        self.rows = [tuple(unit * number for number in row) for row in matrix[:3]]
        self.turn = tuple(matrix.to_quaternion())
        self.back = plain.inverse(self.turn)

    def direction(self, x, y, z):
        """A direction in the world, of any length."""
        return tuple(a * x + b * y + c * z for a, b, c, _ in self.rows)

    def point(self, x, y, z):
        """A point in the world, metres."""
        (a, b, c, d), (e, f, g, h), (i, j, k, m) = self.rows
        return a * x + b * y + c * z + d, e * x + f * y + g * z + h, i * x + j * y + k * z + m

    def turn_in_armature(self, turn):
        """A turn in the world, as the armature sees it."""
        return turn[0], *plain.rotate(self.back, turn[1:])


def _joint(world, matrix, length):
    """The head of a bone, or with the ``length`` of the bone its tail, in the world, metres."""
    x, y, z = matrix.translation
    if length != _HEAD:
        along = matrix.col[1]
        x, y, z = x + along[0] * length, y + along[1] * length, z + along[2] * length
    return world.point(x, y, z)


def _differs(target, toe):
    return max(abs(target[0] - toe[0]), abs(target[1] - toe[1]), abs(target[2] - toe[2])) >= foot_skate.STILL


def _turned(leg, bones, world, matrices, joints, target, chain):
    """The Changes that bring a leg's toe to its target."""
    hip, knee, heel, toe, toe_end = joints
    if leg.stiff:
        heel = toe
    rows = matrices["shin"]
    side = world.direction(*(plain.dot(rows[i], leg.side) for i in range(3)))
    lowest = tuple(min(point[2], height) for point, height in zip((heel, toe, toe_end), leg.heights, strict=True))
    solved = one_leg.solve(hip, knee, heel, toe, toe_end, target, side, lowest, chain)
    changes, above = [], plain.IDENTITY
    for part, name in leg.parts.items():
        if part not in leg.turned:
            continue  # it goes with the part above
        turn = world.turn_in_armature(getattr(solved, part))
        carried = above if part in leg.inherits else plain.IDENTITY
        own = tuple(matrices[part].to_quaternion())
        local = plain.multiply(plain.multiply(plain.inverse(own), plain.multiply(plain.inverse(carried), turn)), own)
        change = _rotated(bones[name], local)
        if change is not None:
            changes.append(change)
        above = turn
    return changes


def _rotated(bone, local):
    """The Change of a pose bone that is turned by ``local`` in its own space, nearest to what its channel is now; None
    where that is nothing."""
    mode, channel = bone.rotation_mode, clips.rotation_property(bone)
    old = tuple(getattr(bone, channel))
    if mode == "QUATERNION":
        size = sum(part * part for part in old) ** 0.5
        if size == 0.0:
            old, size = (0.0, 1.0, 0.0, 0.0), 1.0  # what Blender makes of it
        new = plain.multiply(old, local)
    elif mode == "AXIS_ANGLE":
        new = _axis_angle(old, plain.multiply(tuple(Quaternion(old[1:], old[0])), local))
    else:
        was = Euler(old, mode)
        new = tuple(Quaternion(plain.multiply(tuple(was.to_quaternion()), local)).to_euler(mode, was))
    if all(abs(a - b) < moves.UNCHANGED for a, b in zip(new, old, strict=True)):
        return None
    return Change(bone.name, channel, new)


def _axis_angle(old, turn):
    """Angle and axis of a quaternion, the axis on the side of the old one and the angle within half a turn."""
    axis, angle = Quaternion(turn).to_axis_angle()
    if plain.dot(axis, old[1:]) < 0.0:
        axis, angle = -axis, -angle
    return angle + tau * round((old[0] - angle) / tau), *axis
