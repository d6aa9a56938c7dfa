"""What NLA strips play, and an action over them, as one new action."""

from math import ceil, floor

import bpy
import numpy as np

from ..solvers.errors import FootlockError
from . import compat, curves, nla, restoring, stepping
from .stepwise import Step, part, plain

_MOST_FRAMES = 500_000


def can(armature):
    """True where strips are played."""
    return bool(nla.live_strips(armature.animation_data))


def baking(scene, armature):
    """Steps that assign a new action with a key on every whole frame, from the first of the strips to the last, for
    each channel that they or the action in use animate, and mute their tracks. They return it and the number of its
    curves, and raise FootlockError, with nothing changed, where there is nothing to bake."""
    data = armature.animation_data
    if data is not None and data.use_tweak_mode:
        raise FootlockError("A strip is being tweaked: leave tweak mode (Tab in the NLA Editor) and bake again.")
    strips = nla.live_strips(data)
    if not strips:
        raise FootlockError("No NLA strip moves “{armature}”: there is nothing to bake.", armature=armature.name)
    channels = _channels(armature, strips)
    if not channels:
        raise FootlockError(
            "The NLA strips of “{armature}” animate nothing that it has: nothing to bake.", armature=armature.name
        )
    first, last = floor(min(one.frame_start for one in strips)), ceil(max(one.frame_end for one in strips))
    if data.action is not None and len(compat.fcurves(armature)):
        own = np.array([curve.range() for curve in compat.fcurves(armature)])
        first, last = min(first, floor(own[:, 0].min())), max(last, ceil(own[:, 1].max()))
    if last - first > _MOST_FRAMES:
        raise FootlockError(
            "The NLA strips of “{armature}” go from frame {first} to {last}, which is more than {most_frames}"
            " frames: bake them in parts.",
            armature=armature.name,
            first=first,
            last=last,
            most_frames=_MOST_FRAMES,
        )
    frames = np.arange(first, last + 1.0)
    values = yield from part(_playing(scene, armature, channels, frames), 0.0, 0.9)
    tracks = [track for track in data.nla_tracks if not track.mute]
    with restoring.Kept(armature):
        action = bpy.data.actions.new(f"{armature.name} baked")
        compat.assign(armature, action)
        count = 0
        for done, ((path, group), rows) in enumerate(values.items()):
            stepped = rows.dtype != float or curves.is_own(path)
            for i, column in enumerate(rows.astype(float).T):
                keyed = np.concatenate([[True], column[1:] != column[:-1]]) if stepped else np.ones(len(frames), bool)
                curve = compat.ensure_fcurve(armature, path, i, group)
                curves.write(curve, frames[keyed], column[keyed], "CONSTANT" if stepped else "LINEAR")
                count += 1
                yield Step(0.9 + 0.1 * done / len(values), "writing keys")
    for track in tracks:
        track.is_solo = False
        track.mute = True
    return action, count


bake = plain(baking)


def _channels(armature, strips):
    """Data path → group of each property that is animated and there."""
    found = {}
    animated = [curve for strip in strips for curve in compat.strip_fcurves(strip)]
    for curve in (*animated, *compat.fcurves(armature)):
        if not compat.is_muted(curve) and curves.is_valid(armature, curve.data_path):
            bone = curves.bone_and_property(curve.data_path)[0]
            found.setdefault(curve.data_path, bone or (curve.group.name if curve.group else ""))
    return found


def _playing(scene, armature, channels, frames):
    """Steps to (data path, group) → values (frames, components) as the scene plays them, numbers of their own kind."""
    rows = {path: [] for path in channels}

    def look(_):
        for path, values in rows.items():
            value = _number(armature, path)
            values.append(tuple(value) if hasattr(value, "__len__") else (value,))

    yield from stepping.stepping(scene, armature, frames, look)
    found = {}
    for path, values in rows.items():
        array = np.array(values)
        if array.dtype == float and path.endswith("rotation_quaternion"):
            array = _continuous(array)
        found[path, channels[path]] = array
    return found


def _number(armature, path):
    """The value of a property, and where it is a word, its number, as curves have it."""
    value = armature.path_resolve(path)
    if not isinstance(value, str):
        return value
    owner, _, name = path.rpartition(".")
    return (armature.path_resolve(owner) if owner else armature).bl_rna.properties[name].enum_items[value].value


def _continuous(quaternions):
    """The same rotations (n, 4), each on the side of the one before it."""
    turned = np.einsum("ij,ij->i", quaternions[1:], quaternions[:-1]) < 0.0
    signs = np.concatenate([[1.0], np.where(np.cumsum(turned) % 2, -1.0, 1.0)])
    return quaternions * signs[:, None]
