"""The ground under a clip: how high the joints of a foot are when it stands, on a level floor or on a surface."""

from dataclasses import dataclass, fields, replace
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
# A contact whose height differs by more than this share of the leg's length from the others' is on another level.
_OTHER_LEVEL = 0.09
# A motion follows a surface whose contacts are so many times more even over it than over a level floor.
_FOLLOWS = 0.6
# The vertical part of a normal is no less than this where heights over a surface are measured along it.
_STEEPEST = 0.5


class Surface(Protocol):
    """Anything that has a height over each place."""

    def sample(self, points):
        """Heights (n,), world z, metres, under or over points (n, 3), NaN where there is none; and normals (n, 3)."""


@dataclass(frozen=True)
class Ground:
    """``toe``, ``heel``, ``toe_end`` (legs,): heights of these joints of a foot that stands on a level floor at
    ``base``, world z, metres; ``known`` (legs,) bool: legs that ever stand, the others have no ground. ``surface``: the
    Surface on which they shall stand in place of that floor, or None; where the motion ``followed`` it already, the
    heights above are over the surface. ``up``: metres by which the floor is higher than where the feet stood.
    ``steps`` (frames, legs): by how much it is higher, where contacts are on another level, or None."""

    toe: np.ndarray
    heel: np.ndarray
    toe_end: np.ndarray
    base: float
    known: np.ndarray
    surface: Surface | None = None
    up: float = 0.0
    steps: np.ndarray | None = None
    followed: bool = False

    @classmethod
    def of_contacts(cls, pose, contacts):
        """The floor on which the feet of a LegPose (frames, legs) stand while they are in contact (frames, legs) bool:
        toes at their median height, heel and toe end as far over or under them as they are at their lowest while the
        foot is flat, in the middle half of a contact. A contact that is clearly higher or lower, as on stairs, has a
        level of its own; one of a single frame says nothing."""
        contacts = lasting(contacts)
        known = contacts.any(axis=0)
        toe = toe_heights(pose.toe, contacts)
        middle = flat(contacts)

        def lowest(points):
            over_toe = np.where(middle, points[..., 2] - pose.toe[..., 2], np.inf).min(axis=0)
            return toe + np.where(known, over_toe, 0.0)

        heel, toe_end = lowest(pose.heel), lowest(pose.toe_end)
        base = np.minimum(toe, np.minimum(heel, toe_end))
        lowest_base = float(base[known].min() if known.any() else base.min())
        return cls(toe, heel, toe_end, lowest_base, known, steps=_own_levels(pose, toe, contacts))

    def on(self, surface, pose, contacts):
        """The same feet on a Surface. Where the motion is on it already, more evenly than on a level floor, they stay
        as far from it as they are. pose: the LegPose (frames, legs), contacts (frames, legs) bool."""
        points = {field.name: getattr(pose, field.name) for field in fields(pose)}
        for name in ("toe", "heel", "toe_end"):
            heights, normals = surface.sample(points[name].reshape(-1, 3))
            heights, normals = heights.reshape(contacts.shape), normals.reshape(*contacts.shape, 3)
            near = (points[name][..., 2] - heights) * normals[..., 2]
            near = np.where(np.isnan(heights), points[name][..., 2], near)
            points[name] = np.concatenate([points[name][..., :2], near[..., None]], axis=-1)
        own = Ground.of_contacts(type(pose)(**points), contacts)
        if _unevenness(points["toe"], contacts) < _FOLLOWS * _unevenness(pose.toe, contacts):
            return replace(own, base=0.0, surface=surface, steps=None, followed=True)
        return replace(self, surface=surface, steps=None)

    def of_frames(self, frames):
        """The same for some frames of the clip, indices (n,)."""
        return self if self.steps is None else replace(self, steps=self.steps[frames])

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
            lowest = np.broadcast_to(heights if self.steps is None else heights + self.steps, points.shape[:2])
        else:
            surface, normals = self._sampled(points)
            surface = _before_edges(surface)
            lowest = np.where(np.isnan(surface), -np.inf, surface + self._clear(heights, normals))
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
        heights = np.broadcast_to(self.toe if self.steps is None else self.toe + self.steps, contacts.shape)
        if self.surface is None:
            return heights
        heights = heights.copy()
        spans = [(leg, *run) for leg in range(contacts.shape[1]) for run in labels_of.runs(contacts[:, leg])]
        places = np.array([toes[start:stop, leg].mean(axis=0) for leg, start, stop in spans]).reshape(-1, 3)
        surface, normals = self.surface.sample(places)
        for (leg, start, stop), under, normal in zip(spans, surface, normals, strict=True):
            if not np.isnan(under):
                heights[start:stop, leg] = under + self._clear(self.toe[leg], normal)
        return heights

    def _clear(self, heights, normals):
        """How far over a surface, along the vertical, joints are that are so high over a level floor."""
        return (heights - self.base) / np.maximum(normals[..., 2], _STEEPEST)

    def rise(self, heights, contacts, frame_rate):
        """How far pelvis and toes (frames, 1 + legs) go up with the ground, metres: each toe from contact to contact,
        whose ``heights`` (frames, legs) are given, the pelvis with their mean. None where they are on it already."""
        if self.followed or (self.level and self.up == 0.0):
            return None
        toes = np.full(contacts.shape, self.up)
        frames = np.arange(len(contacts))
        for leg in np.flatnonzero(contacts.any(axis=0)):
            planted = np.flatnonzero(contacts[:, leg])
            toes[:, leg] = np.interp(frames, planted, heights[planted, leg] - self._own(contacts)[planted, leg])
        stands = contacts.any(axis=0)
        mean = toes[:, stands].mean(axis=1, keepdims=True) if stands.any() else np.zeros((len(toes), 1))
        return np.concatenate([filters.gaussian(mean, _RISE * frame_rate, "hold"), toes], axis=1)

    def eased(self, heights, contacts, share):
        """The ``heights`` (frames, legs) of contacts (frames, legs) bool, only the least ``share`` (frames,) of a
        contact's frames of the way from where the feet stood to them."""
        own, shares = self._own(contacts), np.ones(contacts.shape)
        for leg in range(contacts.shape[1]):
            for start, stop in labels_of.runs(contacts[:, leg]):
                shares[start:stop, leg] = share[start:stop].min()
        return own + shares * (heights - own)

    def _own(self, contacts):
        """Heights (frames, legs) of toes where the feet stood."""
        steps = self.steps if self.steps is not None and self.level else np.zeros(contacts.shape)
        return self.toe - self.up + steps

    def over_steps(self, toes, heights, contacts, frame_rate):
        """The floor (frames, legs) under free toes (frames, legs, 3), no higher than a toe can be that comes from one
        contact (frames, legs) bool, at its ``heights`` (frames, legs), and goes to the next."""
        frames, floor = np.arange(len(contacts)), self.under(toes, "toe").copy()
        for leg in np.flatnonzero(contacts.any(axis=0)):
            planted = np.flatnonzero(contacts[:, leg])
            for contact in _around(planted, frames):
                most = heights[contact, leg] + _CLIMB / frame_rate * np.abs(frames - contact)
                floor[:, leg] = np.minimum(floor[:, leg], most)
        return floor

    def _sampled(self, points):
        assert self.surface is not None
        heights, normals = self.surface.sample(points.reshape(-1, 3))
        return heights.reshape(points.shape[:2]), normals.reshape(points.shape)


def lasting(contacts):
    """Contacts (frames, legs) bool without those of a single frame, which hold nothing."""
    before, after = np.zeros_like(contacts), np.zeros_like(contacts)
    before[1:] = after[:-1] = contacts[1:] & contacts[:-1]
    return before | after


def _own_levels(pose, toe, contacts):
    """How much higher than at ``toe`` (legs,) the floor is (frames, legs): under contacts that are clearly higher or
    lower than that, as high as they are; between two contacts it is at the lower. None without such contacts."""
    own, frames = np.zeros(contacts.shape), np.arange(len(contacts))
    least = _OTHER_LEVEL * pose.leg_lengths()
    for leg in range(contacts.shape[1]):
        for start, stop in labels_of.runs(contacts[:, leg]):
            up = pose.toe[start:stop, leg, 2].mean() - toe[leg]
            own[start:stop, leg] = up if abs(up) > least[leg] else 0.0
        planted = np.flatnonzero(contacts[:, leg])
        if own[:, leg].any():
            before, after = _around(planted, frames)
            lower = np.minimum(own[before, leg], own[after, leg])
            own[:, leg] = np.where(contacts[:, leg], own[:, leg], lower)
    return own if own.any() else None


def _around(planted, frames):
    """Of ``planted`` frames (m,), sorted, the last up to each of ``frames`` (n,) and the first after it, or the nearest
    where there is none."""
    place = np.searchsorted(planted, frames, side="right") - 1
    return planted[np.maximum(place, 0)], planted[np.minimum(place + 1, len(planted) - 1)]


def _unevenness(toes, contacts):
    """How far toes (frames, legs, 3) in contact are, in the middle, from the usual height of their leg's contacts."""
    away = [np.zeros(1)]
    for leg in range(contacts.shape[1]):
        runs = labels_of.runs(contacts[:, leg])
        means = np.array([toes[start:stop, leg, 2].mean() for start, stop in runs])
        away.append(np.abs(means - np.median(means)) if len(means) else means)
    return float(np.mean(np.concatenate(away)))


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
