"""What the live lock takes of a frame for two legs, beside what Blender itself takes for it.

    python3 tools/blender.py tests/benchmark_live.py

Prints milliseconds and a ratio; nothing is asserted, since milliseconds are the machine's. The bar is 1 ms.
"""

import importlib.util
import os
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))
spec = importlib.util.spec_from_file_location("footlock", ROOT / "__init__.py", submodule_search_locations=[str(ROOT)])
footlock = importlib.util.module_from_spec(spec)
sys.modules["footlock"] = footlock
spec.loader.exec_module(footlock)

import bpy  # noqa: E402
import clips  # noqa: E402
import numpy as np  # noqa: E402

from footlock.rig import clip as reading  # noqa: E402
from footlock.rig import correction, live, mapping  # noqa: E402

_PASSES = 3


class Timed:
    """A function, and the seconds that each call of it takes: by the clock, and of the processor, which others on the
    same machine do not change."""

    def __init__(self, function):
        self.function, self.seconds = function, []

    def __call__(self, *arguments):
        start, used = time.perf_counter(), time.thread_time()
        self.function(*arguments)
        self.seconds.append((time.perf_counter() - start, time.thread_time() - used))


def passes(scene, frames):
    """Seconds of each frame_set, of the best pass."""
    best = None
    for _ in range(_PASSES):
        seconds = []
        for frame in frames:
            start = time.perf_counter()
            scene.frame_set(frame)
            seconds.append(time.perf_counter() - start)
        best = seconds if best is None or sum(seconds) < sum(best) else best
    return np.array(best)


def main():
    footlock.register()
    armature = clips.import_clip()
    scene, legs = bpy.context.scene, mapping.of(armature)
    mapping.store(armature, legs)
    bpy.ops.footlock.detect_contacts()
    correction.scale_travel(armature, reading.read(scene, armature, legs), 1.25)
    frames = range(1, 996)
    off = passes(scene, frames)
    timed = {name: Timed(live._HANDLERS[name]) for name in ("frame_change_pre", "frame_change_post")}
    live._HANDLERS.update(timed)
    bpy.ops.footlock.live_lock()
    for one in timed.values():
        one.seconds.clear()
    on = passes(scene, frames)
    ours = sum(np.array(one.seconds).reshape(_PASSES, -1, 2) for one in timed.values())
    ours, used = ours[ours[..., 0].sum(axis=1).argmin()].T
    python = sys.version.split()[0]
    print(f"Blender {bpy.app.version_string}, Python {python}, {len(legs.legs)} legs, {len(off)} frames")
    print(f"{1000.0 * off.mean():8.3f} ms  frame_set without the lock")
    print(f"{1000.0 * on.mean():8.3f} ms  frame_set with it (Blender evaluates what was written once more)")
    for name, value in (
        ("mean", ours.mean()),
        ("median", np.median(ours)),
        ("99 of 100 below", np.percentile(ours, 99)),
        ("mean of the processor's time", used.mean()),
    ):
        print(f"{1000.0 * value:8.3f} ms  of that ours, {name}")
    print(f"ours / frame_set without: {ours.mean() / off.mean():.2f}")


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    os._exit(0)
