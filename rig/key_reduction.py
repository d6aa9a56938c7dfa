"""As few keys as a tolerance allows: which frames of a corrected clip need one.

Between keys a curve is the cubic with the dense motion's own slopes at its ends. Keys are added where the joints of the
legs are furthest from where they belong, in all gaps at once, until none is further than the tolerance.
"""

from dataclasses import replace

import numpy as np

from ..solvers import resample, small_matrices
from . import clip as clips
from . import curves, kinematics

# A slope is no steeper than so many times what is usual for the curve, or than the steps about it: a cut between two
# takes is a step, and the curve does not swing out beside it.
_STEEPEST = 3.0
_USUAL_STEP = 90.0


def frames_of_keys(clip, changed, tolerance, span=None):
    """Indices (m,), sorted, of the frames of a clip that need a key, first and last included.

    changed: (bone, property, old, new) as ``correction.corrected_channels`` returns it. tolerance: metres, for hips,
    knees, heels, toes and toe ends. span: (first, last) frame outside of which the curves are left alone.
    """
    points = _levered if clip.controls is not None and clip.controls.constrained else _joints
    inside = np.arange(len(clip.frames)) if span is None else np.flatnonzero(curves.within(clip.frames, span))
    whole = slice(inside[0], inside[-1] + 1)
    exact = points(clip, {(bone.name, name): new for bone, name, _, new in changed})
    steep = [slopes(new) for _, _, _, new in changed]
    kept = np.zeros(len(inside), bool)
    kept[[0, -1]] = True
    while True:
        at = np.flatnonzero(kept)
        tried = {}
        for (bone, name, _, new), slope in zip(changed, steep, strict=True):
            values = tried[bone.name, name] = new.copy()
            values[whole] = _between(at, new[whole], slope[whole])
        error = np.linalg.norm(points(clip, tried) - exact, axis=-1).max(axis=1)[whole]
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
    channels = [_given(bone, own, given) for bone, own in zip(clip.bones, clip.channels, strict=True)]
    poses = clips.forward(clip.bones, channels, len(clip.frames))
    pose = replace(clip, channels=tuple(channels), poses=poses).leg_pose()
    return np.concatenate([pose.hip, pose.knee, pose.heel, pose.toe, pose.toe_end], axis=1)


def _levered(clip, given):
    """The same for a control rig, whose joints no channels tell: of each control the joints that go with it, as if they
    were fast to it, where its own space has them."""
    metres = np.linalg.norm(clip.world_from_armature[:, :3, 0], axis=-1)[:, None, None]
    armature = small_matrices.inverse_affine(clip.world_from_armature)
    pose = clip.leg_pose()
    joints = np.stack([pose.hip, pose.knee, pose.heel, pose.toe, pose.toe_end], axis=2)
    driven = [{source.bone for source in limb.sources()} for limb in clip.controls.limbs]
    found = []
    for i, (bone, own) in enumerate(zip(clip.bones, clip.channels, strict=True)):
        if any((bone.name, name) in given for name in ("location", clips.rotation_property(bone))):
            legs = [leg for leg, names in enumerate(driven) if bone.name in names]
            fast = joints[:, legs, 1:].reshape(len(joints), -1, 3) if legs else joints[:, :, 0]
            held = small_matrices.inverse_affine(clip.poses[i]) @ armature
            local = (held[:, None, :3, :3] @ fast[..., None])[..., 0] + held[:, None, :3, 3]
            basis = kinematics.basis(_given(bone, own, given), bone.rotation_mode, bone.connected)
            moved = (basis[:, None, :3, :3] @ local[..., None])[..., 0] + basis[:, None, :3, 3]
            found.append(np.broadcast_to(moved * metres, (len(clip.frames), *moved.shape[1:])))
    return np.concatenate(found, axis=1)


def _given(bone, own, given):
    """Channels of a bone, of which some are given."""
    names = {"location": "location", "rotation": clips.rotation_property(bone), "scale": "scale"}
    return replace(own, **{field: given.get((bone.name, name), getattr(own, field)) for field, name in names.items()})
