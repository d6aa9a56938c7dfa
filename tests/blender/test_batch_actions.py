"""What retargeters leave: files with several armatures and several actions, of which the batch takes those that are
named."""

import json

import bpy
import clips
import numpy as np
from blender import rigs
from blender.batch_clips import cut
from blender.test_batch import run

from footlock.rig import compat, contact_property, mapping

# Metres a frame.
STANDS = 0.05e-3


def held(action):
    """Keys of an action, of all its slots, to be compared."""
    found = []
    for curve in compat.all_fcurves(action):
        points = np.empty(2 * len(curve.keyframe_points), np.float32)
        curve.keyframe_points.foreach_get("co", points)
        found.append((curve.data_path, curve.array_index, points.tobytes()))
    return sorted(found)


class Actions(clips.InFolder):
    def setUp(self):
        super().setUp()
        self.path, self.out = self.folder / "retargeted.blend", self.folder / "out.blend"
        self.report = self.folder / "report.json"
        clips.opened("retargeted", self.make)
        bpy.ops.wm.save_as_mainfile(filepath=str(self.path))
        self.before = {action.name: held(action) for action in bpy.data.actions}

    def make(self):
        first, second = cut(self.folder / "in", 2)
        armature = clips.import_clip(first)
        armature.name = armature.data.name = "Hero"
        armature.animation_data.action.name = "Walk"
        bpy.ops.import_anim.bvh(filepath=str(second), frame_start=31)
        other = bpy.context.object
        self.hop = other.animation_data.action
        self.hop.name = "Hop"
        bpy.data.objects.remove(other)
        # Another character, of other bones, with a take of its own and one that it does not play.
        biped = rigs.biped("Extra")
        rigs.walk(biped, np.arange(1.0, 61.0), speed=1.0)
        biped.animation_data.action.name = "Extra walk"
        planted = np.zeros((60, 2), bool)
        planted[6:13, 0] = planted[36:43, 0] = planted[20:27, 1] = True
        contact_property.write(biped, mapping.of(biped), np.arange(1.0, 61.0), planted)
        slower = bpy.data.scenes.new("At 24 Hz")
        slower.collection.objects.link(biped)
        bpy.context.scene.collection.objects.unlink(biped)
        bpy.data.objects.new("Box", None).keyframe_insert("location", frame=1)
        bpy.data.objects["Box"].animation_data.action.name = "Box move"
        bpy.context.scene.collection.objects.link(bpy.data.objects["Box"])
        pose = bpy.data.actions.new("A pose")
        compat.assign(armature, pose)
        compat.ensure_fcurve(armature, armature.pose.bones["LeftHip"].path_from_id("rotation_euler"), 0, "LeftHip")
        compat.fcurves(armature)[0].keyframe_points.insert(1.0, 0.1)
        compat.assign(armature, bpy.data.actions["Walk"])
        for action in bpy.data.actions:
            action.use_fake_user = True
        bpy.context.scene.frame_set(17)

    def rows(self, *options, status=0):
        """What the report says of each clip, after a run with these options."""
        got, said = run(self.path, "-o", self.out, "--report", self.report, *options)
        self.assertEqual(got, status, said)
        return json.loads(self.report.read_text(encoding="utf-8"))["clips"]

    def check_stands(self, name, action, toe="LeftToe"):
        """The toe of an armature of the open file stands while the contact curve of an action is up; how often it
        does."""
        armature = bpy.data.objects[name]
        bpy.context.window.scene = armature.users_scene[0]
        compat.assign(armature, bpy.data.actions[action])
        bearer = armature.pose.bones[toe].path_from_id() + '["contact"]'
        contact = clips.curves(armature)[(bearer, 0)]
        first, last = bpy.data.actions[action].frame_range
        labels = np.array([contact.evaluate(frame) for frame in range(int(first), int(last) + 1)]) > 0.5
        toes = clips.joints(armature)[:, 2 * list(armature.pose.bones.keys()).index(toe)]
        steps = np.linalg.norm(np.diff(toes, axis=0), axis=1)[labels[1:] & labels[:-1]]
        self.assertLess(steps.max(initial=0.0), STANDS, action)
        return len(steps)

    def test_all_actions(self):
        rows = self.rows("--action", "*")
        done = {row["action"]: row for row in rows if "left_alone" not in row}
        self.assertEqual(set(done), {"Walk", "Hop", "Extra walk"})
        self.assertEqual({name: row["armature"] for name, row in done.items()},
                         {"Walk": "Hero", "Hop": "Hero", "Extra walk": "Extra"})  # fmt: skip
        left = {row["action"]: row["left_alone"] for row in rows if "left_alone" in row}
        self.assertEqual(left, {"A pose": "is a pose of fewer than 3 frames", "Box move": "moves no leg"})
        self.assertEqual([row["frames"] for row in (done["Walk"], done["Hop"], done["Extra walk"])], [100, 100, 60])
        bpy.ops.wm.open_mainfile(filepath=str(self.out))
        self.assertEqual(bpy.data.objects["Hero"].animation_data.action.name, "Walk")
        self.assertEqual(bpy.data.objects["Extra"].animation_data.action.name, "Extra walk")
        for name in left:
            self.assertEqual(held(bpy.data.actions[name]), self.before[name])
        hop = [points[::2] for _, _, keys in held(bpy.data.actions["Hop"]) for points in [np.frombuffer(keys, "f4")]]
        self.assertEqual((min(map(min, hop)), max(map(max, hop))), (31.0, 130.0))
        self.assertGreater(self.check_stands("Hero", "Walk") + self.check_stands("Hero", "Hop"), 30)
        self.assertGreater(self.check_stands("Extra", "Extra walk", "toe.L"), 10)

    def test_one_action_as_if_it_were_assigned(self):
        """The keys do not depend on what else is in the file, or was done before."""
        self.rows("--action", "*")
        bpy.ops.wm.open_mainfile(filepath=str(self.out))
        of_all = held(bpy.data.actions["Hop"])
        rows = self.rows("--action", "Ho?", "--armature", "Hero")
        self.assertEqual([row["action"] for row in rows], ["Hop"])
        bpy.ops.wm.open_mainfile(filepath=str(self.out))
        self.assertEqual(held(bpy.data.actions["Hop"]), of_all)
        for name in ("Walk", "Extra walk", "Box move", "A pose"):
            self.assertEqual(held(bpy.data.actions[name]), self.before[name])

    def test_without_it_those_in_use(self):
        self.assertEqual({row["action"] for row in self.rows()}, {"Walk", "Extra walk"})
        rows = self.rows("--armature", "Ex*", "--armature", "nobody")
        self.assertEqual([row["armature"] for row in rows], ["Extra"])

    def test_nothing_that_matches(self):
        for options, wanted in (
            (("--action", "Run*"), "has no action called “Run*”, but “"),
            (("--armature", "Villain"), "has no armature called “Villain”, but “Extra”, “Hero”"),
            (("--action", "Box move"), "No action of “retargeted.blend” can be corrected (“Box move” moves no leg)"),
        ):
            with self.subTest(options):
                rows = self.rows(*options, status=1)
                self.assertEqual(len(rows), 1)
                self.assertIn(wanted, rows[0]["error"])
                self.assertFalse(self.out.exists())
        self.assertEqual(run(self.path, "-o", self.out, "--action", "*", "--result", "new")[0], 2)

    def test_one_that_fails_does_not_spoil_the_others(self):
        """Its keys, and all that was written on the way, are as they were."""
        bpy.ops.wm.open_mainfile(filepath=str(self.path))
        curve = next(one for one in compat.all_fcurves(bpy.data.actions["Hop"]) if "LeftKnee" in one.data_path)
        curve.keyframe_points[3].co.y = np.inf
        bpy.ops.wm.save_as_mainfile(filepath=str(self.path))
        before = held(bpy.data.actions["Hop"])
        rows = self.rows("--action", "*", status=1)
        self.assertEqual([row["action"] for row in rows if "error" in row], ["Hop"])
        bpy.ops.wm.open_mainfile(filepath=str(self.out))
        self.assertEqual(held(bpy.data.actions["Hop"]), before)
        self.assertGreater(self.check_stands("Hero", "Walk"), 10)

    def test_linked_actions_are_left_alone(self):
        library = self.folder / "library.blend"
        bpy.ops.wm.open_mainfile(filepath=str(self.path))
        bpy.ops.wm.save_as_mainfile(filepath=str(library))
        bpy.ops.wm.open_mainfile(filepath=str(self.path))
        bpy.data.actions.remove(bpy.data.actions["Hop"])
        with bpy.data.libraries.load(str(library), link=True) as (_, taken):
            taken.actions = ["Hop"]
        taken.actions[0].use_fake_user = True
        bpy.data.objects["Box"].animation_data.action = taken.actions[0]
        bpy.ops.wm.save_as_mainfile(filepath=str(self.path))
        rows = self.rows("--action", "[HW]*")
        self.assertEqual([row["action"] for row in rows if "left_alone" not in row], ["Walk"])
        left = [row for row in rows if "left_alone" in row]
        self.assertEqual([(row["action"], row["left_alone"]) for row in left],
                         [("Hop", "is linked from another file")])  # fmt: skip

    def test_takes_of_other_kinds(self):
        for kind in (".glb", ".fbx"):
            bpy.ops.wm.open_mainfile(filepath=str(self.path))
            for name in ("Hop", "A pose", "Box move"):
                bpy.data.actions.remove(bpy.data.actions[name])
            path, out = self.folder / f"both{kind}", self.folder / f"out{kind}"
            if kind == ".glb":
                bpy.ops.export_scene.gltf(filepath=str(path), export_optimize_animation_size=False)
            else:
                bpy.ops.export_scene.fbx(filepath=str(path), add_leaf_bones=False, bake_anim_use_nla_strips=False)
            status, said = run(path, "-o", out, "--report", self.report, "--armature", "Hero", "--action", "*Walk*")
            self.assertEqual(status, 0, said)
            rows = json.loads(self.report.read_text(encoding="utf-8"))["clips"]
            self.assertEqual({row["armature"] for row in rows}, {"Hero"})
            self.assertTrue(all("Walk" in row["action"] for row in rows))
            status, said = run(path, "-o", out, "--armature", "Villain")
            self.assertEqual(status, 1)
            self.assertIn("no armature called “Villain”", said)
            status, said = run(path, "-o", out, "--action", "Run")
            self.assertEqual(status, 1)
            self.assertIn("no action called “Run”", said)
