# SPDX-License-Identifier: GPL-3.0-or-later
"""Footprints in a real window: a click selects the contact, a drag moves it and the result follows, Ctrl Z undoes that.

Runs as test_buttons.py does, whose docstring says how.
"""

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parent.parent)]

import bpy  # noqa: E402
import numpy as np  # noqa: E402
import test_buttons as buttons  # noqa: E402
import test_overlay as overlay_test  # noqa: E402

# How far the mouse goes, pixels.
FAR = (70, -25)


def shown():
    """(armature, what the overlay has of it) now."""
    from footlock.ui import overlay

    context = bpy.context
    armature, entry = overlay.subject(context)
    return armature, overlay.built(armature, entry, context.scene.footlock_overlay)


def pixel(window, point):
    """Where a point of the world (3,) is in the window."""
    region = window.region("WINDOW")
    projection = np.array(window.area.spaces.active.region_3d.perspective_matrix)
    clip = projection @ np.append(point, 1.0)
    at = (clip[:2] / clip[3] * 0.5 + 0.5) * (region.width, region.height)
    return int(region.x + at[0]), int(region.y + at[1])


def toe(armature, leg, frame):
    """Where the toe of a leg is evaluated in a frame."""
    from footlock.rig import mapping

    bpy.context.scene.frame_set(int(frame))
    name = mapping.stored(armature).legs[leg].toe
    return np.array(armature.matrix_world @ armature.pose.bones[name].head)


def press(window, start, end=None):
    """The steps of a click, or of a drag."""
    move = window.window.event_simulate
    move(type="MOUSEMOVE", value="NOTHING", x=start[0], y=start[1])
    yield from window.settled()
    move(type="LEFTMOUSE", value="PRESS", x=start[0], y=start[1])
    yield from window.settled()
    for share in np.linspace(0.25, 1.0, 4) if end else ():
        x, y = (int(a + share * (b - a)) for a, b in zip(start, end, strict=True))
        move(type="MOUSEMOVE", value="NOTHING", x=x, y=y)
        yield from window.settled()
    if end:
        window.shot("dragged")
    move(type="LEFTMOUSE", value="RELEASE", x=(end or start)[0], y=(end or start)[1])
    yield from window.settled()


def steps(window):
    """The test. Yields the seconds until it goes on."""
    armature = overlay_test.import_walk()
    name = armature.name
    bpy.ops.footlock.detect_contacts()
    bpy.ops.footlock.remove_sliding()
    bpy.ops.ed.undo_push(message="Corrected")
    yield from window.settled()
    armature, made = shown()
    index = len(made.prints) // 2
    leg, first, last = int(made.prints.leg[index]), made.prints.first[index], made.prints.last[index]
    overlay_test.look(window, tuple(made.prints.toe[index]), 3.0)
    window.area.spaces.active.show_region_ui = False
    bpy.context.scene.frame_set(int(last) + 40)  # the character is out of the way
    yield from window.settled()
    frame = float(0.5 * (first + last))
    place, before = pixel(window, made.prints.outline[index].mean(axis=0)), toe(armature, leg, frame)

    yield from press(window, place)
    armature, made = shown()
    selected = armature.footlock_selected
    print(f"selected leg {selected.leg}, frame {selected.frame}; the print is of {first} to {last}", flush=True)
    assert selected.leg == leg and first <= selected.frame <= last, "the click has not selected the contact"
    assert bpy.context.view_layer.objects.active == armature and armature.select_get(), "the click went through"
    window.shot("selected")
    assert np.allclose(toe(armature, leg, frame), before), "a click has moved it"

    keys = buttons.keys()
    yield from press(window, place, (place[0] + FAR[0], place[1] + FAR[1]))
    yield from window.settled()
    window.shot("moved")
    armature = bpy.data.objects[name]
    after = [toe(armature, leg, one) for one in np.linspace(first, last, 5)]
    moved, spread = after[2] - before, np.ptp(after, axis=0).max()
    print(f"moved by {moved}, slides {spread * 1000.0:.3f} mm", flush=True)
    assert np.hypot(*moved[:2]) > 0.05 and abs(moved[2]) < 1e-3, "the footprint has not moved over the floor"
    assert spread < 1e-4, "the contact does not stand there"
    armature, made = shown()
    there = pixel(window, made.prints.outline[made.prints.at(leg, frame)].mean(axis=0))
    away = np.hypot(there[0] - place[0] - FAR[0], there[1] - place[1] - FAR[1])
    print(f"the print is {away:.1f} pixels from where it was dropped", flush=True)
    assert away < 6.0, "it is not where the mouse let it go"

    yield from window.undo()
    assert buttons.keys() == keys, "one step of undo has not brought the keys back"

    # Where there is no print a click does what it does in Blender.
    empty = window.region("WINDOW")
    yield from press(window, (empty.x + 20, empty.y + 20))
    assert bpy.data.objects[name].footlock_selected.leg == leg
    assert not bpy.data.objects[name].select_get(), "a click on nothing no longer deselects"


if __name__ == "__main__":
    buttons.main(sys.argv[sys.argv.index("--") + 1 :], steps)
