"""Which keys a correction gets, and what Blender shows between them; legs that stretch; the rest pose as the floor."""

import unittest

import bpy
import numpy as np
from blender.test_extent import WalkCase, all_keys, kept, sparse_walk

from footlock.operators import remove_sliding
from footlock.operators.remove_sliding import Options
from footlock.rig import compat
from footlock.solvers import foot_skate

_MM = 1000.0


def every(count, armature):
    """Keep every so manieth key of each curve, on whole frames."""
    for curve in compat.fcurves(armature):
        points = curve.keyframe_points
        values = [key.co[1] for key in points][::count]
        points.clear()
        points.add(len(values))
        points.foreach_set("co", [number for i, value in enumerate(values) for number in (1.0 + i, value)])
        for key in points:
            key.interpolation = "LINEAR"
        curve.update()


class Evaluated(WalkCase):
    """The walk, and where Blender itself has its joints."""

    def points(self, frames, names=None):
        """World places (frames, joints, 3) of knees, heels, toes and toe ends, or of heads of bones, millimetres."""
        legs = self.legs.legs
        bones = self.armature.pose.bones
        rows = []
        for frame in frames:
            whole = int(np.floor(frame))
            self.scene.frame_set(whole, subframe=float(frame - whole))
            heads = [bones[name].head for name in names or [n for leg in legs for n in (leg.shin, leg.foot, leg.toe)]]
            tails = [] if names else [bones[leg.toe].tail for leg in legs]
            rows.append([tuple(self.armature.matrix_world @ point) for point in (*heads, *tails)])
        return np.array(rows) * self.source.unit * _MM

    def toe_points(self, frames):
        return self.points(frames, [leg.toe for leg in self.legs.legs])

    def between(self, share):
        """How far toes are from the line between their places at two frames in contact, at that share of the way."""
        step = self.frames[1] - self.frames[0]
        at = self.toe_points(self.frames)
        there = self.toe_points(self.frames[:-1] + share * step)
        away = np.linalg.norm(there - (1.0 - share) * at[:-1] - share * at[1:], axis=-1)
        return away[self.labels[1:] & self.labels[:-1]]


class Between(Evaluated):
    def test_at_half_frames(self):
        before = self.between(0.5)
        self.remove()
        after = self.between(0.5)
        self.assertGreater(before.max(), 0.3)
        self.assertLess(np.percentile(after, 99.0), 0.025)
        # Where the leg is all but straight a knee would have to pop for the rest.
        self.assertLess(after.max(), 0.2)

    def test_at_quarter_frames(self):
        self.remove()
        self.assertLess(self.between(0.25).max(), 0.15)

    def test_at_30_hz(self):
        every(4, self.armature)
        self.scene.render.fps = 30
        bpy.ops.footlock.detect_contacts(replace_edited=True)
        self.frames = self.read().frames
        self.labels = np.array(remove_sliding.contact_property.read(self.armature, self.legs, self.frames))
        before = self.between(0.5)
        self.remove()
        self.assertGreater(before.max(), 2.0)
        after = self.between(0.5)
        self.assertLess(np.percentile(after, 98.0), 0.1)
        self.assertLess(after.max(), 0.5)

    def test_frames_stay_and_so_do_free_feet(self):
        """Only segments in which a foot stands are bent, and only the legs' curves."""
        self.remove()
        planted = self.labels[1:] & self.labels[:-1]
        legs = {name: i for i, leg in enumerate(self.legs.legs) for name in (leg.thigh, leg.shin, leg.foot, leg.toe)}
        bent = 0
        for curve in compat.fcurves(self.armature):
            kinds = [key.interpolation for key in curve.keyframe_points]
            name = curve.data_path.split('"')[1]
            if "contact" in curve.data_path:
                continue
            found = np.array([kind == "BEZIER" for kind in kinds[:-1]])
            bent += found.sum()
            if name in legs:
                self.assertFalse((found & ~planted[:, legs[name]]).any())
            else:
                self.assertFalse(found.any())
        self.assertGreater(bent, 100)

    def test_a_second_run_leaves_them(self):
        self.remove()
        keys, points = all_keys(self.armature), self.toe_points(self.frames[:-1] + 0.5)
        self.remove()
        for path, again in all_keys(self.armature).items():
            self.assertEqual([key[0] for key in again], [key[0] for key in keys[path]])
        np.testing.assert_allclose(self.toe_points(self.frames[:-1] + 0.5), points, atol=0.03)

    def test_knees_do_not_pop_between_frames(self):
        """They go from frame to frame without a swing: hardly further off the way than the source's own."""

        def aside():
            at, half = self.points(self.frames, names), self.points(self.frames[:-1] + 0.5, names)
            return np.linalg.norm(half - 0.5 * (at[1:] + at[:-1]), axis=-1).max()

        names = [leg.shin for leg in self.legs.legs]
        before = aside()
        self.remove()
        self.assertLess(aside(), 2.0 * before)


class Sparse(unittest.TestCase):
    """Keys where they are, every fourth frame: nothing is bent between keys of which a leg has not all."""

    def test_keys_where_they_are(self):
        armature, legs, labels = sparse_walk()
        kinds = {path: [key[1:] for key in keys] for path, keys in all_keys(armature).items()}
        remove_sliding.remove(bpy.context.scene, armature, legs, labels=labels, options=Options(only_keys=True))
        for path, keys in all_keys(armature).items():
            self.assertEqual([key[2] for key in keys], [key[1] for key in kinds[path]])


class Few(Evaluated):
    def tolerances(self, *millimetres):
        """For each tolerance the points at all frames, and the number of keys of a thigh."""
        action = self.armature.animation_data.action
        for tolerance in millimetres:
            self.armature.animation_data.action = action.copy()
            compat_slot(self.armature)
            self.remove(key_tolerance=tolerance / _MM)
            path = f'pose.bones["{self.legs.legs[0].thigh}"].rotation'
            counts = {len(c.keyframe_points) for c in compat.fcurves(self.armature) if c.data_path.startswith(path)}
            self.assertEqual(len(counts), 1)
            yield self.points(self.frames), counts.pop()

    def test_within_the_tolerance_and_with_fewer_keys(self):
        tolerances = (0.1, 0.5, 2.0)
        (wanted, most), *found = self.tolerances(0.0, *tolerances)
        self.assertEqual(most, len(self.frames))
        for tolerance, (points, keys) in zip(tolerances, found, strict=True):
            away = np.linalg.norm(points - wanted, axis=-1).max()
            self.assertLess(away, tolerance + 0.002)
            self.assertGreater(away, 0.5 * tolerance)
            self.assertLess(keys, most)
            most = keys
        self.assertLess(most, 0.25 * len(self.frames))

    def test_the_first_and_last_pose_stay(self):
        (wanted, _), (points, _) = self.tolerances(0.0, 5.0)
        np.testing.assert_allclose(points[[0, -1]], wanted[[0, -1]], atol=1e-3)

    def test_within_a_range(self):
        before = all_keys(self.armature)
        first, last = self.frames[200], self.frames[500]
        self.remove(span=(first, last), key_tolerance=1e-3)
        removed = 0
        for path, keys in all_keys(self.armature).items():
            removed += len(before[path]) - len(keys)
            before[path] = [key for key in before[path] if not first <= key[0] <= last]
        self.assertEqual(*kept(before, all_keys(self.armature)))
        self.assertGreater(removed, 300)

    def test_a_range_of_one_frame(self):
        for index in (0, 300, len(self.frames) - 1):
            before, points = all_keys(self.armature), self.points(self.frames)
            span = (self.frames[index], self.frames[index])
            self.remove(span=span, key_tolerance=1e-3)
            np.testing.assert_allclose(self.points(self.frames), points, atol=1.0)
            self.assertEqual(*(sum(map(len, keys.values())) for keys in (before, all_keys(self.armature))))

    def test_nothing_swings_out_at_the_end_of_a_range(self):
        """The importer leaves handles at (0, 0), which straight lines do not need."""
        at, step = 500, self.frames[1] - self.frames[0]
        self.remove(span=(self.frames[200], self.frames[at]), key_tolerance=5e-4)
        ends = self.frames[[200, at]]
        pairs = np.stack([ends - np.array([step, 0.0]), ends + np.array([0.0, step])], axis=1)
        for one, other in pairs:
            points = self.points([one, 0.5 * (one + other), other])
            self.assertLess(np.linalg.norm(points[1] - 0.5 * (points[0] + points[2]), axis=-1).max(), 3.0)

    def test_as_an_operator(self):
        bpy.ops.footlock.remove_sliding(keys="REDUCED", key_tolerance=2.0)
        path = f'pose.bones["{self.legs.legs[0].thigh}"].rotation'
        counts = [len(c.keyframe_points) for c in compat.fcurves(self.armature) if c.data_path.startswith(path)]
        self.assertLess(max(counts), 0.25 * len(self.frames))


def compat_slot(armature):
    """Use the first slot of an action that was just assigned, where actions have slots."""
    data = armature.animation_data
    if hasattr(data, "action_slot") and data.action_slot is None:
        data.action_slot = data.action.slots[0]


class Stretch(Evaluated):
    """The root three times as far, and the pelvis keeps its path: legs are too short."""

    TRAVEL = 3.0

    def settings(self, stretch):
        terms = foot_skate.Settings().terms
        return foot_skate.Settings(terms=type(terms)(terms.smoothing, 1.0, terms.lower_hips), stretch=stretch)

    def lengths(self, pairs):
        """Distances (frames, pairs) between heads of bones, millimetres."""
        points = self.points(self.frames, [name for pair in pairs for name in pair])
        return np.linalg.norm(points[:, 1::2] - points[:, 0::2], axis=-1)

    def test_legs_stretch_up_to_the_bound(self):
        legs = self.legs.legs
        pairs = [pair for leg in legs for pair in ((leg.thigh, leg.shin), (leg.shin, leg.foot), (leg.foot, leg.toe))]
        before = self.lengths(pairs)
        action = self.armature.animation_data.action.copy()
        stiff = self.remove(self.settings(0.0))
        self.assertGreater(stiff.out_of_reach.sum(), 20)
        self.armature.animation_data.action = action
        compat_slot(self.armature)
        soft = self.remove(self.settings(0.02))
        self.assertLess(soft.out_of_reach.sum(), 0.8 * stiff.out_of_reach.sum())
        share = self.lengths(pairs) / before
        thigh, shin, foot = share[:, 0::3], share[:, 1::3], share[:, 2::3]
        self.assertGreater(thigh.max(), 1.01)
        self.assertLess(thigh.max(), 1.0201)
        np.testing.assert_allclose(shin, thigh, atol=1e-5)
        np.testing.assert_allclose(foot, 1.0, atol=1e-5)
        self.assertGreater((thigh < 1.0 + 1e-6).mean(), 0.2)
        pose = self.read().leg_pose()
        held = self.labels & ~soft.out_of_reach
        self.assertLess(self.slid(pose.toe, held), 2.1e-4)

    def test_no_keys_on_scale_where_legs_reach(self):
        before = set(all_keys(self.armature))
        self.remove(foot_skate.Settings(stretch=0.02), span=(self.frames[0], self.frames[30]))
        scales = [path for path, _ in set(all_keys(self.armature)) - before if path.endswith("scale")]
        pose = self.read().leg_pose()
        if (np.ptp(np.linalg.norm(pose.knee - pose.hip, axis=-1), axis=0) < 1e-6).all():
            self.assertEqual(scales, [])

    def test_no_further_in_a_second_run(self):
        legs = self.legs.legs
        pairs = [(leg.thigh, leg.shin) for leg in legs]
        before = self.lengths(pairs)
        for _ in range(3):
            self.remove(self.settings(0.02))
        self.assertLess((self.lengths(pairs) / before).max(), 1.0202)

    def test_keys_where_they_are_have_no_room_for_it(self):
        """A channel without keys gets none, so the legs are not solved as if they could stretch."""
        done = self.remove(self.settings(0.02), only_keys=True)
        self.assertFalse([path for path, _ in all_keys(self.armature) if path.endswith("scale")])
        pose, held = self.read().leg_pose(), self.labels & ~done.out_of_reach
        self.assertLess(self.slid(pose.toe, held), 2.1e-4)

    def test_a_muted_scale_is_told(self):
        bone = self.armature.pose.bones[self.legs.legs[0].shin]
        bone.keyframe_insert("scale", frame=1)
        curve = next(c for c in compat.fcurves(self.armature) if c.data_path.endswith(".scale"))
        curve.mute = True
        done = self.remove(self.settings(0.02))
        self.assertIn(f"No leg was stretched: the scale of “{bone.name}” is muted.", done.notes)
        self.assertEqual(len(curve.keyframe_points), 1)
        self.assertEqual(self.remove(self.settings(0.0)).notes, "")


class RestFloor(Evaluated):
    def test_feet_stand_where_the_rest_pose_does(self):
        self.armature.location.z = 0.7
        bpy.context.view_layer.update()
        bones = [self.armature.data.bones[leg.toe] for leg in self.legs.legs]
        heels = [self.armature.data.bones[leg.foot] for leg in self.legs.legs]
        local = [*(bone.head_local for bone in bones), *(bone.tail_local for bone in bones)]
        local += [bone.head_local for bone in heels]
        wanted = min((self.armature.matrix_world @ point).z for point in local)
        self.remove(floor_rest=True)
        pose = self.read().leg_pose()
        lowest = min(points[..., 2].min() for points in (pose.toe, pose.heel, pose.toe_end))
        self.assertAlmostEqual(lowest, wanted, delta=0.03)
        self.assertLess(self.slid(pose.toe, self.labels), 5e-6)

    def test_as_an_operator(self):
        self.assertEqual(bpy.ops.footlock.remove_sliding(ground="REST"), {"FINISHED"})
        pose = self.read().leg_pose()
        self.assertLess(self.slid(pose.toe, self.labels), 5e-6)
