# SPDX-License-Identifier: GPL-3.0-or-later
"""Click the panel's buttons in a real window: Detect Contacts, Remove Sliding, and Ctrl Z for each.

Runs in a Blender with a window, which is given the mouse and the keys by event simulation; nobody has to look:

    FOOTLOCK_SHOTS=SHOTS bash .ci/window-tests $(bash .ci/debian-blender trixie) buttons

where SHOTS is a folder for the screenshots; with `--expanded` after the folder all sub-panels are open, to look at
them. The last line is `1 passed, 0 failed` and the exit status 0, or `0 passed, 1 failed` and 1.
"""

import importlib.util
import os
import subprocess
import sys
import time
import traceback
from pathlib import Path

import bpy

ROOT = Path(__file__).resolve().parent.parent.parent
CLIP = ROOT / "tests" / "data" / "cmu_131_01.bvh"

# Pixels from the top of the sidebar's region to the middle of each button, at a resolution scale of 1: the panel's
# header, three lines that say what is worked on (one where there is no armature), the buttons, and what was found.
DETECT, REMOVE, FIT, DETECT_WITHOUT_ARMATURE = 113, 148, 194, 73
LIMIT = 180.0  # seconds
# When so many rounds of Blender's loop of events, notices and drawing have brought nothing more to do, all is there to
# be seen. Counted, since how long a round takes depends on the machine; seconds are the least that one takes.
ROUNDS, ROUND = 8, 0.02


def import_footlock():
    """The checkout as a package called footlock, whatever its folder is called."""
    where = ROOT / "__init__.py"
    spec = importlib.util.spec_from_file_location("footlock", where, submodule_search_locations=[str(ROOT)])
    module = importlib.util.module_from_spec(spec)
    sys.modules["footlock"] = module
    spec.loader.exec_module(module)
    return module


def something_works():
    """True while an operator goes on beside the interface, or what the viewport shows is still to be read."""
    from footlock.operators import long_work
    from footlock.rig import trail_cache

    return long_work.is_running() or bpy.app.timers.is_registered(trail_cache._tick)


class Window:
    """The first window, its viewport, and what a hand does there. The steps yield the seconds until the next."""

    def __init__(self, shots):
        self.shots = shots
        self.count = 0

    @property
    def window(self):
        return bpy.context.window_manager.windows[0]

    @property
    def area(self):
        return next(area for area in self.window.screen.areas if area.type == "VIEW_3D")

    def region(self, kind):
        return next(region for region in self.area.regions if region.type == kind)

    def settled(self):
        """The steps until what was done is done and drawn."""
        calm = 0
        while calm < ROUNDS:
            yield ROUND
            calm = 0 if something_works() else calm + 1

    def open_tab(self):
        self.area.spaces.active.show_region_ui = True
        self.area.tag_redraw()
        yield from self.settled()
        self.region("UI").active_panel_category = "Footlock"
        self.area.tag_redraw()
        yield from self.settled()

    def point(self, below_top):
        """Move to the middle of the sidebar, this far below its top."""
        sidebar = self.region("UI")
        x, y = sidebar.x + (sidebar.width - 20) // 2, sidebar.y + sidebar.height - below_top
        self.window.event_simulate(type="MOUSEMOVE", value="NOTHING", x=x, y=y)
        return x, y

    def click(self, below_top):
        x, y = self.point(below_top)
        yield from self.settled()
        for value in ("PRESS", "RELEASE"):
            self.window.event_simulate(type="LEFTMOUSE", value=value, x=x, y=y)
            yield from self.settled()

    def leave(self):
        """Move from the sidebar into the viewport. A button under the mouse is not drawn anew: greyed, it stays so."""
        viewport = self.region("WINDOW")
        x, y = viewport.x + viewport.width // 3, viewport.y + viewport.height // 3
        self.window.event_simulate(type="MOUSEMOVE", value="NOTHING", x=x, y=y)
        return x, y

    def undo(self):
        x, y = self.leave()
        yield from self.settled()
        for value in ("PRESS", "RELEASE"):
            self.window.event_simulate(type="Z", value=value, ctrl=True, x=x, y=y)
            yield from self.settled()

    def shot(self, name):
        """Blender's own screenshot is black without a graphics card, so the screen is asked."""
        path = self.shots / f"{self.count}_{name}.png"
        self.count += 1
        subprocess.run(["import", "-window", "root", str(path)], check=True, timeout=30)


def armature():
    """Found anew each time: after an undo no reference holds."""
    return bpy.data.objects[CLIP.stem]


def keys():
    """All keys of the action: (path, index) → (frame, value) of each."""
    from footlock.rig import compat

    found = {}
    for curve in compat.channels(armature()).fcurves:
        found[curve.data_path, curve.array_index] = [tuple(key.co) for key in curve.keyframe_points]
    return found


def contact_paths(found):
    return sorted(path for path, _ in found if path.endswith('["contact"]'))


def steps(window):
    """The test. Yields the seconds until it goes on."""
    from footlock.rig import clip, correction, mapping

    yield from window.open_tab()
    window.point(DETECT_WITHOUT_ARMATURE)
    yield from window.settled()
    window.shot("no_armature")
    window.leave()
    yield from window.settled()

    bpy.ops.import_anim.bvh(filepath=str(CLIP))
    legs = mapping.of(armature())
    correction.scale_travel(armature(), clip.read(bpy.context.scene, armature(), legs), 1.25)
    bpy.ops.ed.undo_push(message="Import")
    imported = keys()
    yield from window.settled()
    window.shot("imported")
    assert not contact_paths(imported)

    yield from window.click(DETECT)
    window.shot("detected")
    detected = keys()
    expected = sorted(f'pose.bones["{leg.bearer}"]["contact"]' for leg in mapping.stored(armature()).legs)
    assert len(expected) == 2 and contact_paths(detected) == expected, contact_paths(detected)
    assert all(len(detected[path, 0]) > 2 for path in expected), "the contact curves have no contact"
    assert {path: found for path, found in detected.items() if path in imported} == imported, "other keys changed"
    found = armature().data.footlock
    assert not found.result_action
    assert found.found_action and found.root_kind == "scale", "the root is not said to be too fast"
    print(f"root {found.root_scale:.3f} times too fast", flush=True)

    yield from window.click(FIT)
    window.shot("fitted")
    fitted = keys()
    changed = {path for path in fitted if fitted[path] != detected[path]}
    assert changed and {path for path, _ in changed} == {'pose.bones["Hips"].location'}, changed

    yield from window.undo()
    assert keys() == detected, "the root's keys are not back"

    yield from window.click(REMOVE)
    window.shot("removed")
    removed = keys()
    result = armature().data.footlock
    assert result.result_action, "nothing was removed"
    for leg in result.legs:
        print(f"{leg.name}: {leg.slide_before * 1000:.3f} → {leg.slide_after * 1000:.3f} mm per frame", flush=True)
        assert leg.contacts > 0 and leg.slide_before > 1e-3 and leg.slide_after < 1e-4
    assert removed != detected and contact_paths(removed) == expected

    yield from window.undo()
    window.shot("removal_undone")
    assert keys() == detected, "the keys are not back"
    assert not armature().data.footlock.result_action

    yield from window.undo()
    window.shot("detection_undone")
    assert keys() == imported, "the contact curves are still there"


def finish(status):
    print("1 passed, 0 failed" if status == 0 else "0 passed, 1 failed", flush=True)
    sys.stderr.flush()
    os._exit(status)


def only(name):
    """A function that leaves the first panel and one of its own, open, so that the buttons of that have a place that
    does not depend on the others."""

    def prepare():
        from footlock import ui

        kept = ("FOOTLOCK_PT_main", "FOOTLOCK_PT_presets", name)
        ui.classes = tuple(cls for cls in ui.classes if not issubclass(cls, bpy.types.Panel) or cls.__name__ in kept)
        next(cls for cls in ui.classes if cls.__name__ == name).bl_options = set()

    return prepare


def main(arguments, steps=steps, prepare=None, limit=LIMIT):
    """Run the steps of a test in the window; ``prepare`` is called before anything is registered.
    limit: seconds."""
    shots = Path(next(argument for argument in arguments if not argument.startswith("--")))
    shots.mkdir(parents=True, exist_ok=True)
    footlock = import_footlock()
    if "--expanded" in arguments:
        from footlock import ui

        for cls in ui.classes:
            if "DEFAULT_CLOSED" in getattr(cls, "bl_options", ()):
                cls.bl_options = set()
    if prepare:
        prepare()
    footlock.register()
    bpy.context.preferences.view.show_splash = False  # before the first redraw
    end = time.monotonic() + limit
    test = steps(Window(shots))

    def tick():
        try:
            if time.monotonic() > end:
                raise TimeoutError(f"not done after {limit:.0f} s")
            return next(test)
        except StopIteration:
            finish(0)
        except BaseException:  # a timer that raises is dropped in silence, and Blender would stay open
            traceback.print_exc()
            finish(1)

    bpy.app.timers.register(tick, first_interval=1.0)


if __name__ == "__main__":
    main(sys.argv[sys.argv.index("--") + 1 :])
