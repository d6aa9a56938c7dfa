"""The settings as they stand in the panel, kept with the scene, and the slider of a correction layer."""

import bpy
from bpy.props import FloatProperty, PointerProperty, StringProperty

from ..operators.properties import DetectionProperties, RemovalProperties, names
from ..rig import results

# What belongs to a scene or a clip and to no look.
_NOT_KEPT = {
    "unit", "floor", "use_range", "range_start", "range_end", "ground_height", "ground_object", "solve_range",
    "solve_start", "solve_end", "replace_edited",
}  # fmt: skip
KEPT = tuple(
    name for group in (DetectionProperties, RemovalProperties) for name in names(group) if name not in _NOT_KEPT
)


class FootlockSettings(DetectionProperties, RemovalProperties, bpy.types.PropertyGroup):
    """What the panel's buttons pass to the operators."""

    def reset(self):
        """Put all that a preset keeps back to its default."""
        for name in KEPT:
            self.property_unset(name)


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
    bpy.types.Action.footlock_said = StringProperty(
        name="Footlock", description="What the last run of Footlock on this action said"
    )
    bpy.types.Object.footlock_compared = PointerProperty(
        type=bpy.types.Action, name="Compared", description="The corrected action while its source is shown",
        override={"LIBRARY_OVERRIDABLE"},
    )  # fmt: skip


def unregister():
    del bpy.types.Object.footlock_compared
    del bpy.types.Action.footlock_said
    del bpy.types.Object.footlock_influence
    del bpy.types.Scene.footlock
