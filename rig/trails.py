"""What an overlay shows of a character over time: where hips, knees and feet go, what they went before the correction,
and when each foot is planted."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..solvers import ground, small_matrices
from ..solvers.contacts import runs
from . import clip as clips
from . import compat, contact_property, curves, results, sources

# Property of the action: the frames in which a leg was too short for its contact, as (leg, first, last) in a row.
_OUT_OF_REACH = "footlock_out_of_reach"
# An object that moves by no more than this share of what it is, does not.
_SAME_PLACE = 1e-6


@dataclass(frozen=True)
class Points:
    """Joints of legs over time: ``frames`` (n,) of the scene, evenly spaced; all others (n, legs, 3), in the world and
    the units of the scene."""

    frames: np.ndarray
    hips: np.ndarray
    knees: np.ndarray
    heels: np.ndarray
    toes: np.ndarray
    toe_ends: np.ndarray

    def index(self, frame):
        """The place of a frame of the scene among ``frames``, whole or between; the first or last before and after."""
        place = (frame - self.frames[0]) / (self.frames[1] - self.frames[0])
        return float(min(max(place, 0.0), len(self.frames) - 1.0))

    def at(self, frame):
        """(hips, knees, heels, toes, toe_ends), each (legs, 3), at a frame of the scene, or between two; those of the
        first or last before and after."""
        return tuple(self.between(one, frame) for one in (self.hips, self.knees, self.heels, self.toes, self.toe_ends))

    def between(self, joints, frame):
        """The same of one of them."""
        place = self.index(frame)
        first = min(int(place), len(self.frames) - 2)
        share = place - first
        return (1.0 - share) * joints[first] + share * joints[first + 1]


@dataclass(frozen=True)
class Trails(Points):
    """What there is to show of an armature. ``legs``: Leg of each. ``weights`` (n, legs) of the contact curves, zeros
    without, and ``out_of_reach`` (n, legs) bool. ``ground`` (legs,): height at which each toe stands, world z in units
    of the scene. ``level`` (legs,): how much higher than the toe the heel is in the rest pose. ``frame_rate``: Hz, of
    the frames. ``unit``: metres of one unit of the scene. ``source``: the Points before the correction, or None.
    ``place`` (4, 4): the object's matrix while it was read, or None where that changes over the clip."""

    legs: tuple
    weights: np.ndarray
    out_of_reach: np.ndarray
    ground: np.ndarray
    level: np.ndarray
    frame_rate: float
    unit: float
    source: Points | None
    place: np.ndarray | None

    @property
    def planted(self):
        """Labels (n, legs) bool."""
        return self.weights > contact_property.LEVEL

    @property
    def sides(self):
        """1 for a left leg, -1 for a right one, 0 for neither: (legs,)."""
        return np.array([{"L": 1.0, "R": -1.0}.get(leg.side, 0.0) for leg in self.legs])

    def to_world(self, armature):
        """The matrix (4, 4) that brings what was read to where the object is now."""
        if self.place is None:
            return np.eye(4)
        return np.array(armature.matrix_world, float) @ self._from_place

    @cached_property
    def _from_place(self):
        return small_matrices.inverse_affine(self.place[None])[0]


def of_clip(clip, weights, out_of_reach=None, source=None):
    """Trails of a Clip, its contacts' weights (n, legs), or None, frames out_of_reach (n, legs), or None, and the
    ``source``, the Clip or Points before its correction, or None."""
    points = _points(clip)
    shape = points.toes.shape[:2]
    weights = np.zeros(shape) if weights is None else np.asarray(weights, float)
    missed = np.zeros(shape, bool) if out_of_reach is None else np.asarray(out_of_reach, bool)
    rest = clip.rest_pose()
    return Trails(
        **vars(points),
        legs=clip.legs.legs,
        weights=weights,
        out_of_reach=missed,
        ground=ground.toe_heights(points.toes, weights > contact_property.LEVEL),
        level=(rest.heel - rest.toe)[0, :, 2] / clip.unit,
        frame_rate=clip.frame_rate,
        unit=clip.unit,
        source=_points(source) if isinstance(source, clips.Clip) else source,
        place=_place(clip),
    )


def read(scene, armature, legs, unit=0.0):
    """Trails of what an armature shows, from its curves where these alone move it, otherwise by stepping the scene's
    frames. Raises FootlockError where there is nothing that can be read."""
    if results.layer(armature) and armature.animation_data.action is None:
        return _read_layer(scene, armature, legs, unit)
    clip = clips.read(scene, armature, legs, unit)
    source, found = None, sources.of(armature)
    stepped = not clips.moved_by_curves_alone(armature, clip.bones)
    if found is not None and stepped and not armature.animation_data.use_tweak_mode:
        with sources.shown(armature, found):
            source = clips.as_shown(scene, armature, legs, clip.scene_frames, clip.unit)
    return of_action(armature, clip, source)


def of_action(armature, clip, source=None):
    """Trails of a Clip that was just read from the action in use, with all that is known of that. Without ``source``,
    the Clip of the action it was made from, that is read where curves alone tell it."""
    found = sources.of(armature)
    if source is None and found is not None and clips.moved_by_curves_alone(armature, clip.bones):
        paths = curves.by_path_in(compat.held_by(*found))
        source = clips.played_by(armature, clip, paths) if paths else None
    weights = contact_property.weights(armature, clip.legs, clip.frames)
    return of_clip(clip, weights, known_out_of_reach(armature, clip.legs, clip.frames), source)


def remember_out_of_reach(armature, clip, out_of_reach):
    """Note with the action that is shown in which frames of a Clip (n, legs) legs were too short."""
    action = results.subject(armature)
    found = [
        (leg, clip.frames[first], clip.frames[end - 1])
        for leg in range(out_of_reach.shape[1])
        for first, end in runs(out_of_reach[:, leg])
    ]
    if found:
        action[_OUT_OF_REACH] = np.array(found, float).ravel().tolist()
    else:
        action.pop(_OUT_OF_REACH, None)


def known_out_of_reach(armature, legs, frames):
    """What was noted, (n, legs) bool, at frames of the action."""
    missed = np.zeros((len(frames), len(legs.legs)), bool)
    noted = np.array(results.subject(armature).get(_OUT_OF_REACH, ()), float)
    for leg, first, last in noted[: len(noted) // 3 * 3].reshape(-1, 3):
        if 0 <= leg < len(legs.legs):
            missed[curves.within(frames, (first, last)), int(leg)] = True
    return missed


def _read_layer(scene, armature, legs, unit):
    """Trails of an action under a correction layer: the scene's frames are stepped with and without it."""
    _, strip = results.layer(armature)
    base, slot = sources.of(armature)
    below = compat.held_by(base, slot)
    held = [*compat.strip_fcurves(strip), *(below.fcurves if below else ())]
    # Keys may stand twice in a frame.
    keyed = max((np.unique(curves.keys(curve)[0]) for curve in held if len(curve.keyframe_points)), key=len)
    if len(keyed) < 2:
        keyed = np.unique(np.concatenate([curves.keys(curve)[0] for curve in held]))
    step = min(float(np.median(np.diff(keyed))), 1.0)
    frames = np.arange(keyed[0], keyed[-1] + 0.5 * step, step)
    clip = clips.as_shown(scene, armature, legs, frames, unit)
    influence = results.influence(armature)
    results.set_influence(armature, 0.0)
    try:
        source = clips.as_shown(scene, armature, legs, frames, clip.unit)
    finally:
        results.set_influence(armature, influence)
    weights = contact_property.weights_in(curves.by_path_in(below), armature, legs, frames)
    return of_clip(clip, weights, known_out_of_reach(armature, legs, frames), source)


def _points(clip):
    pose = clip.leg_pose()
    joints = (pose.hip, pose.knee, pose.heel, pose.toe, pose.toe_end)
    return Points(clip.scene_frames, *(one / clip.unit for one in joints))


def _place(clip):
    """The object's matrix over the clip in units of the scene, or None where it changes."""
    world = clip.world_from_armature
    if np.abs(world - world[0]).max() > _SAME_PLACE * np.abs(world[0]).max():
        return None
    return world[0] / np.array([clip.unit, clip.unit, clip.unit, 1.0])[:, None]
