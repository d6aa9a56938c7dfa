"""Bad input gets one sentence that says what to do, and changes nothing."""

import json
import tempfile
import unittest
from pathlib import Path

import bpy
import clips
import numpy as np
from blender import rigs
from blender.test_batch import run

from footlock import operators
from footlock.rig import compat, contact_property, live, mapping, trail_cache

FRAMES = np.arange(1.0, 41.0)
BUTTONS = (bpy.ops.footlock.detect_contacts, bpy.ops.footlock.remove_sliding)


def walker(frames=FRAMES, **options):
    """A walk on a generated biped, with labels that have each foot planted for a while."""
    rigs.new_file()
    armature = rigs.biped(**options)
    rigs.walk(armature, frames)
    return armature


def label(armature):
    """Contact curves by hand: left foot first, then right."""
    legs = mapping.of(armature)
    labels = np.zeros((len(FRAMES), len(legs.legs)), bool)
    labels[2:15, 0] = labels[20:35, -1] = True
    contact_property.write(armature, legs, FRAMES, labels)


def labelled():
    """A walk of 20 frames with labels, whose legs are mapped."""

    def make():
        frames = FRAMES[:20]
        armature = walker(frames)
        bpy.ops.footlock.map_legs()
        labels = np.zeros((len(frames), 2), bool)
        labels[2:9, 0] = labels[11:18, 1] = True
        contact_property.write(armature, mapping.of(armature), frames, labels)

    return clips.opened("short labelled walker", make)


class Refused(unittest.TestCase):
    def refused(self, pattern, buttons=BUTTONS):
        """Each button says one sentence that fits the pattern, and nothing is changed."""
        for button in buttons:
            before = rigs.everything()
            with self.assertRaisesRegex(RuntimeError, pattern) as caught:
                button()
            sentence = str(caught.exception).strip()
            self.assertNotIn("Traceback", sentence)
            self.assertEqual(rigs.everything(), before)

    def test_no_armature(self):
        rigs.new_file()
        self.refused("poll.* failed|Select the armature")

    def test_no_action(self):
        rigs.new_file()
        rigs.biped()
        self.refused("poll.* failed|Assign or import")

    def test_action_without_keys(self):
        rigs.new_file()
        armature = rigs.biped()
        rigs.new_action(armature)
        self.refused("has no keys|uses no slot")

    def test_no_legs(self):
        """No name tells, and one leg alone has no shape that does."""
        armature = walker(sides="L")
        for i, bone in enumerate(armature.data.bones):
            bone.name = f"part {i}"
        self.refused("No leg was found")
        self.refused("No leg was found", [bpy.ops.footlock.map_legs])

    def test_short_clips(self):
        for count in (1, 2):
            with self.subTest(frames=count):
                walker(FRAMES[:count])
                self.refused(f"has {count} frame{'s' * (count > 1)},")

    def test_not_a_number(self):
        for value in (np.nan, np.inf):
            with self.subTest(value=value):
                armature = walker()
                label(armature)
                curve = rigs.curve_of(armature, "shin.L", "rotation_quaternion", 1)
                co = np.empty(2 * len(FRAMES), np.float32)
                curve.keyframe_points.foreach_get("co", co)
                co[11] = value
                curve.keyframe_points.foreach_set("co", co)
                self.refused("not a number")

    def test_values_that_are_far_too_large(self):
        """Blender makes such numbers of infinite ones that are set one by one."""
        cases = (
            ("pelvis", "location", (np.inf, -3e38, 2e9), "location"),
            ("shin.L", "rotation_quaternion", (np.inf, 1e30), "rotation_quaternion"),
            ("toe.R", "rotation_quaternion", (-3e38, 2e6), "rotation_quaternion"),
        )
        for bone, channel, values, curve in cases:
            for value in values:
                with self.subTest(bone, value=value):
                    armature = walker()
                    label(armature)
                    key = rigs.curve_of(armature, bone, channel, 1).keyframe_points[5]
                    key.co[1] = value
                    self.assertTrue(np.isfinite(key.co[1]))
                    pattern = f"The curve “{curve}” of bone “{bone}” has a value that is far too large"
                    self.refused(pattern, [*BUTTONS, bpy.ops.footlock.fit_root, bpy.ops.footlock.update_report])

    def test_a_bone_that_is_far_too_far(self):
        """As far as the unit says; without a curve, too."""
        for keyed in (True, False):
            with self.subTest(keyed=keyed):
                armature = walker()
                label(armature)
                if keyed:
                    rigs.curve_of(armature, "pelvis", "location", 1).keyframe_points[5].co[1] = 3e7
                else:
                    armature.pose.bones["toe.R"].location = (3e38, 0.0, 0.0)
                    bpy.context.view_layer.update()
                bone = "pelvis" if keyed else "toe.R"
                self.refused(f"Bone “{bone}” is .* km from the world's origin in frame .*, which is far too much")

    def test_a_large_place_in_small_units_is_none_to_refuse(self):
        """A scene in millimetres, 100 km from its origin."""
        armature = walker()
        label(armature)
        armature.scale = (1000.0,) * 3
        armature.location[0] = 1e8
        bpy.context.view_layer.update()
        with rigs.reports() as said:
            self.assertEqual(bpy.ops.footlock.update_report(), {"FINISHED"})
        self.assertTrue(said)

    def test_frame_rates_that_tell_nothing(self):
        """What is judged are times in seconds, of which such clips have too many, or none."""
        every = [*BUTTONS, bpy.ops.footlock.fit_root, bpy.ops.footlock.live_lock, bpy.ops.footlock.edit_contact]
        for base in (1e3, 1e6, 1e-5, np.nan):
            with self.subTest(base=base):
                labelled()
                bpy.context.scene.render.fps_base = base
                self.refused("frames per second, and steps are told from 0.1 to 100000: set", every)
        for fps, base in ((1, 10.0), (32767, 0.33)):
            with self.subTest(fps=fps, base=base):
                labelled()
                bpy.context.scene.render.fps, bpy.context.scene.render.fps_base = fps, base
                for button in BUTTONS[1:]:
                    self.assertEqual(button(), {"FINISHED"})
                self.assertEqual(bpy.ops.footlock.detect_contacts(replace_edited=True), {"FINISHED"})

    def test_a_layer_over_a_part_that_is_not_there(self):
        """Blender itself crashes as soon as a strip plays such a curve."""
        armature = walker()
        label(armature)
        path = armature.pose.bones["toe.L"].path_from_id() + '["contact"]'
        rigs.curves(armature)[(path, 0)].array_index = 4
        self.refused("part 4 of what has no such part", [lambda: bpy.ops.footlock.remove_sliding(result="LAYER")])

    def test_a_key_far_away(self):
        armature = walker()
        label(armature)
        curve = rigs.curve_of(armature, "shin.L", "rotation_quaternion", 1)
        curve.keyframe_points.insert(9_000_000.0, 0.0)
        self.refused("far from the others")

    def test_nothing_planted(self):
        walker()
        with self.assertRaisesRegex(RuntimeError, "No contact was found"):
            bpy.ops.footlock.detect_contacts(velocity=0.0)

    def test_no_labels(self):
        walker()
        self.refused("click Detect Contacts first", [bpy.ops.footlock.remove_sliding])

    def test_rest_position(self):
        armature = walker()
        label(armature)
        armature.data.pose_position = "REST"
        self.refused("rest position")

    def test_nla(self):
        armature = walker()
        label(armature)
        data = armature.animation_data
        action = data.action
        track = data.nla_tracks.new()
        rigs.new_action(armature, "Below")
        rigs.key(armature, armature.pose.bones["shin.L"].path_from_id("scale"), np.ones((40, 3)), FRAMES)
        below = data.action
        data.action = action
        track.strips.new("Below", 1, below)
        self.refused("NLA strips move")
        track.mute = True
        self.assertEqual(bpy.ops.footlock.remove_sliding(), {"FINISHED"})

    @unittest.skipUnless(compat.LAYERED, "actions have no slots here")
    def test_slot_not_chosen(self):
        armature = walker()
        label(armature)
        armature.animation_data.action_slot = None
        self.refused("uses no slot")

    def test_constraint(self):
        armature = walker()
        label(armature)
        aim = armature.pose.bones["shin.L"].constraints.new("DAMPED_TRACK")
        aim.target, aim.subtarget = armature, "foot.L"
        self.refused("“shin.L” is moved by the constraint", [bpy.ops.footlock.remove_sliding])

    def test_driver(self):
        armature = walker()
        label(armature)
        armature.pose.bones["foot.R"].driver_add("rotation_quaternion", 1)
        self.refused("“foot.R” is moved by a driver", [bpy.ops.footlock.remove_sliding])

    def test_no_leg_that_may_change(self):
        for attribute, word in (("mute", "muted"), ("lock", "locked")):
            with self.subTest(attribute):
                armature = walker()
                label(armature)
                for bone in ("thigh.L", "shin.R"):
                    setattr(rigs.curve_of(armature, bone, "rotation_quaternion", 2), attribute, True)
                self.refused(f"“thigh.L” is {word}.*unlock or unmute", [bpy.ops.footlock.remove_sliding])
                setattr(rigs.curve_of(armature, "pelvis", "location", 1), attribute, True)
                self.refused(f"“pelvis” is {word}", [bpy.ops.footlock.fit_root])

    def test_noise_where_no_key_is_added(self):
        armature = walker()
        label(armature)
        rigs.curve_of(armature, "pelvis", "location", 0).modifiers.new("NOISE")
        self.refused("modifier", [lambda: bpy.ops.footlock.remove_sliding(keys="SOURCE")])

    def test_object_scaled_to_nothing(self):
        armature = walker()
        label(armature)
        armature.data.footlock.legs.clear()
        armature.scale = (0.0, 0.0, 0.0)
        bpy.context.view_layer.update()
        self.refused("is scaled to nothing: give", [bpy.ops.footlock.remove_sliding])

    def test_object_scaled_to_nothing_after_results(self):
        """What would be done of advice to apply its scale could not be undone by scaling it again."""
        every = (*BUTTONS, *(getattr(bpy.ops.footlock, name) for name in ("fit_root", "update_report", "live_lock")))
        for scale in ((0.0, 0.0, 0.0), (1.0, 1.0, 0.0)):
            with self.subTest(scale=scale):
                armature = walker()
                label(armature)
                for button in (*BUTTONS[1:], bpy.ops.footlock.update_report):
                    button()
                armature.scale = scale
                bpy.context.view_layer.update()
                self.refused(r"is scaled to nothing: give the object a scale \(Alt S", every)
        with self.subTest("keyed"):
            armature = walker()
            label(armature)
            values = np.where(FRAMES > 20.0, 1.0, 0.0)[:, None].repeat(3, 1)
            rigs.key(armature, "scale", values, FRAMES)
            rigs.set_frame(bpy.context.scene, 30)
            self.refused("is scaled to nothing in some frames", every)

    def test_an_object_that_is_nowhere(self):
        armature = walker()
        label(armature)
        armature.matrix_world = np.full((4, 4), np.nan)
        bpy.context.view_layer.update()
        self.refused("is not a number|is scaled to nothing")

    def test_uneven_scale(self):
        for scale in ((1.0, 1.0, 1.5), (-1.0, 1.0, 1.0)):
            with self.subTest(scale=scale):
                armature = walker()
                label(armature)
                armature.scale = scale
                bpy.context.view_layer.update()
                self.refused("apply its scale")

    def test_a_leg_that_is_scaled_to_nothing(self):
        armature = walker()
        label(armature)
        armature.pose.bones["shin.L"].scale = (0.0, 0.0, 0.0)
        bpy.context.view_layer.update()
        self.refused("“shin.L” is scaled to nothing")

    def test_map_that_does_not_fit(self):
        cases = (
            ("thigh", "nowhere", "is not in"),
            ("foot", "", "lacks a bone"),
            ("shin", "thigh.L", "in two legs|does not hang"),
            ("thigh", "foot.L", "does not hang"),
        )
        for role, bone, pattern in cases:
            with self.subTest(role=role, bone=bone):
                armature = walker()
                bpy.ops.footlock.map_legs()
                label(armature)
                setattr(armature.data.footlock.legs[0], role, bone)
                self.refused(pattern)

    def test_legs_given_wrong(self):
        armature = walker()
        for given, pattern in (
            ("a|b", "names 2 bones"),
            ("thigh.L|shin.L|nowhere", "is not in"),
            ("x|y|z", "no pelvis|not in"),
        ):
            before = rigs.everything()
            with self.subTest(given=given), self.assertRaisesRegex(RuntimeError, pattern):
                bpy.ops.footlock.map_legs(left=given)
            self.assertEqual(rigs.everything(), before)
        self.assertEqual(len(armature.data.footlock.legs), 0)

    def test_property_of_the_rig(self):
        armature = walker()
        armature.pose.bones["toe.L"]["contact"] = "north"
        self.refused("rename that property", [lambda: bpy.ops.footlock.detect_contacts(velocity=100.0, height=100.0)])


class Settings(unittest.TestCase):
    """Numbers that are none, or absurd, in any setting that there is: Blender clamps all but what is not a number."""

    ODD = (np.nan, np.inf, -np.inf)

    def floats(self, given):
        return [one for one in given.bl_rna.properties if one.type == "FLOAT"]

    def corrected(self):
        def make():
            labelled()
            bpy.ops.footlock.remove_sliding()

        return clips.opened("short corrected walker", make)

    def tried(self, run, odd):
        """What a run says of an odd number: one sentence, an error for what is not a number, with numbers to read."""
        before = rigs.everything()
        with rigs.reports() as said:
            try:
                run()
                self.assertFalse(np.isnan(odd), "taken")
                text = " ".join(map(str, said))
            except RuntimeError as error:
                text = str(error).strip()
                self.assertEqual(rigs.everything(), before)
        self.assertNotIn("Traceback", text)
        self.assertEqual(len(text.splitlines() or [""]), 1, text)
        self.assertNotRegex(text, r"\d{7,}|\binf\b")
        if np.isnan(odd):
            self.assertRegex(text, "“.+” is nan: give it a number from ")

    def test_all_have_a_range(self):
        found = [getattr(bpy.ops.footlock, cls.bl_idname.partition(".")[2]).get_rna_type() for cls in operators.classes]
        owners = [*found, bpy.context.scene.footlock.bl_rna]
        numbers = [one for owner in owners for one in owner.properties if one.type == "FLOAT"]
        self.assertGreater(len(numbers), 30)
        for one in numbers:
            with self.subTest(one.identifier):
                self.assertLessEqual(abs(one.hard_min), 1e6)
                self.assertLessEqual(one.hard_max, 1e6)

    def test_those_of_the_operators(self):
        given = {"move_footprint": {"leg": 0, "frame": 8.0, "offset": (0.02, 0.0, 0.0)}, "edit_contact": {"leg": 0}}
        labelled()
        for cls in operators.classes:
            name = cls.bl_idname.partition(".")[2]
            button = getattr(bpy.ops.footlock, name)
            if name == "export_contacts":
                continue  # below
            for one in (one for one in button.get_rna_type().properties if one.type == "FLOAT"):
                for odd in self.ODD:
                    with self.subTest(name, setting=one.identifier, odd=odd):
                        value = (odd,) * one.array_length if one.is_array else odd
                        more = {"ground": "HEIGHT"} if one.identifier == "ground_height" else {}
                        more.update({"keys": "REDUCED"} if one.identifier == "key_tolerance" else {})
                        more.update({"method": "runtime"} if one.identifier in ("blend_time", "lock_distance") else {})
                        arguments = {**given.get(name, {}), **more, one.identifier: value}
                        labelled()
                        self.tried(lambda run=button, arguments=arguments: run(**arguments), odd)

    def test_those_of_the_file_operators(self):
        labelled()
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder) / "labels.json")
            for odd in self.ODD:
                for button in (bpy.ops.footlock.export_contacts, bpy.ops.footlock.import_contacts):
                    if odd == odd or Path(path).exists():
                        self.tried(lambda run=button, odd=odd: run(filepath=path, unit=odd), odd)

    def test_those_of_the_panel(self):
        def moved():
            bpy.ops.footlock.move_footprint(leg=0, frame=8.0, offset=(0.01, 0.0, 0.0))

        for one in self.floats(bpy.context.scene.footlock):
            for odd in self.ODD[:2]:
                with self.subTest(setting=one.identifier, odd=odd):
                    armature = self.corrected()
                    settings = bpy.context.scene.footlock
                    settings.ground, settings.mode = "HEIGHT", "THRESHOLD"
                    setattr(settings, one.identifier, odd)
                    self.tried(moved, odd)
                    self.tried(bpy.ops.footlock.live_lock, odd)
                    live.stop(armature)
                    trail_cache.refresh(bpy.context.scene, armature, step=True)

    def test_past_the_property(self):
        """What a script writes into the file past the property is not clamped."""
        labelled()
        settings = bpy.context.scene.footlock
        stored = settings.bl_system_properties_get() if hasattr(settings, "bl_system_properties_get") else settings
        settings.vote = 1.0
        stored["vote"] = 1e30
        self.assertGreater(settings.vote, 1e29)
        with self.assertRaisesRegex(RuntimeError, "“Clean Up .s.” is 1e\\+30: give it a number from 0 to 10"):
            bpy.ops.footlock.remove_sliding()

    def test_live_lock_ends_with_what_is_no_number(self):
        armature = labelled()
        bpy.ops.footlock.live_lock()
        bpy.context.scene.frame_set(5)
        self.assertTrue(live.is_on(armature))
        bpy.context.scene.footlock.blend_time = np.nan
        bpy.context.scene.frame_set(6)
        self.assertFalse(live.is_on(armature))

    def test_the_scene_s_own(self):
        for odd in (*self.ODD, 1e-30):
            with self.subTest(odd=odd):
                armature = labelled()
                armature.data.footlock.legs.clear()
                bpy.context.scene.unit_settings.scale_length = odd
                armature.scale = (1e4,) * 3
                bpy.context.view_layer.update()
                before = rigs.everything()
                try:
                    bpy.ops.footlock.update_report()
                except RuntimeError as error:
                    self.assertRegex(str(error), "A unit of the scene is taken for .* m: set Scene Unit|world's origin")
                    self.assertEqual(rigs.everything(), before)


class Works(unittest.TestCase):
    """What is odd and works all the same."""

    def both(self, armature):
        label(armature)
        with rigs.reports() as said:
            self.assertEqual(bpy.ops.footlock.remove_sliding(), {"FINISHED"})
        return said[0]

    def still(self, armature, bone="toe.L", first=3, last=15, within=1e-4):
        """The toe stands in one place from its first to its last frame of contact."""
        heads = rigs.evaluated(armature, np.arange(first, last + 1.0), [bone])[0][:, 0]
        self.assertLess(np.abs(heads - heads[0]).max(), within)

    def test_one_leg(self):
        armature = walker(sides="L")
        said = self.both(armature)
        self.assertIn("Only one leg (Left)", said)
        self.still(armature)

    def test_no_toes(self):
        armature = walker(toes=False)
        self.both(armature)
        tails = rigs.evaluated(armature, np.arange(3.0, 16.0), ["foot.L"])[1][:, 0]
        self.assertLess(np.abs(tails - tails[0]).max(), 1e-4)
        self.assertIn("contact", armature.pose.bones["foot.L"])

    def test_names_of_any_kind(self):
        for name in ('a "quoted" toe.L', "back\\slash toe.L", "sla/sh toe.L", "ünïcode 🦶 toe.L", "brack[et] toe.L"):
            with self.subTest(name=name):
                armature = walker()
                armature.data.bones["toe.L"].name = name
                self.both(armature)
                self.still(armature, name)

    def test_keys_twice_in_a_frame(self):
        """As scripts leave them; Blender drops one of two as soon as a curve is edited, and then others tell which
        frames there are."""
        for keys in ("ALL", "SOURCE"):
            with self.subTest(keys=keys):
                armature = walker(FRAMES + 0.25)
                legs = mapping.of(armature)
                labels = np.zeros((len(FRAMES), 2), bool)
                labels[2:15, 0] = True
                contact_property.write(armature, legs, FRAMES + 0.25, labels)
                for curve in rigs.curves(armature).values():
                    if not curve.data_path.endswith('["contact"]'):
                        co = np.repeat(np.stack(rigs.values(curve), axis=1), 2, axis=0)
                        curve.keyframe_points.add(len(FRAMES))
                        curve.keyframe_points.foreach_set("co", co.ravel())
                self.assertEqual(bpy.ops.footlock.remove_sliding(keys=keys), {"FINISHED"})
                heads = rigs.evaluated(armature, np.arange(3.25, 16.0), ["toe.L"])[0][:, 0]
                self.assertLess(np.abs(heads - heads[0]).max(), 1e-4)

    def test_straight_legs(self):
        armature = walker()
        for bone in ("shin.L", "shin.R", "thigh.L", "thigh.R"):
            for index in range(4):
                curve = rigs.curve_of(armature, bone, "rotation_quaternion", index)
                values = np.full(len(curve.keyframe_points), 1.0 if index == 0 else 0.0)
                co = np.empty(2 * len(values), np.float32)
                co[0::2], co[1::2] = FRAMES, values
                curve.keyframe_points.foreach_set("co", co)
                curve.update()
        self.both(armature)
        heads = rigs.evaluated(armature, FRAMES, ["shin.L", "toe.L"])[0]
        self.assertTrue(np.isfinite(heads).all())
        self.assertLess(np.linalg.norm(np.diff(heads[:, 0], axis=0), axis=1).max(), 0.3)

    def test_far_from_the_origin(self):
        armature = walker()
        armature.location = (1e4, -1e4, 0.0)
        bpy.context.view_layer.update()
        self.both(armature)
        heads = rigs.evaluated(armature, np.arange(3.0, 16.0), ["toe.L"])[0][:, 0]
        self.assertLess(np.abs(heads - heads[0]).max(), 5e-3)

    def test_other_modes(self):
        for mode in ("OBJECT", "POSE"):
            with self.subTest(mode=mode):
                armature = walker()
                bpy.ops.object.mode_set(mode=mode)
                self.both(armature)
                self.still(armature)
                self.assertEqual(armature.mode, mode)

    def test_edit_mode_is_refused(self):
        walker()
        bpy.ops.object.mode_set(mode="EDIT")
        with self.assertRaisesRegex(RuntimeError, r"poll\(\).* failed|Leave Edit Mode"):
            bpy.ops.footlock.detect_contacts()
        bpy.ops.object.mode_set(mode="OBJECT")


class Files(clips.InFolder):
    def failed(self, pattern, *arguments, status=1):
        """The run ends with this status and sentence, without a traceback and without leaving anything behind."""
        before = sorted(self.folder.rglob("*"))
        got, said = run(*arguments)
        self.assertEqual(got, status, said)
        self.assertRegex(said, pattern)
        self.assertNotIn("Traceback", said)
        self.assertEqual(sorted(self.folder.rglob("*")), before)

    def test_broken_bvh(self):
        text = clips.WALK.read_bytes()
        cases = {
            "cut off": text[:200_000],
            "empty": b"",
            "MOTION": text[: text.index(b"MOTION")],
            "BVH": bytes(range(256)) * 40,
            "nan": text[:-60] + b" nan" * 5 + b"\n",
        }
        for pattern, content in cases.items():
            with self.subTest(pattern):
                path = self.folder / "bad.bvh"
                path.write_bytes(content)
                self.failed(
                    "(?i)" + ("nan|cut off" if pattern == "nan" else pattern), path, "-o", self.folder / "out.bvh"
                )

    def test_short_bvh(self):
        head, motion = clips.WALK.read_text().split("MOTION")
        lines = motion.split("\n")
        for count in (1, 2):
            path = self.folder / "short.bvh"
            path.write_text(head + f"MOTION\nFrames: {count}\n{lines[2]}\n" + "\n".join(lines[3 : 3 + count]) + "\n")
            self.failed(f"has {count} frame{'s' * (count > 1)},", path, "-o", self.folder / "out.bvh")

    def test_labels(self):
        good = json.loads((clips.DATA / "cmu_131_01_contacts.json").read_text())
        left, steps = good["contacts"]["LeftToe"][:40], clips.repeated(40, self.folder)
        cases = (
            ("is not a labels file", "{"),
            ("is not a labels file", "[1, 2]"),
            ("is not a labels file", json.dumps({"contacts": 5})),
            ("is not a labels file", "[" * 100_000),
            ("none for “LeftToe”", json.dumps({"contacts": {"Foot": [0]}})),
            ("none for “RightToe”", json.dumps({"contacts": {"LeftToe": left}})),
            ("has 39 labels", json.dumps({"contacts": {"LeftToe": left[1:], "RightToe": left}})),
            *(
                ("not between -1 and 1", json.dumps({"contacts": {"LeftToe": [bad, *left[1:]], "RightToe": left}}))
                for bad in (7, "x", float("nan"))
            ),
        )
        for pattern, content in cases:
            with self.subTest(pattern, content=content[:40]):
                path = self.folder / "labels.json"
                path.write_text(content)
                self.failed(pattern, steps, "-o", self.folder / "out.bvh", "--contacts", path)
        self.failed("cannot be read", steps, "-o", self.folder / "out.bvh", "--contacts", self.folder / "none.json")
        self.failed("cannot be read", steps, "-o", self.folder / "out.bvh", "--contacts", self.folder)

    def test_output_that_cannot_be_written(self):
        blocked = self.folder / "file"
        blocked.write_text("in the way")
        steps = clips.repeated(120, self.folder)
        self.failed("cannot be|No such|not be", steps, "-o", blocked / "out.bvh")
        self.failed("cannot", steps, "-o", "/proc/nowhere/out.bvh")

    def test_an_output_that_is_there_stays_when_its_clip_fails(self):
        out = self.folder / "out.bvh"
        out.write_text("precious")
        bad = self.folder / "bad.bvh"
        bad.write_bytes(clips.WALK.read_bytes()[:200_000])
        self.failed("cut off", bad, "-o", out)
        self.assertEqual(out.read_text(), "precious")

    def test_usage(self):
        namesake = self.folder / clips.WALK.name
        namesake.write_bytes(b"")
        for arguments in (
            [clips.WALK],
            [clips.WALK, "-o", clips.WALK],
            [clips.WALK, "-o", self.folder / "out.fbx"],
            [self.folder / "a.obj", "-o", self.folder],
            [clips.WALK, clips.WALK, "-o", self.folder],
            [clips.WALK, namesake, "-o", self.folder / "several"],
            [clips.WALK, "-o", self.folder / "out.bvh", "--unit", "-1"],
            [clips.WALK, "-o", self.folder / "out.bvh", "--unit", "nan"],
            [clips.WALK, "-o", self.folder / "out.bvh", "--method", "magic"],
            [clips.WALK, "-o", self.folder / "out.bvh", "--wrong"],
        ):
            with self.subTest(arguments[1:]):
                self.failed("usage", *arguments, status=2)

    def test_any_path(self):
        path = self.folder / "wälk 🦶 'n run.bvh"
        clips.repeated(120, self.folder).rename(path)
        out = self.folder / "söme föлder" / "öut.bvh"
        status, said = run(path, "-o", out)
        self.assertEqual(status, 0, said)
        self.assertTrue(out.is_file())

    def test_blend_without_a_character(self):
        clips.new_file()
        path = self.folder / "empty.blend"
        bpy.ops.wm.save_as_mainfile(filepath=str(path))
        self.failed("no armature with an action", path, "-o", self.folder / "out.blend")
        path = self.folder / "broken.blend"
        path.write_bytes(b"not a blend file" * 100)
        self.failed("cannot be opened", path, "-o", self.folder / "out.blend")
