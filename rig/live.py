"""The live lock: the feet of an armature are locked on each frame that Blender comes to, and no key is written.

A session for each armature, kept by the armature's session_uid, since no reference into Blender's data outlives an
undo. After a frame is evaluated the rotations of the legs' bones get other numbers, and before the next one they get
their own back: what has keys would, what has none would not. The handlers are there as long as a session is.
"""

from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field

import bpy
from bpy.app.handlers import persistent

from ..solvers.errors import FootlockError
from . import clip as clips
from . import compat, curves, live_legs, mapping, nla

# Playback that keeps time leaves frames out: so many seconds forward are still a step, and no jump.
_LONGEST_STEP = 0.1

_sessions = {}  # by session_uid of the armature
# By session_uid, (bone, channel) of channels without keys: what was written → what belongs there. An undo step may have
# been taken of it while it stood there.
_undone = {}
_paused = []  # one entry for each ``paused`` that is running


@dataclass
class _Session:
    """``name``: of the armature, as it was last. ``settings``: scene → live_legs.Settings, ``given`` what they were.
    ``known``: what the ``legs`` were prepared for. ``states`` after the whole ``frame``, and ``before`` it. ``own``:
    (bone, channel) → the numbers that belong there, ``wrote``: what stands there now.
    ``shown``: path → what the viewport shows, while Blender renders."""

    uid: int
    name: str
    scene: int
    settings: Callable
    legs: live_legs.LiveLegs
    known: tuple
    given: tuple
    states: tuple | None = None
    before: tuple | None = None
    frame: int | None = None
    step: float = 1.0
    own: dict = field(default_factory=dict)
    wrote: dict = field(default_factory=dict)
    shown: dict = field(default_factory=dict)


def is_on(armature):
    """True while the feet of an armature are locked live."""
    return armature.session_uid in _sessions


def by_curves(armature):
    """True where contact curves say when feet are planted, and not the thresholds. Live Lock has to be on."""
    return any(leg.bearer for leg in _sessions[armature.session_uid].legs.legs)


def start(scene, armature, legs, settings):
    """Lock the feet of an armature from now on, legs: LegMap, settings: scene → live_legs.Settings. Raises
    FootlockError, with nothing changed, where they cannot be locked."""
    stop(armature)
    prepared = live_legs.prepare(scene, armature, legs, settings(scene))
    known = _known(armature)
    session = _Session(
        armature.session_uid, armature.name, scene.session_uid, settings, prepared, known, _given(scene, settings)
    )
    if not _sessions:
        for name, function in _HANDLERS.items():
            getattr(bpy.app.handlers, name).append(function)
    _sessions[session.uid] = session
    _show(session, scene)


def stop(armature):
    """Leave the feet of an armature alone from now on, and put its pose back."""
    session = _sessions.get(armature.session_uid)
    if session is not None:
        _end(session, armature)


def stop_all():
    """The same for all armatures."""
    for session in list(_sessions.values()):
        _end(session, _found(session))


@contextmanager
def paused():
    """The poses as they are without the lock, for what reads or writes them within. The lock goes on afterwards from
    what the action has then."""
    going = list(_sessions.values())
    for session in going:
        _put_back(session, _found(session))
    _paused.append(True)
    try:
        yield
    finally:
        _paused.pop()
        for session in going:
            if not _paused and _sessions.get(session.uid) is session:
                _go_on(session)


def _go_on(session):
    scene = next((one for one in bpy.data.scenes if one.session_uid == session.scene), None)
    armature = _found(session)
    if scene is None or armature is None or not _is_usable(armature):
        _end(session, armature)
        return
    session.known = ()  # whatever has changed
    _show(session, scene)


def _show(session, scene):
    """Lock the frame that is shown."""
    if scene != bpy.context.scene:
        return
    bpy.context.view_layer.update()
    _guarded(session, scene, bpy.context.evaluated_depsgraph_get())


def _guarded(session, scene, depsgraph):
    """One frame of a session, which ends where it cannot go on."""
    armature = _found(session)
    try:
        if armature is None or not _is_usable(armature):
            _end(session, armature)
        else:
            _step(session, scene, armature, depsgraph)
    except FootlockError:
        # What changed while it played cannot be locked; the button says why when it is clicked.
        _end(session, armature)
    except BaseException:
        _end(session, _found(session))
        raise


def _step(session, scene, armature, depsgraph):
    known, given = _known(armature), _given(scene, session.settings)
    if known != session.known or given != session.given:
        # The lock's own numbers count as they are; of all else the clip is judged anew.
        if known != session.known or given[0][2:] != session.given[0][2:]:
            _prepare_again(session, scene, armature, given[0])
        session.known, session.given, session.frame = known, given, None
    settings, rate = given
    frame, part = scene.frame_current, scene.frame_subframe
    last = session.frame
    if part:  # motion blur: between two frames nothing is remembered
        states = {frame: session.states, frame + 1: session.before}.get(last)
        step = part
    elif last == frame:
        states, step = session.before, session.step
    else:
        states, step = session.states, frame - last if last is not None else 0
        if not 0 < step <= _longest_step(scene, rate):
            states, step = None, 1.0
    changes, after = session.legs.step(armature.evaluated_get(depsgraph), states, step / rate, settings)
    if not part:
        session.before, session.states, session.frame, session.step = states, after, frame, step
    _put_back(session, armature)
    if depsgraph.mode == "RENDER":
        _take_over(session, armature, armature.evaluated_get(depsgraph))
    _write(session, armature, changes)


def _longest_step(scene, rate):
    """Frames that Blender may go on at once without a jump."""
    drops = scene.sync_mode != "NONE"
    return max(scene.frame_step, _LONGEST_STEP * rate if drops else 1)


def _prepare_again(session, scene, armature, settings):
    _paused.append(True)
    try:
        session.legs = live_legs.prepare(scene, armature, mapping.of(armature), settings)
    finally:
        _paused.pop()


def _take_over(session, armature, evaluated):
    """What is written while Blender renders has it copy the whole armature anew, with what its channels are on the
    frame that the viewport shows: they get what they are on the frame that is rendered."""
    strips = nla.live_strips(armature.animation_data)
    played = [*compat.fcurves(armature), *(curve for strip in strips for curve in compat.strip_fcurves(strip))]
    for path in {curve.data_path for curve in played}:
        if not curves.is_valid(armature, path):
            continue
        value = armature.path_resolve(path)
        session.shown.setdefault(path, _plain(value))
        _set(armature, path, _plain(evaluated.path_resolve(path)))


def _plain(value):
    return tuple(value) if hasattr(value, "__len__") and not isinstance(value, str) else value


def _set(owner, path, value):
    """Set a property by its path."""
    if path.endswith('"]'):
        upper, _, name = path.rpartition('["')
        owner.path_resolve(upper)[bpy.utils.unescape_identifier(name[:-2])] = value
    else:
        upper, _, name = path.rpartition(".")
        setattr(owner.path_resolve(upper) if upper else owner, name, value)


def _after_render(*_):
    """The viewport has its frame back."""
    for session in _sessions.values():
        armature = _found(session)
        if armature is not None and session.shown:
            _put_back(session, armature)
            for path, value in session.shown.items():
                if curves.is_valid(armature, path):
                    _set(armature, path, value)
            armature.update_tag(refresh={"OBJECT", "DATA", "TIME"})
        session.shown.clear()
        session.frame = None


def _write(session, armature, changes):
    bones = armature.pose.bones
    for name, channel, value in changes:
        bone, key = bones[name], (name, channel)
        own = tuple(getattr(bone, channel))
        setattr(bone, channel, value)
        written = tuple(getattr(bone, channel))
        session.own[key], session.wrote[key] = own, written
        if key in session.legs.unkeyed:
            _undone.setdefault(session.uid, {}).setdefault(key, {})[written] = own


def _put_back(session, armature):
    """What belongs into the channels that were written, unless somebody has changed them since."""
    if armature is not None:
        for (name, channel), written in session.wrote.items():
            _restore(armature, name, channel, {written: session.own[name, channel]})
    session.own.clear()
    session.wrote.clear()


def _restore(armature, name, channel, belongs):
    bone = armature.pose.bones.get(name) if armature.pose else None
    if bone is not None:
        own = belongs.get(tuple(getattr(bone, channel)))
        if own is not None:
            setattr(bone, channel, own)


def _end(session, armature):
    """Take a session away, and with the last one the handlers."""
    _put_back(session, armature)
    _sessions.pop(session.uid, None)
    if not _sessions:
        for name, function in _HANDLERS.items():
            functions = getattr(bpy.app.handlers, name)
            if function in functions:
                functions.remove(function)


def _found(session):
    """The armature object of a session, whatever it is called now, or None."""
    armature = bpy.data.objects.get(session.name)
    if armature is None or armature.session_uid != session.uid:
        armature = next((one for one in bpy.data.objects if one.session_uid == session.uid), None)
        session.name = armature.name if armature is not None else ""
    return armature


def _is_usable(armature):
    return armature.mode != "EDIT" and armature.pose is not None and armature.data.pose_position == "POSE"


def _known(armature):
    """What the legs of an armature are prepared for: if any of it changes, they are prepared again."""
    data = armature.animation_data
    action = data.action if data else None
    held = compat.channels(armature)
    count = len(held.fcurves) if held else 0
    slot = compat.slot_handle(armature) if action else 0
    return action and action.session_uid, slot, count, live_legs.legs_of(armature)


def _given(scene, settings):
    """The settings and the rate of frames: if they change, the feet are locked anew."""
    return settings(scene), clips.frame_rate(scene)


def _before_frame(scene, *_):
    if not _paused:
        for session in list(_sessions.values()):
            if session.scene == scene.session_uid:
                _put_back(session, _found(session))


def _after_frame(scene, depsgraph):
    if not _paused:
        for session in list(_sessions.values()):
            if session.scene == scene.session_uid:
                _guarded(session, scene, depsgraph)


def _after_update(*_):
    """Edit Mode, deleted armatures and such end it at once."""
    if not _paused:
        for session in list(_sessions.values()):
            armature = _found(session)
            if armature is None or not _is_usable(armature):
                _end(session, armature)


def _before_save(*_):
    for session in _sessions.values():
        _swap(session, session.own)


def _after_save(*_):
    for session in _sessions.values():
        _swap(session, session.wrote)


def _swap(session, numbers):
    """Put the numbers, ``own`` or ``wrote``, in place of the others."""
    armature, others = _found(session), session.wrote if numbers is session.own else session.own
    if armature is not None:
        for key, other in others.items():
            _restore(armature, *key, {other: numbers[key]})


def _after_undo(*_):
    """The state that came back may have been taken while the feet were locked, and channels without keys have it."""
    for session in list(_sessions.values()):
        armature = _found(session)
        if armature is not None:
            for key, belongs in _undone.get(session.uid, {}).items():
                _restore(armature, *key, belongs)
            # A redo does not have Blender look at the keys anew.
            armature.update_tag(refresh={"OBJECT", "DATA", "TIME"})
        _end(session, armature)


def _before_load(*_):
    stop_all()
    _undone.clear()


_HANDLERS = {
    "frame_change_pre": persistent(_before_frame),
    "frame_change_post": persistent(_after_frame),
    "depsgraph_update_post": persistent(_after_update),
    "save_pre": persistent(_before_save),
    "save_post": persistent(_after_save),
    "save_post_fail": persistent(_after_save),
    "render_complete": persistent(_after_render),
    "render_cancel": persistent(_after_render),
    "undo_post": persistent(_after_undo),
    "redo_post": persistent(_after_undo),
    "load_pre": persistent(_before_load),
}
