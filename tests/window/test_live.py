# SPDX-License-Identifier: GPL-3.0-or-later
"""Live Lock in a real window: a click, a hundred frames played, and what the viewport shows of them.

How to run it, see test_buttons.py.
"""

import sys
import time
from pathlib import Path

import bpy
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

import test_buttons

# Pixels from the top of the sidebar to the middle of the toggle, where no other sub-panel is there.
TOGGLE = 277
FRAMES = 100
LIMIT = 280.0  # seconds
# Seconds of the blend, and by how much a toe may slide that stands, metres.
BLEND, STANDS = 0.1, 1e-4


class Shown:
    """Where the toes are in what the viewport draws: frame → (legs, 3)."""

    def __init__(self, names):
        self.names, self.toes = names, {}
        self.handle = bpy.types.SpaceView3D.draw_handler_add(self.draw, (), "WINDOW", "POST_PIXEL")

    def draw(self):
        armature = test_buttons.armature().evaluated_get(bpy.context.evaluated_depsgraph_get())
        world = np.array(armature.matrix_world)
        heads = np.array([armature.pose.bones[name].head for name in self.names])
        self.toes[bpy.context.scene.frame_current] = heads @ world[:3, :3].T + world[:3, 3]

    def remove(self):
        bpy.types.SpaceView3D.draw_handler_remove(self.handle, "WINDOW")


def pose():
    """Every rotation of every bone, to the bit."""
    bones = test_buttons.armature().pose.bones
    return [tuple(value) for bone in bones for value in (bone.rotation_euler, bone.rotation_quaternion, bone.location)]


def play(window):
    """Start or stop the playback, as Space does."""
    with bpy.context.temp_override(window=window.window, area=window.area, region=window.region("WINDOW")):
        bpy.ops.screen.animation_play()


def played(window, names, last=FRAMES):
    """Play frames up to the last and return what was shown of them."""
    scene = bpy.context.scene
    scene.frame_set(1)
    yield from window.settled()
    shown = Shown(names)
    play(window)
    start = time.monotonic()
    while scene.frame_current <= last:
        yield 0.05
    print(f"{scene.frame_current} frames in {time.monotonic() - start:.1f} s", flush=True)
    play(window)
    shown.remove()
    yield from window.settled()
    return shown.toes


def spread(toes, planted, leg):
    """How far a toe slides over the contacts of a leg once the blend is over, metres, and over how many frames."""
    farthest, count = 0.0, 0
    for first, stop in planted:
        at = [toes[frame][leg] for frame in range(first, min(stop, FRAMES)) if frame in toes]
        if len(at) > 1:
            farthest, count = max(farthest, float(np.ptp(at, axis=0).max())), count + len(at)
    return farthest, count


def steps(window):
    from footlock.rig import clip, contact_property, correction, live, mapping
    from footlock.solvers.contacts import runs

    yield from window.open_tab()
    # Without a graphics card a viewport with all that takes a second to draw.
    bpy.context.preferences.system.viewport_aa = "OFF"
    space = window.area.spaces.active
    space.shading.type, space.overlay.show_floor, space.overlay.show_axis_y = "WIREFRAME", False, False
    space.overlay.show_axis_x = False
    bpy.ops.import_anim.bvh(filepath=str(test_buttons.CLIP), update_scene_fps=True)
    armature, scene = test_buttons.armature(), bpy.context.scene
    legs = mapping.of(armature)
    mapping.store(armature, legs)
    bpy.ops.footlock.detect_contacts()
    correction.scale_travel(armature, clip.read(scene, armature, legs), 1.15)
    scene.footlock.blend_time, scene.footlock.lock_distance = BLEND, 1.0
    frames = np.arange(1, FRAMES + 1)
    labels = contact_property.read(armature, legs, frames)
    late = round(BLEND * scene.render.fps) + 3
    contacts = [[(first + late, stop) for first, stop in runs(labels[:, leg]) + 1] for leg in range(2)]
    names = [leg.toe for leg in legs.legs]
    scene.frame_set(70)
    yield from window.settled()
    keys, before = test_buttons.keys(), pose()
    there = [len(getattr(bpy.app.handlers, name)) for name in ("frame_change_pre", "frame_change_post")]

    sliding = yield from played(window, names)
    scene.frame_set(70)
    yield from window.settled()
    yield from window.click(TOGGLE)
    window.leave()
    yield from window.settled()
    window.shot("live_on")
    assert live.is_on(test_buttons.armature()), "the click did not switch it on"
    standing = yield from played(window, names)
    window.shot("live_played")
    for leg in range(2):
        (slid, _), (stood, count) = spread(sliding, contacts[leg], leg), spread(standing, contacts[leg], leg)
        print(f"{names[leg]}: slides {slid * 1000:.2f} → {stood * 1000:.3f} mm in {count} frames shown", flush=True)
        assert count > 15 and slid > 5e-3 and stood < STANDS
    assert test_buttons.keys() == keys, "a key has changed"

    scene.frame_set(70)
    yield from window.settled()
    yield from window.click(TOGGLE)
    window.leave()
    yield from window.settled()
    window.shot("live_off")
    assert not live.is_on(test_buttons.armature())
    assert pose() == before and test_buttons.keys() == keys
    assert [len(getattr(bpy.app.handlers, name)) for name in ("frame_change_pre", "frame_change_post")] == there

    # Off in the middle of a contact, where the pose was another.
    yield from window.click(TOGGLE)
    yield from played(window, names, 10)
    scene.frame_set(FRAMES)
    scene.frame_set(FRAMES + 1)
    yield from window.click(TOGGLE)
    shown = pose()
    scene.frame_set(FRAMES)
    scene.frame_set(FRAMES + 1)
    assert pose() == shown


if __name__ == "__main__":
    test_buttons.main(sys.argv[sys.argv.index("--") + 1 :], steps, test_buttons.only("FOOTLOCK_PT_live"), LIMIT)
