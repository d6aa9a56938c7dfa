"""Actions as animators have them: curves that are locked, muted, of nothing or with modifiers, and shared actions."""

import bpy
import numpy as np
from blender import rigs
from blender.corrections import neighbours
from blender.test_removal import RemoveCase

from footlock.operators import remove_sliding
from footlock.rig import compat, contact_property, mapping
from footlock.solvers import foot_skate

FRAMES = np.arange(1.0, 61.0)
TOES = ("toe.L", "toe.R")


class ActionCase(RemoveCase):
    def walker(self, frames=FRAMES, **options):
        """A walk with contact curves, and its labels."""
        armature = rigs.biped(**{name: options.pop(name) for name in ("root",) if name in options})
        rigs.walk(armature, frames, **options)
        contact_property.write(armature, mapping.of(armature), FRAMES, self.labels())
        return armature

    def run_removal(self, **options):
        """What the operator said."""
        with rigs.reports() as said:
            self.assertEqual(bpy.ops.footlock.remove_sliding(**options), {"FINISHED"})
        return said[0]

    def slides(self, armature, side):
        """Largest step of a planted toe as the rig is evaluated, metres."""
        i = "LR".index(side)
        heads = rigs.evaluated(armature, FRAMES, [TOES[i]])[0][:, 0]
        planted = self.labels()[1:, i] & self.labels()[:-1, i]
        return float(np.linalg.norm(np.diff(heads, axis=0), axis=1)[planted].max())

    def changed(self, armature, held):
        """Paths of the curves that changed."""
        after = rigs.dump(armature)
        return {path for path, _ in after.keys() - held.keys()} | {
            key[0] for key, old in held.items() if after[key] != old
        }


def of(armature, *names):
    return {rigs.rotation_path(armature.pose.bones[name]) for name in names}


class Held(ActionCase):
    def test_a_leg_with_a_locked_curve_stays(self):
        armature = self.walker()
        rigs.curve_of(armature, "shin.R", "rotation_quaternion", 1).lock = True
        held = rigs.dump(armature)
        said = self.run_removal()
        self.assertIn("Left as they are: Right (“shin.R” is locked)", said)
        location = armature.pose.bones["pelvis"].path_from_id("location")
        self.assertEqual(
            self.changed(armature, held) - {location}, of(armature, "thigh.L", "shin.L", "foot.L", "toe.L")
        )
        self.assertLess(self.slides(armature, "L"), 5e-5)
        self.assertGreater(self.slides(armature, "R"), 1e-3)

    def test_a_locked_group(self):
        armature = self.walker()
        rigs.curve_of(armature, "thigh.L", "rotation_quaternion", 0).group.lock = True
        held = rigs.dump(armature)
        self.assertIn("Left (“thigh.L” is locked)", self.run_removal())
        self.assertFalse(self.changed(armature, held) & of(armature, "thigh.L", "shin.L", "foot.L", "toe.L"))
        self.assertLess(self.slides(armature, "R"), 5e-5)

    def test_a_locked_toe_bone_alone_stays(self):
        armature = self.walker()
        rigs.curve_of(armature, "toe.L", "rotation_quaternion", 0).lock = True
        held = rigs.dump(armature)
        self.assertIn("“toe.L” (locked)", self.run_removal())
        self.assertFalse(self.changed(armature, held) & of(armature, "toe.L"))
        for side in "LR":
            self.assertLess(self.slides(armature, side), 5e-5)

    def test_a_locked_pelvis_leaves_it_to_the_legs(self):
        for mute in (False, True):
            with self.subTest(mute=mute):
                rigs.new_file()
                armature = self.walker(speed=0.3)
                curve = rigs.curve_of(armature, "pelvis", "location", 0)
                curve.mute, curve.lock = mute, not mute
                held = rigs.dump(armature)
                before = rigs.evaluated(armature, FRAMES, ["pelvis"])[0]
                said = self.run_removal()
                self.assertIn(f"the location of “pelvis” ({'muted' if mute else 'locked'})", said)
                self.assertNotIn(armature.pose.bones["pelvis"].path_from_id("location"), self.changed(armature, held))
                np.testing.assert_array_equal(rigs.evaluated(armature, FRAMES, ["pelvis"])[0], before)
                if "out of reach" not in said:
                    for side in "LR":
                        self.assertLess(self.slides(armature, side), 5e-5)

    def test_a_locked_foot_moves_with_the_shin(self):
        """Planted while the knee is bent most, for with a stiff foot the leg is soon too short."""
        labels = np.zeros((60, 2), bool)
        labels[20:31, 0] = labels[8:18, 1] = labels[33:43, 1] = True
        for options in ({}, {"hold_heading": True, "stretch": 0.02}):
            with self.subTest(**options):
                rigs.new_file()
                armature = self.walker()
                contact_property.write(armature, mapping.of(armature), FRAMES, labels)
                bpy.ops.footlock.fit_root()
                rigs.curve_of(armature, "foot.R", "rotation_quaternion", 3).lock = True
                held = rigs.dump(armature)
                settings = foot_skate.Settings(**options)
                done = remove_sliding.remove(self.scene, armature, mapping.of(armature), settings, unit=1.0)
                self.assertIn("Left as they are: “foot.R” (locked)", done.notes)
                self.assertFalse(self.changed(armature, held) & of(armature, "foot.R", "toe.R"))
                self.assertFalse(done.out_of_reach.any())
                self.assertGreater(min(slide.mean for slide in done.before), 2e-3)
                toes = rigs.evaluated(armature, FRAMES, TOES)[0]
                steps = np.linalg.norm(np.diff(toes, axis=0), axis=-1)
                self.assertLess(steps[labels[1:] & labels[:-1]].max(), 5e-5)

    def test_a_muted_curve_keeps_its_channel(self):
        armature = self.walker()
        rigs.curve_of(armature, "shin.L", "rotation_quaternion", 2).mute = True
        held = rigs.dump(armature)
        self.assertIn("Left (“shin.L” is muted)", self.run_removal())
        self.assertFalse(self.changed(armature, held) & of(armature, "thigh.L", "shin.L", "foot.L", "toe.L"))
        self.assertLess(self.slides(armature, "R"), 5e-5)

    def test_locked_transforms_are_no_locked_curves(self):
        armature = self.walker()
        for name in ("shin.L", "shin.R"):
            armature.pose.bones[name].lock_rotation = (False, True, True)
        self.assertNotIn("Left as they are", self.run_removal())
        for side in "LR":
            self.assertLess(self.slides(armature, side), 5e-5)


class Odd(ActionCase):
    def test_curves_of_nothing_stay(self):
        """A bone that is gone, a property that is gone, an index that is none; none makes the clip longer."""
        armature = self.walker()
        paths = (('pose.bones["gone"].location', 0), ('pose.bones["toe.L"]["gone"]', 0))
        for path, index in paths:
            curve = compat.ensure_fcurve(armature, path, index, "Gone")
            curve.keyframe_points.add(2)
            curve.keyframe_points.foreach_set("co", [1.0, 0.0, 900.0, 5.0])
            curve.update()
        held = rigs.dump(armature)
        done = remove_sliding.remove(self.scene, armature, mapping.of(armature), unit=1.0)
        self.assertEqual(len(done.clip.frames), 60)
        self.assertFalse(self.changed(armature, held) & {path for path, _ in paths})
        for side in "LR":
            self.assertLess(self.slides(armature, side), 5e-5)

    def test_noise_is_baked(self):
        armature = self.walker()
        for bone, channel, index in (("pelvis", "location", 0), ("shin.L", "rotation_quaternion", 1)):
            modifier = rigs.curve_of(armature, bone, channel, index).modifiers.new("NOISE")
            modifier.strength, modifier.scale = 0.05, 10.0
        head = rigs.curve_of(armature, "pelvis", "rotation_quaternion", 0)
        head.modifiers.new("NOISE").strength = 0.01
        held = rigs.dump_curve(head)
        before = rigs.evaluated(armature, FRAMES, ["pelvis", "toe.L"])[0]
        said = self.run_removal()
        self.assertIn("were baked into keys", said)
        self.assertIn("pelvis", said)
        self.assertEqual(rigs.dump_curve(rigs.curve_of(armature, "pelvis", "rotation_quaternion", 0)), held)
        self.assertEqual(len(rigs.curve_of(armature, "shin.L", "rotation_quaternion", 1).modifiers), 0)
        for side in "LR":
            self.assertLess(self.slides(armature, side), 5e-5)
        moved = rigs.evaluated(armature, FRAMES, ["pelvis", "toe.L"])[0] - before
        rigs.new_file()
        armature = self.walker()
        before = rigs.evaluated(armature, FRAMES, ["pelvis", "toe.L"])[0]
        self.run_removal()
        clean = rigs.evaluated(armature, FRAMES, ["pelvis", "toe.L"])[0] - before
        self.assertLess(np.abs(moved - clean).max(), 0.1)

    def test_noise_is_baked_in_a_range_without_changing_what_is_outside(self):
        armature = self.walker()
        modifier = rigs.curve_of(armature, "pelvis", "location", 0).modifiers.new("NOISE")
        modifier.strength, modifier.scale = 0.05, 10.0
        before = rigs.evaluated(armature, FRAMES, ["pelvis", "toe.L"])[0]
        self.run_removal(solve_range=True, solve_start=20, solve_end=45)
        after = rigs.evaluated(armature, FRAMES, ["pelvis", "toe.L"])[0]
        outside = (FRAMES < 20) | (FRAMES > 45)
        np.testing.assert_allclose(after[outside], before[outside], atol=1e-5)
        self.assertGreater(np.abs(after - before).max(), 1e-3)

    def test_cycles_go_on(self):
        armature = self.walker()
        for curve in rigs.curves(armature).values():
            curve.modifiers.new("CYCLES")
        self.assertNotIn("baked", self.run_removal())
        for curve in rigs.curves(armature).values():
            self.assertEqual([one.type for one in curve.modifiers], ["CYCLES"])
        there = rigs.evaluated(armature, FRAMES[5:15], ["toe.L"])[0]
        np.testing.assert_allclose(rigs.evaluated(armature, FRAMES[5:15] + 59.0, ["toe.L"])[0], there, atol=1e-5)

    def test_keys_on_every_third_frame(self):
        at = np.arange(1.0, 62.0, 3.0)
        for mode in ("QUATERNION", "XYZ"):
            with self.subTest(mode):
                rigs.new_file()
                armature = self.walker(at, mode=mode)
                held = rigs.dump(armature)
                self.run_removal()
                self.only_legs_and_carrier(armature, mapping.of(armature), held)
                for side in "LR":
                    self.assertLess(self.slides(armature, side), 5e-5)

    def test_nothing_jumps_through_a_quarter_turn_and_two_full_ones(self):
        """The thigh sweeps through 90 degrees of its middle axis, and the pelvis turns twice."""
        for mode in ("QUATERNION", "XYZ", "ZXY"):
            with self.subTest(mode):
                rigs.new_file()
                armature = self.walker(mode=mode)
                turn = np.linspace(0.0, 4.0 * np.pi, 60)
                path = rigs.rotation_path(armature.pose.bones["pelvis"])
                if mode == "QUATERNION":
                    rows = np.stack([np.cos(turn / 2.0), 0.0 * turn, np.sin(turn / 2.0), 0.0 * turn], axis=1)
                else:
                    rows = np.zeros((60, 3))
                    rows[:, 1] = turn
                    thigh = np.zeros((60, 3))
                    thigh[:, "XYZ".index(mode[1])] = np.linspace(0.3, 2.6, 60)
                    rigs.key(
                        armature, rigs.rotation_path(armature.pose.bones["thigh.L"]), thigh, FRAMES, group="thigh.L"
                    )
                rigs.key(armature, path, rows, FRAMES, group="pelvis")
                held = rigs.dump(armature)
                self.run_removal()
                self.only_legs_and_carrier(armature, mapping.of(armature), held)
                self.assertNotIn(path, self.changed(armature, held))
                for bone in ("thigh.L", "shin.L", "foot.L", "toe.L", "thigh.R", "shin.R", "foot.R", "toe.R"):
                    values = self.rotation(armature, bone, FRAMES)
                    if mode == "QUATERNION":
                        self.assertGreaterEqual(neighbours(values).min(), 0.0, bone)
                    else:
                        self.assertLess(np.abs(np.diff(values, axis=0)).max(), np.pi, bone)
