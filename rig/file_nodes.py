"""An armature's bones as the nodes of the file that it was imported from, and their poses as the nodes' own transforms.

Importers turn and scale what they read: the axes of the world, those of bones, the units. For each node all of this is
a constant turn before and behind its transform, which a frame that both know tells.
"""

import re
from dataclasses import dataclass
from itertools import islice, product

import numpy as np

from ..solvers import rotations as rot
from ..solvers import small_matrices
from ..solvers.errors import FootlockError

# Blender's names hold so many bytes.
_NAME_BYTES = 63
_NUMBER = re.compile(r"\.\d{3}$")
# How many ways to find the bones among the nodes are tried, where names occur more than once.
_MOST_WAYS = 64
# Entries of a rotation matrix, and shares of the skeleton's size, by which the poses may differ from the file's: keys
# of single precision through two programs.
_SAME_TURN = 1e-3
_SAME_PLACE = 1e-3


@dataclass(frozen=True)
class Local:
    """A node's transform against its parent over the frames: ``location`` (n, 3), ``rotation`` (n, 3, 3)."""

    location: np.ndarray
    rotation: np.ndarray


@dataclass(frozen=True)
class Spaces:
    """How an armature's bones see their nodes. ``turns``: (3, 3) of each bone of the clip and, last, of what is above
    them all; ``size``: file units of one of the armature; ``offsets``: (3,) of each bone."""

    turns: tuple
    size: float
    offsets: tuple
    error: float

    def local(self, clip, i):
        """The Local in the file of the i-th bone of a Clip."""
        pose = _relative(clip, i)
        above = self.turns[clip.bones[i].parent]
        location = self.size * pose.location @ above.T + self.offsets[i]
        return Local(location, above @ pose.rotation @ self.turns[i].T)


def ways(bones, names, parents):
    """All ways to see bones as nodes, each a dict of bone name → node index.

    bones: those of a clip, parents first; names, parents: of each node of the file, -1 for none.
    """
    found = [{}]
    for bone in bones:
        above = bones[bone.parent].name if bone.parent >= 0 else None
        fitting = [node for node, name in enumerate(names) if _is_called(bone.name, name)]
        # A name that ends in a number may be a node's own, or Blender's for the second node of a name.
        exact = [node for node in fitting if _cut(names[node]) == bone.name]
        further = (
            {**way, bone.name: node}
            for way in found
            for node in exact or fitting
            if node not in way.values() and (above is None or parents[node] == way[above])
        )
        found = list(islice(further, _MOST_WAYS))
    return found


def check_tree(parents):
    """Raise ValueError where a node hangs from itself, which Blender's importers do not expect. parents: index of the
    parent of each node, -1 for none."""
    known = set()
    for node in range(len(parents)):
        way = set()
        while node >= 0 and node not in known:
            if node in way:
                raise ValueError("a node that hangs from itself")
            way.add(node)
            node = parents[node]
        known |= way


def spaces(clip, local_of):
    """The Spaces in which the clip's poses are the file's. ``local_of``: bone name → its Local in the file at the
    clip's frames. The ``error`` of the Spaces says how well they fit."""
    poses = [_relative(clip, i) for i in range(len(clip.bones))]
    locals_ = [local_of(bone.name) for bone in clip.bones]
    below = [i for i, bone in enumerate(clip.bones) if bone.parent >= 0]
    lengths = np.array([[np.linalg.norm(one[i].location[0]) for i in below] for one in (locals_, poses)])
    size = float(lengths[0].sum() / lengths[1].sum()) if below and lengths[1].sum() > 0.0 else 1.0
    scale = max(float(lengths[0].max(initial=0.0)), 1e-12)
    return min((_fitted(clip, poses, locals_, start, size, scale) for start in _STARTS), key=lambda one: one.error)


def check(fitted, name):
    """Raise FootlockError where poses and file do not fit."""
    if not fitted.error < 1.0:
        raise FootlockError(
            "“{file}” is built in a way that Blender reads otherwise than it stands there, so it cannot be"
            " written back: give an output that ends in .blend.",
            file=name,
        )


def _fitted(clip, poses, locals_, start, size, scale):
    turns, offsets, worst = [], [], 0.0
    for bone, pose, local in zip(clip.bones, poses, locals_, strict=True):
        above = turns[bone.parent] if bone.parent >= 0 else start
        turns.append(_nearest(local.rotation[0].T @ above @ pose.rotation[0]))
        turned = above @ pose.rotation @ turns[-1].T
        moved = size * pose.location @ above.T
        # What stands above a whole skeleton may have been put elsewhere.
        offsets.append(local.location[0] - moved[0] if bone.parent < 0 else np.zeros(3))
        worst = max(
            worst,
            float(np.abs(turned - local.rotation).max()) / _SAME_TURN,
            float(np.abs(moved + offsets[-1] - local.location).max()) / (_SAME_PLACE * scale),
        )
    return Spaces((*turns, start), size, tuple(offsets), worst)


def _relative(clip, i):
    """The Local of a bone of a clip against its parent bone, or in the armature."""
    bone, pose = clip.bones[i], clip.poses[i]
    if bone.parent >= 0:
        above = clip.poses[bone.parent]
        inverse = small_matrices.inverse(above[:, :3, :3])
        location = (inverse @ (pose[:, :3, 3] - above[:, :3, 3])[..., None])[..., 0]
        turned = inverse @ pose[:, :3, :3]
    else:
        location, turned = pose[:, :3, 3], pose[:, :3, :3]
    return Local(location, turned / np.linalg.norm(turned, axis=1, keepdims=True))


def _nearest(matrix):
    """The rotation nearest to a matrix (3, 3)."""
    return rot.to_matrix(rot.from_matrix(matrix))


def _is_called(bone, name):
    if bone == _cut(name):
        return True
    stem = _NUMBER.sub("", bone)
    full = len(bone.encode()) >= _NAME_BYTES - 3
    return stem != bone and (stem == name or (full and name.startswith(stem)))


def _cut(name):
    return name.encode()[:_NAME_BYTES].decode(errors="ignore")


def _axis_turns():
    """The 24 rotations (3, 3) that take axes to axes."""
    found = []
    for order in ((0, 1, 2), (1, 2, 0), (2, 0, 1), (0, 2, 1), (2, 1, 0), (1, 0, 2)):
        for signs in product((1.0, -1.0), repeat=3):
            matrix = np.eye(3)[list(order)] * np.array(signs)[:, None]
            if np.linalg.det(matrix) > 0.0:
                found.append(matrix)
    return found


_STARTS = _axis_turns()
