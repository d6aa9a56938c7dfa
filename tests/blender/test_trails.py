"""What the overlay shows: read where Blender itself has the feet, kept as long as that is so, and nothing left over."""

import tempfile
import unittest
from pathlib import Path
from unittest import mock

import bpy
import numpy as np
from blender import control_rigs, rigs
from mathutils import Euler

import footlock
from footlock.rig import compat, contact_property, mapping, results, trail_cache, trails

# Share of thigh and shin within which a trail is where Blender has the bone.
SAME = 2e-5
FRAMES = np.arange(1.0, 41.0)


def walker(**arguments):
    """A biped that walks with feet that slide, its legs stored and its contacts labelled."""
    rigs.new_file()
    bpy.context.scene.footlock.unit = 1.0
    armature = rigs.biped(**arguments)
    rigs.walk(armature, FRAMES, size=arguments.get("size", 1.0))
    mapping.remember(armature, mapping.of(armature))
    labels = np.zeros((len(FRAMES), 2), bool)
    labels[4:16, 0] = labels[24:34, 0] = labels[14:26, 1] = True
    contact_property.write(armature, mapping.of(armature), FRAMES, labels)
    bpy.context.view_layer.update()
    return armature


def shown(armature):
    """The Entry that a redraw gets once the timer has run."""
    trail_cache.current(bpy.context.scene, armature)
    trail_cache.work()
    return trail_cache.current(bpy.context.scene, armature)


def truth(armature, frames, roles=("thigh", "shin", "foot", "toe")):
    """Heads of the legs' bones (frames, legs, roles, 3) as Blender evaluates them."""
    legs = mapping.stored(armature).legs
    names = [getattr(leg, role) for leg in legs for role in roles]
    heads, _ = rigs.evaluated(armature, frames, names)
    return heads.reshape(len(frames), len(legs), len(roles), 3)


def control_rig():
    """A rig in inverse kinematics that walks, with contacts."""
    rigs.new_file()
    armature = control_rigs.built()
    control_rigs.walk(armature, {"control.L": 0.0, "control.R": 0.5}, "pelvis")
    bpy.context.scene.footlock.unit = 1.0
    bpy.ops.footlock.detect_contacts(unit=1.0)
    return armature


class Case(unittest.TestCase):
    def setUp(self):
        rigs.new_file()

    def where_blender_has_them(self, armature, found, step=1):
        """Trails, as the overlay draws them, against the evaluated rig."""
        place = found.to_world(armature)
        wanted = truth(armature, found.frames[::step])
        joints = np.stack([found.hips, found.knees, found.heels, found.toes], axis=2)[::step]
        joints = joints @ place[:3, :3].T + place[:3, 3]
        size = np.median(np.linalg.norm(np.diff(wanted[:, :, :3], axis=2), axis=-1).sum(axis=2))
        self.assertLess(np.abs(joints - wanted).max() / size, SAME)


class Read(Case):
    def test_a_run_hands_on_what_it_has_read(self):
        """Nothing is read again for the overlay, and the feet are where Blender has them, before and after."""
        armature = walker()
        labels = shown(armature).trails.planted
        with mock.patch.object(trails, "read", side_effect=AssertionError("read again")):
            bpy.ops.footlock.detect_contacts(unit=1.0, replace_edited=True)
            detected = shown(armature).trails
            contact_property.write(armature, mapping.of(armature), FRAMES, labels)
            bpy.ops.footlock.remove_sliding(unit=1.0)
            removed = shown(armature).trails
        np.testing.assert_array_equal(removed.source.toes, detected.toes)
        self.assertIsNone(detected.source)
        self.assertGreater(np.abs(removed.toes - detected.toes).max(), 0.01)
        self.where_blender_has_them(armature, removed)
        np.testing.assert_array_equal(removed.planted, labels)
        self.assertEqual(labels.sum(), 34)

    def test_root_fitted(self):
        armature = walker(root=True)
        with rigs.reports() as said, mock.patch.object(trails, "read", side_effect=AssertionError("read again")):
            bpy.ops.footlock.fit_root(unit=1.0)
            found = shown(armature).trails
        self.assertIn("slide", said[-1])
        self.where_blender_has_them(armature, found)
        self.assertGreater(np.abs(found.source.toes - found.toes).max(), 0.01)

    def test_cold_is_what_was_handed_on(self):
        armature = walker()
        bpy.ops.footlock.remove_sliding(unit=1.0, result="NEW")
        warm = shown(armature).trails
        trail_cache._entries.clear()
        cold = shown(armature).trails
        for name in ("frames", "hips", "knees", "heels", "toes", "toe_ends", "weights", "out_of_reach", "ground"):
            np.testing.assert_allclose(getattr(cold, name), getattr(warm, name), atol=1e-6, err_msg=name)
        np.testing.assert_allclose(cold.source.toes, warm.source.toes, atol=1e-6)
        self.assertEqual(cold.legs, warm.legs)

    def test_toe_ends_and_units(self):
        """A rig in centimetres under an object at 0.01: the paths are in the scene's units."""
        armature = walker(size=100.0)
        armature.scale = (0.01,) * 3
        armature.location = (3.0, 1.0, 0.0)
        bpy.context.view_layer.update()
        found = shown(armature).trails
        self.where_blender_has_them(armature, found)
        _, tails = rigs.evaluated(armature, found.frames, [leg.toe for leg in found.legs])
        np.testing.assert_allclose(found.toe_ends, tails, atol=1e-4)

    def test_out_of_reach_is_kept_with_the_action(self):
        armature = walker()
        legs = mapping.of(armature)
        found = trails.read(bpy.context.scene, armature, legs, 1.0)
        self.assertFalse(found.out_of_reach.any())
        clip = mock.Mock(frames=FRAMES)
        missed = np.zeros((len(FRAMES), 2), bool)
        missed[3:9, 0] = missed[20:21, 1] = missed[30:, 1] = True
        trails.remember_out_of_reach(armature, clip, missed)
        np.testing.assert_array_equal(trails.read(bpy.context.scene, armature, legs, 1.0).out_of_reach, missed)
        trails.remember_out_of_reach(armature, clip, missed & False)
        self.assertEqual([name for name in armature.animation_data.action.keys() if "reach" in name], [])  # noqa: SIM118

    def test_joints_between_frames(self):
        found = shown(walker()).trails
        hips, *_, toes, _ = found.at(7.25)
        np.testing.assert_allclose(toes, 0.75 * found.toes[6] + 0.25 * found.toes[7])
        np.testing.assert_allclose(hips, 0.75 * found.hips[6] + 0.25 * found.hips[7])
        np.testing.assert_array_equal(found.at(-100.0)[3], found.toes[0])
        np.testing.assert_array_equal(found.at(900.0)[3], found.toes[-1])


class Moved(Case):
    def test_a_moved_object_moves_its_overlay_without_reading(self):
        armature = walker()
        found = shown(armature).trails
        armature.location = (1.0, -2.0, 0.5)
        armature.rotation_euler = (0.0, 0.0, 1.2)
        bpy.context.view_layer.update()
        with mock.patch.object(trails, "read", side_effect=AssertionError("read again")):
            self.assertIs(shown(armature).trails, found)
        self.where_blender_has_them(armature, found)

    def test_a_tilted_or_scaled_object_is_read_anew(self):
        """What is up is another way, and a millimetre of another length."""
        armature = walker()
        found = shown(armature).trails
        for change in ({"rotation_euler": (0.3, 0.0, 0.0)}, {"scale": (2.0,) * 3}):
            for name, value in change.items():
                setattr(armature, name, value)
            bpy.context.view_layer.update()
            now = shown(armature).trails
            self.assertIsNot(now, found)
            np.testing.assert_allclose(now.to_world(armature), np.eye(4), atol=1e-5)
            self.where_blender_has_them(armature, now)
            found = now

    def test_an_animated_object(self):
        armature = walker()
        armature.animation_data_create()
        frames = np.array([1.0, 20.0, 40.0])
        rigs.key(armature, "location", np.array([[0, 0, 0], [1, 2, 0], [4, 0, 0.0]]), frames)
        rigs.key(armature, "rotation_euler", np.array([[0, 0, 0], [0, 0, 0.6], [0, 0, 2.0]]), frames)
        self.assertTrue(shown(armature).stale)
        bpy.ops.footlock.refresh_overlay()
        found = shown(armature)
        self.assertFalse(found.stale)
        self.assertIsNone(found.trails.place)
        self.where_blender_has_them(armature, found.trails)

    def test_a_moved_parent(self):
        armature = walker()
        parent = bpy.data.objects.new("Parent", None)
        bpy.context.scene.collection.objects.link(parent)
        armature.parent = parent
        bpy.ops.footlock.refresh_overlay()
        found = shown(armature).trails
        parent.matrix_world = Euler((0.0, 0.0, 0.7)).to_matrix().to_4x4()
        parent.location.x = 3.0
        bpy.context.view_layer.update()
        self.where_blender_has_them(armature, found)


class Changed(Case):
    def test_an_edited_key(self):
        armature = walker()
        before = shown(armature).trails
        rigs.curve_of(armature, "thigh.L", "rotation", 1).keyframe_points[10].co.y += 0.2
        rigs.curve_of(armature, "thigh.L", "rotation", 1).update()
        armature.animation_data.action.update_tag()
        bpy.context.view_layer.update()
        after = shown(armature).trails
        self.assertGreater(np.abs(after.toes[10, 0] - before.toes[10, 0]).max(), 0.05)
        self.where_blender_has_them(armature, after)

    def test_an_edited_contact(self):
        armature = walker()
        before = shown(armature).trails
        curve = rigs.curves(armature)['pose.bones["toe.L"]["contact"]', 0]
        curve.keyframe_points.insert(1.0, 0.75).interpolation = "CONSTANT"
        curve.update()
        trail_cache.touch()
        after = shown(armature).trails
        self.assertEqual(after.weights[0, 0], 0.75)
        self.assertEqual(before.weights[0, 0], 0.0)

    def test_nothing_is_read_where_nothing_changed(self):
        armature = walker()
        found = shown(armature).trails
        with mock.patch.object(trails, "read", side_effect=AssertionError("read again")):
            for frame in (5, 17, 33):
                bpy.context.scene.frame_set(frame)
                self.assertIs(shown(armature).trails, found)
            bpy.data.actions.new("another").update_tag()
            trail_cache.touch()
            self.assertIs(shown(armature).trails, found)

    def test_the_source_stays_known_after_an_edit(self):
        armature = walker()
        bpy.ops.footlock.remove_sliding(unit=1.0)
        source = shown(armature).trails.source
        curve = rigs.curves(armature)['pose.bones["toe.L"]["contact"]', 0]
        curve.keyframe_points.insert(20.0, 0.5)
        curve.update()
        trail_cache.touch()
        np.testing.assert_allclose(shown(armature).trails.source.toes, source.toes, atol=1e-6)

    def test_undo_and_redo(self):
        armature = walker()
        name = armature.name
        bpy.ops.ed.undo_push(message="base")
        before = shown(armature).trails
        bpy.ops.footlock.remove_sliding("EXEC_DEFAULT", True, unit=1.0)
        self.assertIsNotNone(shown(bpy.data.objects[name]).trails.source)
        bpy.ops.ed.undo()
        armature = bpy.data.objects[name]
        undone = shown(armature).trails
        self.assertIsNone(undone.source)
        np.testing.assert_allclose(undone.toes, before.toes, atol=1e-6)
        self.where_blender_has_them(armature, undone)
        bpy.ops.ed.redo()
        armature = bpy.data.objects[name]
        redone = shown(armature).trails
        self.assertGreater(np.abs(redone.toes - before.toes).max(), 0.01)
        self.where_blender_has_them(armature, redone)

    def test_save_and_load(self):
        armature = walker()
        bpy.ops.footlock.remove_sliding(unit=1.0, result="NEW")
        before, name = shown(armature).trails, armature.name
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder) / "saved.blend")
            bpy.ops.wm.save_as_mainfile(filepath=path)
            bpy.ops.wm.open_mainfile(filepath=path)
        armature = bpy.data.objects[name]
        self.assertEqual(trail_cache._entries, {})
        after = shown(armature).trails
        np.testing.assert_allclose(after.toes, before.toes, atol=1e-6)
        np.testing.assert_allclose(after.source.toes, before.source.toes, atol=1e-6)
        self.where_blender_has_them(armature, after)

    def test_another_action(self):
        """Nothing of the old one, not even for a moment."""
        armature = walker()
        shown(armature)
        first = armature.animation_data.action
        first.use_fake_user = True
        rigs.new_action(armature, "Other")
        rigs.walk(armature, FRAMES, speed=0.3)
        self.assertIsNone(trail_cache.current(bpy.context.scene, armature))
        other = shown(armature).trails
        self.where_blender_has_them(armature, other)
        self.assertFalse(other.planted.any())
        compat.assign(armature, first)
        self.assertIsNone(trail_cache.current(bpy.context.scene, armature))
        self.where_blender_has_them(armature, shown(armature).trails)

    def test_other_legs(self):
        armature = walker()
        shown(armature)
        bpy.ops.footlock.remove_leg(index=1)
        self.assertIsNone(trail_cache.current(bpy.context.scene, armature))
        self.assertEqual(shown(armature).trails.toes.shape[1], 1)

    def test_a_deleted_armature(self):
        armature = walker()
        shown(armature)
        trail_cache.touch()
        trail_cache.current(bpy.context.scene, armature)
        bpy.data.objects.remove(armature)
        trail_cache.work()
        self.assertEqual(trail_cache._entries, {})

    def test_what_cannot_be_read_says_why(self):
        armature = walker()
        armature.data.pose_position = "REST"
        trail_cache.touch()
        found = shown(armature)
        self.assertIsNone(found.trails)
        self.assertIn("Pose Position", found.why)
        armature.data.pose_position = "POSE"
        trail_cache.touch()
        self.assertIsNotNone(shown(armature).trails)

    def test_an_armature_without_legs_or_action(self):
        armature = rigs.biped()
        found = shown(armature)
        self.assertIsNone(found.trails)
        self.assertIn("Find Legs", found.why)
        bpy.ops.footlock.map_legs()
        self.assertIn("no action", shown(armature).why)


class Stepped(Case):
    """Rigs whose frames must be played are read on request only."""

    def test_a_control_rig(self):
        armature = control_rig()
        warm = shown(armature)
        self.assertFalse(warm.stale)
        self.where_blender_has_them(armature, warm.trails, step=5)
        curve = next(iter(rigs.curves(armature).values()))
        curve.keyframe_points[3].co.y += 0.1
        curve.update()
        trail_cache.touch()
        with mock.patch.object(trails, "read", side_effect=AssertionError("stepped by itself")):
            stale = shown(armature)
        self.assertTrue(stale.stale)
        self.assertIs(stale.trails, warm.trails)
        frame = bpy.context.scene.frame_current
        self.assertEqual(bpy.ops.footlock.refresh_overlay(), {"FINISHED"})
        self.assertEqual(bpy.context.scene.frame_current, frame)
        fresh = shown(armature)
        self.assertFalse(fresh.stale)
        self.where_blender_has_them(armature, fresh.trails, step=5)

    def test_the_source_of_a_copy(self):
        armature = control_rig()
        bpy.ops.footlock.remove_sliding(unit=1.0, result="NEW")
        warm, action = shown(armature).trails, armature.animation_data.action
        trail_cache._entries.clear()
        cold = shown(armature)
        self.assertIsNone(cold.trails)
        self.assertIn("Refresh", cold.why)
        bpy.ops.footlock.refresh_overlay()
        self.assertEqual(armature.animation_data.action, action)
        found = shown(armature).trails
        np.testing.assert_allclose(found.toes, warm.toes, atol=1e-5)
        np.testing.assert_allclose(found.source.toes, warm.source.toes, atol=1e-5)

    def test_a_layer(self):
        armature = walker()
        before = shown(armature).trails
        bpy.ops.footlock.remove_sliding(unit=1.0, result="LAYER")
        warm = shown(armature).trails
        self.where_blender_has_them(armature, warm)
        trail_cache._entries.clear()
        self.assertIsNone(shown(armature).trails)
        bpy.ops.footlock.refresh_overlay()
        cold = shown(armature).trails
        np.testing.assert_allclose(cold.toes, warm.toes, atol=1e-5)
        np.testing.assert_allclose(cold.source.toes, before.toes, atol=1e-5)
        np.testing.assert_array_equal(cold.weights, warm.weights)
        self.assertEqual(results.influence(armature), 1.0)

    def test_refresh_without_legs(self):
        rigs.biped()
        with self.assertRaisesRegex(RuntimeError, "Find Legs"):
            bpy.ops.footlock.refresh_overlay()


class Registered(Case):
    def test_nothing_is_left_over(self):
        """Handlers, timers, properties and draw handles, over 20 rounds."""
        footlock.unregister()
        self.addCleanup(footlock.register)

        def state():
            kinds = {name: getattr(bpy.app.handlers, name) for name in dir(bpy.app.handlers)}
            lists = {name: list(one) for name, one in kinds.items() if isinstance(one, list)}
            names = [name for name in dir(bpy.types) if "FOOTLOCK" in name.upper()]
            types = (bpy.types.Object, bpy.types.Scene, bpy.types.Armature, bpy.types.WindowManager)
            owned = [name for one in types for name in dir(one) if "footlock" in name]
            return lists, names, owned

        before = state()
        self.assertEqual(before[1:], ([], []))
        for _ in range(20):
            footlock.register()
            self.assertNotEqual(state(), before)
            footlock.unregister()
            self.assertEqual(state(), before)

    def test_registered_once_each(self):
        for name, handler in trail_cache._handlers:
            self.assertEqual(getattr(bpy.app.handlers, name).count(handler), 1)
