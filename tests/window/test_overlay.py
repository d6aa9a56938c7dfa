# SPDX-License-Identifier: GPL-3.0-or-later
"""The overlay in a real window: what is drawn, before and after the sliding is removed, and what a redraw costs.

Runs as test_buttons.py does, whose docstring says how; nothing is clicked. The screenshots show the viewport with
paths, footprints and slides, the ghost, a selected print, the light theme, and the bars in a Dope Sheet. Colours of the
overlay must be in them, and gone where it is switched off. Prints milliseconds for one redraw of 10,000 frames.
"""

import subprocess
import sys
import time
from pathlib import Path
from unittest import mock

sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parent.parent)]

import bpy  # noqa: E402
import numpy as np  # noqa: E402
import test_buttons as buttons  # noqa: E402
from mathutils import Quaternion  # noqa: E402

FRAMES = 10_000
REDRAWS = 30
LIMIT = 240.0  # seconds
# So many pixels of a colour are no accident, and so few no overlay.
SEEN, NONE = 60, 4
# A colour that is drawn at full strength comes out as it is, but for the rounding.
FUZZ = "3%"


class Screen:
    """Pixels of a screenshot, within an area of the window."""

    def __init__(self, window, name, area):
        window.shot(name)
        self.path = sorted(window.shots.glob(f"*_{name}.png"), key=lambda path: path.stat().st_mtime)[-1]
        height = window.window.height
        self.crop = f"{area.width}x{area.height}+{area.x}+{height - area.y - area.height}"

    def count(self, colour):
        """How many pixels have this colour, red, green and blue from 0 to 1."""
        rgb = ",".join(str(round(255 * part)) for part in colour[:3])
        command = ["convert", str(self.path), "-alpha", "off", "-crop", self.crop, "+repage", "-fuzz", FUZZ]
        command += ["-fill", "black", "+opaque", f"rgb({rgb})", "-fill", "white", "-opaque", f"rgb({rgb})"]
        command += ["-format", "%[fx:mean*w*h]", "info:"]
        return float(subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout)


def over(colour):
    """What a bar's colour is over the dark of the editors, nearly: they are not quite solid."""
    return [part * colour[3] + 0.12 * (1.0 - colour[3]) for part in colour[:3]]


def area_of(window, kind):
    return next(area for area in window.window.screen.areas if area.type == kind)


def look(window, around, distance, turn=(0.74, 0.42, 0.24, 0.46)):
    """Turn the viewport to a place."""
    view = window.area.spaces.active.region_3d
    view.view_perspective = "PERSP"
    view.view_rotation = Quaternion(turn).normalized()
    view.view_location, view.view_distance = around, distance


def import_walk(frames=None, factor=1.25):
    """The walk with its root too fast, at the clip's own frame rate; repeated to some number of frames."""
    import clips

    from footlock.rig import clip, correction, mapping

    bpy.ops.import_anim.bvh(filepath=str(buttons.CLIP), update_scene_fps=True)
    armature = bpy.context.object
    scene = bpy.context.scene
    if frames:
        clips.lengthen(armature, frames)
    correction.scale_travel(armature, clip.read(scene, armature, mapping.of(armature)), factor)
    return armature


def steps(window):
    """The test. Yields the seconds until it goes on."""
    for ob in list(bpy.data.objects):
        bpy.data.objects.remove(ob)
    armature = import_walk()
    armature.show_in_front = False
    scene = bpy.context.scene
    scene.frame_set(300)
    settings = scene.footlock_overlay
    settings.ghost = False
    space = window.area.spaces.active
    # They have such colours, too.
    space.show_gizmo = space.overlay.show_cursor = space.overlay.show_axis_x = False
    space.show_region_header = space.show_region_tool_header = space.show_region_toolbar = False
    middle = armature.matrix_world @ armature.pose.bones["Hips"].head
    look(window, (middle.x, middle.y, 0.3), 4.5)
    yield from window.settled()
    bpy.ops.footlock.detect_contacts()
    yield from window.settled()
    before = Screen(window, "before", window.area)
    for name in ("free", "sliding"):
        count = before.count(getattr(settings, name))
        print(f"before: {count:.0f} pixels {name}", flush=True)
        assert count > SEEN, f"nothing is {name} before the sliding is removed"

    bpy.ops.footlock.remove_sliding()
    yield from window.settled()
    after = Screen(window, "after", window.area)
    for name, least, most in (("free", SEEN, np.inf), ("sliding", -1, NONE)):
        count = after.count(getattr(settings, name))
        print(f"after: {count:.0f} pixels {name}", flush=True)
        assert least < count < most, f"{count} pixels are {name} after the sliding is removed"

    settings.ghost = True
    settings.reach = 90
    print_ = selected_print(armature)
    armature.footlock_selected.leg, armature.footlock_selected.frame = print_
    yield from window.settled()
    Screen(window, "ghost_selected_and_range", window.area)
    settings.ghost, settings.reach, armature.footlock_selected.leg = False, 0, -1

    window.area.spaces.active.overlay.show_overlays = False
    yield from window.settled()
    off = Screen(window, "overlays_off", window.area)
    assert off.count(settings.free) < NONE, "it does not follow the switch of the viewport's overlays"
    window.area.spaces.active.overlay.show_overlays = True
    settings.show = False
    yield from window.settled()
    assert Screen(window, "own_switch_off", window.area).count(settings.free) < NONE
    settings.show = True
    armature.hide_set(True)
    yield from window.settled()
    assert Screen(window, "hidden", window.area).count(settings.free) < NONE, "that of a hidden armature is shown"
    armature.hide_set(False)
    bpy.context.view_layer.objects.active = armature
    armature.location.x += 0.5
    yield from window.settled()
    assert Screen(window, "moved", window.area).count(settings.free) > SEEN
    armature.location.x -= 0.5

    timeline = area_of(window, "DOPESHEET_EDITOR")
    Screen(window, "timeline", timeline)
    sheet = window.area
    sheet.type = "DOPESHEET_EDITOR"
    sheet.spaces.active.mode = "ACTION"
    yield from window.settled()
    region = next(region for region in sheet.regions if region.type == "WINDOW")
    with bpy.context.temp_override(window=window.window, area=sheet, region=region):
        bpy.ops.action.view_all()
    yield from window.settled()
    for switch, name in ((True, "bars"), (False, "bars_off")):
        settings.bars = switch
        yield from window.settled()
        for area in (timeline, sheet):
            shown = Screen(window, f"{name}_{area.spaces.active.mode.lower()}", area)
            for side in ("left", "right"):
                count = shown.count(over(getattr(settings, side)))
                print(f"{name} of {area.spaces.active.mode}: {count:.0f} pixels {side}", flush=True)
                assert (count > SEEN) == switch, f"{count} pixels of the bars"
    settings.bars = True
    sheet.type = "VIEW_3D"

    folders = [Path(folder) for folder in bpy.utils.preset_paths("interface_theme")]
    theme = next(path for folder in folders if (path := folder / "Blender_Light.xml").exists())
    bpy.ops.script.execute_preset(filepath=str(theme), menu_idname="USERPREF_MT_interface_theme_presets")
    yield from window.settled()
    light = Screen(window, "light", window.area)
    assert light.count(settings.free) > SEEN

    yield from timed(window)


def trails_of(armature):
    from footlock.rig import trail_cache

    return trail_cache.current(bpy.context.scene, armature).trails


def selected_print(armature):
    """(leg, frame) of the contact that the walk has at the current frame."""
    trails = trails_of(armature)
    leg = int(np.argmax(trails.planted[bpy.context.scene.frame_current - 1]))
    return leg, bpy.context.scene.frame_current


def timed(window):
    """Prints the milliseconds that a redraw takes, and of these the overlay, at many frames."""
    from footlock.ui import overlay, timeline_bars

    armature = import_walk(FRAMES)
    bpy.ops.footlock.detect_contacts()
    bpy.ops.footlock.remove_sliding()
    assert len(trails_of(armature).frames) == FRAMES
    spent = {}

    def watched(module, name):
        """The function, and how long the thread that calls it works on it: other programs do not count."""
        draw = getattr(module, name)

        def timed_draw():
            start = time.thread_time()
            draw()
            spent.setdefault(name, []).append(time.thread_time() - start)

        return mock.patch.object(module, name, timed_draw)

    with watched(overlay, "_draw_world"), watched(overlay, "_draw_pixels"), watched(timeline_bars, "_draw"):
        for module in (overlay, timeline_bars):
            module.unregister()
            module.register()
    there = armature.matrix_world @ armature.pose.bones["Hips"].head
    for what, centre, distance in (("all of it in view", (0.0, -20.0, 0.0), 60.0), ("a walk in view", there, 4.5)):
        look(window, centre, distance)
        yield from window.settled()
        Screen(window, f"long_{distance:.0f}", window.area)
        redraw(window, 3)
        spent.clear()
        whole = redraw(window, REDRAWS)
        parts = {name: 1000.0 * np.array(seconds) for name, seconds in spent.items()}
        listed = ", ".join(f"{name} {np.median(ms):.2f} ({ms.min():.2f})" for name, ms in parts.items())
        total = sum(np.median(ms) for ms in parts.values())
        print(f"{FRAMES} frames, {what}: {total:.2f} ms of a redraw of {whole:.0f} ms: {listed}", flush=True)


def redraw(window, count):
    """Milliseconds of one redraw of the whole window, shown on the screen, the median of several."""
    found = []
    with bpy.context.temp_override(window=window.window, area=window.area, region=window.region("WINDOW")):
        for _ in range(count):
            start = time.perf_counter()
            bpy.ops.wm.redraw_timer(type="DRAW_WIN_SWAP", iterations=1)
            found.append(1000.0 * (time.perf_counter() - start))
    return float(np.median(found))


if __name__ == "__main__":
    buttons.main(sys.argv[sys.argv.index("--") + 1 :], steps, limit=LIMIT)
