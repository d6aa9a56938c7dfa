# SPDX-License-Identifier: GPL-3.0-or-later
"""Click Remove Sliding on a long clip in a real window: the interface goes on, Esc stops it, Ctrl Z takes it back.

Runs as test_buttons.py does, see there for how; a walk is repeated to 12,000 frames for it.

    … blender --factory-startup --enable-event-simulate --gpu-backend opengl --window-geometry 0 0 1024 900 \\
        --python tests/window/test_escape.py -- SHOTS
"""

import hashlib
import sys
import time
from itertools import pairwise
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parent.parent)]

import bpy  # noqa: E402
import test_buttons as hand  # noqa: E402

FRAMES = 12_000
# Seconds of this thread from Esc until the operator is gone, and from one drawing of the viewport to the next. Those of
# the thread, not of the clock: neither another program nor a drawing that other threads make for it counts.
SOON, SELDOM = 0.5, 1.0
# The viewport is drawn at least in so many of the rounds of Blender's loop in which somebody asks for it.
SHARE = 0.5
# Pixels from the top of the sidebar to the middle of the button.
REMOVE = hand.REMOVE
LIMIT = 280.0


def import_long_clip():
    """The walk, repeated, each repetition from where the one before ended, which travels too far."""
    import clips

    from footlock.operators import detect_contacts
    from footlock.rig import clip, contact_property, correction, mapping

    bpy.ops.import_anim.bvh(filepath=str(hand.CLIP))
    armature, scene = hand.armature(), bpy.context.scene
    clips.lengthen(armature, FRAMES)
    legs = mapping.of(armature)
    correction.scale_travel(armature, clip.read(scene, armature, legs), 1.25)
    found = detect_contacts.detect(scene, armature, legs)
    contact_property.write(armature, legs, found.clip.frames, found.labels, detected=True)


def digest():
    """All that the curves of the action are, to the byte."""
    from footlock.rig import compat, curves

    action = hand.armature().animation_data.action
    found = {}
    for curve in compat.all_fcurves(action):
        held = curves.attributes(curve.keyframe_points)
        found[curve.data_path, curve.array_index] = hashlib.sha1(
            b"".join(array.tobytes() for array in held.values())
        ).hexdigest()
    return found, len(bpy.data.actions), bpy.context.scene.frame_current


class Seen:
    """What happens in the window while something works: when the viewport is drawn, and the status text."""

    def __init__(self):
        self.drawn, self.texts = [], []
        self._handle = bpy.types.SpaceView3D.draw_handler_add(self._draw, (), "WINDOW", "POST_PIXEL")
        self._set = bpy.types.WorkSpace.status_text_set

        def status_text_set(workspace, text):
            self.texts.append(text)
            return self._set(workspace, text)

        bpy.types.WorkSpace.status_text_set = status_text_set

    def _draw(self):
        self.drawn.append(time.thread_time())

    def end(self):
        bpy.types.SpaceView3D.draw_handler_remove(self._handle, "WINDOW")
        bpy.types.WorkSpace.status_text_set = self._set


def working(window):
    return [one.bl_idname for one in window.window.modal_operators if "footlock" in one.bl_idname.lower()]


class Drawn:
    """Has the viewport drawn as often as it can be. ``share``: in how many of the rounds it was; ``longest``: the
    thread's seconds between two drawings."""

    def __init__(self, window, seen):
        self.window, self.seen = window, seen
        self.share = self.often = self.longest = 0.0

    def until(self, enough):
        """The steps until a function of the seconds says that it is enough."""
        first, rounds, start, spent = len(self.seen.drawn), 0, time.perf_counter(), time.thread_time()
        while not enough(time.perf_counter() - start):
            self.window.area.tag_redraw()
            rounds += 1
            yield 0.02
        drawn = self.seen.drawn[first:]
        times = [spent, *drawn, time.thread_time()]
        self.share = len(drawn) / rounds
        self.often = len(drawn) / (time.perf_counter() - start)
        self.longest = max(later - one for one, later in pairwise(times))

    def __str__(self):
        return f"drawn {self.often:.1f} times a second, in {self.share:.2f} of the rounds, {self.longest:.2f} s apart"


def steps(window):
    """The test. Yields the seconds until it goes on."""
    yield from window.open_tab()
    import_long_clip()
    bpy.ops.ed.undo_push(message="Import")
    before = digest()
    yield from window.settled()

    seen = Seen()
    idle = Drawn(window, seen)
    yield from idle.until(lambda seconds: seconds > 2.0)
    print(f"idle: {idle}", flush=True)

    def solving(seconds):
        return seconds > 1.0

    def writing(seconds):
        return "writing keys" in (seen.texts[-1] or "") or not working(window)

    for name, until in (("solving", solving), ("writing", writing)):
        yield from press(window)
        drawn = Drawn(window, seen)
        yield from drawn.until(until)
        print(f"{name}: {drawn}", flush=True)
        text = seen.texts[-1]
        if name == "solving":
            window.shot(name)
        x, y = window.leave()
        assert working(window), "it was done too soon to be stopped"
        window.window.event_simulate(type="ESC", value="PRESS", x=x, y=y)
        pressed, spent, rounds = time.perf_counter(), time.thread_time(), 0
        while working(window) and rounds < 1000:
            rounds += 1
            yield 0.005
        gone, spent = time.perf_counter() - pressed, time.thread_time() - spent
        window.window.event_simulate(type="ESC", value="RELEASE", x=x, y=y)
        print(
            f"{text}: from Esc {rounds} rounds, {gone:.3f} s ({spent:.3f} of the thread) until it is gone", flush=True
        )
        assert text.startswith("Footlock: Remove Sliding, ") and text.endswith(" % (Esc stops)"), text
        assert not working(window) and spent < SOON, "it goes on too long after Esc"
        assert drawn.share > SHARE and drawn.longest < SELDOM, "the interface does not go on"
        assert seen.texts[-1] is None, "the status bar is not given back"
        assert digest() == before, "the action is not as it was"
        yield from window.settled()
        window.shot(f"{name}_stopped")

    yield from press(window)
    start = time.perf_counter()
    yield hand.ROUND
    window.shot("status")
    while working(window):
        yield 0.1
    print(f"{time.perf_counter() - start:.1f} s to the end", flush=True)
    yield from window.settled()
    window.shot("done")
    assert digest() != before, "nothing was done"
    for leg in hand.armature().data.footlock.legs:
        print(f"{leg.slide_before * 1000:.3f} → {leg.slide_after * 1000:.3f} mm per frame", flush=True)
        assert leg.slide_before > 1e-3 and leg.slide_after < 1e-4
    shares = [
        int(text.split(" % ")[0].rsplit(" ", 1)[1])
        for text in seen.texts[-seen.texts[-2::-1].index(None) - 1 :]
        if text
    ]
    assert len(shares) > 10
    seen.end()

    yield from window.undo()
    assert digest()[0] == before[0], "one Ctrl Z does not take it back"
    window.shot("undone")


def press(window):
    """Click the button, and go on as soon as it works."""
    x, y = window.point(REMOVE)
    yield from window.settled()
    for value in ("PRESS", "RELEASE"):
        window.window.event_simulate(type="LEFTMOUSE", value=value, x=x, y=y)
        yield hand.ROUND
    for _ in range(100):
        if working(window):
            return
        yield hand.ROUND
    raise AssertionError("nothing is at work")


if __name__ == "__main__":
    hand.main(sys.argv[sys.argv.index("--") + 1 :], steps, limit=LIMIT)
