"""How long the interface has to wait: the longest stretches between two steps of both buttons, where it has its turn,
and what the steps cost in all.

    python3 tools/blender.py tests/benchmark_steps.py [FRAMES] [RESULT]

for a walk repeated to FRAMES, 10,000 without, and up to that for one of a tenth of it on Rigify's controls. Prints
seconds; nothing is asserted, since seconds are the machine's.
"""

import os
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import benchmark
import bpy
import clips
from blender import control_rigs, rigs

from footlock.operators import detect_contacts, remove_sliding
from footlock.operators.remove_sliding import Options
from footlock.rig import clip as reading
from footlock.rig import contact_property, correction, mapping, stepwise

_SHOWN = 5
# Frames of the walk up to which there is one on Rigify's controls, too, which takes ten times as long.
_MOST_OF_RIGIFY = 10_000


def stretches(name, make, steps):
    """Run the steps of what is made twice, once at once and once a little at a time, and print how long that took, and
    the longest stretches of the latter."""
    made = make()
    start = time.process_time()
    stepwise.finish(steps(made))
    at_once = time.process_time() - start
    work, found = stepwise.Work(steps(make())), []
    start, last = time.process_time(), time.perf_counter()
    done = False
    while not done:
        what = work.what
        done = work.advance(0.0)
        now = time.perf_counter()
        found.append((now - last, what))
        while not done and work.waits(0.1):
            pass
        last = time.perf_counter()
    in_steps = time.process_time() - start
    print(
        f"{name}: {at_once:.2f} s of the processor at once, {in_steps:.2f} s in {len(found)} steps; longest stretches:"
    )
    for seconds, what in sorted(found, reverse=True)[:_SHOWN]:
        print(f"{seconds:9.3f} s  {what}")


def main(frames, result):
    benchmark.footlock.register()
    with tempfile.TemporaryDirectory() as folder:
        path = benchmark.repeated(frames, folder)

        def walk():
            clips.new_file()
            armature = clips.import_clip(path)
            legs = mapping.of(armature)
            correction.scale_travel(armature, reading.read(bpy.context.scene, armature, legs), 1.25)
            found = detect_contacts.detect(bpy.context.scene, armature, legs)
            contact_property.write(armature, legs, found.clip.frames, found.labels)
            return armature

        def rigify():
            control_rigs.FRAMES = frames // 10
            rig = control_rigs.rigify("human")
            planted = control_rigs.walk(rig, {"foot_ik.L": 0.0, "foot_ik.R": 0.5}, "torso")
            contact_property.write(rig, mapping.of(rig), 1.0 + rigs.np.arange(frames // 10), planted)
            return rig

        def removing(armature):
            options = Options(result=result)
            return remove_sliding.removing(bpy.context.scene, armature, mapping.of(armature), options=options)

        def detecting(armature):
            return detect_contacts.detecting(bpy.context.scene, armature, mapping.of(armature))

        stretches(f"Detect Contacts, {frames} frames", walk, detecting)
        stretches(f"Remove Sliding, {frames} frames", walk, removing)
        if frames <= _MOST_OF_RIGIFY:
            stretches(f"Remove Sliding, {frames // 10} frames of Rigify", rigify, removing)
    control_rigs.forget()


if __name__ == "__main__":
    own = sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else sys.argv[1:]
    main(int(own[0]) if own else 10_000, own[1] if len(own) > 1 else "IN_PLACE")
    sys.stdout.flush()
    os._exit(0)
