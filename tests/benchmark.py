"""How long both buttons take on 10,000 frames, beside one pass of ``scene.frame_set`` over the same frames; what the
correction leaves on the recorded clips; and the article's sweeps beside it.

    python3 tools/blender.py tests/benchmark.py [FRAMES]

Prints seconds, ratios and tables; nothing is asserted, since seconds are the machine's.
"""

import importlib.util
import os
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))
spec = importlib.util.spec_from_file_location("footlock", ROOT / "__init__.py", submodule_search_locations=[str(ROOT)])
footlock = importlib.util.module_from_spec(spec)
sys.modules["footlock"] = footlock
spec.loader.exec_module(footlock)

import benchmark_removal  # noqa: E402
import bpy  # noqa: E402
import clips  # noqa: E402
import numpy as np  # noqa: E402

from footlock.rig import bvh, controls, correction, mapping  # noqa: E402
from footlock.rig import clip as reading  # noqa: E402
from footlock.solvers import contacts, foot_skate, ground, knee_side, leg_chain, slide_removal  # noqa: E402


class Stages:
    """Seconds of each stage, in order."""

    def __init__(self):
        self.seconds = {}

    def __call__(self, name, function, *arguments):
        start = time.perf_counter()
        result = function(*arguments)
        self.seconds[name] = time.perf_counter() - start
        return result


def frame_set_pass(scene, frames):
    for frame in range(1, frames + 1):
        scene.frame_set(frame)


def stages_of_the_job(armature, stage):
    """The two buttons' work, taken apart."""
    scene = bpy.context.scene
    legs = mapping.of(armature)
    driven_by = stage("what drives the legs", controls.of, armature, legs)
    clip = stage("read the action", reading.read, scene, armature, legs, 0.0, driven_by)
    pose = stage("joints in the world", clip.leg_pose)
    labels = stage(
        "detect contacts", contacts.detect, pose.toe, clip.frame_rate, contacts.floor_height(pose.toe)
    ).labels
    heights = ground.toe_heights(pose.toe, labels)
    pelvis = clip.head(legs.pelvis)
    offline = stage(
        "offline pass, article's problem", slide_removal.solve, pelvis, pose.toe, labels, heights, clip.frame_rate
    )
    shins = np.stack([clip.world_rotation(leg.shin) for leg in legs.legs], axis=1)
    side = stage("side vectors", knee_side.side_vectors, pose, shins)
    result = stage(
        "offline pass with reach, and leg chain", foot_skate.remove_sliding, pelvis, pose, side, labels, clip.frame_rate
    )
    low = leg_chain.MinimumHeights(-9.0, -9.0, -9.0)
    stage("leg chain alone", leg_chain.solve, pose, pose.toe + 0.001, side, low)
    stage("write the keys", correction.write, armature, clip, result.pelvis, result.legs)
    return offline.steps, result.steps


def main(frames):
    footlock.register()
    stage = Stages()
    with tempfile.TemporaryDirectory() as folder:
        armature = clips.import_clip(clips.repeated(frames, folder))
    scene = bpy.context.scene
    legs = mapping.of(armature)
    correction.scale_travel(armature, reading.read(scene, armature, legs), 1.25)

    stage("one frame_set pass", frame_set_pass, scene, frames)
    stage("Detect Contacts", bpy.ops.footlock.detect_contacts)
    stage("Remove Sliding", bpy.ops.footlock.remove_sliding)
    single, both = (
        stage.seconds["one frame_set pass"],
        stage.seconds["Detect Contacts"] + stage.seconds["Remove Sliding"],
    )

    with tempfile.TemporaryDirectory() as folder:
        armature = clips.import_clip(clips.repeated(frames, folder))
    steps = stages_of_the_job(armature, stage)

    print(f"Blender {bpy.app.version_string}, Python {sys.version.split()[0]}, numpy {np.__version__}, {frames} frames")
    for name, seconds in stage.seconds.items():
        print(f"{seconds:9.3f} s  {name}")
    print(f"offline steps: {steps[0]} for the article's problem, {steps[1]} with reach")
    print(f"both buttons / one frame_set pass: {both:.3f} s / {single:.3f} s = {both / single:.2f}")
    benchmark_removal.print_sweeps(slide_removal)
    with tempfile.TemporaryDirectory() as folder:
        benchmark_removal.print_table(benchmark_removal.load(ROOT / "batch.py"), bvh, Path(folder))


if __name__ == "__main__":
    own = sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else sys.argv[1:]
    main(int(own[0]) if own else 10_000)
    sys.stdout.flush()
    os._exit(0)
