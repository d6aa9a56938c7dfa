"""Where a correction goes: into the action itself, into a copy of it, or into a layer over it; and the way back.

A copy and a layer are actions that know by a pointer which one they were made from, so that the way back is there after
the file was saved and opened. A layer lies in the NLA over the action it corrects, which has a strip of its own, for an
action in use would lie on top. It holds what the correction adds to each channel. So it does for quaternions, where
Combine would seem to be made for it: that loses turns of some hundredths of a degree, which is half a millimetre at the
toe, while a share of what is added to the parts of a quaternion is that share of the turn, but for the largest.
"""

import hashlib
from math import ceil, floor

import bpy
import numpy as np

from ..solvers.errors import FootlockError
from ..solvers.wording import Said
from . import clip as clips
from . import compat, curves
from .stepwise import NOTING, Step, each, part, plain

IN_PLACE, NEW, LAYER = KINDS = ("IN_PLACE", "NEW", "LAYER")

# What is said of a bone's properties.
_WORDS = {
    "location": Said("location"),
    "rotation_euler": Said("rotation euler"),
    "rotation_quaternion": Said("rotation quaternion"),
    "scale": Said("scale"),
}
# Properties of a copy or a layer: the action it was made from, the slot in use, whether that had a fake user; of a
# layer, that it is one; of a copy, that it is going to be one, and what its curves were as they came from here.
_ORIGINAL, SLOT, _FAKE_USER = "footlock_original", "footlock_slot", "footlock_fake_user"
_IS_LAYER, _FOR_LAYER, _STATE = "footlock_layer", "footlock_for_layer", "footlock_state"
# What is being done.
_LAYING = "making the layer"
# A layer passes through a value of its own between two frames where that is further than this from the line.
_STRAIGHT = 1e-7
# Values of channels that no strip moves.
_DEFAULTS = {"location": 0.0, "scale": 1.0, "rotation_euler": 0.0, "rotation_axis_angle": 0.0}
_UNTURNED = np.array([1.0, 0.0, 0.0, 0.0])


def check(armature, bones, kind):
    """Raise FootlockError where a result of this kind cannot be made of the action in use. bones: (pose bone, its
    properties) that are going to be keyed."""
    data = armature.animation_data
    if kind == IN_PLACE:
        check_writable(armature)
        return
    if data.use_tweak_mode:
        raise FootlockError(
            "In tweak mode only the tweaked action itself can be corrected: set Result to In Place, or leave tweak mode"
            " (Tab in the NLA Editor)."
        )
    if kind != LAYER:
        return
    if len(data.nla_tracks) and not data.use_nla:
        raise FootlockError(
            "The NLA tracks of “{armature}” are switched off, and a layer would switch them on: choose another"
            " Result, or delete them.",
            armature=armature.name,
        )
    paths = curves.by_path(armature)
    for path, index in paths:
        if not curves.is_within(armature, path, index):
            raise FootlockError(
                "The curve “{curve}” of “{action}” is for part {index} of what has no such part, and Blender ends with"
                " a crash where a layer lies over it: delete it in the Graph Editor, or choose another Result.",
                curve=path,
                action=data.action.name,
                index=index,
            )
    for bone, properties in bones:
        if "rotation_axis_angle" in properties:
            raise FootlockError(
                "Bone “{bone}” turns by axis and angle, of which a layer cannot show a part: choose another"
                " rotation mode for it, or another Result.",
                bone=bone.name,
            )
        for name in properties:
            values = np.array(getattr(bone, name), float)
            keyed = [(bone.path_from_id(name), i) in paths for i in range(len(values))]
            if not np.allclose(values[~np.array(keyed)], _default(name)[: len(values)][~np.array(keyed)], atol=1e-6):
                raise FootlockError(
                    "Bone “{bone}” is posed without keys on its {property}, which a layer cannot add to: key that"
                    " pose first, or choose another Result.",
                    bone=bone.name,
                    property=_WORDS[name],
                )


def check_writable(armature):
    """Raise FootlockError where the action in use is of another file."""
    action = armature.animation_data.action
    if action.library is not None:
        raise FootlockError(
            "The action “{action}” is linked from another file and cannot be changed: click Copy Action, or"
            " set Result to New Action or Layer.",
            action=action.name,
        )


def begin(armature, kind, bones=()):
    """Have the action in use be one that may be changed: for results that leave it as it is a copy, unless it is one
    already. bones: names of those that ``lay`` is going to look at; a copy that was edited elsewhere is a base itself
    then."""
    action = armature.animation_data.action
    if kind == IN_PLACE:
        return
    if kind == NEW and original(action) is not None:
        if len(compat.sharers(armature)) > 1:  # the others keep theirs
            slot, own = compat.slot_handle(armature), action.copy()
            own.use_fake_user = False
            compat.assign(armature, own, slot)
        return
    if kind == LAYER and original(action) is not None and action.get(_FOR_LAYER) and not _edited(armature, bones):
        return
    copy = copy_action(armature)
    if kind == LAYER:
        copy[_FOR_LAYER] = True


def copy_action(armature):
    """Assign a copy of the action in use, which is kept; returns it."""
    data = armature.animation_data
    base, slot = data.action, compat.slot_handle(armature)
    copy = base.copy()
    copy.name, copy.use_fake_user = f"{base.name} corrected", False
    _remember(copy, base, slot)
    compat.assign(armature, copy, slot)
    seal(armature)
    return copy


def sealing(armature):
    """Steps that note what a copy, in use, is now, so that a person's work on it is known."""
    action = armature.animation_data.action
    if original(action) is not None:
        action[_STATE] = yield from _looking(armature)


seal = plain(sealing)


def original(action):
    """The action that a copy or layer was made from; None for others, and where it is gone."""
    found = action.get(_ORIGINAL) if action else None
    return found if isinstance(found, bpy.types.Action) else None


def is_made(action):
    """True for a copy or a layer, whatever became of what it was made from."""
    return action.get(SLOT) is not None


def layer(armature):
    """(track, strip) of a correction layer that lies over an armature's action, or None."""
    data = armature.animation_data
    for track in reversed([track for track in data.nla_tracks if not track.mute] if data else []):
        for strip in track.strips:
            if strip.action is not None and strip.action.get(_IS_LAYER):
                return track, strip
    return None


def muted_layer(armature):
    """True where a correction layer of an armature lies on a track that is muted."""
    data = armature.animation_data
    return any(
        strip.action is not None and strip.action.get(_IS_LAYER) and track.mute
        for track in (data.nla_tracks if data else ())
        for strip in track.strips
    )


def keyed_influence(strip):
    """True where the influence of a strip is what its keys say, or 1 whatever it is set to."""
    curve = strip.fcurves.find("influence")
    return not strip.use_animated_influence or (curve is not None and len(curve.keyframe_points) > 0)


def influence(armature):
    """How much of its correction layer an armature shows, 0 to 1; 1 without one."""
    found = layer(armature)
    return found[1].influence if found else 1.0


def set_influence(armature, value):
    """Show so much of the correction layer, at once: Blender itself looks at a strip's influence with the next frame
    only."""
    found = layer(armature)
    if found and value == value:  # what is not a number is none
        found[1].influence = value
        armature.update_tag(refresh={"TIME"})


def subject(armature):
    """The action that an armature shows: that in use, or of its layer, or None."""
    data = armature.animation_data
    if data is None or data.action is not None:
        return data and data.action
    found = layer(armature)
    return found and found[1].action


def labelled(armature):
    """The action that has the contacts: that in use, or the one under a layer, unless it is of another file."""
    shown = subject(armature)
    base = original(shown) if shown != armature.animation_data.action else None
    return base if base is not None and base.library is None else shown


def laying(scene, armature, clip):
    """Steps that turn a corrected copy, in use, into a layer over the action it was made from.

    clip: the Clip, whose frames get keys. Between them the layer is bent so that it passes through what the copy has
    there. At an influence of 1 the two give the copy, at 0 the original.
    """
    data = armature.animation_data
    copy, slot = data.action, compat.slot_handle(armature)
    base = original(copy)
    frames, between = clip.frames, 0.5 * (clip.frames[1:] + clip.frames[:-1])
    added = _adding(armature, clip, base, slot, np.sort(np.concatenate([frames, between])))
    added = yield from part(added, 0.0, 0.5)
    cycles = {path: _cycles(curve) for path, curve in curves.by_path(armature).items()}
    labels = _labels(armature, base, slot)
    made = bpy.data.actions.new(f"{base.name} correction")
    _remember(made, base, slot, copy.get(_FAKE_USER))
    made[_IS_LAYER] = True
    compat.assign(armature, made)
    written = [
        (compat.ensure_fcurve(armature, path, i, bone), column, cycles.get((path, i), ()))
        for bone, path, values in added
        for i, column in enumerate(values.T)
        if column.any()
    ]
    layer_slot = compat.slot_handle(armature)
    # The copy is what is seen until the end, and from there on nobody looks until all is done.
    compat.assign(armature, copy, slot)
    for done, (curve, column, repeated) in enumerate(written):
        curves.write(curve, frames, column[::2])
        bent = np.abs(column[1::2] - 0.5 * (column[2::2] + column[:-2:2])) > _STRAIGHT
        curves.pass_halfway(curve, frames, bent, column[1::2])
        for settings in repeated:
            modifier = curve.modifiers.new("CYCLES")
            for name, value in settings.items():
                setattr(modifier, name, value)
        yield Step(0.5 + 0.5 * done / len(written), _LAYING)
    if base.library is None:
        compat.assign(armature, base, slot)
    else:
        compat.assign(armature, made, layer_slot)
    for path, group, at, values in labels:
        curves.write(compat.ensure_fcurve(armature, path, 0, group), at, values, "CONSTANT")
    compat.assign(armature, None)
    bpy.data.actions.remove(copy)
    first = floor(min(scene.frame_start, frames[0], *base.frame_range))
    last = ceil(max(scene.frame_end, frames[-1], *base.frame_range))
    data.use_nla = True
    _strip(data, base, slot, first, last, "REPLACE")
    strip = _strip(data, made, layer_slot, first, last, "ADD")
    # Without this the influence is 1 whatever it is set to, and with a key it could not be set by hand.
    strip.use_animated_influence = True
    strip.fcurves.find("influence").keyframe_points.clear()
    strip.influence = 1.0


def revert(armature):
    """Go back from a copy or layer to the action it was made from; returns that. Raises FootlockError where there is no
    way back."""
    data = armature.animation_data
    found = layer(armature)
    made = found[1].action if found else data and data.action
    base = original(made)
    if base is None:
        if made is None or not is_made(made):
            raise FootlockError(
                "“{armature}” shows no copy or layer that Footlock made: there is nothing to go back to.",
                armature=armature.name,
            )
        raise FootlockError(
            "The original of “{action}” is gone from this file: there is nothing to go back to.", action=made.name
        )
    if data.use_tweak_mode:
        raise FootlockError("A strip is being tweaked: leave tweak mode (Tab in the NLA Editor) and revert again.")
    if found and data.action is not None:
        raise FootlockError(
            "The action “{action}” lies over the correction layer: unlink it, or push it down, and click Revert again.",
            action=data.action.name,
        )
    slot, had_fake_user = made[SLOT], made.get(_FAKE_USER, True)
    if found:
        tracks = list(data.nla_tracks)
        below = [
            (track, strip)
            for track in tracks[: tracks.index(found[0])][::-1]
            for strip in track.strips
            if strip.action == base
        ]
        for track, strip in (found, *below[:1]):
            if len(track.strips) == 1:
                data.nla_tracks.remove(track)
            else:
                track.strips.remove(strip)
    if not found and made.get(_STATE) != _state(armature):
        # A person has worked on it since, and Blender does not save what nothing uses.
        made.use_fake_user = True
    compat.assign(armature, base, slot)
    if base.library is None:
        base.use_fake_user = bool(had_fake_user)
    return base


def sentence(armature, kind):
    """What is said of where the correction went."""
    if kind == IN_PLACE:
        count = len(compat.sharers(armature))
        if count < 2:
            return ""
        if count == 2:
            return Said("2 characters share this action: both change.")
        return Said("{count} characters share this action: all change.", count=count)
    name = original(subject(armature)).name
    if kind == NEW:
        return Said("“{action}” is kept as it was: Revert goes back to it.", action=name)
    return Said(
        "The correction is a layer over “{action}”: its influence can be set, and Revert takes it away.", action=name
    )


def _remember(made, base, slot, fake_user=None):
    made[_ORIGINAL], made[SLOT] = base, slot
    made[_FAKE_USER] = bool(base.use_fake_user if fake_user is None else fake_user)
    if base.library is None:
        # Nothing uses it now, and Blender does not save what nothing uses.
        base.use_fake_user = True


def _adding(armature, clip, base, slot, frames):
    """Steps to (bone, data path, values (n, components)) at ``frames`` of each channel in which the action in use
    differs from ``base``: what is to be added to the latter."""
    found = []
    old, new = curves.by_path_in(compat.held_by(base, slot)), curves.by_path(armature)
    for done, bone in enumerate(clip.bones):
        pose_bone = armature.pose.bones[bone.name]
        for name in ("location", clips.rotation_property(bone), "scale"):
            path = pose_bone.path_from_id(name)
            values = np.array(getattr(pose_bone, name), float)
            differences = np.zeros((len(frames), len(values)))
            for i, value in enumerate(values):
                if (path, i) in old or (path, i) in new:
                    before, after = (_sampled(paths.get((path, i)), value, frames) for paths in (old, new))
                    differences[:, i] = after - before
                    yield Step(done / len(clip.bones), _LAYING)
            if differences.any():
                found.append((bone.name, path, differences))
    return found


def _sampled(curve, value, frames):
    return np.full(len(frames), value) if curve is None else curves.sample(curve, frames)


def _default(name):
    return _UNTURNED if name == "rotation_quaternion" else np.full(4, _DEFAULTS[name])


def _labels(armature, base, slot):
    """(data path, group, frames, values) of each contact curve that the action in use has and ``base`` has not."""
    there = curves.by_path_in(compat.held_by(base, slot))
    return [
        (path, curve.group.name if curve.group else "", *curves.keys(curve))
        for (path, _), curve in curves.by_path(armature).items()
        if curves.is_own(path) and (path, 0) not in there
    ]


def _edited(armature, bones):
    """True where the copy in use differs from what it was made of in more than the bones of these names and labels."""
    action = armature.animation_data.action
    held = compat.held_by(original(action), action[SLOT])
    kept, now = (
        {key: curves.digest(curve) for key, curve in curves.all_in(one).items()}
        for one in (held, compat.channels(armature))
    )
    return any(
        kept.get(key) != now.get(key)
        for key in kept.keys() | now.keys()
        if curves.bone_and_property(key[0])[0] not in bones and not curves.is_own(key[0])
    )


def _looking(armature):
    """Steps that tell what the curves of the action in use are."""
    found = curves.all_in(compat.channels(armature))
    digest = hashlib.sha1(usedforsecurity=False)
    yield from each(NOTING, lambda key: digest.update(repr(key).encode() + curves.digest(found[key])), sorted(found))
    return digest.hexdigest()


_state = plain(_looking)


def _cycles(curve):
    """Settings of the cycles modifiers of a curve."""
    names = ("mode_before", "mode_after", "cycles_before", "cycles_after")
    return [{name: getattr(one, name) for name in names} for one in curve.modifiers if one.type == "CYCLES"]


def _strip(data, action, slot, first, last, blend):
    """A strip on a new track on top that plays an action as it is from one frame to another."""
    track = data.nla_tracks.new()
    track.name = f"Footlock: {action.name}"
    strip = track.strips.new(action.name, first, action)
    compat.set_strip_slot(strip, slot)
    strip.use_sync_length = False
    strip.action_frame_start, strip.action_frame_end = first, last
    strip.frame_start, strip.frame_end = first, last
    strip.blend_type, strip.extrapolation = blend, "HOLD"
    return strip
