# SPDX-License-Identifier: GPL-3.0-or-later
"""Click Remove Sliding on a long clip in a real window: the interface goes on, Esc stops it, Ctrl Z takes it back.

Runs as test_buttons.py does, see there for how; a walk is repeated to 30,000 frames for it.

    … blender --factory-startup --enable-event-simulate --gpu-backend opengl --window-geometry 0 0 1600 900 \\
        --python tests/window/test_escape.py -- SHOTS
"""

import hashlib
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import bpy
import numpy as np
import test_buttons as hand

FRAMES = 30_000
# From Esc until the operator is gone, seconds.
SOON = 0.5
# The viewport is drawn no more than so many times less often than while nothing is at work, and at least so often,
# seconds.
SLOWER, SELDOM = 3.0, 1.0
# Pixels from the top of the sidebar to the middle of the button.
REMOVE = hand.REMOVE
LIMIT = 280.0


def import_long_clip():
    """The walk, repeated, each repetition from where the one before ended, which travels too far."""
    from footlock.operators import detect_contacts
    from footlock.rig import bvh, clip, contact_property, correction, mapping

    walk = bvh.read(hand.CLIP)
    columns, _ = walk.position_columns(0)
    level = [columns[0], columns[2]]
    count = -(-FRAMES // len(walk.motion))
    rows = np.tile(walk.motion, (count, 1))
    way = (walk.motion[-1] - walk.motion[0])[level]
    rows[:, level] += np.repeat(np.arange(count)[:, None] * way, len(walk.motion), axis=0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / hand.CLIP.name
        bvh.write(path, walk.with_motion(rows[:FRAMES]))
        bpy.ops.import_anim.bvh(filepath=str(path))
    armature, scene = hand.armature(), bpy.context.scene
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
        self.drawn.append(time.perf_counter())

    def end(self):
        bpy.types.SpaceView3D.draw_handler_remove(self._handle, "WINDOW")
        bpy.types.WorkSpace.status_text_set = self._set


def working(window):
    return [one.bl_idname for one in window.window.modal_operators if "footlock" in one.bl_idname.lower()]


def drawing(window, seen, until):
    """Have the viewport drawn as often as it can be, until a function says so; returns how often it was drawn a second,
    and the longest time between two of these."""
    first, start = len(seen.drawn), time.perf_counter()
    while not until(time.perf_counter() - start):
        window.area.tag_redraw()
        yield 0.02
    times = [start, *seen.drawn[first:], time.perf_counter()]
    return (len(times) - 2) / (times[-1] - start), max(later - one for one, later in pairwise(times))


def steps(window):
    """The test. Yields the seconds until it goes on."""
    yield from window.open_tab()
    import_long_clip()
    bpy.ops.ed.undo_push(message="Import")
    before = digest()
    yield 1.0

    seen = Seen()
    idle, apart = yield from drawing(window, seen, lambda seconds: seconds > 3.0)
    print(f"idle: drawn {idle:.1f} times a second, at most {apart:.2f} s apart", flush=True)

    def solving(seconds):
        return seconds > 1.0

    def writing(seconds):
        return "writing keys" in (seen.texts[-1] or "") or not working(window)

    for name, until in (("solving", solving), ("writing", writing)):
        yield from press(window)
        assert working(window), "nothing is at work"
        often, longest = yield from drawing(window, seen, until)
        print(f"{name}: drawn {often:.1f} times a second, at most {longest:.2f} s apart", flush=True)
        text = seen.texts[-1]
        if name == "solving":
            window.shot(name)
        x, y = window.leave()
        assert working(window), "it was done too soon to be stopped"
        window.window.event_simulate(type="ESC", value="PRESS", x=x, y=y)
        pressed = time.perf_counter()
        while working(window) and time.perf_counter() < pressed + 10.0:
            yield 0.005
        gone = time.perf_counter() - pressed
        window.window.event_simulate(type="ESC", value="RELEASE", x=x, y=y)
        print(f"{text}: {gone:.3f} s from Esc until it is gone", flush=True)
        assert text.startswith("Footlock: Remove Sliding, ") and text.endswith(" % (Esc stops)"), text
        # A window that is drawn without a graphics card may be busy with that alone for as long as when nothing works.
        assert gone < SOON + apart, "it goes on too long after Esc"
        assert often > idle / SLOWER and longest < max(SELDOM, SLOWER * apart), "the interface does not go on"
        assert seen.texts[-1] is None, "the status bar is not given back"
        assert digest() == before, "the action is not as it was"
        yield 1.0
        window.shot(f"{name}_stopped")

    yield from press(window)
    start = time.perf_counter()
    yield 0.5
    window.shot("status")
    while working(window):
        yield 0.1
    print(f"{time.perf_counter() - start:.1f} s to the end", flush=True)
    yield 1.0
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
    """Click the button, and go on as soon as it has worked for a moment."""
    x, y = window.point(REMOVE)
    yield 0.3
    for value in ("PRESS", "RELEASE"):
        window.window.event_simulate(type="LEFTMOUSE", value=value, x=x, y=y)
        yield 0.05
    yield 0.3


if __name__ == "__main__":
    hand.main(sys.argv[sys.argv.index("--") + 1 :], steps, limit=LIMIT)
