"""A skeleton in its rest pose: which bone hangs from which, and how high its joints are over the ground."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from .names import ancestors

# A joint less than this share of the skeleton's height away from another is the same joint.
NEAR = 0.012
# What is lower than this share of the height is near the ground.
LOW = 0.14
# Mirrored joints agree within this share of the height.
_MIRRORED = 0.04
# The share of a limb's way at which a knee or an elbow may be.
_KNEE = (0.28, 0.72)
# A skeleton lower than this share of its length has no legs to stand on.
_UPRIGHT = 0.12


@dataclass(frozen=True)
class Rest:
    """A bone in rest: name of its ``parent`` or None, ``head`` and ``tail`` (3,), z up, in any unit. ``deform``: it
    moves the mesh."""

    parent: str | None
    head: np.ndarray
    tail: np.ndarray
    deform: bool = True


class Skeleton:
    """Bones by name, as Rest, in any order. ``parents`` and ``children`` by name, ``heads`` (3,), ``height`` of all,
    their largest ``size``, and where the ``ground`` is; ``upright``: there is room for legs. ``loose``: feet that hang
    from no leg and were hung from the nearest shin."""

    def __init__(self, bones, loose=None):
        self.bones = bones
        self.loose = loose or {}
        known = {name: bone.parent if bone.parent in bones else None for name, bone in bones.items()}
        self.parents = known | self.loose
        self.children = {name: [] for name in bones}
        for name, parent in self.parents.items():
            if parent is not None:
                self.children[parent].append(name)
        self.above = {name: ancestors(name, self.parents) for name in bones}
        self.heads = {name: np.asarray(bone.head, float) for name, bone in bones.items()}
        joints = np.array(list(self.heads.values())).reshape(-1, 3)
        extent = np.ptp(joints, axis=0) if len(joints) else np.zeros(3)
        self.height, self.size = float(extent[2]), float(extent.max())
        self.ground = float(joints[:, 2].min()) if len(joints) else 0.0
        self.upright = self.height > _UPRIGHT * self.size and self.height > 0.0
        self._all_low = {}

    def share(self, name):
        """How high the head of a bone is over the ground, as a share of the skeleton's height."""
        return (self.heads[name][2] - self.ground) / self.height

    def is_far(self, name, other):
        """True for bones that do not begin in one place."""
        return self.distance(name, other) > NEAR * self.height

    def distance(self, name, other):
        """From head to head."""
        return float(np.linalg.norm(self.heads[name] - self.heads[other]))

    def is_low(self, name):
        """True where a bone and all below it are near the ground."""
        if name not in self._all_low:
            below = [self.is_low(child) for child in self.children[name]]
            self._all_low[name] = self.share(name) < LOW and all(below)
        return self._all_low[name]

    def entries(self):
        """Bones at which something low begins: they and all below them are near the ground, what they hang from is
        not."""
        return [
            name
            for name in self.bones
            if self.is_low(name) and (self.parents[name] is None or not self.is_low(self.parents[name]))
        ]

    def shared(self, names):
        """The lowest bone that all hang from, "" without one."""
        first, *others = (self.above[name] for name in names)
        return next((bone for bone in first if all(bone in above for above in others)), "")

    def body(self, name):
        """The highest bone above a limb, or the limb, that does not lie on the ground as the roots of characters do:
        one for each character."""
        standing = [bone for bone in (name, *self.above[name]) if self.share(bone) > LOW]
        return standing[-1] if standing else name

    def joints(self, chain):
        """Bones of a chain, but for those that begin where the one before them does."""
        joints = []
        for name in chain:
            if joints and not self.is_far(name, joints[-1]) and name != chain[-1]:
                continue
            joints.append(name)
        return joints

    def knee(self, joints):
        """The joint nearest to the middle of the way from the first to the last, None without."""
        points = np.array([self.heads[name] for name in joints])
        way = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
        inner = [i for i in range(1, len(joints) - 1) if _KNEE[0] * way[-1] < way[i] < _KNEE[1] * way[-1]]
        return joints[min(inner, key=lambda i: abs(way[i] - 0.5 * way[-1]))] if inner else None

    def are_mirrored(self, one, other, centre):
        """True where the bones of two limbs are mirrored in a plane that stands upright, in the middle between their
        first and by ``centre`` (3,)."""
        if len(one) != len(other):
            return False
        across = (self.heads[one[0]] - self.heads[other[0]]) * (1.0, 1.0, 0.0)
        apart = np.linalg.norm(across)
        if apart < 2.0 * NEAR * self.height:
            return False
        across, between = across / apart, 0.5 * (self.heads[one[0]] + self.heads[other[0]])
        limit = _MIRRORED * self.height
        for names in zip(one, other, strict=True):
            a, b = (self.heads[name] - between for name in names)
            if np.linalg.norm(a - 2.0 * (a @ across) * across - b) > limit:
                return False
        return bool(abs((between - centre) @ across) < limit)

    def length(self, chain):
        """The way along a chain of bones, from head to head."""
        return sum(self.distance(*pair) for pair in pairwise(chain))
