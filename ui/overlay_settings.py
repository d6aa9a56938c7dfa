"""What the overlay shows, and which footprint is selected.

These are kept with the scene, as the other settings are, so that a file opens as it was left; the window manager is not
saved, and the preferences would make one choice for a walk cycle and a crowd.
"""

import bpy
from bpy.props import BoolProperty, FloatProperty, FloatVectorProperty, IntProperty, PointerProperty

from ..rig import trail_cache
from .overlay_arrays import Colours


def _changed(_settings, _context):
    # Blender itself draws the area anew in which somebody clicked.
    trail_cache.redraw()


def _colour(name, description, default):
    return FloatVectorProperty(
        name=name, description=description, default=default, size=4, min=0.0, max=1.0, subtype="COLOR_GAMMA",
        options=set(), update=_changed,
    )  # fmt: skip


class FootlockOverlay(bpy.types.PropertyGroup):
    """What is drawn in the viewport and along the Dope Sheet, and how."""

    show: BoolProperty(
        name="Overlay",
        description="Draw paths and footprints of the active armature in the viewport, where its overlays are on",
        default=True, options=set(), update=_changed,
    )  # fmt: skip
    paths: BoolProperty(
        name="Paths", description="The path of each toe, coloured by what the foot does",
        default=True, options=set(), update=_changed,
    )  # fmt: skip
    footprints: BoolProperty(
        name="Footprints", description="A print of the foot at each contact",
        default=True, options=set(), update=_changed,
    )  # fmt: skip
    slides: BoolProperty(
        name="Slides",
        description="An arrow where a planted foot slid by a millimetre or more, with its length",
        default=True, options=set(), update=_changed,
    )  # fmt: skip
    source: BoolProperty(
        name="Source Path", description="The paths as they were before the correction",
        default=True, options=set(), update=_changed,
    )  # fmt: skip
    ghost: BoolProperty(
        name="Ghost", description="The legs as they were before the correction, in the current frame",
        default=False, options=set(), update=_changed,
    )  # fmt: skip
    bars: BoolProperty(
        name="Contact Bars",
        description="When each foot is planted, as bars along the lower edge of the Dope Sheet and the timeline",
        default=True, options=set(), update=_changed,
    )  # fmt: skip
    reach: IntProperty(
        name="Frames Around",
        description="So many frames on either side of the current one are drawn stronger than the others; 0 for all"
        " alike",
        default=0, min=0, soft_max=250, options=set(), update=_changed,
    )  # fmt: skip
    line_width: FloatProperty(
        name="Line Width", description="Width of the paths", default=2.0, min=1.0, max=10.0, subtype="PIXEL",
        options=set(), update=_changed,
    )  # fmt: skip
    planted: _colour("Planted", "A foot that stands", (0.15, 0.72, 0.32, 1.0))
    free: _colour("Free", "A foot in the air", (0.42, 0.55, 0.75, 0.85))
    sliding: _colour("Sliding", "A planted foot that moves by more than 3 cm per second", (0.95, 0.26, 0.12, 1.0))
    out_of_reach: _colour(
        "Out of Reach", "A planted foot for whose place the leg is too short", (0.80, 0.20, 0.85, 1.0)
    )
    source_colour: _colour("Source", "As it was before the correction", (0.70, 0.70, 0.70, 0.60))
    left: _colour("Left", "Footprints and bars of left feet", (0.05, 0.70, 0.85, 0.9))
    right: _colour("Right", "Footprints and bars of right feet", (0.93, 0.74, 0.08, 0.9))

    def colours(self):
        """All Colours."""
        names = ("free", "planted", "sliding", "out_of_reach", "source_colour", "left", "right")
        return Colours(*(tuple(getattr(self, name)) for name in names))


class FootlockSelection(bpy.types.PropertyGroup):
    """The footprint that is selected: that of a leg, by its index, which has a frame of the scene."""

    leg: IntProperty(name="Leg", description="Index of the leg; -1 for none", default=-1, min=-1, options=set())
    frame: FloatProperty(name="Frame", description="A frame of the footprint's contact", default=0.0, options=set())


classes = (FootlockOverlay, FootlockSelection)


def register():
    bpy.types.Scene.footlock_overlay = PointerProperty(
        type=FootlockOverlay, name="Footlock Overlay", description="What Footlock draws over the viewport"
    )
    bpy.types.Object.footlock_selected = PointerProperty(
        type=FootlockSelection, name="Selected Footprint", description="The footprint that is selected"
    )


def unregister():
    del bpy.types.Object.footlock_selected
    del bpy.types.Scene.footlock_overlay
