"""Presets of all settings, in Blender's own preset menu: those that come with Footlock, and the user's."""

from pathlib import Path

import bpy
from bl_operators.presets import AddPresetBase
from bl_ui.utils import PresetPanel

from ..rig import sentences
from ..solvers.errors import FootlockError
from .settings import KEPT

_FOLDER = "footlock/settings"
_LABEL = "Footlock Presets"
# Those that come with Footlock.
_SHIPPED = Path(__file__).parent


class FOOTLOCK_PT_presets(PresetPanel, bpy.types.Panel):
    bl_label = _LABEL
    bl_space_type = "VIEW_3D"
    preset_subdir = _FOLDER
    preset_operator = "script.execute_preset"
    preset_add_operator = "footlock.add_preset"

    def draw(self, context):
        super().draw(context)
        self.layout.operator("footlock.save_settings", icon="EXPORT")


class FOOTLOCK_OT_add_preset(AddPresetBase, bpy.types.Operator):
    """Keep the settings of the panel as a preset, or remove one"""

    bl_idname = "footlock.add_preset"
    bl_label = "Add Preset"
    preset_menu = "FOOTLOCK_PT_presets"
    # Whole paths, since Blender 4.3 cannot define names for these under Python 3.13, as Debian has it.
    preset_defines = ()
    preset_values = tuple(f"bpy.context.scene.footlock.{name}" for name in KEPT)
    preset_subdir = _FOLDER

    def execute(self, context):
        try:
            if self.remove_name or self.remove_active:
                _remove(FOOTLOCK_PT_presets.bl_label if self.remove_active else self.name)
                return {"FINISHED"}
            filename = self.as_filename(self.name)
            if not filename:
                raise FootlockError("The preset has no name: give it one with letters or digits.")
            # Blender 4.3 writes over what there is, and hides one that comes with Footlock behind it.
            if filename.casefold() in {path.stem.casefold() for path in _files()}:
                raise FootlockError("There is a preset “{preset}” already: give it another name.", preset=self.name)
        except FootlockError as error:
            self.report({"ERROR"}, sentences.translated(error))
            return {"CANCELLED"}
        return super().execute(context)


classes = (FOOTLOCK_OT_add_preset, FOOTLOCK_PT_presets)


def register():
    bpy.utils.register_preset_path(str(_SHIPPED))


def unregister():
    bpy.utils.unregister_preset_path(str(_SHIPPED))


def _remove(name):
    """Delete the user's preset of a name. Blender itself takes any file that has the name, and spares only what lies in
    folders that it knows as its own or an extension's."""
    found = [path for path in _files() if name in _names(path)]
    own = [path for path in found if _SHIPPED.resolve() not in path.resolve().parents]
    if not own:
        if found:
            raise FootlockError("“{preset}” comes with Footlock and stays: remove only your own presets.", preset=name)
        raise FootlockError("There is no preset “{preset}” to remove: choose one of the list.", preset=name)
    # A file's own name goes first, as where Blender loads one.
    path = min(own, key=lambda one: one.stem != name)
    try:
        path.unlink()
    except OSError as error:
        raise FootlockError(
            "The preset “{path}” cannot be deleted ({reason}): make its folder writable.",
            path=path,
            reason=error.strerror,
        ) from error
    FOOTLOCK_PT_presets.bl_label = _LABEL


def _files():
    """The files of all presets that Blender lists."""
    return [path for folder in bpy.utils.preset_paths(_FOLDER) for path in Path(folder).glob("*.py")]


def _names(path):
    """What a preset's file is called: by itself, and in Blender's list and panel."""
    return path.stem, *(bpy.path.display_name(path.name, title_case=title) for title in (False, True))
