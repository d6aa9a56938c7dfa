"""Leg bones found by their names.

A name is taken apart (``mixamorig:LeftUpLeg`` is left, up, leg), its side set apart, and what is left compared with
the conventions of the field. A convention maps only as a whole: SMPL calls the ball of the foot ``L_Foot``, others
call the ankle so. Names propose, the hierarchy decides: each bone of a leg must hang from the one above it.
"""

import re
from dataclasses import dataclass

ROLES = ("thigh", "shin", "foot", "toe")

_SIDES = {"left": "L", "l": "L", "lf": "L", "right": "R", "r": "R", "rt": "R"}
# A bone with one of these in its name is no joint of the leg but helps one.
_HELPERS = {
    "twist", "roll", "share", "tweak", "mch", "ik", "fk", "pole", "target", "corrective",
    "end", "nub", "tip", "leaf", "site", "org", "ctrl",
    "helper", "socket",
}  # fmt: skip
# Before a word of a convention these make another word of it: "upper leg" is no "leg".
_QUALIFIERS = {"up", "upper", "low", "lower", "fore", "front", "hind", "rear", "back"}
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


@dataclass(frozen=True)
class Convention:
    """What the bones of a pelvis and a leg are called: for each role the possible words, as tuples."""

    name: str
    pelvis: tuple
    thigh: tuple
    shin: tuple
    foot: tuple
    toe: tuple


def _words(*names):
    return tuple(tuple(name.split()) for name in names)


CONVENTIONS = (
    Convention(
        "HumanIK",
        _words("hips", "hip", "pelvis"),
        _words("up leg"),
        _words("leg"),
        _words("foot"),
        _words("toe base", "toe", "toes"),
    ),
    Convention(
        "Hip, knee, ankle",
        _words("hips", "pelvis"),
        _words("hip"),
        _words("knee"),
        _words("ankle"),
        _words("toe", "toe base", "toes"),
    ),
    Convention("SMPL", _words("pelvis"), _words("hip"), _words("knee"), _words("ankle"), _words("foot")),
    Convention(
        "Unreal",
        _words("pelvis", "hips"),
        _words("thigh"),
        _words("calf"),
        _words("foot"),
        _words("ball", "toe", "toe base"),
    ),
    Convention(
        "Rigify",
        _words("spine", "hips", "pelvis", "hip"),
        _words("thigh", "thigh bend"),
        _words("shin"),
        _words("foot"),
        _words("toe", "toes", "toe base"),
    ),
    Convention(
        "Upper and lower leg",
        _words("hips", "hip", "pelvis"),
        _words("upper leg"),
        _words("lower leg"),
        _words("foot"),
        _words("toes", "toe", "toe base"),
    ),
    Convention(
        "Auto-Rig Pro",
        _words("root"),
        _words("thigh stretch", "thigh ref"),
        _words("leg stretch", "leg ref"),
        _words("foot", "foot ref"),
        _words("toes", "toes ref"),
    ),
    Convention("MakeHuman", _words("pelvis"), _words("upperleg"), _words("lowerleg"), _words("foot"), _words("toe")),
)


@dataclass(frozen=True)
class Leg:
    """The bones of one leg; ``toe`` is "" where there is none. ``side``: "L", "R" or ""."""

    side: str
    thigh: str
    shin: str
    foot: str
    toe: str = ""

    @property
    def bearer(self):
        """The bone that bears the leg's contact property."""
        return self.toe or self.foot

    @property
    def label(self):
        """What the leg is called before a person."""
        return {"L": "Left", "R": "Right"}.get(self.side, self.bearer)


@dataclass(frozen=True)
class LegMap:
    """The legs of a character and the ``pelvis`` between them. ``carrier``: the bone whose location moves the pelvis,
    "" for the pelvis itself. ``by_shape``: found by no name but by the shape of the skeleton."""

    pelvis: str
    legs: tuple
    carrier: str = ""
    by_shape: bool = False


def find_legs(parents):
    """Legs of a skeleton by the convention that fits best.

    parents: dict of bone name → name of its parent or None, any order. Returns a LegMap, or None where no convention
    gives a leg. A leg counts for its convention by its bones; of two that give as much the earlier in the list is
    taken, since the later are less common.
    """
    parsed = {name: parse(name) for name in parents}
    sides = {name: _side(name, parents, parsed) for name in parents}
    best, best_score = None, 0
    for convention in CONVENTIONS:
        legs = [leg for side in ("L", "R") if (leg := _leg(convention, side, parents, parsed, sides))]
        score = sum(4 if leg.toe else 3 for leg in legs)
        if score > best_score:
            best, best_score = LegMap(_pelvis(convention, legs, parents, parsed), tuple(legs)), score
    return best


def parse(name):
    """Side ("L", "R" or "") and the other words of a bone's name, lower case and without numbers."""
    words = [word.lower() for word in _WORD.findall(name.rsplit(":", 1)[-1])]
    side = next((_SIDES[word] for word in words if word in _SIDES), "")
    return side, tuple(word for word in words if word not in _SIDES and not word.isdigit())


def ancestors(name, parents):
    """The bones above ``name``, nearest first."""
    seen = []
    name = parents.get(name)
    while name is not None and name not in seen:
        seen.append(name)
        name = parents.get(name)
    return seen


def _side(name, parents, parsed):
    """A bone without a side in its name has that of the nearest bone above it."""
    return next((parsed[bone][0] for bone in (name, *ancestors(name, parents)) if parsed[bone][0]), "")


def _role(convention, words):
    """The role that a name has in a convention, by the longest match of its last words; None without."""
    if _HELPERS & set(words):
        return None
    matches = [
        (len(pattern), role)
        for role in ROLES
        for pattern in getattr(convention, role)
        if words[-len(pattern) :] == pattern
        and not (len(words) > len(pattern) and words[-len(pattern) - 1] in _QUALIFIERS)
    ]
    return max(matches)[1] if matches else None


def _leg(convention, side, parents, parsed, sides):
    """The leg of one side, or None. Of several bones for a role the one nearest to the bone above in the leg is
    taken: split bones come first, then their parts."""
    candidates = {role: [] for role in ROLES}
    for name in parents:
        if sides[name] == side and (role := _role(convention, parsed[name][1])):
            candidates[role].append(name)
    depth = {name: len(ancestors(name, parents)) for role in ROLES for name in candidates[role]}
    for thigh in sorted(candidates["thigh"], key=depth.get):
        chain = [thigh]
        for role in ("shin", "foot", "toe"):
            below = [name for name in candidates[role] if chain[-1] in ancestors(name, parents)]
            if not below and role == "foot":
                below = [name for name in candidates[role] if _hangs_loose(name, thigh, parents)]
            if not below:
                break
            chain.append(min(below, key=depth.get))
        if len(chain) >= 3:
            return Leg(side, *chain)
    return None


def _hangs_loose(foot, thigh, parents):
    """True for a foot that hangs from no leg but from the root above the thigh: legs that were baked from a control rig
    have it so."""
    return parents[foot] is not None and parents[foot] in ancestors(thigh, parents)


def _pelvis(convention, legs, parents, parsed):
    """The bone named as a pelvis above all thighs, nearest to them; otherwise the lowest bone above all thighs."""
    if not legs:
        return ""
    above = [ancestors(leg.thigh, parents) for leg in legs]
    shared = [bone for bone in above[0] if all(bone in others for others in above)]
    named = [bone for bone in shared if any(parsed[bone][1][-len(words) :] == words for words in convention.pelvis)]
    return next(iter(named or shared), "")
