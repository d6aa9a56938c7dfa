"""What the tests in Blender share: clips, and what an action holds."""

import tempfile
import unittest
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import bpy
import numpy as np

from footlock.rig import bvh, compat
from footlock.rig import curves as rig_curves

DATA = Path(__file__).parent / "data"
WALK = DATA / "cmu_131_01.bvh"


def new_file():
    """An empty file; the add-on stays."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)


# Blend files by what they were made of: opening one takes a fiftieth of the time of an import.
_made = {}


def opened(key, make):
    """Open the file that ``make`` leaves; it is made once for a key, and never given as somebody left it. Returns the
    active object."""
    with tempfile.TemporaryDirectory() as folder, redirect_stdout(StringIO()):
        path = Path(folder) / "made.blend"
        if key in _made:
            path.write_bytes(_made[key])
        else:
            make()
            bpy.ops.wm.save_as_mainfile(filepath=str(path), copy=True, compress=False)
            _made[key] = path.read_bytes()
        bpy.ops.wm.open_mainfile(filepath=str(path))
    return bpy.context.object


def import_clip(path=WALK):
    """The armature of a clip in an empty file, at the clip's own frame rate."""

    def make():
        new_file()
        bpy.ops.import_anim.bvh(filepath=str(path), update_scene_fps=True)

    return opened((Path(path).name, Path(path).read_bytes()), make)


def part(folder, source=WALK, frames=300, first=0):
    """Some frames of a clip, as a file of the same name in a folder: 300 of the walk have two steps of each foot."""
    motion, path = bvh.read(source), Path(folder) / Path(source).name
    bvh.write(path, motion.with_motion(motion.motion[first : first + frames]))
    return path


def repeated(frames, folder):
    """A BVH file of the walk, repeated to so many frames: each repetition starts where the one before ended."""
    walk = bvh.read(WALK)
    columns, _ = walk.position_columns(0)
    count = -(-frames // len(walk.motion))
    rows = np.tile(walk.motion, (count, 1))
    rows[:, columns[:1] + columns[2:]] += np.repeat(
        np.arange(count)[:, None] * (walk.motion[-1] - walk.motion[0])[list(columns[:1] + columns[2:])],
        len(walk.motion),
        axis=0,
    )
    path = Path(folder) / "long.bvh"
    bvh.write(path, walk.with_motion(rows[:frames]))
    return path


def lengthen(armature, frames):
    """The same in the action of an imported clip: the import of 30,000 frames would take 20 seconds."""
    channels = curves(armature)
    once = {key: rig_curves.keys(curve)[1] for key, curve in channels.items()}
    rounds = np.arange(-(-frames // max(map(len, once.values()))))[:, None]
    for (path, index), curve in channels.items():
        step = 0.0
        if path.endswith(".location"):  # along the bone's axes, and only over the floor
            way = [once[path, axis][-1] - once[path, axis][0] for axis in range(3)]
            rest = np.array(armature.data.bones[rig_curves.bone_and_property(path)[0]].matrix_local)[:3, :3]
            step = (rest.T @ (rest @ way * (1.0, 1.0, 0.0)))[index]
        values = (once[path, index] + step * rounds).ravel()[:frames]
        rig_curves.write(curve, np.arange(1.0, frames + 1.0), values)


def curves(owner):
    """The F-curves in use, by path and index."""
    return {(curve.data_path, curve.array_index): curve for curve in compat.channels(owner).fcurves}


def dump(owner):
    """Everything that the curves in use hold, to be compared to the byte."""
    result = {}
    for key, curve in curves(owner).items():
        points = curve.keyframe_points
        arrays = []
        for name, width, kind in (
            ("co", 2, np.float32),
            ("handle_left", 2, np.float32),
            ("handle_right", 2, np.float32),
            ("interpolation", 1, np.int32),
        ):
            values = np.empty(width * len(points), kind)
            points.foreach_get(name, values)
            arrays.append(values.tobytes())
        result[key] = tuple(arrays)
    return result


def joints(armature, step=1):
    """World positions (frames, bones, 3) of all heads and tails over the action, as Blender evaluates them."""
    scene = bpy.context.scene
    first, last = armature.animation_data.action.frame_range
    rows = []
    for frame in range(int(first), int(last) + 1, step):
        scene.frame_set(frame)
        world = armature.matrix_world
        rows.append([tuple(world @ point) for bone in armature.pose.bones for point in (bone.head, bone.tail)])
    return np.array(rows)


class InFolder(unittest.TestCase):
    """A test with a folder of its own, ``self.folder``."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
