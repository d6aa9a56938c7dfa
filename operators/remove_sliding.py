"""Remove Sliding: correct the action so that planted toes stay where they are."""

from dataclasses import dataclass

import bpy
import numpy as np

from ..rig import clip as clips
from ..rig import contact_property, correction, mapping
from ..solvers import contacts, foot_lock, foot_skate, knee_side, leg_chain, slide
from ..solvers.errors import FootlockError
from .base import ActionOperator, one_leg_note
from .properties import RemovalProperties

_DEFAULT = foot_skate.Settings()


@dataclass(frozen=True)
class Removal:
    """What was done to a ``clip`` of ``armature`` (as it was read) with ``labels`` (frames, legs): Slide of each leg
    ``before`` and ``after``, the latter measured on the written action; frames ``out_of_reach`` (frames, legs)."""

    armature: str
    clip: clips.Clip
    labels: np.ndarray
    before: list
    after: list
    out_of_reach: np.ndarray
    converged: bool

    def counts(self):
        """How many contacts each leg has."""
        return [len(contacts.runs(self.labels[:, leg])) for leg in range(self.labels.shape[1])]


def remove(scene, armature, legs, settings=_DEFAULT, unit=0.0, labels=None):
    """Correct an armature's action. ``labels`` (frames, legs) bool; without, those of its contact curves.

    Everything is read and solved before the first key is written. Raises FootlockError, with nothing changed, where
    the rig or its action forbid it or there is no contact curve.
    """
    correction.check(armature, legs)
    clip = clips.read(scene, armature, legs, unit)
    if labels is None:
        labels = contact_property.read(armature, legs, clip.frames)
        if labels is None:
            raise FootlockError("The action has no contact curve for these legs: click Detect Contacts first.")
    pose = clip.leg_pose()
    frames_of_shins = np.stack([clip.world_rotation(leg.shin) for leg in legs.legs], axis=1)
    side = knee_side.side_vectors(pose, frames_of_shins)
    result = foot_skate.remove_sliding(clip.head(legs.pelvis), pose, side, labels, clip.frame_rate, settings)
    correction.write(armature, clip, result.pelvis, result.legs)
    written = clips.read(scene, armature, legs, clip.unit).leg_pose()
    return Removal(
        armature.name,
        clip,
        labels,
        slide.measure(pose.toe, labels),
        slide.measure(written.toe, labels),
        result.out_of_reach,
        result.converged,
    )


class FOOTLOCK_OT_remove_sliding(RemovalProperties, ActionOperator, bpy.types.Operator):
    bl_idname = "footlock.remove_sliding"
    bl_label = "Remove Sliding"
    bl_description = (
        "Correct the action so that each toe stays in one place while its contact curve is up."
        " Pelvis and legs get new keys, nothing else changes"
    )

    def run(self, context, armature):
        legs = mapping.of(armature)
        settings = foot_skate.Settings(
            self.method,
            leg_chain.LegChainSettings(softening=self.softening),
            foot_lock.FootLockSettings(self.lock_distance, self.unlock_distance, self.blend_time),
        )
        done = remove(context.scene, armature, legs, settings, self.unit)
        if not len(armature.data.footlock.legs):
            mapping.store(armature, legs)
        mapping.store_result(armature, done.counts(), done.before, done.after, done.out_of_reach.sum(0).tolist())
        return sentence(legs, done)


def sentence(legs, done):
    """What a run did, in one line."""
    counts = ", ".join(f"{leg.label} {count} contacts" for leg, count in zip(legs.legs, done.counts(), strict=True))
    before, after = (slide.overall(slides) * 1000.0 for slides in (done.before, done.after))
    text = f"{counts}; slide {before:.2f} → {after:.2f} mm per frame"
    missed = int(done.out_of_reach.any(axis=1).sum())
    if missed:
        text += f"; {missed} frames out of reach"
    if not done.converged:
        text += "; the solver stopped early"
    return f"{text}.{one_leg_note(legs)}"
