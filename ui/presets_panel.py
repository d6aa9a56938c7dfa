"""Presets of all settings, in Blender's own preset menu: those that come with Footlock, and the user's."""

from pathlib import Path

import bpy
from bl_operators.presets import AddPresetBase
from bl_ui.utils import PresetPanel

from .settings import KEPT

_FOLDER = "footlock/settings"


class FOOTLOCK_PT_presets(PresetPanel, bpy.types.Panel):
    bl_label = "Footlock Presets"
    bl_space_type = "VIEW_3D"
    preset_subdir = _FOLDER
    preset_operator = "script.execute_preset"
    preset_add_operator = "footlock.add_preset"


class FOOTLOCK_OT_add_preset(AddPresetBase, bpy.types.Operator):
    """Keep the settings of the panel as a preset, or remove one"""

    bl_idname = "footlock.add_preset"
    bl_label = "Add Preset"
    preset_menu = "FOOTLOCK_PT_presets"
    # Whole paths, since Blender 4.3 cannot define names for these under Python 3.13, as Debian has it.
    preset_defines = ()
    preset_values = tuple(f"bpy.context.scene.footlock.{name}" for name in KEPT)
    preset_subdir = _FOLDER


classes = (FOOTLOCK_OT_add_preset, FOOTLOCK_PT_presets)


def register():
    bpy.utils.register_preset_path(str(Path(__file__).parent))


def unregister():
    bpy.utils.unregister_preset_path(str(Path(__file__).parent))
