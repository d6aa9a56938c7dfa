"""Forward kinematics of Blender's armatures in numpy, and its inverse.

How a bone's channels and its parent make its pose matrix, for each way in which a bone can inherit scale and
rotation, follows what Blender does (``BKE_bone_parent_transform_calc_from_matrices``); the removal of shear in
``_orthogonal`` follows Blender's own (GPL). Armature space throughout, in the armature's units. Matrices are (frames,
4, 4), or (4, 4) at rest; a channel that is not animated may have one frame, which broadcasts.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..solvers import euler, small_matrices
from ..solvers import rotations as rot

# Axes whose cosine is below this are square; Blender's own threshold.
_SQUARE = 1e-4
# Radians. Angles of one rotation that differ by less are the same solution.
_SAME_TURN = 1.0
# Radians. An angle that differs by less from what it was is as it was.
_SAME_NUMBER = 1e-6
# What Blender makes of a quaternion without length: half a turn about x.
_NO_QUATERNION = np.array([0.0, 1.0, 0.0, 0.0])


@dataclass(frozen=True)
class Bone:
    """What the pose of a bone depends on besides its channels. ``parent`` is an index into the skeleton, -1 without;
    ``rest`` (4, 4) its matrix in the armature; ``length`` in the armature's units; ``follows``: a constraint stands for
    its parent."""

    name: str
    parent: int
    rest: np.ndarray
    length: float
    rotation_mode: str = "QUATERNION"
    connected: bool = False
    inherit_rotation: bool = True
    inherit_scale: str = "FULL"
    local_location: bool = True
    follows: bool = False

    @cached_property
    def from_rest(self):
        """The inverse (4, 4) of ``rest``."""
        return small_matrices.inverse_affine(self.rest[None])[0]


@dataclass(frozen=True)
class Channels:
    """Channels of one bone: ``location`` (frames, 3), ``rotation`` (frames, 4) quaternion or axis-angle, or (frames,
    3) Euler, ``scale`` (frames, 3)."""

    location: np.ndarray
    rotation: np.ndarray
    scale: np.ndarray


@dataclass(frozen=True)
class Space:
    """What a bone's channels are relative to: ``rotation`` (…, 3, 3) before its rotation and scale, ``location`` (…,
    4, 4) of its location, and ``stretch`` (…, 3) of the result's columns, or None."""

    rotation: np.ndarray
    location: np.ndarray
    stretch: np.ndarray | None


def rotation_matrix(rotation, mode):
    """Rotation matrices (frames, 3, 3) of a bone's rotation channel in its rotation mode."""
    if mode == "QUATERNION":
        return rot.to_matrix(rot.normalized(rotation, _NO_QUATERNION))
    if mode == "AXIS_ANGLE":
        return rot.to_matrix(rot.from_scaled_angle_axis(rot.normalized(rotation[:, 1:]) * rotation[:, :1]))
    axes, columns = _euler_axes(mode)
    return euler.to_matrix(rotation[:, columns], axes)


def rotation_channel(matrix, mode, near):
    """The rotation channel of rotation matrices (frames, 3, 3) in a bone's rotation mode, nearest to ``near``, the
    channel as it was (frames or 1, n).

    So a rotation that did not change gives its own numbers back: the sign of a quaternion and its length, the turns
    of an Euler angle.
    """
    near = np.broadcast_to(near, (len(matrix), near.shape[1]))
    if mode == "QUATERNION":
        size = rot.length(near)
        q = rot.from_matrix(matrix)
        return np.where(rot.dot(q, near) < 0.0, -q, q) * np.where(size > 0.0, size, 1.0)
    if mode == "AXIS_ANGLE":
        return _axis_angle(matrix, near)
    axes, columns = _euler_axes(mode)
    channel = np.empty((len(matrix), 3))
    angles = euler.from_matrix(matrix, axes, near[:, columns])
    channel[:, columns] = without_new_jumps(angles, near[:, columns], euler.solutions)
    return channel


def without_new_jumps(channel, old, solutions):
    """A rotation channel (frames, n) whose angles do not jump by more than half a turn between neighbours where those
    of ``old`` (frames, n) did not.

    Each frame was taken for itself, nearest to the old one; where that jumps, the frames after it follow the one
    before, until the two agree again or a frame is as it was. ``solutions``: (n,), (n,) → the values of the same
    rotation nearest to the second.
    """

    def jumps(values):
        return (np.abs(np.diff(values, axis=0)) > np.pi).any(axis=1)

    channel = channel.copy()
    for first in np.flatnonzero(jumps(channel) & ~jumps(old)) + 1:
        for i in range(first, len(channel)):
            if np.abs(channel[i] - old[i]).max() < _SAME_NUMBER:
                break
            following = solutions(channel[i], channel[i - 1] + old[i] - old[i - 1])
            if np.abs(following - channel[i]).max() < _SAME_TURN:
                break
            channel[i] = following
    return channel


def _axis_angle_solutions(values, near):
    """Axis and angle (4,) of the same rotation, the angle nearest to that of ``near``."""
    found = [np.concatenate([[sign * values[0]], sign * values[1:]]) for sign in (1.0, -1.0)]
    for one in found:
        one[0] += 2.0 * np.pi * np.round((near[0] - one[0]) / (2.0 * np.pi))
    return min(found, key=lambda one: abs(one[0] - near[0]))


def _euler_axes(mode):
    """The axes of an Euler mode as a product of matrices, and where their angles are in the channel, which is (x, y,
    z) in every mode. Blender's "XYZ" turns about x first, which as a product stands last."""
    axes = mode[::-1]
    return axes, ["XYZ".index(axis) for axis in axes]


def _axis_angle(matrix, near):
    """Axis and angle (frames, 4) of rotation matrices, with the axis on the side of the old one and the angle within
    half a turn of the old one."""
    q = rot.from_matrix(matrix)
    old_axis = rot.normalized(near[:, 1:], np.array([0.0, 1.0, 0.0]))
    old_length = rot.length(near[:, 1:])
    axis = rot.normalized(q[:, 1:])
    still = rot.length(q[:, 1:]) < 1e-9
    axis = np.where(still, old_axis, axis)
    angle = 2.0 * np.arctan2(rot.length(q[:, 1:]), q[:, :1])
    flip = rot.dot(axis, old_axis) < 0.0
    axis, angle = np.where(flip, -axis, axis), np.where(flip, -angle, angle)
    angle = angle + 2.0 * np.pi * np.round((near[:, :1] - angle) / (2.0 * np.pi))
    channel = np.concatenate([angle, axis * np.where(old_length > 0.0, old_length, 1.0)], axis=1)
    return without_new_jumps(channel, near, _axis_angle_solutions)


def basis(channels, mode, connected):
    """Channel matrices (frames, 4, 4). The location of a connected bone is ignored, as Blender does."""
    frames = max(len(channels.location), len(channels.rotation), len(channels.scale))
    matrix = np.zeros((frames, 4, 4))
    matrix[:, :3, :3] = rotation_matrix(channels.rotation, mode) * channels.scale[:, None, :]
    if not connected:
        matrix[:, :3, 3] = channels.location
    matrix[:, 3, 3] = 1.0
    return matrix


def space(bone, parent_bone, parent_pose):
    """The Space of a bone under the pose of its parent (frames, 4, 4); ``parent_bone`` and ``parent_pose`` are None
    for a root."""
    if parent_bone is None:
        location = bone.rest
        if not bone.local_location:
            location = np.eye(4)
            location[:3, 3] = bone.rest[:3, 3]
        return Space(bone.rest[None, :3, :3], location[None], None)
    offset = parent_bone.from_rest @ bone.rest
    parent = parent_pose[:, :3, :3]
    base, stretch = parent, None
    if bone.inherit_rotation:
        if bone.inherit_scale in ("NONE", "AVERAGE"):
            base = _orthogonal(parent, unit=True)
        elif bone.inherit_scale == "ALIGNED":
            square = _orthogonal(parent, unit=False)
            stretch = _column_lengths(square)
            base = square / stretch[:, None, :]
        elif bone.inherit_scale == "NONE_LEGACY":
            base = parent / _column_lengths(parent)[:, None, :]
    else:
        base = np.broadcast_to(parent_bone.rest[:3, :3], parent.shape)
        if bone.inherit_scale == "FULL":
            base = base * _column_lengths(parent)[:, None, :]
        elif bone.inherit_scale == "FIX_SHEAR":
            base = base * _sizes_by_volume(parent)[:, None, :]
        elif bone.inherit_scale == "ALIGNED":
            stretch = _sizes_by_volume(parent)
    if bone.inherit_scale == "AVERAGE":
        base = base * np.cbrt(np.abs(np.linalg.det(parent)))[:, None, None]
    rotation = base @ offset[:3, :3]
    if bone.inherit_scale == "FIX_SHEAR":
        rotation = _orthogonal(rotation, unit=False)
    location = parent_pose @ offset
    if not bone.local_location:
        location[:, :3, :3] = parent
    return Space(rotation, location, stretch)


def carried(in_space, way):
    """A Space that something carries along by ``way`` (frames, 4, 4)."""
    return Space(way[:, :3, :3] @ in_space.rotation, way @ in_space.location, in_space.stretch)


def pose(in_space, matrix):
    """Pose matrices (frames, 4, 4) of a bone with channel matrices ``matrix`` in its Space."""
    result = np.zeros((max(len(matrix), len(in_space.location)), 4, 4))
    result[:, :3, :3] = in_space.rotation @ matrix[:, :3, :3]
    if in_space.stretch is not None:
        result[:, :3, :3] *= in_space.stretch[:, None, :]
    result[:, :3, 3] = (in_space.location[:, :3, :3] @ matrix[:, :3, 3, None])[..., 0] + in_space.location[:, :3, 3]
    result[:, 3, 3] = 1.0
    return result


def local_rotation(in_space, oriented, scale=(1.0, 1.0, 1.0)):
    """The channel rotation (frames, 3, 3) that brings a bone's pose to the orientation ``oriented`` (frames, 3, 3),
    whose columns may be scaled. ``scale``: the bone's scale channel (frames, 3), which may mirror it."""
    if in_space.stretch is not None:
        oriented = oriented / in_space.stretch[:, None, :]
    local = small_matrices.inverse(in_space.rotation) @ oriented
    local = local * np.where(np.less(scale, 0.0), -1.0, 1.0).reshape(-1, 1, 3)
    # Scale is in the columns and shear, where there is any, cannot be expressed by channels: the nearest rotation is
    # what remains.
    return _nearest_rotation(local / _column_lengths(local)[:, None, :])


def local_location(in_space, head):
    """The location channel (frames, 3) that brings a bone's head to ``head`` (frames, 3)."""
    offset = head - in_space.location[:, :3, 3]
    return (small_matrices.inverse(in_space.location[:, :3, :3]) @ offset[..., None])[..., 0]


def _nearest_rotation(matrix):
    """Rotations nearest to matrices (frames, 3, 3) of unit columns. Only where the columns are not square, which is
    where the parents shear, is there anything to do."""
    skew = np.abs(np.einsum("fij,fik->fjk", matrix, matrix) - np.eye(3)).max(axis=(1, 2))
    sheared = skew > _SQUARE
    if not sheared.any():
        return matrix
    nearest = matrix.copy()
    u, _, v = np.linalg.svd(matrix[sheared])
    nearest[sheared] = u @ v
    return nearest


def _column_lengths(matrix):
    return np.sqrt(np.einsum("fij,fij->fj", matrix, matrix))


def _sizes_by_volume(matrix):
    """Column lengths (frames, 3) scaled so that their product is the volume."""
    size = _column_lengths(matrix)
    volume = np.prod(size, axis=-1)
    return size * np.cbrt(np.abs(np.linalg.det(matrix)) / np.where(volume > 0.0, volume, 1.0))[:, None]


def _orthogonal(matrix, unit):
    """Matrices (frames, 3, 3) without shear: y kept, x and z made square to it, and the shear between them shared by
    both, keeping the area. With ``unit`` all columns get length 1."""
    x, y, z = (matrix[:, :, i] for i in range(3))
    square = rot.dot(y, y)
    x, z = x - y * rot.dot(x, y) / square, z - y * rot.dot(z, y) / square
    if unit:
        y = y / np.sqrt(square)
    x_length, z_length = rot.length(x), rot.length(z)
    x_unit, z_unit = x / x_length, z / z_length
    cosine = rot.dot(x_unit, z_unit)
    sheared = np.abs(cosine) > _SQUARE
    angle = np.arccos(np.clip(cosine, -1.0, 1.0))
    shared = angle + (0.5 * np.pi - angle) / 2.0
    x_new = rot.normalized(x_unit - z_unit * cosine) * np.sin(shared) + z_unit * np.cos(shared)
    z_new = rot.normalized(rot.cross(rot.cross(x_new, z_unit), x_new))
    area = np.sqrt(np.sin(angle))
    if unit:
        x, z = np.where(sheared, x_new, x_unit), np.where(sheared, z_new, z_unit)
    else:
        x, z = np.where(sheared, x_new * x_length * area, x), np.where(sheared, z_new * z_length * area, z)
    return np.stack([x, y, z], axis=-1)
