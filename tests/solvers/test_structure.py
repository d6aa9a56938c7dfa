"""Legs by the shape of a skeleton: those of the field with all names taken away, and shapes that have no legs."""

import itertools
import random
import unittest

import measure
import motions
import numpy as np

from footlock.rig import structure
from footlock.rig.skeleton import Rest, Skeleton

# A leg, metres: hip, knee, ankle, ball, tip of the toes; the side is +x, the way ahead -y.
LEG = ((0.1, 0.0, 0.95), (0.11, -0.03, 0.52), (0.105, 0.03, 0.09), (0.105, -0.12, 0.02), (0.105, -0.2, 0.02))
HIND = ((0.1, 0.5, 0.75), (0.11, 0.4, 0.5), (0.11, 0.6, 0.25), (0.11, 0.55, 0.06), (0.11, 0.45, 0.02))
FORE = ((0.1, -0.4, 0.75), (0.11, -0.5, 0.5), (0.11, -0.35, 0.28), (0.11, -0.42, 0.06), (0.11, -0.52, 0.02))


def by_shape(bones):
    """The legs, or None where there are none or it is not clear which they are."""
    found = structure.find_all(Skeleton(bones))
    return found[0] if len(found) == 1 else None


class Builder:
    """A skeleton with the names that are given and the legs that are wanted."""

    def __init__(self):
        self.bones, self.wanted = {}, []

    def add(self, name, parent, head, tail):
        assert name not in self.bones, name
        self.bones[name] = Rest(parent, np.array(head, float), np.array(tail, float))
        return name

    def chain(self, names, parent, points):
        """Bones from point to point; the last one is as long as it is wide."""
        for name, head, tail in zip(names, points, [*points[1:], np.add(points[-1], (0, -0.05, 0))], strict=False):
            parent = self.add(name, parent, head, tail)
        return parent

    def body(self, root=False):
        """Pelvis, spine, head and arms of a person in T-pose."""
        above = self.add("root", None, (0, 0, 0), (0, 0, 0.1)) if root else None
        self.add("hips", above, (0, 0, 1.0), (0, 0, 1.1))
        self.chain(("spine", "chest", "head"), "hips", [(0, 0, 1.1), (0, 0, 1.3), (0, 0, 1.6)])
        for side, x in (("L", 1), ("R", -1)):
            points = [(0.15 * x, 0, 1.45), (0.42 * x, 0, 1.45), (0.7 * x, 0, 1.45)]
            self.chain((f"arm{side}", f"forearm{side}", f"hand{side}"), "chest", points)
            for i in range(5):
                finger = [((0.75 + 0.04 * j) * x, 0.03 * (i - 2), 1.45) for j in range(3)]
                self.chain([f"finger{i}{j}{side}" for j in range(3)], f"hand{side}", finger)
        return self

    def legs(self, make, sides=(("L", 1), ("R", -1))):
        """Both legs by ``make(builder, side, mirror)``, which returns the bones that are wanted."""
        for side, x in sides:
            self.wanted.append(make(self, side, np.array([x, 1.0, 1.0])))
        return self


def plain(builder, side, mirror, parent="hips", points=LEG, toes=True, prefix=""):
    names = [f"{prefix}{role}{side}" for role in ("thigh", "shin", "foot", "toe")][: 4 if toes else 3]
    builder.chain(names, parent, [mirror * point for point in points[: len(names)]])
    return names


def without_toes(builder, side, mirror):
    return plain(builder, side, mirror, toes=False)


def with_twists(builder, side, mirror):
    """Unreal's: twist bones beside the next joint."""
    names = plain(builder, side, mirror)
    for i, above in enumerate(names[:2]):
        for share in (0.33, 0.66):
            head = mirror * ((1 - share) * np.array(LEG[i]) + share * np.array(LEG[i + 1]))
            builder.add(f"twist{i}{share}{side}", above, head, np.add(head, (0, 0, 0.05)))
    return names


def split(builder, side, mirror):
    """MakeHuman's and Genesis': thigh and shin of two segments each."""
    hip, knee, ankle, ball, _ = (mirror * point for point in LEG)
    names = [f"{role}{side}" for role in ("thigh", "thigh2", "shin", "shin2", "foot", "toe")]
    builder.chain(names, "hips", [hip, 0.5 * (hip + knee), knee, 0.5 * (knee + ankle), ankle, ball])
    return [names[0], names[2], names[4], names[5]]


def five_toes(builder, side, mirror):
    names = plain(builder, side, mirror, toes=False)
    for i in range(5):
        head = mirror * LEG[3] + np.array([0.02 * (i - 2), 0.008 * abs(i - 2), 0.0])
        builder.chain([f"toe{i}{j}{side}" for j in range(2)], names[2], [head, np.add(head, (0, -0.04, 0))])
    return [*names, f"toe2{0}{side}"]


def with_heel(builder, side, mirror):
    """Rigify's: a bone that marks the heel, and one beside the pelvis."""
    names = plain(builder, side, mirror)
    builder.add(f"heel{side}", names[2], mirror * (0.07, 0.08, 0.0), mirror * (0.14, 0.08, 0.0))
    builder.add(f"hipbone{side}", "hips", (0, 0, 1.0), mirror * (0.1, 0.0, 1.1))
    return names


def from_the_middle(builder, side, mirror):
    """CMU's: a joint in the middle that leads to the hip."""
    builder.add(f"joint{side}", "hips", (0, 0, 1.0), mirror * LEG[0])
    return plain(builder, side, mirror, parent=f"joint{side}")


def with_leaves(builder, side, mirror):
    names = plain(builder, side, mirror)
    for i, name in enumerate(names):
        head = mirror * LEG[i + 1]
        builder.add(f"{name}end", name, head, np.add(head, (0, 0, 0.02)))
    return names


KINDS = (plain, without_toes, with_twists, split, five_toes, with_heel, from_the_middle, with_leaves)


def renamed(builder, seed):
    """All names replaced by b0, b1 …, in any order; the bones, and the legs that are wanted."""
    names = list(builder.bones)
    random.Random(seed).shuffle(names)
    new = {name: f"b{i}" for i, name in enumerate(names)}
    bones = {new[name]: Rest(new.get(b.parent), b.head, b.tail) for name, b in builder.bones.items()}
    order = sorted(bones, key=lambda name: random.Random(f"{seed}{name}").random())
    return {name: bones[name] for name in order}, [[new[name] for name in leg] for leg in builder.wanted], new


def turned(bones, degrees, size=1.0):
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    turn = size * np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    return {name: Rest(b.parent, turn @ b.head, turn @ b.tail) for name, b in bones.items()}


def bones_of(leg):
    return [name for name in (leg.thigh, leg.shin, leg.foot, leg.toe) if name]


class People(unittest.TestCase):
    def check(self, builder, pelvis):
        for seed, (degrees, size) in enumerate(((0.0, 1.0), (90.0, 100.0), (-137.0, 0.01))):
            bones, wanted, new = renamed(builder, seed)
            found = by_shape(turned(bones, degrees, size))
            self.assertIsNotNone(found)
            self.assertEqual([bones_of(leg) for leg in found.legs if leg.side == "L"], wanted[0::2])
            self.assertEqual([bones_of(leg) for leg in found.legs if leg.side == "R"], wanted[1::2])
            self.assertEqual(found.pelvis, new[pelvis])

    def test_every_kind_of_leg(self):
        for kind, root in itertools.product(KINDS, (False, True)):
            with self.subTest(kind.__name__, root=root):
                self.check(Builder().body(root).legs(kind), "hips")

    def test_thighs_that_hang_off_the_spine(self):
        """3ds Max' Biped."""
        builder = Builder().body().legs(lambda b, side, mirror: plain(b, side, mirror, parent="spine"))
        self.check(builder, "spine")

    def test_a_tail_and_helpers_on_the_ground(self):
        builder = Builder().body(root=True).legs(plain)
        builder.chain([f"tail{i}" for i in range(5)], "hips", [(0, 0.1 + 0.2 * i, 0.9 - 0.22 * i) for i in range(5)])
        builder.add("ik_root", "root", (0, 0, 0), (0, 0.1, 0))
        for side, x in (("L", 1), ("R", -1)):
            builder.add(f"ik{side}", "ik_root", np.multiply(LEG[2], (x, 1, 1)), (0, 0, 0))
        self.check(builder, "hips")

    def test_a_coat(self):
        """Its tails come down to the ground, and stand on nothing."""
        builder = Builder().body().legs(plain)
        for side, x in (("L", 1), ("R", -1)):
            builder.chain(
                [f"coat{i}{side}" for i in range(4)], "hips", [(0.15 * x, 0.1, 0.95 - 0.28 * i) for i in range(4)]
            )
        self.check(builder, "hips")

    def test_recorded_skeletons(self):
        for name, roles in (("cmu_131_01", ("Hip", "Knee", "Ankle", "Toe")),
                            ("cmu_12_01", ("UpLeg", "Leg", "Foot", "ToeBase"))):  # fmt: skip
            motion = measure.load(motions.DATA / f"{name}.bvh")
            heads, joints = {}, [i for i, one in enumerate(motion.names) if not one.endswith(measure.END)]
            for i in joints:
                parent = motion.parents[i]
                heads[i] = (heads[parent] if parent >= 0 else 0.0) + motion.offsets[i] * (parent >= 0)
            bones = {}
            for i in joints:
                x, y, z = heads[i]
                parent = f"b{motion.parents[i]}" if motion.parents[i] >= 0 else None
                bones[f"b{i}"] = Rest(parent, np.array([x, -z, y]), np.array([x, -z, y + 0.01]))
            found = by_shape(bones)
            wanted = [[f"b{motion.names.index(side + role)}" for role in roles] for side in ("Left", "Right")]
            self.assertEqual([bones_of(leg) for leg in found.legs], wanted)
            self.assertEqual(found.pelvis, f"b{motion.names.index('Hips')}")


class Beasts(unittest.TestCase):
    def test_four_legs_with_hocks(self):
        builder = Builder()
        builder.add("back", None, (0, 0.5, 0.8), (0, 0, 0.85))
        builder.chain(("spine", "chest", "neck", "head"), "back",
                      [(0, 0.2, 0.85), (0, -0.3, 0.85), (0, -0.5, 0.95), (0, -0.7, 1.2)])  # fmt: skip
        builder.legs(lambda b, side, mirror: plain(b, side, mirror, "back", HIND, prefix="h"))
        builder.legs(lambda b, side, mirror: plain(b, side, mirror, "chest", FORE, prefix="f"))
        bones, wanted, _ = renamed(builder, 3)
        found = by_shape(turned(bones, 30.0))
        self.assertEqual(sorted(bones_of(leg) for leg in found.legs), sorted(wanted))
        self.assertEqual({leg.side for leg in found.legs}, {"L", "R"})

    def test_a_bird(self):
        builder = Builder()
        builder.add("body", None, (0, 0, 1.0), (0, -0.3, 1.1))
        builder.chain(("neck", "head"), "body", [(0, -0.4, 1.2), (0, -0.5, 1.7)])
        points = ((0.1, 0.0, 0.95), (0.12, -0.25, 0.75), (0.12, 0.1, 0.4), (0.12, 0.0, 0.06), (0.12, -0.15, 0.02))
        builder.legs(lambda b, side, mirror: plain(b, side, mirror, "body", points))
        bones, wanted, _ = renamed(builder, 4)
        self.assertEqual([bones_of(leg) for leg in by_shape(bones).legs], wanted)


class NoLegs(unittest.TestCase):
    def check(self, builder):
        self.assertIsNone(by_shape(builder.bones))

    def test_a_table(self):
        builder = Builder()
        builder.add("top", None, (0, 0, 0.8), (0, 0.1, 0.8))
        for i, (x, y) in enumerate(itertools.product((-0.5, 0.5), (-0.3, 0.3))):
            builder.add(f"leg{i}", "top", (x, y, 0.8), (x, y, 0.0))
        self.check(builder)

    def test_a_fish_and_a_snake(self):
        for bend in (0.0, 0.02):
            builder = Builder()
            points = [(bend * np.sin(i), 0.2 * i, 0.1 + bend * np.cos(i)) for i in range(12)]
            builder.chain([f"b{i}" for i in range(12)], None, points)
            for side, x in (("L", 1), ("R", -1)):
                builder.chain((f"fin{side}", f"tip{side}"), "b3", [(0.05 * x, 0.6, 0.08), (0.1 * x, 0.65, 0.04)])
            self.check(builder)

    def test_a_hand(self):
        """Upright, and with its fingers down."""
        for down in (1.0, -1.0):
            builder = Builder()
            builder.add("wrist", None, (0, 0, 0), (0, 0, 0.05 * down))
            for i in range(5):
                length = 0.03 - 0.003 * abs(i - 2)
                points = [(0.02 * (i - 2), 0.0, (0.09 + length * j) * down) for j in range(4)]
                builder.chain([f"finger{i}{j}" for j in range(4)], "wrist", points)
            self.check(builder)

    def test_one_leg_and_nothing(self):
        builder = Builder().body()
        plain(builder, "L", np.ones(3))
        self.check(builder)
        self.assertIsNone(by_shape({}))
        self.assertIsNone(by_shape({"b": Rest(None, np.zeros(3), np.ones(3))}))

    def test_legs_that_are_not_mirrored(self):
        builder = Builder().body()
        plain(builder, "L", np.ones(3))
        plain(builder, "R", np.array([-1.0, 1.0, 1.0]), points=np.add(LEG, (0, 0.3, 0)))
        self.check(builder)
