"""Files as the batch takes them: what is opened in Blender, the animated characters in it, and how it is written."""

import os
from dataclasses import dataclass, replace

import bpy

from ..rig import bvh, bvh_armature, compat, mapping, names
from ..solvers.errors import FootlockError


@dataclass(frozen=True)
class Shot:
    """A clip of an open file: the action in use by an armature of a scene, and its legs."""

    scene: bpy.types.Scene
    armature: bpy.types.Object
    legs: names.LegMap


class BvhFile:
    """A .bvh file, which is one clip."""

    def __init__(self, source):
        self._name = source.name
        self._motion = bvh.read(source)
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        armature = bvh_armature.load(source, self._motion)
        legs = mapping.find(armature)
        legs = replace(legs, carrier=bvh_armature.carrier(self._motion, legs))
        self.shots = [Shot(bpy.context.scene, armature, legs)]

    def prepare(self, done):
        """What is to be written, once all clips are corrected (Removals)."""
        frames, expected = len(done[0].labels), len(self._motion.motion)
        if frames != expected:
            raise FootlockError(
                f"Blender read {frames} frames of “{self._name}” and it has {expected}: give it a constant frame time."
            )
        shot = self.shots[0]
        self._result = bvh_armature.store(shot.armature, self._motion, shot.legs)

    def write(self, target):
        """Write the file."""
        bvh.write(target, self._result)


class BlendFile:
    """A .blend file: a clip of each animated armature in it."""

    def __init__(self, source):
        self.shots = [Shot(*one) for one in _open_blend(source)]

    def prepare(self, done):
        """See BvhFile."""

    def write(self, target):
        """See BvhFile."""
        temporary = target.with_name(f".{target.stem}.{os.getpid()}.blend")
        try:
            bpy.ops.wm.save_as_mainfile(filepath=str(temporary), copy=True)
            os.replace(temporary, target)
        except (RuntimeError, OSError) as error:
            raise FootlockError(
                f"“{target}” cannot be written: choose a folder that can be written to, with room for it."
            ) from error
        finally:
            temporary.unlink(missing_ok=True)


_KINDS = {".bvh": BvhFile, ".blend": BlendFile}


def opened(source):
    """The file, open in Blender."""
    if not source.is_file():
        raise FootlockError(f"“{source}” does not exist: check its path.")
    return _KINDS[source.suffix.lower()](source)


def _open_blend(source):
    """Open a .blend file; the scene, armature and legs of each animated character in it."""
    try:
        bpy.ops.wm.open_mainfile(filepath=str(source), load_ui=False, use_scripts=False)
    except RuntimeError as error:
        raise FootlockError(
            f"“{source.name}” cannot be opened by Blender {bpy.app.version_string}:"
            " save it by this version or an older one."
        ) from error
    found, problem, seen = [], None, set()
    for scene in bpy.data.scenes:
        for armature in scene.objects:
            if armature.type != "ARMATURE" or armature.animation_data is None or armature.animation_data.action is None:
                continue
            # An action that several objects or scenes show is corrected once.
            key = armature.animation_data.action, compat.slot_name(armature)
            if key in seen:
                continue
            seen.add(key)
            try:
                found.append((scene, armature, mapping.of(armature)))
            except FootlockError as error:
                problem = error
    if not found:
        raise problem or FootlockError(
            f"“{source.name}” has no armature with an action: save one with the animation assigned."
        )
    return found


def make_folder(target):
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FootlockError(
            f"The folder “{target.parent}” cannot be made ({error.strerror}): choose another output."
        ) from error
