"""Remove Sliding and the contact curves on generated rigs: what comes out, and what stays as it was."""

import tempfile
import unittest
from pathlib import Path
from unittest import mock

import bpy
import clips
import numpy as np
from blender import rigs

# Joints land within this share of the length of thigh and shin.
from blender.corrections import (
    FRAMES,
    SAME,
    CorrectionCase,
    chain,
)

from footlock.operators import remove_sliding
from footlock.rig import clip as reading
from footlock.rig import compat, contact_property, correction, mapping
from footlock.rig.names import Leg, LegMap


class RemoveCase(CorrectionCase):
    """The whole removal, on a walk that slides."""

    FRAMES = np.arange(1.0, 61.0)

    def labels(self, count=60):
        """One foot planted after the other, by hand."""
        labels = np.zeros((count, 2), bool)
        labels[6:18, 0] = labels[31:43, 0] = labels[19:30, 1] = labels[44:54, 1] = True
        return labels

    def remove(self, armature, labels, unit=1.0):
        """Remove sliding; returns the legs, the Removal, and what the solver said: pelvis and LegSolution."""
        bpy.context.view_layer.update()
        legs = mapping.of(armature)
        with mock.patch.object(correction, "writing", wraps=correction.writing) as write:
            done = remove_sliding.remove(self.scene, armature, legs, unit=unit, labels=labels)
        _, clip, pelvis, solution, *_ = write.call_args.args
        return legs, done, clip, pelvis, solution

    def check_landed(self, armature, labels, unit=1.0):
        """The evaluated joints are where the solver said, and planted toes stand."""
        held = rigs.dump(armature)
        legs, done, clip, pelvis, solution = self.remove(armature, labels, unit)
        self.only_legs_and_carrier(armature, legs, held)
        names = [legs.pelvis, *(name for leg in legs.legs for name in chain(leg))]
        heads = rigs.evaluated(armature, clip.frames, names)[0] * clip.unit
        size = rigs.LEG
        np.testing.assert_allclose(heads[:, 0], pelvis, atol=SAME * size, rtol=0.0)
        for i, leg in enumerate(legs.legs):
            for part, name in (("knee", leg.shin), ("heel", leg.foot), ("toe", leg.toe)):
                wanted = getattr(solution, part)[:, i]
                np.testing.assert_allclose(heads[:, names.index(name)], wanted, atol=SAME * size, rtol=0.0)
            toe = heads[:, names.index(leg.toe)]
            steps = np.linalg.norm(np.diff(toe, axis=0), axis=1)
            planted = labels[1:, i] & labels[:-1, i] & ~done.out_of_reach[1:, i] & ~done.out_of_reach[:-1, i]
            self.assertGreater(planted.sum(), 5)
            self.assertLess(steps[planted].max(), 5e-5)
        return done

    def moved_by_a_second_run(self, armature, labels, unit=1.0):
        """Metres by which any joint moves."""
        names = [bone.name for bone in armature.pose.bones]
        once = np.stack(rigs.evaluated(armature, self.FRAMES, names))
        _, _, clip, _, _ = self.remove(armature, labels, unit)
        twice = np.stack(rigs.evaluated(armature, self.FRAMES, names))
        return float(np.linalg.norm(twice - once, axis=-1).max()) * clip.unit


class Removal(RemoveCase):
    def test_walk_in_every_mode(self):
        for mode in rigs.MODES:
            with self.subTest(mode):
                rigs.new_file()
                armature = rigs.biped()
                rigs.walk(armature, self.FRAMES, mode=mode)
                done = self.check_landed(armature, self.labels())
                self.assertGreater(min(slide.mean for slide in done.before), 1e-3)
                self.assertLess(self.moved_by_a_second_run(armature, self.labels()), 1e-4)

    def test_walk_on_rigs_of_many_kinds(self):
        kinds = {
            "connected": {"connect": True},
            "bones between and above": {"root": True, "socket": True, "twist": True},
            "centimetres": {"size": 100.0},
        }
        for name, options in kinds.items():
            with self.subTest(name):
                rigs.new_file()
                armature = rigs.biped(**options)
                size = options.get("size", 1.0)
                rigs.walk(armature, self.FRAMES, size=size)
                armature.rotation_euler = (0.0, 0.0, 2.0)
                armature.scale = (1.0 / size,) * 3
                self.check_landed(armature, self.labels())
                self.assertLess(self.moved_by_a_second_run(armature, self.labels()), 1e-4)

    def test_small_armature_scaled_up(self):
        """An armature whose unit is 100 m, as some FBX files have it."""
        armature = rigs.biped(size=0.01)
        rigs.walk(armature, self.FRAMES, size=0.01)
        armature.scale = (100.0,) * 3
        self.check_landed(armature, self.labels())
        self.assertLess(self.moved_by_a_second_run(armature, self.labels()), 1e-4)

    def test_centimetre_scene(self):
        armature = rigs.biped(size=100.0)
        rigs.walk(armature, self.FRAMES, size=100.0)
        done = self.check_landed(armature, self.labels(), unit=0.0)
        self.assertEqual(done.clip.unit, 0.01)
        self.assertLess(self.moved_by_a_second_run(armature, self.labels(), unit=0.0), 1e-4)

    def test_object_carried_by_an_animated_empty(self):
        armature = rigs.biped()
        rigs.walk(armature, self.FRAMES, speed=0.5)
        empty = bpy.data.objects.new("Mover", None)
        self.scene.collection.objects.link(empty)
        travel = np.outer((self.FRAMES - 1.0) / 24.0, (0.0, -0.5, 0.0))
        rigs.key(empty, "location", travel, self.FRAMES)
        armature.parent = empty
        self.check_landed(armature, self.labels())
        self.assertLess(self.moved_by_a_second_run(armature, self.labels()), 1e-4)

    def test_object_animated_and_pelvis_not(self):
        """The travel is on the object, as game exports have it; the pelvis has no location keys yet."""
        armature = rigs.biped()
        rigs.walk(armature, self.FRAMES)
        for i in range(3):
            compat.channels(armature).fcurves.remove(rigs.curve_of(armature, "pelvis", "location", i))
        armature.pose.bones["pelvis"].location = (0.0, 0.0, 0.0)
        travel = np.outer((self.FRAMES - 1.0) / 24.0, (0.0, -1.0, 0.0)) - (0.0, 0.0, 0.06)
        rigs.key(armature, "location", travel, self.FRAMES)
        self.check_landed(armature, self.labels())
        self.assertLess(self.moved_by_a_second_run(armature, self.labels()), 1e-4)

    def test_sparse_bezier_keys(self):
        armature = rigs.biped()
        rigs.walk(armature, self.FRAMES[::3])
        for curve in compat.channels(armature).fcurves:
            for point in curve.keyframe_points:
                point.interpolation = "BEZIER"
            curve.update()
        labels = self.labels()[:58]
        self.check_landed(armature, labels)
        self.FRAMES = self.FRAMES[:58]
        self.assertLess(self.moved_by_a_second_run(armature, labels), 1e-4)

    def test_captured_walk(self):
        armature = clips.import_clip()
        legs = mapping.of(armature)
        clip = reading.read(self.scene, armature, legs)
        labels = np.zeros((995, 2), bool)
        for column, foot in enumerate(clip.leg_pose().toe.transpose(1, 0, 2)):
            speed = np.linalg.norm(np.gradient(foot, axis=0), axis=-1) * 120.0
            labels[:, column] = speed < 0.2
        correction.scale_travel(armature, clip, 1.25)
        self.check_landed(armature, labels)
        self.FRAMES = clip.frames[::5]
        self.assertLess(self.moved_by_a_second_run(armature, labels), 1e-4)

    def test_scale_along_the_pelvis_is_told_or_held(self):
        """Under a parent that is scaled unevenly no rotation does what the solver wants: the slide that is reported
        is what is there."""
        armature = rigs.biped()
        rigs.walk(armature, self.FRAMES)
        rigs.key(armature, 'pose.bones["pelvis"].scale', np.tile((1.0, 1.2, 0.9), (60, 1)), self.FRAMES)
        labels = self.labels()
        legs, done, clip, _, _ = self.remove(armature, labels)
        toes = rigs.evaluated(armature, clip.frames, [leg.toe for leg in legs.legs])[0]
        for i in range(2):
            steps = np.linalg.norm(np.diff(toes[:, i], axis=0), axis=1)[labels[1:, i] & labels[:-1, i]]
            self.assertAlmostEqual(done.after[i].mean, steps.mean(), delta=1e-5)
            self.assertLess(steps.mean(), done.before[i].mean)

    def test_remove_by_operator_and_undo(self):
        armature = rigs.biped()
        rigs.walk(armature, self.FRAMES)
        legs = mapping.of(armature)
        contact_property.write(armature, legs, self.FRAMES, self.labels())
        name, held = armature.name, rigs.everything()
        names = [bone.name for bone in armature.pose.bones]
        where = rigs.evaluated(armature, self.FRAMES, names)[0]
        self.scene.frame_set(1)
        bpy.ops.ed.undo_push(message="base")
        self.assertEqual(bpy.ops.footlock.remove_sliding("EXEC_DEFAULT", True), {"FINISHED"})
        self.assertNotEqual(rigs.everything(), held)
        bpy.ops.ed.undo()
        self.assertEqual(rigs.everything(), held)
        armature = bpy.data.objects[name]
        np.testing.assert_allclose(rigs.evaluated(armature, self.FRAMES, names)[0], where, atol=1e-6)
        bpy.ops.ed.redo()
        self.assertGreater(len(bpy.data.objects[name].data.footlock.legs), 0)

    def test_undo_of_detection_takes_property_and_curve(self):
        armature = rigs.biped()
        rigs.walk(armature, self.FRAMES, speed=0.3)
        name, held = armature.name, rigs.everything()
        bpy.ops.ed.undo_push(message="base")
        bpy.ops.footlock.detect_contacts("EXEC_DEFAULT", True, velocity=2.0, height=1.0)
        self.assertIn("contact", bpy.data.objects[name].pose.bones["toe.L"])
        bpy.ops.ed.undo()
        self.assertEqual(rigs.everything(), held)

    def test_frame_and_selection_are_kept(self):
        armature = rigs.biped()
        rigs.walk(armature, self.FRAMES)
        contact_property.write(armature, mapping.of(armature), self.FRAMES, self.labels())
        self.scene.frame_set(17, subframe=0.5)
        bpy.ops.footlock.remove_sliding()
        self.assertEqual((self.scene.frame_current, self.scene.frame_subframe), (17, 0.5))
        self.assertEqual(bpy.context.object, armature)


class ContactProperty(CorrectionCase):
    def setUp(self):
        super().setUp()
        self.armature = rigs.biped()
        rigs.walk(self.armature, FRAMES)
        self.legs = mapping.of(self.armature)
        self.labels = np.zeros((len(FRAMES), 2), bool)
        self.labels[0:9, 0] = self.labels[20:30, 0] = self.labels[10:19, 1] = True
        contact_property.write(self.armature, self.legs, FRAMES, self.labels)

    def curve(self, bone="toe.L"):
        return rigs.curve_of(self.armature, bone, '["contact"]')

    def read(self):
        return contact_property.read(self.armature, self.legs, FRAMES)

    def set_keys(self, keys, interpolation="CONSTANT"):
        points = self.curve().keyframe_points
        points.clear()
        for frame, value in keys:
            points.insert(frame, value).interpolation = interpolation
        self.curve().update()

    def test_what_it_is(self):
        for bone in ("toe.L", "toe.R"):
            pose_bone = self.armature.pose.bones[bone]
            self.assertIsInstance(pose_bone["contact"], float)
            shown = pose_bone.id_properties_ui("contact").as_dict()
            self.assertEqual([shown[name] for name in ("min", "max", "default")], [-1.0, 1.0, 0.0])
            self.assertEqual([shown[name] for name in ("soft_min", "soft_max")], [0.0, 1.0])
            self.assertTrue(shown["description"])
            self.assertTrue(pose_bone.is_property_overridable_library('["contact"]'))
            self.assertEqual(self.curve(bone).group.name, bone)

    def test_keys_where_it_changes(self):
        at, values = rigs.values(self.curve())
        self.assertEqual(list(zip(at, values, strict=True)), [(1.0, 1.0), (10.0, 0.0), (21.0, 1.0), (31.0, 0.0)])
        self.assertEqual({point.interpolation for point in self.curve().keyframe_points}, {"CONSTANT"})
        at, values = rigs.values(self.curve("toe.R"))
        self.assertEqual(list(zip(at, values, strict=True)), [(1.0, 0.0), (11.0, 1.0), (20.0, 0.0)])

    def test_evaluated_property(self):
        for i, frame in enumerate(FRAMES):
            self.scene.frame_set(int(frame))
            shown = [self.armature.pose.bones[bone]["contact"] for bone in ("toe.L", "toe.R")]
            self.assertEqual(shown, self.labels[i].astype(float).tolist())

    def test_read_back(self):
        np.testing.assert_array_equal(self.read(), self.labels)

    def test_moved_keys(self):
        points = self.curve().keyframe_points
        points[1].co[0], points[2].co[0] = 12.0, 25.4
        self.curve().update()
        expected = (FRAMES < 12.0) | ((FRAMES > 25.4) & (FRAMES < 31.0))
        np.testing.assert_array_equal(self.read()[:, 0], expected)

    def test_other_interpolation(self):
        self.set_keys([(1.0, 0.0), (11.0, 1.0), (21.0, 0.0)], "LINEAR")
        np.testing.assert_array_equal(self.read()[:, 0], (FRAMES > 6.0) & (FRAMES < 16.0))
        self.set_keys([(1.0, 0.0), (11.0, 1.0), (21.0, 0.0)], "BEZIER")
        np.testing.assert_array_equal(self.read()[:, 0], (FRAMES > 6.0) & (FRAMES < 16.0))

    def test_values_between(self):
        for value, expected in ((0.0, False), (0.3, False), (0.7, True), (1.0, True)):
            with self.subTest(value=value):
                self.set_keys([(1.0, 1.0 - value), (5.0, value), (15.0, 0.0)])
                self.assertEqual(set(self.read()[4:14, 0]), {expected})

    def test_extrapolated_beyond_its_keys(self):
        self.set_keys([(10.0, 1.0), (20.0, 0.0)])
        np.testing.assert_array_equal(self.read()[:, 0], FRAMES < 20.0)

    def test_one_curve_deleted_is_a_leg_without_contacts(self):
        compat.channels(self.armature).fcurves.remove(self.curve())
        np.testing.assert_array_equal(self.read(), self.labels * (False, True))
        compat.channels(self.armature).fcurves.remove(self.curve("toe.R"))
        self.assertIsNone(self.read())

    def test_muted_is_none(self):
        self.curve().mute = self.curve("toe.R").mute = True
        self.assertIsNone(self.read())

    def test_detection_replaces_hand_edits_when_asked(self):
        self.set_keys([(1.0, 0.3), (7.5, 0.9)], "BEZIER")
        bpy.ops.footlock.detect_contacts(velocity=5.0, height=1.0, replace_edited=True)
        at, values = rigs.values(self.curve())
        self.assertEqual((list(at), list(values)), ([1.0], [1.0]))

    def test_edits_are_what_removal_uses(self):
        """Only the frames that the edited curve marks are held."""
        self.set_keys([(1.0, 0.0), (12.0, 1.0), (22.0, 0.0)])
        compat.channels(self.armature).fcurves.remove(self.curve("toe.R"))
        bpy.ops.footlock.remove_sliding()
        toe = rigs.evaluated(self.armature, FRAMES, ["toe.L"])[0][:, 0]
        steps = np.linalg.norm(np.diff(toe, axis=0), axis=1)
        self.assertLess(steps[11:20].max(), 5e-5)
        self.assertGreater(steps[21:].min(), 1e-3)
        self.assertEqual([leg.contacts for leg in self.armature.data.footlock.legs], [1, 0])
        self.assertEqual(rigs.values(self.curve())[1].tolist(), [0.0, 1.0, 0.0])

    def test_between_0_and_1_a_foot_is_held_in_part(self):
        before = rigs.evaluated(self.armature, FRAMES, ["toe.L"])[0][:, 0]
        self.set_keys([(1.0, 0.0), (12.0, 0.75), (22.0, 0.0)])
        compat.channels(self.armature).fcurves.remove(self.curve("toe.R"))
        bpy.ops.footlock.remove_sliding()
        toe = rigs.evaluated(self.armature, FRAMES, ["toe.L"])[0][:, 0]
        way, source = (np.linalg.norm(np.diff(a, axis=0)[11:20, :2], axis=1) for a in (toe, before))
        self.assertGreater(source.sum(), 0.05)
        self.assertAlmostEqual(way.sum() / source.sum(), 0.25, delta=0.02)

    def test_below_0_a_foot_slides_as_it_does(self):
        before = rigs.evaluated(self.armature, FRAMES, ["toe.L"])[0][:, 0]
        self.set_keys([(1.0, 0.0), (12.0, -1.0), (22.0, 0.0)])
        bpy.ops.footlock.remove_sliding()
        toe = rigs.evaluated(self.armature, FRAMES, ["toe.L"])[0][:, 0]
        np.testing.assert_allclose(np.diff(toe, axis=0)[11:20], np.diff(before, axis=0)[11:20], atol=2e-3)

    def test_dense_keys(self):
        frames = 1.0 + np.arange(100) * 0.2
        rigs.new_file()
        armature = rigs.biped()
        rigs.walk(armature, frames)
        legs = mapping.of(armature)
        labels = np.random.default_rng(0).random((100, 2)) > 0.5
        contact_property.write(armature, legs, frames, labels)
        clip = reading.read(self.scene, armature, legs, 1.0)
        np.testing.assert_array_equal(clip.frames, np.float32(frames))
        np.testing.assert_array_equal(contact_property.read(armature, legs, clip.frames), labels)

    def test_save_and_reload(self):
        self.set_keys([(1.0, 0.3), (12.0, 0.7), (22.0, 0.3)])
        expected, name = self.read(), self.armature.name
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder) / "saved.blend")
            bpy.ops.wm.save_as_mainfile(filepath=path)
            bpy.ops.wm.open_mainfile(filepath=path)
            self.armature = bpy.data.objects[name]
            self.legs = mapping.of(self.armature)
            np.testing.assert_array_equal(self.read(), expected)
            self.test_what_it_is()
            rigs.new_file()

    def test_bearer_without_toe_is_the_foot(self):
        rigs.new_file()
        self.armature = rigs.biped(toes=False)
        rigs.walk(self.armature, FRAMES)
        legs = mapping.of(self.armature)
        contact_property.write(self.armature, legs, FRAMES, self.labels)
        self.assertIn("contact", self.armature.pose.bones["foot.L"])
        np.testing.assert_array_equal(contact_property.read(self.armature, legs, FRAMES), self.labels)


@unittest.skipUnless(compat.LAYERED, "actions have no slots before 4.4")
class Slots(RemoveCase):
    def pair(self):
        """Two bipeds that walk by slots of one action, each by its own; the second is made active last."""
        first = rigs.biped("First", seed=5)
        rigs.walk(first, self.FRAMES)
        second = rigs.biped("Second", seed=6)
        data = second.animation_data_create()
        data.action = first.animation_data.action
        data.action_slot = data.action.slots.new(id_type="OBJECT", name="Second")
        rigs.walk(second, self.FRAMES, mode="XYZ")
        self.assertEqual(len(rigs.containers(data.action)), 2)
        return first, second

    def others(self, armature):
        """The curves of all slots but the armature's own."""
        own = armature.animation_data.action_slot.identifier
        return {key: value for key, value in rigs.everything().items() if key[0] == "curve" and key[2] != own}

    def test_own_slot_only(self):
        for which in (0, 1):
            with self.subTest(which=which):
                rigs.new_file()
                pair = self.pair()
                armature, other = pair[which], pair[1 - which]
                names = [bone.name for bone in other.pose.bones]
                held, where = self.others(armature), rigs.evaluated(other, self.FRAMES, names)[0]
                self.assertGreater(len(held), 20)
                contact_property.write(armature, mapping.of(armature), self.FRAMES, self.labels())
                self.check_landed(armature, self.labels())
                self.assertEqual(self.others(armature), held)
                np.testing.assert_array_equal(rigs.evaluated(other, self.FRAMES, names)[0], where)
                self.assertNotIn("contact", other.pose.bones["toe.L"])

    def test_new_curves_go_into_the_own_slot(self):
        first, second = self.pair()
        held = compat.channels(second).fcurves
        for i in range(3):
            held.remove(rigs.curve_of(second, "pelvis", "location", i))
        before = self.others(second)
        self.check_landed(second, self.labels())
        self.assertEqual(self.others(second), before)
        self.assertEqual(rigs.curve_of(second, "pelvis", "location", 2).group.name, "pelvis")
        self.assertEqual(len(first.animation_data.action.slots), 2)

    def test_slot_of_another_kind_of_data(self):
        armature = rigs.biped()
        rigs.walk(armature, self.FRAMES)
        action = armature.animation_data.action
        slot = action.slots.new(id_type="MATERIAL", name="Skin")
        bag = action.layers[0].strips[0].channelbag(slot, ensure=True)
        bag.fcurves.new("roughness", index=0).keyframe_points.insert(300.0, 0.5)
        before = self.others(armature)
        done = self.check_landed(armature, self.labels())
        self.assertEqual(len(done.clip.frames), 60)
        self.assertEqual(self.others(armature), before)

    def test_two_rigs_on_one_slot_move_alike(self):
        first = rigs.biped("First")
        rigs.walk(first, self.FRAMES)
        second = first.copy()
        second.location = (3.0, 0.0, 0.0)
        self.scene.collection.objects.link(second)
        self.check_landed(first, self.labels())
        heads = [rigs.evaluated(ob, self.FRAMES, ["toe.L", "toe.R"])[0] for ob in (first, second)]
        np.testing.assert_allclose(heads[1], heads[0] + (3.0, 0.0, 0.0), atol=1e-6)


class LegsByHand(CorrectionCase):
    def test_toes_that_hang_from_a_bone_between(self):
        """A map that leaves bones out moves those along."""
        armature = rigs.biped(root=True, socket=True, twist=True)
        rigs.wobble(armature, FRAMES)
        legs = LegMap("root", (Leg("L", "thigh.L", "shin.L", "toe.L"), Leg("R", "thigh.R", "shin.R", "foot.R")))
        self.apply(armature, legs=legs)
