"""Fit Root to Feet: let the root travel so that planted feet stand still, before any leg is bent."""

from dataclasses import dataclass

import bpy
import numpy as np

from ..rig import clip as clips
from ..rig import contact_property, controls, correction, mapping, restoring, results, root, trail_cache, trails
from ..rig.stepwise import job, part, plain
from ..solvers import root_fit, slide
from ..solvers.errors import FootlockError
from ..solvers.wording import Said, together
from . import detect_contacts
from .base import ActionOperator, legs_notes
from .long_work import LongWork
from .properties import ResultProperties


@dataclass(frozen=True)
class Fitted:
    """What was done to the root, which may be several ``bones``: the RootFit, and Slide of each leg ``before`` and
    ``after``, the latter measured on the written action, whose clip is ``fitted`` and was ``clip``; ``notes``:
    sentences about what became keys."""

    clip: clips.Clip
    fitted: clips.Clip
    bones: tuple
    fit: root_fit.RootFit
    before: list
    after: list
    notes: str = ""

    @property
    def bone(self):
        """What the root is called."""
        if len(self.bones) == 1:
            return Said("“{bone}”", bone=self.bones[0])
        return Said("“{bone}” and {count} more", bone=self.bones[0], count=len(self.bones) - 1)


def fitting(scene, armature, legs, unit=0.0, labels=None, result=results.IN_PLACE):
    """Steps that rewrite the root's horizontal travel, and return the Fitted. ``labels`` (frames, legs) bool; without,
    those of the contact curves, or else what an automatic detection finds. result: one of ``results.KINDS``; a layer is
    left to Remove Sliding, and the fit goes into a copy.

    Nothing is written where the root fits as it is, and all is put back when they are closed, or fail. They raise
    FootlockError, with nothing changed, where the root cannot be moved or no foot is planted.
    """
    driven_by, tops = controls.found(armature, legs), root.tops(armature)
    clip = yield from part(clips.reading(scene, armature, legs, unit, driven_by, tops), 0.0, 0.3)
    results.check(armature, (), result)
    bones = root.carrying(clip)
    for bone in bones:
        correction.check_root(armature, bone)
    if labels is None:
        labels = contact_property.read(armature, legs, clip.frames)
    if labels is None:
        detecting = detect_contacts.detecting(scene, armature, legs, unit=clip.unit)
        labels = (yield from part(detecting, 0.3, 0.5)).labels
    if not labels.any():
        raise FootlockError("No foot is planted in this clip, so nothing tells how the root should travel.")

    def judged():
        toes = clip.leg_pose().toe
        return root_fit.fit(toes, clip.head(bones[0]), labels, clip.frame_rate), slide.measure(toes, labels)

    found, before = yield from part(job("fitting the root", judged), 0.5, 0.6)
    if found.kind == "none":
        return Fitted(clip, clip, bones, found, before, before)
    names = {one.name for one in clip.bones}
    with restoring.Kept(armature, [(armature.pose.bones[bone], ("location",)) for bone in bones]) as kept:
        results.begin(armature, result, names)
        shift = np.concatenate([found.shift, np.zeros((len(found.shift), 1))], axis=1)
        baked = yield from part(correction.moving(armature, clip, bones, shift, kept), 0.6, 0.7)
        fitted = yield from part(clips.reading(scene, armature, legs, clip.unit, frames=clip.frames), 0.7, 1.0)
        baked.remove(armature)
        correction.go_on(armature, bones)
        if result != results.IN_PLACE:
            results.seal(armature)
    notes = baked.sentence(), results.sentence(armature, results.NEW if result == results.LAYER else result)
    return Fitted(clip, fitted, bones, found, before, slide.measure(fitted.leg_pose().toe, labels), together(*notes))


fit = plain(fitting)


class FOOTLOCK_OT_fit_root(ResultProperties, LongWork, ActionOperator, bpy.types.Operator):
    bl_idname = "footlock.fit_root"
    bl_label = "Fit Root to Feet"
    bl_description = (
        "Rewrite the root's horizontal travel so that planted feet stand still, as far as the root alone can do it:"
        " scaled where it is too long or too short, given back where the clip walks in place"
    )

    def work(self, context, armature):
        legs = mapping.of(armature)
        done = yield from fitting(context.scene, armature, legs, self.unit, result=self.result)
        if done.fit.kind == "none":
            fits = Said("The root fits the feet already: {bone} was left as it is.", bone=done.bone)
            return together(fits, *legs_notes(legs))
        mapping.remember(armature, legs)
        mapping.forget(armature)
        trail_cache.put(context.scene, armature, trails.of_action(armature, done.fitted, done.clip))
        return together(sentence(done), *legs_notes(legs))


def sentence(done):
    """What a fit did, in one line."""
    before, after = (slide.overall(slides) * 1000.0 for slides in (done.before, done.after))
    if done.fit.kind == "scale":
        what = Said("Travel of {bone} scaled by {factor:.3f}", bone=done.bone, factor=1.0 / done.fit.scale)
    else:
        what = Said("{bone} now travels at {speed:.2f} m/s", bone=done.bone, speed=done.fit.feet_speed)
    slid = Said("{what}; slide {before:.2f} → {after:.2f} mm per frame.", what=what, before=before, after=after)
    return together(slid, done.notes)
