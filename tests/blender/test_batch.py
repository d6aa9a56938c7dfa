"""The headless command: planted feet come out still, measured by code that shares nothing with the solvers."""

import importlib.util
import json
import subprocess
import sys
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import bpy
import clips
import measure
import numpy as np

ROOT = Path(__file__).parents[2]
HOP = clips.DATA / "cmu_131_03.bvh"
OTHER_UNIT = clips.DATA / "cmu_12_01.bvh"
# Frames of a part of the walk.
SHORT = 300
LEGS = {f"{side}{joint}" for side in ("Left", "Right") for joint in ("Hip", "Knee", "Ankle", "Toe")}


def _batch():
    spec = importlib.util.spec_from_file_location("footlock_batch", ROOT / "batch.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


batch = _batch()


def run(*arguments):
    """Exit status, and what was printed."""
    said = StringIO()
    with redirect_stdout(said), redirect_stderr(said):
        try:
            status = batch.main([str(argument) for argument in arguments])
        except SystemExit as end:
            status = end.code
    return status, said.getvalue()


def label_clean_clip(source, path, unit=1.0, feet=("LeftToe", "RightToe")):
    """Labels of a clip that does not slide, by the independent labeller, as a file; returns them by bone."""
    motion = measure.load(source)
    contacts = {}
    for toe in feet:
        labels = measure.majority_contacts(motion.point(toe) * unit, motion.frame_time)
        contacts[toe] = labels.astype(int).tolist()
    path.write_text(json.dumps({"frame_rate": 60.0, "frame_start": 1, "contacts": contacts}), encoding="utf-8")
    return {toe: np.array(values, bool) for toe, values in contacts.items()}


class Walk(clips.InFolder):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.shared, cls.done = Path(folder.name), {}
        cls.short = clips.part(cls.shared)
        cls.source = measure.load(clips.WALK)

    def scaled(self, factor, source=clips.WALK):
        """The clip with its root scaled, corrected once for all tests with the labels of the clean one: output,
        Motion, labels. The report is beside the output."""
        if (factor, source) not in self.done:
            labels = self.shared / "labels.json"
            contacts = label_clean_clip(source, labels)
            out = self.shared / f"out {len(self.done)}.bvh"
            arguments = (source, "-o", out, "--contacts", labels, "--root-scale", factor)
            status, said = run(*arguments, "--report", out.with_suffix(".json"))
            self.assertEqual(status, 0, said)
            self.done[factor, source] = out, measure.load(out), contacts
        return self.done[factor, source]

    def test_slide_is_gone(self):
        """The figures of the project's brief: at most 0.1 mm per frame on average and 0.5 at worst."""
        for source in (clips.WALK, HOP):
            for factor in (0.75, 1.25):
                with self.subTest(clip=source.stem, factor=factor):
                    _, motion, contacts = self.scaled(factor, source)
                    for toe, contact in contacts.items():
                        slide = measure.slide(motion.point(toe), contact)
                        self.assertGreater(len(slide.full), 300)
                        self.assertLess(slide.mean * 1000.0, 0.1)
                        self.assertLess(slide.max * 1000.0, 0.5)

    def test_the_scaled_clip_did_slide(self):
        """What the report says of the clip before is what is measured on a clip that is scaled in the file."""
        out, _, contacts = self.scaled(1.25)
        report = out.with_suffix(".json")
        legs = json.loads(report.read_text(encoding="utf-8"))["clips"][0]["legs"]
        motion = self.source
        travel = 0.25 * (motion.point("Hips") - motion.point("Hips")[0])
        travel[:, 1] = 0.0
        for leg, toe in zip(legs, ("LeftToe", "RightToe"), strict=True):
            slide = measure.slide(motion.point(toe) + travel, contacts[toe])
            self.assertGreater(slide.mean * 1000.0, 1.0)
            self.assertAlmostEqual(leg["slide_before"]["mean_mm_per_frame"], slide.mean * 1000.0, delta=1e-3)
            self.assertAlmostEqual(leg["slide_before"]["max_mm_per_frame"], slide.max * 1000.0, delta=1e-2)

    def test_other_bones_and_lengths_stay(self):
        source, (_, motion, _) = self.source, self.scaled(1.25)
        turned = measure.turn_difference(source, motion)
        self.assertEqual({name for name, degrees in turned.items() if degrees > 1e-6} - LEGS, set())
        self.assertGreater(turned["LeftHip"], 1.0)
        lengths = np.abs(measure.bone_lengths(motion) - measure.bone_lengths(source))
        self.assertLess(lengths.max() * 1000.0, 0.01)

    def test_no_toe_goes_deeper(self):
        source = self.source
        for factor in (0.75, 1.25):
            _, motion, _ = self.scaled(factor)
            for side in ("Left", "Right"):
                for point in (f"{side}Toe", f"{side}Toe end"):
                    self.assertGreater(motion.point(point)[:, 1].min(), source.point(point)[:, 1].min() - 1e-5)

    def test_file_stays_the_same_kind(self):
        source, (out, motion, _) = self.source, self.scaled(1.25)
        before, after = (path.read_text().split("MOTION") for path in (clips.WALK, out))
        self.assertEqual(after[0], before[0])
        self.assertEqual(after[1].split("\n")[1:3], before[1].split("\n")[1:3])
        self.assertEqual(motion.positions.shape, source.positions.shape)

    def test_nothing_to_fix(self):
        """Labels that are all 0 give the clip back."""
        labels = self.folder / "none.json"
        labels.write_text(
            json.dumps(
                {"frame_rate": 120.0, "frame_start": 1, "contacts": {"LeftToe": [0] * SHORT, "RightToe": [0] * SHORT}}
            )
        )
        out = self.folder / "out.bvh"
        status, said = run(self.short, "-o", out, "--contacts", labels)
        self.assertEqual(status, 0, said)
        moved = measure.joint_difference(measure.load(self.short), measure.load(out))
        self.assertLess(max(moved.values()) * 1000.0, 0.1)

    def out(self, *options):
        """The short walk with its root a quarter too far and labels of the clean clip, corrected with options."""
        label_clean_clip(self.short, self.folder / "labels.json")
        out = self.folder / "out.bvh"
        arguments = (self.short, "-o", out, "--root-scale", 1.25, "--contacts", self.folder / "labels.json")
        status, said = run(*arguments, *options)
        self.assertEqual(status, 0, said)
        return measure.load(out)

    def test_the_pelvis_keeps_its_path(self):
        def away(motion, source):
            """How far the pelvis is from the path that it was to keep."""
            path = source.positions[:, 0][:, [0, 2]]
            return np.abs(motion.positions[:, 0][:, [0, 2]] - path[0] - 1.25 * (path - path[0])).max()

        (_, free, _), kept = self.scaled(1.25), self.out("--keep-path", 1)
        self.assertLess(away(kept, measure.load(self.short)), 1e-4)
        self.assertGreater(away(free, self.source), 0.1)

    def test_a_floor_at_a_height(self):
        heights = self.out("--floor-height", 0.5).positions[..., 1]
        self.assertAlmostEqual(heights.min(), 0.5, delta=0.03)

    def test_only_some_frames(self):
        motion, source = self.out("--frames", 101, 200), self.out("--frames", 201, 202)
        changed = np.abs(motion.positions - source.positions).max(axis=(1, 2)) > 1e-4
        self.assertTrue(changed[120:180].any())
        self.assertFalse(changed[:99].any() or changed[205:].any())

    def test_pins(self):
        motion, source = self.out("--pin-first", "--pin-last"), self.out("--frames", 150, 151)
        for frame in (0, -1):
            self.assertLess(np.abs(motion.positions[frame] - source.positions[frame]).max(), 1e-4)

    def test_what_cannot_be_is_said(self):
        out = self.folder / "out.bvh"
        for options, wanted in (
            (("--cyclic",), "no loop"),
            (("--frames", 9000, 9001), "no frame of the action"),
            (("--floor-object", "Stairs"), "no object “Stairs”"),
        ):
            status, said = run(self.short, "-o", out, *options)
            self.assertEqual(status, 1)
            self.assertIn(wanted, said)
            self.assertFalse(out.exists())
        odd = (
            ("--keep-path", 2),
            ("--smoothing", -1),
            ("--lower-hips", "much"),
            ("--method", "runtime", "--cyclic"),
            ("--method", "runtime", "--floor-rest"),
            ("--floor-rest", "--floor-height", 1),
            ("--key-tolerance", 1),
            ("--stretch", 0.01),
        )
        for options in odd:
            self.assertEqual(run(clips.WALK, "-o", out, *options)[0], 2)

    def test_nothing_is_written_over_what_is_read(self):
        copy = self.folder / "walk.bvh"
        copy.write_bytes(clips.WALK.read_bytes())
        out = self.folder / "out.bvh"
        for options in (("--report", copy), ("--export-contacts", copy), ("--report", out)):
            status, said = run(copy, "-o", out, *options)
            self.assertEqual(status, 2, said)
            self.assertEqual(copy.read_bytes(), clips.WALK.read_bytes())
            self.assertFalse(out.exists())

    def test_a_byte_order_mark(self):
        copy, out = self.folder / "walk.bvh", self.folder / "out.bvh"
        copy.write_bytes(b"\xef\xbb\xbf" + self.short.read_bytes())
        status, said = run(copy, "-o", out)
        self.assertEqual(status, 0, said)

    def test_thresholds_that_make_no_sense(self):
        out = self.folder / "out.bvh"
        status, said = run(clips.WALK, "-o", out, "--velocity-threshold", "abc")
        self.assertEqual(status, 2)
        self.assertIn("neither a number nor auto", said)

    def test_twice(self):
        out, motion, contacts = self.scaled(1.25, self.short)
        again, labels = self.folder / "again.bvh", self.folder / "labels.json"
        labels.write_text(json.dumps({"contacts": {toe: values.tolist() for toe, values in contacts.items()}}))
        status, said = run(out, "-o", again, "--contacts", labels)
        self.assertEqual(status, 0, said)
        self.assertLess(max(measure.joint_difference(motion, measure.load(again)).values()) * 1000.0, 0.1)

    def test_runtime(self):
        source, motion = measure.load(self.short), self.out("--method", "runtime")
        turned = measure.turn_difference(source, motion)
        self.assertGreater(max(turned.values()), 1.0)
        travel = source.point("Hips") - source.point("Hips")[0]
        travel[:, 1] = 0.0
        np.testing.assert_allclose(motion.point("Hips"), source.point("Hips") + 0.25 * travel, atol=1e-5)

    def test_knees_keep_their_side(self):
        """No knee bends the other way or jumps: its angle changes from frame to frame by no more than half as much
        again as in the source."""
        source, (_, motion, _) = self.source, self.scaled(1.25)
        for side in ("Left", "Right"):
            names = [f"{side}{joint}" for joint in ("Hip", "Knee", "Ankle")]
            before, after = (
                np.degrees(np.unwrap(np.radians(measure.knee_angle(one, *names)))) for one in (source, motion)
            )
            self.assertLess(np.abs(np.diff(after)).max(), 1.5 * np.abs(np.diff(before)).max() + 1.0)


class Units(clips.InFolder):
    def setUp(self):
        super().setUp()
        self.clip = clips.part(self.folder, OTHER_UNIT, 200)

    def test_a_unit_is_judged_and_said(self):
        report = self.folder / "report.json"
        status, said = run(self.clip, "-o", self.folder / "out.bvh", "--report", report)
        self.assertEqual(status, 0, said)
        self.assertIn("one unit is 0.056444 m", said)
        self.assertAlmostEqual(json.loads(report.read_text())["clips"][0]["unit"], 0.056444)

    def test_a_unit_that_is_given_is_used(self):
        counts = []
        for unit in (0.056444, 0.2):
            report = self.folder / f"{unit}.json"
            run(self.clip, "-o", self.folder / "out.bvh", "--unit", unit, "--report", report)
            one = json.loads(report.read_text())["clips"][0]
            self.assertAlmostEqual(one["unit"], unit)
            counts.append(one["legs"][0]["contact_share"])
        self.assertGreater(counts[0], counts[1])


class Several(clips.InFolder):
    def setUp(self):
        super().setUp()
        (self.folder / "in").mkdir()
        self.walk = clips.part(self.folder / "in")

    def test_folder_labels_and_report(self):
        out, exported, report = self.folder / "out", self.folder / "labels", self.folder / "report.json"
        other = clips.part(self.folder / "in", OTHER_UNIT, 200)
        status, said = run(self.walk, other, "-o", out, "--export-contacts", exported, "--report", report)
        self.assertEqual(status, 0, said)
        self.assertEqual(sorted(path.name for path in out.glob("*.bvh")), ["cmu_12_01.bvh", "cmu_131_01.bvh"])
        self.assertEqual(sorted(path.name for path in exported.iterdir()), ["cmu_12_01.json", "cmu_131_01.json"])
        labels = json.loads((exported / "cmu_131_01.json").read_text())
        self.assertEqual(labels["frame_start"], 1)
        self.assertAlmostEqual(labels["frame_rate"], 120.0, delta=0.01)
        self.assertEqual({len(values) for values in labels["contacts"].values()}, {SHORT})
        said = json.loads(report.read_text(encoding="utf-8"))
        self.assertEqual(said["failed"], 0)
        one = said["clips"][0]
        self.assertEqual(one["frames"], SHORT)
        leg = one["legs"][0]
        self.assertEqual(leg["bones"], {"thigh": "LeftHip", "shin": "LeftKnee", "foot": "LeftAnkle", "toe": "LeftToe"})
        self.assertEqual(leg["contacts"], len(measure.runs(np.array(labels["contacts"]["LeftToe"], bool))))
        self.assertAlmostEqual(leg["contact_share"], np.mean(labels["contacts"]["LeftToe"]))
        self.assertEqual(leg["frames_out_of_reach"], [])

    def test_exported_labels_give_the_same_again(self):
        labels = self.folder / "labels.json"
        run(self.walk, "-o", self.folder / "a.bvh", "--export-contacts", labels)
        run(self.walk, "-o", self.folder / "b.bvh", "--contacts", labels)
        self.assertEqual((self.folder / "a.bvh").read_bytes(), (self.folder / "b.bvh").read_bytes())

    def test_one_bad_clip_does_not_stop_the_others(self):
        bad = self.folder / "bad.bvh"
        bad.write_bytes(self.walk.read_bytes()[:100_000])
        out, report = self.folder / "out", self.folder / "report.json"
        status, said = run(bad, self.walk, "-o", out, "--report", report, "--jobs", 1)
        self.assertEqual(status, 1)
        self.assertIn("cut off", said)
        own = {".footlock", "footlock_summary.json", "footlock_summary.csv"}
        self.assertEqual({path.name for path in out.iterdir()}, {"cmu_131_01.bvh"} | own)
        self.assertIn("cut off", json.loads(report.read_text(encoding="utf-8"))["clips"][0]["error"])


class Blend(clips.InFolder):
    def walk(self):
        return clips.import_clip(clips.part(self.folder))

    def save(self):
        armature = self.walk()
        path = self.folder / "walk.blend"
        bpy.ops.wm.save_as_mainfile(filepath=str(path))
        return armature.name, path

    def test_blend(self):
        name, path = self.save()
        content = path.read_bytes()
        out = self.folder / "out" / "fixed.blend"
        status, said = run(path, "-o", out, "--root-scale", 1.25)
        self.assertEqual(status, 0, said)
        self.assertEqual(path.read_bytes(), content)
        bpy.ops.wm.open_mainfile(filepath=str(out))
        armature = bpy.data.objects[name]
        contact = clips.curves(armature)[('pose.bones["LeftToe"]["contact"]', 0)]
        frames = np.arange(1, SHORT + 1)
        labels = np.array([contact.evaluate(frame) for frame in frames]) > 0.5
        toes = clips.joints(armature)[:, 2 * list(armature.pose.bones.keys()).index("LeftToe")]
        step = np.linalg.norm(np.diff(toes, axis=0), axis=1)[labels[1:] & labels[:-1]]
        self.assertGreater(len(step), 50)
        self.assertLess(step.max() * 1000.0, 0.05)
        self.assertEqual([path.name for path in out.parent.iterdir()], ["fixed.blend"])

    def test_contacts_in_the_file_are_used(self):
        armature = self.walk()
        bpy.ops.footlock.detect_contacts(velocity=0.1)
        legs = armature.data.footlock.legs
        self.assertEqual(len(legs), 2)
        path, labels = self.folder / "walk.blend", self.folder / "labels.json"
        expected = [
            clips.curves(armature)[(f'pose.bones["{toe}"]["contact"]', 0)].evaluate(150)
            for toe in ("LeftToe", "RightToe")
        ]
        contact = clips.curves(armature)[('pose.bones["LeftToe"]["contact"]', 0)]
        share = np.mean([contact.evaluate(frame) for frame in range(1, SHORT + 1)])
        bpy.ops.wm.save_as_mainfile(filepath=str(path))
        status, said = run(path, "-o", self.folder / "out.blend", "--export-contacts", labels)
        self.assertEqual(status, 0, said)
        used = json.loads(labels.read_text())["contacts"]
        self.assertEqual([used[toe][149] for toe in ("LeftToe", "RightToe")], expected)
        self.assertAlmostEqual(np.mean(used["LeftToe"]), share)

    def with_curves(self):
        """The walk as a .blend with contact curves, and a labels file in which nothing is planted."""
        armature = self.walk()
        bpy.ops.footlock.detect_contacts()
        self.labels = self.folder / "labels.json"
        self.labels.write_text(json.dumps({"contacts": {toe: [0] * SHORT for toe in ("LeftToe", "RightToe")}}))
        return [clips.curves(armature)[(f'pose.bones["{toe}"]["contact"]', 0)] for toe in ("LeftToe", "RightToe")]

    def corrected(self, *options):
        source, out = self.folder / "walk.blend", self.folder / "out.blend"
        bpy.ops.wm.save_as_mainfile(filepath=str(source))
        return *run(source, "-o", out, *options), out

    def test_labels_do_not_replace_curves_that_are_locked_or_muted(self):
        for how in ("lock", "mute"):
            with self.subTest(how):
                curves = self.with_curves()
                setattr(curves[0], how, True)
                before = [tuple(point.co) for point in curves[0].keyframe_points]
                status, said, out = self.corrected("--contacts", self.labels)
                self.assertEqual(status, 0, said)
                bpy.ops.wm.open_mainfile(filepath=str(out))
                left, right = self.curves_of_file()
                self.assertEqual([tuple(point.co) for point in left.keyframe_points], before)
                self.assertTrue(getattr(left, how))
                self.assertEqual([tuple(point.co) for point in right.keyframe_points], [(1.0, 0.0)])

    def test_labels_where_all_curves_are_protected(self):
        for how in ("lock", "mute"):
            with self.subTest(how):
                for curve in self.with_curves():
                    setattr(curve, how, True)
                status, said, out = self.corrected("--contacts", self.labels)
                self.assertEqual(status, 1)
                self.assertIn("locked or muted, and --contacts would not be used: leave it out", said)
                self.assertFalse(out.exists())

    def test_few_keys(self):
        self.with_curves()
        status, said, out = self.corrected("--key-tolerance", 2, "--stretch", 0.02)
        self.assertEqual(status, 0, said)
        bpy.ops.wm.open_mainfile(filepath=str(out))
        armature = next(ob for ob in bpy.data.objects if ob.type == "ARMATURE")
        thigh = armature.data.footlock.legs[0].thigh
        counts = {len(c.keyframe_points) for (path, _), c in clips.curves(armature).items() if f'"{thigh}"]' in path}
        self.assertLess(max(counts), 90)
        status, said, _ = self.corrected("--stretch", 0.05)
        self.assertEqual(status, 2)

    def test_shares_and_slides_go_out_and_in(self):
        left, right = self.with_curves()
        for point in left.keyframe_points:
            point.co.y *= 0.75
        right.keyframe_points[1].co.y = -1.0
        frames = range(1, SHORT + 1)
        wanted = {"LeftToe": [left.evaluate(i) for i in frames], "RightToe": [right.evaluate(i) for i in frames]}
        exported = self.folder / "exported.json"
        status, said, _ = self.corrected("--export-contacts", exported)
        self.assertEqual(status, 0, said)
        self.assertEqual(json.loads(exported.read_text())["contacts"], wanted)
        self.assertLess(min(wanted["RightToe"]), -0.9)
        status, said, out = self.corrected("--contacts", exported)
        self.assertEqual(status, 0, said)
        bpy.ops.wm.open_mainfile(filepath=str(out))
        for curve, toe in zip(self.curves_of_file(), wanted, strict=True):
            self.assertEqual([curve.evaluate(i) for i in frames], wanted[toe])

    @staticmethod
    def curves_of_file():
        armature = next(ob for ob in bpy.data.objects if ob.type == "ARMATURE")
        return [clips.curves(armature)[(f'pose.bones["{toe}"]["contact"]', 0)] for toe in ("LeftToe", "RightToe")]


class Program(clips.InFolder):
    """As a program of its own: the exit status is the interpreter's."""

    def command(self, *arguments):
        if bpy.app.binary_path:
            start = [bpy.app.binary_path, "--background", "--factory-startup", "--python", str(ROOT / "batch.py"), "--"]
        else:
            start = [sys.executable, str(ROOT / "batch.py")]
        return subprocess.run(
            [*start, *map(str, arguments)], capture_output=True, text=True, timeout=300, cwd=self.folder, check=False
        )

    def test_statuses(self):
        (self.folder / "in").mkdir()
        clip = clips.part(self.folder / "in", OTHER_UNIT, 200)
        done = self.command(clip, "-o", "out.bvh")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("one unit is 0.056444 m", done.stdout)
        self.assertTrue((self.folder / "out.bvh").is_file())
        done = self.command("none.bvh", "-o", "out.bvh")
        self.assertEqual(done.returncode, 1)
        self.assertIn("none.bvh” does not exist", done.stderr)
        self.assertNotIn("Traceback", done.stderr)
        done = self.command(clip)
        self.assertEqual(done.returncode, 2)
