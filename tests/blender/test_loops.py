"""Game loops: every walk, run and gallop gets an even travel, once and repeated, as keys or by a modifier."""

import unittest
from dataclasses import replace

import bpy
import numpy as np
from blender import game_loops, rigs

from footlock.operators import detect_contacts, fit_root, remove_sliding
from footlock.rig import clip, compat, mapping
from footlock.solvers import loops

LOOPS = {
    "character": ("Walk", "Run", "Run_Back", "Run_Left", "Run_Right", "Run_Shoot"),
    "horse": ("Walk", "Gallop"),
    "velociraptor": ("Velociraptor_Run",),
}
# A share of the speed by which it may vary.
EVEN = 0.001


def repeat_keys(armature, times):
    """The keys of the action so many times, one after the other."""
    for curve in compat.fcurves(armature):
        frames, values = rigs.values(curve)
        period = frames[-1] - frames[0]
        frames = np.concatenate(
            [*(frames[:-1] + period * i for i in range(times)), [frames[-1] + period * (times - 1)]]
        )
        values = np.concatenate([np.tile(values[:-1], times), values[-1:]])
        points = curve.keyframe_points
        points.clear()
        points.add(len(frames))
        points.foreach_set("co", np.stack([frames, values], axis=1).ravel().astype(np.float32))
        points.foreach_set("interpolation", np.ones(len(frames), np.int32))
        curve.update()


class Detected(unittest.TestCase):
    """One contact of each foot a cycle, and what the root is told by them."""

    def check(self, found, legs, symmetric):
        """One contact a cycle for each leg; left and right half a cycle apart."""
        period = len(found.labels) - 1
        centres = []
        for leg in range(legs):
            column = found.labels[:period, leg]
            starts = np.flatnonzero(column & ~np.roll(column, 1))
            self.assertEqual(len(starts), 1, f"leg {leg}: {column.astype(int)}")
            centres.append((starts[0] + 0.5 * column.sum()) / period)
        if symmetric:
            for left, right in zip(centres[::2], centres[1::2], strict=True):
                self.assertAlmostEqual((left - right) % 1.0, 0.5, delta=0.1)

    def test_character(self):
        armature = game_loops.load("character")
        for name in ("Walk", "Run", "Run_Back", "Run_Left", "Run_Right"):
            with self.subTest(name):
                found = game_loops.use(armature, name)
                self.check(found, 2, symmetric=True)
                self.assertTrue(found.fit.in_place)
                left, right = found.fit.leg_speed
                self.assertLess(abs(left - right), 0.05 * max(left, right))

    def test_horse(self):
        armature = game_loops.load("horse")
        found = game_loops.use(armature, "Walk")
        self.check(found, 4, symmetric=True)
        for left, right in found.fit.leg_speed.reshape(2, 2):
            self.assertLess(abs(left - right), 0.05 * max(left, right))
        self.check(game_loops.use(armature, "Gallop"), 4, symmetric=False)

    def test_velociraptor(self):
        armature = game_loops.load("velociraptor")
        found = game_loops.use(armature, "Velociraptor_Run")
        self.check(found, 2, symmetric=True)
        left, right = found.fit.leg_speed
        self.assertLess(abs(left - right), 0.05 * max(left, right))
        self.check(game_loops.use(armature, "Velociraptor_Walk"), 2, symmetric=False)

    def test_idle_loops_stand(self):
        found = game_loops.use(game_loops.load("character"), "Idle_Neutral")
        self.assertTrue(found.labels.all())
        self.assertEqual(found.fit.kind, "none")

    def test_the_character_is_found_by_its_names(self):
        armature = game_loops.load("character")
        armature.data.footlock.legs.clear()
        legs = mapping.find(armature)
        self.assertEqual(
            [(leg.thigh, leg.shin, leg.foot) for leg in legs.legs],
            [tuple(name.format(side) for name in ("UpperLeg.{}", "LowerLeg.{}", "Foot.{}")) for side in "LR"],
        )

    def test_fit_root_gives_the_run_its_travel(self):
        """The root then travels evenly at the speed that the feet ask for, and planted feet hardly move."""
        armature = game_loops.load("character")
        game_loops.use(armature, "Run")
        bpy.ops.footlock.detect_contacts()
        speed = armature.data.footlock.feet_speed
        unit = clip.read(bpy.context.scene, armature, mapping.of(armature)).unit
        bpy.ops.footlock.fit_root()
        scene, places = bpy.context.scene, []
        for frame in range(0, 20):
            scene.frame_set(frame)
            places.append(armature.matrix_world @ armature.pose.bones["Root"].head)
        steps = np.linalg.norm(np.diff(np.array(places)[:, :2], axis=0), axis=1) * 24.0 * unit
        self.assertLess(np.ptp(steps), 0.01 * speed)
        self.assertAlmostEqual(steps.mean(), speed, delta=0.01 * speed)


class Travel(unittest.TestCase):
    def load(self, name, action):
        """An armature with its action, and what is detected."""
        armature = game_loops.load(name)
        return armature, game_loops.use(armature, action)

    def detected(self, armature):
        return detect_contacts.detect(bpy.context.scene, armature, mapping.of(armature))

    def fitted(self, armature, found):
        """Speeds (frames - 1,) of what carries the character, as Blender has it; feet keep pace with each other."""
        legs, scene = mapping.of(armature), bpy.context.scene
        names = [leg.foot for leg in legs.legs]
        frames = found.clip.frames
        before = rigs.evaluated(armature, frames, [*names, legs.pelvis])[0]
        done = fit_root.fit(scene, armature, legs, found.clip.unit, found.labels)
        moved = (rigs.evaluated(armature, frames, [*names, legs.pelvis])[0] - before) * found.clip.unit
        self.assertLess(np.abs(moved - moved[:, :1]).max(), 1e-5, "all bones move alike")
        self.assertEqual(done.fit.kind, "path")
        self.assertLess(sum(one.mean for one in done.after), 0.5 * sum(one.mean for one in done.before))
        return np.linalg.norm(np.diff(moved[:, 0, :2], axis=0), axis=1) * found.clip.frame_rate, done

    def even(self, armature, found):
        speeds, done = self.fitted(armature, found)
        self.assertLess(np.ptp(speeds), EVEN * speeds.mean())
        self.assertGreater(speeds.mean(), 0.5)
        return speeds.mean(), done

    def test_all_get_an_even_travel(self):
        for name, actions in LOOPS.items():
            for action in actions:
                with self.subTest(name, action=action):
                    armature, found = self.load(name, action)
                    self.even(armature, found)

    def test_repeated_keys(self):
        """The contacts of each cycle are the same, as many as of one cycle alone, and the travel is even."""
        for name, actions in LOOPS.items():
            for action in actions:
                with self.subTest(name, action=action):
                    armature, once = self.load(name, action)
                    period = len(once.labels) - 1
                    speed, _ = self.even(armature, once)
                    for times in (3, 5):
                        armature, _ = self.load(name, action)
                        repeat_keys(armature, times)
                        found = self.detected(armature)
                        cycles = found.labels[:-1].reshape(times, period, -1)
                        np.testing.assert_array_equal(cycles, np.broadcast_to(cycles[:1], cycles.shape))
                        single = np.concatenate([once.labels[:-1]] * times)
                        self.assertGreater(np.mean(found.labels[:-1] == single), 0.93)
                        again, _ = self.even(armature, found)
                        # Two of the runs are not quite closed, and a frame more or less is five per cent.
                        self.assertAlmostEqual(again, speed, delta=0.1 * speed)

    def test_cycles_modifiers(self):
        """They repeat what is in the keys, and that is one loop."""
        armature, once = self.load("character", "Walk")
        for curve in compat.fcurves(armature):
            curve.modifiers.new("CYCLES")
        found = self.detected(armature)
        np.testing.assert_array_equal(found.labels, once.labels)
        speed, done = self.even(armature, found)
        # The travel goes on with each repetition, in place of jumping back.
        frames = np.arange(0.0, 3 * found.clip.frames[-1] + 1.0)
        root = rigs.evaluated(armature, frames, done.bones)[0][:, 0] * found.clip.unit
        speeds = np.linalg.norm(np.diff(root[:, :2], axis=0), axis=1) * 24.0
        self.assertLess(np.abs(speeds - speed).max(), EVEN * speed)

    def test_a_loop_that_ends_in_a_hold(self):
        """The velociraptor walks for half of its clip and stands for the other: the root goes and stands."""
        armature, found = self.load("velociraptor", "Velociraptor_Walk")
        self.assertTrue(found.labels[29:].all())
        speeds, _ = self.fitted(armature, found)
        self.assertLess(np.ptp(speeds[:28]), EVEN * speeds[:28].mean())
        self.assertGreater(speeds[:28].min(), 1.0)
        self.assertLess(speeds[28:].max(), 1e-4)

    def test_feet_that_hang_from_nothing(self):
        """The horse's body and its four feet have no bone above them: all are moved."""
        armature, found = self.load("horse", "Walk")
        _, done = self.even(armature, found)
        self.assertEqual(
            set(done.bones), {"Body", *(f"IK{end}Leg.{side}" for end in ("Back", "Front") for side in "LR")}
        )
        self.assertIn("“Body” and 4 more", fit_root.sentence(done))

    def test_a_bone_beside_the_legs_comes_along(self):
        armature, found = self.load("horse", "Walk")
        bpy.ops.object.mode_set(mode="EDIT")
        bone = armature.data.edit_bones.new("Saddle")
        bone.tail = (0.0, 0.0, 0.01)
        bpy.ops.object.mode_set(mode="OBJECT")
        done = fit_root.fit(bpy.context.scene, armature, mapping.of(armature), labels=found.labels)
        self.assertIn("Saddle", done.bones)
        frames = found.clip.frames
        places = rigs.evaluated(armature, frames, ["Saddle"])[0][:, 0] * found.clip.unit
        np.testing.assert_allclose(places[:, :2] - places[0, :2], done.fit.shift - done.fit.shift[0], atol=1e-4)

    def test_the_clip_is_read_as_it_is(self):
        """Scale 100, tiny bones, an object below another: as Blender evaluates it."""
        for name, actions in LOOPS.items():
            armature, _ = self.load(name, actions[0])
            legs = mapping.of(armature)
            read = clip.read(bpy.context.scene, armature, legs)
            names = [leg.foot for leg in legs.legs]
            heads = rigs.evaluated(armature, read.frames, names)[0] * read.unit
            self.assertLess(np.abs(np.stack([read.head(one) for one in names], axis=1) - heads).max(), 1e-5)
            self.assertEqual(read.frame_rate, 24.0)


class Corrected(unittest.TestCase):
    """The loops as a user has them: legs found by Footlock, and the three buttons."""

    def test_loops_that_travel_and_stand(self):
        """With the root's travel and the sliding removed each loop can be repeated: planted feet stand, over the seam
        too, though they hang from no shin, and shins reach them as they did."""
        names = [(rig, name) for rig, names in LOOPS.items() for name in names]
        for rig, name in names:
            with self.subTest(rig=rig, loop=name):
                armature = game_loops.load(rig, mapped=False)
                game_loops.use(armature, name)
                legs, scene = mapping.of(armature), bpy.context.scene
                bpy.ops.footlock.detect_contacts()
                unfitted = clip.read(scene, armature, legs)
                bpy.ops.footlock.fit_root()
                source = clip.read(scene, armature, legs)
                travel = np.diff(source.head(legs.pelvis) - unfitted.head(legs.pelvis), axis=0)
                self.assertLess(np.ptp(travel, axis=0).max(), 0.01 * np.linalg.norm(travel, axis=1).mean())
                cyclic = remove_sliding.Options(cyclic=True)
                done = remove_sliding.remove(scene, armature, legs, unit=source.unit, options=cyclic)
                written = clip.read(scene, armature, legs, source.unit)
                self.check_repeated(done.labels, source, written)

    def check_repeated(self, labels, source, written):
        old, new = source.leg_pose(), written.leg_pose()
        points = np.concatenate([old.toe, old.heel, old.knee], axis=1)
        cycle = loops.ends(points, source.head(source.legs.pelvis), least=0.0)
        toes = replace(cycle, before=1).repeated(new.toe)
        planted = replace(cycle, before=1).repeated_labels(labels)
        slide = np.linalg.norm(np.diff(toes, axis=0), axis=-1)[planted[1:] & planted[:-1]]
        self.assertLess(slide.max(), 5e-5)
        if cycle.period < len(new.toe):
            np.testing.assert_allclose(new.toe[-1], new.toe[0] + cycle.way, atol=1e-4)
        gaps = [np.linalg.norm(pose.heel - pose.knee, axis=-1) for pose in (old, new)]
        self.assertLess(np.abs(gaps[1] - gaps[0]).max(), 0.021 * old.leg_lengths().max())
