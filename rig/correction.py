"""A correction written into the action: what drives the legs and the location that carries the pelvis, and nothing
else."""

from dataclasses import dataclass, fields, replace
from itertools import pairwise

import numpy as np

from ..solvers import contacts, knee_side, leg_chain
from ..solvers import rotations as rot
from ..solvers.errors import FootlockError
from ..solvers.wording import Listed, Said
from . import clip as clips
from . import compat, curves, held, key_reduction, moves, root
from .stepwise import Step, finish, job, part

# A planted toe further than this from its place halfway between two frames (metres) slides there.
_STILL_BETWEEN = 2e-5
# How far a knee may move for that, metres, beside twice as far as the toe.
_MOST_KNEE = 1e-3
# Share of the leg's length by which a foot that hangs loose may be away from its shin: as much as legs may stretch.
_GAP = 0.02
# A control rig is brought nearer to where it shall be so often, until its planted toes are no further away, metres, or
# come nearer by less than to this share.
_SETTLED, _SLOWLY = 3e-5, 0.8
_SETTLING = 8
# What is being done.
_CORRECTING, _REDUCING, _WRITING = "correcting", "reducing keys", "writing keys"
# A modifier that repeats the keys leaves those of the whole action as they are.
_HARMLESS_MODIFIERS = {"CYCLES"}


def check(armature, legs, driven_by, only_keys=False, stretched=False):
    """The Held of a rig: what is left alone. Raises FootlockError where the legs' keys would not move them: locked and
    muted curves, modifiers. Call before anything is changed. driven_by: Controls; only_keys: none is added; stretched:
    legs get keys on their scale, too."""
    pose_bones = armature.pose.bones
    found = held.held(armature, legs, driven_by, clips.rotation_property)
    if only_keys:
        _check_unmodified(armature, set(driven_by.channels()))
    if stretched and driven_by.constrained:
        raise FootlockError("Constraints move these legs and give them their length: set Stretch Legs to 0.")
    for name, kinds in driven_by.channels().items():
        if "place" in kinds and not (found.carrier and name == driven_by.carrier):
            _check_loose(pose_bones[name])
    if not driven_by.constrained:
        _check_inherits(pose_bones, legs)
    return found


def _check_inherits(bones, legs):
    """Raise FootlockError where a bone within a leg does not turn with it."""
    for leg in legs.legs:
        for upper, lower in pairwise(filter(None, (leg.thigh, leg.shin, leg.foot, leg.toe))):
            between = bones[lower].parent
            while between is not None and between.name != upper:
                if not between.bone.use_inherit_rotation and bones[upper] in between.parent_recursive:
                    raise FootlockError(
                        "Bone “{bone}” within a leg does not inherit rotation, so the leg falls apart when"
                        " it turns: switch on Inherit Rotation in its bone properties.",
                        bone=between.name,
                    )
                between = between.parent


def keyed(armature, legs, driven_by, stretched=False):
    """(pose bone, its properties) of all that a correction may key, the scale of legs that may be ``stretched``
    included."""
    bones, properties = armature.pose.bones, {}
    for name, kinds in driven_by.channels().items():
        found = properties.setdefault(name, [])
        found += ["location"] if "place" in kinds else []
        found += [clips.rotation_property(bones[name])] if "turn" in kinds else []
    if stretched:
        for leg in legs.legs:
            for name in (leg.thigh, leg.shin, leg.foot):
                properties.setdefault(name, []).append("scale")
    return [(bones[name], tuple(found)) for name, found in properties.items()]


@dataclass(frozen=True)
class Keys:
    """Which keys a correction gets: on every frame of ``span``, (first, last), or of the clip; with ``only_there``
    those that are there get new values, and none is added; with a ``tolerance`` (metres) as few as leave the joints of
    the legs no further than that from where they belong."""

    span: tuple | None = None
    only_there: bool = False
    tolerance: float = 0.0


ALL_KEYS = Keys()


@dataclass(frozen=True)
class Baked:
    """Modifiers that are keys now, and muted until all is written: (bone, data path, index, place in the stack) of
    each."""

    modifiers: tuple = ()

    def remove(self, armature):
        """Remove them."""
        for _, path, index, place in sorted(self.modifiers, key=lambda one: -one[3]):
            curve = compat.channels(armature).fcurves.find(path, index=index)
            curve.modifiers.remove(curve.modifiers[place])

    def sentence(self):
        """What is said of them; empty without."""
        bones = dict.fromkeys(bone for bone, *_ in self.modifiers)
        return Said("Modifiers on the curves of {bones} were baked into keys.", bones=Listed(bones)) if bones else ""


def writing(armature, clip, pelvis, solution, keys=ALL_KEYS, stretch=None, left=held.NOTHING, kept=None):
    """Steps that write a correction: ``pelvis`` (frames, 3) in the world, metres, and the turns of a LegSolution
    (frames, legs), into the action in use. keys: Keys. stretch: (frames, legs), how many times as long thighs and shins
    become; the feet keep their size. left: Held, what is left alone. kept: restoring.Kept, which notes what is written,
    or None. They return the Baked, which is to be removed.

    Only frames that change get another value; bones that do not change in any frame are not touched. Each bone keeps
    its rotation mode, the signs of its quaternions and the turns of its Euler angles.
    """

    def changes():
        todo = moves.of_solution(clip, pelvis, solution, stretch, whole=True, left=left)
        return moves.corrected_channels(clip, todo), todo.active

    changed, active = yield from part(job(_CORRECTING, changes), 0.0, 0.3)
    return (yield from part(_writing_channels(armature, clip, changed, keys, active, kept), 0.3, 1.0))


def write(armature, *arguments, **named):
    """Do at once what ``writing`` does."""
    baked = finish(writing(armature, *arguments, **named))
    baked.remove(armature)
    return baked


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


def settling(scene, armature, clip, pelvis, solution, planted, keys=ALL_KEYS, left=held.NOTHING, kept=None):
    """Steps that bring the legs of a control rig to where ``writing`` was to bring them, as far as constraints had
    another way with it, and return the Clip as it is then, and the Baked.

    clip, pelvis, solution: as they were given to ``writing``. planted (frames, legs) bool: where it matters.
    """
    no_floor = leg_chain.MinimumHeights(-np.inf, -np.inf, -np.inf)
    feet = [leg.foot for leg in clip.legs.legs]
    wanted = [
        moves.in_axes(clip, solution.foot_turn[:, i]) @ clip.poses[clip.index(foot)][:, :3, :3]
        for i, foot in enumerate(feet)
    ]

    def rest_of(now, last):
        """The channels that change, where they count, and how far planted toes are away on average; None where that is
        near enough."""
        pose, shift = left.reaching(now.leg_pose()), (pelvis - now.head(clip.legs.pelvis))[:, None]
        away = np.append(rot.length(solution.toe - pose.toe)[planted], rot.length(shift))
        if away.max() < _SETTLED or away.mean() > _SLOWLY * last:
            return None
        pose = leg_chain.LegPose(*(getattr(pose, field.name) + shift for field in fields(pose)))
        shins = np.stack([now.world_rotation(leg.shin) for leg in now.legs.legs], axis=1)
        turn = np.stack([moves.turn_left(now, foot, wanted[i]) for i, foot in enumerate(feet)], axis=1)
        turn = np.where([[[limb.carry != "toe"] for limb in clip.controls.limbs]], turn, rot.IDENTITY)
        side = knee_side.side_vectors(pose, shins)
        rest = leg_chain.solve(pose, solution.toe, side, no_floor, turn=turn)
        # What the legs reach from here says nothing of where they reach when their feet have been carried there.
        rest = replace(rest, heel=solution.heel, toe=solution.toe)
        todo = moves.of_solution(now, pelvis, rest, left=left)
        return moves.corrected_channels(now, todo), todo.active, away.mean()

    def reading_again():
        return clips.reading(scene, armature, clip.legs, clip.unit, clip.controls, frames=clip.frames)

    # How often it takes is not known before: each time half of what is left, in the end.
    done, last, baked = 0.4, np.inf, []
    now = yield from part(reading_again(), 0.0, done)
    for _ in range(_SETTLING):
        found = yield from part(job(_CORRECTING, rest_of, now, last), done, done)
        if found is None:
            break
        changed, active, last = found
        end = 0.5 * (1.0 + done)
        written = done + 0.2 * (end - done)
        writing = _writing_channels(armature, now, changed, keys, active, kept)
        baked += (yield from part(writing, done, written)).modifiers
        now = yield from part(reading_again(), written, end)
        done = end
    return now, Baked(tuple(baked))


def holding_between(scene, armature, clip, standing, left=held.NOTHING, kept=None):
    """Steps that bend the legs' curves between frames so that planted toes do not slide there either.

    clip: as it was read from the action after ``writing``. standing (frames - 1, legs) bool: steps in which a toe
    stands still. Joints turn evenly from key to key, and a toe at their end then swings out halfway: by some tenths of
    a millimetre at 120 Hz, some millimetres at 30. Nothing changes at the keys, and nothing where one of a leg's curves
    has none.
    """
    half = yield from part(clips.reading_halfway(scene, armature, clip), 0.0, 0.6)
    bent, changed = yield from part(job(_CORRECTING, _bends, clip, half, standing, left), 0.6, 0.8)
    leg_of = {source.bone: i for i, limb in enumerate(clip.controls.limbs) for source in limb.sources()}
    paths = curves.by_path(armature)
    bends = []
    for bone, channel, old, new in changed:
        path, leg = armature.pose.bones[bone.name].path_from_id(channel), leg_of[bone.name]
        for i in range(new.shape[1]):
            curve, turned = paths.get((path, i)), np.abs(new[:, i] - old[:, i]) > moves.UNCHANGED
            bent[:, leg] &= ~turned | (False if curve is None else curves.keyed_steps(curve, clip.frames))
            bends.append((curve, leg, turned, new[:, i]))
            yield Step(0.8, _WRITING)
    for done, (curve, leg, turned, values) in enumerate(bends):
        if curve is not None and (bent[:, leg] & turned).any():
            if kept is not None:
                kept.note(curve, curves.SHAPE)
            curves.pass_halfway(curve, clip.frames, bent[:, leg] & turned, values)
            yield Step(0.8 + 0.2 * done / len(bends), _WRITING)


def _bends(clip, half, standing, left):
    """Steps (frames - 1, legs) bool in which toes are to be held between the frames of a clip, and the channels, as
    ``corrected_channels`` has them, that do it at those ``half`` way."""
    pose, toe = left.reaching(half.leg_pose()), clip.leg_pose().toe
    place = 0.5 * (toe[1:] + toe[:-1])
    away = rot.length(pose.toe - place)[..., 0]
    bent = standing & (away > _STILL_BETWEEN)
    if not bent.any():
        return bent, []
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
    todo = moves.of_solution(half, half.head(half.legs.pelvis), solution, left=left)
    return bent, moves.corrected_channels(half, todo)


def scale_travel(armature, clip, factor):
    """Scale the horizontal travel of the character's root, from where it is in the first frame, as the article does
    to make a clip slide. Raises FootlockError where no bone from the pelvis up has keys on its location."""
    bone = root.keyed(clip)
    if bone is not None:
        check_root(armature, bone)
    else:
        raise FootlockError(
            "No bone from the pelvis of “{armature}” up has keys on its location: there is no travel to scale.",
            armature=armature.name,
        )
    finish(moving(armature, clip, [bone], (factor - 1.0) * root.travel(clip, bone))).remove(armature)


def moving(armature, clip, bones, shift, kept=None):
    """Steps that move bones by ``shift`` (frames, 3), world, metres, and all that hangs from them. They return what
    those of ``writing`` do."""

    def changes():
        todo = moves.Moves(dict.fromkeys(bones, moves.in_armature(clip, shift)))
        return moves.corrected_channels(clip, todo)

    changed = yield from part(job(_CORRECTING, changes), 0.0, 0.3)
    return (yield from part(_writing_channels(armature, clip, changed, kept=kept), 0.3, 1.0))


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
    held.check_free(armature, bone, "location")
    _check_loose(armature.pose.bones[bone])


def _check_unmodified(armature, bones):
    """Raise FootlockError where a curve of the bones has a modifier that only a key on every frame could stand for."""
    for curve in compat.fcurves(armature):
        bone, channel = curves.bone_and_property(curve.data_path)
        if bone in bones and not curves.is_own(curve.data_path) and _modifiers(curve):
            raise FootlockError(
                "The curve “{channel}” of bone “{bone}” has a modifier, for which keys have to be added:"
                " choose other Keys under Correction, or bake it first (Key, Bake).",
                channel=channel,
                bone=bone,
            )


def _modifiers(curve):
    """Place in the stack and modifier of those of a curve that would change corrected keys."""
    return [
        (place, one)
        for place, one in enumerate(curve.modifiers)
        if not one.mute and one.type not in _HARMLESS_MODIFIERS
    ]


def _check_loose(bone):
    if bone.bone.use_connect:
        raise FootlockError(
            "Bone “{bone}” is connected to its parent and cannot move: choose another pelvis, or disconnect it"
            " in Edit Mode.",
            bone=bone.name,
        )


def _writing_channels(armature, clip, changed, keys=ALL_KEYS, active=None, kept=None):
    """Steps that write what ``corrected_channels`` returns; components that are as they were are left alone. active:
    bone → (frames,) bool, of bones that get keys in some frames only. Curves with modifiers become what they were with
    them, on all frames. They return the Baked."""
    frames, paths, baked, few = clip.frames, curves.by_path(armature), [], None
    if keys.tolerance > 0.0:
        reduced = job(_REDUCING, key_reduction.frames_of_keys, clip, changed, keys.tolerance, keys.span)
        few = yield from part(reduced, 0.0, 0.5)
    first = 0.5 if few is not None else 0.0
    for done, (bone, channel, old, new) in enumerate(changed):
        same = [np.array_equal(np.broadcast_to(old[:, i], len(new)), new[:, i]) for i in range(new.shape[1])]
        if all(same):
            continue
        path = armature.pose.bones[bone.name].path_from_id(channel)
        spans = _spans(frames, keys.span, (active or {}).get(bone.name))
        for i, unchanged in enumerate(same):
            curve = paths.get((path, i))
            if (curve is not None and unchanged) or (curve is None and keys.only_there):
                continue
            curve = curve or compat.ensure_fcurve(armature, path, i, bone.name)
            if kept is not None:
                stay = keys.only_there or (few is None and curves.has_keys_at(curve, frames))
                kept.note(curve, curves.VALUES if stay else curves.EVERYTHING)
            if modifiers := _modifiers(curve):
                for place, modifier in modifiers:
                    baked.append((bone.name, path, i, place))
                    modifier.mute = True
                curves.write(curve, frames, new[:, i])
            else:
                for span in spans:
                    _write_curve(curve, frames, new[:, i], span, few, keys)
            yield Step(first + (1.0 - first) * done / len(changed), _WRITING)
    return Baked(tuple(baked))


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
