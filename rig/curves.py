"""F-curves: the values of a channel over frames, and keys read and written in bulk."""

import hashlib
import re

import bpy
import numpy as np

from ..solvers.errors import FootlockError
from ..solvers.wording import Said
from . import compat
from .stepwise import NOTING, each

# Frames closer than this are the same frame. Blender keeps them in single precision, which at frame 10,000 is good to
# 0.001.
SAME_FRAME = 1e-3

# Larger numbers are of no pose, and single precision could not move a foot there: units, and radians. Blender makes
# them of infinite ones.
_LARGEST, _LARGEST_TURN = 1e9, 1e6

# Properties of bones that are written by a detection: the label, and what it went by.
OWN_PROPERTIES = ("contact", "contact_speed", "contact_height")

_BONE_PATH = re.compile(r'^pose\.bones\["((?:[^"\\]|\\.)*)"\]\.?(.*)$')
# Types of handles: VECTOR, AUTO and AUTO_CLAMPED are placed by Blender.
_FREE, _ALIGNED, _AUTOMATIC_HANDLES = 0, 3, (2, 1, 4)
# What foreach_get has of a key: name, numbers a key, type.
_KEY_ATTRIBUTES = (
    ("co", 2, np.float32),
    ("handle_left", 2, np.float32),
    ("handle_right", 2, np.float32),
    ("handle_left_type", 1, np.int32),
    ("handle_right_type", 1, np.int32),
    ("interpolation", 1, np.int32),
    ("easing", 1, np.int32),
    ("type", 1, np.int32),
    ("amplitude", 1, np.float32),
    ("period", 1, np.float32),
    ("back", 1, np.float32),
    ("select_control_point", 1, bool),
    ("select_left_handle", 1, bool),
    ("select_right_handle", 1, bool),
)
_INTERPOLATION = {"CONSTANT": 0, "LINEAR": 1, "BEZIER": 2}
# Settings of a modifier that are not its own, or only how it is shown.
_NOT_COPIED = {"rna_type", "name", "is_valid", "show_expanded", "active"}
# What changes with the values of keys, and what makes the shape between them.
VALUES = ("co", "handle_left", "handle_right")
SHAPE = ("handle_left", "handle_right", "handle_left_type", "handle_right_type", "interpolation")
EVERYTHING = tuple(name for name, *_ in _KEY_ATTRIBUTES)


def bone_and_property(data_path):
    """The bone's name and the rest of an F-curve's path, or (None, data_path) where it animates no bone."""
    match = _BONE_PATH.match(data_path)
    return (bpy.utils.unescape_identifier(match[1]), match[2]) if match else (None, data_path)


def rename_bone(curve, names):
    """Let a curve go by the name that its bone has now: old → new."""
    path = renamed(curve.data_path, names)
    if path != curve.data_path:
        curve.data_path = path


def renamed(data_path, names):
    """The path of a curve by the name that its bone has now: old → new."""
    bone, _ = bone_and_property(data_path)
    if bone not in names:
        return data_path
    old, new = (f'pose.bones["{bpy.utils.escape_identifier(name)}"]' for name in (bone, names[bone]))
    return new + data_path[len(old) :]


def is_own(data_path):
    """True for the path of a curve that a detection wrote."""
    return data_path.endswith(tuple(f'"]["{name}"]' for name in OWN_PROPERTIES))


def by_path(owner):
    """The F-curves of the action in use, by (data path, index), those that move nothing left out."""
    return by_path_in(compat.channels(owner))


def by_path_in(held):
    """The same of what holds F-curves, or None."""
    return {key: curve for key, curve in all_in(held).items() if not compat.is_muted(curve)}


def all_in(held):
    """All F-curves of what holds some, or None, by (data path, index)."""
    return {(curve.data_path, curve.array_index): curve for curve in (held.fcurves if held else ())}


def of_bones(held, bones):
    """The curves of bones, by their names, in what holds F-curves, or None, by (data path, index): all but those that a
    detection wrote."""
    return {
        (path, index): curve
        for (path, index), curve in all_in(held).items()
        if bone_and_property(path)[0] in bones and not is_own(path)
    }


def is_valid(owner, data_path):
    """False for the path of something that ``owner`` does not have, such as a bone that is gone: Blender itself takes
    that for valid as long as no one looks."""
    try:
        owner.path_resolve(data_path)
    except ValueError:
        return False
    return True


def is_within(owner, data_path, index):
    """False for the path of something that ``owner`` has, and that has no part of this ``index``: where NLA strips play
    such a curve, Blender writes beyond the end of its numbers (seen on 4.2 to 5.3)."""
    try:
        value = owner.path_resolve(data_path)
    except ValueError:
        return True
    return index < (len(value) if hasattr(value, "__len__") and not isinstance(value, str) else 1)


def within(frames, span):
    """Which frames (n,) lie from the first to the last frame of a span: (n,) bool."""
    return (frames >= span[0] - SAME_FRAME) & (frames <= span[1] + SAME_FRAME)


def keys(curve):
    """Frames and values (n,) of a curve's keys."""
    co = np.empty(2 * len(curve.keyframe_points), np.float32)
    curve.keyframe_points.foreach_get("co", co)
    return co[0::2].astype(float), co[1::2].astype(float)


def sample(curve, frames):
    """The curve's values (n,) at ``frames``. Raises FootlockError where they are not finite numbers, or
    beyond all that makes a pose.

    Keys that stand on just these frames are taken as they are, and straight lines between keys need no Blender;
    otherwise it evaluates, with modifiers and extrapolation.
    """
    if not len(curve.modifiers) and len(curve.keyframe_points) > 1:
        at, values = keys(curve)
        if np.array_equal(at, np.float32(frames)):
            return _sane(curve, values)
        kinds = np.empty(len(at), np.int32)
        curve.keyframe_points.foreach_get("interpolation", kinds)
        straight = (kinds[:-1] == _INTERPOLATION["LINEAR"]).all() and (np.diff(at) > 0.0).all()
        if straight and len(frames) and at[0] <= frames[0] and frames[-1] <= at[-1]:
            return _sane(curve, np.interp(frames, at, values))
    return _sane(curve, np.array([curve.evaluate(frame) for frame in frames]))


def write(curve, frames, values, interpolation="LINEAR"):
    """Give the curve these keys (n,). Keys that stand on the same frames already keep all but their value; others are
    made anew."""
    points = curve.keyframe_points
    if has_keys_at(curve, frames):
        _set_values(points, frames, values, values - keys(curve)[1])
    else:
        points.clear()
        points.add(len(frames))
        points.foreach_set("co", _interleaved(frames, values))
        points.foreach_set("interpolation", np.full(len(frames), _INTERPOLATION[interpolation], np.int32))
        points.foreach_set("select_control_point", np.zeros(len(frames), bool))
    curve.update()


def has_keys_at(curve, frames):
    """True where the curve has keys at these frames (n,) and no others."""
    return len(curve.keyframe_points) == len(frames) and np.array_equal(keys(curve)[0], np.float32(frames))


def widened(curve, frames, span):
    """A span with all of ``frames`` (n,) up to the keys on either side of it, those left out, or the next one where
    there is no key. What lies between these keys and new ones would else take another course."""
    at = keys(curve)[0]
    before, after = at[at < span[0] - SAME_FRAME], at[at > span[1] + SAME_FRAME]
    if len(before):
        first = frames[frames > before[-1] + SAME_FRAME][:1]
    else:
        first = frames[frames < span[0] - SAME_FRAME][-1:]
    if len(after):
        last = frames[frames < after[0] - SAME_FRAME][-1:]
    else:
        last = frames[frames > span[1] + SAME_FRAME][:1]
    return min([span[0], *first]), max([span[1], *last])


def write_span(curve, frames, values, span):
    """Give the curve these keys (n,) from the first to the last frame of ``span``. Keys outside stay as they are."""
    inside = within(frames, span)
    at, old = keys(curve)
    if np.array_equal(at, np.float32(frames)):
        points = curve.keyframe_points
        _set_values(points, frames, np.where(inside, values, old), np.where(inside, values - old, 0.0))
        curve.update()
        return
    co = np.stack([frames[inside], values[inside]], axis=1)
    _replace(curve, span, co, co, co, "LINEAR", 0)


def write_smooth(curve, frames, values, slopes, span=None):
    """Give the curve these keys (n,) with handles on either side along ``slopes`` (n,), per frame, so that it is a
    cubic between each two. span: (first, last) frame between which there are keys now; those outside stay as they
    are."""
    co = np.stack([frames, values], axis=1)
    # A key that is alone has handles of a third of a frame.
    third = np.diff(frames) / 3.0 if len(frames) > 1 else np.full(1, 1.0 / 3.0)
    before, after = np.append(third[:1], third)[: len(frames)], np.append(third, third[-1:])[-len(frames) :]
    along = np.stack([np.ones(len(frames)), slopes], axis=1)
    _replace(curve, span, co, co - before[:, None] * along, co + after[:, None] * along, "BEZIER", _ALIGNED)


def keyed_steps(curve, frames):
    """Steps (n - 1,) bool between ``frames`` (n,) at whose two ends, and nowhere between, the curve has a key."""
    at = keys(curve)[0]
    if len(at) < 2:
        return np.zeros(len(frames) - 1, bool)
    first = _key_before(at, frames)
    return (np.abs(at[first] - frames[:-1]) < SAME_FRAME) & (np.abs(at[first + 1] - frames[1:]) < SAME_FRAME)


def pass_halfway(curve, frames, steps, values):
    """Bend a curve so that in some ``steps`` (n - 1,) bool between ``frames`` (n,), all of them ``keyed_steps``, it
    passes through ``values`` (n - 1,) halfway from key to key; nothing changes at the keys."""
    points = curve.keyframe_points
    at, value = keys(curve)
    first = _key_before(at, frames)[steps]
    second, values = first + 1, values[steps]
    arrays = attributes(points, SHAPE)
    one, other = (np.stack([at[end], value[end]], axis=1) for end in (first, second))
    third = (other - one) / 3.0
    up = 4.0 / 3.0 * (values - 0.5 * (one + other)[:, 1])
    arrays["handle_right"][first] = one + third
    arrays["handle_left"][second] = other - third
    arrays["handle_right"][first, 1] += up
    arrays["handle_left"][second, 1] += up
    # Of two handles of which one is placed by Blender it may move both.
    ends = np.union1d(first, second)
    arrays["handle_right_type"][ends] = arrays["handle_left_type"][ends] = _FREE
    arrays["interpolation"][first] = _INTERPOLATION["BEZIER"]
    for name, array in arrays.items():
        points.foreach_set(name, array.ravel())
    curve.update()


def _key_before(at, frames):
    """Index (n - 1,) of the key, of those ``at`` frames, from which the step after each of ``frames`` begins."""
    return np.minimum(np.searchsorted(at, frames[:-1] - SAME_FRAME), len(at) - 2)


def write_at_keys(curve, frames, values, span=None):
    """Give the keys that the curve has the values (n,) at their frames, and make none. span: (first, last) frame
    between which they may change."""
    points = curve.keyframe_points
    at, old = keys(curve)
    new = np.interp(at, frames, values)
    if span is not None:
        new = np.where(within(at, span), new, old)
    _set_values(points, at, new, new - old)
    curve.update()


def digest(curve):
    """What tells whether the keys of a curve were edited."""
    return b"".join(
        array.tobytes() for name, array in attributes(curve.keyframe_points).items() if "select" not in name
    )


def alike(one, other):
    """True where two curves have the same keys, modifiers and extrapolation."""
    return (
        one.extrapolation == other.extrapolation
        and len(one.keyframe_points) == len(other.keyframe_points)
        and digest(one) == digest(other)
        and modifiers(one) == modifiers(other)
    )


def copy(source, target):
    """Give a curve the keys, modifiers and extrapolation of another one."""
    put_back(target, attributes(source.keyframe_points))
    target.extrapolation = source.extrapolation
    give_modifiers(target, modifiers(source))


def modifiers(curve):
    """The modifiers of a curve: type and settings of each."""
    return [(modifier.type, _settings(modifier)) for modifier in curve.modifiers]


def give_modifiers(curve, wanted):
    """Give a curve modifiers, as ``modifiers`` has them, in place of its own."""
    for modifier in list(curve.modifiers):
        curve.modifiers.remove(modifier)
    for kind, settings in wanted:
        _apply(settings, curve.modifiers.new(kind))
    curve.update()


def _settings(modifier):
    """All settings of a modifier, by name."""
    found = {}
    for setting in modifier.bl_rna.properties:
        if setting.identifier == "control_points":
            found["control_points"] = [(one.frame, one.min, one.max) for one in modifier.control_points]
        elif setting.identifier not in _NOT_COPIED and not setting.is_readonly:
            value = getattr(modifier, setting.identifier)
            found[setting.identifier] = tuple(value) if getattr(setting, "is_array", False) else value
    return found


def _apply(settings, modifier):
    """Give a modifier all that ``_settings`` has found."""
    for name in ("mode", "poly_order"):
        # These say how many coefficients there are.
        if name in settings:
            setattr(modifier, name, settings[name])
    for name, value in settings.items():
        if name == "control_points":
            _set_control_points(modifier, value)
        else:
            setattr(modifier, name, value)


def _set_control_points(modifier, values):
    """Give an envelope points (frame, least, most), in the order of their frames.

    Never one by one: Blender's update takes such a point for a modifier, reads beyond its end, and crashes where what
    is there looks like one that repeats the curve (seen on 4.3)."""
    points = modifier.control_points
    for frame, _, _ in values:
        points.add(frame)
    points.foreach_set("min", np.array([least for _, least, _ in values], np.float32))
    points.foreach_set("max", np.array([most for _, _, most in values], np.float32))


def motion(curve, known=None):
    """What tells whether a curve gives other values than it did, in a few bytes: of less than its digest has, and
    quicker. known: what ``motions`` has told of some curves, which are not read again, or None."""
    if known and (told := known.get((curve.data_path, curve.array_index))):
        return told
    points = curve.keyframe_points
    parts = [repr([curve.extrapolation, *((one.type, one.mute, one.influence) for one in curve.modifiers)]).encode()]
    kinds = np.empty(len(points), np.int32)
    points.foreach_get("interpolation", kinds)
    parts.append(kinds.tobytes())
    shaped = (kinds == _INTERPOLATION["BEZIER"]).any()
    parts += [array.tobytes() for array in attributes(points, VALUES if shaped else VALUES[:1]).values()]
    return hashlib.sha1(b"".join(parts), usedforsecurity=False).digest()


def motions(found):
    """Steps that tell the ``motion`` of each of some curves, by the same keys."""
    return dict(zip(found, (yield from each(NOTING, motion, found.values())), strict=True))


def put_back(curve, before):
    """Give the curve what its keys had of ``attributes``, of which it is all where there are fewer or more now: nothing
    is worked out anew, so that they are the same to the byte."""
    points = curve.keyframe_points
    count = len(next(iter(before.values())))
    if len(points) != count:
        points.clear()
        points.add(count)
    for name, array in before.items():
        points.foreach_set(name, array.ravel())


def _replace(curve, span, co, left, right, interpolation, handles):
    """New keys, ``co`` and handles (n, 2), in place of those within a span, or of all."""
    points = curve.keyframe_points
    before = attributes(points)
    at = before["co"][:, 0]
    kept = np.zeros(len(at), bool) if span is None else ~within(at, span)
    if span is not None:
        # The keys on either side keep their handles, which else would follow their new neighbours, where these shape
        # what is outside. Where it is straight, Blender may not have placed them yet.
        bezier = before["interpolation"][:, 0] == _INTERPOLATION["BEZIER"]
        last, first = np.flatnonzero(at < span[0] - SAME_FRAME)[-1:], np.flatnonzero(at > span[1] + SAME_FRAME)[:1]
        for beside in (last[bezier[last - 1] & (last > 0)], first[bezier[first]]):
            before["handle_left_type"][beside] = before["handle_right_type"][beside] = _FREE
    given = {
        "co": co,
        "handle_left": left,
        "handle_right": right,
        "interpolation": _INTERPOLATION[interpolation],
        "handle_left_type": handles,
        "handle_right_type": handles,
    }
    order = np.argsort(np.concatenate([at[kept], co[:, 0]]), kind="stable")
    points.clear()
    points.add(len(order))
    for name, array in before.items():
        new = np.zeros((len(co), array.shape[1]), array.dtype)
        new[:] = given.get(name, 0)
        points.foreach_set(name, np.concatenate([array[kept], new])[order].ravel())
    curve.update()


def attributes(points, names=EVERYTHING):
    """What keys have, by name: (keys, numbers a key)."""
    found = {}
    for name, size, kind in _KEY_ATTRIBUTES:
        if name not in names:
            continue
        array = np.empty(len(points) * size, kind)
        points.foreach_get(name, array)
        found[name] = array.reshape(-1, size)
    return found


def _set_values(points, frames, values, moved):
    """New values for keys. Handles that Blender does not place by itself are moved along."""
    for side in ("handle_left", "handle_right"):
        kinds = np.empty(len(points), np.int32)
        points.foreach_get(f"{side}_type", kinds)
        if np.isin(kinds, _AUTOMATIC_HANDLES).all():
            continue
        handle = np.empty(2 * len(points), np.float32)
        points.foreach_get(side, handle)
        handle[1::2] += moved
        points.foreach_set(side, handle)
    points.foreach_set("co", _interleaved(frames, values))


def _interleaved(frames, values):
    co = np.empty(2 * len(frames), np.float32)
    co[0::2], co[1::2] = frames, values
    return co


def _sane(curve, values):
    if np.isfinite(values).all() and np.abs(values).max(initial=0.0) <= _largest(curve):
        return values
    bone, name = bone_and_property(curve.data_path)
    whose = (
        Said("The curve “{curve}” of bone “{bone}”", curve=name, bone=bone)
        if bone
        else Said("The curve “{curve}” of the object", curve=name)
    )
    if not np.isfinite(values).all():
        raise FootlockError(
            "{whose} has a value that is not a number: delete that key in the Graph Editor and run again.", whose=whose
        )
    raise FootlockError(
        "{whose} has a value that is far too large, {value:.3g}: delete that key in the Graph Editor and run again.",
        whose=whose,
        value=values[np.abs(values).argmax()],
    )


def _largest(curve):
    """What no value of a curve is beyond, on purpose."""
    return _LARGEST_TURN if "rotation" in curve.data_path.rpartition(".")[2] else _LARGEST
