"""Legs found by the shape of a skeleton in its rest pose, where no name tells them.

A leg is a chain of bones that comes down to the ground, with a knee about halfway, and its mirror image beside it.
Twist and split bones lie in line between the joints and are no joints; a leg with a second bend on the other side, as
dogs and birds have it, stands on its toes, and its foot begins at the hock. A foot that hangs from no leg (legs that
were baked from a control rig have it so) belongs to the nearest shin, and the two bones next to it are thigh and shin,
even if there are more above them: a horse's hind leg then bends at stifle and hock, and its hip keeps its place.
"""

from dataclasses import dataclass, replace

import numpy as np

from .names import Leg, LegMap
from .skeleton import Skeleton

# A hip is no lower than this share of the height of the skeleton.
_HIP = 0.25
# A bone that leads to the hip is no longer than this share of the leg, and the thigh turns off it by more than an angle
# of this cosine; one that does not come down may be as long as the second share.
_SHORT, _TURNED, _LEVEL = 0.22, np.cos(np.radians(12.0)), 0.3
# Cosine of the least angle by which a real joint is bent.
_BENT = np.cos(np.radians(20.0))
# A loose foot is no further than this share of the height from the head of its shin, and a shin no nearer to the ground
# than that.
_LOOSE = 0.35
# A single pair of legs without toes comes down by this share of its length: fins go out to the sides.
_DOWN = 0.8
# A foot bone longer than this share of the height points where the foot does; what is behind the heel by more than a
# right angle and this cosine is no toe. The ball of the foot is lower than a metatarsal by this share.
_FOOT, _BEHIND, _BALL = 0.03, -0.3, 0.01
# Feet point ahead where they do by this share on average; front and hind legs are further apart than by the second
# share of their length.
_POINTS, _APART = 0.1, 0.5
# Cosine of the angle between lines from hip to hip up to which they are parallel.
_PARALLEL = np.cos(np.radians(10.0))
_LEVEL_AXES = np.array([1.0, 1.0, 0.0])
# Thigh and shin are no shorter than this share of the skeleton's size: a bust that is turned stands on its cheeks.
_LONG = 0.1
# More legs than this has no animal that walks.
_MOST_LEGS = 8
# Where legs are, from the front, by how many pairs there are.
_PLACES = {1: ("",), 2: ("Front", "Hind"), 3: ("Front", "Middle", "Hind")}


@dataclass(frozen=True, eq=False)
class _Found:
    """A leg: its bones, and the places of hip and foot."""

    bones: tuple
    hip: np.ndarray
    foot: np.ndarray
    ahead: np.ndarray


def find_all(skeleton):
    """Legs of a Skeleton by its shape: a LegMap of each character in it."""
    if not skeleton.upright:
        return []
    found = _characters(skeleton)
    if not found and (loose := _loose_feet(skeleton)):
        found = _characters(Skeleton(skeleton.bones, loose))
    return found


def joints_of_toes(skeleton, foot):
    """The bone of the toes below a foot, in a tuple: of several the one in the middle of those that are furthest ahead,
    whose head is the common ball of a foot with five toes. Metatarsals are none, nor is a heel."""
    points = (np.asarray(skeleton.bones[foot].tail, float) - skeleton.heads[foot]) * _LEVEL_AXES
    size = np.linalg.norm(points)
    level = {name: (skeleton.heads[name] - skeleton.heads[foot]) * _LEVEL_AXES for name in skeleton.children[foot]}
    below = [name for name in level if skeleton.is_far(name, foot)]
    if size > _FOOT * skeleton.height:  # importers make bones so short that they point nowhere
        below = [name for name in below if level[name] @ points > _BEHIND * np.linalg.norm(level[name]) * size]
    if not below:
        return ()
    furthest = max((level[name] for name in below), key=np.linalg.norm)
    toes = [name for name in below if level[name] @ furthest > 0.5 * furthest @ furthest]
    if not toes:
        return ()
    toe = middle(skeleton, toes)
    while len(below := skeleton.children[toe]) == 1 and _goes_down(skeleton, toe, below[0]):
        toe = below[0]
    return (toe,)


def _goes_down(skeleton, toe, below):
    """True for a metatarsal with the toes below it at the ball."""
    return bool(skeleton.children[below]) and skeleton.share(below) < skeleton.share(toe) - _BALL


def middle(skeleton, names):
    """The bone in the middle of those that begin beside each other, rather one that goes on."""
    centre = np.mean([skeleton.heads[name] for name in names], axis=0)
    away = {name: round(float(np.linalg.norm(skeleton.heads[name] - centre)) / skeleton.height, 3) for name in names}
    return min(names, key=lambda name: (away[name], not skeleton.children[name]))


def ranked(pairs, ahead):
    """Legs with their places. pairs: (head of a hip (3,), Legs of one place) of each pair; ahead: (3,), the way that
    the character faces."""
    pairs = sorted(pairs, key=lambda pair: -float(pair[0] @ ahead))
    places = _PLACES.get(len(pairs)) or [str(i + 1) for i in range(len(pairs))]
    return tuple(replace(leg, place=place) for place, (_, legs) in zip(places, pairs, strict=True) for leg in legs)


def _characters(skeleton):
    feet = _feet(skeleton)
    legs = [leg for foot in feet if (leg := _leg(skeleton, foot, feet))]
    bodies = {}
    for leg in legs:
        bodies.setdefault(skeleton.body(leg.bones[0]), []).append(leg)
    if all(len(group) == 1 for group in bodies.values()):
        bodies = {"": legs}  # thighs that hang from a root on the ground
    found = [_character(skeleton, group) for group in bodies.values()]
    return [one for one in found if one is not None]


def _character(skeleton, legs):
    """The LegMap of the legs of one body, or None."""
    legs = _without_copies(skeleton, legs)
    pairs, alone = _pairs(skeleton, legs)
    standing = [pair for pair in pairs if len(pair[0].bones) > 3]
    if standing:
        # Coat tails and skirts reach the ground, too, but stand on nothing.
        pairs = [pair for pair in pairs if pair in standing or all(_apart(pair, other) for other in standing)]
        alone = [leg for leg in alone if len(leg.bones) > 3]
    if not pairs or 2 * len(pairs) > _MOST_LEGS or len(alone) > (1 if standing else 0):
        return None
    if len(pairs) == 1 and not standing and not all(_comes_down(skeleton, leg) for leg in pairs[0]):
        return None
    ahead = _ahead(pairs)
    left = np.array([-ahead[1], ahead[0], 0.0])
    found = []
    for one, other in pairs:
        both = (one, other) if (one.hip - other.hip) @ left > 0.0 else (other, one)
        sides = [Leg(side, *leg.bones) for side, leg in zip("LR", both, strict=True)]
        found.append((0.5 * (one.hip + other.hip), sides))
    placed = ranked(found, ahead)
    return LegMap(skeleton.shared([leg.thigh for leg in placed]), placed, by_shape=True)


def _ahead(pairs):
    """The way that a character faces: level, across the line from hip to hip, and as most feet point; as characters
    face in Blender where feet do not point anywhere."""
    across = np.zeros(3)
    for one, other in pairs:
        line = (one.hip - other.hip) * _LEVEL_AXES
        across += line if line @ across >= 0.0 else -line
    ahead = np.array([-across[1], across[0], 0.0]) / np.linalg.norm(across)
    feet = np.sum([leg.ahead for pair in pairs for leg in pair], axis=0) @ ahead
    sign = feet if abs(feet) > _POINTS * len(pairs) else -ahead[1]
    return ahead if sign >= 0.0 else -ahead


def _apart(pair, other):
    """True for legs that begin elsewhere on the body than others: front legs, and no skirt."""
    one, two = (np.mean([leg.hip for leg in legs], axis=0) for legs in (pair, other))
    length = np.linalg.norm(other[0].hip - other[0].foot)
    return np.linalg.norm((one - two) * _LEVEL_AXES) > _APART * length


def _feet(skeleton):
    """Bones at which feet begin."""
    entries = skeleton.entries()
    # Of several that hang from one bone, helpers of a shin among them, the foot has bones below it, or is lowest.
    best = {}
    for name in sorted(entries, key=lambda name: (not skeleton.children[name], skeleton.heads[name][2])):
        best.setdefault(skeleton.parents[name], name)
    return [name for name in entries if best[skeleton.parents[name]] == name]


def _loose_feet(skeleton):
    """Feet that hang from no leg → the shin at whose end each is: the nearest bone that ends a leg without a foot."""
    feet = skeleton.entries()
    ends = [name for name in skeleton.bones if not skeleton.children[name] and not skeleton.is_low(name)]
    legs = [name for name in ends if any(skeleton.share(bone) > _HIP for bone in _own_chain(skeleton, name)[:-1])]
    limit = _LOOSE * skeleton.height
    near = sorted(
        (away, foot, leg) for foot in feet for leg in legs if (away := skeleton.distance(foot, leg)) < limit
    )  # fmt: skip
    found = {}
    for _, foot, leg in near:
        if foot not in found and leg not in found.values():
            found[foot] = leg
    return found


def _own_chain(skeleton, name):
    """The bones above one from which nothing else hangs, from the top, and the bone."""
    chain = [name]
    while (parent := skeleton.parents[chain[0]]) is not None and len(skeleton.children[parent]) == 1:
        chain.insert(0, parent)
    return chain


def _leg(skeleton, entry, feet):
    """The leg that ends in a foot, one of all ``feet``, or None: all above it from which no other foot hangs."""
    chain = [entry]
    above_others = {bone for foot in feet if foot != entry for bone in skeleton.above[foot]}
    for bone in skeleton.above[entry]:
        if bone in above_others:
            break
        chain.insert(0, bone)
    joints = skeleton.joints(chain)
    if entry in skeleton.loose:
        joints = joints[-3:]
    while len(joints) > 3 and _leads_aside(skeleton, joints):
        joints = joints[1:]
    if len(joints) < 3 or skeleton.share(joints[0]) < _HIP:
        return None
    bends = [name for name in _bends(skeleton, joints) if name != entry]
    if entry in skeleton.loose:
        bones = (*joints, *joints_of_toes(skeleton, entry))
    elif len(bends) == 2 and _opposite(skeleton, joints, bends):
        bones = (joints[0], *bends, entry)
    else:
        knee = skeleton.knee(joints)
        if knee is None:
            return None
        bones = (joints[0], knee, entry, *joints_of_toes(skeleton, entry))
    if skeleton.length(bones[:3]) < _LONG * skeleton.size:
        return None
    tip = skeleton.heads[bones[3]] if len(bones) > 3 else np.asarray(skeleton.bones[entry].tail, float)
    ahead = (tip - skeleton.heads[bones[2]]) * _LEVEL_AXES
    size = np.linalg.norm(ahead)
    return _Found(bones, skeleton.heads[joints[0]], skeleton.heads[entry], ahead / size if size > 0.0 else ahead)


def _without_copies(skeleton, legs):
    """Of legs in one place, as control rigs have them, the one that deforms and has toes."""
    kept = []
    for leg in sorted(legs, key=lambda leg: (-sum(skeleton.bones[b].deform for b in leg.bones), -len(leg.bones))):
        near = (zip(leg.bones[:3], other.bones[:3], strict=True) for other in kept)
        if not any(all(not skeleton.is_far(*pair) for pair in pairs) for pairs in near):
            kept.append(leg)
    return [leg for leg in legs if leg in kept]


def _pairs(skeleton, legs):
    """Legs and their mirror images, and those that have none. All are mirrored in one plane: of a spider, whose front
    is like its back, the one that makes most pairs, or else that which is nearer."""
    centre = np.mean([leg.hip for leg in legs], axis=0) if legs else np.zeros(3)
    lines = {}
    for i, one in enumerate(legs):
        for j, other in enumerate(legs[:i]):
            if skeleton.are_mirrored(one.bones, other.bones, centre):
                lines[i, j] = (one.hip - other.hip) * _LEVEL_AXES
    best = []
    for line in lines.values():
        parallel = {
            pair: np.linalg.norm(other)
            for pair, other in lines.items()
            if abs(other @ line) > _PARALLEL * np.linalg.norm(other) * np.linalg.norm(line)
        }
        count = [sum(i in pair for pair in parallel) for i in range(len(legs))]
        pairs = [pair for pair in parallel if count[pair[0]] == count[pair[1]] == 1]
        rank = len(pairs), -sum(parallel[pair] for pair in pairs)
        if not best or rank > best[0]:
            best = [rank, pairs]
    pairs = [(legs[j], legs[i]) for i, j in best[1]] if best else []
    found = {id(leg) for pair in pairs for leg in pair}
    return pairs, [leg for leg in legs if id(leg) not in found]


def _comes_down(skeleton, leg):
    fallen = skeleton.heads[leg.bones[0]][2] - skeleton.heads[leg.bones[-1]][2]
    return fallen > _DOWN * skeleton.length(leg.bones)


def _leads_aside(skeleton, joints):
    """True where the first bone leads from the middle of the body to the hip."""
    steps = np.diff([skeleton.heads[name] for name in joints], axis=0)
    size = np.linalg.norm(steps, axis=1)
    turned = steps[0] @ steps[1] < _TURNED * size[0] * size[1]
    level = -steps[0][2] < 0.6 * size[0]
    return bool(size[0] < (_LEVEL if level else _SHORT) * size.sum() and (level or turned))


def _bends(skeleton, joints):
    """Joints between the first and the last that are bent."""
    found = []
    for before, name, after in zip(joints, joints[1:], joints[2:], strict=False):
        one, other = skeleton.heads[name] - skeleton.heads[before], skeleton.heads[after] - skeleton.heads[name]
        if one @ other < _BENT * np.linalg.norm(one) * np.linalg.norm(other):
            found.append(name)
    return found


def _opposite(skeleton, joints, bends):
    """True where the two bends go to opposite sides."""
    points = [skeleton.heads[name] for name in (joints[0], *bends, joints[-1])]
    steps = np.diff(points, axis=0)
    return np.cross(steps[0], steps[1]) @ np.cross(steps[1], steps[2]) < 0.0
