"""Legs that constraints move: what drives them gets the keys, and the deformed toes stand."""

import unittest

import bpy
import numpy as np
from blender import control_rigs, rigs

from footlock.operators import detect_contacts, remove_sliding
from footlock.rig import controls, correction, mapping
from footlock.rig.names import Leg, LegMap
from footlock.solvers.errors import FootlockError

# Metres a frame by which a planted toe may slide.
STILL = 5e-5
FEET = {"foot_ik.L": 0.0, "foot_ik.R": 0.5}
ROLES = ("thigh", "shin", "foot", "toe")


def keyed(rig):
    """The curves in use, to the byte, by bone and channel."""
    return {(path, index): held for (path, index), held in rigs.dump(rig).items()}


def bones_of(keys):
    return {path.split('"')[1] for path, _ in keys}


class ControlRigCase(unittest.TestCase):
    def corrected(self, rig, legs, labels, *, half=1e-3, still=STILL):
        """Remove the sliding; the evaluated toes stand on frames and between them, knees bend to the side that they
        did. Returns the names of the bones whose curves changed."""
        frames = 1.0 + np.arange(control_rigs.FRAMES)
        names = [name for leg in legs.legs for name in (leg.thigh, leg.shin, leg.foot, leg.toe)]
        before, held = rigs.evaluated(rig, frames, names)[0], keyed(rig)
        done = remove_sliding.remove(bpy.context.scene, rig, legs, labels=labels)
        after, now = rigs.evaluated(rig, frames, names)[0], keyed(rig)
        between = rigs.evaluated(rig, frames[:-1] + 0.5, names)[0]
        planted = labels[1:] & labels[:-1]
        toes, at_half = after[:, 3::4], between[:, 3::4]
        slide = np.linalg.norm(np.diff(toes, axis=0), axis=-1)[planted]
        self.assertGreater(np.linalg.norm(np.diff(before[:, 3::4], axis=0), axis=-1)[planted].max(), 20 * STILL)
        self.assertLess(slide.max(), still)
        self.assertLess(np.linalg.norm(at_half - toes[:-1], axis=-1)[planted].max(), half)
        self.assertFalse(done.out_of_reach.any())
        for leg in range(len(legs.legs)):
            sides = []
            for joints in (before, after):
                hip, knee, heel = (joints[:, 4 * leg + joint] for joint in range(3))
                sides.append(knee - hip - (heel - hip) * 0.5)
            self.assertGreater(np.einsum("ij,ij->i", *sides).min(), 0.0, "a knee went over to the other side")
        self.assertEqual(held.keys() - now.keys(), set())
        return bones_of(key for key in now if now[key] != held.get(key))


class Rigify(ControlRigCase):
    """The human of Rigify's add-on."""

    def rig(self):
        rig = control_rigs.rigify("human")
        labels = control_rigs.walk(rig, FEET, "torso")
        # Everything else that an animator has keyed, which stays.
        rng, frames = np.random.default_rng(5), 1.0 + np.arange(control_rigs.FRAMES)
        for name, width in (("chest", 0.2), ("hips", 0.1), ("foot_heel_ik.L", 0.1), ("hand_ik.L", 0.3)):
            bone = rig.pose.bones[name]
            size = 3 if bone.rotation_mode != "QUATERNION" else 4
            rest = 0.0 if size == 3 else np.array([1.0, 0.0, 0.0, 0.0])
            rigs.key(rig, rigs.rotation_path(bone), rest + rigs.wave(rng, frames, size, width), frames, group=name)
        return rig, labels

    def set_on_legs(self, rig, name, values, frames=(1.0,)):
        for side in "LR":
            path = f'pose.bones["thigh_parent.{side}"]["{name}"]'
            rigs.key(rig, path, np.array(values, float)[:, None], frames)

    turns = None  # of the walk in FK, which is the same in all tests

    def to_fk(self, rig):
        if self.turns is None:
            pairs = [(f"{role}_fk.{side}", f"ORG-{role}.{side}") for side in "LR" for role in ROLES]
            type(self).turns = control_rigs.turns_in_fk(rig, pairs)
        control_rigs.key_turns(rig, self.turns)

    def test_mapped_to_what_deforms(self):
        rig, _ = self.rig()
        self.assertEqual([leg.toe for leg in mapping.find(rig).legs], ["DEF-toe.L", "DEF-toe.R"])

    def test_contacts_are_on_the_foot_controls(self):
        """Bones that deform are hidden, and so are their curves; the same ones bear them in FK."""
        rig, _ = self.rig()
        bpy.ops.footlock.detect_contacts()
        self.assertTrue(all("contact" in rig.pose.bones[name] for name in FEET))
        self.to_fk(rig)
        self.set_on_legs(rig, "IK_FK", [1.0])
        self.assertEqual([leg.bearer for leg in mapping.of(rig).legs], list(FEET))

    def test_contacts(self):
        rig, labels = self.rig()
        found = detect_contacts.detect(bpy.context.scene, rig, mapping.find(rig))
        self.assertGreater((found.labels == labels).mean(), 0.95)

    def test_ik(self):
        rig, labels = self.rig()
        changed = self.corrected(rig, mapping.find(rig), labels)
        self.assertLessEqual({"torso", "foot_ik.L", "foot_ik.R"}, changed)
        self.assertLessEqual(changed, {"torso", *FEET, "toe_ik.L", "toe_ik.R"})

    def test_fk(self):
        rig, labels = self.rig()
        self.to_fk(rig)
        self.set_on_legs(rig, "IK_FK", [1.0])
        changed = self.corrected(rig, mapping.find(rig), labels, half=2e-3)
        self.assertLessEqual(changed, {"torso", *(f"{role}_fk.{side}" for side in "LR" for role in ROLES)})
        self.assertIn("thigh_fk.L", changed)

    def test_switched_within_the_clip(self):
        """Each control gets keys while it counts; what it has while it does not stays."""
        rig, labels = self.rig()
        self.to_fk(rig)
        self.set_on_legs(rig, "IK_FK", [0.0, 0.0, 1.0], (1.0, 20.0, 26.0))
        held = {name: rigs.values(rigs.curve_of(rig, name, channel, 1)) for name, channel in self.BOTH}
        changed = self.corrected(rig, mapping.find(rig), labels, half=2e-3)
        self.assertLessEqual({"foot_ik.L", "thigh_fk.L"}, changed)
        for name, channel in self.BOTH:
            frames, values = rigs.values(rigs.curve_of(rig, name, channel, 1))
            np.testing.assert_array_equal(frames, held[name][0])
            idle = frames >= 26.0 if "ik" in name else frames <= 20.0
            np.testing.assert_array_equal(values[idle], held[name][1][idle])
            self.assertGreater(np.abs(values - held[name][1])[~idle].max(), 1e-3)

    BOTH = (("foot_ik.L", "location"), ("foot_ik.R", "location"), ("thigh_fk.L", "rotation"))

    def test_with_poles(self):
        rig, labels = self.rig()
        for side in "LR":
            rig.pose.bones[f"thigh_parent.{side}"]["pole_vector"] = True
        rig.update_tag()
        changed = self.corrected(rig, mapping.find(rig), labels)
        self.assertNotIn("thigh_ik_target.L", changed)

    def test_feet_that_follow_the_torso(self):
        """What a constraint carries along is put right by the second pass."""
        rig, labels = self.rig()
        self.set_on_legs(rig, "IK_parent", [2.0])
        frames = 1.0 + np.arange(control_rigs.FRAMES)
        bone = rig.pose.bones["torso"]
        for index in range(3):
            curve = rigs.curve_of(rig, "torso", "location", index)
            at, values = rigs.values(curve)
            rigs.key(rig, bone.path_from_id("location"), np.tile(values * 0.02, (3, 1)).T, at, skip={0, 1, 2} - {index})
        rig.update_tag()
        self.corrected(rig, mapping.find(rig), labels[: len(frames)])

    def test_one_step_a_frame_and_pass(self):
        """The clip is read, verified, put right and verified, and read between frames: no frame more often."""
        rig, labels = self.rig()
        seen = []
        bpy.app.handlers.frame_change_post.append(lambda scene, _=None: seen.append(scene.frame_current_final))
        try:
            remove_sliding.remove(bpy.context.scene, rig, mapping.find(rig), labels=labels)
        finally:
            bpy.app.handlers.frame_change_post.pop()
        self.assertLessEqual(len(seen), 4 * control_rigs.FRAMES + 4)

    def test_few_keys(self):
        """Fewer keys, and the evaluated toes are within the tolerance of where they stand with all of them."""
        toes = {}
        for tolerance in (0.0, 2e-3):
            rig, labels = self.rig()
            options = remove_sliding.Options(key_tolerance=tolerance)
            remove_sliding.remove(bpy.context.scene, rig, mapping.find(rig), labels=labels, options=options)
            frames = 1.0 + np.arange(control_rigs.FRAMES)
            toes[tolerance] = rigs.evaluated(rig, frames, ["DEF-toe.L", "DEF-toe.R"])[0]
            keys = len(rigs.values(rigs.curve_of(rig, "foot_ik.L", "location", 1))[0])
        self.assertLess(keys, 0.7 * control_rigs.FRAMES)
        self.assertLess(np.linalg.norm(toes[2e-3] - toes[0.0], axis=-1).max(), 3e-3)

    def test_labels_of_nothing_change_nothing(self):
        rig, labels = self.rig()
        held = rigs.everything()
        remove_sliding.remove(bpy.context.scene, rig, mapping.find(rig), labels=np.zeros_like(labels))
        self.assertEqual(rigs.everything(), held)

    def test_operators_and_undo(self):
        rig, _ = self.rig()
        bpy.ops.ed.undo_push(message="base")
        name, held = rig.name, keyed(rig)
        bpy.ops.footlock.detect_contacts("EXEC_DEFAULT", True)
        bpy.ops.footlock.remove_sliding("EXEC_DEFAULT", True)
        self.assertNotEqual(keyed(bpy.data.objects[name]), held)
        bpy.ops.ed.undo()
        bpy.ops.ed.undo()
        self.assertEqual(keyed(bpy.data.objects[name]), held)

    def test_root_fit_moves_what_carries_all(self):
        """The root gets the travel, and torso and feet keep their keys."""
        rig, _ = self.rig()
        held = keyed(rig)
        bpy.ops.footlock.detect_contacts()
        bpy.ops.footlock.fit_root()
        now = keyed(rig)
        changed = bones_of(key for key in now if now[key] != held.get(key) and '"contact"' not in key[0])
        self.assertEqual(changed, {"root"})

    def test_stretch_is_the_rigs_own(self):
        rig, _ = self.rig()
        with self.assertRaisesRegex(FootlockError, "set Stretch Legs to 0"):
            correction.check(rig, mapping.find(rig), controls.of(rig, mapping.find(rig)), stretched=True)


class Quadruped(ControlRigCase):
    """Four legs of Rigify's, the hind ones of three segments."""

    FEET = {"foot_ik.L": 0.0, "foot_ik.R": 0.5, "front_foot_ik.L": 0.25, "front_foot_ik.R": 0.75}

    def test_walk(self):
        rig = control_rigs.rigify("Basic.basic_quadruped")
        labels = control_rigs.walk(rig, self.FEET, "torso")
        legs = [
            Leg(side, *(f"DEF-{front}{role}.{side}" for role in ROLES)) for front in ("", "front_") for side in "LR"
        ]
        legs = LegMap("ORG-spine", tuple(legs))
        changed = self.corrected(rig, legs, labels)
        toes = {f"{name}.{side}" for name in ("toe", "front_toe") for side in "LR"}
        self.assertLessEqual(changed, {"torso", *self.FEET, *toes})
        self.assertLessEqual({"torso", *self.FEET}, changed)


class AutoRigPro(ControlRigCase):
    """Its names and its manner: a property of the foot control switches."""

    FEET = {"c_foot_ik.l": 0.0, "c_foot_ik.r": 0.5}
    FK = ("c_thigh_fk", "c_leg_fk", "c_foot_fk", "c_toes_fk")

    def walked(self):
        rigs.new_file()
        rig = control_rigs.auto_rig_pro()
        return rig, control_rigs.walk(rig, self.FEET, "c_root_master.x")

    def test_ik(self):
        rig, labels = self.walked()
        changed = self.corrected(rig, mapping.find(rig), labels)
        self.assertLessEqual({"c_root_master.x", *self.FEET}, changed)
        self.assertLessEqual(changed, {"c_root_master.x", *self.FEET, "c_toes_ik.l", "c_toes_ik.r"})

    def test_fk(self):
        rig, labels = self.walked()
        deformed = ("thigh_stretch", "leg_stretch", "foot", "toes_01")
        pairs = zip(self.FK, deformed, strict=True)
        pairs = [(f"{fk}.{side}", f"{bone}.{side}") for fk, bone in pairs for side in "lr"]
        control_rigs.key_turns(rig, control_rigs.turns_in_fk(rig, pairs))
        for side in "lr":
            rigs.key(rig, f'pose.bones["c_foot_ik.{side}"]["ik_fk_switch"]', np.ones((1, 1)), (1.0,))
        changed = self.corrected(rig, mapping.find(rig), labels, half=2e-3)
        self.assertLessEqual(changed, {"c_root_master.x", *(f"{name}.{side}" for name in self.FK for side in "lr")})
        self.assertIn("c_thigh_fk.l", changed)


class Built(ControlRigCase):
    """Rigs that somebody built, recognised by their constraints and no name."""

    FEET = {"control.L": 0.0, "control.R": 0.5}

    def walked(self, **options):
        rigs.new_file()
        rig = control_rigs.built(**options)
        return rig, control_rigs.walk(rig, self.FEET, "pelvis")

    def test_foot_control(self):
        for options in ({}, {"pole": False}, {"parented": True}, {"roll": True}):
            with self.subTest(**options):
                rig, labels = self.walked(**options)
                changed = self.corrected(rig, mapping.find(rig), labels)
                self.assertLessEqual(changed, {"pelvis", "toe.L", "toe.R", *self.FEET})
                self.assertLessEqual({"pelvis", *self.FEET}, changed)

    def test_foot_with_keys_of_its_own(self):
        rig, labels = self.walked(foot="own")
        # Its controls are up to 4 cm out of the legs' reach, where the evaluated leg ends before it is straight.
        changed = self.corrected(rig, mapping.find(rig), labels, still=5e-4, half=5e-3)
        self.assertLessEqual({"pelvis", "foot.L", "foot.R", *self.FEET}, changed)

    def test_bones_that_copy_the_legs(self):
        rig, labels = self.walked(copied=True)
        legs = LegMap("pelvis", tuple(Leg(side, *(f"DEF-{role}.{side}" for role in ROLES)) for side in "LR"))
        bpy.context.view_layer.update()
        driven_by = controls.of(rig, legs)
        self.assertEqual(driven_by.carrier, "pelvis")
        self.assertEqual(
            [[place.bone for place in limb.places] for limb in driven_by.limbs], [[one] for one in self.FEET]
        )
        changed = self.corrected(rig, legs, labels)
        self.assertLessEqual(changed, {"pelvis", "toe.L", "toe.R", *self.FEET})

    def test_fk_bones_with_limits(self):
        """A limit leaves a bone its keys."""
        rigs.new_file()
        rig = rigs.biped("Limited", root=True)
        frames = 1.0 + np.arange(control_rigs.FRAMES)
        rigs.walk(rig, frames)
        limit = rig.pose.bones["toe.L"].constraints.new("LIMIT_ROTATION")
        limit.use_limit_x, limit.min_x, limit.max_x, limit.owner_space = True, -3.0, 3.0, "LOCAL"
        labels = np.zeros((len(frames), 2), bool)
        labels[5:20, 0] = labels[20:40, 1] = True
        changed = self.corrected(rig, mapping.find(rig), labels)
        self.assertLessEqual(changed, {"pelvis", *(f"{role}.{side}" for role in ROLES for side in "LR")})

    def test_foot_that_copies_in_part(self):
        """The control turns the foot by half of what it turns itself: several passes bring the toes there."""
        rig, labels = self.walked()
        for side in "LR":
            rig.pose.bones[f"foot.{side}"].constraints["Copy Rotation"].influence = 0.5
        self.corrected(rig, mapping.find(rig), labels, still=5e-4, half=5e-3)

    def test_bone_that_carries_both_feet(self):
        """It has keys, too, and moves neither foot alone: the controls below it are keyed."""
        rig, labels = self.walked()
        bpy.ops.object.mode_set(mode="EDIT")
        edit = rig.data.edit_bones
        both = edit.new("both")
        both.tail, both.parent = (0.0, 0.2, 0.0), edit["root"]
        for name in self.FEET:
            edit[name].parent = both
        bpy.ops.object.mode_set(mode="OBJECT")
        frames = 1.0 + np.arange(control_rigs.FRAMES)
        wave = rigs.wave(np.random.default_rng(2), frames, 3, 0.02)
        rigs.key(rig, rig.pose.bones["both"].path_from_id("location"), wave, frames, group="both")
        changed = self.corrected(rig, mapping.find(rig), labels, still=5e-4, half=5e-3)
        self.assertNotIn("both", changed)
        self.assertLessEqual({"pelvis", *self.FEET}, changed)

    def test_what_does_not_follow_is_said(self):
        rig, labels = self.walked()
        for side in "LR":
            for axis in "xyz":
                setattr(rig.pose.bones[f"shin.{side}"], f"use_ik_limit_{axis}", True)
                setattr(rig.pose.bones[f"shin.{side}"], f"ik_max_{axis}", 0.2)
                setattr(rig.pose.bones[f"shin.{side}"], f"ik_min_{axis}", -0.2)
        bpy.context.view_layer.update()
        done = remove_sliding.remove(bpy.context.scene, rig, mapping.find(rig), labels=labels)
        self.assertIn("constraints keep feet from following", done.notes)

    def test_key_of_a_control_that_is_no_number(self):
        rig, labels = self.walked()
        rigs.curve_of(rig, "control.L", "location", 1).keyframe_points[9].co[1] = float("nan")
        self.refused(rig, "“location” of bone “control.L” has a value that is not a number", labels)

    def test_inverse_kinematics_of_the_pelvis(self):
        rig, labels = self.walked()
        rig.pose.bones["shin.L"].constraints["IK"].chain_count = 3
        self.refused(rig, "moves the pelvis, too: set its Chain Length", labels)

    def test_target_that_is_an_object(self):
        rig, labels = self.walked()
        empty = bpy.data.objects.new("Target", None)
        bpy.context.scene.collection.objects.link(empty)
        chain = next(one for one in rig.pose.bones["shin.L"].constraints if one.type == "IK")
        chain.target = empty
        self.refused(rig, "follows another object by its constraint “IK”", labels)

    def test_thigh_that_is_aimed(self):
        rig, labels = self.walked()
        rig.pose.bones["shin.L"].constraints.remove(rig.pose.bones["shin.L"].constraints["IK"])
        aim = rig.pose.bones["thigh.L"].constraints.new("DAMPED_TRACK")
        aim.target, aim.subtarget = rig, "pole.L"
        self.refused(rig, "“thigh.L” is moved by the constraint “Damped Track”", labels)

    def refused(self, rig, words, labels):
        bpy.context.view_layer.update()
        held = rigs.everything()
        with self.assertRaisesRegex(FootlockError, words):
            remove_sliding.remove(bpy.context.scene, rig, mapping.of(rig), labels=labels)
        self.assertEqual(rigs.everything(), held)
