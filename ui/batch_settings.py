"""Save for Batch: the settings of the panel as a file for the batch's ``--settings``."""

import json

import bpy
from bpy.props import StringProperty
from bpy_extras.io_utils import ExportHelper

from ..operators import chosen_file, properties
from ..rig import sentences, whole_file
from ..solvers.errors import FootlockError
from ..solvers.wording import Said
from .settings import KEPT

# Settings that the batch has under another name.
_NAMES = {
    "bake": "speed_and_height", "vote": "clean_up", "smoothing": "label_smoothing", "level": "label_level",
    "smooth_time": "smoothing",
}  # fmt: skip
# Settings that the batch has by other options, below.
_APART = {
    "mode", "result", "keys", "key_tolerance", "ground", "velocity", "height", "auto_velocity", "auto_height",
    "auto_floor",
}  # fmt: skip
# What the runtime lock has no use for: the panel does not show it, and the batch takes none of it.
_WHOLE_CLIP = {"cyclic", "pin_first", "pin_last", "stretch"}


def of_panel(settings):
    """The settings of the panel by the names that the batch has for them."""
    whole = settings.method == "offline"
    found = {
        _NAMES.get(name, name): getattr(settings, name)
        for name in KEPT
        if name not in _APART and (whole or name not in _WHOLE_CLIP)
    }
    found["detect"] = settings.mode.lower()
    for name in ("velocity", "height"):
        found[f"{name}_threshold"] = "auto" if getattr(settings, f"auto_{name}") else getattr(settings, name)
    if not settings.auto_floor:
        found["detect_floor"] = settings.floor
    found["result"] = settings.result.lower().replace("_", "-")
    if whole:
        found["only_keys"] = settings.keys == "SOURCE"
        if settings.keys == "REDUCED":
            found["key_tolerance"] = settings.key_tolerance
        if settings.ground == "REST":
            found["floor_rest"] = True
        elif settings.ground == "HEIGHT":
            found["floor_height"] = settings.ground_height
        elif settings.ground == "OBJECT":
            found["floor_object"] = settings.ground_object
    return {name.replace("_", "-"): value for name, value in found.items()}


class FOOTLOCK_OT_save_settings(ExportHelper, bpy.types.Operator):
    bl_idname = "footlock.save_settings"
    bl_label = "Save for Batch"
    bl_description = "Write the settings of the panel as a file, with which the batch corrects other clips alike"
    bl_options = {"REGISTER"}

    filename_ext = ".json"
    filter_glob: StringProperty(default="*.json", options={"HIDDEN"})

    def invoke(self, context, event):
        self.filepath = self.filepath or f"footlock_settings{self.filename_ext}"
        return super().invoke(context, event)

    def execute(self, context):
        settings = context.scene.footlock
        try:
            properties.check(settings)
            path = chosen_file.path(self.filepath)
            text = json.dumps(of_panel(settings), indent=1, ensure_ascii=False) + "\n"
            whole_file.write(path, [text.encode()])
        except FootlockError as error:
            self.report({"ERROR"}, sentences.translated(error))
            return {"CANCELLED"}
        self.report({"INFO"}, sentences.translated(Said("Settings written to “{file}”.", file=path.name)))
        return {"FINISHED"}
