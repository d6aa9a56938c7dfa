"""The settings as they stand in the panel, kept with the scene, and the slider of a correction layer."""

import bpy
from bpy.props import FloatProperty, PointerProperty

from ..operators.properties import DetectionProperties, RemovalProperties
from ..rig import results


class FootlockSettings(DetectionProperties, RemovalProperties, bpy.types.PropertyGroup):
    """What the panel's buttons pass to the operators."""


def register():
    bpy.types.Scene.footlock = PointerProperty(
        type=FootlockSettings, name="Footlock", description="Settings of the Footlock panel"
    )
    bpy.types.Object.footlock_influence = FloatProperty(
        name="Influence",
        description="How much of the correction layer shows; it can be keyed in the NLA Editor",
        min=0.0, max=1.0, subtype="FACTOR", options=set(), override={"LIBRARY_OVERRIDABLE"},
        get=results.influence, set=results.set_influence,
    )  # fmt: skip
    bpy.types.Object.footlock_compared = PointerProperty(
        type=bpy.types.Action, name="Compared", description="The corrected action while its source is shown",
        override={"LIBRARY_OVERRIDABLE"},
    )  # fmt: skip


def unregister():
    del bpy.types.Object.footlock_compared
    del bpy.types.Object.footlock_influence
    del bpy.types.Scene.footlock
