"""How much of a clip Remove Sliding corrects, and on what ground: ranges, pins, loops, floors and objects."""

import unittest

import bpy
import clips
import numpy as np
from blender import rigs

from footlock.operators import remove_sliding
from footlock.operators.remove_sliding import Options
from footlock.rig import clip as reading
from footlock.rig import compat, contact_property, correction, mapping
from footlock.solvers import foot_skate
from footlock.solvers.errors import FootlockError

# Types of handles that stay where somebody puts them.
FREE, ALIGNED = 0, 3


def all_keys(armature):
    """Every number of every key, by (path, index); handles where Blender does not place them by itself."""

    def of(points):
        def read(name, width=1, kind=np.int32):
            values = np.empty(width * len(points), kind)
            points.foreach_get(name, values)
            return values.reshape(len(points), width)

        sides = "left", "right"
        kinds = [read(f"handle_{side}_type") for side in sides]
        handles = [
            np.where((kind == FREE) | (kind == ALIGNED), read(f"handle_{side}", 2, np.float32), 0.0)
            for side, kind in zip(sides, kinds, strict=True)
        ]
        columns = (read("co", 2, np.float32), read("interpolation"), read("easing"), *kinds, read("type"), *handles)
        return list(map(tuple, np.hstack(columns).tolist()))

    curves = compat.fcurves(armature)
    return {(curve.data_path, curve.array_index): of(curve.keyframe_points) for curve in curves}


def kept(before, after):
    """Of both, for each curve, the keys that were there before: all but how their handles are placed."""

    def of(keys, frames):
        return [key[:4] + key[6:7] for key in keys if key[0] in frames]

    return [[of(keys[curve], {key[0] for key in before[curve]}) for curve in before] for keys in (before, after)]


def sparse_walk():
    """A made walk with a key every fourth frame: armature, legs, and labels of two contacts."""
    rigs.new_file()
    armature = rigs.biped()
    rigs.walk(armature, np.arange(1.0, 62.0, 4.0))
    bpy.context.view_layer.update()
    legs = mapping.of(armature)
    labels = np.zeros((len(reading.read(bpy.context.scene, armature, legs).frames), 2), bool)
    labels[24:34, 0] = labels[30:40, 1] = True
    return armature, legs, labels


class WalkCase(unittest.TestCase):
    """The recorded walk, with its root's travel a quarter too far, and its contacts."""

    CLIP, TRAVEL = clips.WALK, 1.25

    def setUp(self):
        self.armature = clips.opened(("walk with contacts", self.CLIP, self.TRAVEL), self.make)
        self.scene = bpy.context.scene
        self.legs = mapping.of(self.armature)
        self.source = self.read()
        self.frames = self.source.frames
        self.labels = contact_property.read(self.armature, self.legs, self.frames)

    def make(self):
        armature = clips.import_clip(self.CLIP)
        source = reading.read(bpy.context.scene, armature, mapping.of(armature))
        correction.scale_travel(armature, source, self.TRAVEL)
        bpy.ops.footlock.detect_contacts()

    def read(self):
        return reading.read(self.scene, self.armature, mapping.of(self.armature))

    def remove(self, settings=None, **options):
        return remove_sliding.remove(
            self.scene, self.armature, self.legs, settings or foot_skate.Settings(), options=Options(**options)
        )

    def toes(self):
        return self.read().leg_pose().toe

    def slid(self, toes, labels):
        both = labels[1:] & labels[:-1]
        return (np.linalg.norm(np.diff(toes, axis=0), axis=-1) * both).max()


class Range(WalkCase):
    def test_keys_outside_stay(self):
        before = all_keys(self.armature)
        first, last = self.frames[200], self.frames[500]
        self.remove(span=(first, last))
        after = all_keys(self.armature)
        self.assertEqual(before.keys(), after.keys())
        changed = set()
        for curve, keys in before.items():
            self.assertEqual(len(keys), len(after[curve]))
            changed |= {a[0] for a, b in zip(keys, after[curve], strict=True) if a != b}
        self.assertGreater(len(changed), 250)
        self.assertGreaterEqual(min(changed), first - 1e-3)
        self.assertLessEqual(max(changed), last + 1e-3)

    def test_feet_stand_inside_and_nothing_jumps(self):
        before, (first, last) = self.toes(), (200, 500)
        self.remove(span=(self.frames[first], self.frames[last]))
        after = self.toes()
        whole = self.labels.copy()
        whole[: first + 26] = whole[last - 25 :] = False
        self.assertGreater(whole.sum(), 100)
        self.assertLess(self.slid(after, whole), 5e-6)
        self.assertGreater(self.slid(before, whole), 1e-3)
        step = np.linalg.norm(np.diff(after - before, axis=0), axis=-1)
        # The correction begins and ends no faster than the feet slid.
        self.assertLess(step[[first - 1, first, last - 1, last]].max(), self.slid(before, self.labels))

    def test_sparse_keys_outside_stay(self):
        """An action with a key every fourth frame or so, with handles. Keys are added up to the next ones only, where
        they keep the curve on its course: outside nothing moves."""
        rigs.new_file()
        armature = rigs.biped()
        rigs.walk(armature, np.arange(1.0, 61.0, 4.0))
        for curve in compat.fcurves(armature):
            for key in curve.keyframe_points:
                key.interpolation = "BEZIER"
                key.handle_left_type = key.handle_right_type = "FREE"
        bpy.context.view_layer.update()
        legs = mapping.of(armature)
        frames = reading.read(bpy.context.scene, armature, legs).frames
        labels = np.zeros((len(frames), 2), bool)
        labels[24:34, 0] = labels[30:40, 1] = True
        before, pose = all_keys(armature), reading.read(bpy.context.scene, armature, legs).leg_pose()
        remove_sliding.remove(bpy.context.scene, armature, legs, labels=labels, options=Options(span=(23, 43)))
        after = all_keys(armature)
        added = 0
        for curve in before:
            own = [[key for key in keys[curve] if not 21 <= key[0] <= 45] for keys in (before, after)]
            self.assertEqual(*own)
            added += len(after[curve]) - len(before[curve])
        self.assertGreater(added, 50)
        outside = (frames < 23) | (frames > 43)
        new = reading.read(bpy.context.scene, armature, legs).leg_pose()
        for joint in ("hip", "knee", "heel", "toe", "toe_end"):
            np.testing.assert_allclose(getattr(new, joint)[outside], getattr(pose, joint)[outside], atol=1e-5)
        self.assertGreater(np.abs(new.toe - pose.toe).max(), 1e-3)

    def test_outside_of_a_range_nothing_moves(self):
        """Keys on every tenth frame, of any kind, and the first key alone on some curves."""
        for kind in ("BEZIER", "LINEAR", "CONSTANT"):
            with self.subTest(kind):
                armature = clips.import_clip()
                for number, curve in enumerate(compat.fcurves(armature)):
                    points = curve.keyframe_points
                    values = [key.co[1] for key in points][::10]
                    values = values[:1] if np.ptp(values) < 1e-6 or number % 7 == 5 else values
                    points.clear()
                    points.add(len(values))
                    points.foreach_set("co", [number for i, v in enumerate(values) for number in (1.0 + 10 * i, v)])
                    for key in points:
                        key.interpolation, key.handle_left_type, key.handle_right_type = kind, *["AUTO_CLAMPED"] * 2
                    curve.update()
                legs = mapping.of(armature)
                before, pose = all_keys(armature), reading.read(bpy.context.scene, armature, legs)
                span, labels = (216, 504), np.zeros((len(pose.frames), 2), bool)
                labels[300:340, 0] = labels[350:420, 1] = True
                remove_sliding.remove(bpy.context.scene, armature, legs, labels=labels, options=Options(span=span))
                new = reading.read(bpy.context.scene, armature, legs)
                outside = (pose.frames < span[0]) | (pose.frames > span[1])
                a, b = pose.leg_pose(), new.leg_pose()
                for joint in ("hip", "knee", "heel", "toe", "toe_end"):
                    np.testing.assert_allclose(getattr(b, joint)[outside], getattr(a, joint)[outside], atol=1e-5)
                self.assertGreater(np.abs(b.toe - a.toe).max(), 1e-3)
                far = {path: [k for k in keys if not 190 < k[0] < 530] for path, keys in before.items()}
                self.assertEqual(*kept(far, all_keys(armature)))

    def test_only_the_keys_that_are_there(self):
        """No key comes or goes; on the keyed frames the pose is that of a correction with all keys."""

        def corrected(only_keys):
            armature, legs, labels = sparse_walk()
            before = all_keys(armature)
            options = Options(only_keys=only_keys)
            remove_sliding.remove(bpy.context.scene, armature, legs, labels=labels, options=options)
            return before, all_keys(armature), reading.read(bpy.context.scene, armature, legs).leg_pose().toe

        before, after, toes = corrected(True)
        self.assertEqual({curve: len(keys) for curve, keys in before.items()}, {c: len(k) for c, k in after.items()})
        self.assertEqual(
            [[key[0] for key in keys] for keys in before.values()], [[key[0] for key in after[c]] for c in before]
        )
        self.assertNotEqual(before, after)
        np.testing.assert_allclose(toes[::4], corrected(False)[2][::4], atol=1e-5)

    def test_a_range_without_frames(self):
        before = all_keys(self.armature)
        with self.assertRaisesRegex(FootlockError, "no frame of the action"):
            self.remove(span=(90000, 90010))
        self.assertEqual(all_keys(self.armature), before)

    def test_as_an_operator(self):
        before = all_keys(self.armature)
        first, last = int(np.ceil(self.frames[200])), int(self.frames[500])
        result = bpy.ops.footlock.remove_sliding(solve_range=True, solve_start=first, solve_end=last)
        self.assertEqual(result, {"FINISHED"})
        after = all_keys(self.armature)
        changed = {a[0] for curve in before for a, b in zip(before[curve], after[curve], strict=True) if a != b}
        self.assertTrue(changed)
        self.assertTrue(all(first - 1e-3 <= frame <= last + 1e-3 for frame in changed))


class Ends(WalkCase):
    def test_pinned_poses_stay(self):
        before = all_keys(self.armature)
        self.remove(pin_first=True, pin_last=True)
        after = all_keys(self.armature)
        for curve, keys in before.items():
            self.assertEqual((keys[0], keys[-1]), (after[curve][0], after[curve][-1]))
        self.assertNotEqual(before, after)

    def test_no_loop_is_told(self):
        before = all_keys(self.armature)
        with self.assertRaisesRegex(FootlockError, "no loop"):
            self.remove(cyclic=True)
        self.assertEqual(all_keys(self.armature), before)

    def test_cyclic_and_pinned_is_told(self):
        with self.assertRaisesRegex(FootlockError, "Cyclic"):
            self.remove(cyclic=True, pin_first=True)


class Loop(unittest.TestCase):
    STEPS = 26

    def loop(self, frames):
        """One cycle of a made walk, of so many frames."""
        rigs.new_file()
        armature = rigs.biped()
        period = 2.0 * np.pi / 6.0 * 24.0
        rigs.walk(armature, 1.0 + np.arange(frames) * period / self.STEPS)
        bpy.context.view_layer.update()
        labels = np.zeros((frames, 2), bool)
        labels[3:12, 0] = labels[16:24, 1] = True
        return armature, mapping.of(armature), labels

    def poses(self, armature, legs):
        clip = reading.read(bpy.context.scene, armature, legs)
        pose = clip.leg_pose()
        return clip.head(legs.pelvis), np.concatenate([pose.hip, pose.knee, pose.heel, pose.toe], axis=1)

    def test_a_loop_stays_one(self):
        """Its last frame is its first, but for the way, in place and in velocity; a contact goes over the seam."""
        armature, legs, labels = self.loop(self.STEPS + 1)
        labels[:3, 0] = labels[24:, 0] = True
        source, _ = self.poses(armature, legs)
        done = remove_sliding.remove(bpy.context.scene, armature, legs, labels=labels, options=Options(cyclic=True))
        self.assertTrue(done.converged)
        pelvis, joints = self.poses(armature, legs)
        way = source[-1] - source[0]
        self.assertGreater(np.linalg.norm(way), 0.5)
        np.testing.assert_allclose(pelvis[-1] - pelvis[0], way, atol=1e-5)
        np.testing.assert_allclose(joints[-1] - joints[0], np.broadcast_to(way, joints[0].shape), atol=1e-5)
        toe = joints[:, 6]
        np.testing.assert_allclose(toe[24:], np.tile(toe[0] + way, (3, 1)), atol=1e-5)

    def test_a_loop_that_stands(self):
        """An idle sways by two centimetres and gets nowhere: a loop all the same."""
        rigs.new_file()
        armature = rigs.biped()
        pelvis, frames = armature.pose.bones["pelvis"], np.arange(1, 42)
        for frame in frames:
            pelvis.location = (0.02 * np.sin((frame - 1) / 40.0 * 2.0 * np.pi), 0.0, 0.0)
            pelvis.keyframe_insert("location", frame=frame)
        legs, labels = mapping.of(armature), np.ones((len(frames), 2), bool)
        done = remove_sliding.remove(bpy.context.scene, armature, legs, labels=labels, options=Options(cyclic=True))
        self.assertTrue(done.converged)
        _, joints = self.poses(armature, legs)
        np.testing.assert_allclose(joints[-1], joints[0], atol=1e-5)
        self.assertLess(np.abs(np.diff(joints[:, 6:], axis=0)).max(), 1e-5)

    def test_a_loop_that_ends_one_frame_before(self):
        armature, legs, labels = self.loop(self.STEPS)
        done = remove_sliding.remove(bpy.context.scene, armature, legs, labels=labels, options=Options(cyclic=True))
        self.assertTrue(done.converged)
        one, _ = self.poses(armature, legs)
        armature, legs, labels = self.loop(self.STEPS + 1)
        remove_sliding.remove(bpy.context.scene, armature, legs, labels=labels, options=Options(cyclic=True))
        other, _ = self.poses(armature, legs)
        # The two have other last frames, and the solver stops where a step gains next to nothing.
        np.testing.assert_allclose(one, other[:-1], atol=2e-3)


class Ground(WalkCase):
    def test_at_a_height(self):
        self.remove(floor_height=0.25)
        pose = self.read().leg_pose()
        lowest = min(pose.toe[..., 2].min(), pose.heel[..., 2].min(), pose.toe_end[..., 2].min())
        self.assertAlmostEqual(lowest, 0.25, delta=0.03)
        self.assertLess(self.slid(pose.toe, self.labels), 5e-6)

    def test_at_a_height_within_a_range_and_again(self):
        """A second run finds the feet where the first has put them."""
        span = (self.frames[100], self.frames[700])
        found = []
        for _ in range(2):
            self.remove(floor_height=0.2, span=span)
            pose = self.read().leg_pose()
            found.append(pose.toe[200:600][self.labels[200:600]][:, 2])
        np.testing.assert_allclose(found[1], found[0], atol=2e-3)

    def test_without_faces(self):
        empty = bpy.data.objects.new("nothing", None)
        self.scene.collection.objects.link(empty)
        before = all_keys(self.armature)
        with self.assertRaisesRegex(FootlockError, "no faces"):
            self.remove(floor_object=empty)
        self.assertEqual(all_keys(self.armature), before)

    def plane(self, at=(0.0, 0.0, 0.0)):
        mesh = bpy.data.meshes.new("floor")
        corners = ((-50, -50, 0), (50, -50, 0), (50, 50, 0), (-50, 50, 0))
        mesh.from_pydata([tuple(x / self.source.unit for x in corner) for corner in corners], [], [(0, 1, 2, 3)])
        made = bpy.data.objects.new("floor", mesh)
        made.location = [x / self.source.unit for x in at]
        self.scene.collection.objects.link(made)
        bpy.context.view_layer.update()
        return made

    def check_refused(self, said, floor):
        before = all_keys(self.armature)
        with self.assertRaisesRegex(FootlockError, said):
            self.remove(floor_object=floor)
        self.assertEqual(all_keys(self.armature), before)

    def test_a_floor_that_is_switched_off(self):
        """Blender does not evaluate it, so that its modifiers and constraints would be left out."""
        floor = self.plane()
        floor.hide_viewport = True
        bpy.context.view_layer.update()
        self.check_refused("disabled in viewports", floor)
        floor.hide_viewport = False
        self.scene.view_layers[0].layer_collection.exclude = False
        other = bpy.data.collections.new("off")
        self.scene.collection.children.link(other)
        self.scene.collection.objects.unlink(floor)
        other.objects.link(floor)
        self.scene.view_layers[0].layer_collection.children["off"].exclude = True
        bpy.context.view_layer.update()
        self.check_refused("disabled in viewports", floor)

    def test_a_floor_nowhere_under_the_feet(self):
        self.check_refused("nowhere under the feet", self.plane(at=(1000.0, 0.0, 0.0)))

    def test_a_level_object_is_a_level_floor(self):
        self.remove(floor_object=self.plane(at=(0.0, 0.0, -0.4)))
        pose = self.read().leg_pose()
        lowest = min(pose.toe[..., 2].min(), pose.heel[..., 2].min(), pose.toe_end[..., 2].min())
        self.assertAlmostEqual(lowest, -0.4, delta=0.03)
        self.assertLess(self.slid(pose.toe, self.labels), 5e-6)

    def test_no_object_chosen(self):
        with self.assertRaisesRegex(RuntimeError, "no object to stand on"):
            bpy.ops.footlock.remove_sliding(ground="OBJECT")


class Objects(WalkCase):
    """A walk of four metres over an object that rises by about a metre under it."""

    CLIP = clips.DATA / "cmu_12_01.bvh"
    TRAVEL = 1.0

    def setUp(self):
        super().setUp()
        # The first frame is a pose of its own.
        pelvis = self.source.head(self.legs.pelvis)[1:, :2]
        self.start, self.way = pelvis[0], (pelvis[-1] - pelvis[0]) / np.linalg.norm(pelvis[-1] - pelvis[0])
        self.across = np.array([-self.way[1], self.way[0]])

    def object(self, name, corners, faces):
        """A mesh from corners (n, 3): along the walk, across it, and up; metres."""
        places = [self.start + self.way * along + self.across * across for along, across, _ in corners]
        mesh = bpy.data.meshes.new(name)
        points = [(*place, up) for place, (_, _, up) in zip(places, corners, strict=True)]
        mesh.from_pydata([tuple(x / self.source.unit for x in point) for point in points], [], faces)
        made = bpy.data.objects.new(name, mesh)
        self.scene.collection.objects.link(made)
        bpy.context.view_layer.update()
        return made

    def corrected(self, floor):
        """The LegPose on the floor; planted toes stand, all within reach."""
        done = self.remove(floor_object=floor)
        self.assertTrue(done.converged)
        self.assertFalse(done.out_of_reach.any())
        pose = self.read().leg_pose()
        self.assertLess(self.slid(pose.toe, self.labels), 5e-6)
        return pose

    def along(self, points):
        return (points[..., :2] - self.start) @ self.way

    def check_over(self, pose, height, tolerance):
        """All planted toes are as high over the ground, which goes up by most of a metre."""
        over = pose.toe[..., 2] - height(self.along(pose.toe))
        for leg in range(2):
            self.assertLess(np.ptp(over[self.labels[:, leg], leg]), tolerance)
        self.assertGreater(np.ptp(pose.toe[..., 2][self.labels]), 0.9)

    def test_slope_of_15_degrees(self):
        rise = np.tan(np.radians(15.0))
        corners = [(along, across, rise * along) for along, across in ((-4, -4), (9, -4), (9, 4), (-4, 4))]
        before = self.read().leg_pose()
        pose = self.corrected(self.object("slope", corners, [(0, 1, 2, 3)]))
        self.check_over(pose, lambda along: rise * along, 0.001)
        foot = [np.arcsin((p.toe - p.heel)[..., 2] / np.linalg.norm(p.toe - p.heel, axis=-1)) for p in (before, pose)]
        self.assertAlmostEqual(np.degrees(np.median((foot[1] - foot[0])[self.labels])), 15.0, delta=2.0)

    def test_stairs_of_17_cm(self):
        """Solid ones, with sides and a bottom."""
        tread, first, corners, faces = 0.62, -0.3, [], []
        for step in range(-6, 14):
            near, far, up, n = first + tread * step, first + tread * (step + 1), 0.17 * (step + 1), len(corners)
            corners += [(x, y, z) for z in (-2.0, up) for x, y in ((near, -4), (near, 4), (far, 4), (far, -4))]
            sides = ((4, 7, 6, 5), (0, 1, 2, 3), (0, 4, 5, 1), (2, 6, 7, 3), (0, 3, 7, 4), (1, 5, 6, 2))
            faces += [tuple(n + corner for corner in side) for side in sides]
        pose = self.corrected(self.object("stairs", corners, faces))
        self.check_over(pose, lambda along: 0.17 * (np.floor((along - first) / tread) + 1.0), 1e-4)


class Kept(WalkCase):
    """What detection, markers and files must not touch."""

    def curve(self, i):
        path = f'["{contact_property.NAME}"]'
        bone = self.legs.legs[i].bearer
        return next(c for c in compat.fcurves(self.armature) if bone in c.data_path and c.data_path.endswith(path))

    def test_an_edit_outlives_a_detection_of_other_frames(self):
        key = self.curve(0).keyframe_points[0]
        key.co[1] = 1.0 - key.co[1]
        edited = all_keys(self.armature)
        bpy.ops.footlock.detect_contacts(use_range=True, range_start=500, range_end=600, replace_edited=True)
        states = contact_property.states(self.armature, self.legs)
        self.assertEqual(states[0], contact_property.State.EDITED)
        path = self.curve(0).data_path
        first = all_keys(self.armature)[path, 0][0]
        self.assertEqual(first, edited[path, 0][0])

    def test_muted_curves_stay(self):
        action = self.armature.animation_data.action
        bpy.ops.footlock.contacts_to_markers()
        before = sorted((marker.name, marker.frame) for marker in action.pose_markers)
        self.curve(0).mute = True
        keys = all_keys(self.armature)
        bpy.ops.footlock.contacts_to_markers()
        self.assertEqual(sorted((marker.name, marker.frame) for marker in action.pose_markers), before)
        bpy.ops.footlock.markers_to_contacts()
        self.assertTrue(self.curve(0).mute)
        path = self.curve(0).data_path
        self.assertEqual(all_keys(self.armature)[path, 0], keys[path, 0])

    def test_nothing_is_written_where_the_bake_cannot(self):
        self.armature.pose.bones[self.legs.legs[1].bearer]["contact_speed"] = "mine"
        before = all_keys(self.armature)
        with self.assertRaisesRegex(RuntimeError, "rename that property"):
            bpy.ops.footlock.detect_contacts(bake=True, replace_edited=True)
        self.assertEqual(all_keys(self.armature), before)
        self.assertEqual(self.armature.pose.bones[self.legs.legs[1].bearer]["contact_speed"], "mine")
        bpy.ops.footlock.detect_contacts()
        self.assertEqual(self.armature.pose.bones[self.legs.legs[1].bearer]["contact_speed"], "mine")

    def test_a_contact_shorter_than_a_frame_comes_back_as_one_frame(self):
        """120 Hz in a scene at 24: markers stand on whole frames."""
        rigs.new_file()
        armature = rigs.biped()
        rigs.walk(armature, 1.0 + np.arange(300) * 0.2)
        legs = mapping.of(armature)
        frames = reading.read(bpy.context.scene, armature, legs).frames
        labels = np.zeros((len(frames), 2), bool)
        labels[101, 0] = labels[200:230, 0] = labels[50:80, 1] = True
        contact_property.write(armature, legs, frames, labels)
        bpy.ops.footlock.contacts_to_markers()
        bpy.ops.footlock.markers_to_contacts()
        found = contact_property.read(armature, legs, frames)
        self.assertLess(abs(int(found[:, 0].sum()) - int(labels[:, 0].sum())), 10)

    def test_the_panel_tells_of_the_curves(self):
        self.curve(0).lock = True
        self.curve(0).keyframe_points.clear()
        self.curve(0).keyframe_points.insert(1.0, 0.0)
        bpy.ops.footlock.detect_contacts()
        found = self.armature.data.footlock.legs
        self.assertEqual(found[0].contacts, 0)
        self.assertGreater(found[1].contacts, 3)


class Heading(WalkCase):
    def test_planted_feet_do_not_turn(self):
        def turned():
            pose = self.read().leg_pose()
            foot = pose.toe - pose.heel
            angle = np.unwrap(np.arctan2(foot[..., 1], foot[..., 0]), axis=0)
            both = self.labels[1:] & self.labels[:-1]
            return (np.abs(np.diff(angle, axis=0)) * both).max()

        self.assertGreater(turned(), 2e-3)
        self.remove(foot_skate.Settings(hold_heading=True))
        self.assertLess(turned(), 1e-3)
        self.assertLess(self.slid(self.toes(), self.labels), 5e-6)
