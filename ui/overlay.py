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

from ..rig import trail_cache, trails
from ..solvers import foot_states, footprints
from . import overlay_arrays

# What is stale, and what is away from the current frame, is drawn with this share of its alpha.
_STALE, _AWAY = 0.35, 0.3
# Share of the alpha of footprints that fills them, of others and of the selected one.
_FILLED, _SELECTED = 0.28, 0.65
# Widths of lines against that of paths.
_THIN, _THICK = 0.5, 1.25
# Pixels, before the scale of the interface: radius of a dot, its rim, size of texts.
_DOT, _RIM, _TEXT = 4.0, 1.5, 11.0
# So many lengths of slides are written, and none this near (pixels) to another.
_LABELS, _APART = 12, 28.0
# Armatures whose vertices are kept, and of each kind of line so many views of it: those of a quad view.
_KEPT, _VIEWS = 8, 4


@dataclass(frozen=True)
class Built:
    """What is drawn of the Trails of an armature. ``made_of``: what must be the same for it to be drawn again.
    ``states`` (n - 1, legs) of the steps, ``frame_states`` (n, legs); ``labelled``: indices of the prints that have a
    mark. ``chunks`` with their ``centres`` and ``radii``. ``colours``, and of them those by state, ``table``, and by
    leg, ``feet``. ``strength`` of all, ``away`` of paths. ``arrays`` that were made of chunks, and ``batches``, what
    the graphics card has of it."""

    made_of: tuple
    trails: trails.Trails
    states: np.ndarray
    frame_states: np.ndarray
    prints: footprints.Footprints
    labelled: np.ndarray
    chunks: list
    centres: np.ndarray
    radii: np.ndarray
    colours: overlay_arrays.Colours
    table: np.ndarray
    feet: np.ndarray
    strength: float
    away: float
    arrays: dict = field(default_factory=dict)
    batches: dict = field(default_factory=dict)

    def seen(self, projection, size):
        """(level, index) of the chunks that are in view, all the same until the view moves."""
        key = (projection.tobytes(), size)
        if self.arrays.get("seen", (None,))[0] != key:
            levels = overlay_arrays.levels(self.centres, self.radii, projection, size, self.trails.unit)
            seen = tuple((int(level), i) for i, level in enumerate(levels) if level >= 0)
            self.arrays["seen"] = key, seen
        return self.arrays["seen"][1]

    def vertices(self, name, chunk, level):
        """(vertices, colours) of what is called so in a chunk."""
        prints, tolerance = self.prints.only(chunk.prints), overlay_arrays.LEVELS[level] / self.trails.unit
        if name == "source":
            # Faint as it is, it need not be so near.
            tolerance = overlay_arrays.LEVELS[min(level + 1, len(overlay_arrays.LEVELS) - 1)] / self.trails.unit
            toes = self.trails.source.toes[chunk.source]
            unstated = np.zeros((max(len(toes) - 1, 0), toes.shape[1]), int)
            return overlay_arrays.paths(toes, unstated, self.colours.of_source(), tolerance, self.away)
        if name == "paths":
            states = self.states[chunk.frames.start : chunk.frames.stop - 1]
            return overlay_arrays.paths(self.trails.toes[chunk.frames], states, self.table, tolerance, self.away)
        if name == "soles":
            return overlay_arrays.soles(prints, self.feet, _FILLED * self.strength, level)
        if name == "outlines":
            return overlay_arrays.outlines(prints, self.feet, self.strength, level)
        lines = overlay_arrays.marks(prints, overlay_arrays.slides(prints, self.trails.unit))
        return lines, np.tile(np.float32(self.colours.sliding), (len(lines), 1))


@dataclass(frozen=True)
class View:
    """What a viewport shows of ``made``, by ``settings``: ``to_world`` (4, 4), and with it ``projection`` (4, 4) to
    clip space, of a region with this ``size``, pixels."""

    made: Built
    settings: bpy.types.PropertyGroup
    to_world: np.ndarray
    projection: np.ndarray
    size: tuple


_built: dict[int, Built] = {}
_handles: list = []
# What the lines were just drawn by in a region, which the same redraw goes on with: (the region's address, View).
_viewed: tuple | None = None
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


def _draw_world(context=None):
    global _viewed
    context = context or bpy.context
    view = _view(context)
    _viewed = context.region.as_pointer(), view
    if view is None:
        return
    made, settings = view.made, view.settings
    width = settings.line_width * context.preferences.system.ui_scale
    seen = made.seen(view.projection, view.size)
    depth = gpu.state.depth_test_get()
    gpu.state.blend_set("ALPHA")
    gpu.state.depth_test_set("NONE")
    with gpu.matrix.push_pop():
        gpu.matrix.multiply_matrix(Matrix(view.to_world))
        if settings.footprints:
            # What stands on a print hides it, as the floor would be hidden.
            gpu.state.depth_test_set("LESS_EQUAL")
            _draw_triangles(_seen(made, ("soles",), seen))
            gpu.state.depth_test_set("NONE")
        has_source = settings.source and made.trails.source is not None
        thin = ("source",) * has_source + ("outlines",) * settings.footprints
        _draw_lines(_seen(made, thin, seen), _THIN * width)
        if settings.footprints:
            selected = context.view_layer.objects.active.footlock_selected
            _draw_selected(context, made, selected.leg, selected.frame, width)
        if settings.paths:
            _draw_lines(_seen(made, ("paths",), seen), width)
            if settings.reach:
                _draw_near(context.scene, made, settings.reach, width)
        if settings.slides and len(made.labelled):
            _draw_lines(_seen(made, ("marks",), seen), _THICK * width)
        if settings.ghost and made.trails.source is not None:
            _draw_ghost(context.scene, made, width)
    if _dragged is not None and settings.footprints:
        leg, frame, placed = _dragged
        with gpu.matrix.push_pop():
            gpu.matrix.multiply_matrix(Matrix(placed @ view.to_world))
            _draw_selected(context, made, leg, frame, width)
    gpu.state.depth_test_set(depth)
    gpu.state.blend_set("NONE")


def _draw_pixels(context=None):
    global _viewed
    context = context or bpy.context
    (region, view), _viewed = _viewed or (0, None), None
    if region != context.region.as_pointer():
        view = _view(context)
    if view is None:
        return
    gpu.state.blend_set("ALPHA")
    if view.settings.paths:
        _draw_dots(context, view)
    if view.settings.slides and len(view.made.labelled):
        _draw_lengths(context, view)
    gpu.state.blend_set("NONE")


def _view(context):
    """The View of this viewport, or None where it shows nothing."""
    shown = _shown(context)
    if shown is None:
        return None
    armature, made, settings = shown
    to_world = made.trails.to_world(armature)
    projection = np.array(context.region_data.perspective_matrix) @ to_world
    return View(made, settings, to_world, projection, (context.region.width, context.region.height))


def _shown(context):
    """(armature, Built, settings) of what this viewport shows, or None."""
    settings, space = context.scene.footlock_overlay, context.space_data
    if not settings.show or not space.overlay.show_overlays:
        return None
    found = subject(context)
    if found is None or not _in_view(found[0], space):
        return None
    return found[0], built(*found, settings), settings


def _in_view(armature, space):
    """False for a hidden one, by its collection or the viewport's local view, too."""
    return armature.visible_in_viewport_get(space)


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


def _draw_near(scene, made, reach, width):
    """The part of the paths that is near the current frame, at full strength."""
    key = (now(scene), reach)
    if made.batches.get("near", (None,))[0] != key:
        lines = overlay_arrays.near(made.trails, made.states, made.table, *key)
        made.batches["near"] = key, _lines_batch(*lines)
    _draw_lines(made.batches["near"][1], _THICK * width)


def _draw_selected(context, made, leg, frame, width):
    """The selected footprint, in the colour that Blender gives to what is active."""
    index = made.prints.at(leg, frame) if leg >= 0 else -1
    if index < 0:
        return
    colour = (*context.preferences.themes[0].view_3d.object_active, 1.0)
    feet = np.tile(colour, (made.prints.leg[index] + 1, 1))
    one = made.prints.only([index])
    _draw_triangles(triangles_batch(*overlay_arrays.soles(one, feet, _SELECTED)))
    _draw_lines(_lines_batch(*overlay_arrays.outlines(one, feet)), _THICK * width)


def _draw_ghost(scene, made, width):
    vertices = overlay_arrays.ghost(*made.trails.source.at(now(scene)))
    colour = np.tile(np.float32((*made.colours.source[:3], 1.0)), (len(vertices), 1))
    _draw_lines(_lines_batch(vertices, colour), width)


def _draw_dots(context, view):
    """Where each toe is now."""
    frame, made, shown = now(context.scene), view.made, view.made.trails
    if not shown.frames[0] <= frame <= shown.frames[-1]:
        return
    places, seen = footprints.project(shown.between(shown.toes, frame), view.projection, view.size)
    index = round(shown.index(frame))
    state = made.frame_states[index]
    radius = _DOT * context.preferences.system.ui_scale
    shader = gpu.shader.from_builtin("UNIFORM_COLOR")
    if "disc" not in made.batches:
        made.batches["disc"] = batch_for_shader(shader, "TRIS", {"pos": overlay_arrays.disc()})
    shader.bind()
    for (x, y), colour in zip(places[seen].tolist(), made.table[state][seen].tolist(), strict=True):
        for size, shade in ((radius + _RIM, (0.0, 0.0, 0.0, colour[3])), (radius, colour)):
            with gpu.matrix.push_pop():
                gpu.matrix.translate((x, y))
                gpu.matrix.scale_uniform(size)
                shader.uniform_float("color", shade)
                made.batches["disc"].draw(shader)


def _draw_lengths(context, view):
    """How far feet slid: the largest that are in view, none over another."""
    scale, made = context.preferences.system.ui_scale, view.made
    start, end = overlay_arrays.mark_ends(made.prints, made.labelled)
    places, seen = footprints.project(0.5 * (start + end), view.projection, view.size)
    seen &= ((places > 0.0) & (places < view.size)).all(axis=1)
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
        blf.draw(0, iface_("{:.0f} mm").format(made.prints.slid[made.labelled[i]] * made.trails.unit * 1000.0))
    blf.disable(0, blf.SHADOW)


def _seen(made, names, seen):
    """One batch of what is called so, of all chunks that are seen, (level, index of the chunk) of each; None of
    nothing. Many calls cost more than what they draw."""
    key = (names, seen)
    if key not in made.batches:
        held = [one for one in made.batches if one[0] == names]
        for one in held[: max(len(held) - _VIEWS + 1, 0)]:
            del made.batches[one]
        arrays = [_arrays(made, name, *one) for name in names for one in seen]
        joined = [np.concatenate(parts) for parts in zip(*arrays, strict=True)] or [(), ()]
        made.batches[key] = triangles_batch(*joined) if names == ("soles",) else _lines_batch(*joined)
    return made.batches[key]


def _arrays(made, name, level, index):
    key = (name, level, index)
    if key not in made.arrays:
        made.arrays[key] = made.vertices(name, made.chunks[index], level)
    return made.arrays[key]


def _lines_batch(vertices, colours):
    return _batch("POLYLINE_FLAT_COLOR", "LINES", vertices, colours)


def triangles_batch(vertices, colours):
    """A batch for the shader SMOOTH_COLOR."""
    return _batch("SMOOTH_COLOR", "TRIS", vertices, colours)


def _batch(shader, kind, vertices, colours):
    """A batch of these, or None of nothing."""
    if not len(vertices):
        return None
    return batch_for_shader(gpu.shader.from_builtin(shader), kind, {"pos": vertices, "color": colours})


def _draw_lines(batch, width):
    if batch is None:
        return
    shader = gpu.shader.from_builtin("POLYLINE_FLAT_COLOR")
    shader.bind()
    shader.uniform_float("viewportSize", gpu.state.viewport_get()[2:])
    shader.uniform_float("lineWidth", width)
    batch.draw(shader)


def _draw_triangles(batch):
    if batch is None:
        return
    shader = gpu.shader.from_builtin("SMOOTH_COLOR")
    shader.bind()
    batch.draw(shader)


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


def _build(made_of, shown, strength, by_frame, colours):
    prints = overlay_arrays.prints(shown)
    chunks, states = overlay_arrays.chunks(shown, prints), overlay_arrays.step_states(shown)
    return Built(
        made_of,
        shown,
        states,
        foot_states.of_frames(states, shown.planted),
        prints,
        overlay_arrays.slides(prints, shown.unit),
        chunks,
        np.array([chunk.centre for chunk in chunks]),
        np.array([chunk.radius for chunk in chunks]),
        colours,
        colours.of_states(),
        colours.of_feet(shown.sides),
        strength,
        strength * (_AWAY if by_frame else 1.0),
    )
