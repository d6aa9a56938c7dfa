"""Short clips for the batch, cut from real ones, and the batch as a program of its own."""

import subprocess
import sys
from pathlib import Path

import bpy
import clips

from footlock.rig import bvh

ROOT = Path(__file__).parents[2]
FRAMES = 100


def cut(folder, count, sources=(clips.WALK, clips.DATA / "cmu_131_03.bvh"), frames=FRAMES):
    """So many .bvh files of some frames each, from all over the sources: their paths."""
    motions = [bvh.read(source) for source in sources]
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for i in range(count):
        motion = motions[i % len(motions)]
        starts = len(motion.motion) - frames
        first = (i // len(motions)) * starts // max(1, -(-count // len(motions)))
        paths.append(folder / f"clip {i:03d}.bvh")
        bvh.write(paths[-1], motion.with_motion(motion.motion[first : first + frames]))
    return paths


def command(*arguments):
    """The batch with these arguments, as a command line."""
    if bpy.app.binary_path:
        start = [bpy.app.binary_path, "--background", "--factory-startup", "--python", str(ROOT / "batch.py"), "--"]
    else:
        start = [sys.executable, str(ROOT / "batch.py")]
    return [*start, *map(str, arguments)]


def start(*arguments, **more):
    """The same, started; what it prints is text."""
    return subprocess.Popen(
        command(*arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace", **more
    )


def unfinished(folder):
    """Files that are left of writing others."""
    return [path.name for path in folder.rglob("*") if path.is_file() and path.name.startswith(".footlock-")]
