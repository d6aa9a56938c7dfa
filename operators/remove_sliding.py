"""Remove Sliding: correct the action so that planted toes stay where they are."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import count as counting

import bpy
import numpy as np

from ..rig import clip as clips
from ..rig import (
    compat,
    contact_property,
    contact_reports,
    controls,
    correction,
    curves,
    footprints,
    live,
    mapping,
    restoring,
    results,
    sources,
    trail_cache,
    trails,
)
from ..rig.floor import ObjectSurface
from ..rig.stepwise import job, part, plain, told_job
from ..solvers import contacts, foot_lock, foot_skate, leg_chain, slide, slide_removal
from ..solvers import rotations as rot
from ..solvers.errors import FootlockError
from ..solvers.ground import Ground
from ..solvers.wording import Listed, Said, contacts_of, out_of_reach, together
from . import clip_solving, detect_contacts, reporting
from .base import ActionOperator, legs_notes
from .long_work import LongWork
from .properties import RemovalProperties

_DEFAULT = foot_skate.Settings()
# Planted toes of a control rig that slide by no more than this a frame, metres, followed their controls.
_FOLLOWED = 5e-4
# Where toe and pelvis move less than this (metres) nothing is corrected.
_CORRECTED = 1e-5


@dataclass(frozen=True)
class _Shares:
    """How much of the whole is done, 0 to 1, when the clip is read, solved, written, …, noted."""

    read: float
    solve: float
    write: float
    settle: float
    hold: float
    lay: float
    seal: float


_SHARES = _Shares(0.1, 0.6, 0.65, 0.75, 0.83, 0.87, 0.92)
_SHARES_STEPPED = _Shares(0.25, 0.3, 0.32, 0.8, 0.96, 0.97, 0.98)
# Each step of the solver leaves about this share of what was left to do.
_LEFT = 0.9
# What is being done.
_MEASURING = "measuring"


@dataclass(frozen=True)
class Options:
    """What of a clip is corrected, and on what ground. ``floor_height``: world z of a level floor, metres, or None for
    that of the contacts; ``floor_rest``: it is where the rest pose stands; ``floor_object``: an object to stand on, or
    None. ``span``: (first, last) frame of the scene that may change, None for all. ``pin_first``, ``pin_last``: these
    poses stay. ``cyclic``: a loop stays one. ``only_keys``: keys that are there get new values, and none is added, so
    that feet may slide between them. ``key_tolerance``: metres; as few keys as leave no joint of a leg further than
    that from where it belongs, 0 for one on every frame. ``result``: where it goes, one of ``results.KINDS``.
    ``keep_source``: the action as it was is kept beside a correction in place (``sources``); ``from_source``: and the
    next one begins there, unless the action was edited since or only a ``span`` may change."""

    floor_height: float | None = None
    floor_object: bpy.types.Object | None = None
    span: tuple | None = None
    pin_first: bool = False
    pin_last: bool = False
    cyclic: bool = False
    only_keys: bool = False
    key_tolerance: float = 0.0
    floor_rest: bool = False
    result: str = results.IN_PLACE
    keep_source: bool = False
    from_source: bool = False


_ALL = Options()


@dataclass(frozen=True)
class Removal:
    """What was done to a ``clip`` of ``armature`` (as it was read), whose contacts have ``weights`` (frames, legs): the
    ``corrected`` clip as it was read from the written action; Slide of each leg ``before`` and ``after``; frames
    ``out_of_reach`` (frames, legs); ``notes``: sentences about what was left alone or became keys."""

    armature: str
    clip: clips.Clip
    corrected: clips.Clip
    weights: np.ndarray
    before: list
    after: list
    out_of_reach: np.ndarray
    converged: bool
    notes: str = ""

    @property
    def labels(self):
        """Labels (frames, legs) bool: where a foot is planted."""
        return self.weights > contact_property.LEVEL

    def counts(self):
        """How many contacts each leg has."""
        return [len(contacts.runs(self.labels[:, leg])) for leg in range(self.labels.shape[1])]


def removing(
    scene, armature, legs, settings=_DEFAULT, unit=0.0, labels=None, options=_ALL, placed=None, finishing=None
):
    """Steps that correct an armature's action, and return the Removal. ``labels`` (frames, legs): contacts, bool or
    numbers as ``slide_removal.solve`` takes them, or a function that gives them at frames (n,) of the action; without,
    those of its contact curves. ``placed``: Footprints; without, those that are stored. ``finishing``: a function of
    the Removal that makes further steps, which can still be stopped.

    Everything is read and solved before the first key is written, and the action is put back as it was when they are
    closed, or fail, after that. They raise FootlockError, with nothing changed, where the rig or its action forbid it
    or there is no contact curve.
    """
    unedited = sources.unedited(armature) if options.keep_source else None
    if unedited is not None and options.result == results.LAYER:
        if sources.in_place(armature):
            raise FootlockError(
                "“{action}” is corrected already, and a layer over it would correct nothing: click Revert first.",
                action=armature.animation_data.action.name,
            )
        unedited = None
    begins = options.from_source and options.span is None and not armature.animation_data.use_tweak_mode
    source = unedited if begins else None
    with sources.shown(armature, source):
        driven_by = controls.of(armature, legs)
        left = correction.check(armature, legs, driven_by, options.only_keys, settings.stretch > 0.0)
        # Where frames are stepped, that is what takes its time; with curves alone it is the solver.
        at = _SHARES_STEPPED if driven_by.constrained else _SHARES
        clip = yield from part(clips.reading(scene, armature, legs, unit, driven_by), 0.0, at.read)
    keyed = correction.keyed(armature, legs, driven_by, settings.stretch > 0.0)
    results.check(armature, keyed, options.result)
    if labels is None:
        weights = contact_property.weights(armature, legs, clip.frames)
    else:
        weights = np.asarray(labels(clip.frames) if callable(labels) else labels, float)
    if weights is None:
        raise FootlockError("The action has no contact curve for these legs: click Detect Contacts first.")
    planted = weights > contact_property.LEVEL
    if options.span is not None:
        options = replace(options, span=clip.span_in_action(options.span))
    pose = left.reaching(clip.leg_pose())
    stretched = settings.stretch > 0.0
    settings = replace(settings, stretch=0.0 if left.sizes else _stretch(pose, settings.stretch, options))
    if left.carrier:
        settings = replace(settings, terms=replace(settings.terms, keep_path=1.0, keep_height=True))
    solved = weights.copy()
    solved[:, left.legs] = 0.0
    ground = Ground.of_contacts(pose, _judged(clip, weights > 0.0, options.span))
    if options.floor_rest or options.floor_height is not None:
        ground = ground.at(clip.rest_floor() if options.floor_rest else options.floor_height)
    if options.floor_object is not None:
        surface = ObjectSurface(options.floor_object, bpy.context.evaluated_depsgraph_get(), clip.unit)
        surface.check_under(pose.toe[weights > 0.0])
        ground = ground.on(surface, pose, weights > 0.0)

    placements = footprints.given(clip, weights, footprints.stored(armature) if placed is None else placed)

    def solve(tell):
        steps = counting(1)
        told = clip_solving.solve(
            clip, pose, solved, settings, ground, options, placements, lambda: tell(1.0 - _LEFT ** next(steps))
        )
        return _with_loose_feet(clip, told)

    result = yield from part(told_job("solving", solve), at.read, at.solve)
    bones = {bone.name for bone in (*clip.bones, *(pose_bone for pose_bone, _ in keyed))}
    with restoring.Kept(armature, keyed):
        results.begin(armature, options.result, bones)
        seals = options.keep_source and options.result != results.LAYER
        keeps = options.keep_source and options.result == results.IN_PLACE and unedited is None
        with sources.begun(armature, source, keeps), restoring.Kept(armature, keyed) as kept:
            keys = correction.Keys(options.span, options.only_keys, options.key_tolerance)
            writing = correction.writing(armature, clip, result.pelvis, result.legs, keys, result.stretch, left, kept)
            baked = yield from part(writing, at.solve, at.write)
            if driven_by.constrained:
                solution = result.pelvis, result.legs, result.locked
                settling = correction.settling(scene, armature, clip, *solution, keys, left, kept)
                written, more = yield from part(settling, at.write, at.settle)
                baked = correction.Baked(baked.modifiers + more.modifiers)
            else:
                again = clips.reading(scene, armature, legs, clip.unit, driven_by, frames=clip.frames)
                written = yield from part(again, at.write, at.settle)
            standing = yield from part(job(_MEASURING, _standing, clip, written, result), at.settle, at.settle)
            holding = correction.holding_between(scene, armature, written, standing, left, kept)
            yield from part(holding, at.settle, at.hold)
            toes = (yield from part(job(_MEASURING, written.leg_pose), at.hold, at.hold)).toe
            if options.result == results.LAYER:
                yield from part(results.laying(scene, armature, clip), at.hold, at.lay)
            else:
                baked.remove(armature)
                if options.result == results.NEW:
                    yield from part(results.sealing(armature), at.hold, at.lay)
            notes = [left.sentence(stretched), baked.sentence(), results.sentence(armature, options.result)]
            if driven_by.constrained and options.span is None:
                notes.insert(0, _not_followed(slide.measure(toes, planted & ~result.out_of_reach), left))
            done = Removal(
                armature.name,
                clip,
                written,
                weights,
                slide.measure(pose.toe, planted),
                slide.measure(toes, planted),
                result.out_of_reach,
                result.converged,
                together(*notes),
            )
            if seals:
                sealed = yield from part(sources.sealing(armature, bones), at.lay, at.seal)
            if finishing is not None:
                yield from part(finishing(done), at.seal, 1.0)
        if seals:
            if unedited is None and options.result == results.NEW:
                # It has begun with the action that it is a copy of, whatever the source of that is.
                sources.forget(armature)
            sources.seal(armature, sealed)
    return done


remove = plain(removing)


def _not_followed(slides, left):
    """What is said where the feet of a control rig did not come to where its controls were brought; empty without."""
    largest = max((one.largest for i, one in enumerate(slides) if i not in left.legs), default=0.0)
    if largest < _FOLLOWED:
        return ""
    return Said(
        "The rig's constraints keep feet from following their controls: up to {largest:.1f} mm per frame are left; undo"
        " (Ctrl Z) and bake the action first if that is too much.",
        largest=1000.0 * largest,
    )


def _with_loose_feet(clip, result):
    """The Correction with feet that hang from no shin put down where the leg nearly reaches."""
    legs = correction.reached(clip, result.legs)
    out_of_reach = result.out_of_reach & (legs.residual > foot_skate.OUT_OF_REACH)
    return replace(result, legs=legs, out_of_reach=out_of_reach)


def _stretch(pose, most, options):
    """By which part of their length legs may become longer: none where no key may be added, for their scale needs keys,
    and no more than is left where an earlier run has stretched them."""
    if options.only_keys or most <= 0.0:
        return 0.0
    lengths = (rot.length(pose.knee - pose.hip) + rot.length(pose.heel - pose.knee))[..., 0]
    return max(0.0, (1.0 + most) / float((lengths / np.median(lengths, axis=0)).max()) - 1.0)


def _judged(clip, contacts, span):
    """The contacts (frames, legs) bool that tell where the floor is: those of a range, where it has any, and of these
    such as an earlier run has not eased into another height."""
    if span is None:
        return contacts
    ease = foot_skate.RISE_TIME * clip.frame_rate * (clip.frames[1] - clip.frames[0])
    for edge in (ease, 0.0):
        inside = contacts & curves.within(clip.frames, (span[0] + edge, span[1] - edge))[:, None]
        if inside.any():
            return inside
    return contacts


def _standing(clip, written, result):
    """Steps (frames - 1, legs) bool in which a toe of the written clip stands still, and something was corrected."""
    pelvis, old, new = clip.legs.pelvis, clip.leg_pose(), written.leg_pose()
    moved = rot.length(new.toe - old.toe) + rot.length(written.head(pelvis) - clip.head(pelvis))[:, None]
    corrected = (result.locked[..., None] & (moved > _CORRECTED))[..., 0]
    still = rot.length(np.diff(new.toe, axis=0))[..., 0] < foot_skate.OUT_OF_REACH
    return corrected[1:] & corrected[:-1] & still


class FOOTLOCK_OT_remove_sliding(RemovalProperties, LongWork, ActionOperator, bpy.types.Operator):
    bl_idname = "footlock.remove_sliding"
    bl_label = "Remove Sliding"
    bl_description = (
        "Correct the action so that each toe stays in one place while its contact curve is up."
        " Pelvis and legs get new keys, nothing else changes"
    )

    def work(self, context, armature):
        legs = mapping.of(armature)
        done = yield from removing_as_set(context.scene, armature, legs, self)
        locked = live.is_on(armature) and Said("Live Lock is on and moves the feet: switch it off to see the result.")
        return together(sentence(legs, done), locked or "")


@dataclass(frozen=True)
class Edit:
    """Contacts that are edited by hand, of which nothing is written yet: ``labels``, their numbers (n, legs) as a
    function of frames (n,) of the action; ``placed``: Footprints; ``origins``: of each leg's curve, as it is going to
    be; ``write``: writes all into the action; ``check``: raises an EditRefused for a Removal that it must not have."""

    labels: Callable
    placed: list
    origins: list
    write: Callable
    check: Callable = lambda done: None


class EditRefused(FootlockError):
    """An edit by hand that is not written: with it the result would be worse than without."""


def removing_as_set(scene, armature, legs, given, edit=None):
    """Steps that remove sliding as RemovalProperties say, store the result for the panel, and return the Removal. edit:
    an Edit that is written with it, or None."""
    settings = foot_skate.Settings(
        given.method,
        leg_chain.LegChainSettings(softening=given.softening),
        foot_lock.FootLockSettings(given.lock_distance, given.unlock_distance, given.blend_time),
        slide_removal.Terms(given.smooth_time, given.keep_path, given.lower_hips),
        given.keep_dips,
        given.hold_heading,
        given.follow_slope,
        given.stretch,
    )
    options = Options(result=given.result, keep_source=True, from_source=True)
    if given.method == "offline":
        # The panel shows these for the whole clip only.
        options = _options(scene, given)
    if edit:
        # The result that is there is brought up to date, whatever the next one shall be.
        copied = results.original(armature.animation_data.action) is not None
        options = replace(options, result=results.NEW if copied else results.IN_PLACE)
    return (yield from removing_reported(scene, armature, legs, settings, given.unit, options, edit))


def removing_reported(scene, armature, legs, settings, unit, options, edit=None):
    """Steps that do what ``removing`` does, keep the result and its report for the panel, and return the Removal. edit:
    an Edit that is written with it, or None."""
    known = contact_reports.find(armature)
    detection = detect_contacts.Settings.of_text(known.settings if known else "")

    def finishing(done):
        if edit:
            edit.check(done)
        found = yield from part(job(_MEASURING, detect_contacts.judge, done.clip, detection), 0.0, 0.4)
        origins = edit.origins if edit else contact_property.origins(armature, legs)
        measure = reporting.of_removal(armature, legs, done, found, origins)
        report = yield from part(job(_MEASURING, measure), 0.4, 0.7)
        trail = trails.of_clip, done.corrected, done.weights, done.out_of_reach, done.clip
        shown = yield from part(job(_MEASURING, *trail), 0.7, 0.8)
        # A layer shows others than those that it holds itself.
        held = None if results.layer(armature) else compat.channels(armature)
        written = curves.of_bones(held, {bone.name for bone in done.corrected.bones})
        motions = yield from part(curves.motions(written), 0.8, 1.0)
        if edit:
            edit.write()
        mapping.remember(armature, legs)
        mapping.store_result(armature, done.counts(), done.before, done.after, done.out_of_reach.sum(0).tolist())
        reporting.store(scene, armature, done.clip, report, detection, motions)
        trails.remember_out_of_reach(armature, done.clip, done.out_of_reach)
        trail_cache.put(scene, armature, shown, motions)

    labels, placed = (edit.labels, edit.placed) if edit else (None, None)
    return (yield from removing(scene, armature, legs, settings, unit, labels, options, placed, finishing))


def _options(scene, given):
    floor = None
    if given.ground == "OBJECT":
        floor = scene.objects.get(given.ground_object)
        if floor is None:
            raise FootlockError("There is no object to stand on: choose one under Floor.")
    return Options(
        given.ground_height if given.ground == "HEIGHT" else None,
        floor,
        (given.solve_start, given.solve_end) if given.solve_range else None,
        given.pin_first,
        given.pin_last,
        given.cyclic,
        given.keys == "SOURCE",
        given.key_tolerance / 1000.0 if given.keys == "REDUCED" else 0.0,
        given.ground == "REST",
        given.result,
        keep_source=True,
        from_source=True,
    )


def sentence(legs, done):
    """What a run did, in one line."""
    before, after = (slide.overall(slides) * 1000.0 for slides in (done.before, done.after))
    clauses = [
        Listed(contacts_of(leg.label, count) for leg, count in zip(legs.legs, done.counts(), strict=True)),
        Said("slide {before:.2f} → {after:.2f} mm per frame", before=before, after=after),
    ]
    missed = int(done.out_of_reach.any(axis=1).sum())
    if missed:
        clauses.append(out_of_reach(missed))
    if not done.converged:
        clauses.append(Said("the solver stopped early"))
    return together(Said("{clauses}.", clauses=Listed(clauses, "; ")), done.notes, *legs_notes(legs))
