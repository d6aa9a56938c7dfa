"""The correction of a clip's legs on arrays: of all its frames, of a range of them, or of a loop."""

from dataclasses import fields, replace

import numpy as np

from ..rig import curves
from ..solvers import foot_skate, knee_side, leg_chain, loops
from ..solvers import rotations as rot
from ..solvers.errors import FootlockError

# So many frames on either side of a range stay as they are and tell the correction where to start and end.
_BORDER = 2
# How long the feet take from the ends of the range until they stand, seconds.
_EASE = 0.2
# The weight of a contact right at the ends: it is still one.
_HARDLY = 1e-3


def solve(clip, pose, weights, settings, ground, options, placements, each_step):
    """The foot_skate.Correction of all frames of a clip, of which ``options``, remove_sliding.Options, say what may
    change. pose: LegPose; weights: (frames, legs); ground: Ground; placements: Placements, or None; each_step: see
    ``slide_removal.solve``. Raises FootlockError for a loop that is none."""
    legs = clip.legs
    frames_of_shins = np.stack([clip.world_rotation(leg.shin) for leg in legs.legs], axis=1)
    side, pelvis = knee_side.side_vectors(pose, frames_of_shins), clip.head(legs.pelvis)
    total = len(clip.frames)
    pinned = np.zeros(total, bool)
    pinned[0], pinned[-1] = options.pin_first, options.pin_last
    frames = np.arange(total)
    if options.span is not None:
        frames, outside = _window(clip.frames, options.span)
        weights = _eased(weights, outside, clip.frame_rate)
        pinned |= outside
    if options.cyclic:
        if pinned.any():
            raise FootlockError("A cyclic clip has no first and last pose: switch off Cyclic, or the range and pins.")
        pelvis, pose, frames = _closed(pelvis, pose)
    solved = foot_skate.remove_sliding(
        pelvis[frames],
        leg_chain.LegPose(*(getattr(pose, field.name)[frames] for field in fields(pose))),
        side[frames % total],
        weights[frames % total],
        clip.frame_rate,
        settings,
        ground.of_frames(frames % total),
        pinned[frames % total] if pinned.any() else None,
        options.cyclic,
        placements and placements.at(frames % total),
        each_step,
    )
    return _of_all_frames(solved, pelvis, pose, frames, total)


def _window(frames, span):
    """Indices of the frames that a correction of a span looks at, and which frames (n,) lie outside of the span."""
    outside = ~curves.within(frames, span)
    inside = np.flatnonzero(~outside)
    return np.arange(max(inside[0] - _BORDER, 0), min(inside[-1] + _BORDER + 1, len(frames))), outside


def _eased(weights, outside, frame_rate):
    """Weights (frames, legs) that go down to nothing towards the ends of the range, where the feet are as they were."""
    inside = np.flatnonzero(~outside)
    most = np.full(len(weights), 1.0)
    for border in (inside[0] - 1, inside[-1] + 1):
        if 0 <= border < len(weights):
            t = np.clip(np.abs(np.arange(len(weights)) - border) / (_EASE * frame_rate), 0.0, 1.0)
            most = np.minimum(most, np.maximum(t * t * (3.0 - 2.0 * t), _HARDLY))
    return np.minimum(weights, most[:, None])


def period(clip):
    """After how many frames a clip begins anew where it is a loop, else 0."""
    return _cycle(clip.head(clip.legs.pelvis), clip.leg_pose()).period


def _cycle(pelvis, pose):
    return loops.ends(np.concatenate([pose.toe, pose.heel, pose.knee], axis=1), pelvis, least=0.0)


def _closed(pelvis, pose):
    """Pelvis, pose and frames of a loop whose last frame is its first again; where it ends one frame before that, with
    this frame added. Raises FootlockError for a clip that is no loop."""
    cycle = _cycle(pelvis, pose)
    if not cycle.period:
        raise FootlockError(
            "The clip is no loop, for its last pose is not its first, or faces another way: switch off Cyclic."
        )
    if cycle.period < len(pelvis):
        return pelvis, pose, np.arange(len(pelvis))
    points = {field.name: getattr(pose, field.name) for field in fields(pose)}
    points = {name: np.concatenate([one, one[:1] + cycle.way]) for name, one in points.items()}
    pelvis = np.concatenate([pelvis, pelvis[:1] + cycle.way])
    return pelvis, leg_chain.LegPose(**points), np.arange(len(pelvis))


def _of_all_frames(part, pelvis, pose, frames, count):
    """The Correction of all frames of a clip from that of some, in order; others stay as they are."""
    if len(frames) == count:
        return part
    own = frames[frames < count]

    def whole(of_part, of_source):
        every = np.array(np.broadcast_to(of_source, (count, *of_part.shape[1:])))
        every[own] = of_part[: len(own)]
        return every

    source = {name: getattr(pose, name)[:count] for name in ("knee", "heel", "toe", "toe_end")}
    source.update(heel_target=source["heel"], toe_target=source["toe"], residual=0.0)
    legs = {
        field.name: whole(getattr(part.legs, field.name), source.get(field.name, rot.IDENTITY))
        for field in fields(part.legs)
    }
    return replace(
        part,
        pelvis=whole(part.pelvis, pelvis[:count]),
        legs=leg_chain.LegSolution(**legs),
        locked=whole(part.locked, False),
        stretch=whole(part.stretch, 1.0),
        out_of_reach=whole(part.out_of_reach, False),
    )
