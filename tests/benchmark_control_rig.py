"""How long both buttons take on a walk keyed on Rigify's controls, beside one pass of ``scene.frame_set`` over the same
frames with the same bones read; how often each frame is stepped; and the most memory that was in use.

    python3 tools/blender.py tests/benchmark_control_rig.py [FRAMES]

Prints seconds and ratios; nothing is asserted, since seconds are the machine's.
"""

import os
import resource
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import benchmark
import bpy
import numpy as np
from blender import control_rigs, rigs

from footlock.operators import detect_contacts, remove_sliding
from footlock.rig import contact_property, mapping


def main(frames):
    benchmark.footlock.register()
    control_rigs.FRAMES = frames
    rig = control_rigs.rigify("human")
    control_rigs.walk(rig, {"foot_ik.L": 0.0, "foot_ik.R": 0.5}, "torso")
    scene, legs = bpy.context.scene, mapping.find(rig)
    toes = [leg.toe for leg in legs.legs]
    stage, steps = benchmark.Stages(), []
    stage("one frame_set pass", benchmark.frame_set_pass, scene, frames)
    bpy.app.handlers.frame_change_post.append(lambda *_: steps.append(1))
    found = stage("Detect Contacts", detect_contacts.detect, scene, rig, legs)
    at_detection = len(steps)
    contact_property.write(rig, legs, found.clip.frames, found.labels, detected=True)
    stage("Remove Sliding", remove_sliding.remove, scene, rig, legs)
    counted = len(steps)
    places = rigs.evaluated(rig, found.clip.frames, toes)[0]
    planted = found.labels[1:] & found.labels[:-1]
    slide = np.linalg.norm(np.diff(places, axis=0), axis=-1)[planted]

    print(f"Blender {bpy.app.version_string}, {len(rig.data.bones)} bones, {frames} frames")
    single = stage.seconds["one frame_set pass"]
    for name, seconds in stage.seconds.items():
        print(f"{seconds:9.3f} s  {name}, {seconds / single:.2f} passes")
    print(f"steps a frame: {at_detection / frames:.2f} to detect, {(counted - at_detection) / frames:.2f} to remove")
    print(f"slide of the evaluated toes in contact: {slide.max() * 1000.0:.4f} mm a frame at most")
    print(f"memory at most: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f} GB")
    control_rigs.forget()


if __name__ == "__main__":
    own = sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else sys.argv[1:]
    start = time.perf_counter()
    main(int(own[0]) if own else 10_000)
    print(f"{time.perf_counter() - start:.0f} s in all")
    sys.stdout.flush()
    os._exit(0)
