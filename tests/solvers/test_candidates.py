"""Legs by names and shape together: every convention in every form, beasts, copies, rigs that are not clear."""

import unittest

import numpy as np
import skeletons

from footlock.rig import candidates, names
from footlock.rig.names import Leg, LegMap
from footlock.rig.skeleton import Rest, Skeleton

ROWS = {row["name"]: row for row in skeletons.PEOPLE}


def bones_of(legs):
    return [[leg.side, leg.thigh, leg.shin, leg.foot, leg.toe] for leg in legs.legs]


class Table(unittest.TestCase):
    def check(self, made, seed=1):
        found = candidates.find(skeletons.shuffled(made, seed))
        self.assertEqual([bones_of(one) for one in found], [made.legs])
        return found[0]

    def test_every_convention_in_every_form(self):
        self.assertGreater(len(skeletons.PEOPLE), 55)
        for row in skeletons.PEOPLE:
            for kind, made in skeletons.kinds(row):
                with self.subTest(row["name"], kind=kind):
                    legs = self.check(made)
                    self.assertEqual([leg.label for leg in legs.legs], ["Left", "Right"])
                    if not kind.startswith("half"):
                        self.assertEqual(legs.by_shape, kind == "no names")

    def test_by_names_alone(self):
        """Without a rest pose, as a file is read, and in the order in which the bones come."""
        for row in skeletons.PEOPLE:
            for kind, made in skeletons.kinds(row):
                if kind.startswith(("half", "no names")):
                    continue
                with self.subTest(row["name"], kind=kind):
                    for seed in range(2):
                        bones = skeletons.shuffled(made, seed)
                        found = names.find_legs({name: bone.parent for name, bone in bones.items()})
                        self.assertIsNotNone(found)
                        self.assertEqual(bones_of(found), made.legs)


class Beasts(unittest.TestCase):
    LABELS = ["Front Left", "Front Right", "Hind Left", "Hind Right"]

    def test_by_names(self):
        for row in skeletons.BEASTS:
            made = skeletons.beast(row)
            with self.subTest(row["name"]):
                for found in (
                    candidates.find(skeletons.shuffled(made, 1)),
                    [names.find_legs({name: bone.parent for name, bone in made.bones.items()})],
                ):
                    self.assertEqual(len(found), 1)
                    self.assertEqual(sorted(bones_of(found[0])), sorted(made.legs))
                    self.assertEqual(found[0].pelvis, made.pelvis)
                    labels = self.LABELS if row["front"] else ["Left", "Right"]
                    self.assertEqual([leg.label for leg in found[0].legs], labels)
                    if row["front"]:
                        self.assertEqual(found[0].legs[0].thigh, row["front"][0])

    def test_by_shape(self):
        for row in skeletons.BEASTS:
            made = skeletons.beast(row)
            made = made.renamed({name: f"b{i}" for i, name in enumerate(made.bones)}).turned(160.0, 0.01)
            with self.subTest(row["name"]):
                (found,) = candidates.find(made.bones)
                self.assertTrue(found.by_shape)
                hind = [leg for leg in bones_of(found) if leg in made.legs]
                self.assertGreaterEqual(len(hind), 2)
                self.assertEqual([leg.label for leg in found.legs], self.LABELS if row["front"] else ["Left", "Right"])

    def test_six_and_eight_legs(self):
        for pairs, labels in ((3, ["Front Left", "Front Right", "Middle Left"]), (4, ["Left 1", "Right 1", "Left 2"])):
            made = skeletons.insect(pairs)
            (found,) = candidates.find(skeletons.shuffled(made, 2))
            self.assertEqual(sorted(bones_of(found)), sorted(made.legs))
            self.assertEqual([leg.label for leg in found.legs][:3], labels)
            self.assertEqual(len({leg.label for leg in found.legs}), 2 * pairs)
            front = [leg.thigh for leg in found.legs][:2]
            self.assertEqual(front, [made.legs[0][1], made.legs[1][1]])

    def test_many_legs_of_the_same_names(self):
        """Numbered by where they are, from the front."""
        made = skeletons.insect(4)
        new = {}
        for side, *bones in made.legs:
            for role, bone in zip(("thigh", "shin", "foot"), bones, strict=False):
                new[bone] = f"{role}.{side}" if len(new) < 6 else f"{role}.{side}.00{len(new) // 6}"
        made = made.renamed(new)
        (found,) = candidates.find(skeletons.shuffled(made, 3))
        self.assertFalse(found.by_shape)
        self.assertEqual(sorted(bones_of(found)), sorted(made.legs))
        self.assertEqual(found.legs[0], Leg("L", "thigh.L", "shin.L", "foot.L", place="1"))
        self.assertEqual(found.legs[-1], Leg("R", "thigh.R.003", "shin.R.003", "foot.R.003", place="4"))


class Loose(unittest.TestCase):
    """Feet that hang from no shin, as rigs that were baked from controls have them."""

    def test_no_names(self):
        for parent in (None, "root"):
            row = skeletons.PEOPLE[0] | {"root": ["root"]}
            made = skeletons.person(row)
            for _, _, _, foot, _ in made.legs:
                made.bones[foot] = Rest(parent, made.bones[foot].head, made.bones[foot].tail)
            made = made.renamed({name: f"b{i}" for i, name in enumerate(made.bones)})
            (found,) = candidates.find(skeletons.shuffled(made, 4))
            self.assertEqual(bones_of(found), made.legs)

    def test_bones_next_to_the_foot(self):
        """Of a chain of three the two that reach the foot."""
        made = skeletons.beast(skeletons.BEASTS[0])
        for _, _, _, _, toe in made.legs:
            made.bones[toe] = Rest(None, made.bones[toe].head, made.bones[toe].tail)
        new = {name: f"b{i}" for i, name in enumerate(made.bones)}
        (found,) = candidates.find(made.renamed(new).bones)
        wanted = [[side, new[shin], new[foot], new[toe], ""] for side, _, shin, foot, toe in made.legs]
        self.assertEqual(sorted(bones_of(found)), sorted(wanted))


class Unclear(unittest.TestCase):
    def person(self, name="Unreal UE4", **options):
        return skeletons.person(ROWS[name], **options)

    def rip(self):
        """What is called foot is the thigh."""
        made = self.person()
        new = {}
        for side in "lr":
            new |= {f"thigh_{side}": f"thighs_{side}", f"calf_{side}": f"knees_{side}"}
            new |= {f"foot_{side}": f"bone_{side}", f"ball_{side}": f"toes_{side}"}
        made = made.renamed(new)
        for side, x in (("l", 1.0), ("r", -1.0)):
            hip = made.bones[f"thighs_{side}"].head
            made.add(f"thigh_{side}", "pelvis", (0.0, 0.0, 1.05), (0.03 * x, 0.0, 1.0))
            made.add(f"calf_{side}", f"thigh_{side}", (0.05 * x, 0.0, 1.05), hip)
            made.bones[f"thighs_{side}"] = Rest(f"calf_{side}", hip, made.bones[f"thighs_{side}"].tail)
        return made.renamed({"thighs_l": "foot_l", "thighs_r": "foot_r"})

    def test_names_that_mean_other_bones(self):
        """Both are asked: the names are odd, and the shape tells of others."""
        made = self.rip()
        found = candidates.find(made.bones)
        self.assertEqual(len(found), 2)
        self.assertEqual([leg.foot for leg in found[0].legs], ["foot_l", "foot_r"])
        self.assertEqual(bones_of(found[1]), made.legs)
        self.assertEqual([one.by_shape for one in found], [False, True])

    def test_names_one_joint_too_low(self):
        made = self.person()
        new = {f"{a}_{side}": f"{b}_{side}" for side in "lr" for a, b in (
            ("thigh", "ball"), ("calf", "thigh"), ("foot", "calf"), ("ball", "foot"))}  # fmt: skip
        made = made.renamed(new)
        found = candidates.find(made.bones)
        self.assertEqual([leg.thigh for leg in found[0].legs], ["thigh_l", "thigh_r"])
        self.assertEqual(bones_of(found[1]), made.legs)

    def test_names_that_are_impossible(self):
        """A thigh below its shin, or a foot above its knee, is none: structure decides."""
        made = self.person()
        swapped = {f"{a}_{side}": f"{b}_{side}" for side in "lr" for a, b in (("thigh", "calf"), ("calf", "thigh"))}
        arms = {"upperarm": "thigh", "lowerarm": "calf", "hand": "foot"}
        upwards = {f"{a}_{side}": f"{b}_{side}" for side in "lr" for a, b in arms.items()}
        upwards |= {name: f"b{i}" for i, name in enumerate(n for _, *leg in made.legs for n in leg)}
        for new in (swapped, upwards):
            wrong = made.renamed(new)
            if new is upwards:
                for side, *bones in wrong.arms:
                    for i, name in enumerate(filter(None, bones)):
                        head = np.array([0.2 if side == "L" else -0.2, 0.0, 1.4 + 0.25 * i])
                        wrong.bones[name] = Rest(wrong.bones[name].parent, head, head * 1.1)
            (found,) = candidates.find(wrong.bones)
            self.assertEqual(bones_of(found), wrong.legs)

    def test_two_characters(self):
        """In one armature, of one convention and of two, under a root or none, beside or behind each other."""
        for away in ((1.5, 0.0, 0.0), (0.0, 2.0, 0.0)):
            for root in (None, "root"):
                for other in (self.person().renamed(lambda name: f"B:{name}"), self.person("Mixamo mixamorig:")):
                    made = self.person().beside(other, np.array(away))
                    if root:
                        top = [name for name, bone in made.bones.items() if bone.parent is None]
                        made.add("all", None, (0.0, 0.0, 0.0), (0.0, 0.1, 0.0))
                        for name in top:
                            made.bones[name] = Rest("all", made.bones[name].head, made.bones[name].tail)
                    found = candidates.find(skeletons.shuffled(made, 5))
                    with self.subTest(away=away, root=root):
                        self.assertEqual(len(found), 2)
                        wanted = sorted([made.legs[:2], made.legs[2:]])
                        self.assertEqual(sorted(map(bones_of, found)), wanted)

    def test_two_characters_without_names(self):
        made = self.person().beside(self.person().renamed(lambda name: f"B:{name}"), np.array([1.5, 0.0, 0.0]))
        made = made.renamed({name: f"b{i}" for i, name in enumerate(made.bones)})
        found = sorted(map(bones_of, candidates.find(made.bones)))
        self.assertEqual(found, sorted([made.legs[:2], made.legs[2:]]))

    def test_copies_are_no_question(self):
        """The one that deforms is taken, whatever it is called."""
        made = self.person()
        for _, *bones in made.legs:
            for name in bones:
                bone = made.bones[name]
                parent = f"bind_{bone.parent}" if f"bind_{bone.parent}" in made.bones else bone.parent
                made.bones[f"bind_{name}"] = Rest(parent, bone.head, bone.tail)
                made.bones[name] = Rest(bone.parent, bone.head, bone.tail, deform=False)
        (found,) = candidates.find(skeletons.shuffled(made, 6))
        wanted = [[side, *(f"bind_{name}" for name in bones)] for side, *bones in made.legs]
        self.assertEqual(bones_of(found), wanted)

    def test_legs_of_clothes(self):
        """Beside the legs that wear them, and called the same: it is asked."""
        made = self.person("Mixamo bare")
        wanted = list(made.legs)
        for side, *bones in wanted:
            above = "Hips"
            for name in bones:
                bone = made.bones[name]
                away = np.array([0.06 if side == "L" else -0.06, -0.05, 0.0])
                above = made.add(f"Cloth_{name}", above, bone.head + away, bone.tail + away)
        found = candidates.find(skeletons.shuffled(made, 7))
        self.assertEqual(len(found), 2)
        self.assertIn(wanted, [bones_of(one) for one in found])

    def test_arms_that_hang_down(self):
        """Where there is nothing else, as in first person."""
        for row in (ROWS["Mixamo bare"], ROWS["Unreal UE4"], ROWS["VRM, VRoid"]):
            made = skeletons.Made()
            made.add("root", None, (0, 0, 1.5), (0, 0, 1.6))
            for name_of, x in ((str, 1.0), (skeletons.swap, -1.0)):
                points = [(0.2 * x, 0.0, 1.4 - 0.27 * i) for i in range(4)]
                made.chain(map(name_of, row["arms"][:3]), "root", points)
            self.assertEqual(candidates.find(made.bones), [])
            unnamed = made.renamed({name: f"b{i}" for i, name in enumerate(made.bones)})
            self.assertEqual(len(candidates.find(unnamed.bones)), 1)  # nothing tells them from legs

    def test_arms_called_legs(self):
        """Front legs that hang in the air are none."""
        made = self.person("Mixamo bare")
        new = {"Arm": "FrontUpLeg", "ForeArm": "FrontLeg", "Hand": "FrontFoot"}
        made = made.renamed({side + old: side + name for side in ("Left", "Right") for old, name in new.items()})
        (found,) = candidates.find(made.bones)
        self.assertEqual(bones_of(found), made.legs)
        self.assertEqual([leg.label for leg in found.legs], ["Left", "Right"])

    def test_mixed_conventions(self):
        """One leg as Mixamo, the other as Unreal; and roles of both in one leg."""
        made = self.person()
        left = {"thigh_l": "LeftUpLeg", "calf_l": "LeftLeg", "foot_l": "LeftFoot", "ball_l": "LeftToeBase"}
        for new in (left, {old: name for old, name in left.items() if old in ("calf_l", "ball_l")}):
            mixed = made.renamed(new)
            (found,) = candidates.find(mixed.bones)
            self.assertEqual(bones_of(found), mixed.legs)

    def test_lying_in_rest(self):
        """Data that is y up without an object that turns it: names are taken."""
        made = self.person()
        bones = {n: Rest(b.parent, b.head[[0, 2, 1]], b.tail[[0, 2, 1]]) for n, b in made.bones.items()}
        (found,) = candidates.find(bones)
        self.assertEqual(bones_of(found), made.legs)


class Arms(unittest.TestCase):
    def test_every_convention(self):
        count = 0
        for row in skeletons.PEOPLE:
            if not row["arms"] or not row.get("hands", True):
                continue
            made = skeletons.person(row)
            with self.subTest(row["name"]):
                legs = candidates.find(made.bones)[0]
                arms = candidates.find_arms(made.bones, legs)
                self.assertEqual(bones_of(LegMap("", arms)), made.arms)
                self.assertEqual([arm.label for arm in arms], ["Left Hand", "Right Hand"])
                count += 1
        self.assertGreater(count, 30)

    def test_by_shape(self):
        """With collar bones and five fingers, of which one has its bone of the palm."""
        made = self.hands()
        new = {name: f"b{i}" for i, name in enumerate(made.bones)}
        made = made.renamed(new).turned(77.0, 100.0)
        legs = candidates.find(made.bones)[0]
        self.assertEqual(bones_of(LegMap("", candidates.find_arms(made.bones, legs))), made.arms)

    def hands(self):
        row = {key: value for key, value in skeletons.PEOPLE[3].items() if key != "arms"} | {"arms": []}
        made = skeletons.person(row)
        for side, x in (("L", 1.0), ("R", -1.0)):
            at = np.array([x, 1.0, 1.0])
            collar = made.add(f"collar{side}", row["spine"][1], at * (0.03, 0.0, 1.42), at * skeletons.ARM[0])
            chain = [f"{part}{side}" for part in ("upper", "fore", "palm")]
            hand = made.chain(chain, collar, [at * point for point in skeletons.ARM[:4]])
            for i, length in enumerate((0.05, 0.09, 0.1, 0.09, 0.07)):
                above, y = hand, 0.02 * (i - 2)
                if i == 2:
                    above = made.add(f"meta{side}", hand, at * (0.72, 0.0, 1.45), at * (0.79, 0.0, 1.45))
                start = at * (0.79 if i else 0.73, y, 1.45)
                made.add(f"finger{i}{side}", above, start, start + at * (0.04, 0, 0))
                made.add(f"tip{i}{side}", f"finger{i}{side}", start + at * (length, 0, 0), start + at * (0.12, 0, 0))
            made.arms.append([side, *chain, f"finger2{side}"])
        return made

    def test_of_two_characters_those_of_the_legs(self):
        for other in (skeletons.person(ROWS["Mixamo bare"]).renamed(lambda name: f"B:{name}"),
                      skeletons.person(ROWS["Unreal UE4"])):  # fmt: skip
            made = skeletons.person(ROWS["Mixamo bare"]).beside(other, np.array([1.5, 0.0, 0.0]))
            for i, legs in enumerate(
                sorted(candidates.find(made.bones), key=lambda one: bones_of(one) != made.legs[:2])
            ):
                arms = candidates.find_arms(made.bones, legs)
                self.assertEqual(bones_of(LegMap("", arms)), made.arms[2 * i : 2 * i + 2])

    def test_none(self):
        """A bird's legs have no arms beside them, nor has a person without arms."""
        for made in (skeletons.beast(skeletons.BEASTS[-1]), skeletons.beast(skeletons.BEASTS[0])):
            self.assertEqual(candidates.find_arms(made.bones, candidates.find(made.bones)[0]), ())
        row = skeletons.PEOPLE[0] | {"arms": []}
        made = skeletons.person(row)
        self.assertEqual(candidates.find_arms(made.bones, candidates.find(made.bones)[0]), ())


class NoLegs(unittest.TestCase):
    def test_no_legs(self):
        table = {"top": Rest(None, np.array([0, 0, 0.8]), np.array([0, 0.1, 0.8]))}
        for i in range(4):
            head = np.array([0.5 - (i % 2), 0.3 - 0.6 * (i // 2), 0.8])
            table[f"leg{i}.{'LR'[i % 2]}"] = Rest("top", head, head * (1.0, 1.0, 0.0))
        fish = skeletons.Made()
        fish.chain([f"spine.{i:03}" for i in range(8)], None, [(0.0, 0.2 * i, 0.1 + 0.01 * i) for i in range(9)])
        for side, x in (("L", 1.0), ("R", -1.0)):
            fish.chain((f"fin.{side}", f"fin.{side}.001", f"fin.{side}.002"), "spine.003",
                       [(0.05 * x * (i + 1), 0.5 + 0.05 * i, 0.1 - 0.03 * i) for i in range(4)])  # fmt: skip
        snake = skeletons.Made()
        snake.chain([f"b{i}" for i in range(20)], None, [(0.1 * np.sin(i), 0.2 * i, 0.02) for i in range(21)])
        hand = skeletons.Made()
        hand.add("hand_l", None, (0, 0, 0), (0, 0, 0.05))
        for i, finger in enumerate(("thumb", "index", "middle", "ring", "pinky")):
            hand.chain([f"{finger}_0{j}_l" for j in (1, 2, 3)], "hand_l",
                       [(0.02 * (i - 2), 0.0, 0.09 + 0.03 * j) for j in range(4)])  # fmt: skip
        for what, bones in (("table", table), ("fish", fish.bones), ("snake", snake.bones), ("hand", hand.bones)):
            with self.subTest(what):
                self.assertEqual(candidates.find(bones), [])
        self.assertEqual(candidates.find({}), [])
        self.assertEqual(Skeleton({}).height, 0.0)
