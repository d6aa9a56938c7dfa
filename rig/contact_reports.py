"""The report of contacts as it is kept with the action: saved, undone and copied with it, one for each slot.

The action is the one that is shown: a corrected copy or layer has a report of its own, and so has the action that it
was made from, to which Revert goes back. A digest of the curves tells whether they were edited since.
"""

import base64
import hashlib
import json
import zlib
from dataclasses import fields

import bpy
import numpy as np
from bpy.props import BoolProperty, CollectionProperty, FloatProperty, IntProperty, StringProperty

from ..solvers.contact_report import Movement, Report, Row, Traces
from ..solvers.errors import FootlockError
from . import clip as clips
from . import compat, controls, curves, names, nla, results

# Half precision, of which the traces are kept, goes no further.
_LARGEST = 6e4
_SCALES = {"scale", "delta_scale"}
_MOVEMENTS = ("mean", "largest", "drift", "away")


class FootlockContact(bpy.types.PropertyGroup):
    """One contact of the report; lengths in metres. Frames are indices into the report's."""

    leg: IntProperty(name="Leg", description="Which leg of the report")
    first: IntProperty(name="First", description="First frame, counted from the clip's first")
    last: IntProperty(name="Last", description="Last frame, counted from the clip's first")
    worst: IntProperty(name="Worst", description="The frame to look at, counted from the clip's first")
    seconds: FloatProperty(name="Duration", description="How long it lasts, seconds")
    mean_before: FloatProperty(name="Mean Before", description="Mean slide before, metres per frame")
    largest_before: FloatProperty(name="Largest Before", description="Largest slide before, metres per frame")
    drift_before: FloatProperty(name="Drift Before", description="From the first to the last frame before, metres")
    away_before: FloatProperty(name="Away Before", description="Farthest from the median place before, metres")
    mean_after: FloatProperty(name="Mean After", description="Mean slide after, metres per frame")
    largest_after: FloatProperty(name="Largest After", description="Largest slide after, metres per frame")
    drift_after: FloatProperty(name="Drift After", description="From the first to the last frame after, metres")
    away_after: FloatProperty(name="Away After", description="Farthest from the median place after, metres")
    residual: FloatProperty(name="Residual", description="How far the toe is from its place at worst, metres")
    missed: IntProperty(name="Out of Reach", description="Frames in which the leg was too short to hold the toe")
    mean_speed: FloatProperty(name="Mean Speed", description="Over the floor, m/s")
    largest_speed: FloatProperty(name="Largest Speed", description="Over the floor, m/s")
    mean_height: FloatProperty(name="Mean Height", description="Over the floor, metres")
    largest_height: FloatProperty(name="Largest Height", description="Over the floor, metres")
    cause: StringProperty(name="Cause", description="What made the contact: found, hand or file")


class FootlockReportLeg(bpy.types.PropertyGroup):
    """A leg of the report, by its label."""

    origin: StringProperty(name="Origin", description="Where the labels of this leg are from")


class FootlockReport(bpy.types.PropertyGroup):
    """The report of one slot of an action, worst contact first."""

    slot: IntProperty(name="Slot", description="The number by which the action knows the slot")
    state: StringProperty(name="State", description="What the curves were when this was measured")
    bones: StringProperty(name="Bones", description="The bones whose curves count, as JSON; empty for all")
    map: StringProperty(name="Legs", description="The bones of pelvis and legs, as JSON")
    settings: StringProperty(name="Settings", description="How contacts were detected, as JSON")
    unit: FloatProperty(name="Unit", description="Metres of one unit of the scene")
    start: FloatProperty(name="Start", description="First frame of the action")
    step: FloatProperty(name="Step", description="Frames of the action from one frame of the clip to the next")
    frame_rate: FloatProperty(name="Frame Rate", description="Frames of the clip per second")
    enter: FloatProperty(name="Enter", description="Speed below which a foot was taken for planted, m/s")
    highest: FloatProperty(name="Highest", description="Height below which a foot was taken for planted, metres")
    corrected: BoolProperty(name="Corrected", description="Sliding was removed, so that there is an after")
    traces: StringProperty(name="Traces", description="Speed, height, labels and slide of each frame, packed")
    legs: CollectionProperty(type=FootlockReportLeg, name="Legs")
    contacts: CollectionProperty(type=FootlockContact, name="Contacts")


classes = (FootlockContact, FootlockReportLeg, FootlockReport)


def register():
    for cls in classes:
        bpy.utils.register_class(cls)
    bpy.types.Action.footlock_report = CollectionProperty(
        type=FootlockReport, name="Footlock Report", description="Contacts of each slot of this action"
    )


def unregister():
    del bpy.types.Action.footlock_report
    for cls in reversed(classes):
        bpy.utils.unregister_class(cls)


def find(armature):
    """The FootlockReport of what an armature shows, or None."""
    action, slot = _shown(armature)
    if action is None:
        return None
    return next((one for one in action.footlock_report if one.slot == slot), None)


def store(scene, armature, clip, report, settings, motions=None):
    """Keep a Report of a Clip with the action that the armature shows, where that is of this file. settings: text that
    says how its contacts were detected; motions: what is known of curves, as ``curves.motions`` has it."""
    action, slot = _shown(armature)
    if action is None or action.library is not None:
        return
    kept = find(armature) or action.footlock_report.add()
    kept.slot, kept.settings, kept.unit = slot, settings, clip.unit
    kept.bones, kept.map = _counting(armature, clip), json.dumps(_map(clip.legs))
    kept.start, kept.step = clip.frames[0], (clip.frames[-1] - clip.frames[0]) / max(len(clip.frames) - 1, 1)
    kept.frame_rate, kept.enter, kept.highest = report.frame_rate, report.enter, report.highest
    kept.corrected, kept.traces = report.corrected, _packed(report.traces)
    kept.legs.clear()
    for label, origin in zip(report.legs, report.origins, strict=True):
        leg = kept.legs.add()
        leg.name, leg.origin = label, origin
    kept.contacts.clear()
    for row in report.rows:
        _store_row(kept.contacts.add(), row)
    kept.state = state(scene, armature, kept.bones, motions)


def read(armature, kept):
    """The Report that a FootlockReport keeps, of what an armature shows; in single precision, its traces in half."""
    traces = _unpacked(kept)
    at = to_scene(armature, kept.start + kept.step * np.arange(len(traces.weights)))
    return Report(
        armature.name,
        kept.id_data.name,
        tuple(names.labelled(leg.name) for leg in kept.legs),
        tuple(leg.origin for leg in kept.legs),
        at,
        kept.frame_rate,
        kept.enter,
        kept.highest,
        tuple(row_of(kept, item) for item in kept.contacts),
        traces,
    )


def is_current(scene, armature, kept):
    """True where curves, legs and size are what they were when the report was made."""
    legs = armature.data.footlock.legs
    known = not len(legs) or not kept.map or json.loads(kept.map) == _map(armature.data.footlock)
    return known and state(scene, armature, kept.bones) == kept.state


def state(scene, armature, bones="", motions=None):
    """What the curves are that move an armature, and its size, in a few letters. bones: JSON of the names of
    those that count, "" for all; motions: see ``store``."""
    counting = set(json.loads(bones)) if bones else None
    given = clips.frame_rate(scene), _size(armature)
    digest = hashlib.sha1(repr(given).encode(), usedforsecurity=False)
    for held in _held(armature):
        for (path, index), curve in sorted(curves.all_in(held).items(), key=lambda one: one[0]):
            if not _counts(path, counting):
                continue
            digest.update(repr((path, index, compat.is_muted(curve))).encode())
            digest.update(curves.motion(curve, motions))
    if results.layer(armature):
        digest.update(repr(round(results.influence(armature), 4)).encode())
    return digest.hexdigest()


def _map(legs):
    """The bones of a LegMap, or of legs as they are stored."""
    return [legs.pelvis, *([leg.thigh, leg.shin, leg.foot, leg.toe] for leg in legs.legs)]


def _size(armature):
    """How large an armature object is in the world, None where that is animated."""
    ob = armature
    while ob is not None:
        paths = {curve.data_path for curve in compat.fcurves(ob)} if ob.animation_data else set()
        if len(ob.constraints) or (ob.animation_data and len(ob.animation_data.drivers)) or paths & _SCALES:
            return None
        ob = ob.parent
    return [float(f"{size:.4g}") for size in armature.matrix_world.to_scale()]


def row_of(kept, item):
    """The Row that a FootlockContact of a report keeps."""
    before, after = (
        Movement(*(getattr(item, f"{name}_{when}") for name in _MOVEMENTS)) for when in ("before", "after")
    )
    return Row(
        item.leg,
        item.first,
        item.last,
        item.worst,
        item.seconds,
        before,
        after if kept.corrected else None,
        item.residual,
        item.missed,
        (item.mean_speed, item.largest_speed),
        (item.mean_height, item.largest_height),
        item.cause,
    )


def frame(armature, kept, index):
    """The frame of the scene of an index into a report's frames."""
    return float(to_scene(armature, kept.start + kept.step * index))


def to_scene(armature, frames):
    """Frames of the scene of frames of the action, which are the same where a strip has them in no single place."""
    try:
        return nla.time(armature).to_scene(frames)
    except FootlockError:
        return frames


def _shown(armature):
    """(action, number of its slot) that an armature shows; (None, 0) without."""
    data = armature.animation_data
    if data is None:
        return None, 0
    if data.action is not None:
        return data.action, compat.slot_handle(armature)
    found = results.layer(armature)
    return (found[1].action, compat.strip_slot(found[1])) if found else (None, 0)


def _held(armature):
    """What holds the curves that are shown: those in use, or of a layer and of the action under it."""
    action, slot = _shown(armature)
    found = [compat.held_by(action, slot)] if action else []
    if action is not None and results.layer(armature):
        base = results.original(action)
        below = [
            strip
            for track in armature.animation_data.nla_tracks
            for strip in track.strips
            if base is not None and strip.action == base
        ]
        found += [compat.held_by(base, compat.strip_slot(below[-1]))] if below else []
    return [held for held in found if held is not None]


def _counts(path, bones):
    """True for the curve of this path where a report depends on it: labels always, else those of the bones."""
    if curves.is_own(path):
        return path.endswith(f'"]["{curves.OWN_PROPERTIES[0]}"]')
    if bones is None:
        return True
    bone = curves.bone_and_property(path)[0]
    return bone is None or bone in bones


def _counting(armature, clip):
    """JSON of the names of the bones whose curves move a clip's legs; "" where constraints or drivers may have any do
    so."""
    names = {bone.name for bone in clip.bones}
    driven = {curves.bone_and_property(one.data_path)[0] for one in armature.animation_data.drivers}
    if driven & names or any(controls.acting(armature, armature.pose.bones[name]) for name in names):
        return ""
    limbs = controls.limb_bones(armature, clip.legs)
    above = {bone.name for name in limbs for bone in armature.data.bones[name].parent_recursive}
    return json.dumps(sorted(limbs | above))


def _store_row(item, row):
    for name in ("leg", "first", "last", "worst", "seconds", "residual", "missed", "cause"):
        setattr(item, name, getattr(row, name))
    for when, moved in (("before", row.before), ("after", row.after)):
        for name in _MOVEMENTS if moved else ():
            setattr(item, f"{name}_{when}", getattr(moved, name))
    item.mean_speed, item.largest_speed = row.speed
    item.mean_height, item.largest_height = row.height


def _packed(traces):
    """Traces as text: in half precision, leg after leg, since numbers that follow each other are alike."""
    planes = [value for value in vars(traces).values() if value is not None]
    numbers = np.clip(np.stack(planes).astype(float), -_LARGEST, _LARGEST).astype("<f2")
    return base64.b64encode(zlib.compress(numbers.transpose(0, 2, 1).tobytes(), 1)).decode()


def _unpacked(kept):
    names = [one.name for one in fields(Traces) if kept.corrected or one.name != "after"]
    numbers = np.frombuffer(zlib.decompress(base64.b64decode(kept.traces)), "<f2").astype(float)
    planes = numbers.reshape(len(names), len(kept.legs), -1).transpose(0, 2, 1)
    return Traces(**{"after": None, **dict(zip(names, planes, strict=True))})
