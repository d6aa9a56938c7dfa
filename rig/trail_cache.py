"""The trails that were read, kept until what they were read from changes, and then read anew for whoever shows them.

Nothing here holds Blender's data: armatures are known by their session uids, scenes by their names, and looked up when
they are needed. Nothing is read within a redraw or a handler: handlers note that something may have changed, a redraw
says what it wants to show, and a timer reads it a moment later, unless a frame is played or dragged then.
"""

import hashlib
import time
from dataclasses import dataclass, replace

import bpy
import numpy as np
from bpy.app.handlers import persistent

from ..solvers.errors import FootlockError
from ..solvers.wording import Said
from . import clip as clips
from . import compat, curves, mapping, results, trails

# A change is looked at when nothing else has changed for so long, seconds.
_QUIET = 0.3
# Digits of the object's matrix that count: what it is turned and scaled by changes what is up and how long a foot is.
_DIGITS = 5


@dataclass(frozen=True)
class Entry:
    """What is known of an armature. ``key``: of which action and legs; ``signature``: of which curves; ``checked``:
    when that was compared last; ``trails``, or None where they cannot be read, and ``why``, a Said then; ``stale``:
    they were read before the last change, and only Refresh reads them anew."""

    key: tuple
    signature: str
    checked: float
    trails: trails.Trails | None
    why: str = ""
    stale: bool = False


_entries: dict[int, Entry] = {}
# (name of the scene, uid of the armature) of what a redraw missed.
_wanted: set[tuple] = set()
# When something may have changed last.
_touched = 0.0


def current(scene, armature):
    """The Entry of an armature, or None where it is not read yet, or of another action. Whatever is missing is read a
    moment later, and the areas are drawn anew. Cheap, for a redraw."""
    entry = _entries.get(armature.session_uid)
    if entry is not None and entry.key != _key(armature):
        entry = None
    if entry is None or entry.checked < _touched:
        _wanted.add((scene.name, armature.session_uid))
        _schedule()
    return entry


def put(scene, armature, found, motions=None):
    """Keep Trails that were just read. motions: what is known of curves, as ``curves.motions`` has it."""
    legs = mapping.stored(armature)
    if legs is None:
        return
    _entries[armature.session_uid] = Entry(
        _key(armature), _signature(scene, armature, legs, motions), time.monotonic(), found
    )
    redraw()


def refresh(scene, armature, step=False):
    """Read the trails of an armature anew where what they were read from has changed; with ``step``, in any case, and
    also where the scene's frames must be stepped. Returns the Entry."""
    before = _entries.get(armature.session_uid)
    key, checked = _key(armature), time.monotonic()
    if before is not None and before.key != key:
        before = None
    try:
        legs = mapping.stored(armature)
        if legs is None:
            raise FootlockError("The legs are not known yet: click Find Legs or Detect Contacts.")
        signature = _signature(scene, armature, legs)
        if before is not None and before.signature == signature and not step:
            entry = replace(before, checked=checked, stale=False)
        elif step or _is_cheap(armature, legs):
            entry = Entry(key, signature, checked, trails.read(scene, armature, legs, scene.footlock.unit))
        else:
            kept = before.trails if before is not None else None
            why = Said("The frames must be played to read this rig: click Refresh.")
            entry = Entry(key, before.signature if before else "", checked, kept, why, stale=True)
    except FootlockError as error:
        entry = Entry(key, "", checked, None, error.said)
    _entries[armature.session_uid] = entry
    return entry


def touch():
    """Something may have changed."""
    global _touched
    _touched = time.monotonic()
    _schedule()


def work():
    """Read what redraws have missed."""
    wanted = list(_wanted)
    _wanted.clear()
    alive = {ob.session_uid: ob for ob in bpy.data.objects}
    for uid in _entries.keys() - alive.keys():
        del _entries[uid]
    for name, uid in wanted:
        scene = bpy.data.scenes.get(name)
        if scene is not None and uid in alive:
            refresh(scene, alive[uid])
    if wanted:
        redraw()


def _is_cheap(armature, legs):
    """True where the trails can be read at once, or it is known at once that they cannot."""
    data = armature.animation_data
    if data is None or data.action is None:
        return results.layer(armature) is None
    return clips.moved_by_curves_alone(armature, clips.limbs(armature, legs))


def _key(armature):
    """Which action and legs are shown."""
    shown = results.subject(armature)
    mapped = armature.data.footlock
    return (
        shown.session_uid if shown else 0,
        compat.slot_handle(armature) if armature.animation_data else 0,
        mapped.pelvis,
        *((leg.side, leg.place, leg.thigh, leg.shin, leg.foot, leg.toe) for leg in mapped.legs),
    )


def _signature(scene, armature, legs, motions=None):
    """What tells whether anything changed on which the trails depend, as far as curves and poses tell it."""
    bones = clips.limbs(armature, legs)
    known = {None, *(bone.name for bone in bones)}
    alone = armature.animation_data is None or clips.moved_by_curves_alone(armature, bones)
    state = [clips.frame_rate(scene), scene.footlock.unit, armature.data.pose_position, results.influence(armature)]
    state += bones
    digest, keyed = hashlib.sha1(usedforsecurity=False), set()
    for held in _held(armature):
        for (path, index), curve in curves.by_path_in(held).items():
            # Any bone may move those of the legs by a constraint.
            if not alone or curves.bone_and_property(path)[0] in known or curves.is_own(path):
                keyed.add((path, index))
                digest.update(repr((path, index)).encode() + curves.motion(curve, motions))
    if alone:
        # All that does not change from frame to frame. What is up is another way for an object that turns.
        place = np.array(armature.matrix_world, float)[:3, :3]
        sizes = np.linalg.norm(place, axis=0)
        state += [(place[2] / np.maximum(sizes, 1e-12)).round(_DIGITS) + 0.0, sizes.round(_DIGITS)]
        state += [_unkeyed(armature.pose.bones[bone.name], keyed) for bone in bones]
    digest.update(repr(state).encode())
    return digest.hexdigest()


def _held(armature):
    """What holds the curves that are shown: of the action in use, or of those under and in a correction layer."""
    data = armature.animation_data
    if data is None or data.action is not None:
        return [compat.channels(armature)]
    strips = [strip for track in data.nla_tracks for strip in track.strips if not track.mute and strip.action]
    return [compat.held_by(strip.action, compat.strip_slot(strip)) for strip in strips]


def _unkeyed(pose_bone, keyed):
    """The values of a bone's channels that have no curve."""
    return [
        value
        for name in ("location", clips.rotation_property(pose_bone), "scale")
        for i, value in enumerate(getattr(pose_bone, name))
        if (pose_bone.path_from_id(name), i) not in keyed
    ]


def _schedule():
    # Without a window nobody sees anything, and timers do not run.
    if _wanted and not bpy.app.background and not bpy.app.timers.is_registered(_tick):
        bpy.app.timers.register(_tick, first_interval=_QUIET)


def _tick():
    """The timer: seconds until it is called again, or None."""
    quiet = time.monotonic() - _touched
    if any(window.screen.is_animation_playing for window in bpy.context.window_manager.windows):
        return _QUIET
    if quiet < _QUIET:
        return _QUIET - quiet
    work()
    return None


def redraw():
    """Have all areas that may show trails drawn anew."""
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            if area.type in ("VIEW_3D", "DOPESHEET_EDITOR"):
                area.tag_redraw()


@persistent
def _on_update(_scene, depsgraph):
    # Frames that are played or scrubbed do not come here; keys that are edited do as their action.
    if any(_concerns(update.id) for update in depsgraph.updates):
        touch()


@persistent
def _on_undo(*_):
    touch()


@persistent
def _on_load(*_):
    _entries.clear()
    _wanted.clear()
    touch()


def _concerns(changed):
    return isinstance(changed, bpy.types.Action | bpy.types.Armature) or (
        isinstance(changed, bpy.types.Object) and changed.type == "ARMATURE"
    )


_handlers = (
    ("depsgraph_update_post", _on_update),
    ("undo_post", _on_undo),
    ("redo_post", _on_undo),
    ("load_post", _on_load),
)


def register():
    for name, handler in _handlers:
        getattr(bpy.app.handlers, name).append(handler)


def unregister():
    for name, handler in reversed(_handlers):
        getattr(bpy.app.handlers, name).remove(handler)
    if bpy.app.timers.is_registered(_tick):
        bpy.app.timers.unregister(_tick)
    _entries.clear()
    _wanted.clear()
