"""The report of contacts: it says what other code measures on the evaluated rig, and is never out of date."""

import csv
import json
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from unittest import mock

import bpy
import clips
import measure
import numpy as np
import skeletons
from blender import mapped, rigs, test_bad_input
from blender.test_actions import FRAMES, TOES
from blender.test_batch import run
from blender.test_panel import Layout, drawn
from blender.test_results import ResultCase

from footlock.operators import contact_report
from footlock.rig import clip as reading
from footlock.rig import compat, contact_property, contact_reports, correction, mapping
from footlock.solvers import report_table
from footlock.ui import report_panel

refused = test_bad_input.Refused.refused
FIELDS = ("mean_before", "largest_before", "drift_before", "away_before", "mean_after", "largest_after", "drift_after")


def undoably(operator, **options):
    operator("EXEC_DEFAULT", True, **options)


class ReportCase(ResultCase, clips.InFolder):
    def setUp(self):
        clips.InFolder.setUp(self)
        rigs.new_file()

    def kept(self, armature):
        return contact_reports.find(armature)

    def is_current(self, armature):
        return contact_reports.is_current(bpy.context.scene, armature, self.kept(armature))

    def rows(self, armature):
        """All that is kept of each contact."""
        return [tuple(rigs._plain(item).items()) for item in self.kept(armature).contacts]

    def said(self, frame=None, subframe=0.0):
        """The lines of the answer to Why?"""
        if frame is not None:
            bpy.context.scene.frame_set(frame, subframe=subframe)
        self.assertEqual(bpy.ops.footlock.explain_frame(), {"FINISHED"})
        return bpy.context.window_manager.footlock_report.answer.split("\n")

    def check(self, armature, before, after=None, unit=1.0):
        """What is kept is what is measured on toes (frames, legs, 3), metres, by code that shares nothing with it, with
        the contacts of the curves as Blender evaluates them."""
        kept, legs = self.kept(armature), mapping.of(armature)
        clip = reading.read(bpy.context.scene, armature, legs) if armature.animation_data.action else None
        frames = FRAMES if clip is None else clip.frames
        action = armature.animation_data.action or armature.animation_data.nla_tracks[0].strips[0].action
        curves = {curve.data_path: curve for curve in compat.all_fcurves(action)}
        seen = []
        for i, leg in enumerate(legs.legs):
            path = f'{armature.pose.bones[leg.bearer].path_from_id()}["contact"]'
            labels = np.array([curves[path].evaluate(frame) for frame in frames]) > 0.5
            for start, stop in measure.runs(labels):
                seen.append((i, start, stop - 1))
                item = next(one for one in kept.contacts if (one.leg, one.first) == (i, start))
                self.assertEqual(item.last, stop - 1)
                for when, toes in (("before", before), ("after", after)):
                    if toes is None:
                        continue
                    points = toes[start:stop, i] * unit
                    slide = measure.slide(points, np.ones(len(points), bool), "Z")
                    self.assertAlmostEqual(getattr(item, f"mean_{when}"), slide.mean, delta=2e-6)
                    self.assertAlmostEqual(getattr(item, f"largest_{when}"), slide.max, delta=4e-6)
                    drift = np.linalg.norm(points[-1] - points[0])
                    self.assertAlmostEqual(getattr(item, f"drift_{when}"), drift, delta=1e-5)
                    away = np.linalg.norm(points[:, None] - points[None], axis=-1).max()
                    self.assertLessEqual(getattr(item, f"away_{when}"), away + 1e-5)
                    self.assertGreaterEqual(getattr(item, f"away_{when}"), 0.5 * away - 1e-5)
        self.assertEqual(sorted((one.leg, one.first, one.last) for one in kept.contacts), sorted(seen))
        self.assertGreater(len(seen), 0)
        left = [round(one.residual * 1e4) for one in kept.contacts]
        self.assertEqual(left, sorted(left, reverse=True))
        return kept


class Rows(ReportCase):
    def clip(self, scale=1.25):
        armature = clips.import_clip()
        legs = mapping.find(armature)
        correction.scale_travel(armature, reading.read(bpy.context.scene, armature, legs), scale)
        return armature

    def test_a_recorded_walk(self):
        armature = self.clip()
        frames, toes = np.arange(1, 996), ("LeftToe", "RightToe")
        before, _ = rigs.evaluated(armature, frames, toes)
        bpy.ops.footlock.detect_contacts()
        kept = self.check(armature, before)
        self.assertFalse(kept.corrected)
        self.assertEqual(len(kept.contacts), sum(leg.contacts for leg in armature.data.footlock.legs))
        bpy.ops.footlock.remove_sliding()
        after, _ = rigs.evaluated(armature, frames, toes)
        kept = self.check(armature, before, after)
        self.assertTrue(kept.corrected and self.is_current(armature))
        self.assertGreater(min(one.away_before for one in kept.contacts), 1e-3)
        self.assertLess(max(one.residual for one in kept.contacts), 1e-4)
        self.assertEqual(len(armature.animation_data.action.footlock_report), 1)

    def test_what_is_out_of_reach_comes_first(self):
        armature = self.walker(speed=2.5)
        rigs.curve_of(armature, "pelvis", "location", 0).lock = True
        before = self.toes(armature)
        self.run_removal()
        kept = self.check(armature, before, self.toes(armature))
        total = sum(leg.out_of_reach for leg in armature.data.footlock.legs)
        self.assertGreater(total, 0)
        self.assertEqual(sum(one.missed for one in kept.contacts), total)
        first = kept.contacts[0]
        self.assertGreater(first.missed, 0)
        self.assertGreater(first.residual, 1e-3)
        # The frame that the row goes to is one of those, and says so.
        bpy.context.window_manager.footlock_report.index = 0
        worst = bpy.context.scene.frame_current
        self.assertEqual(worst, FRAMES[first.worst])
        told = next(line for line in self.said() if line.startswith(kept.legs[first.leg].name))
        self.assertRegex(told, rf"out of reach by {first.residual * 1000.0:.1f} mm\.$")

    def test_four_legs(self):
        made = skeletons.beast(skeletons.BEASTS[1])
        armature = mapped.build(made)
        bpy.ops.footlock.map_legs()
        legs = mapping.stored(armature)
        frames = np.arange(1.0, 41.0)
        t = (frames - 1.0) / 24.0
        root = armature.pose.bones[legs.pelvis]
        travel = np.stack([0.01 * np.sin(5.0 * t), -0.08 * t, 0.005 * np.sin(9.0 * t)], axis=1)
        rest = np.array(root.bone.matrix_local.to_3x3())
        rigs.key(armature, root.path_from_id("location"), travel @ rest, frames, group=root.name)
        down = np.zeros((40, 4), bool)
        for i in range(4):
            down[4 * i + 2 : 4 * i + 20, i] = True
        contact_property.write(armature, legs, frames, down)
        before, _ = rigs.evaluated(armature, frames, [leg.bearer for leg in legs.legs])
        bpy.ops.footlock.remove_sliding(unit=1.0)
        after, _ = rigs.evaluated(armature, frames, [leg.bearer for leg in legs.legs])
        kept = self.check(armature, before, after)
        self.assertEqual([leg.name for leg in kept.legs], [leg.label for leg in legs.legs])
        self.assertEqual(len(self.said(10)), 4)
        view = bpy.context.window_manager.footlock_report
        view.leg = kept.legs[2].name
        self.assertEqual([kept.contacts[i].leg for i in self.filtered(kept)], [2])
        view.leg = ""
        self.assertEqual(len(self.filtered(kept)), 4)

    def filtered(self, kept):
        """Indices of the rows that the list shows."""
        flags, order = report_panel.FOOTLOCK_UL_contacts.filter_items(
            mock.Mock(bitflag_filter_item=8), bpy.context, kept, "contacts"
        )
        self.assertEqual(order, [])
        return [i for i, flag in enumerate(flags) if flag == 8]

    def test_awkward_names(self):
        names = {"toe.L": 'to"e\\<&.L', "foot.L": "foot'].L", "toe.R": "脚.R"}
        armature = rigs.biped(names=names)
        rigs.walk(armature, FRAMES)
        armature.name, armature.animation_data.action.name = 'x"<y&', "a,b;\t%"
        bpy.ops.footlock.map_legs(pelvis="pelvis", left="thigh.L|shin.L|foot'].L", right="thigh.R|shin.R|foot.R|脚.R")
        bpy.ops.footlock.detect_contacts()
        contact_property.write(armature, mapping.of(armature), FRAMES, self.labels())
        self.run_removal()
        for name in ("report.csv", "report.json", "plot.svg"):
            operator = bpy.ops.footlock.save_plot if name.endswith("svg") else bpy.ops.footlock.save_report
            operator(filepath=str(self.folder / name))
        record = json.loads((self.folder / "report.json").read_text(encoding="utf-8"))["contacts"][0]
        self.assertEqual((record["armature"], record["action"]), ('x"<y&', "a,b;\t%"))
        self.assertIn('x"&lt;y&amp;', (self.folder / "plot.svg").read_text(encoding="utf-8").replace("&quot;", '"'))


class Time(ReportCase):
    def test_a_clip_at_120_hz_in_a_scene_at_24(self):
        """Keys lie between frames, and so do contacts, and the playhead."""
        clips.new_file()
        with redirect_stdout(StringIO()):
            bpy.ops.import_anim.bvh(filepath=str(clips.WALK), use_fps_scale=True)
        armature = bpy.context.object
        bpy.ops.footlock.detect_contacts()
        kept = self.kept(armature)
        frames = np.array([contact_reports.frame(armature, kept, i) for i in range(995)])
        keys = rigs.values(rigs.curve_of(armature, "Hips", "location"))[0]
        self.assertAlmostEqual(keys[1] - keys[0], 0.2, delta=1e-4)
        np.testing.assert_allclose(frames, keys, atol=1e-3)
        before, _ = rigs.evaluated(armature, frames, ("LeftToe", "RightToe"))
        self.check(armature, before)
        view = bpy.context.window_manager.footlock_report
        for i, item in enumerate(kept.contacts):
            view.index = i
            self.assertAlmostEqual(bpy.context.scene.frame_current_final, frames[item.worst], delta=2.1e-3)
        self.assertRegex(report_table.as_text(contact_reports.read(armature, kept)), r"\t\d+\.\d–\d+")
        self.assertTrue(self.said()[0].startswith("Left "))

    def test_ntsc_and_keys_between_frames(self):
        for fps, base, offset in ((30, 1.001, 0.0), (24, 1.001, 0.25)):
            with self.subTest(fps=fps, offset=offset):
                rigs.new_file()
                scene = bpy.context.scene
                scene.render.fps, scene.render.fps_base = fps, base
                frames = FRAMES + offset
                armature = rigs.biped()
                rigs.walk(armature, frames)
                contact_property.write(armature, mapping.of(armature), frames, self.labels())
                before, _ = rigs.evaluated(armature, frames, TOES)
                self.run_removal()
                kept = self.check(armature, before, rigs.evaluated(armature, frames, TOES)[0])
                self.assertAlmostEqual(kept.frame_rate, fps / base, places=4)
                for item in kept.contacts:
                    self.assertAlmostEqual(item.seconds, (item.last - item.first + 1) * base / fps, places=5)

    def test_a_tweaked_strip(self):
        """Frames are the scene's, where the strip plays them."""
        armature = self.walker()
        data = armature.animation_data
        action, slot = data.action, compat.slot_handle(armature)
        data.action = None
        strip = data.nla_tracks.new().strips.new("Strip", 100, action)
        compat.set_strip_slot(strip, slot)
        data.nla_tracks.active = data.nla_tracks[0]
        strip.select = True
        data.use_tweak_mode = True
        bpy.ops.footlock.detect_contacts(replace_edited=True)
        kept = self.kept(armature)
        bpy.context.window_manager.footlock_report.index = 0
        self.assertEqual(bpy.context.scene.frame_current, 100 + kept.contacts[0].worst)
        self.assertEqual(contact_reports.read(armature, kept).frames[0], 100.0)


class Kept(ReportCase):
    def test_undo_and_redo(self):
        armature = self.walker()
        bpy.ops.ed.undo_push(message="base")
        undoably(bpy.ops.footlock.remove_sliding)
        rows = self.rows(bpy.data.objects["Biped"])
        bpy.ops.ed.undo()
        armature = bpy.data.objects["Biped"]
        self.assertIsNone(self.kept(armature))
        bpy.ops.ed.redo()
        armature = bpy.data.objects["Biped"]
        self.assertEqual(self.rows(armature), rows)
        self.assertTrue(self.is_current(armature))

    def test_choosing_a_row_is_nothing_to_undo(self):
        armature = self.walker()
        self.run_removal()
        bpy.ops.ed.undo_push(message="base")
        bpy.ops.object.empty_add("EXEC_DEFAULT", True)
        bpy.context.view_layer.objects.active = bpy.data.objects["Biped"]
        view = bpy.context.window_manager.footlock_report
        view.index = 1
        kept = self.kept(bpy.data.objects["Biped"])
        self.assertEqual(bpy.context.scene.frame_current, FRAMES[kept.contacts[1].worst])
        bpy.ops.ed.undo()
        armature = bpy.data.objects["Biped"]
        self.assertEqual(len(bpy.data.objects), 1)
        self.assertEqual(len(self.kept(armature).contacts), 4)
        self.assertTrue(self.is_current(armature))
        view.index = 99  # a row that is not there
        view.index = -1

    def test_save_and_reopen(self):
        armature = self.walker()
        self.run_removal()
        rows, report = self.rows(armature), contact_reports.read(armature, self.kept(armature))
        armature = self.reopened()
        self.assertEqual(self.rows(armature), rows)
        self.assertTrue(self.is_current(armature))
        again = contact_reports.read(armature, self.kept(armature))
        for name, values in vars(report.traces).items():
            np.testing.assert_array_equal(getattr(again.traces, name), values)

    def test_other_legs_and_sizes_are_noticed(self):
        armature = self.walker()
        self.run_removal()

        def larger(size):
            armature.scale = (size,) * 3
            bpy.context.view_layer.update()

        legs = armature.data.footlock.legs
        toe = legs[0].toe
        for edit, back in (
            (lambda: larger(3.0), lambda: larger(1.0)),
            (lambda: setattr(legs[0], "toe", ""), lambda: setattr(legs[0], "toe", toe)),
        ):
            self.assertTrue(self.is_current(armature))
            edit()
            self.assertFalse(self.is_current(armature))
            refused(self, "legs or size were edited after", [bpy.ops.footlock.copy_report])
            back()
        armature.location, armature.rotation_euler.z = (3.0, 2.0, 0.5), 1.0
        bpy.context.view_layer.update()
        self.assertTrue(self.is_current(armature))

    def test_edits_are_noticed_and_what_has_no_part_in_it_is_not(self):
        armature = self.walker()
        armature.pose.bones["pelvis"].rotation_mode = "QUATERNION"
        self.run_removal()
        contact = f'{armature.pose.bones["toe.L"].path_from_id()}["contact"]'
        curves = rigs.curves(armature)
        for key in ((contact, 0), (armature.pose.bones["pelvis"].path_from_id("location"), 1)):
            point = curves[key].keyframe_points[2]
            old = point.co[1]
            point.co[1] = old + 0.25
            self.assertFalse(self.is_current(armature))
            refused(self, "edited after the report was made: click Update", [bpy.ops.footlock.copy_report])
            point.co[1] = old
            self.assertTrue(self.is_current(armature))
        for setting in ("mute",):
            setattr(curves[contact, 0], setting, True)
            self.assertFalse(self.is_current(armature))
            setattr(curves[contact, 0], setting, False)
        bpy.context.scene.render.fps = 30
        self.assertFalse(self.is_current(armature))
        bpy.context.scene.render.fps = 24
        # A bone that carries no leg.
        rigs.key(armature, 'pose.bones["toe.L"]["contact_speed"]', np.ones((2, 1)), [1.0, 2.0])
        self.assertTrue(self.is_current(armature))

    def test_update_measures_what_is_there(self):
        armature = self.walker()
        self.run_removal()
        curve = rigs.curve_of(armature, "pelvis", "location", 1)
        for point in curve.keyframe_points:
            point.co[1] += 0.002 * point.co[0]
        curve.update()
        self.assertFalse(self.is_current(armature))
        self.assertEqual(bpy.ops.footlock.update_report(), {"FINISHED"})
        kept = self.check(armature, self.toes(armature))
        self.assertFalse(kept.corrected)
        self.assertTrue(self.is_current(armature))
        self.assertGreater(kept.contacts[0].away_before, 5e-3)

    def test_a_new_action_has_its_own(self):
        armature = self.walker()
        bpy.ops.footlock.detect_contacts(replace_edited=True)
        contact_property.write(armature, mapping.of(armature), FRAMES, self.labels())
        bpy.ops.footlock.update_report()
        base, source = armature.animation_data.action, self.toes(armature)
        found = self.rows(armature)
        self.run_removal(result="NEW")
        self.assertNotEqual(armature.animation_data.action, base)
        kept = self.check(armature, source, self.toes(armature))
        self.assertTrue(kept.corrected and self.is_current(armature))
        bpy.ops.footlock.revert()
        self.assertEqual(self.rows(armature), found)
        self.assertFalse(self.kept(armature).corrected)
        self.assertTrue(self.is_current(armature))

    def test_a_layer_has_its_own(self):
        armature = self.walker()
        bpy.ops.footlock.update_report()
        source, found = self.toes(armature), self.rows(armature)
        self.run_removal(result="LAYER")
        self.assertIsNone(armature.animation_data.action)
        kept = self.check(armature, source, self.toes(armature))
        self.assertTrue(kept.corrected and self.is_current(armature))
        self.assertIn("planted", " ".join(self.said(10)))
        bpy.ops.footlock.copy_report()
        armature.footlock_influence = 0.5
        self.assertFalse(self.is_current(armature))
        refused(self, "set its influence to 1", [bpy.ops.footlock.copy_report, bpy.ops.footlock.explain_frame])
        armature.footlock_influence = 1.0
        armature = self.reopened()
        self.assertTrue(self.is_current(armature))
        bpy.ops.footlock.revert()
        self.assertEqual(self.rows(armature), found)
        self.assertTrue(self.is_current(armature))

    def test_two_characters_in_the_slots_of_one_action(self):
        if not compat.LAYERED:
            self.skipTest("actions have no slots here")
        first = self.walker()
        action = first.animation_data.action
        second = rigs.biped("Other")
        second.animation_data_create().action = action
        second.animation_data.action_slot = action.slots.new(id_type="OBJECT", name="Other")
        rigs.walk(second, FRAMES, speed=0.3)
        contact_property.write(second, mapping.of(second), FRAMES, self.labels())
        self.run_removal()
        bpy.context.view_layer.objects.active = first
        self.run_removal()
        self.assertEqual(len(action.footlock_report), 2)
        self.assertNotEqual(self.rows(first), self.rows(second))
        for armature in (first, second):
            self.assertTrue(self.is_current(armature))


class OfAnotherFile(ReportCase):
    def test_an_override_keeps_it_with_its_local_action(self):
        rigs.biped()
        rigs.walk(bpy.context.object, FRAMES)
        library = str(self.folder / "library.blend")
        bpy.ops.wm.save_as_mainfile(filepath=library)
        rigs.new_file()
        with bpy.data.libraries.load(library, link=True) as (_, wanted):
            wanted.objects = ["Biped"]
        bpy.context.scene.collection.objects.link(wanted.objects[0])
        armature = wanted.objects[0].override_create(remap_local_usages=True)
        bpy.context.view_layer.objects.active = armature
        bpy.context.view_layer.update()
        self.assertIsNone(self.kept(armature))
        self.said(10)
        bpy.ops.footlock.copy_action()
        contact_property.write(armature, mapping.of(armature), FRAMES, self.labels())
        source = self.toes(armature)
        self.run_removal()
        self.check(armature, source, self.toes(armature))
        rows = self.rows(armature)
        armature = self.reopened(armature.name)
        self.assertIsNotNone(armature.override_library)
        self.assertEqual(self.rows(armature), rows)
        self.assertTrue(self.is_current(armature))


class Reasons(ReportCase):
    def test_as_it_was_detected(self):
        armature = clips.import_clip()
        bpy.ops.footlock.detect_contacts()
        found = armature.data.footlock
        traces = contact_reports.read(armature, self.kept(armature)).traces
        for frame in (50, 160, 300, 520):
            for i, (line, name) in enumerate(zip(self.said(frame), ("Left", "Right"), strict=True)):
                down = traces.weights[frame - 1, i] > 0.5
                self.assertTrue(line.startswith(f"{name} {'planted' if down else 'free'}: "), line)
                if down:
                    self.assertIn(f"(below {found.enter:.2f})", line)
                    self.assertIn(f"{traces.speed[frame - 1, i]:.2f} m/s over the floor", line)
                    self.assertIn(f"(below {100.0 * found.highest:.1f})", line)
                else:
                    self.assertIn("(planted below ", line)

    def test_by_hand_from_a_file_muted_and_none(self):
        armature = self.walker()
        legs = mapping.of(armature)
        self.assertIn("Left planted: by hand; detection would", self.said(10)[0])
        path = str(self.folder / "labels.json")
        bpy.ops.footlock.export_contacts(filepath=path)
        bpy.ops.footlock.import_contacts(filepath=path)
        self.assertIn("Left planted: from a file; detection would", self.said(10)[0])
        contact = rigs.curves(armature)[f'{armature.pose.bones["toe.L"].path_from_id()}["contact"]', 0]
        contact.keyframe_points[1].co[1] = 0.75
        self.assertIn("Left held in part (75 %): by hand", self.said(10)[0])
        contact.keyframe_points[1].co[1] = -1.0
        self.assertIn("Left sliding on purpose: by hand", self.said(10)[0])
        contact.mute = True
        self.assertIn("Left free: its contact curve is muted; detection would", self.said(10)[0])
        compat.remove_fcurve(armature, contact.data_path, 0)
        self.assertIn("Left free: it has no contact curve; detection would", self.said(10)[0])
        self.assertIn("Right free: from a file", self.said(10)[1])
        self.assertEqual(len(legs.legs), 2)

    def test_it_is_right_after_edits_undo_and_reopening(self):
        """Without a report that holds, it is asked of the clip as it is now."""
        armature = clips.import_clip()
        bpy.ops.footlock.detect_contacts()
        name = armature.name
        first = self.said(50)
        bpy.ops.ed.undo_push(message="base")
        hips = rigs.curve_of(armature, "Hips", "location", 0)
        for i, point in enumerate(hips.keyframe_points):
            point.co[1] += 0.01 * i
        hips.update()
        bpy.context.view_layer.update()
        edited = self.said()
        self.assertNotEqual(edited, first)
        bpy.ops.ed.undo_push(message="edited")
        bpy.ops.ed.undo()
        self.assertEqual(self.said(50), first)
        with mock.patch.object(contact_report.detect_contacts, "detect", side_effect=AssertionError):
            self.reopened(name)
            self.assertEqual(self.said(50), first)

    def test_after_a_correction_it_says_what_there_was_before(self):
        armature = clips.import_clip()
        legs = mapping.find(armature)
        correction.scale_travel(armature, reading.read(bpy.context.scene, armature, legs), 1.25)
        bpy.ops.footlock.detect_contacts()
        before = self.said(600)
        bpy.ops.footlock.remove_sliding()
        self.assertEqual(self.said(600), before)

    def test_refused(self):
        armature = self.walker()
        bpy.context.scene.frame_set(90)
        refused(self, "Frame 90 is outside of the action, which goes from 1 to 60", [bpy.ops.footlock.explain_frame])
        self.assertFalse(bpy.ops.footlock.copy_report.poll())
        armature.animation_data.action = None
        self.assertFalse(bpy.ops.footlock.explain_frame.poll())


class Files(ReportCase):
    def setUp(self):
        super().setUp()
        self.armature = self.walker(speed=2.5)
        rigs.curve_of(self.armature, "pelvis", "location", 0).lock = True
        self.run_removal()
        self.report = contact_reports.read(self.armature, self.kept(self.armature))

    def test_files_hold_the_rows(self):
        self.assertEqual(bpy.ops.footlock.save_report(filepath=str(self.folder / "a.csv")), {"FINISHED"})
        self.assertEqual(bpy.ops.footlock.save_report(filepath=str(self.folder / "a.JSON")), {"FINISHED"})
        with open(self.folder / "a.csv", encoding="utf-8", newline="") as file:
            lines = list(csv.DictReader(file))
        data = json.loads((self.folder / "a.JSON").read_text(encoding="utf-8"))
        self.assertEqual(len(lines), 4)
        self.assertEqual([{name: str(value) for name, value in one.items()} for one in data["contacts"]], lines)
        self.assertEqual(data["summary"], report_table.summary(self.report))
        for line, item in zip(lines, self.kept(self.armature).contacts, strict=True):
            self.assertEqual(int(line["first_frame"]), FRAMES[item.first])
            self.assertEqual(int(line["frames_out_of_reach"]), item.missed)
            self.assertAlmostEqual(float(line["mean_slide_before_mm_per_frame"]), item.mean_before * 1e3, delta=6e-4)
            self.assertAlmostEqual(float(line["residual_mm"]), item.residual * 1e3, delta=6e-4)
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["a.JSON", "a.csv"])

    def test_a_place_that_cannot_be_written(self):
        path = str(self.folder / "nowhere" / "a.csv")
        for operator in (bpy.ops.footlock.save_report, bpy.ops.footlock.save_plot):
            refused(self, "cannot be written.*choose a folder", [lambda operator=operator: operator(filepath=path)])
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_the_clipboard(self):
        manager = mock.Mock()
        text = contact_report.copied(self.report, manager)
        self.assertEqual(manager.clipboard, report_table.as_text(self.report))
        self.assertEqual(text, "Copied 4 contacts.")
        self.assertEqual(bpy.ops.footlock.copy_report(), {"FINISHED"})

    def test_no_file_is_named(self):
        for operator in (bpy.ops.footlock.save_report, bpy.ops.footlock.save_plot, bpy.ops.footlock.export_contacts):
            refused(self, "No file is named", [lambda operator=operator: operator(filepath="")])
        self.assertEqual(bpy.data.filepath, "")
        here = sorted(Path.cwd().iterdir())
        for operator in (bpy.ops.footlock.save_report, bpy.ops.footlock.save_plot, bpy.ops.footlock.export_contacts):
            refused(self, "folder of this .blend file.*save it", [lambda operator=operator: operator(filepath="//a.x")])
        self.assertEqual(sorted(Path.cwd().iterdir()), here)

    def test_none_of_them_is_to_be_undone(self):
        for name in ("copy_report", "save_report", "save_plot", "explain_frame"):
            self.assertNotIn("UNDO", getattr(bpy.ops.footlock, name).get_rna_type().bl_rna.name)
            self.assertNotIn("UNDO", getattr(bpy.types, f"FOOTLOCK_OT_{name}").bl_options)


class Panel(ReportCase):
    def setUp(self):
        super().setUp()
        report_panel._last_look.clear()

    def drawn(self):
        report_panel._last_look.clear()
        return drawn(report_panel.FOOTLOCK_PT_report)

    def test_before_and_after_a_run(self):
        self.assertIsNone(self.drawn())
        armature = self.walker()
        layout = self.drawn()
        self.assertEqual(layout.said, ["Detect Contacts lists them here"])
        self.assertEqual(set(layout.buttons), {"footlock.explain_frame"})
        self.run_removal()
        layout = self.drawn()
        kept = self.kept(armature)
        item = kept.contacts[0]
        span = f"{FRAMES[item.first]:g}–{FRAMES[item.last]:g}"
        slide = f"{item.away_before * 1000:.0f} → {item.residual * 1000:.1f}"
        self.assertGreater(item.away_before, 0.1)
        self.assertEqual(layout.said[1], f"{kept.legs[item.leg].name} {span} {slide}")
        names = ("copy_report", "save_report", "save_plot", "explain_frame")
        self.assertEqual(set(layout.buttons), {f"footlock.{name}" for name in names})
        self.assertEqual([text for text in layout.greyed if "→" in text], [])

    def test_a_chosen_row_is_told_in_full(self):
        armature = self.walker()
        self.run_removal()
        bpy.context.window_manager.footlock_report.index = 2
        item = self.kept(armature).contacts[2]
        said = self.drawn().said
        self.assertIn(f"{item.mean_before * 1000:.2f} → {item.mean_after * 1000:.2f} mm", said)
        self.assertIn("By hand", said)

    def test_what_is_left_is_marked(self):
        armature = self.walker()
        self.run_removal()
        kept = self.kept(armature)
        for missed, residual, marks in ((0, 0.0, 0), (0, 0.02, 1), (3, 0.02, 1)):
            kept.contacts[0].missed, kept.contacts[0].residual = missed, residual
            with mock.patch.object(Layout, "label", autospec=True, side_effect=Layout.label) as label:
                self.drawn()
            self.assertEqual(
                sum("icon" in one.kwargs and one.kwargs["text"] == "" for one in label.call_args_list), marks
            )

    def test_stale_rows_are_said_to_be(self):
        armature = self.walker()
        self.run_removal()
        rigs.curve_of(armature, "pelvis", "location").keyframe_points[3].co[1] += 0.1
        layout = self.drawn()
        self.assertIn("Curves, legs or size were edited since", layout.said)
        self.assertIn("footlock.update_report", layout.buttons)
        self.assertTrue([text for text in layout.greyed if "→" in text])

    def test_the_answer_is_of_this_frame_and_these_curves(self):
        armature = self.walker()
        self.run_removal()
        said = self.said(10)
        shown = " ".join(self.drawn().said)
        self.assertIn(said[0].split(":")[0], shown)
        bpy.context.scene.frame_set(11)
        self.assertNotIn(said[0].split(":")[0], " ".join(self.drawn().said))
        bpy.context.scene.frame_set(10)
        self.assertIn(said[0].split(":")[0], " ".join(self.drawn().said))
        rigs.curve_of(armature, "pelvis", "location").keyframe_points[3].co[1] += 0.1
        self.assertNotIn(said[0].split(":")[0], " ".join(self.drawn().said))

    def test_redraws_do_not_look_each_time(self):
        armature = self.walker()
        self.run_removal()
        self.drawn()
        with mock.patch.object(contact_reports, "state", side_effect=AssertionError):
            report_panel._last_look["took"] = 60.0
            drawn(report_panel.FOOTLOCK_PT_report)
        report_panel._last_look["took"] = 0.0
        rigs.curve_of(armature, "pelvis", "location").keyframe_points[3].co[1] += 0.1
        self.assertIn("Curves, legs or size were edited since", drawn(report_panel.FOOTLOCK_PT_report).said)


class Batch(ReportCase):
    def test_rows_and_plot(self):
        out, report, plot = (self.folder / name for name in ("out.bvh", "report.json", "plot.svg"))
        status, said = run(
            clips.WALK, "-o", out, "--root-scale", 1.25, "--report", report, "--plot", plot, "--export-contacts",
            self.folder / "labels.json",
        )  # fmt: skip
        self.assertEqual(status, 0, said)
        data = json.loads(report.read_text(encoding="utf-8"))["clips"][0]
        labels = json.loads((self.folder / "labels.json").read_text(encoding="utf-8"))["contacts"]
        motion, source = measure.load(out), measure.load(clips.WALK)
        travel = 0.25 * (source.point("Hips") - source.point("Hips")[0])
        travel[:, 1] = 0.0
        for leg, toe in zip(data["legs"], ("LeftToe", "RightToe"), strict=True):
            self.assertEqual(len(leg["contact_rows"]), leg["contacts"])
            spans = [(row["first_frame"] - 1, row["last_frame"]) for row in leg["contact_rows"]]
            self.assertEqual(sorted(spans), [tuple(one) for one in measure.runs(np.array(labels[toe]) > 0.5)])
            for (start, stop), row in zip(spans, leg["contact_rows"], strict=True):
                every = np.ones(stop - start, bool)
                before = measure.slide((source.point(toe) + travel)[start:stop], every)
                after = measure.slide(motion.point(toe)[start:stop], every)
                self.assertAlmostEqual(row["mean_slide_before_mm_per_frame"], before.mean * 1e3, delta=5e-3)
                self.assertAlmostEqual(row["mean_slide_after_mm_per_frame"], after.mean * 1e3, delta=5e-3)
                self.assertEqual(row["cause"], "found")
        self.assertIn("<svg", plot.read_text(encoding="utf-8"))

    def test_plots_of_several_and_of_labels(self):
        labels = self.folder / "labels"
        labels.mkdir()
        names = ["cmu_131_01", "cmu_131_03"]
        sources = [clips.DATA / f"{name}.bvh" for name in names]
        status, said = run(*sources, "-o", self.folder / "out", "--plot", self.folder / "plots")
        self.assertEqual(status, 0, said)
        self.assertEqual(sorted(path.name for path in (self.folder / "plots").iterdir()), [f"{n}.svg" for n in names])
        status, said = run(clips.WALK, "-o", self.folder / "same.bvh", "--plot", self.folder / "same.bvh")
        self.assertEqual(status, 2)
        self.assertIn("is written or read already", said)
        report = self.folder / "report.json"
        given = clips.DATA / "cmu_131_01_contacts.json"
        if len(json.loads(given.read_text())["contacts"]["LeftToe"]) == 995:
            run(clips.WALK, "-o", self.folder / "out.bvh", "--contacts", given, "--report", report)
            rows = json.loads(report.read_text(encoding="utf-8"))["clips"][0]["legs"][0]["contact_rows"]
            self.assertEqual({row["why"] for row in rows}, {"from a file"})

    def test_a_blend_comes_out_with_its_report(self):
        armature = self.walker()
        name = armature.name
        path, out = self.folder / "in.blend", self.folder / "out.blend"
        bpy.ops.wm.save_as_mainfile(filepath=str(path))
        status, said = run(path, "-o", out)
        self.assertEqual(status, 0, said)
        bpy.ops.wm.open_mainfile(filepath=str(out))
        kept = self.kept(bpy.data.objects[name])
        self.assertEqual(len(kept.contacts), 4)
        self.assertTrue(kept.corrected and self.is_current(bpy.data.objects[name]))
