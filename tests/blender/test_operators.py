"""The job itself, by the operators: contacts found, edited, sliding removed, undone, done again."""

import itertools
import tempfile
import unittest

import bpy
import clips
import numpy as np

from footlock.rig import clip as reading
from footlock.rig import compat, contact_property, correction, mapping


def scaled_walk(factor, frames=995):
    """The walk, or so many frames of it, with its root's travel scaled, its contacts labelled before."""

    def make():
        with tempfile.TemporaryDirectory() as folder:
            armature = clips.import_clip(clips.repeated(frames, folder))
        bpy.ops.footlock.detect_contacts()
        legs = mapping.of(armature)
        correction.scale_travel(armature, reading.read(bpy.context.scene, armature, legs), factor)

    return clips.opened(("scaled walk", factor, frames), make)


def evaluated_toes(armature, names=("LeftToe", "RightToe")):
    """Toes (frames, 2, 3) in the world, as Blender evaluates them at every frame."""
    scene = bpy.context.scene
    first, last = armature.animation_data.action.frame_range
    toes = []
    for frame in range(int(first), int(last) + 1):
        scene.frame_set(frame)
        toes.append([tuple(armature.matrix_world @ armature.pose.bones[name].head) for name in names])
    return np.array(toes)


def labels(armature):
    legs = mapping.of(armature)
    first, last = armature.animation_data.action.frame_range
    return contact_property.read(armature, legs, np.arange(first, last + 1))


def slides(armature):
    """Millimetres between neighbouring frames of contact, both feet together."""
    toes, contact = evaluated_toes(armature), labels(armature)
    step = np.linalg.norm(np.diff(toes, axis=0), axis=-1) * 1000.0
    return step[contact[1:] & contact[:-1]]


class Detect(unittest.TestCase):
    def test_curves(self):
        armature = clips.import_clip()
        before = clips.dump(armature)
        self.assertEqual(bpy.ops.footlock.detect_contacts(), {"FINISHED"})
        after = clips.dump(armature)
        self.assertEqual({key: after[key] for key in before}, before)
        self.assertEqual(
            {key[0] for key in after.keys() - before.keys()},
            {f'pose.bones["{toe}"]["contact"]' for toe in ("LeftToe", "RightToe")},
        )
        for toe in ("LeftToe", "RightToe"):
            bone = armature.pose.bones[toe]
            shown = bone.id_properties_ui("contact").as_dict()
            self.assertEqual((shown["min"], shown["max"], shown["default"]), (-1.0, 1.0, 0.0))
            self.assertTrue(shown["description"])
            curve = clips.curves(armature)[(f'pose.bones["{toe}"]["contact"]', 0)]
            values = [point.co[1] for point in curve.keyframe_points]
            self.assertEqual(set(values), {0.0, 1.0})
            self.assertTrue(all(a != b for a, b in itertools.pairwise(values)), "a key where nothing changes")
            self.assertEqual({point.interpolation for point in curve.keyframe_points}, {"CONSTANT"})
            self.assertEqual(curve.group.name, toe)

    def test_property_follows_the_frame(self):
        armature = clips.import_clip()
        bpy.ops.footlock.detect_contacts()
        expected = labels(armature)
        for frame in (1, 200, 480, 995):
            bpy.context.scene.frame_set(frame)
            shown = [armature.pose.bones[toe]["contact"] > 0.5 for toe in ("LeftToe", "RightToe")]
            self.assertEqual(shown, expected[frame - 1].tolist())

    def test_again_gives_the_same(self):
        armature = clips.import_clip()
        bpy.ops.footlock.detect_contacts()
        once = clips.dump(armature)
        bpy.ops.footlock.detect_contacts()
        self.assertEqual(clips.dump(armature), once)

    def test_thresholds_are_used(self):
        armature = clips.import_clip()
        shares = []
        for velocity in (0.1, 0.25, 1.0):
            bpy.ops.footlock.detect_contacts(velocity=velocity)
            shares.append(labels(armature).mean())
        self.assertLess(shares[0], shares[1])
        self.assertLess(shares[1], shares[2])


class Remove(unittest.TestCase):
    def test_planted_toes_stand_still(self):
        for factor in (0.75, 1.25):
            with self.subTest(factor=factor):
                armature = scaled_walk(factor)
                before = slides(armature)
                self.assertGreater(before.mean(), 0.9)
                self.assertEqual(bpy.ops.footlock.remove_sliding(), {"FINISHED"})
                after = slides(armature)
                self.assertEqual(len(after), len(before))
                self.assertLess(after.mean(), 0.01)
                self.assertLess(after.max(), 0.05)

    def test_only_the_legs_and_the_pelvis_are_keyed(self):
        armature = scaled_walk(1.25)
        before = clips.dump(armature)
        bpy.ops.footlock.remove_sliding()
        after = clips.dump(armature)
        self.assertEqual(after.keys(), before.keys())
        changed = {key[0] for key in before if before[key] != after[key]}
        allowed = {
            f'pose.bones["{side}{joint}"].rotation_euler'
            for side in ("Left", "Right")
            for joint in ("Hip", "Knee", "Ankle", "Toe")
        }
        allowed.add('pose.bones["Hips"].location')
        self.assertLessEqual(changed, allowed)
        self.assertIn('pose.bones["Hips"].location', changed)

    def test_twice_changes_nothing_more(self):
        armature = scaled_walk(1.25)
        bpy.ops.footlock.remove_sliding()
        once = clips.joints(armature)
        bpy.ops.footlock.remove_sliding()
        moved = np.linalg.norm(clips.joints(armature) - once, axis=-1).max() * 1000.0
        self.assertLess(moved, 0.1)

    def test_no_contact_changes_nothing(self):
        armature = clips.import_clip()
        legs = mapping.of(armature)
        contact_property.write(armature, legs, np.arange(1.0, 996.0), np.zeros((995, 2), bool))
        before = clips.dump(armature)
        self.assertEqual(bpy.ops.footlock.remove_sliding(), {"FINISHED"})
        self.assertEqual(clips.dump(armature), before)

    def test_hand_edited_contacts_are_used(self):
        armature = scaled_walk(1.25)
        for toe in ("LeftToe", "RightToe"):
            points = clips.curves(armature)[(f'pose.bones["{toe}"]["contact"]', 0)].keyframe_points
            while len(points):
                points.remove(points[0], fast=True)
            for frame, value in ((1, 0.0), (400, 1.0), (430, 0.0)):
                points.insert(frame, value).interpolation = "CONSTANT"
        bpy.ops.footlock.remove_sliding()
        toes = evaluated_toes(armature)[399:429]
        self.assertLess(np.abs(toes - toes[0]).max() * 1000.0, 0.05)
        self.assertEqual([leg.contacts for leg in armature.data.footlock.legs], [1, 1])

    def test_runtime(self):
        """The runtime lock leaves the pelvis where it was, lets no toe jump, and slides less than before."""
        armature = scaled_walk(1.25)
        before, source = slides(armature), evaluated_toes(armature)
        pelvis = clips.dump(armature)[('pose.bones["Hips"].location', 0)]
        self.assertEqual(
            bpy.ops.footlock.remove_sliding(method="runtime", lock_distance=1.0, blend_time=0.2), {"FINISHED"}
        )
        self.assertEqual(clips.dump(armature)[('pose.bones["Hips"].location', 0)], pelvis)
        self.assertLess(slides(armature).mean(), 0.5 * before.mean())
        fastest = np.linalg.norm(np.diff(source, axis=0), axis=-1).max()
        self.assertLess(np.linalg.norm(np.diff(evaluated_toes(armature), axis=0), axis=-1).max(), 1.5 * fastest)

    def test_result_is_shown_for_its_action(self):
        armature = scaled_walk(1.25)
        bpy.ops.footlock.remove_sliding()
        stored = armature.data.footlock
        self.assertEqual(stored.result_action, armature.animation_data.action.name)
        measured = slides(armature)
        self.assertAlmostEqual(max(leg.largest_after for leg in stored.legs) * 1000.0, measured.max(), delta=0.01)
        self.assertGreater(stored.legs[0].slide_before * 1000.0, 1.0)
        bpy.ops.footlock.detect_contacts()
        self.assertEqual(stored.result_action, "")


class ByShape(unittest.TestCase):
    """All names are taken away: legs are found by the shape of the skeleton, and it is said."""

    NAMES = ("Hip", "Knee", "Ankle", "Toe")

    def unnamed(self):
        armature = clips.import_clip()
        names = [f"b{i}" for i in range(len(armature.data.bones))]
        new = dict(zip(armature.data.bones.keys(), names[::-1], strict=True))
        for old, name in new.items():
            armature.data.bones[old].name = name
        return armature, new

    def test_the_same_legs(self):
        for degrees, size in ((0.0, 1.0), (70.0, 0.01)):
            armature, new = self.unnamed()
            armature.rotation_euler.z, armature.scale = np.radians(degrees), (size,) * 3
            bpy.context.view_layer.update()
            found = mapping.find(armature)
            self.assertTrue(found.by_shape)
            self.assertEqual(found.pelvis, new["Hips"])
            for leg, side in zip(found.legs, ("Left", "Right"), strict=True):
                self.assertEqual(leg.side, side[0])
                bones = [new[side + name] for name in self.NAMES]
                self.assertEqual([leg.thigh, leg.shin, leg.foot, leg.toe], bones)

    def test_names_come_first(self):
        self.assertFalse(mapping.find(clips.import_clip()).by_shape)

    def test_the_buttons_work(self):
        armature, _ = self.unnamed()
        correction.scale_travel(armature, reading.read(bpy.context.scene, armature, mapping.find(armature)), 1.25)
        bpy.ops.footlock.detect_contacts()
        bpy.ops.footlock.remove_sliding()
        legs = mapping.of(armature)
        toes = evaluated_toes(armature, [leg.toe for leg in legs.legs])
        contact = labels(armature)
        step = np.linalg.norm(np.diff(toes, axis=0), axis=-1) * 1000.0
        self.assertLess(step[contact[1:] & contact[:-1]].max(), 0.05)


class Undo(unittest.TestCase):
    SETTINGS = (
        {},
        {"keys": "REDUCED"},
        {"keys": "SOURCE"},
        {"stretch": 0.02, "keep_path": 1.0},
        {"solve_range": True, "solve_start": 100, "solve_end": 400},
    )

    def test_undo_brings_back_every_key(self):
        for settings in self.SETTINGS:
            with self.subTest(settings):
                armature = scaled_walk(1.25, frames=480)
                name = armature.name
                before, where = clips.dump(armature), clips.joints(armature, step=50)
                bpy.ops.ed.undo_push(message="base")
                bpy.ops.footlock.remove_sliding("EXEC_DEFAULT", True, **settings)
                corrected = clips.dump(bpy.data.objects[name])
                self.assertNotEqual(corrected, before)
                bpy.ops.ed.undo()
                armature = bpy.data.objects[name]
                self.assertEqual(clips.dump(armature), before)
                np.testing.assert_allclose(clips.joints(armature, step=50), where, atol=1e-6)
                bpy.ops.ed.redo()
                self.assertEqual(clips.dump(bpy.data.objects[name]), corrected)

    def test_undo_of_detection(self):
        armature = clips.import_clip()
        name, before = armature.name, clips.dump(armature)
        bpy.ops.ed.undo_push(message="base")
        bpy.ops.footlock.detect_contacts("EXEC_DEFAULT", True)
        self.assertIn("contact", bpy.data.objects[name].pose.bones["LeftToe"])
        bpy.ops.ed.undo()
        armature = bpy.data.objects[name]
        self.assertEqual(clips.dump(armature), before)
        self.assertNotIn("contact", armature.pose.bones["LeftToe"])
        self.assertEqual(len(armature.data.footlock.legs), 0)

    def test_twenty_times(self):
        armature = scaled_walk(1.25, frames=240)
        name = armature.name
        before = clips.dump(armature)
        bpy.ops.ed.undo_push(message="base")
        for _ in range(20):
            bpy.ops.footlock.remove_sliding("EXEC_DEFAULT", True)
            bpy.ops.ed.undo()
        self.assertEqual(clips.dump(bpy.data.objects[name]), before)


class SaveAndReload(clips.InFolder):
    def test_contacts_and_legs_are_kept(self):
        armature = clips.import_clip()
        bpy.ops.footlock.detect_contacts()
        name, expected = armature.name, labels(armature)
        path = self.folder / "walk.blend"
        bpy.ops.wm.save_as_mainfile(filepath=str(path))
        bpy.ops.wm.open_mainfile(filepath=str(path))
        armature = bpy.data.objects[name]
        np.testing.assert_array_equal(labels(armature), expected)
        self.assertEqual([leg.thigh for leg in armature.data.footlock.legs], ["LeftHip", "RightHip"])
        self.assertIsNotNone(compat.channels(armature))
