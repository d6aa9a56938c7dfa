"""The settings as they stand in the panel, kept with the scene."""

import bpy
from bpy.props import PointerProperty

from ..operators.properties import DetectionProperties, RemovalProperties


class FootlockSettings(DetectionProperties, RemovalProperties, bpy.types.PropertyGroup):
    """What the panel's buttons pass to the operators."""


def register():
    bpy.types.Scene.footlock = PointerProperty(
        type=FootlockSettings, name="Footlock", description="Settings of the Footlock panel"
    )


def unregister():
    del bpy.types.Scene.footlock
