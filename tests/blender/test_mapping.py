"""Legs of real armatures: every convention, imported and generated rigs, hands, unclear rigs, mirroring, presets."""

import importlib
import itertools
import tempfile
import unittest
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from unittest import mock

import addon_utils
import bpy
import clips
import numpy as np
import skeletons
from blender import rigs
from mathutils import Euler, Matrix

from footlock.rig import clip as reading
from footlock.rig import contact_property, mapping, presets
from footlock.ui import panel

ROWS = {row["name"]: row for row in skeletons.PEOPLE}
FORMS = ("plain", "twist beside", "split", "no toes", "five toes", "lower case", "half renamed 0", "no names")
RIGS = clips.DATA / "rigs"
# Planted joints stand still within this, metres.
STILL = 5e-5


def build(made, name="Rig"):
    """An armature object of a skeleton, made active."""
    data = bpy.data.armatures.new(name)
    armature = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(armature)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    for bone_name, bone in made.bones.items():
        edit = data.edit_bones.new(bone_name)
        assert edit.name == bone_name
        edit.head, edit.tail, edit.use_deform = bone.head, bone.tail, bone.deform
    for bone_name, bone in made.bones.items():
        if bone.parent:
            data.edit_bones[bone_name].parent = data.edit_bones[bone.parent]
    bpy.ops.object.mode_set(mode="OBJECT")
    return armature


def stored(armature):
    return [[leg.side, leg.thigh, leg.shin, leg.foot, leg.toe] for leg in armature.data.footlock.legs]


def labels(armature):
    return [leg.label for leg in mapping.stored(armature).legs]


class MappingCase(unittest.TestCase):
    def setUp(self):
        rigs.new_file()

    def person(self, name="Unreal UE4", **options):
        return build(skeletons.person(ROWS[name], **options))


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

    @classmethod
    def setUpClass(cls):
        with redirect_stdout(StringIO()):  # it talks of its modules
            addon_utils.enable("rigify", default_set=True)

    @classmethod
    def tearDownClass(cls):
        with redirect_stdout(StringIO()):
            addon_utils.disable("rigify", default_set=True)

    def metarig(self, name):
        data = bpy.data.armatures.new("Metarig")
        armature = bpy.data.objects.new("Metarig", data)
        bpy.context.scene.collection.objects.link(armature)
        bpy.context.view_layer.objects.active = armature
        armature.select_set(True)
        importlib.import_module(f"rigify.metarigs.{name}").create(armature)
        bpy.ops.object.mode_set(mode="OBJECT")
        return armature

    def wanted(self, name, prefix=""):
        return [[s, *(f"{prefix}{bone}.{s}" for bone in leg)] for leg in self.ANIMALS[name] for s in "LR"]

    def test_metarigs(self):
        for name in self.ANIMALS:
            with self.subTest(name):
                rigs.new_file()
                armature = self.metarig(name)
                bpy.ops.footlock.map_legs()
                self.assertEqual(stored(armature), self.wanted(name))
                self.assertFalse(mapping.find(armature).by_shape)
        with self.assertRaisesRegex(RuntimeError, "No leg was found"):
            rigs.new_file()
            self.metarig("Animals.shark")
            bpy.ops.footlock.map_legs()

    def test_control_rigs(self):
        """Of all the copies of a leg the deform bones."""
        for name in ("Basic.basic_human", "Basic.basic_quadruped"):
            with self.subTest(name):
                rigs.new_file()
                self.metarig(name)
                with redirect_stdout(StringIO()):
                    bpy.ops.pose.rigify_generate()
                armature = bpy.context.object
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


class Hands(MappingCase):
    """Arms that can be planted: bent forward and down, as in a crawl."""

    ARM = ((0.17, 0.0, 1.45), (0.3, 0.1, 1.22), (0.3, -0.15, 1.1), (0.3, -0.24, 1.08), (0.3, -0.3, 1.08))
    FRAMES = np.arange(1.0, 41.0)

    def crawler(self, name):
        with mock.patch.object(skeletons, "ARM", self.ARM):
            made = skeletons.person(ROWS[name])
        self.made = made
        return build(made)

    def test_found(self):
        armature = self.person("Mixamo bare")
        bpy.ops.footlock.map_legs()
        self.assertEqual(labels(armature), ["Left", "Right"])
        bpy.ops.footlock.map_legs(hands=True)
        self.assertEqual(labels(armature), ["Left", "Right", "Left Hand", "Right Hand"])
        self.assertEqual(stored(armature)[2], ["L", "LeftArm", "LeftForeArm", "LeftHand", "LeftHandMiddle1"])
        legs = stored(armature)
        bpy.ops.footlock.map_legs()
        bpy.ops.footlock.add_hands()
        self.assertEqual(stored(armature), legs)
        bpy.ops.footlock.add_hands()  # once is enough
        self.assertEqual(stored(armature), legs)

    def test_none_to_find(self):
        armature = build(skeletons.person({**ROWS["Mixamo bare"], "arms": []}))
        bpy.ops.footlock.map_legs()
        before = rigs.everything()
        with self.assertRaisesRegex(RuntimeError, "No arms were found"):
            bpy.ops.footlock.add_hands()
        self.assertEqual(rigs.everything(), before)
        self.assertEqual(labels(armature), ["Left", "Right"])

    def test_planted_hands_stand_still(self):
        """Where they hang from the pelvis, and where pelvis and chest hang from a bone above both."""
        for name, carrier in (("Mixamo bare", ""), ("Genesis 3 and 8", "hip"), ("Character Creator", "CC_Base_Hip")):
            with self.subTest(name):
                rigs.new_file()
                armature = self.crawler(name)
                bpy.ops.footlock.map_legs(hands=True)
                legs = mapping.stored(armature)
                self.assertEqual((legs.carrier, len(legs.legs)), (carrier, 4))
                t = (self.FRAMES - 1.0) / 24.0
                travel = np.stack([0.01 * np.sin(5.0 * t), 0.0 * t, -0.05 * t], axis=1)
                top = armature.pose.bones[carrier or legs.pelvis]
                rigs.key(armature, top.path_from_id("location"), travel, self.FRAMES, group=top.name)
                swing = 0.2 * np.sin(6.0 * t)
                for bone in (legs.legs[0].thigh, legs.legs[1].thigh):
                    pose_bone = armature.pose.bones[bone]
                    pose_bone.rotation_mode = "XYZ"
                    turns = np.stack([swing, 0.0 * t, 0.0 * t], axis=1)
                    rigs.key(armature, pose_bone.path_from_id("rotation_euler"), turns, self.FRAMES, group=bone)
                down = np.zeros((len(self.FRAMES), 4), bool)
                down[5:30, 2], down[10:36, 3] = True, True
                contact_property.write(armature, legs, self.FRAMES, down)
                before, _ = rigs.evaluated(armature, self.FRAMES, [leg.bearer for leg in legs.legs])
                bpy.ops.footlock.remove_sliding()
                after, _ = rigs.evaluated(armature, self.FRAMES, [leg.bearer for leg in legs.legs])
                for i in (2, 3):
                    planted = down[:, i]
                    self.assertGreater(np.ptp(before[planted, i], axis=0).max(), 0.02)
                    self.assertLess(np.ptp(after[planted, i], axis=0).max(), STILL)
                self.assertFalse(
                    [path for path, _ in rigs.curves(armature) if legs.legs[2].toe in path and "rot" in path]
                )
                keyed = {path.split('"')[1] for path, _ in rigs.curves(armature)}
                between = {"Chest", "chestLower", "abdomenLower", "CC_Base_Waist", "CC_Base_Spine01"}
                self.assertFalse(keyed & between)
                self.assertIn("Left Hand", bpy.context.object.data.footlock.legs[2].place + " " + labels(armature)[2])

    def test_contacts_of_hands_are_detected(self):
        armature = self.crawler("Mixamo bare")
        bpy.ops.footlock.map_legs(hands=True)
        pelvis = armature.pose.bones["Hips"]
        rigs.key(armature, pelvis.path_from_id("location"), np.zeros((40, 3)), self.FRAMES, group="Hips")
        bpy.ops.footlock.detect_contacts()
        legs = mapping.stored(armature)
        for leg in legs.legs:
            self.assertIn(contact_property.NAME, armature.pose.bones[leg.bearer])
        clip = reading.read(bpy.context.scene, armature, legs)
        self.assertEqual(clip.leg_pose().knee.shape, (40, 4, 3))


class ManyLegs(MappingCase):
    FRAMES = np.arange(1.0, 41.0)

    def test_planted_paws_stand_still(self):
        """Four legs with hocks, and eight without toes, each planted at another time."""
        for made in (skeletons.beast(skeletons.BEASTS[1]), skeletons.insect(4)):
            rigs.new_file()
            armature = build(made)
            bpy.ops.footlock.map_legs()
            legs = mapping.stored(armature)
            count = len(legs.legs)
            self.assertEqual(count, len(made.legs))
            t = (self.FRAMES - 1.0) / 24.0
            root = armature.pose.bones[legs.pelvis]
            rest = np.array(root.bone.matrix_local.to_3x3())
            travel = np.stack([0.01 * np.sin(5.0 * t), -0.08 * t, 0.005 * np.sin(9.0 * t)], axis=1)
            rigs.key(armature, root.path_from_id("location"), travel @ rest, self.FRAMES, group=root.name)
            down = np.zeros((len(self.FRAMES), count), bool)
            for i in range(count):
                down[4 * (i % 4) + 2 : 4 * (i % 4) + 20, i] = True
            contact_property.write(armature, legs, self.FRAMES, down)
            before, _ = rigs.evaluated(armature, self.FRAMES, [leg.bearer for leg in legs.legs])
            bpy.ops.footlock.remove_sliding()
            after, _ = rigs.evaluated(armature, self.FRAMES, [leg.bearer for leg in legs.legs])
            for i in range(count):
                with self.subTest(count, leg=legs.legs[i].label):
                    self.assertGreater(np.ptp(before[down[:, i], i], axis=0).max(), 0.03)
                    self.assertLess(np.ptp(after[down[:, i], i], axis=0).max(), STILL)


class Mirror(MappingCase):
    def test_every_convention(self):
        for row in skeletons.PEOPLE:
            made = skeletons.person(row)
            armature = build(made)
            with self.subTest(row["name"]):
                bpy.ops.footlock.map_legs()
                for keep in (0, 1):
                    bpy.ops.footlock.remove_leg(index=1 - keep)
                    bpy.ops.footlock.mirror_leg(index=0)
                    self.assertEqual(sorted(stored(armature)), made.legs)
                    bpy.ops.footlock.mirror_leg(index=0)  # fills in what is there
                    self.assertEqual(sorted(stored(armature)), made.legs)
            bpy.data.armatures.remove(armature.data)

    def test_by_their_places(self):
        """Names that have no side."""
        made = skeletons.person(ROWS["Mixamo bare"])
        made = made.renamed({name: f"b{i}" for i, name in enumerate(made.bones)})
        armature = build(made)
        bpy.ops.footlock.map_legs()
        bpy.ops.footlock.remove_leg(index=1)
        bpy.ops.footlock.mirror_leg(index=0)
        self.assertEqual(stored(armature), made.legs)

    def test_what_has_no_mirror_image(self):
        armature = self.person()
        bpy.ops.footlock.map_legs()
        armature.data.footlock.legs[0].foot = "head"
        before = rigs.everything()
        for index, said in ((0, "No bone mirrors “head”"), (5, "There is no leg 5 to mirror")):
            with self.assertRaisesRegex(RuntimeError, said):
                bpy.ops.footlock.mirror_leg(index=index)
        armature.data.footlock.legs[0].foot = "gone"
        with self.assertRaisesRegex(RuntimeError, "“gone” is not in the armature"):
            bpy.ops.footlock.mirror_leg(index=0)
        armature.data.footlock.legs[0].foot = "head"
        self.assertEqual(rigs.everything(), before)


class Presets(MappingCase):
    def setUp(self):
        super().setUp()
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        patch = mock.patch.object(bpy.utils, "user_resource", lambda kind, path="": f"{self.folder.name}/{kind}/{path}")
        patch.start()
        self.addCleanup(patch.stop)

    def test_saved_loaded_deleted(self):
        armature = build(skeletons.beast(skeletons.BEASTS[0]))
        bpy.ops.footlock.map_legs()
        legs, names, pelvis = stored(armature), labels(armature), armature.data.footlock.pelvis
        self.assertEqual(presets.names(), [])
        bpy.ops.footlock.save_leg_preset(name="My wolf/1 “灰”")
        (name,) = presets.names()
        self.assertTrue(list(Path(self.folder.name).glob("SCRIPTS/presets/footlock/legs/*.json")))
        rigs.new_file()
        other = build(skeletons.beast(skeletons.BEASTS[0]))
        bpy.ops.footlock.load_leg_preset(name=name)
        self.assertEqual((stored(other), labels(other), other.data.footlock.pelvis), (legs, names, pelvis))
        bpy.ops.footlock.delete_leg_preset(name=name)
        self.assertEqual(presets.names(), [])

    def test_a_rig_without_the_bones(self):
        self.person("Mixamo bare")
        bpy.ops.footlock.save_leg_preset(name="Mixamo")
        rigs.new_file()
        self.person("Unreal UE4")
        before = rigs.everything()
        with self.assertRaisesRegex(RuntimeError, "“Mixamo” needs the bone “Hips”, which “Rig” does not have"):
            bpy.ops.footlock.load_leg_preset(name="Mixamo")
        self.assertEqual(rigs.everything(), before)

    def test_files_that_are_none(self):
        self.person()
        folder = Path(bpy.utils.user_resource("SCRIPTS", path="presets/footlock/legs"))
        folder.mkdir(parents=True)
        for text in ("", "[]", "{}", '{"footlock_legs": 1, "pelvis": "a", "legs": [{"leg": 1}]}', "\0"):
            (folder / "bad.json").write_text(text)
            with self.assertRaisesRegex(RuntimeError, "is no preset of legs"):
                bpy.ops.footlock.load_leg_preset(name="bad")
        (folder / "bad.json").write_text('{"footlock_legs": 99}')
        with self.assertRaisesRegex(RuntimeError, "another version"):
            bpy.ops.footlock.load_leg_preset(name="bad")
        for run in (bpy.ops.footlock.load_leg_preset, bpy.ops.footlock.delete_leg_preset):
            with self.assertRaisesRegex(RuntimeError, "“none”"):
                run(name="none")
        with self.assertRaisesRegex(RuntimeError, "has no name"):
            bpy.ops.footlock.save_leg_preset(name=" ")
        self.assertTrue(issubclass(panel.FOOTLOCK_MT_leg_presets, bpy.types.Menu))


class Kept(clips.InFolder):
    def test_places_survive_a_file(self):
        rigs.new_file()
        armature = build(skeletons.beast(skeletons.BEASTS[0]))
        bpy.ops.footlock.map_legs()
        legs = mapping.stored(armature)
        path = self.folder / "beast.blend"
        bpy.ops.wm.save_as_mainfile(filepath=str(path))
        bpy.ops.wm.open_mainfile(filepath=str(path))
        self.assertEqual(mapping.stored(bpy.data.objects["Rig"]), legs)
