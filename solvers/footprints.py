"""Footprints: where each foot stands in each contact, how far it slides there, and which print is under the mouse.

Lengths are in the units of what is given. Prints lie on the floor under the toes; where the feet stand at different
heights they follow its slope as far as the pitch of the foot tells it.
"""

from dataclasses import dataclass, fields

import numpy as np

from . import arguments
from .contacts import runs

# A sole, seen from above with its toes up: across, along from 0 at the heel to 1 at the toe end. Its inner side, here
# that of a left foot, is to the right.
_SOLE = np.array([
    (0.00, 0.000), (0.09, 0.010), (0.155, 0.050), (0.180, 0.115), (0.165, 0.220), (0.130, 0.340), (0.120, 0.450),
    (0.150, 0.580), (0.185, 0.690), (0.190, 0.800), (0.175, 0.900), (0.130, 0.975), (0.055, 1.000), (-0.04, 0.975),
    (-0.12, 0.915), (-0.175, 0.830), (-0.200, 0.720), (-0.195, 0.600), (-0.180, 0.480), (-0.170, 0.340),
    (-0.175, 0.220), (-0.175, 0.115), (-0.145, 0.045), (-0.085, 0.008),
])  # fmt: skip
# The width of that sole for a length of 1.
_WIDTH = float(np.ptp(_SOLE[:, 0]))
# Of a leg's planted frames, those in which heel and toe are furthest apart on the floor have the foot flat.
_FLAT_PERCENTILE = 90.0
# A foot without a length is shown with this share of the leg.
_FOOT_OF_LEG = 0.28
# The floor is level where a leg's contacts are within this share of the foot's length of the same height: recorded toes
# stand some centimetres higher or lower from step to step.
_LEVEL = 0.5
# No foot stands steeper than this (radians).
_STEEPEST = np.radians(50.0)
# A print further than this from the mouse is not meant, pixels.
_NEAR = 14.0
# A point so near to the eye, or behind it, is not on the screen.
_BEHIND = 1e-6


@dataclass(frozen=True)
class Footprints:
    """One print a contact, in order of legs and frames. ``leg`` (m,): index. ``first``, ``last`` (m,): its frames.
    ``toe`` (m, 3): where the toe stands, the middle of where it goes. ``heading`` (m, 2): unit vector in x and y from
    heel to toe. ``length``, ``width`` (m,). ``outline`` (m, k, 3): the sole on the floor, counterclockwise from above.
    ``slid_from``, ``slid_to`` (m, 3): the toe in the first frame, and where it is furthest from there; ``slid`` (m,):
    how far."""

    leg: np.ndarray
    first: np.ndarray
    last: np.ndarray
    toe: np.ndarray
    heading: np.ndarray
    length: np.ndarray
    width: np.ndarray
    outline: np.ndarray
    slid_from: np.ndarray
    slid_to: np.ndarray
    slid: np.ndarray

    def __len__(self):
        return len(self.leg)

    def at(self, leg, frame):
        """Index of the print of a leg that has this frame, or -1."""
        found = np.flatnonzero((self.leg == leg) & (self.first - 0.5 <= frame) & (frame <= self.last + 0.5))
        return int(found[0]) if len(found) else -1

    def only(self, chosen):
        """The prints of these indices alone."""
        chosen = np.asarray(chosen, int)
        return Footprints(**{field.name: getattr(self, field.name)[chosen] for field in fields(self)})


def find(heels, toes, toe_ends, planted, sides=None, leg_lengths=None, level=None, called=None):
    """Footprints of legs whose heels, toes and toe_ends (frames, legs, 3), z up, are planted (frames, legs) bool.

    sides: (legs,) 1 for a left foot, -1 for a right one, 0 for neither. leg_lengths: (legs,), for feet that have no
    length. level: (legs,), the height of the heel over the toe on a level floor; without, what is usual in the clip.
    called: (frames,), what the frames are called in ``first`` and ``last``; without, their indices.
    """
    toes = np.asarray(toes, float)
    planted = arguments.labels(planted, toes.shape[:2])
    heels, toe_ends = (
        arguments.finite(name, points, toes.shape) for name, points in (("heels", heels), ("toe_ends", toe_ends))
    )
    legs = toes.shape[1]
    called = np.arange(len(toes)) if called is None else np.asarray(called)
    sides = np.zeros(legs) if sides is None else np.asarray(sides, float)
    leg_lengths = np.zeros(legs) if leg_lengths is None else np.asarray(leg_lengths, float)
    rows = []
    for leg in range(legs):
        contacts = runs(planted[:, leg])
        if len(contacts):
            foot = _Foot(heels[:, leg], toes[:, leg], toe_ends[:, leg], planted[:, leg], leg_lengths[leg])
            floor = foot.floor(contacts, None if level is None else level[leg])
            for (first, end), (height, slope) in zip(contacts, floor, strict=True):
                row = foot.print(slice(first, end), sides[leg], height, slope)
                rows.append((leg, called[first], called[end - 1], *row))
    if not rows:
        none = np.zeros(0, int)
        points, numbers = np.zeros((0, 3)), np.zeros(0)
        outline = np.zeros((0, len(_SOLE), 3))
        first = called[:0]
        return Footprints(
            none, first, first, points, np.zeros((0, 2)), numbers, numbers, outline, points, points, numbers
        )
    return Footprints(*(np.array(column) for column in zip(*rows, strict=True)))


def footprint_at(prints, projection, region_size, xy):
    """Index of the print at a place of the screen, or -1: one whose outline has it inside, of several that whose toe is
    nearest; else the nearest toe within some pixels.

    projection: (4, 4) from the prints' space to clip space; region_size: width and height of the region in pixels; xy:
    the place, pixels from its lower left corner.
    """
    if not len(prints):
        return -1
    outline, seen = project(prints.outline.reshape(-1, 3), projection, region_size)
    outline, seen = outline.reshape(*prints.outline.shape[:2], 2), seen.reshape(prints.outline.shape[:2]).all(axis=1)
    toe, toe_seen = project(prints.toe, projection, region_size)
    xy = np.asarray(xy, float)
    distance = np.where(toe_seen, np.linalg.norm(toe - xy, axis=-1), np.inf)
    inside = seen & _inside(outline, xy)
    if inside.any():
        return int(np.argmin(np.where(inside, distance, np.inf)))
    nearest = int(np.argmin(distance))
    return nearest if distance[nearest] <= _NEAR else -1


def project(points, projection, region_size):
    """Places (n, 2) of points (n, 3) in a region, pixels from its lower left corner, and which (n,) are before the
    eye."""
    projection = np.asarray(projection, float)
    clip = np.asarray(points, float) @ projection[:, :3].T + projection[:, 3]
    before = clip[:, 3] > _BEHIND
    w = np.where(before, clip[:, 3], 1.0)
    return (clip[:, :2] / w[:, None] * 0.5 + 0.5) * np.asarray(region_size, float), before


class _Foot:
    """One foot over the clip: heel, toe and toe_end (frames, 3), planted (frames,)."""

    def __init__(self, heel, toe, toe_end, planted, leg_length):
        self.heel, self.toe, self.toe_end = heel, toe, toe_end
        behind = np.linalg.norm((toe - heel)[planted, :2], axis=-1)
        before = np.linalg.norm((toe_end - toe)[planted], axis=-1)
        self.behind, self.before = np.percentile(behind, _FLAT_PERCENTILE), float(np.median(before))
        if self.behind + self.before <= 0.0:
            # A leg that ends at its heel has a round sole under it.
            self.behind = self.before = 0.5 * _FOOT_OF_LEG * leg_length

    def floor(self, contacts, level):
        """Height and slope (contacts, 2) of the floor under each contact, the latter in radians, rising ahead."""
        heights = np.array([np.median(self.toe[first:end, 2]) for first, end in contacts])
        soles = np.array([self._sole(slice(*contact)) for contact in contacts])
        if np.ptp(heights) < _LEVEL * (self.behind + self.before):
            # One floor. A foot that pitches on it is on its toes.
            return np.stack([np.full(len(contacts), np.median(soles)), np.zeros(len(contacts))], axis=1)
        drops = np.array([self._drop(first, end) for first, end in contacts])
        level = np.median(drops) if level is None else level
        slopes = np.clip(np.arctan2(level - drops, self.behind), -_STEEPEST, _STEEPEST)
        return np.stack([soles, slopes], axis=1)

    def _drop(self, first, end):
        """How high the heel is over the toe while the foot is flat."""
        over = self.heel[first:end, 2] - self.toe[first:end, 2]
        return float(np.percentile(over, 100.0 - _FLAT_PERCENTILE))

    def _sole(self, contact):
        """How high the lowest joint of the foot is in a contact, slice of its frames."""
        return float(np.median(np.minimum(self.toe[contact, 2], self.toe_end[contact, 2])))

    def print(self, contact, side, height, slope):
        """What of a row of Footprints comes after its frames; contact: slice of these."""
        toes = self.toe[contact]
        toe = toes.mean(axis=0)
        heading = (toes - self.heel[contact])[:, :2].sum(axis=0)
        size = np.linalg.norm(heading)
        heading = heading / size if size > 0.0 else np.array([0.0, -1.0])
        length = self.behind + self.before
        along = _SOLE[:, 1] * length - self.behind
        # Clockwise from above of a mirrored one is counterclockwise again.
        across = _SOLE[:, 0] * length * (-1.0 if side < 0.0 else 1.0)
        if side < 0.0:
            along, across = along[::-1], across[::-1]
        forward = np.array([*(heading * np.cos(slope)), np.sin(slope)])
        right = np.array([heading[1], -heading[0], 0.0])
        at = np.array([toe[0], toe[1], height])
        outline = at + along[:, None] * forward + across[:, None] * right
        away = np.linalg.norm(toes - toes[0], axis=-1)
        furthest = int(np.argmax(away))
        slid = (toes[0], toes[furthest], away[furthest])
        return toe, heading, length, length * _WIDTH, outline, *slid


def _inside(polygons, xy):
    """Which of polygons (m, k, 2) have a point inside: (m,) bool. A ray to the right crosses the edges an odd number of
    times."""
    one, other = polygons, np.roll(polygons, -1, axis=1)
    crosses = (one[..., 1] > xy[1]) != (other[..., 1] > xy[1])
    rise = np.where(crosses, other[..., 1] - one[..., 1], 1.0)
    at = one[..., 0] + (xy[1] - one[..., 1]) * (other[..., 0] - one[..., 0]) / rise
    return np.count_nonzero(crosses & (xy[0] < at), axis=1) % 2 == 1
