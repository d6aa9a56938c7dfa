"""The live lock: the pose that Remove Sliding writes with the method Runtime, step by step."""

import bpy
import clips
import numpy as np
from blender import rigs
from blender.live_clips import LiveCase, channels, differ, play, played, sliding_walk, switch, walking

from footlock.operators import live_lock
from footlock.rig import clip as reading
from footlock.rig import contact_property, contact_reports, live, mapping, sources
from footlock.solvers import one_lock

# The pose that is played is that of the keys within this, metres.
SAME = 1e-4


class Same(LiveCase):
    """Played once from the first frame, the pose is that of the keys."""

    def compare(self, armature, frames, labels=True):
        before = clips.dump(armature)
        sliding = play(armature, frames)
        bpy.context.scene.frame_set(int(frames[0]))
        switch()
        self.assertTrue(live.is_on(armature))
        played = play(armature, frames)
        self.assertEqual(clips.dump(armature), before, "a key has changed")
        self.assertEqual(bpy.ops.footlock.bake_live(), {"FINISHED"})
        self.is_clean()
        baked = play(armature, frames)
        worst = np.abs(played - baked).max(axis=(0, 1, 3))
        self.assertGreater(np.abs(sliding - baked).max(), 0.02, "nothing was corrected")
        self.assertLess(worst.max(), SAME)

    def test_walk_with_curves(self):
        self.compare(sliding_walk(), range(1, 996))

    def test_walk_by_thresholds(self):
        self.compare(sliding_walk(1.1, labels=False), range(1, 996))

    def test_baked_there_is_a_way_back_and_a_report(self):
        """As after Remove Sliding; and over a corrected action it begins with what is shown, while the source stays."""
        armature = sliding_walk()
        scene, keys, before = bpy.context.scene, clips.dump(armature), play(armature, range(1, 200))
        switch()
        bpy.ops.footlock.bake_live()
        self.assertNotEqual(clips.dump(armature), keys)
        self.assertGreater(len(contact_reports.find(armature).contacts), 5)
        source = sources.of(armature)
        scene.frame_set(1)
        scene.footlock.lock_distance, scene.footlock.unlock_distance = 0.02, 0.05
        switch()
        played = play(armature, range(1, 200))
        bpy.ops.footlock.bake_live()
        self.assertLess(np.abs(played - play(armature, range(1, 200))).max(), SAME)
        self.assertEqual(sources.of(armature), source)
        bpy.ops.footlock.revert()
        for key, (points, *_) in clips.dump(armature).items():  # the importer leaves handles until they are needed
            self.assertTrue(points == keys[key][0], key)
        np.testing.assert_array_equal(play(armature, range(1, 200)), before)
        self.is_clean()

    def test_rig_of_its_own(self):
        """Each rotation mode, bones between, an object that is turned, small and in a scene of centimetres, one that
        moves, and one without toe bones."""
        frames = np.arange(1.0, 61.0)
        for mode in ("QUATERNION", "AXIS_ANGLE", "XYZ", "ZYX"):
            for kind in ("plain", "turned", "moving", "toeless"):
                with self.subTest(mode=mode, kind=kind):
                    rigs.new_file()
                    armature = walking(frames, mode, kind)
                    bpy.context.scene.frame_set(1)
                    switch()
                    self.assertTrue(live.by_curves(armature))
                    played = play(armature, frames)
                    bpy.ops.footlock.bake_live()
                    baked = play(armature, frames)
                    unit = bpy.context.scene.unit_settings.scale_length
                    self.assertLess(np.abs(played - baked).max() * unit, SAME)
                    self.is_clean()

    def test_toe_stands(self):
        """Once the blend is over, a planted toe stands while it plays, and its speed makes no step that the input and
        the blend do not."""
        armature = sliding_walk()
        settings = bpy.context.scene.footlock
        settings.blend_time, settings.lock_distance = 0.1, 0.1
        frames = np.arange(1, 996)
        source = play(armature, frames)[:, :, 3]
        planted = contact_property.read(armature, mapping.stored(armature), frames)
        bpy.context.scene.frame_set(1)
        switch()
        toes = play(armature, frames)[:, :, 3]
        rate = reading.frame_rate(bpy.context.scene)
        for leg in range(2):
            state, states = one_lock.start(tuple(source[0, leg])), []
            heights = live._sessions[armature.session_uid].legs.legs[leg].heights
            for toe, contact in zip(source[:, leg].tolist(), planted[:, leg], strict=True):
                given = live_lock.settings(bpy.context.scene).lock
                state = one_lock.update(state, tuple(toe), bool(contact), heights[1], 1.0 / rate, given)
                states.append(state)
            asked = np.array([one.position for one in states])
            reached = np.linalg.norm(asked - toes[:, leg], axis=1) < 2e-5
            self.assertGreater(np.count_nonzero(reached), 800)
            held = np.array([one.locked and one.time > 0.1 for one in states]) & reached
            still = held[1:] & held[:-1]
            self.assertGreater(np.count_nonzero(still), 150)
            steps = np.linalg.norm(np.diff(toes[:, leg], axis=0), axis=1)[still]
            self.assertLess(steps.max(), 2e-5)
            self.assertGreater(np.linalg.norm(np.diff(source[:, leg], axis=0), axis=1)[still].max(), 1e-3)


class Steps(LiveCase):
    def test_back_and_jumps_begin_anew(self):
        """At a frame that was come to from elsewhere the state is a new one, as if Live had just been switched on."""
        armature = sliding_walk()
        bpy.context.scene.footlock.lock_distance = 1.0
        fresh = {}
        for frame in (150, 90):
            bpy.context.scene.frame_set(frame)
            switch()
            fresh[frame] = played(armature, frame + 1, frame + 10)
            switch()
        bpy.context.scene.frame_set(100)
        switch()
        self.assertTrue(differ(played(armature, 101, 160), fresh[150]))
        for frame in (150, 90):
            self.assertEqual(differ(played(armature, frame, frame + 10), fresh[frame]), [], frame)

    def test_same_frame_twice(self):
        """Blender may come to a frame several times, for each of its views and renders."""
        armature = sliding_walk()
        switch()
        for frame in range(1, 41):
            bpy.context.scene.frame_set(frame)
        once = channels(armature)
        bpy.context.scene.frame_set(40)
        self.assertEqual(differ(channels(armature), once), [])
        bpy.context.scene.frame_set(41)
        next_frame = channels(armature)
        for frame in (40, 41):
            # Motion blur looks at times around a frame.
            bpy.context.scene.frame_set(frame, subframe=0.5)
        bpy.context.scene.frame_set(41)
        self.assertEqual(differ(channels(armature), next_frame), [])

    def test_settings_while_it_plays(self):
        """The panel's numbers count from the next frame on."""
        armature = sliding_walk()
        switch()
        with_default = play(armature, range(1, 60))
        bpy.context.scene.footlock.lock_distance = 0.0
        self.assertGreater(np.abs(play(armature, range(1, 60)) - with_default).max(), 0.005)

    def test_thresholds_while_it_plays(self):
        """They count from the next frame on, too; a speed that no foot is below plants none."""
        armature = sliding_walk(1.1, labels=False)
        sliding = play(armature, range(1, 60))
        bpy.context.scene.frame_set(1)
        switch()
        self.assertGreater(np.abs(play(armature, range(1, 60)) - sliding).max(), 0.005)
        bpy.context.scene.footlock.velocity = 0.0
        np.testing.assert_array_equal(play(armature, range(1, 60)), sliding)
        bpy.context.scene.footlock.auto_velocity = True
        self.assertGreater(np.abs(play(armature, range(1, 60)) - sliding).max(), 0.005)
        self.assertTrue(live.is_on(armature))

    def test_rate_and_action(self):
        """Another rate begins anew; another action is read anew, and one that cannot be locked ends it."""
        armature = sliding_walk()
        action = armature.animation_data.action
        switch()
        bpy.context.scene.frame_set(2)
        other = action.copy()
        rigs.compat.assign(armature, other)
        bpy.context.scene.frame_set(3)
        self.assertTrue(live.is_on(armature))
        bpy.context.scene.render.fps = 30
        bpy.context.scene.frame_set(4)
        self.assertTrue(live.is_on(armature))
        armature.animation_data.action = None
        bpy.context.scene.frame_set(5)
        self.is_clean()

    def test_two_armatures(self):
        """Each is locked by itself, and the one that is not keeps its pose."""
        frames = np.arange(1.0, 41.0)
        one = walking(frames)
        other = rigs.biped("Other", root=True, twist=True)
        rigs.wobble(other, frames, mode="XYZ", seed=5)
        bpy.context.view_layer.update()
        mapping.store(other, mapping.of(other))
        contact_property.write(other, mapping.stored(other), frames, np.ones((40, 2), bool))
        alone = {armature.name: play(armature, frames) for armature in (one, other)}
        bpy.context.view_layer.objects.active = other
        bpy.context.scene.frame_set(1)
        switch()
        self.assertEqual((live.is_on(one), live.is_on(other)), (False, True))
        np.testing.assert_array_equal(play(one, frames), alone[one.name])
        moved = play(other, frames)
        self.assertGreater(np.abs(moved - alone["Other"]).max(), 0.01)
        bpy.context.view_layer.objects.active = one
        bpy.context.scene.frame_set(1)
        switch()
        self.assertGreater(np.abs(play(one, frames) - alone[one.name]).max(), 0.01)
        np.testing.assert_array_equal(play(other, frames), moved)
        switch()
        self.assertEqual((live.is_on(one), live.is_on(other)), (False, True))
        np.testing.assert_array_equal(play(one, frames), alone[one.name])
