"""Legs found by the shape of a skeleton in its rest pose, where no name tells them.

A leg is a chain of bones that comes down to the ground, with a knee about halfway, and its mirror image beside it.
Twist and split bones lie in line between the joints and are no joints; a leg with a second bend on the other side, as
dogs and birds have it, stands on its toes, and its foot begins at the hock.
"""

from dataclasses import dataclass

import numpy as np

from .names import Leg, LegMap, ancestors

# Shares of the height of the skeleton. Feet and all below them are no higher than this over the lowest joint ...
_LOW = 0.14
# ... and a hip no lower than this.
_HIP = 0.25
# Mirrored joints agree within this share.
_MIRRORED = 0.04
# A joint less than this away from the one before it is the same joint.
_NEAR = 0.012
# A skeleton lower than this share of its length has no legs to stand on.
_UPRIGHT = 0.2
# A bone that leads to the hip is no longer than this share of the leg, and the thigh turns off it by more than an angle
# of this cosine.
_SHORT, _TURNED = 0.22, np.cos(np.radians(12.0))
# Cosine of the least angle by which a real joint is bent; the share of the leg's way at which a knee may be.
_BENT, _KNEE = np.cos(np.radians(20.0)), (0.28, 0.72)


@dataclass(frozen=True)
class Rest:
    """A bone in rest: name of its ``parent`` or None, ``head`` and ``tail`` (3,), z up, in any unit."""

    parent: str | None
    head: np.ndarray
    tail: np.ndarray


@dataclass(frozen=True)
class _Found:
    """A leg: its bones, and the places of hip and foot."""

    bones: tuple
    hip: np.ndarray
    foot: np.ndarray
    ahead: np.ndarray


def find_legs(bones):
    """Legs of a skeleton by its shape. bones: dict of name → Rest, any order. Returns a LegMap, or None where there is
    no leg, or where it is not clear what the legs are."""
    skeleton = _Skeleton(bones)
    if not skeleton.upright:
        return None
    feet = skeleton.feet()
    legs = [leg for foot in feet if (leg := skeleton.leg(foot, feet))]
    pairs, alone = skeleton.pairs(legs)
    if any(len(leg.bones) > 3 for pair in pairs for leg in pair):
        # Coat tails and skirts reach the ground, too, but stand on nothing.
        pairs = [pair for pair in pairs if len(pair[0].bones) > 3]
        alone = [leg for leg in alone if len(leg.bones) > 3]
    stands = bool(pairs) and len(pairs[0][0].bones) > 3
    if not pairs or len(alone) > (1 if stands else 0):
        return None
    ahead = np.sum([leg.ahead for pair in pairs for leg in pair], axis=0)
    left = np.array([-ahead[1], ahead[0], 0.0])
    found = []
    for one, other in pairs:
        if not abs((one.hip - other.hip) @ left) > 0.0:
            return None
        both = (one, other) if (one.hip - other.hip) @ left > 0.0 else (other, one)
        found += [Leg(side, *leg.bones) for side, leg in zip("LR", both, strict=True)]
    return LegMap(skeleton.shared([leg.thigh for leg in found]), tuple(found), by_shape=True)


class _Skeleton:
    def __init__(self, bones):
        self.bones = bones
        self.parents = {name: bone.parent if bone.parent in bones else None for name, bone in bones.items()}
        self.children = {name: [] for name in bones}
        for name, parent in self.parents.items():
            if parent is not None:
                self.children[parent].append(name)
        self.heads = {name: np.asarray(bone.head, float) for name, bone in bones.items()}
        joints = np.array(list(self.heads.values())).reshape(-1, 3)
        extent = np.ptp(joints, axis=0) if len(joints) else np.zeros(3)
        self.height = float(extent[2])
        self.ground = float(joints[:, 2].min()) if len(joints) else 0.0
        self.upright = self.height > _UPRIGHT * float(extent.max()) and self.height > 0.0

    def feet(self):
        """Bones at which feet begin: they and all below them are near the ground, what they hang from is not."""
        low = {}

        def all_low(name):
            if name not in low:
                below = [all_low(child) for child in self.children[name]]
                low[name] = self._share(self.heads[name]) < _LOW and all(below)
            return low[name]

        for name in sorted(self.bones, key=lambda name: -len(ancestors(name, self.parents))):
            all_low(name)
        entries = [name for name in self.bones if low[name] and not low.get(self.parents[name], False)]
        # Of several that hang from one bone, helpers of a shin among them, the foot has bones below it, or is lowest.
        best = {}
        for name in sorted(entries, key=lambda name: (not self.children[name], self.heads[name][2])):
            best.setdefault(self.parents[name], name)
        return [name for name in entries if best[self.parents[name]] == name]

    def leg(self, entry, feet):
        """The leg that ends in a foot, one of all ``feet``, or None: all above it from which no other foot hangs."""
        chain = [entry]
        above_others = {bone for foot in feet if foot != entry for bone in ancestors(foot, self.parents)}
        for bone in ancestors(entry, self.parents):
            if bone in above_others:
                break
            chain.insert(0, bone)
        joints = self._joints(chain)
        while len(joints) > 3 and self._leads_aside(joints):
            joints = joints[1:]
        if len(joints) < 3 or self._share(self.heads[joints[0]]) < _HIP:
            return None
        bends = [name for name in self._bends(joints) if name != entry]
        if len(bends) == 2 and self._opposite(joints, bends):
            bones = (joints[0], *bends, entry)
        else:
            knee = self._knee(joints)
            if knee is None:
                return None
            bones = (joints[0], knee, entry, *self._toe(entry))
        tip = self.heads[bones[3]] if len(bones) > 3 else np.asarray(self.bones[entry].tail, float)
        ahead = (tip - self.heads[bones[2]]) * (1.0, 1.0, 0.0)
        size = np.linalg.norm(ahead)
        return _Found(bones, self.heads[joints[0]], self.heads[entry], ahead / size if size > 0.0 else ahead)

    def pairs(self, legs):
        """Legs and their mirror images, and those that have none."""
        left, pairs, alone = list(legs), [], []
        middle = np.mean([leg.hip for leg in legs], axis=0) if legs else np.zeros(3)
        while left:
            one = left.pop(0)
            mirrored = [other for other in left if self._are_mirrored(one, other, middle)]
            if len(mirrored) == 1:
                left.remove(mirrored[0])
                pairs.append((one, mirrored[0]))
            else:
                alone.append(one)
        return pairs, alone

    def shared(self, names):
        """The lowest bone that all hang from, "" without one."""
        above = [ancestors(name, self.parents) for name in names]
        return next((bone for bone in above[0] if all(bone in others for others in above)), "")

    def _share(self, point):
        """How high a point is over the ground, as a share of the skeleton's height."""
        return (point[2] - self.ground) / self.height

    def _far(self, point, bone):
        return np.linalg.norm(point - self.heads[bone]) > _NEAR * self.height

    def _joints(self, chain):
        """Bones of a chain, but for those that begin where the one before them does."""
        joints = []
        for name in chain:
            if joints and not self._far(self.heads[name], joints[-1]) and name != chain[-1]:
                continue
            joints.append(name)
        return joints

    def _leads_aside(self, joints):
        """True where the first bone leads from the middle of the body to the hip."""
        steps = np.diff([self.heads[name] for name in joints], axis=0)
        size = np.linalg.norm(steps, axis=1)
        turned = steps[0] @ steps[1] < _TURNED * size[0] * size[1]
        return -steps[0][2] < 0.6 * size[0] or bool(size[0] < _SHORT * size.sum() and turned)

    def _bends(self, joints):
        """Joints between the first and the last that are bent."""
        found = []
        for before, name, after in zip(joints, joints[1:], joints[2:], strict=False):
            one, other = self.heads[name] - self.heads[before], self.heads[after] - self.heads[name]
            if one @ other < _BENT * np.linalg.norm(one) * np.linalg.norm(other):
                found.append(name)
        return found

    def _opposite(self, joints, bends):
        """True where the two bends go to opposite sides."""
        points = [self.heads[joints[0]], *(self.heads[name] for name in bends), self.heads[joints[-1]]]
        steps = np.diff(points, axis=0)
        return np.cross(steps[0], steps[1]) @ np.cross(steps[1], steps[2]) < 0.0

    def _knee(self, joints):
        """The joint nearest to the middle of the way from hip to foot, None without."""
        points = np.array([self.heads[name] for name in joints])
        way = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
        shares = way / way[-1]
        inner = [i for i in range(1, len(joints) - 1) if _KNEE[0] < shares[i] < _KNEE[1]]
        return joints[min(inner, key=lambda i: abs(shares[i] - 0.5))] if inner else None

    def _toe(self, foot):
        """The bone of the toes, in a tuple: of several the one in the middle of those that are furthest ahead."""
        below = [name for name in self.children[foot] if self._far(self.heads[name], foot)]
        if not below:
            return ()
        away = {name: (self.heads[name] - self.heads[foot]) * (1.0, 1.0, 0.0) for name in below}
        furthest = max(away.values(), key=np.linalg.norm)
        toes = [name for name in below if away[name] @ furthest > 0.5 * furthest @ furthest]
        if not toes:
            return ()
        middle = np.mean([self.heads[name] for name in toes], axis=0)
        away = {name: round(float(np.linalg.norm(self.heads[name] - middle)) / self.height, 3) for name in toes}
        return (min(toes, key=lambda name: (away[name], not self.children[name])),)

    def _are_mirrored(self, one, other, middle):
        """True where hips and feet are mirrored in a plane that stands upright, in the middle between the hips."""
        if len(one.bones) != len(other.bones):
            return False
        across = (one.hip - other.hip) * (1.0, 1.0, 0.0)
        apart = np.linalg.norm(across)
        if apart < 2.0 * _NEAR * self.height:
            return False
        across, centre = across / apart, 0.5 * (one.hip + other.hip)
        limit = _MIRRORED * self.height
        for names in zip(one.bones, other.bones, strict=True):
            a, b = (self.heads[name] - centre for name in names)
            if np.linalg.norm(a - 2.0 * (a @ across) * across - b) > limit:
                return False
        return abs((centre - middle) @ across) < limit
