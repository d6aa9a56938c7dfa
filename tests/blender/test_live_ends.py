"""Live lock: off leaves the pose as it was, and whatever ends it leaves nothing behind."""

import tempfile

import bpy
import clips
import numpy as np
from blender import rigs
from blender.live_clips import LiveCase, channels, differ, handlers, play, played, sliding_walk, switch, without_keys

import footlock
from footlock.rig import live, mapping


class Off(LiveCase):
    def test_pose_to_the_byte(self):
        """Bones with keys, a foot without, and a thigh that was posed by hand and not keyed."""
        armature = sliding_walk()
        legs = mapping.stored(armature)
        foot = armature.pose.bones[legs.legs[0].foot]
        without_keys(armature, foot)
        foot.rotation_euler = (0.1, 0.2, 0.3)
        bpy.context.scene.footlock.lock_distance = 1.0
        bpy.context.scene.frame_set(100)
        armature.pose.bones[legs.legs[1].thigh].rotation_euler.x += 0.1
        bpy.context.view_layer.update()
        before, keys = channels(armature), clips.dump(armature)
        switch()
        switch()
        self.assertEqual(differ(channels(armature), before), [])
        expected = {}
        for frame in range(90, 131):
            bpy.context.scene.frame_set(frame)
            expected[frame] = channels(armature)
        bpy.context.scene.frame_set(90)
        switch()
        foot_changed = False
        for frame in range(90, 131):
            bpy.context.scene.frame_set(frame)
            changed = {key for key, value in channels(armature).items() if value != expected[frame][key]}
            foot_changed |= (foot.name, "rotation_euler") in changed
        self.assertTrue(changed and foot_changed)
        switch()
        self.assertEqual(differ(channels(armature), expected[130]), [])
        self.assertEqual(clips.dump(armature), keys)
        self.is_clean()

    def test_other_buttons_see_the_pose_without_it(self):
        """Detect Contacts and Remove Sliding give the same keys whether it is on or not, and it goes on after them."""
        keys = []
        for on in (False, True):
            armature = sliding_walk()
            bpy.context.scene.frame_set(120)
            if on:
                switch()
                bpy.context.scene.frame_set(121)
            bpy.ops.footlock.detect_contacts()
            with rigs.reports() as said:
                bpy.ops.footlock.remove_sliding()
            self.assertEqual("switch it off to see the result" in said[0], on)
            self.assertEqual(live.is_on(armature), on)
            keys.append(clips.dump(armature))
        self.assertEqual(*keys)

    def test_bake_is_remove_sliding(self):
        keys = []
        for bake in (False, True):
            armature = sliding_walk()
            if bake:
                switch()
                play(armature, range(1, 20))
                bpy.ops.footlock.bake_live()
                self.is_clean()
            else:
                bpy.ops.footlock.remove_sliding(method="runtime")
            keys.append(clips.dump(armature))
        self.assertEqual(*keys)


class Ends(LiveCase):
    """What ends it, and that nothing is left."""

    def switched_on(self):
        armature = sliding_walk()
        bpy.context.scene.frame_set(50)
        switch()
        for frame in range(51, 61):
            bpy.context.scene.frame_set(frame)
        self.assertNotEqual(handlers(), self.handlers)
        return armature

    def test_registered_twenty_times(self):
        def modules():
            return sorted(dir(bpy.types.Scene)), sorted(dir(bpy.types.Object)), sorted(dir(bpy.ops.footlock))

        before = modules()
        footlock.unregister()
        without = handlers()
        footlock.register()
        for _ in range(20):
            self.switched_on()
            footlock.unregister()
            self.assertEqual(handlers(), without)
            footlock.register()
            self.is_clean()
        self.assertEqual(modules(), before)

    def test_unregister_puts_the_pose_back(self):
        armature = sliding_walk()
        bpy.context.scene.frame_set(160)
        before = channels(armature)
        bpy.context.scene.frame_set(100)
        switch()
        self.assertTrue(differ(played(armature, 101, 160), before))
        footlock.unregister()
        self.addCleanup(lambda: hasattr(bpy.types.Scene, "footlock") or footlock.register())
        self.assertEqual(differ(channels(armature), before), [])
        footlock.register()
        self.is_clean()

    def test_another_file(self):
        self.switched_on()
        rigs.new_file()
        self.is_clean()
        bpy.context.scene.frame_set(3)

    def test_its_file_is_saved_without_the_lock(self):
        """The file has the pose without it, the scene goes on with it, and a file that is opened has it off."""
        armature = sliding_walk()
        legs = mapping.stored(armature)
        bpy.context.scene.footlock.lock_distance = 1.0
        foot = armature.pose.bones[legs.legs[0].foot]
        without_keys(armature, foot)
        bpy.context.scene.frame_set(160)
        before = channels(armature)
        bpy.context.scene.frame_set(100)
        switch()
        shown = played(armature, 101, 160)
        self.assertIn((foot.name, "rotation_euler"), differ(shown, before))
        self.assertTrue(differ(shown, before))
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/live.blend"
            bpy.ops.wm.save_as_mainfile(filepath=path)
            self.assertEqual(differ(channels(armature), shown), [])
            self.assertTrue(live.is_on(armature))
            bpy.ops.wm.open_mainfile(filepath=path)
        self.is_clean()
        self.assertEqual(differ(channels(bpy.data.objects[clips.WALK.stem]), before), [])

    def test_undo_and_redo(self):
        armature = sliding_walk()
        name, legs = armature.name, mapping.stored(armature)
        foot = armature.pose.bones[legs.legs[0].foot]
        without_keys(armature, foot)
        bpy.context.scene.footlock.lock_distance = 1.0
        foot = foot.name
        bpy.context.scene.frame_set(160)
        before = channels(armature)
        for redo in (False, True):
            with self.subTest(redo=redo):
                bpy.ops.ed.undo_push(message="base")
                bpy.context.scene.frame_set(100)
                switch()
                self.assertIn((foot, "rotation_euler"), differ(played(armature, 101, 160), before))
                for step in ("one", "two", "three"):
                    bpy.data.objects[name]["step"] = step
                    bpy.ops.ed.undo_push(message=step)
                bpy.ops.ed.undo()
                if redo:
                    switch()
                    bpy.ops.ed.redo()
                self.is_clean()
                armature = bpy.data.objects[name]
                self.assertFalse(live.is_on(armature))
                self.assertEqual(armature["step"], "three" if redo else "two")
                bpy.context.view_layer.update()
                self.assertEqual(differ(channels(armature), before), [])
                bpy.context.scene.frame_set(161)
                bpy.context.scene.frame_set(160)
                self.assertEqual(differ(channels(armature), before), [])

    def test_armature_deleted(self):
        for by_operator in (False, True):
            with self.subTest(by_operator=by_operator):
                armature = self.switched_on()
                if by_operator:
                    bpy.ops.object.select_all(action="DESELECT")
                    armature.select_set(True)
                    bpy.ops.object.delete()
                else:
                    bpy.data.objects.remove(armature)
                bpy.context.view_layer.update()
                self.is_clean()
                bpy.context.scene.frame_set(3)

    def test_armature_deleted_by_data(self):
        armature = self.switched_on()
        bpy.data.armatures.remove(armature.data)
        bpy.context.scene.frame_set(3)
        self.is_clean()

    def test_armature_renamed(self):
        """It goes on under the new name, also where another object has the old one."""
        armature = self.switched_on()
        armature.name = "Other"
        bpy.context.scene.collection.objects.link(bpy.data.objects.new(clips.WALK.stem, None))
        bpy.context.scene.frame_set(61)
        self.assertTrue(live.is_on(armature))
        bpy.context.view_layer.objects.active = armature
        switch()
        self.is_clean()

    def test_edit_mode_and_rest_position(self):
        armature = self.switched_on()
        bpy.ops.object.mode_set(mode="EDIT")
        bpy.context.view_layer.update()
        self.is_clean()
        bpy.ops.object.mode_set(mode="OBJECT")
        armature = self.switched_on()
        armature.data.pose_position = "REST"
        bpy.context.scene.frame_set(70)
        self.is_clean()

    def test_bone_removed_or_renamed(self):
        armature = self.switched_on()
        leg = mapping.stored(armature).legs[0]
        armature.data.bones[leg.shin].name = "Other"
        bpy.context.scene.frame_set(61)
        self.is_clean()
        bpy.context.scene.frame_set(62)

    def test_refused_with_a_sentence(self):
        """Nothing is on, and nothing is left."""
        armature = rigs.biped()
        with self.assertRaisesRegex(RuntimeError, "Assign or import an animation"):
            bpy.ops.footlock.live_lock()
        rigs.wobble(armature, np.arange(1.0, 21.0))
        target = bpy.data.objects.new("Target", None)
        bpy.context.scene.collection.objects.link(target)
        constraint = armature.pose.bones["shin.L"].constraints.new("IK")
        constraint.target, constraint.chain_count = armature, 2
        constraint.subtarget = "foot.R"
        with self.assertRaisesRegex(RuntimeError, "Live Lock cannot move"):
            bpy.ops.footlock.live_lock()
        self.is_clean()
