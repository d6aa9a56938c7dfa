"""Legs of real armatures: every convention, imported and generated rigs, rigs that are not clear."""

import itertools
from contextlib import redirect_stdout
from io import StringIO

import bpy
import clips
import numpy as np
import skeletons
from blender import control_rigs, rigs
from blender.mapped import ROWS, MappingCase, build, labels, stored
from mathutils import Euler, Matrix

from footlock.rig import mapping

FORMS = ("plain", "twist beside", "split", "no toes", "five toes", "lower case", "half renamed 0", "no names")
RIGS = clips.DATA / "rigs"


class Table(MappingCase):
    def test_every_convention(self):
        count = 0
        for row in skeletons.PEOPLE:
            for form, made in skeletons.kinds(row):
                if form not in FORMS:
                    continue
                armature = build(made)
                with self.subTest(row["name"], form=form):
                    self.assertEqual(bpy.ops.footlock.map_legs(), {"FINISHED"})
                    self.assertEqual(stored(armature), made.legs)
                    self.assertEqual(labels(armature), ["Left", "Right"])
                    if not form.startswith(("half", "no names")):
                        self.assertIn(armature.data.footlock.pelvis, armature.data.bones)
                bpy.data.armatures.remove(armature.data)
                count += 1
        self.assertGreater(count, 400)

    def test_beasts(self):
        for row in skeletons.BEASTS:
            made = skeletons.beast(row)
            armature = build(made)
            with self.subTest(row["name"]):
                bpy.ops.footlock.map_legs()
                self.assertEqual(sorted(stored(armature)), sorted(made.legs))
                self.assertEqual(len(set(labels(armature))), len(made.legs))

    def test_a_scaled_and_turned_object(self):
        made = skeletons.person(ROWS["Mixamo bare"])
        made = made.renamed({name: f"b{i}" for i, name in enumerate(made.bones)})
        armature = build(made.turned(0.0, 100.0))
        armature.scale, armature.rotation_euler = (0.01,) * 3, (0.0, 0.0, 1.2)
        bpy.context.view_layer.update()
        bpy.ops.footlock.map_legs()
        self.assertEqual(stored(armature), made.legs)

    def test_an_object_that_tumbles(self):
        """With or without names, z up or y up inside; upside down it is by names."""
        made = skeletons.person(ROWS["Mixamo bare"])
        unnamed = made.renamed({name: f"b{i}" for i, name in enumerate(made.bones)})
        for one, degrees, y_up in itertools.product((made, unnamed), ((180, 0), (100, 40), (0, 120)), (False, True)):
            if one is unnamed and degrees == (180, 0):
                continue
            with self.subTest(degrees=degrees, y_up=y_up):
                rigs.new_file()
                armature = build(one)
                turn = Euler(np.radians((*degrees, 20.0))).to_matrix().to_4x4()
                if y_up:
                    down = Matrix.Rotation(np.radians(-90.0), 4, "X")
                    armature.data.transform(down)
                    turn = turn @ down.inverted()
                armature.matrix_world = turn
                bpy.context.view_layer.update()
                bpy.ops.footlock.map_legs()
                self.assertEqual(stored(armature), one.legs)

    def test_no_legs(self):
        table, hand = skeletons.Made(), skeletons.Made()
        table.add("top", None, (0, 0, 0.8), (0, 0.1, 0.8))
        for i in range(4):
            x, y = 0.5 - (i % 2), 0.3 - 0.6 * (i // 2)
            table.add(f"leg.{'LR'[i % 2]}.00{i}", "top", (x, y, 0.8), (x, y, 0.0))
        hand.add("hand_l", None, (0, 0, 0), (0, 0, 0.05))
        for i, finger in enumerate(("thumb", "index", "middle", "ring", "pinky")):
            points = [(0.02 * (i - 2), 0.0, 0.09 + 0.03 * j) for j in range(4)]
            hand.chain([f"{finger}_0{j}_l" for j in (1, 2, 3)], "hand_l", points)
        snake = skeletons.Made()
        snake.chain([f"b{i}" for i in range(20)], None, [(0.1 * np.sin(i), 0.2 * i, 0.02) for i in range(21)])
        fish = skeletons.Made()
        fish.chain([f"spine.{i:03}" for i in range(8)], None, [(0.0, 0.2 * i, 0.1 + 0.01 * i) for i in range(9)])
        for side, x in (("L", 1.0), ("R", -1.0)):
            fin = [(0.05 * x * (i + 1), 0.5 + 0.05 * i, 0.1 - 0.03 * i) for i in range(4)]
            fish.chain((f"fin.{side}", f"fin.{side}.001", f"fin.{side}.002"), "spine.003", fin)
        for made in (table, hand, snake, fish):
            armature = build(made)
            with self.assertRaisesRegex(RuntimeError, "No leg was found in"):
                bpy.ops.footlock.map_legs()
            self.assertEqual(stored(armature), [])


class RealRigs(MappingCase):
    def imported(self, name):
        with redirect_stdout(StringIO()):
            bpy.ops.import_scene.gltf(filepath=str(RIGS / f"quaternius_{name}.glb"))
        armature = next(ob for ob in bpy.data.objects if ob.type == "ARMATURE")
        bpy.context.view_layer.objects.active = armature
        bpy.ops.footlock.map_legs()
        return armature

    def check(self, armature, wanted, names):
        legs = [[side, *(bone.replace("*", side) for bone in leg)] for leg in wanted for side in "LR"]
        self.assertEqual(stored(armature), legs)
        self.assertEqual(labels(armature), names)
        mapping.check(armature, mapping.stored(armature))

    def test_a_character_with_loose_feet(self):
        self.check(self.imported("character"), [("UpperLeg.*", "LowerLeg.*", "Foot.*", "")], ["Left", "Right"])

    def test_a_raptor(self):
        """Its arms are called front legs, and hang in the air."""
        wanted = [("BackUpLeg.*", "BackLowLeg.*", "BackFoot.*", "")]
        self.check(self.imported("velociraptor"), wanted, ["Left", "Right"])

    def test_a_horse(self):
        """Its feet hang from nothing and are called after the IK that moved them."""
        wanted = [
            ("FrontUpperLeg.*", "FrontLowerLeg.*", "IKFrontLeg.*", "FF.*"),
            ("BackUpperLeg.*", "BackLowerLeg.*", "IKBackLeg.*", "FFB.*"),
        ]
        names = ["Front Left", "Front Right", "Hind Left", "Hind Right"]
        self.check(self.imported("horse"), wanted, names)


class Rigify(MappingCase):
    HUMAN = ("thigh", "shin", "foot", "toe")
    ANIMALS = {
        "human": [HUMAN],
        "Basic.basic_human": [HUMAN],
        "Basic.basic_quadruped": [("front_thigh", "front_shin", "front_foot", "front_toe"), HUMAN],
        "Animals.wolf": [("front_thigh", "front_shin", "front_foot", "front_toe"), HUMAN],
        "Animals.cat": [("upper_arm", "forearm", "hand", "f_toe"), ("thigh", "shin", "foot", "r_toe")],
        "Animals.horse": [
            ("upper_arm", "forearm", "forefoot", "f_toe"),
            ("thigh", "lower_leg", "hind_foot", "r_toe"),
        ],
        "Animals.bird": [HUMAN],
    }

    def wanted(self, name, prefix=""):
        return [[s, *(f"{prefix}{bone}.{s}" for bone in leg)] for leg in self.ANIMALS[name] for s in "LR"]

    def test_metarigs(self):
        for name in self.ANIMALS:
            with self.subTest(name):
                armature = control_rigs.rigify(name, "metarig")
                bpy.ops.footlock.map_legs()
                self.assertEqual(stored(armature), self.wanted(name))
                self.assertFalse(mapping.find(armature).by_shape)
        with self.assertRaisesRegex(RuntimeError, "No leg was found"):
            control_rigs.rigify("Animals.shark", "metarig")
            bpy.ops.footlock.map_legs()

    def test_control_rigs(self):
        """Of all the copies of a leg the deform bones."""
        for name in ("Basic.basic_human", "Basic.basic_quadruped"):
            with self.subTest(name):
                armature = control_rigs.rigify(name)
                self.assertGreater(len(armature.data.bones), 150)
                bpy.ops.footlock.map_legs()
                self.assertEqual(stored(armature), self.wanted(name, "DEF-"))
                mapping.check(armature, mapping.stored(armature))


class Unclear(MappingCase):
    def two(self):
        one = skeletons.person(ROWS["Unreal UE4"])
        other = skeletons.person(ROWS["Mixamo mixamorig:"])
        self.made = one.beside(other, np.array([1.5, 0.0, 0.0]))
        armature = build(self.made)
        rigs.key(armature, armature.pose.bones["pelvis"].path_from_id("location"), np.zeros((9, 3)), np.arange(9.0))
        return armature

    def test_every_operator_asks(self):
        armature = self.two()
        before = rigs.everything()
        for run in (bpy.ops.footlock.map_legs, bpy.ops.footlock.detect_contacts, bpy.ops.footlock.fit_root,
                    bpy.ops.footlock.remove_sliding, bpy.ops.footlock.add_hands):  # fmt: skip
            armature.data.footlock.question.clear()
            with self.assertRaisesRegex(RuntimeError, "may have its legs in 2 ways: choose one under Legs"):
                run()
            self.assertEqual(rigs.everything(), before)
            asked = [choice.name for choice in armature.data.footlock.question]
            self.assertEqual(len(set(asked)), 2)
            self.assertIn("Left thigh_l … ball_l", "\n".join(asked))

    def test_the_answer_is_kept(self):
        for i in range(2):
            rigs.new_file()
            armature = self.two()
            if i:  # with or without the question
                with self.assertRaises(RuntimeError):
                    bpy.ops.footlock.map_legs()
            bpy.ops.footlock.choose_legs(index=i)
            self.assertEqual(len(armature.data.footlock.question), 0)
            legs = stored(armature)
            self.assertIn(legs, [self.made.legs[:2], self.made.legs[2:]])
            self.assertEqual(stored(armature), legs)
            bpy.ops.footlock.choose_legs(index=1 - i)
            self.assertNotEqual(stored(armature), legs)
            with self.assertRaisesRegex(RuntimeError, "There is no choice 2"):
                bpy.ops.footlock.choose_legs(index=2)

    def test_given_bones_are_taken(self):
        armature = self.two()
        bpy.ops.footlock.map_legs(left="thigh_l|calf_l|foot_l|ball_l", right="thigh_r|calf_r|foot_r|ball_r")
        self.assertEqual(stored(armature), self.made.legs[:2])
