"""Operators that may work for long: the interface goes on beside them, shows how far they are, and Esc stops them."""

from contextlib import ExitStack

import bpy
from bpy.app.translations import pgettext_iface as iface_

from ..rig import compat, live, sentences, stepwise
from ..solvers.errors import FootlockError
from ..solvers.wording import Said

# Work that takes no longer than this (seconds) is done at once, so that short clips do not flicker.
_AT_ONCE = 0.2
# How long it goes on before the interface has its turn, and how soon after that it goes on again, seconds.
_SLICE, _PAUSE = 0.04, 0.01

# What is at work beside the interface: no more than one, but whatever ends it from outside has to find it.
_running = []


def is_running():
    """True while an operator works beside the interface."""
    return bool(_running)


@bpy.app.handlers.persistent
def stop(*_):
    """End what is at work before that is gone which it works on, with another file, an undo, or without Footlock; and
    before half of it is saved."""
    while _running:
        _running[-1].end()


_HANDLERS = ("load_pre", "save_pre", "undo_pre", "redo_pre")


def register():
    for name in _HANDLERS:
        getattr(bpy.app.handlers, name).append(stop)


def unregister():
    stop()
    for name in reversed(_HANDLERS):
        getattr(bpy.app.handlers, name).remove(stop)


class LongWork:
    """An operator whose ``work`` makes steps (see ``stepwise``) that return the sentence that is reported. Called by a
    click, it goes on beside the interface where it is not done at once; called by a script, it works to its end."""

    def run(self, context, armature):
        manager = context.window_manager
        manager.progress_begin(0, 100)
        try:
            steps = self.work(context, armature)
            return stepwise.finish(steps, lambda step: manager.progress_update(int(100.0 * step.share)))
        finally:
            manager.progress_end()

    def invoke(self, context, event):
        armature = context.object
        self._running = _Running(self.bl_label, armature, self._checked(context, armature))
        ended = self._advanced(_AT_ONCE)
        if ended:
            return ended
        self._running.show(context)
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def _checked(self, context, armature):
        """Steps of ``work``, which begin with what ``execute`` begins with."""
        self.check_given(context)
        return (yield from self.work(context, armature))

    def modal(self, context, event):
        if not self._running.goes_on or (event.type == "ESC" and event.value == "PRESS"):
            return self._stopped()
        if not event.type.startswith("TIMER"):
            return {"RUNNING_MODAL"}  # nothing else is done meanwhile
        ended = self._advanced(_SLICE)
        if ended:
            return ended
        self._running.update()
        return {"RUNNING_MODAL", "PASS_THROUGH"}

    def cancel(self, context):
        """Blender ends it, as with the window."""
        self._running.end()

    def _advanced(self, seconds):
        """What the operator returns where its work ends within so many seconds, else None."""
        running, done = self._running, True
        try:
            armature = running.armature
            done = running.advance(seconds)
            return self.ended(armature, running.work.result) if done else None
        except FootlockError as error:
            return self.refused(armature, error)
        except ReferenceError:
            return self._stopped()
        finally:
            if done:
                running.end()

    def _stopped(self):
        self._running.end()
        stopped = Said("{operator} was stopped, and nothing is changed.", operator=_name(self.bl_label))
        self.report({"WARNING"}, sentences.translated(stopped))
        return {"CANCELLED"}


class _Running:
    """Steps at work for an ``armature``, and what is seen of them."""

    def __init__(self, label, armature, steps):
        self.armature = armature
        self._live = ExitStack()
        self._live.enter_context(live.paused())
        self.work = stepwise.Work(steps)
        self.goes_on = True
        self._label = label
        self._held = _parts(armature)
        self._shown = None
        self._manager = self._workspace = self._timer = None

    def show(self, context):
        """From now on it goes on beside the interface."""
        self._manager, self._workspace = context.window_manager, context.workspace
        self._timer = self._manager.event_timer_add(_PAUSE, window=context.window)
        self._manager.progress_begin(0, 100)
        _running.append(self)
        _redraw(self._manager)
        self.update()

    def advance(self, seconds):
        """Go on for about so long; True when all is done. Raises ReferenceError where the armature is gone, or a part
        of it that the steps may hold."""
        if _parts(self.armature) != self._held:
            raise ReferenceError
        done = self.work.advance(seconds)
        self._held = None if done else _parts(self.armature)
        return done

    def update(self):
        """Show how far it is."""
        shown = self.work.what, int(100.0 * self.work.share)
        if shown != self._shown:
            self._shown = shown
            text = Said(
                "Footlock: {operator}, {what} … {share} % (Esc stops)",
                operator=_name(self._label),
                what=Said(shown[0]),
                share=shown[1],
            )
            self._workspace.status_text_set(sentences.on_screen(text))
            self._manager.progress_update(shown[1])

    def end(self):
        """Nothing goes on any more; what was changed and is not done is put back."""
        self.goes_on = False
        try:
            self.work.stop()
            self._live.close()
        except ReferenceError:
            pass  # what it worked on is gone, and there is nothing to put back
        finally:
            if self in _running:
                _running.remove(self)
                self._manager.event_timer_remove(self._timer)
                self._manager.progress_end()
                self._workspace.status_text_set(None)
                _redraw(self._manager)


def _parts(armature):
    """Where in memory the parts of an armature are that a script may remove: Blender does not say so to those who hold
    one, and ends with the next that they do to it. And what bones are called, by which they are found. Raises
    ReferenceError for an armature that is gone."""
    data, bones = armature.animation_data, armature.pose.bones
    parts = [*bones, *(constraint for bone in bones for constraint in bone.constraints), *compat.fcurves(armature)]
    for track in data.nla_tracks if data else ():
        parts += [track, *track.strips, *(curve for strip in track.strips for curve in compat.strip_fcurves(strip))]
    return [part.as_pointer() for part in parts], [bone.name for bone in bones]


def _name(label):
    """The label of an operator as its button has it."""
    return iface_(label, bpy.app.translations.contexts.operator_default)


def _redraw(manager):
    """Have all areas drawn anew: buttons are greyed meanwhile."""
    for window in manager.windows:
        for area in window.screen.areas:
            area.tag_redraw()
