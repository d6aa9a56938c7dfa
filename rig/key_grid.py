"""The frames at which a clip is read: those of its keys, or whole ones."""

import numpy as np

from ..solvers.errors import FootlockError
from ..solvers.wording import counted
from . import curves

_LEAST_FRAMES = 3
# More than two hours at 60 Hz: a key so far from the others was not meant.
_MOST_FRAMES = 500_000


def frames(armature, paths):
    """The frames of the action (n,): those of its keys where they are evenly spaced and no further than a frame apart
    (a clip at 120 Hz may be in a scene at 24), otherwise every frame from the first to the last."""
    keyed = [
        curve
        for (path, _), curve in paths.items()
        if len(curve.keyframe_points) and not curves.is_own(path) and curves.is_valid(armature, path)
    ]
    # Out of order, or twice in a frame, as scripts leave them: Blender puts that right as soon as somebody edits them.
    at = [np.unique(curves.keys(curve)[0]) for curve in {len(curve.keyframe_points): curve for curve in keyed}.values()]
    name = armature.animation_data.action.name
    if not at:
        raise FootlockError(
            "The action “{name}” has no keys for “{armature}”: choose another action.",
            name=name,
            armature=armature.name,
        )
    ranges = np.array([curve.range() for curve in keyed])
    if not np.isfinite(ranges).all():
        raise FootlockError(
            "The action “{name}” has a key at a frame that is not a number: delete it in the Graph Editor and"
            " run again.",
            name=name,
        )
    first, last = ranges[:, 0].min(), ranges[:, 1].max()
    if last - first > _MOST_FRAMES:
        raise FootlockError(
            "The action “{name}” goes from frame {first:g} to {last:g}, which is more than {most_frames}"
            " frames: delete the key that is far from the others.",
            name=name,
            first=first,
            last=last,
            most_frames=_MOST_FRAMES,
        )
    longest = max(at, key=len)
    step = (longest[-1] - longest[0]) / max(len(longest) - 1, 1)
    grid = longest[0] + step * np.arange(len(longest))
    dense = len(longest) > 2 and step <= 1.0 + curves.SAME_FRAME and np.abs(longest - grid).max() < curves.SAME_FRAME
    if not dense:
        longest = np.arange(np.floor(first), np.ceil(last) + 1.0)
    elif first < longest[0] - curves.SAME_FRAME or last > longest[-1] + curves.SAME_FRAME:
        # Another curve goes on: the same grid, as far as that.
        before = np.ceil((longest[0] - first) / step - curves.SAME_FRAME)
        after = np.ceil((last - longest[0]) / step - curves.SAME_FRAME)
        longest = longest[0] + step * np.arange(-before, after + 1.0)
    if len(longest) < _LEAST_FRAMES:
        raise FootlockError(
            counted(
                len(longest),
                "The action “{name}” has {count} frame, and sliding shows from {least} on: choose a longer action.",
                "The action “{name}” has {count} frames, and sliding shows from {least} on: choose a longer action.",
                name=name,
                least=_LEAST_FRAMES,
            )
        )
    return longest
