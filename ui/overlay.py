"""The overlay in the viewport.

Vertices are put together once and kept until the trails or the settings change. A redraw hands them to the graphics
card, and makes anew only what moves with the current frame.
"""

from dataclasses import dataclass, field

import blf
import bpy
import gpu
import numpy as np
from bpy.app.translations import pgettext_iface as iface_
from gpu_extras.batch import batch_for_shader
from mathutils import Matrix

from ..rig import trail_cache
from ..solvers import foot_states, footprints
from . import overlay_arrays

# What is stale, and what is away from the current frame, is drawn with this share of its alpha.
_STALE, _AWAY = 0.35, 0.3
# Share of the alpha of footprints that fills them, of others and of the selected one.
_FILLED, _SELECTED = 0.28, 0.65
# Pixels, before the scale of the interface: widths of lines against that of paths, radius of a dot, size of texts.
_THIN, _THICK, _DOT, _TEXT = 0.5, 1.25, 4.0, 11.0
# So many lengths of slides are written, and none this near (pixels) to another.
_LABELS, _APART = 12, 28.0
# Armatures whose vertices are kept.
_KEPT = 8


@dataclass(frozen=True)
class Built:
    """What is drawn of the Trails of an armature. ``made_of``: what must be the same for it to be drawn again.
    ``states`` (n - 1, legs) of the steps. ``paths``, ``source``, ``soles``, ``outlines``, ``marks``: (vertices,
    colours); ``labelled``: indices of the prints that have a mark. ``batches``: what the graphics card has of it."""

    made_of: tuple
    states: np.ndarray
    prints: footprints.Footprints
    paths: tuple
    source: tuple
    soles: tuple
    outlines: tuple
    marks: tuple
    labelled: np.ndarray
    batches: dict = field(default_factory=dict)


_built: dict[int, Built] = {}
_handles: list = []
# The footprint that the mouse drags: (leg, frame, matrix).
_dragged: tuple | None = None


def register():
    add = bpy.types.SpaceView3D.draw_handler_add
    _handles.append(add(_draw_world, (), "WINDOW", "POST_VIEW"))
    _handles.append(add(_draw_pixels, (), "WINDOW", "POST_PIXEL"))


def unregister():
    while _handles:
        bpy.types.SpaceView3D.draw_handler_remove(_handles.pop(), "WINDOW")
    _built.clear()


def subject(context):
    """(armature, Entry) of what the overlay shows in a context, or None: the active armature, out of Edit Mode."""
    armature = context.view_layer.objects.active
    if armature is None or armature.type != "ARMATURE" or armature.mode == "EDIT":
        return None
    entry = trail_cache.current(context.scene, armature)
    return None if entry is None or entry.trails is None else (armature, entry)


def _draw_world():
    shown = _shown(bpy.context)
    if shown is None:
        return
    context = bpy.context
    armature, entry, settings = shown
    made = built(armature, entry, settings)
    width = settings.line_width * context.preferences.system.ui_scale
    depth = gpu.state.depth_test_get()
    gpu.state.blend_set("ALPHA")
    gpu.state.depth_test_set("NONE")
    with gpu.matrix.push_pop():
        gpu.matrix.multiply_matrix(Matrix(entry.trails.to_world(armature)))
        if settings.source:
            _draw_lines(made, "source", made.source, _THIN * width)
        if settings.footprints:
            # What stands on a print hides it, as the floor would be hidden.
            gpu.state.depth_test_set("LESS_EQUAL")
            _draw_triangles(made, "soles", made.soles)
            gpu.state.depth_test_set("NONE")
            _draw_lines(made, "outlines", made.outlines, _THIN * width)
            selected = armature.footlock_selected
            _draw_selected(context, made, selected.leg, selected.frame, width)
        if settings.paths:
            _draw_lines(made, "paths", made.paths, width)
            if settings.reach:
                _draw_near(context.scene, made, entry.trails, settings, width)
        if settings.slides:
            _draw_lines(made, "marks", made.marks, _THICK * width)
        if settings.ghost and entry.trails.source is not None:
            _draw_ghost(context.scene, entry.trails.source, settings, width)
    if _dragged is not None and settings.footprints:
        leg, frame, placed = _dragged
        with gpu.matrix.push_pop():
            gpu.matrix.multiply_matrix(Matrix(placed @ entry.trails.to_world(armature)))
            _draw_selected(context, made, leg, frame, width)
    gpu.state.depth_test_set(depth)
    gpu.state.blend_set("NONE")


def _draw_pixels():
    shown = _shown(bpy.context)
    if shown is None:
        return
    context = bpy.context
    armature, entry, settings = shown
    made = built(armature, entry, settings)
    projection = np.array(context.region_data.perspective_matrix) @ entry.trails.to_world(armature)
    size = (context.region.width, context.region.height)
    gpu.state.blend_set("ALPHA")
    if settings.paths:
        _draw_dots(context, made, entry.trails, projection, size)
    if settings.slides and len(made.labelled):
        _draw_lengths(context, made, entry.trails.unit, projection, size)
    gpu.state.blend_set("NONE")


def _shown(context):
    """(armature, Entry, settings) of what this viewport shows, or None."""
    settings, space = context.scene.footlock_overlay, context.space_data
    if not settings.show or not space.overlay.show_overlays:
        return None
    found = subject(context)
    return (*found, settings) if found is not None and found[0].visible_in_viewport_get(space) else None


def footprints_shown(context):
    """(armature, Built) where the footprints that this viewport shows are up to date, or None."""
    shown = _shown(context) if context.space_data is not None and context.space_data.type == "VIEW_3D" else None
    return shown[:2] if shown is not None and shown[2].footprints and shown[1].strength == 1.0 else None


def show_dragged(leg=-1, frame=0.0, placed=None):
    """Show the footprint of a leg that has this frame where a matrix (4, 4) in the world brings it; without
    arguments none."""
    global _dragged
    _dragged = (leg, frame, placed) if leg >= 0 else None


def now(scene):
    """The frame that is shown, subframe included."""
    return scene.frame_current + scene.frame_subframe


def _draw_near(scene, made, trails, settings, width):
    """The part of the paths that is near the current frame, at full strength."""
    frame, table = now(scene), settings.colours().of_states()
    key = (frame, settings.reach)
    if made.batches.get("near_key") != key:
        made.batches.pop("near", None)
        made.batches["near_key"] = key
        made.batches["near_lines"] = overlay_arrays.near(trails, made.states, table, frame, settings.reach)
    _draw_lines(made, "near", made.batches["near_lines"], _THICK * width)


def _draw_selected(context, made, leg, frame, width):
    """The selected footprint, in the colour that Blender gives to what is active."""
    index = made.prints.at(leg, frame) if leg >= 0 else -1
    if index < 0:
        return
    colour = (*context.preferences.themes[0].view_3d.object_active, 1.0)
    feet = np.tile(colour, (made.prints.leg[index] + 1, 1))
    one = made.prints.only(index)
    _draw_triangles(None, "selected", overlay_arrays.soles(one, feet, _SELECTED))
    _draw_lines(None, "selected_outline", overlay_arrays.outlines(one, feet), _THICK * width)


def _draw_ghost(scene, source, settings, width):
    vertices = overlay_arrays.ghost(*source.at(now(scene)))
    colour = np.tile(np.float32((*settings.source_colour[:3], 1.0)), (len(vertices), 1))
    _draw_lines(None, "ghost", (vertices, colour), width)


def _draw_dots(context, made, trails, projection, size):
    """Where each toe is now."""
    frame = now(context.scene)
    if not trails.frames[0] <= frame <= trails.frames[-1]:
        return
    places, seen = footprints.project(trails.at(frame)[3], projection, size)
    index = round(float(np.interp(frame, trails.frames, np.arange(len(trails.frames)))))
    around = slice(max(index - 1, 0), index + 1)
    planted = trails.planted[index]
    state = np.where(planted, np.maximum(made.states[around].max(axis=0), foot_states.PLANTED), foot_states.FREE)
    colours = context.scene.footlock_overlay.colours().of_states()[state]
    radius = _DOT * context.preferences.system.ui_scale
    _draw_triangles(None, "dots", overlay_arrays.dots(places[seen], colours[seen], radius))


def _draw_lengths(context, made, unit, projection, size):
    """How far feet slid: the largest that are in view, none over another."""
    scale = context.preferences.system.ui_scale
    start, end = overlay_arrays.mark_ends(made.prints, made.labelled)
    places, seen = footprints.project(0.5 * (start + end), projection, size)
    seen &= ((places > 0.0) & (places < size)).all(axis=1)
    blf.size(0, _TEXT * scale)
    blf.enable(0, blf.SHADOW)
    blf.shadow(0, 5, 0.0, 0.0, 0.0, 0.9)
    blf.shadow_offset(0, 0, 0)
    blf.color(0, 1.0, 1.0, 1.0, 1.0)
    written = np.zeros((0, 2))
    for i in np.flatnonzero(seen):
        if len(written) >= _LABELS:
            break
        if len(written) and np.abs(written - places[i]).max(axis=1).min() < _APART * scale:
            continue
        written = np.vstack([written, places[i]])
        blf.position(0, places[i][0] + 6.0 * scale, places[i][1] + 5.0 * scale, 0.0)
        blf.draw(0, iface_("{:.0f} mm").format(made.prints.slid[made.labelled[i]] * unit * 1000.0))
    blf.disable(0, blf.SHADOW)


def _draw_lines(made, name, lines, width):
    if not len(lines[0]):
        return
    shader = gpu.shader.from_builtin("POLYLINE_FLAT_COLOR")
    shader.bind()
    shader.uniform_float("viewportSize", gpu.state.viewport_get()[2:])
    shader.uniform_float("lineWidth", width)
    _batch(made, name, shader, "LINES", lines).draw(shader)


def _draw_triangles(made, name, triangles):
    if not len(triangles[0]):
        return
    shader = gpu.shader.from_builtin("SMOOTH_COLOR")
    shader.bind()
    _batch(made, name, shader, "TRIS", triangles).draw(shader)


def _batch(made, name, shader, kind, arrays):
    found = made.batches.get(name) if made is not None else None
    if found is None:
        found = batch_for_shader(shader, kind, {"pos": arrays[0], "color": arrays[1]})
        if made is not None:
            made.batches[name] = found
    return found


def built(armature, entry, settings):
    """Built of an armature; a look at the kept one where nothing changed."""
    colours = settings.colours()
    made_of = (entry.trails, entry.stale, settings.reach > 0, colours)
    found = _built.get(armature.session_uid)
    if found is None or found.made_of[0] is not made_of[0] or found.made_of[1:] != made_of[1:]:
        found = _build(made_of, entry.trails, _STALE if entry.stale else 1.0, settings.reach > 0, colours)
        while len(_built) >= _KEPT:
            _built.pop(next(iter(_built)))
        _built[armature.session_uid] = found
    return found


def _build(made_of, trails, strength, by_frame, colours):
    states, prints = overlay_arrays.step_states(trails), overlay_arrays.prints(trails)
    table, feet = colours.of_states(), colours.of_feet(trails.sides)
    away = strength * (_AWAY if by_frame else 1.0)
    chosen = overlay_arrays.slides(prints, trails.unit)
    marks = overlay_arrays.marks(prints, chosen)
    source = (np.zeros((0, 3), np.float32), np.zeros((0, 4), np.float32))
    if trails.source is not None:
        toes = trails.source.toes
        unstated = np.zeros((len(toes) - 1, toes.shape[1]), int)
        source = overlay_arrays.paths(toes, unstated, np.array([colours.source]), trails.unit, away)
    return Built(
        made_of,
        states,
        prints,
        overlay_arrays.paths(trails.toes, states, table, trails.unit, away),
        source,
        overlay_arrays.soles(prints, feet, _FILLED * strength),
        overlay_arrays.outlines(prints, feet, strength),
        (marks, np.tile(np.float32(colours.sliding), (len(marks), 1))),
        chosen,
    )
