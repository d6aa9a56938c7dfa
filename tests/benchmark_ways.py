"""Footlock beside the article and beside what an animator would do by hand first: the same clips, the same contacts.

    python3 tools/blender.py tests/benchmark_ways.py

Four recorded clips whose roots travel 0.75, 1.25 and 1.5 times as far as their feet, with the clean clips' contacts.

- naive: a toe is pinned where its contact begins and let go at its end; the leg reaches for it, nothing else moves.
- article, run time: its lock with inertialization, and its leg solver, frame by frame.
- article, offline: its 25,000 sweeps over the whole clip, and its leg solver.
- Footlock: the batch with its own settings.

What comes out is measured on written files, by code that shares nothing with the add-on (``measure``). Prints a table
for each clip and the means; nothing is asserted.
"""

import json
import os
import sys
import tempfile
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import benchmark
import benchmark_removal
import bpy
import measure
import motions
import numpy as np

from footlock.rig import bvh, bvh_armature, controls, correction
from footlock.rig import clip as reading
from footlock.solvers import foot_lock, ground, knee_side, leg_chain

FACTORS = 0.75, 1.25, 1.5
SWEEPS = 25_000
_COLUMNS = {"slide mean": 0, "slide max": 1, "ends": 4, "knee": 10, "lowest": 5, "pelvis": 11}
_UNITS = "mm", "mm", "×", "×", "mm", "mm"
_FREE = leg_chain.MinimumHeights(-np.inf, -np.inf, -np.inf)
_NAIVE = leg_chain.LegChainSettings(height_clamp=False, softening=1e-6, max_pivot=0.0)


def naive(clip, pose, labels):
    """Pelvis and toes (frames, legs, 3) of pinned toes."""
    toes = pose.toe.copy()
    for leg in range(labels.shape[1]):
        for start, stop in measure.runs(labels[:, leg]):
            toes[start:stop, leg] = toes[start, leg]
    return clip.head(clip.legs.pelvis), toes, _NAIVE


def at_run_time(clip, pose, labels):
    """The article's lock, frame by frame."""
    heights = ground.toe_heights(pose.toe, labels)
    toes, _ = foot_lock.lock(pose.toe, labels, heights, 1.0 / clip.frame_rate, foot_lock.FootLockSettings())
    return clip.head(clip.legs.pelvis), toes, leg_chain.ARTICLE


def offline(clip, pose, labels):
    """The article's sweeps, which correct the pelvis, too."""
    heights = ground.toe_heights(pose.toe, labels)
    sweep = benchmark_removal.Sweeps(clip.head(clip.legs.pelvis), pose.toe, labels, heights)
    for _ in range(SWEEPS):
        sweep()
    return sweep.pelvis, sweep.toes, leg_chain.ARTICLE


WAYS = {"naive": naive, "article, run time": at_run_time, "article, offline": offline}


def written(source, labels, unit, way, target):
    """Correct a file in one of the ways."""
    motion, armature, legs = benchmark_removal.opened(bvh, source)
    clip = reading.read(bpy.context.scene, armature, legs, unit, controls.of(armature, legs))
    pose = clip.leg_pose()
    pelvis, toes, settings = way(clip, pose, labels)
    side = knee_side.side_vectors(pose, np.stack([clip.world_rotation(leg.shin) for leg in legs.legs], axis=1))
    shift = (pelvis - clip.head(legs.pelvis))[:, None]
    moved = leg_chain.LegPose(*(joint + shift for joint in (pose.hip, pose.knee, pose.heel, pose.toe, pose.toe_end)))
    correction.write(armature, clip, pelvis, leg_chain.solve(moved, toes, side, _FREE, settings))
    bvh.write(target, bvh_armature.store(armature, motion, legs))


def by_footlock(batch, source, unit, labels, folder):
    """Correct a file by the batch; returns its report."""
    arguments = [source, "-o", folder / "out.bvh", "--contacts", labels, "--unit", unit, "--report", folder / "r.json"]
    with redirect_stdout(StringIO()):
        if batch.main([str(one) for one in arguments]) != 0:
            raise RuntimeError(f"the batch failed on {source}")
    return json.loads((folder / "r.json").read_text(encoding="utf-8"))["clips"][0]


def print_rows(title, rows):
    print(f"\n{title:24}" + "".join(f"{name:>12}" for name in _COLUMNS))
    print(f"{'':24}" + "".join(f"{unit:>12}" for unit in _UNITS))
    for name, row in rows.items():
        print(f"{name:24}" + "".join(f"{value:12.3f}" for value in row), flush=True)


def main():
    benchmark.footlock.register()
    batch = benchmark_removal.load(benchmark.ROOT / "batch.py")
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        source, target, given = folder / "source.bvh", folder / "out.bvh", folder / "labels.json"
        for name, (joints, unit) in benchmark_removal.CLIPS.items():
            benchmark_removal.write_labels(name, joints, given)
            labels = np.stack(list(json.loads(given.read_text())["contacts"].values()), axis=1) > 0
            none = np.zeros(labels.shape, bool)
            for factor in FACTORS:
                benchmark_removal.scaled(bvh, motions.DATA / f"{name}.bvh", factor, source)

                def row(file, missed, joints=joints, unit=unit, labels=labels):
                    values = benchmark_removal.measured(source, file, joints, unit, labels, missed, bvh, folder)
                    return np.array(values)[list(_COLUMNS.values())]

                rows = {"source": row(source, none)}
                for way, function in WAYS.items():
                    written(source, labels, unit, function, target)
                    rows[way] = row(target, none)
                report = by_footlock(batch, source, unit, given, folder)
                rows["Footlock"] = row(target, benchmark_removal.out_of_reach(report, labels.shape))
                print_rows(f"{name} ×{factor:g}", rows)
                for way, values in rows.items():
                    found.setdefault(way, []).append(values)
    print_rows("mean of all", {way: np.mean(rows, axis=0) for way, rows in found.items()})
    worst = {way: np.max(np.abs(rows), axis=0) for way, rows in found.items()}
    print_rows("worst of all", worst)


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    os._exit(0)
