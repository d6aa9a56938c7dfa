"""A correction in a copy or in a layer of its own: what the rig does then, and the way back, after save and reload."""

import tempfile
import unittest
from pathlib import Path

import bpy
import clips
import numpy as np
from blender import rigs, test_bad_input
from blender.test_actions import FRAMES, TOES, ActionCase
from blender.test_batch import run
from blender.test_panel import FIX, MAIN, RESULT, drawn

from footlock import operators
from footlock.operators import remove_sliding
from footlock.rig import clip as reading
from footlock.rig import compat, contact_property, correction, mapping, results, sources

HALVES = FRAMES[:-1] + 0.5
refused = test_bad_input.Refused.refused


class ResultCase(ActionCase):
    def toes(self, armature, frames=FRAMES):
        """Heads (frames, 2, 3) of the toes as the rig is evaluated, metres."""
        return rigs.evaluated(armature, frames, TOES)[0]

    def reopened(self, name="Biped"):
        """The armature of that name after the file was saved and opened again, made active."""
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder) / "saved.blend")
            bpy.ops.wm.save_as_mainfile(filepath=path)
            bpy.ops.wm.open_mainfile(filepath=path, load_ui=False)
        armature = bpy.data.objects[name]
        bpy.context.view_layer.objects.active = armature
        return armature

    def fitted(self, **options):
        """A walk whose root fits, so that the correction is of some centimetres."""
        rigs.new_file()
        armature = self.walker(**options)
        bpy.ops.footlock.fit_root()
        return armature

    def in_place(self, **options):
        """What the same correction gives in place: toes at whole frames and halfway."""
        armature = self.fitted(**options)
        self.run_removal()
        return self.toes(armature), self.toes(armature, HALVES)

    def slot(self, armature):
        slot = getattr(armature.animation_data, "action_slot", None)
        return slot and slot.identifier


class NewAction(ResultCase):
    def test_the_original_is_kept_and_comes_back_after_reload(self):
        wanted, between = self.in_place()
        armature = self.fitted()
        action, slot, source = armature.animation_data.action.name, self.slot(armature), self.toes(armature)
        held = rigs.dump(armature)
        said = self.run_removal(result="NEW")
        self.assertIn(f"“{action}” is kept as it was: Revert goes back to it.", said)
        self.assertNotEqual(armature.animation_data.action.name, action)
        self.assertEqual(self.slot(armature), slot)
        np.testing.assert_allclose(self.toes(armature), wanted, atol=1e-6)
        np.testing.assert_allclose(self.toes(armature, HALVES), between, atol=1e-6)

        armature = self.reopened()
        np.testing.assert_allclose(self.toes(armature), wanted, atol=1e-6)
        self.assertEqual(bpy.ops.footlock.revert(), {"FINISHED"})
        self.assertEqual(armature.animation_data.action.name, action)
        self.assertEqual(self.slot(armature), slot)
        self.assertFalse(armature.animation_data.action.use_fake_user)
        self.assertEqual(rigs.dump(armature), held)
        np.testing.assert_array_equal(self.toes(armature), source)
        self.assertFalse(bpy.ops.footlock.revert.poll())
        armature = self.reopened()
        np.testing.assert_array_equal(self.toes(armature), source)

    def test_work_on_the_copy_is_not_lost(self):
        for edited in (False, True):
            with self.subTest(edited=edited):
                rigs.new_file()
                armature = self.walker()
                self.run_removal(result="NEW")
                copy = armature.animation_data.action.name
                if edited:
                    rigs.curve_of(armature, "pelvis", "location").keyframe_points[5].co[1] += 0.1
                bpy.ops.footlock.revert()
                self.reopened()
                self.assertEqual(copy in bpy.data.actions, edited)

    def test_a_fake_user_stays_one(self):
        armature = self.walker()
        armature.animation_data.action.use_fake_user = True
        self.run_removal(result="NEW")
        bpy.ops.footlock.revert()
        self.assertTrue(armature.animation_data.action.use_fake_user)

    def test_a_second_run_goes_on_in_the_copy(self):
        armature = self.walker()
        action = armature.animation_data.action
        self.assertEqual(bpy.ops.footlock.fit_root(result="NEW"), {"FINISHED"})
        copy = armature.animation_data.action
        self.run_removal(result="NEW")
        self.assertEqual(armature.animation_data.action, copy)
        self.assertEqual(len(bpy.data.actions), 2)
        for side in "LR":
            self.assertLess(self.slides(armature, side), 5e-5)
        bpy.ops.footlock.revert()
        self.assertEqual(armature.animation_data.action, action)

    def test_undo(self):
        armature = self.walker()
        action = armature.animation_data.action.name
        for result in ("NEW", "LAYER"):
            with self.subTest(result):
                bpy.ops.ed.undo_push(message="before")
                bpy.ops.footlock.remove_sliding("EXEC_DEFAULT", True, result=result)
                bpy.ops.ed.undo()
                armature = bpy.data.objects["Biped"]
                self.assertEqual(armature.animation_data.action.name, action)
                self.assertEqual(len(armature.animation_data.nla_tracks), 0)

    def test_an_original_that_is_gone(self):
        armature = self.walker()
        action = armature.animation_data.action
        self.run_removal(result="NEW")
        bpy.data.actions.remove(action)
        with self.assertRaisesRegex(RuntimeError, "was not corrected by Footlock"):
            bpy.ops.footlock.revert()
        with self.assertRaisesRegex(remove_sliding.FootlockError, "is gone from this file"):
            results.revert(armature)

    def test_refused_in_tweak_mode(self):
        armature = self.walker()
        data = armature.animation_data
        action = data.action
        data.action = None
        strip = data.nla_tracks.new().strips.new("Strip", 1, action)
        if compat.LAYERED:
            strip.action_slot = action.slots[0]
        data.nla_tracks.active = data.nla_tracks[0]
        strip.select = True
        data.use_tweak_mode = True
        for result in ("NEW", "LAYER"):
            refused(self, "tweak mode", [lambda result=result: bpy.ops.footlock.remove_sliding(result=result)])


class Layer(ResultCase):
    def test_influence(self):
        """1 gives the corrected toes, 0 the source, and half of it half the way; it may be set after reload, too."""
        for mode in ("QUATERNION", *rigs.EULERS[:2]):
            with self.subTest(mode):
                wanted, between = self.in_place(mode=mode)
                armature = self.fitted(mode=mode)
                source, action = self.toes(armature), armature.animation_data.action.name
                before = {key: rigs.dump_curve(curve) for key, curve in rigs.curves(armature).items()}
                said = self.run_removal(result="LAYER")
                self.assertIn(f"a layer over “{action}”", said)
                self.assertIsNone(armature.animation_data.action)
                armature = self.reopened()
                _, strip = results.layer(armature)
                self.assertEqual(strip.influence, 1.0)
                self.assertLess(np.abs(self.toes(armature) - wanted).max(), 1e-4)
                self.assertLess(np.abs(self.toes(armature, HALVES) - between).max(), 1e-4)
                strip.influence = 0.0
                self.assertLess(np.abs(self.toes(armature) - source).max(), 1e-6)
                strip.influence = 0.5
                offset = wanted - source
                off = np.linalg.norm(self.toes(armature) - source - 0.5 * offset, axis=-1)
                way = np.linalg.norm(offset, axis=-1)
                self.assertGreater(way.max(), 0.05)
                self.assertLess((off - 0.05 * way).max(), 2e-3)
                self.assertEqual(bpy.ops.footlock.revert(), {"FINISHED"})
                self.assertEqual(len(armature.animation_data.nla_tracks), 0)
                self.assertEqual(armature.animation_data.action.name, action)
                self.assertEqual(rigs.dump(armature), before)
                np.testing.assert_array_equal(self.toes(armature), source)

    def test_on_a_mocap_clip(self):
        """Toes of the clip that ships, whose root is too fast, on its 995 frames."""
        bones = ("LeftToe", "RightToe")

        def toes():
            return rigs.evaluated(bpy.context.object, np.arange(1.0, 996.0), bones)[0]

        found = {}
        for result in ("IN_PLACE", "LAYER"):
            rigs.new_file()
            bpy.ops.import_anim.bvh(filepath=str(clips.WALK))
            armature, scene = bpy.context.object, bpy.context.scene
            legs = mapping.of(armature)
            correction.scale_travel(armature, reading.read(scene, armature, legs), 1.1)
            bpy.ops.footlock.detect_contacts()
            source = toes()
            bpy.ops.footlock.remove_sliding(result=result)
            found[result] = toes()
        unit = reading.read(scene, self.reverted(source, toes), legs).unit
        self.assertGreater(np.abs(found["IN_PLACE"] - source).max() * unit, 0.01)
        self.assertLess(np.abs(found["LAYER"] - found["IN_PLACE"]).max() * unit, 1e-4)

    def reverted(self, source, toes):
        """The armature, whose layer shows half its offset, then nothing, and then is gone."""
        armature = bpy.context.object
        layered = toes()
        armature.footlock_influence = 0.5
        way = np.linalg.norm(layered - source, axis=-1)
        off = np.linalg.norm(toes() - source - 0.5 * (layered - source), axis=-1)
        self.assertLess(off.max() / way.max(), 0.05)
        armature.footlock_influence = 0.0
        self.assertLess(np.abs(toes() - source).max() / way.max(), 1e-4)
        bpy.ops.footlock.revert()
        np.testing.assert_array_equal(toes(), source)
        return armature

    def test_after_a_fitted_root(self):
        """The layer has the root's part, too, and labels of the copy come back to the original."""
        rigs.new_file()
        armature = rigs.biped()
        rigs.walk(armature, FRAMES)
        source = self.toes(armature)
        legs = mapping.of(armature)
        bpy.ops.footlock.fit_root(result="LAYER")
        contact_property.write(armature, legs, FRAMES, self.labels())
        self.run_removal(result="LAYER")
        for side in "LR":
            self.assertLess(self.slides(armature, side), 1e-4)
        results.layer(armature)[1].influence = 0.0
        np.testing.assert_allclose(self.toes(armature), source, atol=1e-6)
        bpy.ops.footlock.revert()
        np.testing.assert_array_equal(contact_property.read(armature, legs, FRAMES), self.labels())

    def test_a_copy_that_was_edited_is_a_base_itself(self):
        """Nothing that a person did to the copy since is lost."""
        armature = self.walker()
        bpy.ops.footlock.fit_root(result="LAYER")
        copy = armature.animation_data.action
        rigs.key(armature, 'pose.bones["hand"].location', np.ones((2, 3)), [1.0, 9.0])
        held = rigs.dump(armature)
        self.run_removal(result="LAYER")
        self.assertEqual(results.original(results.subject(armature)), copy)
        bpy.ops.footlock.revert()
        self.assertEqual(rigs.dump(armature), held)

    def test_over_another_strip(self):
        """A strip that was there below stays there."""
        armature = self.walker(root=True)
        data = armature.animation_data
        action, slot = data.action, getattr(data, "action_slot", None)
        rigs.new_action(armature, "Below")
        rigs.key(armature, armature.pose.bones["root"].path_from_id("location"), np.full((60, 3), 0.4), FRAMES)
        strip = data.nla_tracks.new().strips.new("Below", 1, data.action)
        if compat.LAYERED:
            strip.action_slot = data.action_slot
        data.action = action
        if compat.LAYERED:
            data.action_slot = slot
        source = self.toes(armature)
        self.run_removal(result="LAYER")
        for side in "LR":
            self.assertLess(self.slides(armature, side), 1e-4)
        results.layer(armature)[1].influence = 0.0
        np.testing.assert_allclose(self.toes(armature), source, atol=1e-6)
        bpy.ops.footlock.revert()
        self.assertEqual([one.name for track in data.nla_tracks for one in track.strips], ["Below"])
        np.testing.assert_allclose(self.toes(armature), source, atol=1e-6)

    def test_the_base_is_not_corrected_again_under_it(self):
        armature = self.walker()
        self.run_removal(result="LAYER")
        data = armature.animation_data
        data.nla_tracks.active = data.nla_tracks[0]
        data.nla_tracks[0].strips[0].select = True
        data.use_tweak_mode = True
        self.assertIsNotNone(data.action)
        refused(self, "NLA strips move “Biped” too", [bpy.ops.footlock.remove_sliding])
        with self.assertRaisesRegex(remove_sliding.FootlockError, "leave tweak mode"):
            results.revert(armature)

    def test_cycles_go_on(self):
        armature = self.walker()
        for curve in rigs.curves(armature).values():
            curve.modifiers.new("CYCLES")
        bpy.context.scene.frame_end = 250
        self.run_removal(result="LAYER")
        there = self.toes(armature, FRAMES[5:15])
        np.testing.assert_allclose(self.toes(armature, FRAMES[5:15] + 59.0), there, atol=1e-5)

    def test_axes_and_angles_are_refused(self):
        self.walker(mode="AXIS_ANGLE")
        refused(self, "turns by axis and angle", [lambda: bpy.ops.footlock.remove_sliding(result="LAYER")])

    def test_a_pose_without_keys(self):
        armature = self.walker()
        channels = rigs.curves(armature)
        compat.remove_fcurve(armature, armature.pose.bones["pelvis"].path_from_id("location"), 0)
        self.assertTrue(channels)
        armature.pose.bones["pelvis"].location[0] = 0.2
        refused(self, "posed without keys", [lambda: bpy.ops.footlock.remove_sliding(result="LAYER")])

    def test_buttons_say_what_to_do(self):
        armature = self.walker()
        self.run_removal(result="LAYER")
        with self.assertRaisesRegex(RuntimeError, "poll.* failed|click Revert first"):
            bpy.ops.footlock.remove_sliding()
        self.assertIsNotNone(results.layer(armature))
        armature.animation_data.nla_tracks[-1].mute = True
        for button in (bpy.ops.footlock.remove_sliding, bpy.ops.footlock.compare, bpy.ops.footlock.revert):
            with self.assertRaisesRegex(RuntimeError, "poll.* failed|unmute its track"):
                button()

    def test_an_influence_with_keys_is_not_set(self):
        armature = self.walker()
        self.run_removal(result="LAYER")
        strip = results.layer(armature)[1]
        bpy.ops.footlock.compare()
        bpy.ops.footlock.compare()
        strip.keyframe_insert("influence", frame=1)
        before = rigs.everything()
        refused(self, "influence of the correction layer is animated", [bpy.ops.footlock.compare])
        self.assertEqual(rigs.everything(), before)
        bpy.ops.footlock.revert()
        self.assertFalse(sources.shows_source(armature))


class InThePanel(ResultCase):
    def main(self):
        return drawn(MAIN)

    def test_the_way_back_is_there_when_there_is_one(self):
        self.walker()
        self.assertNotIn("footlock.revert", self.main().buttons)
        for result, slider in (("NEW", False), ("LAYER", True)):
            with self.subTest(result):
                self.run_removal(result=result)
                self.assertIn("footlock.revert", self.main().buttons)
                self.assertEqual("Influence" in self.main().said, slider)
                self.assertNotIn("footlock.bake_nla", self.main().buttons)
                self.assertIsNotNone(drawn(RESULT))
                bpy.ops.footlock.revert()
                self.assertNotIn("footlock.revert", self.main().buttons)
                self.assertIsNone(drawn(RESULT))

    def test_the_slider_shows_at_once(self):
        armature = self.walker()
        source = self.toes(armature)[14, 0]
        self.run_removal(result="LAYER")
        wanted = self.toes(armature)[14, 0]
        rigs.set_frame(self.scene, FRAMES[14])
        for value, place in ((0.0, source), (1.0, wanted)):
            armature.footlock_influence = value
            bpy.context.view_layer.update()
            self.assertEqual(armature.footlock_influence, value)
            np.testing.assert_allclose(armature.matrix_world @ armature.pose.bones["toe.L"].head, place, atol=1e-6)
        self.assertGreater(np.linalg.norm(wanted - source), 0.01)

    def test_the_buttons_pass_the_result_that_is_set(self):
        self.walker()
        bpy.context.scene.footlock.result = "LAYER"
        for name, shown in (("fit_root", FIX), ("remove_sliding", MAIN)):
            self.assertEqual(drawn(shown).buttons[f"footlock.{name}"][0].result, "LAYER")
        self.assertIn("Result", drawn(FIX).said)


class Shared(ResultCase):
    def two(self):
        """Two characters that share an action and, where there are any, its slot."""
        armature = self.walker()
        other = armature.copy()
        other.name = "Other"
        bpy.context.scene.collection.objects.link(other)
        bpy.context.view_layer.update()
        self.assertEqual(other.animation_data.action, armature.animation_data.action)
        return armature, other

    def test_in_place_says_so(self):
        armature, other = self.two()
        self.assertIn("2 characters share this action: both change.", self.run_removal())
        np.testing.assert_allclose(self.toes(other), self.toes(armature), atol=1e-6)

    def test_a_copy_changes_ours_alone(self):
        for result in ("NEW", "LAYER"):
            with self.subTest(result):
                rigs.new_file()
                armature, other = self.two()
                held, source = rigs.dump(other), self.toes(other)
                self.assertNotIn("share", self.run_removal(result=result))
                self.assertEqual(rigs.dump(other), held)
                np.testing.assert_array_equal(self.toes(other), source)
                for side in "LR":
                    self.assertLess(self.slides(armature, side), 1e-4)

    def test_a_copy_that_is_shared_is_copied_again(self):
        armature = self.walker()
        self.run_removal(result="NEW")
        other = armature.copy()
        bpy.context.scene.collection.objects.link(other)
        bpy.context.view_layer.update()
        base, source = results.original(armature.animation_data.action), self.toes(other)
        self.run_removal(result="NEW", keep_path=1.0)
        np.testing.assert_array_equal(self.toes(other), source)
        self.assertNotEqual(armature.animation_data.action, other.animation_data.action)
        self.assertEqual(results.original(armature.animation_data.action), base)
        for side in "LR":
            self.assertLess(self.slides(armature, side), 1e-4)
        mine = self.toes(armature)
        self.run_removal(result="NEW", keep_path=1.0)  # it is nobody else's now
        self.assertEqual(len(bpy.data.actions), 3)
        np.testing.assert_allclose(self.toes(armature), mine, atol=1e-5)

    @unittest.skipUnless(compat.LAYERED, "actions have no slots here")
    def test_the_slot_in_use_and_no_other(self):
        armature = self.walker()
        action = armature.animation_data.action
        other = rigs.biped("Other")
        other.animation_data_create().action = action
        other.animation_data.action_slot = action.slots.new(id_type="OBJECT", name="Other")
        rigs.walk(other, FRAMES, speed=0.5)
        bpy.context.view_layer.objects.active = armature
        held, source = rigs.dump(other), self.toes(other)
        for result in ("LAYER", "NEW", "IN_PLACE"):
            with self.subTest(result):
                self.assertNotIn("share", self.run_removal(result=result))
                self.assertEqual(rigs.dump(other), held)
                np.testing.assert_array_equal(self.toes(other), source)
                for side in "LR":
                    self.assertLess(self.slides(armature, side), 1e-4)
                if result != "IN_PLACE":
                    bpy.ops.footlock.revert()
                    self.assertEqual(armature.animation_data.action, action)
                    self.assertEqual(self.slot(armature), "OBBiped")


class OfAnotherFile(ResultCase):
    """Characters that are linked, with and without a library override."""

    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.library = str(Path(folder.name) / "library.blend")
        rigs.biped()
        rigs.walk(bpy.context.object, FRAMES)
        bpy.ops.wm.save_as_mainfile(filepath=self.library)

    def linked(self, override=None):
        """The character, linked into a new file; ``override``: "object", or with its data, "hierarchy"."""
        rigs.new_file()
        with bpy.data.libraries.load(self.library, link=True) as (_, wanted):
            wanted.objects = ["Biped"]
        armature = wanted.objects[0]
        bpy.context.scene.collection.objects.link(armature)
        if override == "object":
            armature = armature.override_create(remap_local_usages=True)
        elif override:
            armature = armature.override_hierarchy_create(bpy.context.scene, bpy.context.view_layer)
        if override == "hierarchy" and armature.data.library is not None:
            armature.data.override_create(remap_local_usages=True)
        bpy.context.view_layer.objects.active = armature
        bpy.context.view_layer.update()
        return armature

    def test_linked_is_refused(self):
        self.linked()
        with self.assertRaisesRegex(RuntimeError, "poll.* failed|make a library override"):
            bpy.ops.footlock.detect_contacts()

    def test_a_linked_action_is_refused_or_copied(self):
        armature = self.linked("object")
        pattern = "linked from another file .* click Copy Action"
        refused(self, pattern, [bpy.ops.footlock.detect_contacts, bpy.ops.footlock.fit_root])
        self.assertIn("footlock.copy_action", drawn(MAIN).buttons)
        source = self.toes(armature)
        linked = armature.animation_data.action
        self.assertEqual(bpy.ops.footlock.copy_action(), {"FINISHED"})
        self.assertIsNone(armature.animation_data.action.library)
        np.testing.assert_array_equal(self.toes(armature), source)
        bpy.ops.footlock.revert()
        self.assertEqual(armature.animation_data.action, linked)

    def test_nothing_is_written_into_a_linked_action(self):
        """Whatever is written there is lost with the file: each operator refuses, or leaves it alone."""
        written = {
            *("edit_contact", "move_footprint", "reset_footprint", "contacts_to_markers", "markers_to_contacts"),
            *("import_contacts", "detect_contacts", "fit_root", "remove_sliding", "bake_live", "update_report"),
        }
        file = self.library + ".file"
        given = {
            "move_footprint": {"leg": 0, "frame": 8.0, "offset": (0.05, 0.0, 0.0)},
            "edit_contact": {"leg": 0, "frame": 8.0, "edit": "FREE"},
            "reset_footprint": {"leg": 0, "frame": 8.0},
            "detect_contacts": {"replace_edited": True},
            "export_contacts": {"filepath": file},
            "import_contacts": {"filepath": file},
        }
        for corrected in (False, True):
            self.fitted()
            bpy.ops.footlock.move_footprint(leg=0, frame=8.0, offset=(0.02, 0.0, 0.0))
            bpy.ops.footlock.contacts_to_markers()
            bpy.ops.footlock.export_contacts(filepath=file)
            if corrected:
                self.run_removal()
                written.add("revert")
            bpy.ops.wm.save_as_mainfile(filepath=self.library)
            for override in ("object", "hierarchy"):
                armature = self.linked(override)
                action, before = armature.animation_data.action, self.held()
                self.assertIsNotNone(action.library)
                for cls in operators.classes:
                    name = cls.bl_idname.partition(".")[2]
                    if name in ("copy_action", "compare", "live_lock", "bake_nla"):
                        continue  # these only choose what is played
                    with self.subTest(name, corrected=corrected, override=override):
                        pattern = "linked from another file" if name in written else r"poll\(\)|Error: "
                        try:
                            getattr(bpy.ops.footlock, name)(**given.get(name, {}))
                            self.assertNotIn(name, written)
                        except RuntimeError as error:
                            self.assertRegex(str(error), pattern)
                            self.assertNotIn("Traceback", str(error))
                        self.assertEqual(self.held(), before)
                        self.assertEqual(armature.animation_data.action, action)

    def held(self):
        """All that the linked actions of the file hold."""

        def plain(value):
            return value.to_dict() if hasattr(value, "to_dict") else getattr(value, "name", value)

        return {
            action.name: (
                [rigs.dump_curve(curve) for curve in compat.all_fcurves(action)],
                [(marker.name, marker.frame) for marker in action.pose_markers],
                {name: repr(plain(value)) for name, value in action.items()},
                action.footlock_said,
                len(action.footlock_report),
            )
            for action in bpy.data.actions
            if action.library is not None
        }

    def test_everything_survives_save_and_reload(self):
        for override in ("object", "hierarchy"):
            with self.subTest(override):
                armature = self.linked(override)
                self.assertIsNotNone(armature.override_library)
                self.assertEqual(override == "hierarchy", armature.data.library is None)
                bpy.ops.footlock.copy_action()
                bpy.ops.footlock.map_legs(left="thigh.L|shin.L|foot.L", right="thigh.R|shin.R|foot.R|toe.R")
                self.assertEqual(bpy.ops.footlock.detect_contacts(), {"FINISHED"})
                legs = mapping.of(armature)
                self.assertEqual(legs.legs[0].toe, "")
                contact_property.write(armature, legs, FRAMES, self.labels())
                armature = self.reopened(armature.name)
                self.assertEqual(mapping.of(armature), legs)
                np.testing.assert_array_equal(contact_property.read(armature, legs, FRAMES), self.labels())
                bpy.ops.footlock.map_legs()
                contact_property.write(armature, mapping.of(armature), FRAMES, self.labels())
                self.run_removal()
                wanted = self.toes(armature)
                armature = self.reopened(armature.name)
                np.testing.assert_array_equal(self.toes(armature), wanted)
                for side in "LR":
                    self.assertLess(self.slides(armature, side), 5e-5)

    def test_a_layer_survives_save_and_reload(self):
        armature = self.linked("object")
        source = self.toes(armature)
        bpy.ops.footlock.copy_action()
        contact_property.write(armature, mapping.of(armature), FRAMES, self.labels())
        self.run_removal(result="LAYER")
        armature = self.reopened(armature.name)
        for side in "LR":
            self.assertLess(self.slides(armature, side), 1e-4)
        bpy.ops.footlock.revert()
        np.testing.assert_array_equal(contact_property.read(armature, mapping.of(armature), FRAMES), self.labels())
        bpy.ops.footlock.revert()
        np.testing.assert_array_equal(self.toes(armature), source)

    def test_lists_that_cannot_be_edited(self):
        self.linked("object")
        refused(self, "list of its legs cannot be edited", [bpy.ops.footlock.add_leg])
        refused(self, "assign an action of this file", [bpy.ops.footlock.map_legs])


class InTheBatch(ResultCase):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.source, self.target = (Path(folder.name) / name for name in ("in.blend", "out.blend"))

    def batch(self, *options):
        """The armatures by name of the file that comes out, and what was said."""
        bpy.ops.wm.save_as_mainfile(filepath=str(self.source))
        status, said = run(self.source, "-o", self.target, *options)
        self.assertEqual(status, 0, said)
        bpy.ops.wm.open_mainfile(filepath=str(self.target), load_ui=False)
        return bpy.data.objects, said

    def test_each_result(self):
        for result, fits in (("new", False), ("layer", False), ("layer", True)):
            with self.subTest(result, fit=fits):
                rigs.new_file()
                armature = self.walker()
                source = self.toes(armature)
                objects, _ = self.batch("--result", result, "--markers", *(["--fit-root"] if fits else []))
                armature = objects["Biped"]
                for side in "LR":
                    self.assertLess(self.slides(armature, side), 1e-4)
                self.assertEqual(results.layer(armature) is not None, result == "layer")
                original = results.original(results.subject(armature))
                self.assertEqual(bool(original.pose_markers), result == "layer")
                results.revert(armature)
                np.testing.assert_array_equal(self.toes(armature), source)

    def test_a_copy_for_each_of_two_that_share(self):
        armature = self.walker()
        other = armature.copy()
        other.name = "Other"
        bpy.context.scene.collection.objects.link(other)
        objects, _ = self.batch("--result", "new")
        actions = {objects[name].animation_data.action for name in ("Biped", "Other")}
        self.assertEqual(len(actions), 2)
        for name in ("Biped", "Other"):
            for side in "LR":
                self.assertLess(self.slides(objects[name], side), 5e-5)

    def test_what_is_left_or_shared_is_said(self):
        armature = self.walker()
        rigs.curve_of(armature, "shin.R", "rotation_quaternion", 0).lock = True
        other = armature.copy()
        bpy.context.scene.collection.objects.link(other)
        said = self.batch()[1]
        self.assertIn("Left as they are: Right (“shin.R” is locked). 2 characters share this action", said)

    def test_not_for_bvh(self):
        for options in (("--result", "new"), ("--bake-nla",)):
            status, said = run("walk.bvh", "-o", self.target.with_suffix(".bvh"), *options)
            self.assertEqual(status, 2)
            self.assertIn("are for .blend files", said)
