"""Detect Contacts: label when each foot is planted, as a curve in the action."""

import hashlib
import json
from dataclasses import asdict, dataclass, field, replace

import bpy
import numpy as np

from ..rig import clip as clips
from ..rig import contact_property, footprints, mapping, root, sources, trail_cache, trails
from ..rig.contact_property import State
from ..rig.stepwise import job, part, plain
from ..solvers import auto_contacts, contacts, root_fit
from ..solvers.errors import FootlockError
from ..solvers.wording import Listed, Said, counted, together
from . import reporting
from .base import ActionOperator, legs_notes, moved_note
from .long_work import LongWork
from .properties import THRESHOLDS, DetectionProperties

MODES = ("auto", "threshold")
# Detections by what they were made of, and how many: of two characters and what they were before.
_kept = {}
_MOST_KEPT = 4


@dataclass(frozen=True)
class Settings:
    """``mode``: "auto", or "threshold" with ``thresholds``, which may leave a velocity or height to be chosen, and a
    ``floor``, world z in metres, None to be found."""

    mode: str = "auto"
    thresholds: contacts.ThresholdSettings = field(default_factory=contacts.ThresholdSettings)
    floor: float | None = None

    def as_text(self):
        """As JSON, to be kept."""
        return json.dumps(asdict(self))

    @classmethod
    def of_text(cls, text):
        """The Settings that were kept; the default ones of an empty text."""
        given = json.loads(text or "{}")
        thresholds = contacts.ThresholdSettings(**given.pop("thresholds", {}))
        return cls(thresholds=thresholds, **given)


@dataclass(frozen=True)
class Detection:
    """What was found in a ``clip``: ``labels`` (frames, legs) bool; ``speed`` over the floor, m/s, and ``height`` over
    it, metres, both (frames, legs); ``ground`` (legs,), height of each leg's floor, world z in metres; ``enter``, the
    speed below which a foot is planted, and ``highest``, the height; ``fit``, the RootFit; ``of_source``: the
    clip is not the action's own, but that of its source."""

    clip: clips.Clip
    mode: str
    labels: np.ndarray
    speed: np.ndarray
    height: np.ndarray
    ground: np.ndarray
    enter: float
    highest: float
    fit: root_fit.RootFit
    of_source: bool

    def summary(self):
        """contacts.Summary of the labels."""
        return contacts.summary(self.labels, self.clip.frame_rate)


def detecting(scene, armature, legs, settings=Settings(), unit=0.0):
    """Steps that detect the contacts of an armature's action, without writing anything, and return the Detection:
    those of its source where it was corrected (``sources.beginning``), for feet that are held look planted. Without a
    single contact where no foot is planted. They raise FootlockError for a rig or action that cannot be read."""
    source = sources.beginning(armature)
    with sources.shown(armature, source):
        clip = yield from part(clips.reading(scene, armature, legs, unit), 0.0, 0.6)
    found = yield from part(job("detecting contacts", judge, clip, settings), 0.6, 0.95)
    return replace(found, of_source=source is not None)


detect = plain(detecting)


def judge(clip, settings=Settings()):
    """The Detection of a clip that was read. The last few are kept for as long as Blender runs, and found again by what
    they were made of."""
    pose = clip.leg_pose()
    travel = clip.head(root.travelling(clip))
    made_of = hashlib.sha1(repr((settings, clip.frame_rate)).encode(), usedforsecurity=False)
    for points in (pose.toe, pose.hip, travel, pose.leg_lengths()):
        made_of.update(np.ascontiguousarray(points))
    key = made_of.hexdigest()
    if key not in _kept:
        while len(_kept) >= _MOST_KEPT:
            del _kept[next(iter(_kept))]
        _kept[key] = _judged(clip, pose, travel, settings)
    return replace(_kept[key], clip=clip)


def _judged(clip, pose, travel, settings):
    """A Detection without its clip, which would be large to keep."""
    found = auto_contacts.detect(pose.toe, pose.hip, travel, pose.leg_lengths(), clip.frame_rate)
    enter, highest = found.enter, found.highest
    ground = found.ground
    if settings.mode == "threshold":
        floor = contacts.floor_height(pose.toe) if settings.floor is None else settings.floor
        chosen = contacts.nearest(pose.toe, clip.frame_rate, floor, found.labels, settings.thresholds)
        found = contacts.detect(pose.toe, clip.frame_rate, floor, chosen)
        enter, highest = chosen.velocity, chosen.height
        ground = np.full(len(ground), floor)
    fit = root_fit.fit(pose.toe, travel, found.labels, clip.frame_rate)
    judged = (found.labels, found.speed, found.height, ground, enter, highest)
    return Detection(None, settings.mode, *judged, fit, False)


class FOOTLOCK_OT_detect_contacts(DetectionProperties, LongWork, ActionOperator, bpy.types.Operator):
    bl_idname = "footlock.detect_contacts"
    bl_label = "Detect Contacts"
    bl_description = (
        "Find when each foot is planted and write it as a curve, the property “contact” of"
        " the toe bone, which can be edited like any curve"
    )

    def work(self, context, armature):
        legs = mapping.of(armature)
        states = contact_property.states(armature, legs)
        kept = {i: state for i, state in enumerate(states) if self._keeps(state)}
        span = self._span()
        settings = self._settings()
        found = yield from detecting(context.scene, armature, legs, settings, self.unit)
        if len(kept) == len(legs.legs):
            raise FootlockError(_all_kept(kept.values()))
        frames = found.clip.frames
        span = span and found.clip.span_in_action(span)
        if found.mode == "threshold" and not found.labels.any():
            raise FootlockError(
                "No contact was found: raise the speed or height threshold, or key the contact curves by hand."
            )
        if self.bake:
            contact_property.check_judged(armature, legs)
        contact_property.write(armature, legs, frames, found.labels, span, detected=True, skip=kept)
        if self.bake:
            contact_property.write_judged(armature, legs, frames, found.speed, found.height)
        else:
            contact_property.remove_judged(armature, legs)
        mapping.remember(armature, legs)
        weights, origins = contact_property.weights(armature, legs, frames), contact_property.origins(armature, legs)
        moved = footprints.prune(armature, legs, frames, weights)
        report = reporting.of_detection(armature, legs, found, weights, origins)()
        reporting.store(context.scene, armature, found.clip, report, settings)
        # What is said is of the curves as they are now, kept ones and other frames included.
        found = replace(found, labels=contact_property.read(armature, legs, frames))
        mapping.store_found(armature, found)
        if not found.of_source:
            trail_cache.put(context.scene, armature, trails.of_action(armature, found.clip))
        return together(sentence(legs, found), _kept_note(legs, kept), moved_note(moved), *legs_notes(legs))

    def _settings(self):
        """The Settings. A script that gives thresholds and no mode means them to be used."""
        given = any(self.properties.is_property_set(name) for name in THRESHOLDS)
        mode = "threshold" if given and not self.properties.is_property_set("mode") else self.mode.lower()
        thresholds = contacts.ThresholdSettings(
            None if self.auto_velocity else self.velocity,
            None if self.auto_height else self.height,
            self.vote,
            self.smoothing,
            self.level,
        )
        return Settings(mode, thresholds, None if self.auto_floor else self.floor)

    def _span(self):
        if not self.use_range:
            return None
        if self.range_end < self.range_start:
            raise FootlockError(
                "The range ends at frame {range_end}, before it starts at {range_start}: set its end later.",
                range_end=self.range_end,
                range_start=self.range_start,
            )
        return self.range_start, self.range_end

    def _keeps(self, state):
        return state in contact_property.PROTECTED or (state is State.EDITED and not self.replace_edited)


def sentence(legs, found):
    """What a detection found, in one line."""
    summary = found.summary()
    if not found.labels.any():
        return Said("No foot is planted in this clip.")
    counts = (
        counted(
            count,
            "{leg} {count} contact ({share:.0f} %)",
            "{leg} {count} contacts ({share:.0f} %)",
            leg=leg.label,
            share=100.0 * share,
        )
        for leg, count, share in zip(legs.legs, summary.counts, summary.shares, strict=True)
    )
    return Said(
        "{contacts}; floor {heights} cm, planted below {speed:.2f} m/s; {root}.",
        contacts=Listed(counts),
        heights=Listed(dict.fromkeys(f"{100.0 * height:.1f}" for height in found.ground), " and "),
        speed=found.enter,
        root=root_words(found.fit),
    )


def root_words(fit):
    """What a RootFit says of the root, in a few words."""
    if fit.kind == "scale":
        if fit.scale > 1.0:
            return Said("root {ratio:.2f}× too fast", ratio=fit.scale)
        return Said("root {ratio:.2f}× too slow", ratio=1.0 / fit.scale)
    if fit.in_place:
        return Said("in place, feet travel at {speed:.2f} m/s", speed=fit.feet_speed)
    if fit.kind == "path":
        return Said(
            "root travels at {root:.2f} m/s and the feet at {feet:.2f}", root=fit.root_speed, feet=fit.feet_speed
        )
    return Said("root fits the feet")


def _kept_note(legs, kept):
    if not kept:
        return ""
    return Said("{kept}.", kept=Listed(kept_words(legs.legs[i], state) for i, state in kept.items()))


def kept_words(leg, state):
    """What is said of a leg whose curve stays as it is."""
    return Said("{leg} kept ({state})", leg=leg.label, state=state.said)


def _all_kept(states):
    states = set(states)
    if states == {State.EDITED}:
        return Said(
            "The contact curves were edited by hand and are kept: switch on Replace Edited to detect them anew."
        )
    return Said(
        "All contact curves are {states} and are kept: unlock or unmute those that shall be detected anew.",
        states=Listed((state.said for state in sorted(states, key=lambda one: one.value)), " or "),
    )
