"""FBX and glTF files in Blender, and the corrected actions back as keys of the same file.

Blender's importers turn and scale what they read, and its exporters write a file of their own: other bones, resampled
keys, one take where there were several. So a corrected clip goes back through the file it came from: the keys of the
nodes that changed are replaced, all else stays as it is.
"""

import logging
import tempfile
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

import bpy
import numpy as np

from ..solvers.errors import FootlockError
from . import clip as clips
from . import compat, fbx, file_nodes, frame_times, gltf, standing, whole_file
from .file_nodes import Local

# A channel that changes by less than this (parts of a quaternion, or of the skeleton's size) has the number that it
# had: it is what single precision makes of it.
_SAME = 1e-6
_NAME_BYTES = 63


@dataclass(frozen=True)
class Take:
    """An animation of a file, ``index`` there, as Blender has it: ``actions``, object → (action, slot)."""

    index: int
    name: str
    actions: dict


class Exchange:
    """A file that was imported into an empty scene: its ``takes``, and what is to be written of them."""

    def __init__(self, path, file, load):
        self._path, self._file = path, file
        with whole_file.damaged(path):
            self._rate = frame_times.judged(file.key_times(), file.rate())
            sets = {frozenset(file.animated(take)) for take in range(len(file.takes))}
        # Blender evaluates the first take as soon as it is there, so what another does not move is asked for before.
        static = self._imported(path, load, still=True) if len(sets) > 1 else {}
        self._static = self._imported(path, load, still=False) | static
        self._changes, self._nodes = [], {}
        self.takes = []

    def _imported(self, path, load, still):
        """Import the file into an empty scene, ``still`` without its animations; what stands in the channels of each
        object and its bones, by their names."""
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        self.scene = bpy.context.scene
        with _quiet():
            try:
                load(path, self._file, self.scene, self._rate, still)
            except RuntimeError as error:
                raise FootlockError("“{file}” cannot be read by Blender: export it again.", file=path.name) from error
        return {one.name: standing.read(one) for one in self.scene.objects}

    def use(self, take):
        """Let all objects move as in a take, and what it does not move stand as the file has it."""
        for one in self.scene.objects:
            if one.animation_data is not None:
                compat.assign(one, *take.actions.get(one, (None, 0)))
            standing.put(one, self._static[one.name])

    @staticmethod
    def frames(take, armature):
        """How many frames an armature's action has in a take."""
        curves = compat.all_fcurves(take.actions[armature][0])
        ranges = np.array([curve.range() for curve in curves if len(curve.keyframe_points)])
        return int(np.round(ranges[:, 1].max() - ranges[:, 0].min())) + 1 if len(ranges) else 0

    def read(self, armature, legs, unit, frames=None):
        """The Clip of the take in use."""
        return clips.read(self.scene, armature, legs, unit, frames=frames)

    def keep(self, take, armature, legs, before):
        """Remember what a correction of the take in use has changed. before: the Clip as it was."""
        after = self.read(armature, legs, before.unit, before.frames)
        times = after.frames / self._rate[0] * self._rate[1]
        spaces = self._fitted(take, armature, before)
        for i, bone in enumerate(after.bones):
            old, new = before.channels[i], after.channels[i]
            moved, turned = _differs(old.location, new.location), _differs(old.rotation, new.rotation)
            if not (moved.any() or turned.any()):
                continue
            node = self._nodes[armature][bone.name]
            source, local = self._local(take, node, times), spaces.local(after, i)
            frames = (len(times), 1)
            moved, turned = (np.broadcast_to(one[:, None], frames) for one in (moved, turned))
            kept = Local(
                np.where(moved, local.location, source.location),
                np.where(turned[..., None], local.rotation, source.rotation),
            )
            self._changes.append((take.index, node, times, kept, moved.any(), turned.any()))

    def resources(self):
        """The files that the file refers to, as paths from its folder."""
        return self._file.resources()

    def write(self, target):
        """Write the file with what was kept. Raises FootlockError where that cannot be."""
        with whole_file.damaged(self._path):
            done = self._file.replaced(self._changes)
        done.write(target)

    def _local(self, take, node, times):
        with whole_file.damaged(self._path):
            return self._file.local(take.index, node, times)

    def _fitted(self, take, armature, before):
        """The Spaces of the armature's bones, whose nodes are found on the way. No two armatures have the same."""
        times = before.frames / self._rate[0] * self._rate[1]

        def fit(way):
            return file_nodes.spaces(before, lambda name: self._local(take, way[name], times))

        known = self._nodes.get(armature)
        taken = {node for one in self._nodes.values() for node in one.values()}
        found = [known] if known else file_nodes.ways(before.bones, self._file.names, self._file.parents)
        fits = [(fit(way), way) for way in found if known or not taken & set(way.values())]
        best = min(fits, key=lambda one: one[0].error, default=None)
        if best is None:
            raise FootlockError(
                "The bones of “{armature}” were not found in “{file}”, so it cannot be written back: give an"
                " output that ends in .blend.",
                armature=armature.name,
                file=self._file.name,
            )
        file_nodes.check(best[0], self._file.name)
        self._nodes[armature] = best[1]
        return best[0]


def open_gltf(path):
    """The Exchange of a .glb or .gltf file. Raises FootlockError for one that cannot be read."""
    found = Exchange(path, gltf.read(path), _import_gltf)
    actions = {name: {} for name in found._file.takes}
    for one in found.scene.objects:
        for track in one.animation_data.nla_tracks if one.animation_data else ():
            if track.strips and track.name in actions:
                actions[track.name][one] = track.strips[0].action, compat.strip_slot(track.strips[0])
    found.takes = [Take(i, name, actions[name]) for i, name in enumerate(found._file.takes)]
    return found


def open_fbx(path):
    """The Exchange of an FBX file. Raises FootlockError for one that cannot be read, or whose takes have layers."""
    file = fbx.read(path)
    with whole_file.damaged(path):
        layers = [file.layers(i) for i in range(len(file.takes))]
    for name, own in zip(file.takes, layers, strict=True):
        if len(own) > 1:
            raise FootlockError(
                "The take “{name}” of “{file}” has several animation layers: merge them, and export it again.",
                name=name,
                file=path.name,
            )
    found = Exchange(path, file, _import_fbx)
    called = {one: [] for one in found.scene.objects}
    for i, name in enumerate(file.takes):
        actions = {}
        for one, names in called.items():
            names.append(_action_name(one.name, name, *layers[i]))
            action = bpy.data.actions.get(_numbered(names[-1], names.count(names[-1]) - 1))
            if action is not None:
                actions[one] = action, None
        found.takes.append(Take(i, name, actions))
    return found


def _action_name(owner, take, layer=None):
    """What Blender's importer calls the action of a take."""
    return _numbered(f"{owner}|{take}" if layer in (take, None) else f"{owner}|{take}|{layer}", 0)


def _numbered(name, number):
    """A name as Blender cuts it, and makes it unique where there are so many before it."""
    end = f".{number:03d}" if number else ""
    return name.encode()[: _NAME_BYTES - len(end)].decode(errors="ignore") + end


def _import_gltf(path, file, scene, rate, still):
    # The importer takes the product for the rate where Blender has the quotient.
    scene.render.fps, scene.render.fps_base = rate[0], 1.0 / rate[1]
    with tempfile.TemporaryDirectory() as folder:
        if still:
            path = Path(folder) / path.name
            file.still().write(path)
        bpy.ops.import_scene.gltf(filepath=str(path), disable_bone_shape=True)
    scene.render.fps_base = rate[1]


def _import_fbx(path, file, scene, rate, still):
    bpy.ops.import_scene.fbx(filepath=str(path), anim_offset=0.0, use_anim=not still)
    # The importer takes the whole number for the rate.
    factor = rate[0] / rate[1] / scene.render.fps
    scene.render.fps, scene.render.fps_base = rate
    if abs(factor - 1.0) < 1e-9:
        return
    for action in bpy.data.actions:
        for curve in compat.all_fcurves(action):
            points = curve.keyframe_points
            co = np.empty(2 * len(points), np.float32)
            points.foreach_get("co", co)
            co[0::2] *= factor
            points.foreach_set("co", co)
            curve.update()


def _differs(old, new):
    """Frames (n,) in which a channel is another one."""
    size = max(float(np.abs(old).max(initial=0.0)), 1e-12)
    return np.abs(new - np.broadcast_to(old, np.broadcast_shapes(old.shape, new.shape))).max(axis=1) > _SAME * size


@contextmanager
def _quiet():
    """Importers talk to themselves."""
    level = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
            yield
    finally:
        logging.disable(level)
