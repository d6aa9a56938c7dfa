"""Skeletons as the conventions of the field name their bones, in the shape of people and beasts.

``tests/data/leg_names.json`` has the names, left side only; here they get bodies, a right side, and what rigs have
besides: twist and split bones, five toes or none, prefixes, other cases, names that somebody changed. A Made has its
bones as Rest and the legs that must be found.
"""

import json
import random
import re
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from footlock.rig.skeleton import Rest

TABLE = json.loads((Path(__file__).parent / "data" / "leg_names.json").read_text(encoding="utf-8"))
PEOPLE, BEASTS = TABLE["people"], TABLE["beasts"]

# Hip, knee, ankle, ball and tip of the toes, metres; the side is +x, the way ahead -y.
LEG = ((0.1, 0.0, 0.95), (0.11, -0.03, 0.52), (0.105, 0.03, 0.09), (0.105, -0.12, 0.02), (0.105, -0.2, 0.02))
ARM = ((0.17, 0.0, 1.45), (0.44, 0.01, 1.45), (0.7, 0.0, 1.45), (0.79, -0.01, 1.45), (0.88, -0.01, 1.45))
SPINE = ((0.0, 0.0, 1.1), (0.0, 0.0, 1.3), (0.0, 0.0, 1.6), (0.0, 0.0, 1.8))
HIND = ((0.1, 0.5, 0.75), (0.11, 0.4, 0.5), (0.11, 0.6, 0.25), (0.11, 0.55, 0.06), (0.11, 0.45, 0.02))
FORE = ((0.1, -0.4, 0.75), (0.11, -0.3, 0.5), (0.11, -0.35, 0.24), (0.11, -0.42, 0.06), (0.11, -0.52, 0.02))

_SIDES = (
    ("Left", "Right"), ("left", "right"), ("左", "右"),
    (r"(?<![A-Za-z])L(?![A-Za-z])", "R"), (r"(?<![A-Za-z])l(?![A-Za-z])", "r"),
    (r"(?<![A-Za-z])l(?=[A-Z])", "r"), (r"(?<=[a-z])L(?=[A-Z])", "R"), (r"(?<![A-Za-z])L(?=[A-Z])", "R"),
)  # fmt: skip


def swap(name):
    """The name on the right of a bone on the left."""
    for pattern, other in _SIDES:
        new = re.sub(pattern, other, name)
        if new != name:
            return new
    return name


def marked(name, mark):
    """A name with a mark before its side, or at its end: "thigh_twist.L", "LeftLegTwist"."""
    found = re.search(r"[._ -][LlRr]$", name)
    at = found.start() if found else len(name)
    return name[:at] + (f"_{mark.lower()}" if found else mark) + name[at:]


@dataclass
class Made:
    """Bones by name, the legs that are wanted as [side, thigh, shin, foot, toe or ""], the arms likewise, and the name
    of the pelvis."""

    bones: dict = field(default_factory=dict)
    legs: list = field(default_factory=list)
    arms: list = field(default_factory=list)
    pelvis: str = ""

    def add(self, name, parent, head, tail, deform=True):
        assert name not in self.bones, name
        assert parent is None or parent in self.bones, parent
        self.bones[name] = Rest(parent, np.array(head, float), np.array(tail, float), deform)
        return name

    def chain(self, names, parent, points, deform=True):
        """Bones from point to point, those without a name left out."""
        for name, head, tail in zip(names, points, points[1:], strict=False):
            if name:
                parent = self.add(name, parent, head, tail, deform)
        return parent

    def renamed(self, new):
        """The same with other names, by a function or a dict."""
        change = new if callable(new) else lambda name: new.get(name, name)
        bones = {
            change(name): Rest(bone.parent and change(bone.parent), bone.head, bone.tail, bone.deform)
            for name, bone in self.bones.items()
        }
        assert len(bones) == len(self.bones)
        legs, arms = ([[side, *(one and change(one) for one in bones)] for side, *bones in limbs]
                      for limbs in (self.legs, self.arms))  # fmt: skip
        return Made(bones, legs, arms, change(self.pelvis))

    def turned(self, degrees, size):
        """The same, turned about the vertical and of another size."""
        c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
        turn = size * np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        bones = {n: Rest(b.parent, turn @ b.head, turn @ b.tail, b.deform) for n, b in self.bones.items()}
        return Made(bones, self.legs, self.arms, self.pelvis)

    def beside(self, other, away):
        """Both in one armature, the other moved by ``away``."""
        moved = {n: Rest(b.parent, b.head + away, b.tail + away, b.deform) for n, b in other.bones.items()}
        assert not set(moved) & set(self.bones)
        return Made(self.bones | moved, self.legs + other.legs, self.arms + other.arms, self.pelvis)


def person(row, twist="", split=False, toes=1):
    """A person of a row of the table. ``twist``: "beside" or "inside" the limb; ``split``: thigh and shin of two bones;
    ``toes``: 0, 1 or 5."""
    made, parent = Made(pelvis=row["pelvis"]), None
    for i, name in enumerate(row["root"]):
        parent = made.add(name, parent, (0, 0, 0.02 * i), (0, 0.1, 0.02 * i))
    made.add(row["pelvis"], parent, (0, 0, 1.0), (0, 0, 1.1))
    made.chain(row["spine"], row.get("spine_under", row["pelvis"]), SPINE)
    for mirror, name_of, side in ((1.0, str, "L"), (-1.0, swap, "R")):
        at = np.array([mirror, 1.0, 1.0])
        above = row.get("under", row["pelvis"])
        if extra := row.get("extra"):
            above = made.add(name_of(extra), above, (0, 0, 1.0), at * LEG[0])
        made.legs.append([side, *_leg(made, row, above, name_of, at, twist, split, toes)])
        for copy in row.get("copies", ()):
            made.chain(map(name_of, copy), above, [at * point for point in LEG], deform=False)
        for i, helper in enumerate(row.get("helpers", ())):
            place = at * np.add(LEG[2], (0, -0.4 * i, 0))
            made.add(name_of(helper), row["root"][0] if row["root"] else None, place, np.add(place, (0, 0.1, 0)), False)
        if row["arms"]:
            made.arms.append([side, *_arm(made, row, name_of, at)])
    return made


def _leg(made, row, above, name_of, at, twist, split, toes):
    names = [name_of(name) if name else "" for name in row["left"]]
    points = [at * np.array(point) for point in LEG]
    names[3] = names[3] if toes else ""
    halves = [name_of(name) if name else "" for name in row.get("split", ())]
    twists = [name_of(name) for name in row.get("twists", [marked(name, "Twist") for name in row["left"][:2]])]
    for i in range(2):
        middle = 0.5 * (points[i] + points[i + 1])
        half = halves[i] if halves else (f"{names[i]}.001" if split else "")
        inside = twists[i] if twist == "inside" else half
        bone = made.add(names[i], above, points[i], middle if inside else points[i + 1])
        if twist == "beside":
            made.add(twists[i], bone, middle, points[i + 1])
        above = made.add(inside, bone, middle, points[i + 1]) if inside else bone
    foot = made.add(names[2], above, points[2], points[3])
    if heel := row.get("heel"):
        made.add(name_of(heel), foot, at * (0.07, 0.08, 0.0), at * (0.14, 0.08, 0.0))
    if not names[3]:
        return names
    if metatarsals := row.get("metatarsals"):
        foot = made.add(name_of(metatarsals), foot, 0.5 * (points[2] + points[3]), points[3])
    if toes == 1:
        made.add(names[3], foot, points[3], points[4])
        for leaf in row.get("leaves", ()):
            made.add(name_of(leaf), names[3], points[4], points[4] + (0, -0.02, 0))
        return names
    five = [name_of(name) for name in row.get("toes", [marked(row["left"][3], str(i + 1)) for i in range(5)])]
    for i, toe in enumerate(five):
        aside = np.array([0.02 * (i - 2), 0.008 * abs(i - 2), 0.0]) * at
        made.add(toe, foot, points[3] + aside, points[4] + aside)
    return [*names[:3], five[2]]


def _arm(made, row, name_of, at):
    names = [name_of(name) if name else "" for name in row["arms"]]
    points = [at * np.array(point) for point in ARM]
    made.chain(names[:3], row["spine"][1], points)
    if len(names) > 3 and names[3]:
        made.add(names[3], names[2], points[3], points[4])
    return [*names, ""][:4]


def beast(row):
    """A beast of a row of the table, with hocks."""
    made = Made(pelvis=row["pelvis"])
    made.add(row["pelvis"], None, (0, 0.5, 0.8), (0, 0.2, 0.85))
    made.chain(("spine.020", "spine.021", "head"), row["pelvis"],
               [(0, 0.2, 0.85), (0, -0.3, 0.85), (0, -0.5, 0.95), (0, -0.7, 1.2)])  # fmt: skip
    for mirror, name_of, side in ((1.0, str, "L"), (-1.0, swap, "R")):
        at = np.array([mirror, 1.0, 1.0])
        for names, points, above, hoof in zip(
            (row["hind"], row["front"]), (HIND, FORE), (row["pelvis"], "spine.021"),
            row.get("hooves", ("", "")), strict=True,
        ):  # fmt: skip
            if not names:
                continue
            if above == "spine.021" and "shoulder" in row:
                above = made.add(name_of(row["shoulder"]), above, at * (0.05, -0.2, 0.8), at * points[0])
            made.chain(map(name_of, names), above, [at * point for point in points])
            if hoof:
                made.add(name_of(hoof), name_of(names[3]), at * points[4], at * np.add(points[4], (0, -0.05, 0)))
            made.legs.append([side, *map(name_of, names)])
    return made


def kinds(row):
    """(what it is, Made) of a person of a row, in all the forms that rigs have."""
    yield "plain", person(row)
    yield "twist beside", person(row, twist="beside")
    if not row.get("split"):
        yield "twist inside", person(row, twist="inside")
        yield "split", person(row, split=True)
    yield "no toes", person(row, toes=0)
    if row["left"][3] and row.get("five", True):
        yield "five toes", person(row, toes=5)
    yield "prefix", person(row).renamed(lambda name: f"Bob:{name}")
    yield "another prefix", person(row).renamed(lambda name: f"Bob_{name}")
    yield "copies' numbers", person(row).renamed(lambda name: f"{name}.001")
    if row.get("cases", True):
        yield "upper case", person(row).renamed(str.upper)
        yield "lower case", person(row).renamed(str.lower)
    for seed in range(4):
        made = person(row)
        new = {name: f"bone{i}" for i, name in enumerate(made.bones) if random.Random(f"{seed}{i}").random() < 0.5}
        yield f"half renamed {seed}", made.renamed(new)
    made = person(row)
    yield "no names", made.renamed({name: f"b{i}" for i, name in enumerate(made.bones)})


def shuffled(made, seed):
    """The bones in another order."""
    names = list(made.bones)
    random.Random(seed).shuffle(names)
    return {name: made.bones[name] for name in names}


def insect(pairs=3, joints=("thigh", "shin", "foot")):
    """A spider's or insect's skeleton: knees above the body, legs all around, names that tell nothing."""
    made = Made(pelvis="b0")
    made.add("b0", None, (0, 0.3, 0.3), (0, -0.3, 0.3))
    for i in range(pairs):
        y = 0.35 * (i - 0.5 * (pairs - 1))
        for side, x in (("L", 1.0), ("R", -1.0)):
            points = [(0.15 * x, 0.5 * y, 0.3), (0.5 * x, y, 0.55), (0.85 * x, 1.4 * y, 0.03), (0.95 * x, 1.5 * y, 0.0)]
            names = [f"b{1 + len(made.bones)}{side}{i}{j}" for j in range(len(joints))]
            made.chain(names, "b0", points)
            made.legs.append([side, *names, ""])
    return made
