"""Contacts edited at the playhead, footprints moved and turned, and the result that follows."""

import unittest

import bpy
import clips
import numpy as np
from blender import rigs
from blender.test_actions import FRAMES, TOES
from blender.test_results import ResultCase

from footlock.rig import compat, contact_property, curves, footprints, mapping, sources


class EditCase(ResultCase):
    def setUp(self):
        super().setUp()
        self.armature = self.walker()

    def now(self):
        """Weights (frames, legs) of the contact curves."""
        return contact_property.weights(self.armature, mapping.of(self.armature), FRAMES)

    def contact(self, leg=0, which=1):
        """(first, last) frame of a contact."""
        from footlock.solvers import contacts

        start, stop = contacts.runs(self.now()[:, leg] > 0.5)[which]
        return int(FRAMES[start]), int(FRAMES[stop - 1])

    def edit(self, edit, frame=None, **options):
        if frame is not None:
            rigs.set_frame(self.scene, frame)
        with rigs.reports() as said:
            self.assertEqual(bpy.ops.footlock.edit_contact(edit=edit, **options), {"FINISHED"})
        return said[0]

    def toe(self, leg, span):
        return rigs.evaluated(self.armature, FRAMES, TOES)[0][
            int(span[0] - FRAMES[0]) : int(span[1] - FRAMES[0]) + 1, leg
        ]


class AtThePlayhead(EditCase):
    def test_free_takes_the_whole_contact(self):
        first, last = self.contact()
        before = self.now()
        said = self.edit("FREE", first + 1, leg=0)
        self.assertIn("Left", said)
        wanted = before.copy()
        wanted[first - 1 : last, 0] = 0.0
        np.testing.assert_array_equal(self.now(), wanted)

    def test_other_legs_and_keys_stay(self):
        held = rigs.dump(self.armature)
        first, _ = self.contact()
        self.edit("SPLIT", first + 2, leg=0)
        path = f'{self.armature.pose.bones[TOES[0]].path_from_id()}["contact"]'
        self.assertEqual(self.changed(self.armature, held), {path})

    def test_split_and_join(self):
        first, last = self.contact()
        before = self.now()
        self.edit("SPLIT", first + 2, leg=0)
        self.assertEqual(self.now()[first + 1, 0], 0.0)
        self.assertEqual(self.contact(), (first, first + 1))
        self.edit("JOIN", first + 2, leg=0)
        np.testing.assert_array_equal(self.now(), before)
        self.assertEqual(self.contact(), (first, last))

    def test_start_and_end_here(self):
        first, last = self.contact()
        self.edit("START", first + 2, leg=0)
        self.edit("END", last - 1, leg=0)
        self.assertEqual(self.contact(), (first + 2, last - 1))
        self.edit("START", first - 1, leg=0)
        self.assertEqual(self.contact(), (first - 1, last - 1))

    def test_shift(self):
        first, last = self.contact()
        self.edit("SHIFT", first, leg=0, by=2)
        self.assertEqual(self.contact(), (first + 2, last + 2))
        self.edit("SHIFT", leg=0, by=-2, frame=first + 2)
        self.assertEqual(self.contact(), (first, last))

    def test_plant(self):
        first, _ = self.contact()
        self.edit("FREE", first, leg=0)
        self.edit("PLANT", first, leg=0)
        length = self.contact()[1] - first + 1
        self.assertEqual(length, round(0.2 * self.scene.render.fps))

    def test_over_a_range_of_all_legs(self):
        self.edit("FREE", use_range=True, range_start=1, range_end=60)
        self.assertFalse(self.now().any())
        rigs.set_frame(self.scene, 500)  # the range does not ask where the playhead is
        self.edit("PLANT", use_range=True, range_start=10, range_end=20)
        wanted = np.zeros((60, 2))
        wanted[9:20] = 1.0
        np.testing.assert_array_equal(self.now(), wanted)

    def test_a_curve_that_a_person_made_is_kept_outside(self):
        path = f'{self.armature.pose.bones[TOES[0]].path_from_id()}["contact"]'
        curve = curves.by_path(self.armature)[path, 0]
        first, last = self.contact()
        key = curve.keyframe_points.insert(last + 3, 0.4)
        key.interpolation = "LINEAR"
        curve.update()
        self.edit("SPLIT", first + 2, leg=0)
        curve = curves.by_path(self.armature)[path, 0]
        self.assertAlmostEqual(curve.evaluate(last + 3), 0.4, places=6)
        self.assertEqual([k.interpolation for k in curve.keyframe_points if k.co[0] == last + 3], ["LINEAR"])

    def test_an_action_without_curves_gets_one(self):
        for leg in mapping.of(self.armature).legs:
            path = f'{self.armature.pose.bones[leg.bearer].path_from_id()}["contact"]'
            compat.remove_fcurve(self.armature, path, 0)
        self.edit("PLANT", 12, leg=1)
        self.assertEqual(self.contact(1, 0)[0], 12)

    def test_refusals(self):
        first, _ = self.contact()
        held = rigs.everything()
        for words, options in (
            ("has no contact in this frame: move", {"edit": "FREE", "leg": 0, "frame": first - 1.0}),
            ("is planted already", {"edit": "PLANT", "leg": 0, "frame": float(first)}),
            ("outside the action", {"edit": "FREE", "frame": 900.0}),
            ("There is no leg 7", {"edit": "FREE", "leg": 7}),
            ("Frame 0.5 is outside", {"edit": "FREE", "frame": FRAMES[0] - 0.5}),
            ("ends at frame 3, before", {"edit": "FREE", "use_range": True, "range_start": 5, "range_end": 3}),
            ("frames 100 to 120, is outside", {"use_range": True, "range_start": 100, "range_end": 120}),
            ("frames -9 to 0, is outside", {"edit": "FREE", "use_range": True, "range_start": -9, "range_end": 0}),
        ):
            with self.assertRaisesRegex(RuntimeError, words):
                bpy.ops.footlock.edit_contact(**options)
        self.assertEqual(rigs.everything(), held)
        path = f'{self.armature.pose.bones[TOES[0]].path_from_id()}["contact"]'
        curves.by_path(self.armature)[path, 0].lock = True
        with self.assertRaisesRegex(RuntimeError, "is locked: unlock"):
            bpy.ops.footlock.edit_contact(edit="FREE", leg=0, frame=float(first))

    def test_a_muted_curve_is_said_to_be_muted(self):
        path = f'{self.armature.pose.bones[TOES[0]].path_from_id()}["contact"]'
        curves.by_path(self.armature)[path, 0].mute = True
        for edit in ("FREE", "PLANT", "SPLIT"):
            with self.assertRaisesRegex(RuntimeError, "The contact curve of Left is muted"):
                bpy.ops.footlock.edit_contact(edit=edit, leg=0, frame=float(self.contact(leg=1)[0]))

    def test_frames_of_a_fast_clip_in_a_slow_scene(self):
        for curve in compat.fcurves(self.armature):
            at, values = curves.keys(curve)
            kind = "CONSTANT" if curves.is_own(curve.data_path) else "LINEAR"
            curve.keyframe_points.clear()
            curves.write(curve, 1.0 + (at - 1.0) / 5.0, values, kind)
        frames = 1.0 + (FRAMES - 1.0) / 5.0
        legs = mapping.of(self.armature)
        before = contact_property.weights(self.armature, legs, frames)
        start = int(np.flatnonzero(np.diff(before[:, 0]) > 0)[0]) + 1
        self.edit("SHIFT", leg=0, frame=float(frames[start]), by=1)
        after = contact_property.weights(self.armature, legs, frames)
        np.testing.assert_array_equal(after[start : start + 5, 0], 0.0)
        self.assertEqual(after[start + 5, 0], 1.0)

    def test_frames_of_the_scene_in_a_tweaked_strip(self):
        data = self.armature.animation_data
        action, before = data.action, self.now()
        data.action = None
        strip = data.nla_tracks.new().strips.new("Strip", 101, action)
        if compat.LAYERED:
            strip.action_slot = action.slots[0]
        strip.scale = 2.0
        data.nla_tracks.active = data.nla_tracks[0]
        strip.select = True
        data.use_tweak_mode = True
        start = int(np.flatnonzero(np.diff(before[:, 0]) > 0)[0]) + 1  # of an array; the action begins at frame 1
        self.edit("SHIFT", leg=0, frame=101.0 + 2.0 * start, by=2)
        after = self.now()
        self.assertEqual((after[start, 0], after[start + 1, 0]), (0.0, 1.0))
        self.edit("FREE", leg=0, use_range=True, range_start=101, range_end=101 + 2 * 30)
        np.testing.assert_array_equal(self.now()[:31, 0], 0.0)
        np.testing.assert_array_equal(self.now()[31:, 0], after[31:, 0])


class Result(EditCase):
    def test_it_follows_the_contacts(self):
        self.run_removal()
        source = sources.of(self.armature)
        first, last = self.contact()
        self.assertLess(np.ptp(self.toe(0, (first, last)), axis=0).max(), 1e-4)
        said = self.edit("FREE", first, leg=0)
        self.assertIn("slide", said)
        self.assertGreater(np.ptp(self.toe(0, (first, last)), axis=0).max(), 1e-2)
        self.edit("PLANT", leg=0, use_range=True, range_start=first, range_end=last)
        self.assertLess(np.ptp(self.toe(0, (first, last)), axis=0).max(), 1e-4)
        self.assertEqual(sources.of(self.armature), source)

    def test_the_last_contact_gone_is_the_source(self):
        before = self.toes(self.armature)
        self.run_removal()
        self.edit("FREE", use_range=True, range_start=1, range_end=60)
        np.testing.assert_array_equal(self.toes(self.armature), before)

    def test_without_update_it_stays(self):
        self.run_removal()
        before = self.toes(self.armature)
        self.edit("FREE", self.contact()[0], leg=0, update=False)
        np.testing.assert_array_equal(self.toes(self.armature), before)

    def test_one_step_of_undo(self):
        self.run_removal()
        bpy.ops.ed.undo_push(message="corrected")
        before = self.toes(self.armature)
        frame = float(self.contact()[0])
        bpy.ops.footlock.edit_contact("EXEC_DEFAULT", True, edit="FREE", leg=0, frame=frame)
        self.assertGreater(np.abs(self.toes(self.armature) - before).max(), 1e-2)
        bpy.ops.ed.undo()
        self.armature = bpy.context.object
        np.testing.assert_array_equal(self.toes(self.armature), before)

    def test_it_stays_the_kind_of_result_that_it_is(self):
        for result, other in (("IN_PLACE", "LAYER"), ("NEW", "IN_PLACE")):
            self.run_removal(result=result)
            action, count = self.armature.animation_data.action, len(bpy.data.actions)
            self.scene.footlock.result = other
            span = self.contact()
            self.edit("FREE", span[0], leg=0)
            self.assertGreater(np.ptp(self.toe(0, span), axis=0).max(), 1e-2)
            self.edit("PLANT", leg=0, use_range=True, range_start=span[0], range_end=span[1])
            self.assertEqual((self.armature.animation_data.action, len(bpy.data.actions)), (action, count), result)

    def test_what_cannot_be_updated_is_said(self):
        self.run_removal()
        self.scene.footlock.ground = "OBJECT"
        said = self.edit("SPLIT", self.contact()[0] + 2, leg=0)
        self.assertIn("The result was not updated. There is no object", said)


class Loop(EditCase):
    """A contact that goes on from the last frame of a cycle to the first, which are one pose."""

    FRAMES = np.arange(1.0, 26.0)

    def setUp(self):
        super().setUp()
        self.armature = clips.opened("corrected loop", self.make)

    def make(self):
        rigs.new_file()
        armature = rigs.biped()
        rigs.walk(armature, self.FRAMES, speed=1.0)
        for curve in compat.fcurves(armature):
            if not curve.data_path.endswith("location"):
                curve.keyframe_points[-1].co[1] = curve.keyframe_points[0].co[1]
                curve.update()
        planted = np.zeros((25, 2))
        planted[:5, 0] = planted[21:, 0] = planted[8:17, 1] = 1.0
        contact_property.write(armature, mapping.of(armature), self.FRAMES, planted)
        bpy.context.scene.footlock.cyclic = True
        self.run_removal(cyclic=True)

    def check(self, left):
        """Planted toes stand, over the seam, too, and the left foot has contacts in these frames."""
        planted = contact_property.weights(self.armature, mapping.of(self.armature), self.FRAMES) > 0.5
        self.assertEqual((np.flatnonzero(planted[:, 0]) + 1).tolist(), left)
        toes = rigs.evaluated(self.armature, self.FRAMES, TOES)[0]
        steps = np.linalg.norm(np.diff(toes, axis=0), axis=-1)
        self.assertLess(steps[planted[1:] & planted[:-1]].max(initial=0.0), 1e-5)
        way = toes[-1] - toes[0]
        np.testing.assert_allclose(way[0], way[1], atol=1e-4)

    def test_it_is_one_contact(self):
        for edit, frame, left in (
            ("SHIFT", 3, [*range(1, 7), *range(23, 26)]),
            ("SHIFT", 24, [*range(1, 7), *range(23, 26)]),
            ("END", 3, [1, 2, 3, *range(22, 26)]),
            ("START", 24, [*range(1, 6), 24, 25]),
            ("FREE", 3, []),
            ("FREE", 25, []),
        ):
            with self.subTest(edit=edit, frame=frame):
                self.setUp()
                self.edit(edit, frame, leg=0, by=1)
                self.check(left)

    def test_its_footprint_is_one(self):
        before = rigs.evaluated(self.armature, self.FRAMES, TOES)[0]
        for frame in (3.0, 24.0):
            bpy.ops.footlock.move_footprint(leg=0, frame=frame, offset=(0.02, 0.0, 0.0))
        self.assertEqual(len(footprints.stored(self.armature)), 1)
        after = rigs.evaluated(self.armature, self.FRAMES, TOES)[0]
        np.testing.assert_allclose((after - before)[[0, 2, 23, 24], 0], [[0.04, 0.0, 0.0]] * 4, atol=1e-4)
        self.edit("SHIFT", 24, leg=0, by=1)
        self.assertEqual(len(footprints.stored(self.armature)), 1)
        bpy.ops.footlock.reset_footprint(leg=0, frame=3.0)
        self.assertEqual(footprints.stored(self.armature), [])


class Footprints(EditCase):
    def setUp(self):
        super().setUp()  # with a walk, which is corrected once
        self.armature = clips.opened("corrected walk", self.run_removal)
        self.span = self.contact()

    def move(self, **options):
        with rigs.reports() as said:
            done = bpy.ops.footlock.move_footprint(leg=0, frame=float(self.span[0]), **options)
        self.assertEqual(done, {"FINISHED"})
        return said[0]

    def test_the_contact_stands_there(self):
        before = self.toe(0, self.span)
        said = self.move(offset=(0.03, -0.02, 0.0))
        self.assertIn("The footprint of Left moved. Left", said)
        toe = self.toe(0, self.span)
        self.assertLess(np.ptp(toe, axis=0).max(), 1e-4)
        np.testing.assert_allclose(toe[0] - before[0], (0.03, -0.02, 0.0), atol=1e-4)

    def test_moves_add_up(self):
        before = self.toe(0, self.span)[0]
        for _ in range(2):
            self.move(offset=(0.02, 0.0, 0.01))
        np.testing.assert_allclose(self.toe(0, self.span)[0] - before, (0.04, 0.0, 0.02), atol=1e-4)
        self.assertEqual(len(footprints.stored(self.armature)), 1)

    def test_it_stays_where_it_was_put_in_other_runs_and_files(self):
        self.move(offset=(0.03, -0.02, 0.0))
        toe = self.toe(0, self.span)
        self.armature = self.reopened(self.armature.name)
        self.run_removal()
        np.testing.assert_allclose(self.toe(0, self.span), toe, atol=1e-6)

    def test_the_foot_turns_about_the_toe(self):
        def heading():
            heads = rigs.evaluated(self.armature, FRAMES, ["foot.L", "toe.L"])[0]
            foot = (heads[:, 1] - heads[:, 0])[int(self.span[0]) : int(self.span[1]) - 1]
            return np.unwrap(np.arctan2(foot[:, 1], foot[:, 0]))

        before, toe = heading(), self.toe(0, self.span)
        self.move(turn=0.3)
        np.testing.assert_allclose(heading() - before, 0.3, atol=0.02)
        np.testing.assert_allclose(self.toe(0, self.span), toe, atol=1e-4)

    def test_whole_turns_are_none(self):
        self.move(turn=0.0)  # the contact is given its place, and other feet may find another way to it
        before = self.toes(self.armature)
        self.move(turn=4.0 * np.pi)
        self.assertEqual(footprints.stored(self.armature)[0].turn, 0.0)
        np.testing.assert_allclose(self.toes(self.armature), before, atol=1e-6)

    def test_reset(self):
        before = self.toes(self.armature)
        self.move(offset=(0.03, -0.02, 0.01), turn=0.2)
        bpy.ops.footlock.reset_footprint(leg=0, frame=float(self.span[0]))
        np.testing.assert_allclose(self.toes(self.armature), before, atol=1e-6)
        with self.assertRaisesRegex(RuntimeError, "No footprint was moved"):
            bpy.ops.footlock.reset_footprint(leg=0, frame=float(self.span[0]))

    def test_it_goes_with_its_contact(self):
        self.move(offset=(0.03, -0.02, 0.0))
        self.edit("SHIFT", leg=0, frame=float(self.span[0]), by=1)
        span = self.span[0] + 1, self.span[1] + 1
        one = footprints.of_contact(footprints.stored(self.armature), TOES[0], span)
        self.assertIsNotNone(one)
        toe = self.toe(0, span)
        np.testing.assert_allclose(toe, np.broadcast_to(toe[0], toe.shape), atol=1e-4)
        self.edit("FREE", leg=0, frame=float(span[0]))
        self.assertEqual(footprints.stored(self.armature), [])

    def test_what_a_leg_does_not_reach_is_refused(self):
        held = rigs.everything()
        for offset in ((0.0, 0.0, 5.0), (0.0, 0.0, -5.0)):
            with self.assertRaisesRegex(RuntimeError, "Left does not reach that far"):
                bpy.ops.footlock.move_footprint(leg=0, frame=float(self.span[0]), offset=offset)
            self.assertEqual(rigs.everything(), held)

    def test_they_go_with_their_contacts_and_are_said_to_stay(self):
        self.move(offset=(0.03, 0.0, 0.0))
        with rigs.reports() as said:
            bpy.ops.footlock.revert()
        self.assertIn("1 footprint stays where it was put.", said[0])
        at = footprints.stored(self.armature)[0].frame
        for planted in (True, False):
            values = np.ones((len(FRAMES), 2))
            values[:, 0] = planted
            legs = mapping.of(self.armature)
            contact_property.write(self.armature, legs, FRAMES, values, (at - 9.0, at + 9.0))
            with rigs.reports() as said:  # within the range only, so that it stays as it was about the footprint
                bpy.ops.footlock.detect_contacts(use_range=True, range_start=1, range_end=4, replace_edited=True)
            self.assertEqual("1 footprint stays where it was put." in said[0], planted)
            self.assertEqual(len(footprints.stored(self.armature)), int(planted))

    def test_the_armature_elsewhere(self):
        self.move(offset=(0.03, -0.02, 0.0))
        here = self.toe(0, self.span)
        self.armature.rotation_euler = (0.0, 0.0, 0.7)
        self.armature.location = (2.0, 1.0, 0.0)
        bpy.context.view_layer.update()
        self.run_removal()
        turned = np.array(self.armature.matrix_world)[:3, :3]
        there = self.toe(0, self.span)
        np.testing.assert_allclose(there, here @ turned.T + (2.0, 1.0, 0.0), atol=1e-4)

    def test_refusals(self):
        with self.assertRaisesRegex(RuntimeError, "No footprint is chosen"):
            bpy.ops.footlock.move_footprint(offset=(0.1, 0.0, 0.0))
        stored, now = footprints.stored(self.armature), rigs.everything()
        for odd in (np.nan, np.inf, -np.inf, 1e8):
            for axis in range(3):
                offset = np.where(np.arange(3) == axis, odd, 0.0)
                with self.assertRaisesRegex(RuntimeError, "moves by up to 1000 m|“Move .m.” is nan: give"):
                    bpy.ops.footlock.move_footprint(leg=0, frame=float(self.span[0]), offset=tuple(offset))
        for odd in (np.nan, np.inf):
            with self.assertRaisesRegex(RuntimeError, "turns by an angle|“Turn” is nan: give"):
                bpy.ops.footlock.move_footprint(leg=0, frame=float(self.span[0]), turn=odd)
        self.assertEqual((footprints.stored(self.armature), rigs.everything()), (stored, now))
        with self.assertRaisesRegex(RuntimeError, "has no contact in this frame"):
            bpy.ops.footlock.move_footprint(leg=0, frame=float(self.span[0] - 1), offset=(0.1, 0.0, 0.0))
        self.scene.footlock.method = "runtime"
        with self.assertRaisesRegex(RuntimeError, "holds feet where they land"):
            bpy.ops.footlock.move_footprint(leg=0, frame=float(self.span[0]), offset=(0.1, 0.0, 0.0))


if __name__ == "__main__":
    unittest.main()
