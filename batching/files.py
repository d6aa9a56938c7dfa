"""Files as the batch takes them: what is opened in Blender, the clips in it, and how it is written."""

import os
from dataclasses import replace
from pathlib import Path

import bpy

from ..rig import bvh, bvh_armature, exchange, mapping, whole_file
from ..solvers.errors import FootlockError
from ..solvers.wording import counted
from . import blend_file, choosing
from .choosing import LEAST_FRAMES, Shot

BLEND = ".blend"


class BvhFile:
    """A .bvh file, which is one clip."""

    # Clips that cannot be corrected may stay as they are while others are.
    separate = False
    # What failed may leave something behind, so that the others have to be done again.
    spoiled = False
    # What is said of clips that are left alone; other files than the source that are read, as paths.
    left, read = (), ()

    def __init__(self, source, options):
        self._name = source.name
        self._motion = bvh.read(source)
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        armature = bvh_armature.load(source, self._motion)
        legs = mapping.find(armature)
        legs = replace(legs, carrier=bvh_armature.carrier(self._motion, legs))
        self.shots = [Shot(bpy.context.scene, armature, legs, source.stem)]

    def begin(self, shot, unit):
        """Make a shot the clip in use. unit: metres of one unit, 0 to judge it."""

    def finish(self, shot, done):
        """Keep what was done to the shot in use (a Removal) for the file that is written."""
        frames, expected = len(done.labels), len(self._motion.motion)
        if frames != expected:
            raise FootlockError(
                counted(
                    frames,
                    "Blender read {count} frame of “{file}” and it has {expected}: give it a constant frame time.",
                    "Blender read {count} frames of “{file}” and it has {expected}: give it a constant frame time.",
                    file=self._name,
                    expected=expected,
                )
            )
        self._result = bvh_armature.store(shot.armature, self._motion, shot.legs)

    def write(self, target):
        """Write the file, of its own kind."""
        bvh.write(target, self._result)


class ExchangeFile:
    """An .fbx, .glb or .gltf file: a clip of each armature in each take in which it moves."""

    separate = True
    spoiled = False
    left = ()

    def __init__(self, source, options, load):
        self._opened = load(source)
        self.read = [source.parent / place for place in self._opened.resources()]
        self.shots, problem = [], None
        armatures = choosing.armatures(
            [one for one in self._opened.scene.objects if one.type == "ARMATURE"], options.armature, source
        )
        for take in choosing.actions(self._opened.takes, options.action, source):
            for armature in armatures:
                if armature not in take.actions or self._opened.frames(take, armature) < LEAST_FRAMES:
                    continue
                try:
                    legs = mapping.find(armature)
                except FootlockError as error:
                    problem = error
                    continue
                self.shots.append(Shot(self._opened.scene, armature, legs, take.name, take))
        if not self.shots:
            raise problem or FootlockError(
                "“{file}” has no armature with an animation of {least_frames} frames or more:"
                " export it with its animation.",
                file=source.name,
                least_frames=LEAST_FRAMES,
            )

    def begin(self, shot, unit):
        """See BvhFile."""
        self._opened.use(shot.key)
        self._before = self._opened.read(shot.armature, shot.legs, unit)

    def finish(self, shot, done):
        """See BvhFile."""
        self._opened.keep(shot.key, shot.armature, shot.legs, self._before)

    def write(self, target):
        """See BvhFile."""
        self._opened.write(target)


_KINDS = {
    ".bvh": BvhFile,
    BLEND: blend_file.BlendFile,
    ".fbx": lambda source, options: ExchangeFile(source, options, exchange.open_fbx),
    ".glb": lambda source, options: ExchangeFile(source, options, exchange.open_gltf),
    ".gltf": lambda source, options: ExchangeFile(source, options, exchange.open_gltf),
}


def opened(source, options):
    """The file, open in Blender."""
    if source.exists() and not source.is_file():
        raise FootlockError("“{source}” is no file: name one.", source=source)
    if not source.exists():
        raise FootlockError("“{source}” does not exist: check its path.", source=source)
    return _KINDS[source.suffix.lower()](source, options)


def save_blend(target):
    """Save what is open as a .blend file in one step."""
    target = Path(os.path.realpath(target))
    unfinished = whole_file.temporary(target, BLEND)
    try:
        bpy.ops.wm.save_as_mainfile(filepath=str(unfinished), copy=True)
        os.replace(unfinished, target)
    except (RuntimeError, OSError) as error:
        raise FootlockError(
            "“{target}” cannot be written: choose a folder that can be written to, with room for it.", target=target
        ) from error
    finally:
        whole_file.sweep([target])


def make_folder(target):
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FootlockError(
            "The folder “{folder}” cannot be made ({reason}): choose another output.",
            folder=target.parent,
            reason=error.strerror,
        ) from error
