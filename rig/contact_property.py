"""The contact curve: a custom property on the bone that bears a leg's label, animated in the action in use.

What a detection wrote is remembered in the action by a digest, so that a curve which was edited since is told from
one that was not. Beside it stand, on request, the two quantities that a detection went by.
"""

import hashlib
from enum import Enum

import bpy
import numpy as np

from ..solvers import contact_report, contacts
from ..solvers.errors import FootlockError
from ..solvers.wording import Said
from . import compat, curves, results

NAME, SPEED, HEIGHT = curves.OWN_PROPERTIES
# A value above this is a contact.
LEVEL = contacts.PLANTED_ABOVE
# The value of a foot that slides on purpose.
SLIDES = -1.0
# Property of the action: what the curves of a detection were, by the path of each.
_DIGESTS = "footlock_contacts"
# What stands before the digest of a curve from a file, which is a person's own.
_OF_FILE = "file "

_DESCRIPTIONS = {
    NAME: "1 while this foot is planted, 0 while it is free, between them it is held in part; -1: it slides on purpose",
    SPEED: "Speed of this foot over the floor, m/s, as the detection of contacts judged it",
    HEIGHT: "Height of this foot over its floor, metres, as the detection of contacts judged it",
}


class State(Enum):
    """What a detection finds in place of a leg's curve, and what it calls it."""

    ABSENT = "absent"
    DETECTED = "detected"
    EDITED = "edited by hand"
    LOCKED = "locked"
    MUTED = "muted"

    @property
    def said(self):
        """The same, to be translated."""
        return Said(self.value)


# Curves that no detection and no file replaces.
PROTECTED = (State.LOCKED, State.MUTED)


def read(armature, legs, frames):
    """Labels (frames, legs) bool as the curves have them at ``frames``; a leg without a curve, or whose curve is muted,
    has none. None where no leg has a curve."""
    found = weights(armature, legs, frames)
    return None if found is None else found > LEVEL


def weights(armature, legs, frames):
    """The curves' numbers (frames, legs) at ``frames``, as ``slide_removal.solve`` takes them; 0 for a leg without a
    curve, or whose curve is muted. None where no leg has a curve."""
    return weights_in(curves.by_path(armature), armature, legs, frames)


def weights_in(paths, armature, legs, frames):
    """The same of the curves ``paths`` of an action that need not be in use."""
    found = _labels(paths, armature, legs)
    if not any(found):
        return None
    columns = [np.zeros(len(frames)) if curve is None else curves.sample(curve, frames) for curve in found]
    return np.clip(np.stack(columns, axis=1), SLIDES, 1.0)


def labelled(armature, legs):
    """Which legs have a curve that counts."""
    return [curve is not None for curve in _labels(curves.by_path(armature), armature, legs)]


def _labels(paths, armature, legs):
    """The curve of each leg; None without one, or where it is muted."""
    found = [paths.get((_path(armature, leg), 0)) for leg in legs.legs]
    return [curve if curve and len(curve.keyframe_points) else None for curve in found]


def states(armature, legs):
    """The State of each leg's curve."""
    return [_state(armature, leg) for leg in legs.legs]


def origins(armature, legs):
    """Where the labels of each leg are from, as ``contact_report`` calls it."""
    return tuple(_origin(armature, leg) for leg in legs.legs)


def write(armature, legs, frames, labels, span=None, detected=False, skip=(), of_file=False):
    """Bake labels (frames, legs) into one stepped curve a leg, with keys only where they change.

    span: (first, last) frame between which keys are rewritten; without, all of them. detected: True for the result of
    a detection, which another one may replace. skip: indices of legs whose curves are left alone. of_file: True for
    labels from a file. Raises FootlockError, with nothing changed, where a bone has a property of that name that is no
    number.
    """
    results.check_writable(armature)
    _check_free(armature, legs, NAME)
    for i, leg in enumerate(legs.legs):
        if i in skip:
            continue
        # A curve that was edited stays so where only a part of it is written anew.
        edited = span is not None and _state(armature, leg) is State.EDITED
        curve = _curve(armature, leg, NAME, SLIDES, 1.0)
        curve.mute = False
        values = labels[:, i].astype(float)
        if span is not None and len(curve.keyframe_points):
            _rewrite(curve, frames, values, span)
        else:
            if span is not None:
                values = np.where((frames >= span[0]) & (frames <= span[1]), values, 0.0)
            keyed = np.concatenate([[True], values[1:] != values[:-1]])
            curve.keyframe_points.clear()
            curves.write(curve, frames[keyed], values[keyed], "CONSTANT")
        _remember(armature, curve, "" if detected and not edited else _OF_FILE if of_file else None)


def check_judged(armature, legs):
    """Raise FootlockError where ``write_judged`` could not write. Call before anything is changed."""
    for name in (SPEED, HEIGHT):
        _check_free(armature, legs, name)


def write_judged(armature, legs, frames, speed, height):
    """Bake the quantities that a detection went by, (frames, legs), into two more curves a leg."""
    for i, leg in enumerate(legs.legs):
        for name, values in ((SPEED, speed[:, i]), (HEIGHT, height[:, i])):
            curves.write(_curve(armature, leg, name, None, None), frames, values, "LINEAR")


def remove_judged(armature, legs):
    """Remove the curves that ``write_judged`` wrote; they would tell of another detection. The properties go with them
    unless there are other actions, which may have curves of them."""
    for leg in legs.legs:
        for name in (SPEED, HEIGHT):
            removed = compat.remove_fcurve(armature, _path(armature, leg, name), 0)
            if removed and len(bpy.data.actions) == 1:
                armature.pose.bones[leg.bearer].pop(name, None)


def _found(armature, path):
    """The curve of a property, or None."""
    return next((one for one in compat.fcurves(armature) if one.data_path == path), None)


def _state(armature, leg):
    path = _path(armature, leg)
    curve = _found(armature, path)
    if curve is None or not len(curve.keyframe_points):
        return State.ABSENT
    if compat.is_locked(curve):
        return State.LOCKED
    if compat.is_muted(curve):
        return State.MUTED
    known = _known(armature.animation_data.action)
    return State.DETECTED if known.get(_key(armature, path)) == _digest(curve) else State.EDITED


def _origin(armature, leg):
    state, path = _state(armature, leg), _path(armature, leg)
    if state in (State.ABSENT, State.MUTED):
        return contact_report.ABSENT if state is State.ABSENT else contact_report.MUTED
    digest = _digest(_found(armature, path))
    known = _known(armature.animation_data.action).get(_key(armature, path))
    if known == digest:
        return contact_report.FOUND
    return contact_report.FILE if known == _OF_FILE + digest else contact_report.HAND


def _rewrite(curve, frames, values, span):
    """New keys within a span; those outside stay as they are, and so does the curve from the frame after it on."""
    inside = curves.within(frames, span)
    if not inside.any():
        return
    after = frames[frames > span[1] + curves.SAME_FRAME][:1]
    then = np.array([curve.evaluate(frame) for frame in after])
    points = curve.keyframe_points
    at = curves.keys(curve)[0]
    for index in np.flatnonzero(curves.within(at, span))[::-1]:
        points.remove(points[int(index)], fast=True)
    frames, values = frames[inside], values[inside]
    keyed = np.concatenate([[True], values[1:] != values[:-1]])
    added = list(zip(frames[keyed], values[keyed], strict=True))
    if len(after) and not np.any(np.abs(at - after[0]) < curves.SAME_FRAME):
        added.append((after[0], then[0]))
    for frame, value in added:
        points.insert(frame, value, options={"FAST"}).interpolation = "CONSTANT"
    curve.update()


def _check_free(armature, legs, name):
    for leg in legs.legs:
        if not isinstance(armature.pose.bones[leg.bearer].get(name, 0.0), (int, float)):
            raise FootlockError(
                "Bone “{bone}” has a property “{property}” of its own that is no number: rename that property.",
                bone=leg.bearer,
                property=name,
            )


def _curve(armature, leg, name, least, most):
    """The curve of a leg's property, both made where they are missing."""
    pose_bone = armature.pose.bones[leg.bearer]
    pose_bone[name] = 0.0
    shown = {"default": 0.0, "precision": 2, "description": _DESCRIPTIONS[name]}
    if least is not None:
        shown.update(min=least, max=most, soft_min=0.0, soft_max=most)
    pose_bone.id_properties_ui(name).update(**shown)
    pose_bone.property_overridable_library_set(f'["{name}"]', True)
    return compat.ensure_fcurve(armature, _path(armature, leg, name), 0, leg.bearer)


def _remember(armature, curve, origin):
    """Note what a curve is now. origin: what stands before its digest, None where nothing is noted."""
    action = armature.animation_data.action
    known = _known(action)
    known.pop(_key(armature, curve.data_path), None)
    if origin is not None:
        known[_key(armature, curve.data_path)] = origin + _digest(curve)
    if known:
        action[_DIGESTS] = known
    else:
        action.pop(_DIGESTS, None)


def _known(action):
    """Digests by key, as the action has them."""
    known = action.get(_DIGESTS)
    return dict(known) if hasattr(known, "items") else {}


def _key(armature, path):
    """A curve's key within its action: slots of one action have curves of the same path. A hash, since Blender cuts
    names of properties off."""
    return _hash(f"{compat.slot_name(armature)}:{path}".encode())


def _digest(curve):
    """What a person may have changed: frames, values and interpolation of the keys."""
    points = curve.keyframe_points
    co, interpolation = np.empty(2 * len(points), np.float32), np.empty(len(points), np.int32)
    points.foreach_get("co", co)
    points.foreach_get("interpolation", interpolation)
    return _hash(co.tobytes() + interpolation.tobytes())


def _hash(data):
    return hashlib.sha1(data, usedforsecurity=False).hexdigest()


def _path(armature, leg, name=NAME):
    # Blender gives the path of a property only while it exists; that of the bone it always gives.
    return f'{armature.pose.bones[leg.bearer].path_from_id()}["{name}"]'
