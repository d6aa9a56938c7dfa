"""Settings of the batch as a file: saved by the panel, read, and refused where it is none."""

import json

import bpy
import clips
from blender.batch_clips import cut
from blender.test_batch import run

from footlock.batching import command_line, settings
from footlock.operators.properties import DetectionProperties, RemovalProperties, names
from footlock.ui import batch_settings
from footlock.ui.settings import KEPT


def options(*arguments):
    """What a command line with these settings says."""
    return command_line.parse(["in.bvh", "-o", "out.bvh", *map(str, arguments)], "batch.py")[1]


class Read(clips.InFolder):
    def file(self, content, name="settings.json"):
        path = self.folder / name
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return path

    def test_what_a_file_says(self):
        as_json = {
            "keep-path": 0.5, "lower_hips": 1, "hold-heading": True, "cyclic": False, "detect": "threshold",
            "velocity-threshold": "auto", "height-threshold": 0.2, "frames": [1, 20.5], "floor-height": -1e-5,
        }  # fmt: skip
        as_toml = (
            '"keep-path" = 0.5\nlower_hips = 1\nhold-heading = true\ncyclic = false\ndetect = "threshold" # a word\n'
            'velocity-threshold = "auto"\nheight-threshold = 0.2\nframes = [1, 20.5]\nfloor-height = -1e-5\n'
        )
        for path in (self.file(as_json), self.file(as_toml, "settings.toml")):
            found = options("--settings", path)
            by_hand = options(
                *("--keep-path", 0.5, "--lower-hips", 1, "--hold-heading", "--detect", "threshold"),
                *("--velocity-threshold", "auto", "--height-threshold", 0.2, "--frames", 1, 20.5),
                "--floor-height=-1e-5",
            )
            found.settings = None
            self.assertEqual(vars(found), vars(by_hand))

    def test_the_command_line_counts_more(self):
        path = self.file({"keep-path": 0.5, "hold-heading": True, "floor-height": 2.0, "lower-hips": 0.7})
        found = options("--settings", path, "--keep-path", 0.0, "--no-hold-heading", "--floor-rest")
        self.assertEqual((found.keep_path, found.hold_heading, found.lower_hips), (0.0, False, 0.7))
        self.assertEqual((found.floor_height, found.floor_rest), (None, True))

    def test_files_that_are_none(self):
        """One sentence, status 2, and nothing is done."""
        deep = 7000
        for content, name, wanted in (
            ({"keep-pth": 1}, "a.json", "“keep-pth”, which is none of the settings"),
            ({"help": True}, "a.json", "none of the settings"),
            ({"output": "/tmp/x"}, "a.json", "for the command line alone"),
            ({"report": "../../x"}, "a.json", "for the command line alone"),
            ({"keep-path": "0.5"}, "a.json", "a number, without quotes"),
            ({"keep-path": True}, "a.json", "it is a number"),
            ({"keep-path": None}, "a.json", "it is a number"),
            ({"keep-path": 2}, "a.json", "2 is not between 0 and 1"),
            ({"smoothing": {"a": [1]}}, "a.json", "it is a number"),
            ({"cyclic": 1}, "a.json", "true or false"),
            ({"method": "magic"}, "a.json", "one of offline, runtime"),
            ({"method": ["offline"]}, "a.json", "one of offline, runtime"),
            ({"frames": [1]}, "a.json", "a list of 2 numbers"),
            ({"frames": [1, "2"]}, "a.json", "without quotes"),
            ({"floor-object": 3}, "a.json", "a name in quotes"),
            ({"floor-rest": True, "floor-height": 1.0}, "a.json", "keep one"),
            ({"keep-path": 0, "keep_path": 1}, "a.json", "twice"),
            ('{"keep-path": 0, "keep-path": 1}', "a.json", "twice"),
            ('{"keep-path": NaN}', "a.json", "no sensible number"),
            ('{"keep-path": 1e999}', "a.json", "no sensible number"),
            ('{"smoothing": 1' + "0" * 6000 + "}", "a.json", "mend it"),
            ("smoothing = nan", "a.toml", "no sensible number"),
            ("a = 0x" + "f" * 9000, "a.toml", "none of the settings"),
            ("smoothing = 0x" + "f" * 9000, "a.toml", "smoothing"),
            ("smoothing = 1\nsmoothing = 2", "a.toml", "mend it"),
            ('{"smoothing": ' + "[" * deep + "]" * deep + "}", "a.json", "nested too deeply|it is a number"),
            ("a = " + "[" * deep + "]" * deep, "a.toml", "nested too deeply"),
            ("a." * deep + "a = 1", "a.toml", "none of the settings|nested too deeply"),
            ("[1, 2]", "a.json", "wants an object"),
            ("", "a.json", "mend it"),
            (b"\xff\xfe\x00", "a.json", "mend it"),
            (b" " * (300 << 20), "a.json", "too large"),
            ({}, "a.txt", "neither a .json nor a .toml"),
        ):
            with self.subTest(content[:60] if isinstance(content, (str, bytes)) else content):
                path = self.file(content, name)
                status, said = run(clips.WALK, "-o", self.folder / "out.bvh", "--settings", path)
                self.assertEqual(status, 2)
                last = said.strip().splitlines()[-1]
                self.assertTrue(last.startswith("batch.py: error: "), said[-300:])
                self.assertRegex(last, wanted)
                self.assertLess(len(last), 500)
                self.assertNotIn("Traceback", said)
        for path in (self.folder, self.folder / "none.json", "/dev/zero"):
            status, said = run(clips.WALK, "-o", self.folder / "out.bvh", "--settings", path)
            self.assertEqual(status, 2, said)
        self.assertFalse((self.folder / "out.bvh").exists())


class Saved(clips.InFolder):
    """By the panel, and read by the batch."""

    def setUp(self):
        super().setUp()
        self.source = cut(self.folder / "in", 1, frames=200)[0]

    def test_all_settings_have_a_name(self):
        clips.new_file()
        kept = bpy.context.scene.footlock
        known = {one.lstrip("-") for one in command_line.parser()._option_string_actions}
        for kept.method in ("offline", "runtime"):
            for kept.keys in ("ALL", "SOURCE", "REDUCED"):
                for kept.ground in ("CONTACTS", "REST", "HEIGHT", "OBJECT"):
                    self.assertEqual(set(batch_settings.of_panel(kept)) - known, set())
        apart = {
            batch_settings._NAMES.get(name, name).replace("_", "-")
            for name in KEPT
            if name not in batch_settings._APART
        }
        self.assertEqual(apart - known, set())

    def test_defaults_are_the_same(self):
        """What the panel has at first is what the batch does without a file."""
        clips.new_file()
        path = self.folder / "settings.json"
        bpy.ops.footlock.save_settings(filepath=str(path))
        found, plain = options("--settings", path), options()
        for name, value in vars(plain).items():
            if isinstance(value, float):
                self.assertAlmostEqual(getattr(found, name), value, places=7)
        self.assertEqual(settings.detection(found).mode, settings.detection(plain).mode)
        self.assertEqual(settings.removal(found).method, settings.removal(plain).method)

    def by_panel_and_batch(self, **given):
        """Keys of the clip corrected by the two clicks and by the batch with what the panel saved."""
        path, saved, out = self.folder / "clip.blend", self.folder / "settings.json", self.folder / "out.blend"
        clips.import_clip(self.source)
        bpy.ops.wm.save_as_mainfile(filepath=str(path))
        kept = bpy.context.scene.footlock
        for name, value in given.items():
            setattr(kept, name, value)
        self.assertEqual(bpy.ops.footlock.save_settings(filepath=str(saved)), {"FINISHED"})
        armature = bpy.context.object
        for operator, group in (
            (bpy.ops.footlock.detect_contacts, DetectionProperties),
            (bpy.ops.footlock.remove_sliding, RemovalProperties),
        ):
            arguments = {name: getattr(kept, name) for name in names(group)}
            self.assertEqual(operator(**arguments), {"FINISHED"})
        by_panel = clips.dump(armature)
        status, said = run(path, "-o", out, "--settings", saved)
        self.assertEqual(status, 0, said)
        bpy.ops.wm.open_mainfile(filepath=str(out))
        return by_panel, clips.dump(next(one for one in bpy.data.objects if one.type == "ARMATURE"))

    def test_the_batch_does_what_the_clicks_do(self):
        for given in (
            {},
            {"keep_path": 0.7, "lower_hips": 0.05, "smooth_time": 0.1, "hold_heading": True, "ground": "REST"},
            {"mode": "THRESHOLD", "velocity": 0.4, "height": 0.15, "vote": 0.2, "smoothing": 0.03, "level": 0.4,
             "bake": True, "keys": "REDUCED", "key_tolerance": 1.5, "stretch": 0.01, "pin_first": True},
            {"mode": "THRESHOLD", "auto_velocity": True, "auto_height": True, "auto_floor": False, "floor": 0.02,
             "softening": 0.08, "ground": "HEIGHT", "ground_height": 0.3, "follow_slope": 0.2},
            {"method": "runtime", "lock_distance": 0.1, "unlock_distance": 0.4, "blend_time": 0.3, "result": "NEW",
             "cyclic": True},
        ):  # fmt: skip
            with self.subTest(given):
                by_panel, by_batch = self.by_panel_and_batch(**given)
                self.assertEqual(by_panel.keys(), by_batch.keys())
                for key in by_panel:
                    self.assertEqual(by_panel[key], by_batch[key], key)

    def test_a_file_that_cannot_be_written(self):
        clips.new_file()
        with self.assertRaisesRegex(RuntimeError, "cannot be written"):
            bpy.ops.footlock.save_settings(filepath=str(self.folder / "none" / "settings.json"))
