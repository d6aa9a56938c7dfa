"""The source of a correction in place: what another run begins with, and the way back."""

import unittest

import bpy
import numpy as np
from blender import rigs
from blender.test_actions import FRAMES
from blender.test_results import ResultCase

from footlock.rig import compat, curves, results, sources

# Bones whose heads tell where the legs are.
NAMED = ("toe.L", "toe.R", "shin.L", "shin.R")


def others(armature):
    """All curves but those of contacts, as plain data."""
    return {
        (curve.data_path, curve.array_index): rigs.dump_curve(curve)
        for curve in compat.fcurves(armature)
        if not curves.is_own(curve.data_path)
    }


class SourceCase(ResultCase):
    def setUp(self):
        super().setUp()
        self.armature = self.walker()
        self.before = others(self.armature)

    def remove(self, **options):
        self.assertEqual(bpy.ops.footlock.remove_sliding(**options), {"FINISHED"})
        return others(self.armature)


class Again(SourceCase):
    def test_a_second_run_is_the_first_again(self):
        first = self.remove()
        self.assertNotEqual(first, self.before)
        self.assertEqual(self.remove(), first)

    def test_a_run_with_other_settings_is_as_if_it_were_the_only_one(self):
        alone = self.remove(keep_path=1.0)
        bpy.ops.footlock.revert()
        self.remove(keep_path=0.0)
        self.assertEqual(self.remove(keep_path=1.0), alone)

    def test_contacts_are_those_of_now(self):
        self.remove()
        for curve in compat.fcurves(self.armature):
            if curves.is_own(curve.data_path):
                curves.write(curve, np.array([FRAMES[0]]), np.zeros(1), "CONSTANT")
        self.assertEqual(self.remove(), self.before)

    def test_an_edited_action_is_a_source_itself(self):
        self.remove()
        curve = rigs.curve_of(self.armature, "thigh.L", "rotation")
        curve.keyframe_points[5].co[1] += 0.05
        curve.update()
        edited = others(self.armature)
        self.assertIsNone(sources.unedited(self.armature))
        self.remove()
        bpy.ops.footlock.revert()
        self.assertEqual(others(self.armature), edited)

    def test_keys_of_other_bones_are_kept(self):
        self.remove()
        rigs.key(self.armature, 'pose.bones["arm.L"].location', np.ones((2, 3)), FRAMES[:2])
        self.assertIsNotNone(sources.unedited(self.armature))
        self.remove()
        bpy.ops.footlock.revert()
        now = others(self.armature)
        self.assertEqual({key: now[key] for key in self.before}, self.before)
        self.assertEqual(len(now), len(self.before) + 3)

    def test_a_range_goes_into_what_is_there(self):
        first = self.remove(keep_path=1.0)
        self.remove(solve_range=True, solve_start=20, solve_end=40)
        now = others(self.armature)
        self.assertEqual(now.keys(), first.keys())
        bpy.ops.footlock.revert()
        self.assertEqual(others(self.armature), self.before)

    def test_modifiers_that_were_baked_come_back(self):
        curve = rigs.curve_of(self.armature, "thigh.L", "rotation", 1)
        for kind, settings in (
            ("NOISE", {"strength": 0.02, "phase": 3.0}),
            ("ENVELOPE", {"reference_value": 0.5}),
            ("GENERATOR", {"use_additive": True, "poly_order": 2, "coefficients": (0.01, 0.0, 1e-6)}),
            ("LIMITS", {"use_max_y": True, "max_y": 0.9}),
        ):
            modifier = curve.modifiers.new(kind)
            for name, value in settings.items():
                setattr(modifier, name, value)
            if kind == "ENVELOPE":
                for frame in (5.0, 30.0):
                    modifier.control_points.add(frame)
                modifier.control_points.foreach_set("max", [0.4, 0.3])
        before = others(self.armature)
        played = curves.sample(curve, FRAMES)
        self.remove()
        bpy.ops.footlock.revert()
        self.assertEqual(others(self.armature), before)
        curve = rigs.curve_of(self.armature, "thigh.L", "rotation", 1)
        np.testing.assert_array_equal(curves.sample(curve, FRAMES), played)

    def test_contacts_are_detected_on_the_source(self):
        paths = {key: curve for key, curve in curves.by_path(self.armature).items() if curves.is_own(key[0])}
        bpy.ops.footlock.detect_contacts(replace_edited=True)
        found = {key: rigs.dump_curve(curve) for key, curve in paths.items()}
        for curve in paths.values():
            curves.write(curve, FRAMES[:1], np.ones(1), "CONSTANT")
        self.remove()  # with feet that are held all the time
        bpy.ops.footlock.detect_contacts(replace_edited=True)
        self.assertEqual({key: rigs.dump_curve(curve) for key, curve in paths.items()}, found)

    def test_a_layer_is_not_laid_over_a_correction(self):
        self.remove()
        now = rigs.everything()
        with self.assertRaisesRegex(RuntimeError, "is corrected already.*click Revert first"):
            self.remove(result="LAYER")
        self.assertEqual(rigs.everything(), now)
        bpy.ops.footlock.revert()
        self.remove(result="LAYER")
        self.assertIsNone(self.armature.animation_data.action)


class Renamed(SourceCase):
    """Bones get other names after the correction; Blender itself renames them in actions in use only."""

    NAMES = {"thigh.L": "MyThigh.L", "pelvis": 'Hips "2"', "toe.R": "Ball"}

    def rename(self):
        for old, new in self.NAMES.items():
            self.armature.data.bones[old].name = new

    def moved(self):
        """Heads (frames, bones, 3) of toes and knees, whatever they are called."""
        bones = self.armature.data.bones
        names = [name if name in bones else self.NAMES[name] for name in NAMED]
        return rigs.evaluated(self.armature, FRAMES, names)[0]

    def test_revert(self):
        before = self.moved()
        self.remove()
        self.rename()
        bpy.ops.footlock.revert()
        np.testing.assert_allclose(self.moved(), before, atol=1e-6)
        self.assertEqual(len(others(self.armature)), len(self.before))

    def test_compare_and_back(self):
        before = self.moved()
        self.remove()
        after = self.moved()
        self.rename()
        for _ in range(2):
            bpy.ops.footlock.compare()
            np.testing.assert_allclose(self.moved(), before, atol=1e-6)
            bpy.ops.footlock.compare()
            np.testing.assert_allclose(self.moved(), after, atol=1e-6)

    def test_while_the_source_is_shown(self):
        before = self.moved()
        self.remove()
        after = self.moved()
        bpy.ops.footlock.compare()
        self.rename()
        bpy.ops.footlock.compare()
        np.testing.assert_allclose(self.moved(), after, atol=1e-6)
        bpy.ops.footlock.revert()
        np.testing.assert_allclose(self.moved(), before, atol=1e-6)

    def test_another_run_begins_with_the_source(self):
        self.remove()
        source, after = sources.of(self.armature), self.moved()
        self.rename()
        for leg in self.armature.data.footlock.legs:
            for part in ("thigh", "toe"):
                setattr(leg, part, self.NAMES.get(getattr(leg, part), getattr(leg, part)))
        self.armature.data.footlock.pelvis = self.NAMES["pelvis"]
        self.remove()
        self.assertEqual(sources.of(self.armature), source)
        np.testing.assert_allclose(self.moved(), after, atol=1e-6)

    def test_left_and_right_are_swapped(self):
        """No name is gone then, and each is another bone's."""
        self.remove()
        after, source = self.moved(), sources.of(self.armature)
        bpy.ops.footlock.compare()
        before = self.moved()
        bpy.ops.footlock.compare()
        bpy.context.view_layer.objects.active = self.armature
        bpy.ops.object.mode_set(mode="EDIT")
        bpy.ops.armature.select_all(action="SELECT")
        bpy.ops.armature.flip_names()
        bpy.ops.object.mode_set(mode="OBJECT")

        def moved():
            return rigs.evaluated(self.armature, FRAMES, [bpy.utils.flip_name(name) for name in NAMED])[0]

        np.testing.assert_allclose(moved(), after, atol=1e-6)
        bpy.ops.footlock.compare()
        np.testing.assert_allclose(moved(), before, atol=1e-6)
        bpy.ops.footlock.compare()
        self.remove()
        self.assertEqual(sources.of(self.armature), source)
        self.assertGreater(np.abs(moved() - before).max(), 0.05)
        bpy.ops.footlock.revert()
        np.testing.assert_allclose(moved(), before, atol=1e-6)
        self.assertGreater(np.abs(after - before).max(), 0.05)

    def test_a_rest_pose_that_was_edited(self):
        """Bones that were moved at rest and kept their names are the same ones."""
        self.remove()
        source = sources.of(self.armature)
        bpy.context.view_layer.objects.active = self.armature
        bpy.ops.object.mode_set(mode="EDIT")
        for bone in self.armature.data.edit_bones:
            bone.head.z, bone.tail.z = 1.01 * bone.head.z, 1.01 * bone.tail.z
        bpy.ops.object.mode_set(mode="OBJECT")
        self.assertEqual(sources.unedited(self.armature), source)

    def test_bones_that_are_gone(self):
        self.remove()
        bpy.context.view_layer.objects.active = self.armature
        bpy.ops.object.mode_set(mode="EDIT")
        self.armature.data.edit_bones.remove(self.armature.data.edit_bones["toe.L"])
        bpy.ops.object.mode_set(mode="OBJECT")
        now = rigs.everything()
        for run in (bpy.ops.footlock.revert, bpy.ops.footlock.compare):
            with self.assertRaisesRegex(RuntimeError, "were removed or made anew since"):
                run()
        self.assertEqual(rigs.everything(), now)


class TweakMode(SourceCase):
    def test_the_source_stays(self):
        before = self.toes(self.armature)
        self.remove()
        source, data = sources.of(self.armature), self.armature.animation_data
        action = data.action
        data.action = None
        strip = data.nla_tracks.new().strips.new("Strip", 1, action)
        if compat.LAYERED:
            strip.action_slot = action.slots[0]
        data.nla_tracks.active = data.nla_tracks[0]
        strip.select = True
        data.use_tweak_mode = True
        self.assertEqual(bpy.ops.footlock.remove_sliding(), {"FINISHED"})
        self.assertEqual(sources.of(self.armature), source)
        data.use_tweak_mode = False
        data.nla_tracks.remove(data.nla_tracks[0])
        compat.assign(self.armature, action)
        bpy.ops.footlock.revert()
        np.testing.assert_allclose(self.toes(self.armature), before, atol=1e-6)


class WayBack(SourceCase):
    def test_revert_puts_the_keys_back(self):
        self.remove()
        self.assertEqual(bpy.ops.footlock.revert(), {"FINISHED"})
        self.assertEqual(others(self.armature), self.before)
        self.assertIsNone(sources.of(self.armature))
        self.assertEqual([action for action in bpy.data.actions if action.name.startswith(".")], [])
        with self.assertRaises(RuntimeError):
            bpy.ops.footlock.revert()

    def test_revert_after_the_file_was_opened_again(self):
        toes = self.toes(self.armature)
        self.remove()
        self.armature = self.reopened(self.armature.name)
        self.assertIsNotNone(sources.unedited(self.armature))
        bpy.ops.footlock.revert()
        self.assertEqual(others(self.armature), self.before)
        np.testing.assert_array_equal(self.toes(self.armature), toes)

    def test_the_source_goes_with_its_action(self):
        self.remove()
        action = self.armature.animation_data.action
        self.armature.animation_data.action = None
        bpy.data.actions.remove(action)
        self.armature = self.reopened(self.armature.name)
        self.assertEqual(len(bpy.data.actions), 0)

    def test_one_source_however_many_runs(self):
        for _ in range(3):
            self.remove()
        self.assertEqual(len([action for action in bpy.data.actions if action.name.startswith(".")]), 1)

    def test_a_refused_run_leaves_the_action_in_use(self):
        self.remove()
        now = rigs.everything()
        with self.assertRaises(RuntimeError):
            bpy.ops.footlock.remove_sliding(ground="OBJECT", ground_object="nothing of this name")
        with self.assertRaises(RuntimeError):
            bpy.ops.footlock.remove_sliding(cyclic=True, pin_first=True)
        self.assertEqual(rigs.everything(), now)

    def test_undo_takes_the_source_away(self):
        bpy.ops.ed.undo_push(message="before")
        bpy.ops.footlock.remove_sliding("EXEC_DEFAULT", True)
        bpy.ops.ed.undo()
        self.armature = bpy.context.object
        self.assertIsNone(sources.of(self.armature))
        self.assertEqual(others(self.armature), self.before)

    def test_scripts_keep_no_source_unasked(self):
        from footlock.operators import remove_sliding
        from footlock.rig import mapping

        remove_sliding.remove(bpy.context.scene, self.armature, mapping.of(self.armature))
        self.assertIsNone(sources.of(self.armature))

    def test_a_new_action_begins_with_its_original(self):
        first = self.remove(result="NEW", keep_path=1.0)
        self.remove(result="NEW", keep_path=0.0)
        self.assertEqual(self.remove(result="NEW", keep_path=1.0), first)
        self.assertIsNotNone(results.original(self.armature.animation_data.action))
        bpy.ops.footlock.revert()
        self.assertEqual(others(self.armature), self.before)


class Compare(SourceCase):
    def compare(self):
        self.assertEqual(bpy.ops.footlock.compare(), {"FINISHED"})

    def check(self, result):
        source = self.toes(self.armature)
        held = others(self.armature)
        self.remove(result=result) if result == "IN_PLACE" else self.assertEqual(
            bpy.ops.footlock.remove_sliding(result=result), {"FINISHED"}
        )
        corrected = self.toes(self.armature)
        self.assertGreater(np.abs(corrected - source).max(), 1e-3)
        for _ in range(2):
            self.compare()
            np.testing.assert_allclose(self.toes(self.armature), source, atol=1e-6)
            with self.assertRaisesRegex(RuntimeError, "The source is shown"):
                bpy.ops.footlock.detect_contacts()
            self.compare()
            np.testing.assert_allclose(self.toes(self.armature), corrected, atol=1e-6)
        bpy.ops.footlock.revert()
        self.assertEqual(others(self.armature), held)

    def test_in_place(self):
        self.check("IN_PLACE")

    def test_a_new_action(self):
        self.check("NEW")

    def test_a_layer(self):
        self.check("LAYER")

    def test_a_layer_that_shows_in_part(self):
        bpy.ops.footlock.remove_sliding(result="LAYER")
        self.armature.footlock_influence = 0.5
        self.compare()
        self.assertEqual(self.armature.footlock_influence, 0.0)
        self.compare()
        self.assertEqual(self.armature.footlock_influence, 0.5)

    def test_both_outlive_the_file(self):
        self.remove()
        corrected = self.toes(self.armature)
        self.compare()
        self.armature = self.reopened(self.armature.name)
        self.assertTrue(sources.shows_source(self.armature))
        self.compare()
        np.testing.assert_allclose(self.toes(self.armature), corrected, atol=1e-6)
        self.assertFalse(self.armature.animation_data.action.use_fake_user)
        self.assertEqual(self.armature.animation_data.action.users, 1)

    def test_undo(self):
        self.remove()
        bpy.ops.ed.undo_push(message="corrected")
        bpy.ops.footlock.compare("EXEC_DEFAULT", True)
        self.assertTrue(sources.shows_source(bpy.context.object))
        bpy.ops.ed.undo()
        self.assertFalse(sources.shows_source(bpy.context.object))

    def test_a_corrected_action_that_is_gone(self):
        self.remove()
        action = self.armature.animation_data.action
        self.compare()
        bpy.data.actions.remove(action)
        self.assertFalse(sources.shows_source(self.armature))
        with self.assertRaisesRegex(RuntimeError, "Nothing was corrected"):
            bpy.ops.footlock.compare()

    def test_another_action_ends_it(self):
        self.remove()
        corrected, data = self.armature.animation_data.action, self.armature.animation_data
        self.compare()
        mine = bpy.data.actions.new("Mine")
        data.action = mine
        self.assertFalse(sources.shows_source(self.armature))
        with self.assertRaisesRegex(RuntimeError, "Nothing was corrected"):
            bpy.ops.footlock.compare()
        self.assertEqual(data.action, mine)
        data.action = None
        with self.assertRaisesRegex(RuntimeError, "Nothing was corrected"):
            bpy.ops.footlock.compare()
        self.assertIsNone(data.action)
        self.assertTrue(corrected.use_fake_user)  # or it would be gone with the file
        compat.assign(self.armature, corrected)
        self.compare()
        self.compare()
        self.assertEqual(data.action, corrected)
        self.assertFalse(corrected.use_fake_user)

    def test_the_fake_user_is_what_it_was(self):
        bpy.ops.footlock.remove_sliding()
        action = self.armature.animation_data.action
        for two in (lambda: self.armature.copy(), None):
            for had in (True, False):
                action.use_fake_user = had
                if two:  # that share the action, and compare in any order
                    other = two()
                    bpy.context.scene.collection.objects.link(other)
                    for ob in (self.armature, other, self.armature, other):
                        bpy.context.view_layer.objects.active = ob
                        self.compare()
                else:  # or of which one is made from the other meanwhile
                    self.compare()
                    other = self.armature.copy()
                    bpy.context.scene.collection.objects.link(other)
                    for ob in (self.armature, other):
                        bpy.context.view_layer.objects.active = ob
                        self.compare()
                self.assertEqual(action.use_fake_user, had)
                self.assertEqual({ob.animation_data.action for ob in (self.armature, other)}, {action})
                bpy.data.objects.remove(other)
                bpy.context.view_layer.objects.active = self.armature

    def test_one_of_two_reverts(self):
        """Another one that shares the action shows the source meanwhile."""
        before = self.toes(self.armature)
        for had in (True, False):
            self.armature.animation_data.action.use_fake_user = had
            self.remove()
            action = self.armature.animation_data.action
            other = self.armature.copy()
            bpy.context.scene.collection.objects.link(other)
            bpy.context.view_layer.objects.active = other
            self.compare()
            bpy.context.view_layer.objects.active = self.armature
            bpy.ops.footlock.revert()
            self.assertEqual({ob.animation_data.action for ob in (self.armature, other)}, {action})
            self.assertFalse(sources.shows_source(other))
            self.assertEqual((action.use_fake_user, list(bpy.data.actions)), (had, [action]))
            np.testing.assert_allclose(self.toes(other), before, atol=1e-6)
            bpy.data.objects.remove(other)

    def test_nothing_to_compare(self):
        with self.assertRaisesRegex(RuntimeError, "Nothing was corrected"):
            bpy.ops.footlock.compare()


if __name__ == "__main__":
    unittest.main()
