"""The ground under a clip: how high the joints of a foot are when it stands, on a level floor or on a surface."""

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from . import contacts as labels_of
from . import filters

# Deviation, seconds, of the smoothing with which the pelvis rises and sinks with the ground under the feet.
_RISE = 0.2
# Ground that is higher by more than this from one frame to the next (metres) has an edge there.
_EDGE = 0.05
# How fast a toe rises at most over an edge, m/s.
_CLIMB = 1.5


class Surface(Protocol):
    """Anything that has a height over each place."""

    def sample(self, points):
        """Heights (n,), world z, metres, under or over points (n, 3), NaN where there is none; and normals (n, 3)."""


@dataclass(frozen=True)
class Ground:
    """``toe``, ``heel``, ``toe_end`` (legs,): heights of these joints of a foot that stands on a level floor at
    ``base``, world z, metres; ``known`` (legs,) bool: legs that ever stand, the others have no ground. ``surface``: the
    Surface on which they shall stand in place of that floor, or None. ``up``: metres by which the floor is higher than
    where the feet stood."""

    toe: np.ndarray
    heel: np.ndarray
    toe_end: np.ndarray
    base: float
    known: np.ndarray
    surface: Surface | None = None
    up: float = 0.0

    @classmethod
    def of_contacts(cls, pose, contacts):
        """The floor on which the feet of a LegPose (frames, legs) stand while they are in contact (frames, legs) bool:
        toes at their median height, heel and toe end as far over or under them as they are at their lowest while the
        foot is flat, in the middle half of a contact."""
        known = contacts.any(axis=0)
        toe = toe_heights(pose.toe, contacts)
        middle = flat(contacts)

        def lowest(points):
            over_toe = np.where(middle, points[..., 2] - pose.toe[..., 2], np.inf).min(axis=0)
            return toe + np.where(known, over_toe, 0.0)

        heel, toe_end = lowest(pose.heel), lowest(pose.toe_end)
        base = np.minimum(toe, np.minimum(heel, toe_end))
        return cls(toe, heel, toe_end, float(base[known].min() if known.any() else base.min()), known)

    @property
    def level(self):
        """True without a surface."""
        return self.surface is None

    def at(self, height):
        """The same feet on a floor at another height, world z, metres."""
        up = height - self.base
        moved = {name: getattr(self, name) + up for name in ("toe", "heel", "toe_end", "up")}
        return replace(self, base=height, **moved)

    def under(self, points, joint):
        """How low a ``joint`` ("toe", "heel" or "toe_end") may be at points (frames, legs, 3): (frames, legs), -inf
        where there is no ground. Before and after an edge of the ground it is as high as beyond it."""
        heights = getattr(self, joint)
        if self.level:
            lowest = np.broadcast_to(heights, points.shape[:2])
        else:
            surface, _ = self._sampled(points)
            surface = _before_edges(surface)
            lowest = np.where(np.isnan(surface), -np.inf, surface + heights - self.base)
        return np.where(self.known, lowest, -np.inf)

    def normals(self, points):
        """Normals (frames, legs, 3) of the ground at points."""
        up = np.broadcast_to([0.0, 0.0, 1.0], points.shape)
        if self.level:
            return up
        surface, normals = self._sampled(points)
        return np.where(np.isnan(surface)[..., None], up, normals)

    def of_each_contact(self, toes, contacts):
        """Height (frames, legs) of the toes, where each contact (frames, legs) bool stands on the ground: one for all
        its frames, at the middle of their places."""
        heights = np.broadcast_to(self.toe, contacts.shape)
        if self.surface is None:
            return heights
        heights = heights.copy()
        spans = [(leg, *run) for leg in range(contacts.shape[1]) for run in labels_of.runs(contacts[:, leg])]
        places = np.array([toes[start:stop, leg].mean(axis=0) for leg, start, stop in spans]).reshape(-1, 3)
        surface, _ = self.surface.sample(places)
        for (leg, start, stop), under in zip(spans, surface, strict=True):
            if not np.isnan(under):
                heights[start:stop, leg] = under + self.toe[leg] - self.base
        return heights

    def rise(self, heights, contacts, frame_rate):
        """How far pelvis and toes (frames, 1 + legs) go up with the ground, metres: each toe from contact to contact,
        whose ``heights`` (frames, legs) are given, the pelvis with their mean. None on the floor on which they
        stood."""
        if self.level:
            return np.full((len(contacts), 1 + contacts.shape[1]), self.up) if self.up else None
        toes = np.zeros(contacts.shape)
        frames = np.arange(len(contacts))
        for leg in np.flatnonzero(contacts.any(axis=0)):
            planted = np.flatnonzero(contacts[:, leg])
            toes[:, leg] = np.interp(frames, planted, heights[planted, leg] - self.toe[leg])
        stands = contacts.any(axis=0)
        mean = toes[:, stands].mean(axis=1, keepdims=True) if stands.any() else np.zeros((len(toes), 1))
        return np.concatenate([filters.gaussian(mean, _RISE * frame_rate, "hold"), toes], axis=1)

    def over_steps(self, floor, heights, contacts, frame_rate):
        """The floor (frames, legs) of free toes, no higher than a toe can be that comes from one contact (frames, legs)
        bool, at its ``heights`` (frames, legs), and goes to the next."""
        frames = np.arange(len(contacts))
        floor = floor.copy()
        for leg in np.flatnonzero(contacts.any(axis=0)):
            planted = np.flatnonzero(contacts[:, leg])
            place = np.searchsorted(planted, frames, side="right") - 1
            before, after = planted[np.maximum(place, 0)], planted[np.minimum(place + 1, len(planted) - 1)]
            for contact in (before, after):
                most = heights[contact, leg] + _CLIMB / frame_rate * np.abs(frames - contact)
                floor[:, leg] = np.minimum(floor[:, leg], most)
        return floor

    def _sampled(self, points):
        assert self.surface is not None
        heights, normals = self.surface.sample(points.reshape(-1, 3))
        return heights.reshape(points.shape[:2]), normals.reshape(points.shape)


def _before_edges(surface):
    """Heights (frames, legs) with those of the next frames where these are much higher."""
    padded = np.concatenate([surface[:1], surface[:1], surface, surface[-1:], surface[-1:]])
    near = np.fmax.reduce([padded[i : i + len(surface)] for i in range(5)])
    return np.where(near - surface > _EDGE, near, surface)


def flat(contacts):
    """The middle half of each contact (frames, legs) bool, in which a foot is flat on the ground: the same shape."""
    middle = np.zeros_like(contacts)
    for leg in range(contacts.shape[1]):
        for start, stop in labels_of.runs(contacts[:, leg]):
            quarter = (stop - start) // 4
            middle[start + quarter : stop - quarter, leg] = True
    return middle


def toe_heights(toes, contacts):
    """The height (legs,) at which each leg's toe stands: the median over its frames of contact, or without contact
    its low percentile. World z, metres.

    Each leg has its own, since the joint of a toe is seldom as high on the left as on the right.
    """
    columns = zip(toes[..., 2].T, contacts.T, strict=True)
    return np.array(
        [
            np.median(z[contact]) if contact.any() else np.percentile(z, labels_of.FLOOR_PERCENTILE)
            for z, contact in columns
        ]
    )
