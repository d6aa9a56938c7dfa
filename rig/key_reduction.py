"""As few keys as a tolerance allows: which frames of a corrected clip need one.

Between keys a curve is the cubic with the dense motion's own slopes at its ends. Keys are added where the joints of the
legs are furthest from where they belong, in all gaps at once, until none is further than the tolerance.
"""

from dataclasses import replace

import numpy as np

from ..solvers import resample
from . import clip as clips
from . import curves

# A slope is no steeper than so many times what is usual for the curve, or than the steps about it: a cut between two
# takes is a step, and the curve does not swing out beside it.
_STEEPEST = 3.0
_USUAL_STEP = 90.0


def frames_of_keys(clip, changed, tolerance, span=None):
    """Indices (m,), sorted, of the frames of a clip that need a key, first and last included.

    changed: (bone, property, old, new) as ``correction.corrected_channels`` returns it. tolerance: metres, for hips,
    knees, heels, toes and toe ends. span: (first, last) frame outside of which the curves are left alone.
    """
    inside = np.arange(len(clip.frames)) if span is None else np.flatnonzero(curves.within(clip.frames, span))
    whole = slice(inside[0], inside[-1] + 1)
    exact = _joints(clip, {(bone.name, name): new for bone, name, _, new in changed})
    steep = [slopes(new) for _, _, _, new in changed]
    kept = np.zeros(len(inside), bool)
    kept[[0, -1]] = True
    while True:
        at = np.flatnonzero(kept)
        tried = {}
        for (bone, name, _, new), slope in zip(changed, steep, strict=True):
            values = tried[bone.name, name] = new.copy()
            values[whole] = _between(at, new[whole], slope[whole])
        error = np.linalg.norm(_joints(clip, tried) - exact, axis=-1).max(axis=1)[whole]
        worst = np.maximum.reduceat(error, at)[np.cumsum(kept) - 1]
        add = (error > tolerance) & (error == worst) & ~kept
        if not add.any():
            return inside[at]
        kept |= add


def slopes(values):
    """Slopes (n, …) of ``values`` (n, …), per frame of the array."""
    step = np.diff(values, axis=0)
    slope = np.gradient(values, axis=0)
    usual = np.percentile(np.abs(step), _USUAL_STEP, axis=0)
    most = _STEEPEST * np.maximum(np.minimum(np.abs(step[1:]), np.abs(step[:-1])), usual)
    slope[1:-1] = np.clip(slope[1:-1], -most, most)
    return slope


def _between(at, values, slope):
    """Values (n, …), cubic between those at the frames ``at`` (m,), of which the first is 0 and the last n - 1."""
    frame = np.arange(len(values))
    gap = np.clip(np.searchsorted(at, frame, side="right") - 1, 0, max(len(at) - 2, 0))
    one, other = at[gap], at[np.minimum(gap + 1, len(at) - 1)]
    wide = np.maximum(other - one, 1).reshape(-1, *(1,) * (values.ndim - 1)).astype(float)
    t = (frame - one).reshape(wide.shape) / wide
    return resample.hermite(values[one], values[other], slope[one] * wide, slope[other] * wide, t)


def _joints(clip, given):
    """Places (frames, points, 3), metres, with some channels, (bone, property) → (frames, n), as they are given."""
    channels = []
    for bone, own in zip(clip.bones, clip.channels, strict=True):
        location = given.get((bone.name, "location"), own.location)
        rotation = given.get((bone.name, clips.rotation_property(bone)), own.rotation)
        scale = given.get((bone.name, "scale"), own.scale)
        channels.append(replace(own, location=location, rotation=rotation, scale=scale))
    poses = clips.forward(clip.bones, channels, len(clip.frames))
    pose = replace(clip, channels=tuple(channels), poses=poses).leg_pose()
    return np.concatenate([pose.hip, pose.knee, pose.heel, pose.toe, pose.toe_end], axis=1)
