"""Contact bars: when each foot is planted, as thin bars along the lower edge of the Dope Sheet and the timeline."""

import blf
import bpy
import gpu
from mathutils import Matrix

from ..rig.sentences import on_screen
from . import overlay, overlay_arrays

# Pixels, before the scale of the interface: from the region's lower edge, over its scroll bar, to the lowest bar; of
# the ruler above; from one bar to the next, where there is room for it and where there is none; size of the names, and
# of rows that have one.
_MARGIN, _RULER, _ROW, _LEAST_ROW, _TEXT, _NAMED = 14.0, 24.0, 9.0, 3.0, 9.0, 8.0
# The margin where there is no room, within the scroll bar's.
_LEAST_MARGIN = 11.0

_handles: list = []


def register():
    add = bpy.types.SpaceDopeSheetEditor.draw_handler_add
    _handles.append(add(_draw, (), "WINDOW", "POST_PIXEL"))


def unregister():
    while _handles:
        bpy.types.SpaceDopeSheetEditor.draw_handler_remove(_handles.pop(), "WINDOW")


def _draw(context=None):
    context = context or bpy.context
    settings = context.scene.footlock_overlay
    found = overlay.subject(context) if settings.bars else None
    if found is None:
        return
    made = overlay.built(*found, settings)
    if "bars" not in made.batches:
        made.batches["bars"] = overlay.triangles_batch(*overlay_arrays.bars(made.trails, made.feet))
    if made.batches["bars"] is None:
        return
    scale = context.preferences.system.ui_scale
    view, width = context.region.view2d, context.region.width
    room = context.region.height / scale - _MARGIN - _RULER
    row = min(max(room / len(made.feet), _LEAST_ROW), _ROW)
    margin = (_MARGIN if row >= _NAMED else _LEAST_MARGIN) * scale
    first, last = (view.region_to_view(x, 0)[0] for x in (0, width))
    per_frame = width / (last - first)
    place = Matrix.Translation((-first * per_frame, margin, 0.0))
    gpu.state.blend_set("ALPHA")
    with gpu.matrix.push_pop():
        gpu.matrix.multiply_matrix(place @ Matrix.Diagonal((per_frame, row * scale, 1.0, 1.0)))
        shader = gpu.shader.from_builtin("SMOOTH_COLOR")
        shader.bind()
        made.batches["bars"].draw(shader)
    if row >= _NAMED:
        _draw_names(made.trails.legs, made.feet, margin, row * scale, scale)
    gpu.state.blend_set("NONE")


def _draw_names(legs, feet, margin, row, scale):
    """What each leg is called, at the left end of its row."""
    blf.size(0, _TEXT * scale)
    blf.enable(0, blf.SHADOW)
    blf.shadow(0, 5, 0.0, 0.0, 0.0, 0.9)
    blf.shadow_offset(0, 0, 0)
    for i, (leg, colour) in enumerate(zip(legs[::-1], feet[::-1], strict=True)):
        blf.color(0, *(0.5 + 0.5 * colour[:3]), 1.0)
        blf.position(0, 6.0 * scale, margin + i * row, 0.0)
        blf.draw(0, on_screen(leg.label))
    blf.disable(0, blf.SHADOW)
