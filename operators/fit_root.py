"""Fit Root to Feet: let the root travel so that planted feet stand still, before any leg is bent."""

from dataclasses import dataclass

import bpy

from ..rig import clip as clips
from ..rig import contact_property, controls, correction, mapping, results, root, trail_cache, trails
from ..solvers import root_fit, slide
from ..solvers.errors import FootlockError
from . import detect_contacts
from .base import ActionOperator, legs_note
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
        more = f" and {len(self.bones) - 1} more" if len(self.bones) > 1 else ""
        return f"“{self.bones[0]}”{more}"


def fit(scene, armature, legs, unit=0.0, labels=None, result=results.IN_PLACE):
    """Rewrite the root's horizontal travel. ``labels`` (frames, legs) bool; without, those of the contact curves, or
    else what an automatic detection finds. result: one of ``results.KINDS``; a layer is left to Remove Sliding, and the
    fit goes into a copy.

    Nothing is written where the root fits as it is. Raises FootlockError, with nothing changed, where the root cannot
    be moved or no foot is planted.
    """
    clip = clips.read(scene, armature, legs, unit, controls.found(armature, legs), also=root.tops(armature))
    results.check(armature, (), result)
    bones = root.carrying(clip)
    for bone in bones:
        correction.check_root(armature, bone)
    if labels is None:
        labels = contact_property.read(armature, legs, clip.frames)
    if labels is None:
        labels = detect_contacts.detect(scene, armature, legs, unit=clip.unit).labels
    if not labels.any():
        raise FootlockError("No foot is planted in this clip, so nothing tells how the root should travel.")
    toes = clip.leg_pose().toe
    found = root_fit.fit(toes, clip.head(bones[0]), labels, clip.frame_rate)
    before, notes = slide.measure(toes, labels), ""
    after, fitted = before, clip
    if found.kind != "none":
        results.begin(armature, result, {one.name for one in clip.bones})
        notes = correction.baked_sentence(correction.move_level(armature, clip, bones, found.shift))
        correction.go_on(armature, bones)
        if result != results.IN_PLACE:
            results.seal(armature)
        notes += results.sentence(armature, results.NEW if result == results.LAYER else result)
        fitted = clips.read(scene, armature, legs, clip.unit)
        after = slide.measure(fitted.leg_pose().toe, labels)
    return Fitted(clip, fitted, bones, found, before, after, notes)


class FOOTLOCK_OT_fit_root(ResultProperties, ActionOperator, bpy.types.Operator):
    bl_idname = "footlock.fit_root"
    bl_label = "Fit Root to Feet"
    bl_description = (
        "Rewrite the root's horizontal travel so that planted feet stand still, as far as the root alone can do it:"
        " scaled where it is too long or too short, given back where the clip walks in place"
    )

    def run(self, context, armature):
        legs = mapping.of(armature)
        done = fit(context.scene, armature, legs, self.unit, result=self.result)
        if done.fit.kind == "none":
            return f"The root fits the feet already: {done.bone} was left as it is.{legs_note(legs)}"
        mapping.remember(armature, legs)
        mapping.forget(armature)
        trail_cache.put(context.scene, armature, trails.of_action(armature, done.fitted, done.clip))
        return f"{sentence(done)}{legs_note(legs)}"


def sentence(done):
    """What a fit did, in one line."""
    before, after = (slide.overall(slides) * 1000.0 for slides in (done.before, done.after))
    if done.fit.kind == "scale":
        what = f"Travel of {done.bone} scaled by {1.0 / done.fit.scale:.3f}"
    else:
        what = f"{done.bone} now travels at {done.fit.feet_speed:.2f} m/s"
    return f"{what}; slide {before:.2f} → {after:.2f} mm per frame.{done.notes}"
