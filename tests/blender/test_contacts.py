"""Contacts in the action: found where feet slide, kept where a person edited them, out and in as files and markers."""

import functools
import json
import tempfile
import unittest
from pathlib import Path

import bpy
import clips
import measure
import numpy as np
from blender import rigs
from blender.test_batch import run
from blender.test_operators import evaluated_toes, labels

from footlock.rig import clip as reading
from footlock.rig import compat, contact_property, correction, mapping

WALK_12 = clips.DATA / "cmu_12_01.bvh"
TOES = ("LeftToe", "RightToe")


def scaled(factor, path=clips.WALK):
    """A clip whose root travels too far by a factor; nothing is labelled."""

    def make():
        armature = clips.import_clip(path)
        legs = mapping.of(armature)
        if factor != 1.0:
            correction.scale_travel(armature, reading.read(bpy.context.scene, armature, legs), factor)

    return clips.opened(("travels", factor, path), make)


def detected():
    """The walk with its contacts."""

    def make():
        clips.import_clip()
        bpy.ops.footlock.detect_contacts()

    return clips.opened("detected", make)


@functools.cache
def truth():
    """Labels (frames, 2) of the walk as it was recorded, by the independent labeller."""
    motion = measure.load(clips.WALK)
    return np.stack([measure.majority_contacts(motion.point(toe), motion.frame_time) for toe in TOES], axis=1)


def f1(found, wanted):
    return 2.0 * np.count_nonzero(found & wanted) / (found.sum() + wanted.sum())


def curve(armature, bone="LeftToe", name="contact"):
    return clips.curves(armature)[(f'pose.bones["{bone}"]["{name}"]', 0)]


def own(armature, bone="LeftToe"):
    return clips.dump(armature)[(f'pose.bones["{bone}"]["contact"]', 0)]


def edit(armature, bone="LeftToe", frame=50.0):
    """One key more, as a person would set it."""
    curve(armature, bone).keyframe_points.insert(frame, 0.5)
    curve(armature, bone).update()


class Found(unittest.TestCase):
    def test_where_feet_slide(self):
        """On the walk with its root scaled, as it is, and in place, against the labels of the clean clip."""
        wanted = truth()
        for factor, least in (
            (1.0, 0.95),
            (0.5, 0.93),
            (0.75, 0.93),
            (1.25, 0.93),
            (1.5, 0.93),
            (2.0, 0.93),
            (0.0, 0.9),
        ):
            with self.subTest(factor=factor):
                armature = scaled(factor)
                self.assertEqual(bpy.ops.footlock.detect_contacts(), {"FINISHED"})
                self.assertGreater(f1(labels(armature), wanted), least)

    def test_thresholds_find_little_there(self):
        """What the automatic detection is for: should this fail, the thresholds became as good."""
        armature = scaled(1.5)
        bpy.ops.footlock.detect_contacts(mode="THRESHOLD")
        self.assertLess(f1(labels(armature), truth()), 0.8)

    def test_the_root_is_said(self):
        armature = scaled(1.25)
        bpy.ops.footlock.detect_contacts()
        found = armature.data.footlock
        self.assertEqual(found.root_kind, "scale")
        self.assertAlmostEqual(found.root_scale, 1.25, delta=0.03)
        self.assertAlmostEqual(found.root_speed / found.feet_speed, found.root_scale, delta=0.03)
        self.assertFalse(found.in_place)
        self.assertAlmostEqual(found.enter, 0.25)
        self.assertEqual(
            [leg.contacts for leg in found.legs],
            [int(np.diff(own, prepend=0).clip(0).sum()) for own in labels(armature).T.astype(int)],
        )
        for leg, share in zip(found.legs, labels(armature).mean(0), strict=True):
            self.assertAlmostEqual(leg.share, share, places=5)
            self.assertGreater(leg.shortest, 0.04)
        planted = labels(armature).sum(1)
        self.assertAlmostEqual(found.double_support, (planted == 2).mean(), places=5)
        self.assertAlmostEqual(found.flight, (planted == 0).mean(), places=5)

    def test_in_place_is_said(self):
        armature = scaled(0.0, WALK_12)
        bpy.ops.footlock.detect_contacts()
        self.assertTrue(armature.data.footlock.in_place)

    def test_units_do_not_matter(self):
        """The same walk in centimetres under an object at scale 0.01 has the same labels."""
        armature = scaled(1.25)
        bpy.ops.footlock.detect_contacts()
        wanted = labels(armature)
        motion = clips.DATA / "cmu_131_01.bvh"
        clips.new_file()
        bpy.ops.import_anim.bvh(filepath=str(motion), update_scene_fps=True, global_scale=100.0)
        armature = bpy.context.object
        armature.scale = (0.01, 0.01, 0.01)
        bpy.context.view_layer.update()
        legs = mapping.of(armature)
        correction.scale_travel(armature, reading.read(bpy.context.scene, armature, legs), 1.25)
        bpy.ops.footlock.detect_contacts()
        self.assertGreater((labels(armature) == wanted).mean(), 0.998)

    def test_no_contact_is_no_error(self):
        """A character that falls has curves without a contact, to be keyed by hand; nothing is corrected."""
        rigs.new_file()
        armature = rigs.biped()
        frames = np.arange(1.0, 31.0)
        t = (frames - 1.0) / 24.0
        fall = np.stack([0.0 * t, 5.0 - 4.905 * t**2, 0.0 * t], axis=1)
        rest = np.array(armature.data.bones["pelvis"].matrix_local)[:3, :3]
        rigs.key(armature, 'pose.bones["pelvis"].location', (np.linalg.inv(rest) @ fall[:, [0, 2, 1]].T).T, frames)
        self.assertEqual(bpy.ops.footlock.detect_contacts(), {"FINISHED"})
        self.assertFalse(labels(armature).any())
        before = clips.dump(armature)
        self.assertEqual(bpy.ops.footlock.remove_sliding(), {"FINISHED"})
        self.assertEqual(clips.dump(armature), before)


class Thresholds(unittest.TestCase):
    def test_a_script_that_gives_one_means_it(self):
        armature = scaled(1.25)
        bpy.ops.footlock.detect_contacts(velocity=0.25)
        by_velocity = labels(armature)
        bpy.ops.footlock.detect_contacts(mode="THRESHOLD", velocity=0.25)
        np.testing.assert_array_equal(labels(armature), by_velocity)
        bpy.ops.footlock.detect_contacts(mode="AUTO", velocity=0.25)
        self.assertTrue((labels(armature) != by_velocity).any())

    def test_one_that_is_chosen_comes_nearer_to_what_is_there(self):
        armature, wanted = scaled(1.25), truth()
        bpy.ops.footlock.detect_contacts(mode="THRESHOLD")
        default = f1(labels(armature), wanted)
        bpy.ops.footlock.detect_contacts(mode="THRESHOLD", auto_velocity=True, auto_height=True)
        self.assertGreater(f1(labels(armature), wanted), default + 0.05)
        self.assertGreater(armature.data.footlock.enter, 0.3)

    def test_a_floor_by_hand(self):
        armature = scaled(1.0)
        bpy.ops.footlock.detect_contacts(mode="THRESHOLD", auto_floor=False, floor=-0.02)
        with_floor = labels(armature).sum()
        self.assertEqual({leg.ground for leg in armature.data.footlock.legs}, {np.float32(-0.02)})
        bpy.ops.footlock.detect_contacts(mode="THRESHOLD")
        self.assertLess(with_floor, labels(armature).sum())


class Editing(unittest.TestCase):
    """A rerun leaves alone what a person made."""

    def setUp(self):
        self.armature = detected()

    def test_an_edited_curve_is_kept_and_the_other_is_not(self):
        detected = own(self.armature, "RightToe")
        edit(self.armature)
        left = own(self.armature)
        self.assertEqual(bpy.ops.footlock.detect_contacts(velocity=1.0), {"FINISHED"})
        self.assertEqual(own(self.armature), left)
        self.assertNotEqual(own(self.armature, "RightToe"), detected)
        bpy.ops.footlock.detect_contacts(replace_edited=True)
        self.assertNotEqual(own(self.armature), left)
        self.assertEqual(own(self.armature, "RightToe"), detected)

    def test_every_kind_of_edit_is_seen(self):
        def moved(points):
            points[1].co[0] += 2.0

        def changed(points):
            points[1].co[1] = 0.4

        def removed(points):
            points.remove(points[1])

        def interpolated(points):
            points[1].interpolation = "LINEAR"

        for change in (moved, changed, removed, interpolated):
            with self.subTest(change.__name__):
                bpy.ops.footlock.detect_contacts(replace_edited=True)
                change(curve(self.armature).keyframe_points)
                kept = own(self.armature)
                bpy.ops.footlock.detect_contacts(velocity=1.0)
                self.assertEqual(own(self.armature), kept)

    def test_nothing_to_rewrite_is_refused(self):
        edit(self.armature)
        edit(self.armature, "RightToe")
        before = rigs.everything()
        with self.assertRaisesRegex(RuntimeError, "edited by hand and are kept: switch on Replace Edited"):
            bpy.ops.footlock.detect_contacts()
        self.assertEqual(rigs.everything(), before)

    def test_locked_and_muted_are_kept_even_when_edits_are_replaced(self):
        curve(self.armature).lock = True
        curve(self.armature, "RightToe").mute = True
        before = rigs.everything()
        with self.assertRaisesRegex(RuntimeError, "locked or muted"):
            bpy.ops.footlock.detect_contacts(velocity=1.0, replace_edited=True)
        self.assertEqual(rigs.everything(), before)
        curve(self.armature, "RightToe").mute = False
        left = own(self.armature)
        bpy.ops.footlock.detect_contacts(velocity=1.0, replace_edited=True)
        self.assertEqual(own(self.armature), left)
        self.assertTrue(curve(self.armature).lock)

    def test_a_muted_leg_is_left_free(self):
        """Removal holds the other foot only."""
        curve(self.armature).mute = True
        bpy.ops.footlock.remove_sliding()
        self.assertEqual(self.armature.data.footlock.legs[0].contacts, 0)
        self.assertGreater(self.armature.data.footlock.legs[1].contacts, 3)
        self.assertTrue(curve(self.armature).mute)

    def test_the_memory_survives_a_save(self):
        edit(self.armature)
        left, right, name = own(self.armature), own(self.armature, "RightToe"), self.armature.name
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder) / "walk.blend")
            bpy.ops.wm.save_as_mainfile(filepath=path)
            bpy.ops.wm.open_mainfile(filepath=path)
        armature = bpy.data.objects[name]
        bpy.ops.footlock.detect_contacts(velocity=1.0)
        self.assertEqual(own(armature), left)
        self.assertNotEqual(own(armature, "RightToe"), right)

    @unittest.skipUnless(compat.LAYERED, "actions have no slots in this Blender")
    def test_slots_of_one_action_are_told_apart(self):
        """Two armatures with the same bones in two slots of one action: an edit of one is none of the other."""
        action = self.armature.animation_data.action
        other = self.armature.copy()
        bpy.context.scene.collection.objects.link(other)
        slot = action.slots[0].duplicate() if hasattr(action.slots[0], "duplicate") else None
        if slot is None:
            self.skipTest("slots cannot be duplicated in this Blender")
        other.animation_data.action_slot = slot
        edit(self.armature)
        bpy.context.view_layer.objects.active = other
        states = contact_property.states(other, mapping.of(other))
        self.assertEqual(
            contact_property.states(self.armature, mapping.of(self.armature))[0], contact_property.State.EDITED
        )
        self.assertEqual(states[0], contact_property.State.EDITED)  # never detected in this slot
        bpy.ops.footlock.detect_contacts(replace_edited=True)
        self.assertEqual(contact_property.states(other, mapping.of(other))[0], contact_property.State.DETECTED)
        self.assertEqual(
            contact_property.states(self.armature, mapping.of(self.armature))[0], contact_property.State.EDITED
        )


class Range(unittest.TestCase):
    def setUp(self):
        self.armature = detected()

    def keys(self, bone="LeftToe"):
        points = curve(self.armature, bone).keyframe_points
        return [(tuple(p.co), p.interpolation, tuple(p.handle_left), tuple(p.handle_right)) for p in points]

    def test_only_frames_in_it_change(self):
        before, keys = labels(self.armature), [key[:2] for key in self.keys()]
        bpy.ops.footlock.detect_contacts(velocity=2.0, height=1.0, use_range=True, range_start=300, range_end=620)
        after = labels(self.armature)
        inside = (np.arange(995) >= 299) & (np.arange(995) <= 619)
        np.testing.assert_array_equal(after[~inside], before[~inside])
        self.assertGreater(after[inside].mean(), before[inside].mean() + 0.1)
        outside = [key for key in keys if not 300 <= key[0][0] <= 621]
        self.assertEqual([key[:2] for key in self.keys() if not 300 <= key[0][0] <= 621], outside)

    def test_again_with_the_first_settings_brings_the_first_labels_back(self):
        before = labels(self.armature)
        for arguments in ({"velocity": 2.0, "height": 1.0}, {}):
            bpy.ops.footlock.detect_contacts(use_range=True, range_start=300, range_end=620, **arguments)
        np.testing.assert_array_equal(labels(self.armature), before)

    def test_hand_made_keys_outside_stay_to_the_byte(self):
        points = curve(self.armature).keyframe_points
        edge = points.insert(720.0, 0.8)
        edge.interpolation = "BEZIER"
        edge.handle_right_type = "FREE"
        curve(self.armature).update()
        before = [key for key in self.keys() if key[0][0] > 700]
        bpy.ops.footlock.detect_contacts(use_range=True, range_start=1, range_end=400, replace_edited=True)
        self.assertEqual([key for key in self.keys() if key[0][0] > 700], before)

    def test_at_the_ends(self):
        for start, end in ((-50, 200), (900, 5000), (-9, 9999)):
            with self.subTest(start=start, end=end):
                before = labels(self.armature)
                bpy.ops.footlock.detect_contacts(use_range=True, range_start=start, range_end=end)
                np.testing.assert_array_equal(labels(self.armature), before)

    def test_without_curves_the_rest_has_no_contact(self):
        armature = clips.import_clip()
        bpy.ops.footlock.detect_contacts(use_range=True, range_start=300, range_end=620)
        found = labels(armature)
        self.assertFalse(found[:299].any() or found[620:].any())
        self.assertTrue(found[299:620].any())

    def test_refused(self):
        before = rigs.everything()
        for start, end, pattern in ((50, 20, "before it starts"), (2000, 3000, "no frame of the action")):
            with self.assertRaisesRegex(RuntimeError, pattern):
                bpy.ops.footlock.detect_contacts(use_range=True, range_start=start, range_end=end)
        self.assertEqual(rigs.everything(), before)


class Why(unittest.TestCase):
    """Speed over the floor and height as curves."""

    def test_they_are_what_the_labels_follow_from(self):
        armature = scaled(1.5)
        bpy.ops.footlock.detect_contacts(bake=True)
        frames = armature.animation_data.action.frame_range
        found = labels(armature)
        for i, toe in enumerate(TOES):
            speed, height = (rigs.values(curve(armature, toe, name))[1] for name in ("contact_speed", "contact_height"))
            self.assertEqual(len(speed), int(frames[1] - frames[0]) + 1)
            # Voting and minimum durations move the edges by a frame or two of 60 Hz.
            near = np.convolve(found[:, i], np.ones(13), "same")
            self.assertLess(speed[near == 13].max(), 0.5)
            self.assertGreater(np.median(speed[near == 0]), 1.0)
            self.assertLess(height[found[:, i]].max(), 0.111)
        bpy.context.scene.frame_set(200)
        shown = armature.pose.bones["LeftToe"]["contact_speed"]
        self.assertAlmostEqual(shown, rigs.values(curve(armature, "LeftToe", "contact_speed"))[1][199], places=5)

    def test_they_are_no_keys_of_the_clip(self):
        armature = clips.import_clip()
        bpy.ops.footlock.detect_contacts(bake=True)
        once = clips.dump(armature)
        bpy.ops.footlock.detect_contacts(bake=True)
        self.assertEqual(clips.dump(armature), once)
        bpy.ops.footlock.remove_sliding()

    def test_a_run_without_takes_them_away(self):
        armature = clips.import_clip()
        bpy.ops.footlock.detect_contacts()
        plain = clips.dump(armature)
        bpy.ops.footlock.detect_contacts(bake=True)
        self.assertEqual(len(clips.dump(armature)), len(plain) + 4)
        bpy.ops.footlock.detect_contacts()
        self.assertEqual(clips.dump(armature), plain)
        self.assertNotIn("contact_speed", armature.pose.bones["LeftToe"])


class Files(clips.InFolder):
    def test_out_and_in(self):
        armature = clips.import_clip()
        bpy.ops.footlock.detect_contacts()
        wanted, path = labels(armature), self.folder / "labels.json"
        self.assertEqual(bpy.ops.footlock.export_contacts(filepath=str(path)), {"FINISHED"})
        held = json.loads(path.read_text(encoding="utf-8"))
        self.assertEqual(held["contacts"]["LeftToe"], wanted[:, 0].astype(int).tolist())
        armature = clips.import_clip()
        self.assertEqual(bpy.ops.footlock.import_contacts(filepath=str(path)), {"FINISHED"})
        np.testing.assert_array_equal(labels(armature), wanted)

    def test_what_was_read_is_kept_by_a_detection(self):
        armature = clips.import_clip()
        path = self.folder / "labels.json"
        contacts = {toe: [0] * 400 + [1] * 50 + [0] * 545 for toe in TOES}
        path.write_text(json.dumps({"contacts": contacts}), encoding="utf-8")
        bpy.ops.footlock.import_contacts(filepath=str(path))
        with self.assertRaisesRegex(RuntimeError, "Replace Edited"):
            bpy.ops.footlock.detect_contacts()
        self.assertEqual(labels(armature).sum(), 100)

    def test_locked_curves_stay(self):
        armature = clips.import_clip()
        bpy.ops.footlock.detect_contacts()
        path = self.folder / "labels.json"
        path.write_text(json.dumps({"contacts": {toe: [1] * 995 for toe in TOES}}), encoding="utf-8")
        curve(armature).lock = True
        before = own(armature)
        bpy.ops.footlock.import_contacts(filepath=str(path))
        self.assertEqual(own(armature), before)
        self.assertTrue(labels(armature)[:, 1].all())

    def test_refused(self):
        clips.import_clip()
        before = rigs.everything()
        with self.assertRaisesRegex(RuntimeError, "no contact curve"):
            bpy.ops.footlock.export_contacts(filepath=str(self.folder / "none.json"))
        with self.assertRaisesRegex(RuntimeError, "cannot be read"):
            bpy.ops.footlock.import_contacts(filepath=str(self.folder / "none.json"))
        bpy.ops.footlock.detect_contacts()
        with self.assertRaisesRegex(RuntimeError, "cannot be written"):
            bpy.ops.footlock.export_contacts(filepath=str(self.folder / "no folder" / "labels.json"))
        self.assertNotEqual(rigs.everything(), before)


class Markers(unittest.TestCase):
    def setUp(self):
        self.armature = detected()
        self.action = self.armature.animation_data.action

    def names(self):
        return sorted((marker.frame, marker.name) for marker in self.action.pose_markers)

    def test_where_feet_come_down_and_lift(self):
        found = labels(self.armature)
        self.action.pose_markers.new("Bang").frame = 7
        self.assertEqual(bpy.ops.footlock.contacts_to_markers(), {"FINISHED"})
        wanted = [(7, "Bang")]
        for side, column in zip("LR", found.T, strict=True):
            edges = np.flatnonzero(np.diff(np.concatenate([[0], column.astype(int)])))
            wanted += [(int(edge) + 1, f"{side} {'down' if column[edge] else 'up'}") for edge in edges]
        self.assertEqual(self.names(), sorted(wanted))
        bpy.ops.footlock.contacts_to_markers()
        self.assertEqual(self.names(), sorted(wanted))

    def test_and_back(self):
        wanted = labels(self.armature)
        bpy.ops.footlock.contacts_to_markers()
        for toe in TOES:
            compat.channels(self.armature).fcurves.remove(curve(self.armature, toe))
        bpy.ops.footlock.markers_to_contacts()
        np.testing.assert_array_equal(labels(self.armature), wanted)

    def test_markers_of_one_foot_leave_the_other_alone(self):
        right = labels(self.armature)[:, 1]
        for frame, name in ((40, "L up"), (60, "L down"), (90, "L up")):
            self.action.pose_markers.new(name).frame = frame
        bpy.ops.footlock.markers_to_contacts()
        frame = np.arange(1, 996)
        np.testing.assert_array_equal(labels(self.armature)[:, 0], (frame < 40) | ((frame >= 60) & (frame < 90)))
        np.testing.assert_array_equal(labels(self.armature)[:, 1], right)

    def test_none_is_refused(self):
        before = rigs.everything()
        with self.assertRaisesRegex(RuntimeError, "“L down”"):
            bpy.ops.footlock.markers_to_contacts()
        self.assertEqual(rigs.everything(), before)


class FitRoot(unittest.TestCase):
    def drift(self, toes, contact):
        """Mean distance, mm, of a toe from the start to the end of its contacts, level."""
        way = [
            np.linalg.norm(toes[stop - 1, leg, :2] - toes[start, leg, :2])
            for leg in range(2)
            for start, stop in measure.runs(contact[:, leg])
        ]
        return 1000.0 * np.mean(way)

    def test_planted_feet_stand(self):
        """By the root alone, on the evaluated rig, with the labels of the clean clip: drift of the toes within their
        contacts, beyond what they drift in the clean clip."""
        contact = truth()
        clean = self.drift(evaluated_toes(scaled(1.0)), contact)
        for factor in (0.5, 0.75, 1.25, 1.5, 2.0):
            with self.subTest(factor=factor):
                armature = scaled(factor)
                before = self.drift(evaluated_toes(armature), contact)
                others = {key: value for key, value in clips.dump(armature).items() if "Hips" not in key[0]}
                self.assertEqual(bpy.ops.footlock.fit_root(), {"FINISHED"})
                after = self.drift(evaluated_toes(armature), contact)
                self.assertLess(after - clean, 0.25 * (before - clean))
                dump = clips.dump(armature)
                self.assertEqual({key: dump[key] for key in others}, others)

    def test_the_walk_gets_its_travel_back(self):
        """In place, the speed of the walk comes back within 2 %."""
        hips = clips.joints(scaled(1.0, WALK_12), step=1)[5:, 0, :2]
        wanted = np.linalg.norm(np.diff(hips, axis=0), axis=1).mean()
        armature = scaled(0.0, WALK_12)
        bpy.ops.footlock.fit_root()
        hips = clips.joints(armature, step=1)[5:, 0, :2]
        self.assertAlmostEqual(np.linalg.norm(np.diff(hips, axis=0), axis=1).mean() / wanted, 1.0, delta=0.02)

    def test_a_clean_clip_is_left_alone(self):
        armature = scaled(1.0)
        before = clips.dump(armature)
        self.assertEqual(bpy.ops.footlock.fit_root(), {"FINISHED"})
        self.assertEqual(clips.dump(armature), before)

    def test_twice_changes_nothing_more(self):
        armature = scaled(1.5)
        bpy.ops.footlock.detect_contacts()
        bpy.ops.footlock.fit_root()
        once = clips.joints(armature)
        bpy.ops.footlock.fit_root()
        self.assertLess(np.abs(clips.joints(armature) - once).max(), 1e-6)

    def test_the_contact_curves_are_used(self):
        """Only where the curves have a contact does a foot say anything."""
        armature = scaled(1.5)
        legs = mapping.of(armature)
        contact_property.write(armature, legs, np.arange(1.0, 996.0), np.zeros((995, 2), bool))
        before = rigs.everything()
        with self.assertRaisesRegex(RuntimeError, "No foot is planted"):
            bpy.ops.footlock.fit_root()
        self.assertEqual(rigs.everything(), before)

    def test_undo(self):
        name = scaled(1.5).name
        before = clips.dump(bpy.data.objects[name])
        bpy.ops.ed.undo_push(message="base")
        bpy.ops.footlock.fit_root("EXEC_DEFAULT", True)
        self.assertNotEqual(clips.dump(bpy.data.objects[name]), before)
        bpy.ops.ed.undo()
        self.assertEqual(clips.dump(bpy.data.objects[name]), before)

    def test_then_removal(self):
        """Fit, then remove: planted toes stand, and the pelvis has less to give than without the fit."""
        sunk = []
        for fit in (False, True):
            armature = scaled(1.5)
            bpy.ops.footlock.detect_contacts()
            if fit:
                bpy.ops.footlock.fit_root()
            before = clips.joints(armature, step=5)[:, 0]
            bpy.ops.footlock.remove_sliding()
            sunk.append(np.abs(clips.joints(armature, step=5)[:, 0] - before)[:, 2].max())
            contact = labels(armature)
            step = np.linalg.norm(np.diff(evaluated_toes(armature), axis=0), axis=-1)
            self.assertLess(step[contact[1:] & contact[:-1]].max(), 1e-4)
        self.assertLess(sunk[1], sunk[0])

    def test_a_root_that_keys_do_not_move_is_refused(self):
        armature = scaled(1.5)
        armature.pose.bones["Hips"].constraints.new("LIMIT_LOCATION")
        before = rigs.everything()
        with self.assertRaisesRegex(RuntimeError, "Limit Location"):
            bpy.ops.footlock.fit_root()
        self.assertEqual(rigs.everything(), before)


class Batch(clips.InFolder):
    def report(self, *arguments):
        path = self.folder / "report.json"
        status, said = run(*arguments, "-o", self.folder / "out.bvh", "--report", path)
        self.assertEqual(status, 0, said)
        return json.loads(path.read_text(encoding="utf-8"))["clips"][0], said

    def test_automatic_is_the_default(self):
        exported = self.folder / "labels.json"
        found, said = self.report(clips.WALK, "--root-scale", 1.5, "--export-contacts", exported)
        self.assertEqual(found["contacts_from"], "auto")
        self.assertAlmostEqual(found["root"]["scale"], 1.5, delta=0.03)
        self.assertIn("too far", said)
        held = json.loads(exported.read_text(encoding="utf-8"))["contacts"]
        self.assertGreater(f1(np.array([held[toe] for toe in TOES]).T > 0, truth()), 0.93)
        for key in ("double_support", "flight", "ground", "enter_speed", "highest"):
            self.assertIn(key, found)
        self.assertIn("shortest_contact", found["legs"][0])

    def test_thresholds(self):
        steps = clips.repeated(300, self.folder)
        for arguments in (("--detect", "threshold"), ("--velocity-threshold", 0.25), ("--height-threshold", 0.1)):
            with self.subTest(arguments):
                found, _ = self.report(steps, *arguments)
                self.assertEqual(found["contacts_from"], "threshold")
        found, _ = self.report(
            clips.WALK, "--root-scale", 1.25, "--detect", "threshold", "--velocity-threshold", "auto"
        )
        self.assertGreater(found["enter_speed"], 0.3)
        found, _ = self.report(steps, "--detect", "auto", "--velocity-threshold", 0.25)
        self.assertEqual(found["contacts_from"], "auto")

    def test_fit_root(self):
        found, said = self.report(clips.WALK, "--root-scale", 1.5, "--fit-root")
        self.assertEqual((found["root_fit"]["fit"], found["root_fit"]["bones"]), ("scale", ["Hips"]))
        self.assertLess(
            found["root_fit"]["mean_mm_per_frame_after"], 0.5 * found["root_fit"]["mean_mm_per_frame_before"]
        )
        self.assertIn("root scaled", said)
        motion, clean = measure.load(self.folder / "out.bvh"), measure.load(clips.WALK)
        away = motion.point("Hips") - clean.point("Hips")
        self.assertLess(np.abs(away).max(), 0.15)  # of 1.3 m that the scale had added

    def test_usage(self):
        for arguments in (("--detect", "guess"), ("--velocity-threshold", "fast"), ("--velocity-threshold", 0)):
            self.assertEqual(run(clips.WALK, "-o", self.folder / "out.bvh", *arguments)[0], 2)

    def test_curves_of_a_blend(self):
        """Those that are there are used; asked to, they are replaced but for locked ones; markers are written."""
        armature = scaled(1.25)
        legs = mapping.of(armature)
        hand = np.zeros((995, 2), bool)
        hand[400:430] = True
        contact_property.write(armature, legs, np.arange(1.0, 996.0), hand)
        curve(armature).lock = True
        source, out = self.folder / "walk.blend", self.folder / "out.blend"
        bpy.ops.wm.save_as_mainfile(filepath=str(source))
        name = armature.name
        report = self.folder / "report.json"
        for arguments, counts in (((), (1, 1)), (("--replace-contacts", "--markers"), (1, 7))):
            status, said = run(source, "-o", out, "--report", report, *arguments)
            self.assertEqual(status, 0, said)
            found = json.loads(report.read_text(encoding="utf-8"))["clips"][0]
            self.assertEqual(tuple(leg["contacts"] for leg in found["legs"]), counts)
        bpy.ops.wm.open_mainfile(filepath=str(out))
        markers = bpy.data.objects[name].animation_data.action.pose_markers
        self.assertEqual(
            [(m.name, m.frame) for m in markers if m.name.startswith("L")], [("L down", 401), ("L up", 431)]
        )

    def test_a_clip_without_contacts_comes_out_as_it_was(self):
        """A fall among a thousand clips is no failure of the night's run."""
        text = clips.WALK.read_text()
        head, motion = text.split("MOTION")
        lines = motion.splitlines()
        count = 40
        rows = [line.split() for line in lines[3 : 3 + count]]
        rows = [
            [row[0], f"{30.0 - 9.81 * 0.5 * (i / 120.0) ** 2 - 6.0 * i / 120.0:.6f}", *row[2:]]
            for i, row in enumerate(rows)
        ]
        source = self.folder / "fall.bvh"
        body = "\n".join(" ".join(row) for row in rows)
        source.write_text(f"{head}MOTION\nFrames: {count}\n{lines[2]}\n{body}\n")
        found, _ = self.report(source)
        self.assertEqual([leg["contacts"] for leg in found["legs"]], [0, 0])
        before, after = measure.load(source), measure.load(self.folder / "out.bvh")
        self.assertLess(np.abs(before.positions - after.positions).max(), 1e-5)
