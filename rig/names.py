"""Limbs found by the names of their bones.

A convention maps only as a whole: SMPL calls the ball of the foot ``L_Foot``, others call the ankle so. Names propose,
the hierarchy decides: each bone of a limb must hang from the one above it. Where the rest pose is known, ``candidates``
goes on from here.
"""

import re
from dataclasses import dataclass, replace

from ..solvers.wording import Said
from . import words

ROLES = ("thigh", "shin", "foot", "toe")
HAND = "Hand"
_SIDES = {"L": "Left", "R": "Right"}
_ORDER = ("Front", "Middle", "", "Hind", HAND)
# What legs are called: each as a whole, for other languages put the words in another order.
_LABELS = {
    str(label): label
    for label in (
        Said("Left"), Said("Front Left"), Said("Middle Left"), Said("Hind Left"), Said("Left Hand"),
        Said("Right"), Said("Front Right"), Said("Middle Right"), Said("Hind Right"), Said("Right Hand"),
    )
}  # fmt: skip
_NUMBERED = {"Left": "Left {number}", "Right": "Right {number}"}


@dataclass(frozen=True)
class Leg:
    """The bones of one leg; ``toe`` is "" where there is none. ``side``: "L", "R" or "". ``place`` tells legs of one
    side apart: "" for the only one, "Front", "Middle", "Hind", or numbers from the front. With ``place`` HAND it is an
    arm that can be planted as a leg: upper arm, forearm, hand, and the middle finger from its knuckle. ``control``: the
    bone by which an animator moves the foot, where that is none of these."""

    side: str
    thigh: str
    shin: str
    foot: str
    toe: str = ""
    place: str = ""
    control: str = ""

    @property
    def bones(self):
        """Its bones, from the hip down."""
        return tuple(filter(None, (self.thigh, self.shin, self.foot, self.toe)))

    @property
    def bearer(self):
        """The bone that bears the leg's contact property: one that an animator sees."""
        return self.control or self.toe or self.foot

    @property
    def label(self):
        """What the leg is called before a person: a bone's name, or a Said that is translated as a whole."""
        side = _SIDES.get(self.side)
        if side is None:
            return self.bearer
        after = self.place == HAND or self.place.isdigit()
        return labelled(f"{side} {self.place}" if after else f"{self.place} {side}".strip())


def labelled(text):
    """A leg's label that was kept as a text, as a Said again; a bone's name as it is."""
    side, _, number = text.partition(" ")
    if side in _NUMBERED and number.isdigit():
        return Said(_NUMBERED[side], number=number)
    return _LABELS.get(text, text)


@dataclass(frozen=True)
class LegMap:
    """The legs of a character and the ``pelvis`` between them. ``carrier``: the bone whose location moves the pelvis,
    "" for the pelvis itself. ``by_shape``: found by no name but by the shape of the skeleton."""

    pelvis: str
    legs: tuple
    carrier: str = ""
    by_shape: bool = False


@dataclass(frozen=True)
class Proposal:
    """Limbs that a convention names, of one layer of a rig; of each side as many as there are."""

    convention: words.Convention
    layer: str
    limbs: tuple

    @property
    def rank(self):
        """The larger the better: both sides, bones that deform, as many bones as there are."""
        both = {"L", "R"} <= {limb.side for limb in self.limbs}
        return both, -words.LAYERS.index(self.layer), sum(len(limb.bones) for limb in self.limbs)


def find_legs(parents):
    """Legs of a skeleton by the convention that fits best.

    parents: dict of bone name → name of its parent or None, any order. Returns a LegMap, or None where no convention
    gives a leg. A leg counts for its convention by its bones.
    """
    found = proposals(parents)
    if not found:
        return None
    first = {}
    for leg in found[0].limbs:
        first.setdefault((leg.side, leg.place), leg)
    return leg_map(placed(tuple(first.values())), parents, found[0].convention)


def proposals(parents):
    """What each convention of legs makes of a skeleton, the best first: Proposal, without those that find nothing."""
    skeleton = _Named(parents)
    front = [limb for one in _proposed(words.FRONT_LEGS, skeleton) for limb in one.limbs if limb.toe]
    found = []
    for one in _proposed(words.LEGS, skeleton):
        used = {bone for limb in one.limbs for bone in limb.bones}
        more = [replace(limb, place="Front") for limb in front if not used & set(limb.bones)]
        places = {limb.place for limb in one.limbs}
        found.append(one if "Front" in places else replace(one, limbs=(*one.limbs, *more)))
    return sorted(found, key=lambda one: one.rank, reverse=True)


def arm_proposals(parents):
    """What each convention of arms makes of a skeleton, the best first: Proposal, its limbs with ``place`` HAND."""
    found = sorted(_proposed(words.ARMS, _Named(parents)), key=lambda one: one.rank, reverse=True)
    return [replace(one, limbs=tuple(replace(limb, place=HAND) for limb in one.limbs)) for one in found]


def placed(legs):
    """Legs in order from the front, each with a place that tells it from the others of its side."""
    places = {leg.place for leg in legs}
    if len(places) == 1:
        legs = tuple(replace(leg, place="") for leg in legs)
    elif "" in places and "Hind" not in places:
        legs = tuple(replace(leg, place=leg.place or "Hind") for leg in legs)
    return tuple(sorted(legs, key=lambda leg: (_ORDER.index(leg.place), leg.side)))


def leg_map(legs, parents, convention=None):
    """The LegMap of legs, with the bone named as a pelvis above all thighs, nearest to them; otherwise the lowest bone
    above all thighs."""
    above = [ancestors(leg.thigh, parents) for leg in legs]
    shared = [bone for bone in above[0] if all(bone in others for others in above)]
    named = [bone for bone in shared if convention and convention.is_pelvis(words.read(bone))]
    return LegMap(next(iter(named or shared), ""), tuple(legs))


def ancestors(name, parents):
    """The bones above ``name``, nearest first."""
    seen = []
    name = parents.get(name)
    while name is not None and name not in seen:
        seen.append(name)
        name = parents.get(name)
    return seen


def natural(name):
    """A key that sorts names with numbers as people do."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]


class _Named:
    """A skeleton's names, read once."""

    def __init__(self, parents):
        self.parents = parents
        self.read = {name: words.read(name) for name in parents}
        self.above = {name: ancestors(name, parents) for name in parents}

    def side(self, name):
        """A bone without a side in its name has that of the nearest bone above it."""
        return next((side for bone in (name, *self.above[name]) if (side := self._own_side(bone))), "")

    def _own_side(self, name):
        return self.read[name].side if name in self.read else ""


def _proposed(conventions, skeleton):
    """Proposals of conventions, in their order."""
    for convention in conventions:
        roles = {name: role for name, read in skeleton.read.items() if (role := convention.role(read))}
        present = {skeleton.read[name].layer for name, role in roles.items() if role == "thigh"}
        for layer in sorted(present, key=words.LAYERS.index):
            limbs = _limbs(skeleton, roles, layer)
            if limbs:
                yield Proposal(convention, layer, limbs)


def _limbs(skeleton, roles, layer):
    """Limbs of a layer. Of several bones for a role the one nearest to the bone above in the limb is taken: split
    bones come first, then their parts. Of controls, toes may be called as in no layer."""
    candidates = {role: [] for role in ROLES}
    for name in sorted(roles, key=lambda name: (len(skeleton.above[name]), natural(name))):
        own = skeleton.read[name].layer
        if own == layer or (layer == "fk" and not own and roles[name] == "toe"):
            candidates[roles[name]].append(name)
    found, used = [], set()
    for thigh in candidates["thigh"]:
        side = skeleton.side(thigh)
        if not side or thigh in used or used.intersection(skeleton.above[thigh]):
            continue
        chain = [thigh]
        for role in ("shin", "foot", "toe"):
            same = [name for name in candidates[role] if skeleton.side(name) == side and name not in used]
            below = [name for name in same if chain[-1] in skeleton.above[name]]
            if not below and role == "foot":
                place = skeleton.read[thigh].place
                loose = (name for name in same if skeleton.read[name].place == place)
                below = [name for name in loose if _hangs_loose(name, thigh, skeleton)]
            if not below:
                break
            chain.append(_first(below, skeleton))
        if len(chain) >= 3:
            place = next((place for name in chain if (place := skeleton.read[name].place)), "")
            found.append(Leg(side, *chain, place=place))
            used.update(chain)
    return tuple(found)


def _first(below, skeleton):
    """The bone nearest to the one above in the limb; of three and more beside each other, five toes for one, the one in
    the middle, whose head is the common ball."""
    beside = [name for name in below if len(skeleton.above[name]) == len(skeleton.above[below[0]])]
    return beside[len(beside) // 2] if len(beside) > 2 else below[0]


def _hangs_loose(foot, thigh, skeleton):
    """True for a foot that hangs from no leg but from the root above the thigh: legs that were baked from a control rig
    have it so."""
    parent = skeleton.parents[foot]
    return parent is not None and parent in skeleton.above[thigh]
