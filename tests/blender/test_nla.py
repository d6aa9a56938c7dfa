"""Actions in the NLA: tweaked strips, strips beside the action, and strips alone."""

import tempfile
import unittest
from pathlib import Path

import bpy
import numpy as np
from blender import rigs, test_bad_input
from blender.corrections import CorrectionCase
from blender.test_batch import run
from blender.test_panel import drawn

from footlock.operators import detect_contacts, fit_root, remove_sliding
from footlock.rig import clip as reading
from footlock.rig import compat, contact_property, mapping, results
from footlock.solvers.errors import FootlockError
from footlock.ui import panel

FRAMES = np.arange(1.0, 61.0)
refused = test_bad_input.Refused.refused
START, SCALE = 101.0, 2.0


def labelled(armature):
    """Contact curves by hand, one foot after the other; the labels."""
    labels = np.zeros((len(FRAMES), 2), bool)
    labels[6:18, 0] = labels[31:43, 0] = labels[19:30, 1] = labels[44:54, 1] = True
    contact_property.write(armature, mapping.of(armature), FRAMES, labels)
    return labels


def walker(**options):
    rigs.new_file()
    armature = rigs.biped(**options)
    rigs.walk(armature, FRAMES)
    return armature, labelled(armature)


def add_strip(armature, action, slot=None, start=1, scale=1.0, name="Strip"):
    """A strip of an action on a track of its own, on top."""
    track = armature.animation_data.nla_tracks.new()
    strip = track.strips.new(name, int(start), action)
    if compat.LAYERED:
        strip.action_slot = slot or action.slots[0]
    strip.scale = scale
    return strip


def push_down(armature, start=START, scale=SCALE):
    """The action in use as a strip alone."""
    data = armature.animation_data
    action, slot = data.action, getattr(data, "action_slot", None)
    data.action = None
    return add_strip(armature, action, slot, start, scale)


def tweak(armature):
    data = armature.animation_data
    track = data.nla_tracks[-1]
    data.nla_tracks.active = track
    track.strips[0].select = True
    data.use_tweak_mode = True
    assert data.action is not None


def mapped(frames):
    return START + SCALE * (np.asarray(frames) - 1.0)


class TweakMode(unittest.TestCase):
    def tweaked(self, **options):
        armature, labels = walker(**options)
        push_down(armature)
        tweak(armature)
        return armature, labels

    def test_clip_is_read_in_scene_time(self):
        armature, _ = self.tweaked()
        clip = reading.read(bpy.context.scene, armature, mapping.of(armature), 1.0)
        np.testing.assert_allclose(clip.frames, FRAMES)
        np.testing.assert_allclose(clip.scene_frames, mapped(FRAMES))
        self.assertAlmostEqual(clip.frame_rate, 12.0)
        toes = rigs.evaluated(armature, mapped(FRAMES), ["toe.L"])[0][:, 0]
        np.testing.assert_allclose(clip.head("toe.L"), toes, atol=1e-5)

    def test_stepped_frames_are_those_of_the_scene(self):
        """An object that is carried is read by stepping the scene."""
        armature, _ = self.tweaked()
        empty = bpy.data.objects.new("Carrier", None)
        bpy.context.scene.collection.objects.link(empty)
        armature.parent = empty
        rigs.key(empty, "location", np.stack([np.arange(300.0)] * 3, axis=1) * 0.01, np.arange(1.0, 301.0))
        clip = reading.read(bpy.context.scene, armature, mapping.of(armature), 1.0)
        toes = rigs.evaluated(armature, mapped(FRAMES), ["toe.L"])[0][:, 0]
        np.testing.assert_allclose(clip.head("toe.L"), toes, atol=1e-5)

    def test_slow_motion_is_half_as_fast(self):
        armature, _ = walker()
        legs = mapping.of(armature)
        speed = detect_contacts.detect(bpy.context.scene, armature, legs, unit=1.0).fit.feet_speed
        push_down(armature)
        tweak(armature)
        found = detect_contacts.detect(bpy.context.scene, armature, legs, unit=1.0)
        self.assertAlmostEqual(found.fit.feet_speed, speed / 2.0, delta=0.1 * speed)

    def test_sliding_is_removed_where_the_scene_plays_it(self):
        armature, labels = self.tweaked()
        held = rigs.dump(armature)
        legs = mapping.of(armature)
        done = remove_sliding.remove(bpy.context.scene, armature, legs, unit=1.0)
        self.assertGreater(done.before[0].mean, 1e-3)
        heads = rigs.evaluated(armature, mapped(FRAMES), ["toe.L", "toe.R"])[0]
        for i in range(2):
            planted = (labels[1:, i] & labels[:-1, i]) & ~(done.out_of_reach[1:, i] | done.out_of_reach[:-1, i])
            steps = np.linalg.norm(np.diff(heads[:, i], axis=0), axis=1)
            self.assertLess(steps[planted].max(), 5e-5)
        CorrectionCase.only_legs_and_carrier(self, armature, legs, held)
        after = rigs.dump(armature)
        for path, curve in rigs.curves(armature).items():
            np.testing.assert_allclose(rigs.values(curve)[0] % 1.0, 0.0, err_msg=str(path))
        self.assertTrue(any(after[path] != old for path, old in held.items()))

    def test_a_range_is_in_scene_frames(self):
        armature, _ = self.tweaked()
        before = rigs.evaluated(armature, mapped(FRAMES), ["toe.L"])[0][:, 0]
        first, last = int(mapped(32)), int(mapped(43))
        bpy.ops.footlock.remove_sliding(solve_range=True, solve_start=first, solve_end=last)
        after = rigs.evaluated(armature, mapped(FRAMES), ["toe.L"])[0][:, 0]
        moved = np.linalg.norm(after - before, axis=1) > 1e-5
        self.assertTrue(moved[31:43].any())
        self.assertFalse(moved[:31].any() or moved[43:].any())
        with self.assertRaisesRegex(RuntimeError, "goes from 101 to 219"):
            bpy.ops.footlock.remove_sliding(solve_range=True, solve_start=1, solve_end=60)

    def test_detect_and_fit_root_write_frames_of_the_action(self):
        armature, _ = self.tweaked()
        self.assertEqual(bpy.ops.footlock.detect_contacts(replace_edited=True), {"FINISHED"})
        curve = rigs.curves(armature)[('pose.bones["toe.L"]["contact"]', 0)]
        at = rigs.values(curve)[0]
        self.assertGreaterEqual(at.min(), 1.0)
        self.assertLessEqual(at.max(), 60.0)
        labelled(armature)
        done = fit_root.fit(bpy.context.scene, armature, mapping.of(armature), 1.0)
        self.assertLess(done.after[0].mean, done.before[0].mean)

    def test_strips_that_cannot_be_mapped(self):
        for name, value, pattern in (
            ("use_reverse", True, "plays backwards"),
            ("repeat", 2.0, "repeats"),
            ("blend_type", "ADD", "blended"),
            ("use_animated_influence", True, "blended"),
            ("blend_in", 5.0, "blended"),
        ):
            with self.subTest(name):
                armature, _ = walker()
                strip = push_down(armature)
                setattr(strip, name, value)
                tweak(armature)
                refused(self, pattern, [bpy.ops.footlock.remove_sliding, bpy.ops.footlock.fit_root])


class Beside(unittest.TestCase):
    """The action in use on top of strips."""

    def refused(self, pattern):
        refused(self, pattern, [bpy.ops.footlock.remove_sliding, bpy.ops.footlock.fit_root])

    def other(self, armature, path, width, value=0.3):
        """A strip below that moves a channel."""
        data = armature.animation_data
        action, slot = data.action, getattr(data, "action_slot", None)
        rigs.new_action(armature, "Other")
        rigs.key(armature, path, np.full((60, width), value) + np.arange(60.0)[:, None] * 0.002, FRAMES)
        other, its = data.action, getattr(data, "action_slot", None)
        data.action = action
        if compat.LAYERED:
            data.action_slot = slot
        return add_strip(armature, other, its, 1)

    def still(self, armature, labels):
        heads = rigs.evaluated(armature, FRAMES, ["toe.L"])[0][:, 0]
        planted = labels[1:, 0] & labels[:-1, 0]
        return np.linalg.norm(np.diff(heads, axis=0), axis=1)[planted].max()

    def test_strips_that_the_action_replaces(self):
        armature, labels = walker()
        add_strip(armature, armature.animation_data.action)
        self.assertEqual(bpy.ops.footlock.remove_sliding(), {"FINISHED"})
        self.assertLess(self.still(armature, labels), 5e-5)

    def test_strips_above_the_legs_are_seen(self):
        armature, labels = walker(root=True)
        path = armature.pose.bones["root"].path_from_id("location")
        self.other(armature, path, 3)
        self.assertEqual(bpy.ops.footlock.remove_sliding(), {"FINISHED"})
        self.assertLess(self.still(armature, labels), 5e-5)

    def test_strips_on_the_legs(self):
        armature, _ = walker()
        self.other(armature, armature.pose.bones["shin.L"].path_from_id("location"), 3)
        self.refused("NLA strips move .* Bake from NLA")
        armature.animation_data.nla_tracks[-1].mute = True
        self.assertEqual(bpy.ops.footlock.remove_sliding(), {"FINISHED"})

    def test_an_action_that_is_blended(self):
        armature, _ = walker()
        add_strip(armature, armature.animation_data.action)
        for name, value in (("action_blend_type", "ADD"), ("action_influence", 0.5)):
            with self.subTest(name):
                kept = getattr(armature.animation_data, name)
                setattr(armature.animation_data, name, value)
                self.refused("set it to Replace")
                setattr(armature.animation_data, name, kept)

    def test_a_solo_track(self):
        armature, _ = walker()
        add_strip(armature, armature.animation_data.action)
        armature.animation_data.nla_tracks[0].is_solo = True
        self.refused("solo")


class Bake(unittest.TestCase):
    """Strips alone become an action."""

    BONES = ("pelvis", "shin.L", "toe.L", "toe.R")

    def strips(self):
        """Two strips, the upper one added to the lower, moved and scaled, and nothing else."""
        armature, labels = walker()
        armature.pose.bones["thigh.R"]["switch"] = 0
        rigs.key(armature, 'pose.bones["thigh.R"]["switch"]', np.repeat([[0], [2]], 30, axis=0), FRAMES, 0)
        mode = compat.ensure_fcurve(armature, 'pose.bones["thigh.R"].rotation_mode', 0, "thigh.R")
        mode.keyframe_points.add(1)
        mode.keyframe_points.foreach_set("co", [1.0, 0.0])
        strip = push_down(armature, 11.0, 1.5)
        rigs.new_action(armature, "Above")
        path = armature.pose.bones["pelvis"].path_from_id("location")
        rigs.key(armature, path, np.linspace(0.0, 0.2, 60)[:, None] * np.ones(3), FRAMES)
        above = push_down(armature, 11.0, 1.0)
        above.blend_type = "ADD"
        bpy.context.view_layer.update()
        return armature, labels, np.arange(np.floor(strip.frame_start), np.ceil(strip.frame_end) + 1.0)

    def test_evaluated_result_is_baked(self):
        armature, _, frames = self.strips()
        before = rigs.evaluated(armature, frames, self.BONES)
        scene = bpy.context.scene
        scene.frame_set(17)
        held = {key: value for key, value in rigs.everything().items() if key[0] in ("curve", "groups")}
        with rigs.reports() as said:
            self.assertEqual(bpy.ops.footlock.bake_nla(), {"FINISHED"})
        self.assertIn("from frame 11 to 100", said[0])
        self.assertEqual(scene.frame_current, 17)
        self.assertTrue(all(track.mute for track in armature.animation_data.nla_tracks))
        np.testing.assert_allclose(rigs.evaluated(armature, frames, self.BONES), before, atol=1e-5)
        switch = rigs.curves(armature)['pose.bones["thigh.R"]["switch"]', 0]
        self.assertEqual(rigs.values(switch)[1].tolist(), [0.0, 2.0])
        mode = rigs.curves(armature)['pose.bones["thigh.R"].rotation_mode', 0]
        self.assertEqual([axis.tolist() for axis in rigs.values(mode)], [[11.0], [0.0]])
        self.assertEqual(len(rigs.values(rigs.curve_of(armature, "pelvis", "location"))[0]), 90)
        after = rigs.everything()
        self.assertEqual({key: after[key] for key in held}, held)
        self.assertEqual(bpy.ops.footlock.remove_sliding(), {"FINISHED"})
        self.assertFalse(bpy.ops.footlock.bake_nla.poll())

    def test_buttons_say_what_to_do(self):
        armature, *_ = self.strips()
        with self.assertRaisesRegex(RuntimeError, "poll.* failed|click Bake from NLA"):
            bpy.ops.footlock.detect_contacts()
        self.assertIn("footlock.bake_nla", drawn(panel.FOOTLOCK_PT_main).buttons)
        with self.assertRaisesRegex(FootlockError, "click Bake from NLA"):
            reading.read(bpy.context.scene, armature, mapping.of(armature))

    def test_undo(self):
        self.strips()
        bpy.ops.ed.undo_push(message="before")
        bpy.ops.footlock.bake_nla("EXEC_DEFAULT", True)
        bpy.ops.ed.undo()
        data = bpy.data.objects["Biped"].animation_data
        self.assertIsNone(data.action)
        self.assertFalse(any(track.mute for track in data.nla_tracks))

    def test_with_an_action_on_top(self):
        armature, *_ = self.strips()
        rigs.new_action(armature, "Top")
        rigs.key(armature, armature.pose.bones["shin.L"].path_from_id("scale"), np.ones((60, 3)) * 1.1, FRAMES)
        frames = np.arange(1.0, 101.0)
        before = rigs.evaluated(armature, frames, self.BONES)
        self.assertEqual(bpy.ops.footlock.bake_nla(), {"FINISHED"})
        np.testing.assert_allclose(rigs.evaluated(armature, frames, self.BONES), before, atol=1e-5)

    def test_in_the_batch(self):
        with tempfile.TemporaryDirectory() as folder:
            source, target = Path(folder) / "in.blend", Path(folder) / "out.blend"
            self.strips()
            bpy.ops.wm.save_as_mainfile(filepath=str(source))
            status, said = run(source, "-o", target)
            self.assertEqual(status, 1)
            self.assertIn("run with --bake-nla", said)
            status, said = run(source, "-o", target, "--bake-nla", "--result", "new")
            self.assertEqual(status, 0, said)
            bpy.ops.wm.open_mainfile(filepath=str(target), load_ui=False)
            action = bpy.data.objects["Biped"].animation_data.action
            self.assertEqual(results.original(action).name, "Biped baked")
