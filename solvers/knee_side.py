"""Side vectors: the direction about which each knee bends, from the motion itself.

The article gives the vector by hand, fixed in the knee's frame; its sign and axis are the rig's business, so here
they are found: the normal of the plane of thigh and shin, seen from the shin bone, averaged over the frames in which
the knee is bent.
"""

import numpy as np

from . import rotations as rot

# A mean normal shorter than this, where a right angle gives 1, comes from a knee that never bends, and says nothing.
_LEAST_BEND = 0.01


def side_vectors(pose, shin_frames):
    """Side vectors (frames, legs, 3) in world space, unit length, fixed in each shin bone.

    pose: LegPose (frames, legs). shin_frames: (frames, legs, 3, 3) world rotations of the bones that start at the
    knees. A leg that stays straight bends as its foot points: the knee goes forward.
    """
    return np.einsum("flij,lj->fli", shin_frames, local_sides(pose, shin_frames))


def local_sides(pose, shin_frames):
    """The same (legs, 3) as the shin bones have them."""
    thigh, shin = rot.normalized(pose.knee - pose.hip), rot.normalized(pose.heel - pose.knee)
    local = np.einsum("flij,fli->lj", shin_frames, rot.cross(thigh, shin)) / len(thigh)
    forward = rot.cross(pose.toe - pose.heel, rot.normalized(pose.heel - pose.hip))
    by_foot = np.einsum("flij,fli->lj", shin_frames, forward)
    straight = rot.length(local) < _LEAST_BEND
    return rot.normalized(np.where(straight, by_foot, local), np.array([1.0, 0.0, 0.0]))
