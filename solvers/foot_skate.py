"""From a clip's legs and contacts to the correction of its pose: the whole of the method on arrays.

Offline, the pelvis and the toes share the correction (``slide_removal``); at run time the toes alone are locked,
causally (``foot_lock``). Either way the legs then reach for the toes (``leg_chain``).
"""

from dataclasses import dataclass, field, replace

import numpy as np

from . import foot_lock, leg_chain, slide_removal
from . import rotations as rot
from .contacts import FLOOR_PERCENTILE

# A planted toe further than this from its place (metres) is out of reach.
OUT_OF_REACH = 1e-4
# A pelvis or toe that moves less than this (metres) does not move: it is what single precision leaves of a clip that
# was solved before, and a knee that is nearly straight would make a tenth of a millimetre of it.
_STILL = 2e-6
METHODS = ("offline", "runtime")


@dataclass(frozen=True)
class Settings:
    """``method``: "offline" or "runtime". ``chain``: of the leg solver. ``lock``: of the runtime lock."""

    method: str = "offline"
    chain: leg_chain.LegChainSettings = field(default_factory=leg_chain.LegChainSettings)
    lock: foot_lock.FootLockSettings = field(default_factory=foot_lock.FootLockSettings)


@dataclass(frozen=True)
class Correction:
    """``pelvis`` (frames, 3), metres, world. ``legs``: the LegSolution. ``locked`` (frames, legs): frames in which a
    toe is held. ``ground`` (legs,): the height at which, world z. ``out_of_reach`` (frames, legs): held, but the leg
    is too short. ``steps`` and ``converged`` of the offline pass."""

    pelvis: np.ndarray
    legs: leg_chain.LegSolution
    locked: np.ndarray
    ground: np.ndarray
    out_of_reach: np.ndarray
    steps: int
    converged: bool


def remove_sliding(pelvis, pose, side, contacts, frame_rate, settings=Settings()):
    """The correction under which the toes in contact stand still.

    pelvis: (frames, 3); pose: LegPose (frames, legs); side: (frames, legs, 3), see ``knee_side``; contacts: (frames,
    legs) bool; frame_rate: Hz. World space, z up, metres. Returns a Correction; where nothing is in contact it
    changes nothing. Raises ValueError for an unknown method or shapes that do not fit.
    """
    if settings.method not in METHODS:
        raise ValueError(f"method: expected one of {METHODS}, got {settings.method!r}")
    contacts = np.asarray(contacts, bool)
    if np.shape(pose.toe) != (*contacts.shape, 3) or np.shape(pelvis) != (len(contacts), 3):
        raise ValueError(
            f"expected pelvis (frames, 3) and a pose (frames, legs, 3) for contacts {contacts.shape},"
            f" got {np.shape(pelvis)} and {np.shape(pose.toe)}"
        )
    ground = ground_heights(pose.toe, contacts)
    if settings.method == "offline":
        solution = slide_removal.solve(
            pelvis, pose.toe, contacts, ground, frame_rate, _reach(pelvis, pose, settings.chain)
        )
        new_pelvis, targets, locked = solution.pelvis, solution.toes, solution.locked
        steps, converged = solution.steps, solution.converged
    else:
        targets, locked = foot_lock.lock(pose.toe, contacts, ground, 1.0 / frame_rate, settings.lock)
        new_pelvis, steps, converged = pelvis, 0, True

    new_pelvis, targets = _unless_still(new_pelvis, pelvis), _unless_still(targets, pose.toe)
    shift = (new_pelvis - pelvis)[:, None]
    moved = replace(pose, **{name: getattr(pose, name) + shift for name in ("hip", "knee", "heel", "toe", "toe_end")})
    legs = leg_chain.solve(moved, targets, side, _minimum_heights(pose, contacts, ground), settings.chain)
    out_of_reach = locked & (legs.residual > OUT_OF_REACH)
    return Correction(new_pelvis, legs, locked, ground, out_of_reach, steps, converged)


def ground_heights(toes, contacts):
    """The height (legs,) at which each leg's toe stands: the median over its frames of contact, or without contact
    its low percentile. World z, metres.

    Each leg has its own, since the joint of a toe is seldom as high on the left as on the right.
    """
    return np.array([_height(toes[:, leg, 2], contacts[:, leg], 50.0) for leg in range(toes.shape[1])])


def _reach(pelvis, pose, chain):
    """How far the legs reach before they soften: as far as in the source, or to where the softening begins. The
    article's limit has no such bound."""
    if chain.limit != "reach":
        return None
    source = rot.length(pose.heel - pose.hip)[..., 0]
    full = (rot.length(pose.knee - pose.hip) + rot.length(pose.heel - pose.knee))[..., 0]
    return slide_removal.Reach(
        pose.hip - pelvis[:, None] + pose.toe - pose.heel, np.maximum(full - chain.softening, source)
    )


def _unless_still(points, source):
    """Points (…, 3), and the source itself where they hardly differ."""
    return np.where(np.abs(points - source).max(axis=-1, keepdims=True) < _STILL, source, points)


def _minimum_heights(pose, contacts, ground):
    """How low heel, toe and toe end may go (frames, legs): as low as the floor under them, or as the source itself
    went, which is never corrected."""

    def limit(points):
        floor = [_height(points[:, leg, 2], contacts[:, leg], FLOOR_PERCENTILE) for leg in range(points.shape[1])]
        return np.minimum(points[..., 2], floor)

    return leg_chain.MinimumHeights(limit(pose.heel), np.minimum(pose.toe[..., 2], ground), limit(pose.toe_end))


def _height(heights, contact, percentile):
    return float(
        np.percentile(heights[contact], percentile) if contact.any() else np.percentile(heights, FLOOR_PERCENTILE)
    )
