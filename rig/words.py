"""Names of bones taken apart into words, and the words that the conventions of the field have for the bones of a limb.

``mixamorig:LeftUpLeg`` is left, up, leg; so are ``LEFTUPLEG`` and ``left_up_leg.001``. The side is set apart, and what
tells front legs from hind legs, and which copy of a limb a control rig has a bone for: its deform bones, the bones of
the rig it was made from, or FK controls.
"""

import re
import unicodedata
from dataclasses import dataclass
from functools import cached_property, lru_cache

_SIDES = {"left": "L", "l": "L", "lf": "L", "左": "L", "right": "R", "r": "R", "rt": "R", "右": "R"}
_PLACES = {
    "front": "Front", "fore": "Front", "f": "Front", "mid": "Middle", "middle": "Middle",
    "hind": "Hind", "rear": "Hind", "back": "Hind",
}  # fmt: skip
# Words before which the ones above say where a leg is: a "fore arm" and a "middle finger" are something else.
_PLACED = {"up", "upper", "low", "lower", "leg", "thigh", "shin", "calf", "knee", "foot", "ankle", "toe", "toes", "paw",
           "hoof", "palm"}  # fmt: skip
# Copies of a limb that a rig has, the one to key first: what deforms, then what that follows, then controls.
LAYERS = ("def", "", "org", "ref", "fk", "d")
# The same, as they stand in names. MMD models repeat their legs for the mesh, as "D" and "EX".
_LAYERS = {"def": "def", "org": "org", "ref": "ref", "fk": "fk", "d": "d", "ex": "d"}
# A bone with one of these in its name is no joint of the limb but helps one.
_HELPERS = {
    "twist", "roll", "share", "tweak", "mch", "vis", "ik", "pole", "target", "corrective", "correctives", "platform",
    "end", "nub", "tip", "leaf", "site", "ctrl", "helper", "socket", "cancel", "adj", "sec",
    "親", "捩", "キャンセル", "補助",
}  # fmt: skip
# Before a word of a convention these make another word of it: "upper leg" is no "leg".
_QUALIFIERS = {"up", "upper", "low", "lower", "fore"}
# Words that names in one case, without separators, are made of.
_KNOWN = {
    "l", "r", "left", "right", "front", "fore", "mid", "middle", "hind", "rear", "back", "def", "org", "ref",
    "hip", "hips", "pelvis", "root", "base", "ball", "bend", "stretch", "joint", "digit", "hub",
    "bip", "biped", "cat", "rig", "mixamorig", "bone", "spine", "shoulder", "collar", "arm", "elbow", "hand", "wrist",
    "finger", "thumb", "index", "ring", "pinky", "shldr", "metatarsals",
    *_PLACED, *(word for word in _HELPERS if word.isascii() and len(word) > 2),
}  # fmt: skip
# Japanese words are written without spaces, too.
_JAPANESE = (
    "キャンセル", "センター", "下半身", "上半身", "つま先", "足首", "足先", "手首", "中指", "ひざ", "ひじ", "補助",
    "左", "右", "足", "膝", "腰", "腕", "肘", "肩", "捩", "親", "先", "指", "手",
)  # fmt: skip
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")
_COPY = re.compile(r"\.\d{3,}$")


@dataclass(frozen=True)
class Read:
    """A name that was read. ``side``: "L", "R" or ""; ``place``: "Front", "Middle", "Hind" or ""; ``layer``: one of
    LAYERS; ``helps``: it is no joint; ``words``: what is left, lower case, without numbers; ``numbered``: with."""

    side: str
    place: str
    layer: str
    helps: bool
    words: tuple
    numbered: tuple


@dataclass(frozen=True)
class Convention:
    """What the bones of a limb and of the pelvis above it are called: for each role the possible words, as tuples."""

    name: str
    pelvis: tuple
    thigh: tuple
    shin: tuple
    foot: tuple
    toe: tuple

    def role(self, read):
        """The role that a name has, by the longest match of its last words; None without."""
        if read.helps:
            return None
        for size, plain, numbered in self._patterns:
            role = _of_last(size, read.words, plain)
            if numbered:
                role = max(role, _of_last(size, read.numbered, numbered))
            if role:
                return role
        return None

    def is_pelvis(self, read):
        """True for a name of the pelvis."""
        return any(read.words[-len(words) :] == words for words in self.pelvis)

    @cached_property
    def _patterns(self):
        """Of each number of words, the longest first: the number, and words → role, those without numbers and those
        with."""
        patterns = {}
        for role in sorted(("thigh", "shin", "foot", "toe")):
            for words in getattr(self, role):
                with_number = any(word.isdigit() for word in words)
                patterns.setdefault(len(words), ({}, {}))[with_number][words] = role
        return [(size, *patterns[size]) for size in sorted(patterns, reverse=True)]


def _words(*names):
    return tuple(tuple(name.split()) for name in names)


_TOES = _words("toe base", "toe", "toes", "ball", "paw", "hoof")
_HIPS = _words("hips", "hip", "pelvis", "spine", "root")

# Of two that fit a skeleton equally well the earlier is taken: the later are less common.
LEGS = (
    Convention("HumanIK", _words("hips", "hip", "pelvis"), _words("up leg"), _words("leg"), _words("foot"), _TOES),
    Convention("Hip, knee, ankle", _words("hips", "pelvis"), _words("hip"), _words("knee"), _words("ankle"), _TOES),
    Convention("SMPL", _words("pelvis"), _words("hip"), _words("knee"), _words("ankle"), _words("foot")),
    Convention("Unreal", _words("pelvis", "hips"), _words("thigh"), _words("calf"), _words("foot"), _TOES),
    Convention("Rigify", _HIPS, _words("thigh", "thigh bend"), _words("shin"), _words("foot"), _TOES),
    Convention(
        "Upper and lower leg",
        _words("hips", "hip", "pelvis"),
        _words("upper leg", "up leg"),
        _words("lower leg", "low leg"),
        _words("foot"),
        _TOES,
    ),
    Convention(
        "Auto-Rig Pro", _words("root"), _words("thigh stretch"), _words("leg stretch"), _words("foot"), _words("toes")
    ),
    Convention(
        "CAT", _words("hub", "pelvis"), _words("leg 1"), _words("leg 2"), _words("leg ankle"), _words("leg digit")
    ),
    Convention(
        "MikuMikuDance",
        _words("下半身", "腰", "センター"),
        _words("足"),
        _words("ひざ", "膝"),
        _words("足首"),
        _words("つま先", "足先"),
    ),
    Convention(
        "Leg, knee, ankle",
        _words("hips", "hip", "pelvis", "waist"),
        _words("leg"),
        _words("knee"),
        _words("ankle"),
        _TOES,
    ),
    Convention(
        "Mixed",
        _HIPS,
        _words("up leg", "upper leg", "thigh", "thigh bend"),
        _words("leg", "lower leg", "low leg", "calf", "shin", "knee"),
        _words("foot", "ankle"),
        _TOES,
    ),
)
# Front legs that are called arms stand on toes or hooves, which tells them from arms.
FRONT_LEGS = (
    Convention(
        "Front legs",
        _HIPS,
        _words("upper arm", "arm"),
        _words("fore arm", "lower arm"),
        _words("hand", "foot", "wrist"),
        _words("toe", "toes", "hoof", "paw"),
    ),
)
_FINGERS = _words("middle", "mid", "middle finger", "middle proximal")
ARMS = (
    Convention("HumanIK arm", _HIPS, _words("arm"), _words("fore arm"), _words("hand"), _FINGERS),
    Convention(
        "Shoulder, elbow, wrist", _HIPS, _words("shoulder"), _words("elbow"), _words("wrist"), (*_FINGERS, ("hand",))
    ),
    Convention(
        "Upper arm and forearm",
        _HIPS,
        _words("upper arm"),
        _words("fore arm", "lower arm"),
        _words("hand", "wrist"),
        (*_FINGERS, *_words("finger 2", "finger 20", "finger 3 1")),
    ),
    Convention(
        "DAZ arm",
        _HIPS,
        _words("shldr", "shldr bend"),
        _words("fore arm", "fore arm bend"),
        _words("hand"),
        _FINGERS,
    ),
    Convention(
        "Auto-Rig Pro arm",
        _HIPS,
        _words("arm stretch"),
        _words("fore arm stretch"),
        _words("hand"),
        _FINGERS,
    ),
    Convention(
        "CAT arm", _HIPS, _words("arm 1"), _words("arm 2"), _words("arm palm"), _words("arm digit 31", "arm digit 21")
    ),
    Convention(
        "MikuMikuDance arm", _HIPS, _words("腕"), _words("ひじ", "肘"), _words("手首"), _words("中指 1", "中指")
    ),
)


@lru_cache(maxsize=8192)
def read(name):
    """What a bone's name says: a Read."""
    text = unicodedata.normalize("NFKC", name)
    text = _COPY.sub("", text[text.rfind(":") + 1 :])
    found = [word for run in _WORD.findall(text) for word in _parts(run.lower())]
    side = _side(found)
    found = [word for i, word in enumerate(found) if word not in _SIDES or _is_place(found, i)]
    places = [i for i in range(len(found)) if _is_place(found, i)]
    place = next((_PLACES.get(found[i], "Hind") for i in places), "")
    found = [word for i, word in enumerate(found) if i not in places]
    layer = next((_LAYERS[word] for word in found if word in _LAYERS), "")
    numbered = tuple(word.lstrip("0") or "0" if word.isdigit() else word for word in found if word not in _LAYERS)
    words = tuple(word for word in numbered if not word.isdigit())
    return Read(side, place, layer, bool(_HELPERS.intersection(words)), words, numbered)


def _side(found):
    """The side is the last word or the first that is a side: the cat's "r_toe.L" is a left one of the rear."""
    tokens = [word for word in found if not word.isdigit()]
    sides = [_SIDES[word] for word in tokens if word in _SIDES]
    if not sides:
        return ""
    return sides[-1] if tokens[-1] in _SIDES else sides[0]


def _is_place(found, i):
    """True for a word that says where on the body a leg is. "r" is the rear where another word is the side."""
    after = found[i + 1 : i + 2]
    if not after or after[0] not in _PLACED:
        return False
    if found[i] in ("mid", "middle") and after[0] in ("toe", "toes"):
        return False
    return found[i] in _PLACES or (found[i] == "r" and any(word in _SIDES for word in found[i + 1 :]))


@lru_cache(maxsize=8192)
def _parts(run):
    """The words of a run of letters, which is a word itself where it is not made of known ones."""
    if run.isdigit() or run in _KNOWN or run in _SIDES:
        return (run,)
    if not run.isascii():
        return _japanese(run)
    return _split(run) or (run,)


def _split(run, sided=False):
    """Known words that make up a run, longest first, with one letter for the side at most; None without."""
    for length in range(len(run), 0, -1):
        head, rest = run[:length], run[length:]
        if head not in _KNOWN or (len(head) == 1 and sided):
            continue
        if not rest:
            return (head,)
        tail = _split(rest, sided or len(head) == 1)
        if tail:
            return (head, *tail)
    return None


def _japanese(run):
    found = []
    while run:
        word = next((word for word in _JAPANESE if run.startswith(word)), run)
        found.append(word)
        run = run[len(word) :]
    return tuple(found)


def _of_last(size, words, roles):
    """The role of the last so many words of a name, or ""; also where a word before makes them another."""
    role = roles.get(words[-size:], "")
    return "" if role and len(words) > size and words[-size - 1] in _QUALIFIERS else role
