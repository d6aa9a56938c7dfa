"""Files as the batch takes them: what is opened in Blender, the clips in it, and how it is written."""

import os
from dataclasses import dataclass, field, replace

import bpy

from ..rig import bvh, bvh_armature, compat, exchange, mapping, names, nla_bake
from ..solvers.errors import FootlockError
from ..solvers.wording import counted

BLEND = ".blend"
# A take of fewer frames is a pose, which is left alone.
_LEAST_FRAMES = 3


@dataclass(frozen=True)
class Shot:
    """A clip of an open file: what an armature of a scene does in the take of that ``name``, and its legs. ``key`` is
    the file's own."""

    scene: bpy.types.Scene
    armature: bpy.types.Object
    legs: names.LegMap
    name: str
    key: object = field(default=None, repr=False)


class BvhFile:
    """A .bvh file, which is one clip."""

    # Clips that cannot be corrected may stay as they are while others are.
    separate = False

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


class BlendFile:
    """A .blend file: a clip of each animated armature in it."""

    separate = False

    def __init__(self, source, options):
        self.shots = [
            Shot(scene, armature, legs, armature.animation_data.action.name)
            for scene, armature, legs in _open_blend(source, options)
        ]

    def begin(self, shot, unit):
        """See BvhFile."""

    def finish(self, shot, done):
        """See BvhFile."""

    def write(self, target):
        """See BvhFile."""
        save_blend(target)


class ExchangeFile:
    """An .fbx, .glb or .gltf file: a clip of each armature in each take in which it moves."""

    separate = True

    def __init__(self, source, load):
        self._opened = load(source)
        self.shots, problem = [], None
        armatures = [one for one in self._opened.scene.objects if one.type == "ARMATURE"]
        for take in self._opened.takes:
            for armature in armatures:
                if armature not in take.actions or self._opened.frames(take, armature) < _LEAST_FRAMES:
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
                least_frames=_LEAST_FRAMES,
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
    BLEND: BlendFile,
    ".fbx": lambda source, options: ExchangeFile(source, exchange.open_fbx),
    ".glb": lambda source, options: ExchangeFile(source, exchange.open_gltf),
    ".gltf": lambda source, options: ExchangeFile(source, exchange.open_gltf),
}


def opened(source, options):
    """The file, open in Blender."""
    if not source.is_file():
        raise FootlockError("“{source}” does not exist: check its path.", source=source)
    return _KINDS[source.suffix.lower()](source, options)


def save_blend(target):
    """Save what is open as a .blend file in one step."""
    temporary = target.with_name(f".{target.stem}.{os.getpid()}.blend")
    try:
        bpy.ops.wm.save_as_mainfile(filepath=str(temporary), copy=True)
        os.replace(temporary, target)
    except (RuntimeError, OSError) as error:
        raise FootlockError(
            "“{target}” cannot be written: choose a folder that can be written to, with room for it.", target=target
        ) from error
    finally:
        temporary.unlink(missing_ok=True)


def _open_blend(source, options):
    """Open a .blend file; the scene, armature and legs of each animated character in it. What NLA strips play becomes
    an action, where that is asked for."""
    try:
        bpy.ops.wm.open_mainfile(filepath=str(source), load_ui=False, use_scripts=False)
    except RuntimeError as error:
        raise FootlockError(
            "“{file}” cannot be opened by Blender {version}: save it by this version or an older one.",
            file=source.name,
            version=bpy.app.version_string,
        ) from error
    found, problem, seen = [], None, set()
    for scene in bpy.data.scenes:
        for armature in scene.objects:
            if armature.type != "ARMATURE" or armature.animation_data is None:
                continue
            if armature.animation_data.action is None and nla_bake.can(armature):
                if not options.bake_nla:
                    problem = FootlockError(
                        "“{armature}” has no action, for NLA strips move it: run with --bake-nla.",
                        armature=armature.name,
                    )
                    continue
                nla_bake.bake(scene, armature)
            if armature.animation_data.action is None:
                continue
            # An action that several objects or scenes show is corrected once, and each of its copies.
            key = armature.animation_data.action, compat.slot_name(armature)
            if options.result != "in-place":
                key = (*key, armature)
            if key in seen:
                continue
            seen.add(key)
            try:
                found.append((scene, armature, mapping.of(armature)))
            except FootlockError as error:
                problem = error
    if not found:
        raise problem or FootlockError(
            "“{file}” has no armature with an action: save one with the animation assigned.", file=source.name
        )
    return found


def make_folder(target):
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FootlockError(
            "The folder “{folder}” cannot be made ({reason}): choose another output.",
            folder=target.parent,
            reason=error.strerror,
        ) from error
