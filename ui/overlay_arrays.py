"""What the overlay draws, as plain arrays: vertices and their colours. No GPU is needed for it, nor Blender's data.

Vertices are (n, 3) and colours (n, 4), single precision, RGBA; two neighbours make a line, three a triangle. All are in
the space of the Trails.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ..solvers import foot_states, footprints, thinning
from ..solvers.foot_states import FREE, OUT_OF_REACH, PLANTED, SLIDING

# What is drawn is as near as this to what it is, metres: the nearest, so that it is off by no more than so many pixels.
LEVELS = (5e-4, 1.5e-3, 4e-3, 1.2e-2, 3e-2, 8e-2)
_OFF = 0.5
# Of a sole's outline each level has every so many points.
_POINTS = (1, 1, 2, 3, 6, 6)
# So many frames are drawn together, or not where they are out of view; more where that were so many chunks.
_CHUNK, _CHUNKS = 256, 128
# Slides below this are not marked, metres.
LEAST_SLIDE = 1e-3
# Head of a mark's arrow: at most so much of the mark, and of the foot.
_HEAD_OF_MARK, _HEAD_OF_FOOT = 0.4, 0.15
# A second and third leg of a side are so much darker.
_DARKER = 0.7
# The height of a bar where they are 1 apart.
_BAR = 0.75
# Corners of a disc.
_CORNERS = 16


@dataclass(frozen=True)
class Colours:
    """RGBA of each state, of the source, and of the feet by their side."""

    free: tuple
    planted: tuple
    sliding: tuple
    out_of_reach: tuple
    source: tuple
    left: tuple
    right: tuple

    def of_states(self):
        """(4, 4), by the number of the state."""
        table = np.empty((4, 4))
        table[[FREE, PLANTED, SLIDING, OUT_OF_REACH]] = self.free, self.planted, self.sliding, self.out_of_reach
        return table

    def of_source(self):
        """(1, 4), as the only state that a source has."""
        return np.array([self.source], float)

    def of_feet(self, sides):
        """(legs, 4), by the side of each; those without have a colour between."""
        left, right = np.array(self.left, float), np.array(self.right, float)
        found = []
        for i, side in enumerate(sides):
            colour = (left if side > 0.0 else right if side < 0.0 else 0.5 * (left + right)).copy()
            colour[:3] *= _DARKER ** int(np.count_nonzero(sides[:i] == side))
            found.append(colour)
        return np.array(found).reshape(-1, 4)


def step_states(trails):
    """States (n - 1, legs) of the steps of Trails."""
    slides_above = foot_states.SLIDES_ABOVE / trails.unit
    return foot_states.of_steps(trails.toes, trails.planted, trails.out_of_reach, trails.frame_rate, slides_above)


@dataclass(frozen=True)
class Chunk:
    """Some frames of Trails: ``frames`` of them, and ``source`` of their source, both slices whose last frame is the
    first of the next chunk's, too; the indices ``prints`` of Footprints; ``centre`` (3,) and ``radius`` of a ball that
    has all that is drawn of it."""

    frames: slice
    source: slice
    prints: np.ndarray
    centre: np.ndarray
    radius: float


def chunks(trails, found):
    """Chunks of Trails and their Footprints, in order."""
    last, step = len(trails.frames) - 1, max(_CHUNK, len(trails.frames) // _CHUNKS)
    edges = np.append(np.arange(0, max(last, 1), step), last)
    middle = 0.5 * (found.first + found.last)
    result = []
    for first, last in pairwise(edges):
        frames, source = slice(first, last + 1), slice(0, 0)
        inside = np.searchsorted(trails.frames[edges], middle, side="right") - 1
        prints_ = np.flatnonzero(np.minimum(inside, len(edges) - 2) == len(result))
        points = [trails.toes[frames].reshape(-1, 3), found.outline[prints_].reshape(-1, 3)]
        if trails.source is not None:
            start, end = np.searchsorted(trails.source.frames, trails.frames[[first, last]])
            source = slice(start, end + 1)
            points.append(trails.source.toes[source].reshape(-1, 3))
        points = np.concatenate(points)
        centre = 0.5 * (points.min(axis=0) + points.max(axis=0))
        radius = float(np.linalg.norm(points - centre, axis=-1).max())
        result.append(Chunk(frames, source, prints_, centre, radius))
    return result


def levels(centres, radii, projection, size, unit):
    """Which of LEVELS (k,) to draw of Chunks with these centres (k, 3) and radii (k,), -1 for those out of view.

    projection: (4, 4) to clip space; size: width and height of the region, pixels; unit: metres of a unit.
    """
    rows = np.asarray(projection, float)
    planes = np.concatenate([rows[3] - rows[:3], rows[3] + rows[:3]])
    away = centres @ planes[:, :3].T + planes[:, 3]
    seen = (away >= -radii[:, None] * np.linalg.norm(planes[:, :3], axis=1)).all(axis=1)
    nearest = centres @ rows[3, :3] + rows[3, 3] - radii * np.linalg.norm(rows[3, :3])
    pixels = 0.5 * np.max(np.linalg.norm(rows[:2, :3], axis=1) * size) / np.maximum(nearest, 1e-6)
    fits = np.array(LEVELS) / unit * pixels[:, None] <= _OFF
    return np.where(seen, np.maximum(fits.sum(axis=1) - 1, 0), -1)


def paths(toes, states, table, tolerance, strength=1.0):
    """Lines of toes (n, legs, 3) coloured by their steps' states (n - 1, legs), no further than a tolerance from the
    path. strength: of the alpha."""
    vertices, colours = [], []
    for leg in range(toes.shape[1]):
        kept = thinning.thinned(toes[:, leg], states[:, leg], tolerance)
        vertices.append(_lines(toes[kept, leg]))
        colours.append(np.repeat(table[states[kept[:-1], leg]], 2, axis=0))
    return _single(np.concatenate(vertices)), _faded(np.concatenate(colours), strength)


def near(trails, states, table, frame, reach):
    """Lines of the paths from ``reach`` frames before a frame to as many after it, every step."""
    first, end = np.searchsorted(trails.frames, (frame - reach - 1e-3, frame + reach + 1e-3), side="left")
    inside = slice(first, max(end, first))
    vertices = [_lines(trails.toes[inside, leg]) for leg in range(trails.toes.shape[1])]
    steps = states[first : max(end - 1, first)]
    return _single(np.concatenate(vertices)), _single(np.repeat(table[steps.T.ravel()], 2, axis=0))


def prints(trails):
    """Footprints, whose frames are those of the scene."""
    lengths = np.linalg.norm(trails.knees - trails.hips, axis=-1) + np.linalg.norm(trails.heels - trails.knees, axis=-1)
    return footprints.find(
        trails.heels,
        trails.toes,
        trails.toe_ends,
        trails.planted,
        trails.sides,
        np.median(lengths, axis=0),
        trails.level,
        trails.frames,
    )


def soles(found, feet, strength=1.0, level=0):
    """Triangles that fill Footprints, in the colours ``feet`` (legs, 4)."""
    outline = found.outline[:, :: _POINTS[level]]
    middle = np.broadcast_to(outline.mean(axis=1, keepdims=True), outline.shape)
    corners = np.stack([middle, outline, np.roll(outline, -1, axis=1)], axis=2)
    return _single(corners.reshape(-1, 3)), _faded(_each(feet, found, 3 * outline.shape[1]), strength)


def outlines(found, feet, strength=1.0, level=0):
    """Lines around Footprints."""
    outline = found.outline[:, :: _POINTS[level]]
    ends = np.stack([outline, np.roll(outline, -1, axis=1)], axis=2)
    return _single(ends.reshape(-1, 3)), _faded(_each(feet, found, 2 * outline.shape[1]), strength)


def slides(found, unit):
    """Indices of the Footprints whose foot slid far enough to be marked, those that slid furthest first."""
    far = np.flatnonzero(found.slid * unit >= LEAST_SLIDE)
    return far[np.argsort(-found.slid[far], kind="stable")]


def marks(found, chosen):
    """Lines (n, 3) of an arrow for each of the chosen Footprints, on the floor, from where the toe came down to where
    it slid."""
    start, end = mark_ends(found, chosen)
    way = end - start
    length = np.linalg.norm(way, axis=-1, keepdims=True)
    way = way / np.where(length > 0.0, length, 1.0)
    across = np.stack([way[:, 1], -way[:, 0], np.zeros(len(way))], axis=-1)
    head = np.minimum(_HEAD_OF_MARK * length, _HEAD_OF_FOOT * found.length[chosen][:, None])
    back = end - head * way
    lines = np.stack([start, end, end, back + 0.6 * head * across, end, back - 0.6 * head * across], axis=1)
    return _single(lines.reshape(-1, 3))


def mark_ends(found, chosen):
    """From where to where (m, 3) the marks of the chosen Footprints go."""
    start, end = found.slid_from[chosen], found.slid_to[chosen]
    lowered = np.zeros_like(start)
    lowered[:, 2] = found.outline[chosen][..., 2].mean(axis=1) - found.toe[chosen, 2]
    return start + lowered, end + lowered


def ghost(hips, knees, heels, toes, toe_ends):
    """Lines of legs in one frame, each (legs, 3), and between the hips."""
    chains = _lines(np.stack([hips, knees, heels, toes, toe_ends], axis=1))
    return _single(np.concatenate([chains, _lines(hips)]))


def disc():
    """Triangles of a disc of radius 1 in x and y."""
    angles = np.linspace(0.0, 2.0 * np.pi, _CORNERS + 1)
    circle = np.stack([np.cos(angles), np.sin(angles), np.zeros_like(angles)], axis=1)
    return _single(np.stack([np.zeros((_CORNERS, 3)), circle[:-1], circle[1:]], axis=1).reshape(-1, 3))


def bars(trails, feet):
    """Rectangles, two triangles each, of the contacts: x in frames of the scene, y from 0 for the last leg, from 1 for
    the one before it, and so on, with a gap between them; as solid as the contact's weight."""
    spans = foot_states.spans(trails.weights)
    step = trails.frames[1] - trails.frames[0]
    left, right = trails.frames[spans.first] - 0.5 * step, trails.frames[spans.last] + 0.5 * step
    low = (trails.weights.shape[1] - 1 - spans.leg).astype(float)
    high = low + _BAR
    corners = [(left, low), (right, low), (right, high), (left, low), (right, high), (left, high)]
    vertices = np.stack([np.stack([x, y, np.zeros_like(y)], axis=-1) for x, y in corners], axis=1)
    colours = np.array(feet)[spans.leg]
    colours[:, 3] *= spans.weight
    return _single(vertices.reshape(-1, 3)), _single(np.repeat(colours, 6, axis=0))


def _lines(points):
    """Both ends of each line of a strip (k, …, 3), or of each of several (m, k, 3)."""
    if points.ndim == 2:
        return np.stack([points[:-1], points[1:]], axis=1).reshape(-1, 3)
    return np.stack([points[:, :-1], points[:, 1:]], axis=2).reshape(-1, 3)


def _each(feet, found, count):
    return np.repeat(np.asarray(feet)[found.leg], count, axis=0).reshape(-1, 4)


def _faded(colours, strength):
    return _single(colours * np.array([1.0, 1.0, 1.0, strength]))


def _single(values):
    return np.ascontiguousarray(values, np.float32)
