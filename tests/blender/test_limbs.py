"""Limbs beyond two legs: hands that are planted, four legs and eight."""

from unittest import mock

import bpy
import numpy as np
import skeletons
from blender import rigs
from blender.mapped import ROWS, MappingCase, build, labels, stored

from footlock.rig import clip as reading
from footlock.rig import contact_property, mapping

# Planted joints stand still within this, metres.
STILL = 5e-5


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
