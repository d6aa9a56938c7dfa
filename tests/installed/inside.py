# SPDX-License-Identifier: GPL-3.0-or-later
"""What check.py has a Blender do in which Footlock is installed, one step a process:

    blender --background --python-exit-code 1 --python tests/installed/inside.py -- STEP ANSWER [ARGUMENTS]

ANSWER is a JSON file for what was found; nothing is judged here. Nothing of the checkout is imported but its neighbour:
what runs is what was installed.
"""

import json
import sys
from pathlib import Path

import addon_utils
import bpy
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

import registered

PACKAGE = "bl_ext.user_default.footlock"
TOES = "LeftToe", "RightToe"
# Settings that are no defaults: a choice, a switch and numbers.
SETTINGS = {"ground": "REST", "hold_heading": True, "keep_path": 0.25, "smoothing": 0.05}
# A name that the presets' menu and files have to bear.
PRESET = "Own Look"


def state():
    """Where Footlock is and what is there of it."""
    module = sys.modules.get(PACKAGE)
    return {
        "enabled": PACKAGE in bpy.context.preferences.addons,
        "file": module and module.__file__,
        "copies": [name for name in sys.modules if name == "footlock" or name.endswith(".footlock")],
        "version": _version(),
        "operators": dir(bpy.ops.footlock),
        "has_settings": hasattr(bpy.types.Scene, "footlock"),
        "blender": bpy.app.version_string,
        "python": sys.version.split()[0],
        "numpy": np.__version__,
    }


def presets():
    """What each preset of the menu sets, by its name: settings that are not at their default."""
    settings = bpy.context.scene.footlock
    found = {}
    for folder in bpy.utils.preset_paths("footlock/settings"):
        for path in sorted(Path(folder).glob("*.py")):
            settings.reset()
            bpy.ops.script.execute_preset(filepath=str(path), menu_idname="FOOTLOCK_PT_presets")
            found[path.stem] = {"folder": folder, "settings": _settings()}
    return found


def correct(clip, scale, output):
    """Detect Contacts and Remove Sliding on a clip whose root travels too far, by settings that are no defaults, with
    one contact that is split by hand. The file is saved."""
    armature = _slid(clip, float(scale))
    source = _motion(armature)
    before = _toes(armature)
    settings = bpy.context.scene.footlock
    for name, value in SETTINGS.items():
        if getattr(settings, name) == value:
            raise ValueError(f"{name} is {value} by default: the test wants another value")
        setattr(settings, name, value)
    bpy.ops.footlock.detect_contacts(**_given(bpy.ops.footlock.detect_contacts))
    bpy.context.scene.frame_set(60)
    bpy.ops.footlock.edit_contact(edit="SPLIT")
    bpy.ops.footlock.remove_sliding(**_given(bpy.ops.footlock.remove_sliding))
    bpy.ops.footlock.add_preset(name=PRESET)
    bpy.ops.wm.save_as_mainfile(filepath=output)
    return {"source": source, "before": before, "settings": _settings(), **_character()}


def look(path):
    """What a saved file holds."""
    bpy.ops.wm.open_mainfile(filepath=path)
    return {"settings": _settings(), "presets": sorted(_preset_names()), **_character()}


def revert(path):
    """The keys of a saved file once its correction is taken back."""
    bpy.ops.wm.open_mainfile(filepath=path)
    bpy.ops.footlock.revert()
    return {"source": _motion(bpy.context.object)}


def again(path):
    """Remove Sliding once more on a saved file: it begins with the source that the file keeps."""
    bpy.ops.wm.open_mainfile(filepath=path)
    bpy.ops.footlock.remove_sliding(**_given(bpy.ops.footlock.remove_sliding))
    return _character()


def without(path, output):
    """Open a file in a Blender that has no Footlock any more, look at it, and save it."""
    bpy.ops.wm.open_mainfile(filepath=path)
    found = {"corrected": _motion(bpy.context.object), "after": _toes(bpy.context.object)}
    bpy.ops.wm.save_as_mainfile(filepath=output)
    return found


def off_and_on(clip):
    """What is registered before Footlock is enabled, while it is, after work with it and when it is disabled, twice."""
    registered.watch()
    found = [registered.snapshot()]
    for _ in range(2):
        addon_utils.enable(PACKAGE, default_set=True)
        found.append(registered.snapshot())
        _slid(clip, 1.25)
        bpy.context.scene.footlock_overlay.show = True
        bpy.ops.footlock.detect_contacts()
        bpy.ops.footlock.live_lock()
        bpy.context.scene.frame_set(40)
        found.append(registered.snapshot())
        addon_utils.disable(PACKAGE, default_set=True)
        found.append(registered.snapshot())
    return {"snapshots": found}


def _version():
    path = Path(bpy.utils.user_resource("EXTENSIONS"), "user_default", "footlock", "blender_manifest.toml")
    if not path.exists():
        return None
    import tomllib

    return tomllib.loads(path.read_text(encoding="utf-8"))["version"]


def _settings():
    """The settings of the scene that are not at their default."""
    settings = bpy.context.scene.footlock
    names = [name for name in settings.bl_rna.properties.keys() if name not in ("rna_type", "name")]  # noqa: SIM118
    return {name: getattr(settings, name) for name in names if settings.is_property_set(name)}


def _given(operator):
    """The settings of the scene that an operator takes, as the panel's button passes them."""
    settings = bpy.context.scene.footlock
    return {name: getattr(settings, name) for name in SETTINGS if name in operator.get_rna_type().properties}


def _preset_names():
    return [path.stem for folder in bpy.utils.preset_paths("footlock/settings") for path in Path(folder).glob("*.py")]


def _slid(clip, scale):
    """The armature of a clip whose root travels too far, by ``scale``: the horizontal part of its keys."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    bpy.ops.import_anim.bvh(filepath=clip, update_scene_fps=True)
    armature = bpy.context.object
    bone = armature.pose.bones["Hips"]
    rest = np.array(bone.bone.matrix_local.to_3x3())
    axes = [_curves(armature)[bone.path_from_id("location"), axis] for axis in range(3)]
    points = np.empty((3, 2 * len(axes[0].keyframe_points)), np.float32)
    for axis, curve in enumerate(axes):
        curve.keyframe_points.foreach_get("co", points[axis])
    moved = rest @ points[:, 1::2]
    moved[:2] *= scale
    points[:, 1::2] = rest.T @ moved
    for axis, curve in enumerate(axes):
        curve.keyframe_points.foreach_set("co", points[axis])
        curve.update()
    return armature


def _curves(owner):
    """The F-curves that animate an object, by path and index, on every Blender."""
    data = owner.animation_data
    if hasattr(data, "action_slot"):
        bags = [strip.channelbag(data.action_slot) for layer in data.action.layers for strip in layer.strips]
        found = [curve for bag in bags if bag for curve in bag.fcurves]
    else:
        found = data.action.fcurves
    return {(curve.data_path, curve.array_index): curve for curve in found}


def _keys(owner, contacts):
    """Keys of an object as numbers: those of its contacts, or all others."""
    found = {}
    for (path, index), curve in sorted(_curves(owner).items()):
        if ('["contact"]' in path) == contacts:
            values = np.empty(2 * len(curve.keyframe_points), np.float32)
            curve.keyframe_points.foreach_get("co", values)
            found[f"{path} {index}"] = values.tolist()
    return found


def _motion(owner):
    return _keys(owner, contacts=False)


def _character():
    armature = bpy.context.object
    return {"contacts": _keys(armature, contacts=True), "corrected": _motion(armature), "after": _toes(armature)}


def _toes(armature):
    """Where the evaluated toes are in the world, and their contact, in each frame."""
    first, last = (int(frame) for frame in armature.animation_data.action.frame_range)
    places, planted = [], []
    for frame in range(first, last + 1):
        bpy.context.scene.frame_set(frame)
        evaluated = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
        bones = [evaluated.pose.bones[name] for name in TOES]
        places.append([tuple(evaluated.matrix_world @ bone.head) for bone in bones])
        planted.append([bone.get("contact", 0.0) for bone in bones])
    return {"places": places, "planted": planted}


STEPS = {step.__name__: step for step in (state, presets, correct, look, revert, again, without, off_and_on)}

if __name__ == "__main__":
    step, answer, *arguments = sys.argv[sys.argv.index("--") + 1 :]
    found = STEPS[step](*arguments)
    Path(answer).write_text(json.dumps(found), encoding="utf-8")
