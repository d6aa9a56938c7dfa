"""F-curves: the values of a channel over frames, and keys read and written in bulk."""

import re

import bpy
import numpy as np

from ..solvers.errors import FootlockError
from . import compat

# Frames closer than this are the same frame. Blender keeps them in single precision, which at frame 10,000 is good to
# 0.001.
SAME_FRAME = 1e-3

# Properties of bones that are written by a detection: the label, and what it went by.
OWN_PROPERTIES = ("contact", "contact_speed", "contact_height")

_BONE_PATH = re.compile(r'^pose\.bones\["((?:[^"\\]|\\.)*)"\]\.?(.*)$')
# VECTOR, AUTO and AUTO_CLAMPED.
_AUTOMATIC_HANDLES = (2, 1, 4)
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


def bone_and_property(data_path):
    """The bone's name and the rest of an F-curve's path, or (None, data_path) where it animates no bone."""
    match = _BONE_PATH.match(data_path)
    return (bpy.utils.unescape_identifier(match[1]), match[2]) if match else (None, data_path)


def is_own(data_path):
    """True for the path of a curve that a detection wrote."""
    return data_path.endswith(tuple(f'"]["{name}"]' for name in OWN_PROPERTIES))


def by_path(owner):
    """The F-curves of the action in use, by (data path, index), those that move nothing left out."""
    return {
        (curve.data_path, curve.array_index): curve for curve in compat.fcurves(owner) if not compat.is_muted(curve)
    }


def within(frames, span):
    """Which frames (n,) lie from the first to the last frame of a span: (n,) bool."""
    return (frames >= span[0] - SAME_FRAME) & (frames <= span[1] + SAME_FRAME)


def keys(curve):
    """Frames and values (n,) of a curve's keys."""
    co = np.empty(2 * len(curve.keyframe_points), np.float32)
    curve.keyframe_points.foreach_get("co", co)
    return co[0::2].astype(float), co[1::2].astype(float)


def sample(curve, frames):
    """The curve's values (n,) at ``frames``. Raises FootlockError where they are not finite numbers.

    Keys that stand on just these frames are taken as they are; otherwise Blender evaluates, with modifiers and
    extrapolation.
    """
    if len(curve.keyframe_points) == len(frames) and not len(curve.modifiers):
        at, values = keys(curve)
        if np.array_equal(at, np.float32(frames)):
            return _finite(curve, values)
    return _finite(curve, np.array([curve.evaluate(frame) for frame in frames]))


def write(curve, frames, values, interpolation="LINEAR"):
    """Give the curve these keys (n,). Keys that stand on the same frames already keep all but their value; others are
    made anew."""
    points = curve.keyframe_points
    same = False
    if len(points) == len(frames):
        at, old = keys(curve)
        same = np.array_equal(at, np.float32(frames))
    if same:
        _set_values(points, frames, values, values - old)
    else:
        points.clear()
        points.add(len(frames))
        points.foreach_set("co", _interleaved(frames, values))
        points.foreach_set("interpolation", np.full(len(frames), _INTERPOLATION[interpolation], np.int32))
        points.foreach_set("select_control_point", np.zeros(len(frames), bool))
    curve.update()


def write_span(curve, frames, values, span):
    """Give the curve these keys (n,) from the first to the last frame of ``span``. Keys outside stay as they are."""
    inside = within(frames, span)
    points = curve.keyframe_points
    at, old = keys(curve)
    if np.array_equal(at, np.float32(frames)):
        _set_values(points, frames, np.where(inside, values, old), np.where(inside, values - old, 0.0))
        curve.update()
        return
    kept = ~within(at, span)
    before = _attributes(points)
    co = np.stack([frames[inside], values[inside]], axis=1).astype(np.float32)
    order = np.argsort(np.concatenate([at[kept], frames[inside]]), kind="stable")
    points.clear()
    points.add(len(order))
    for name, array in before.items():
        new = np.zeros((len(co), array.shape[1]), array.dtype)
        if name in ("co", "handle_left", "handle_right"):
            new[:] = co
        elif name == "interpolation":
            new[:] = _INTERPOLATION["LINEAR"]
        points.foreach_set(name, np.concatenate([array[kept], new])[order].ravel())
    curve.update()


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


def _attributes(points):
    """All that keys have, by name: (keys, numbers a key)."""
    found = {}
    for name, size, kind in _KEY_ATTRIBUTES:
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


def _finite(curve, values):
    if not np.isfinite(values).all():
        bone, name = bone_and_property(curve.data_path)
        raise FootlockError(
            f"The curve “{name}” of {f'bone “{bone}”' if bone else 'the object'} has a value that is not a number:"
            " delete that key in the Graph Editor and run again."
        )
    return values
