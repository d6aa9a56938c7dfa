"""The batch over many clips: which it takes, by how many processes, what it does again and what it keeps."""

import csv
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest
from contextlib import redirect_stderr
from pathlib import Path
from unittest import mock

import bpy
import clips
import numpy as np
from blender import batch_clips
from blender.batch_clips import ROOT, cut, unfinished
from blender.test_batch import run

from footlock.batching import command, command_line, inputs, records, stopping, workers
from footlock.rig import whole_file
from footlock.solvers import rotations

try:
    import resource
except ImportError:  # Windows
    resource = None

POSIX = os.name == "posix"


def contents(folder):
    """The outputs in a folder, by their places."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.suffix in inputs.KINDS
    }


def lines(said):
    """What was printed of clips, without the seconds, in an order that is always the same."""
    return sorted(re.sub(r"[\d.]+ s$", "", line) for line in said.splitlines() if "→" in line or "FAILED" in line)


def summary(folder, name="footlock_summary"):
    return json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))


class Inputs(clips.InFolder):
    """Which files are meant, and where they come out."""

    def setUp(self):
        super().setUp()
        self.into = self.folder / "in"
        for place in ("a.bvh", "walks/b.FBX", "walks/slow/c.glb", "walks/notes.txt", ".hidden/d.bvh", "walks/._b.fbx"):
            path = self.into / place
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"")

    def found(self, *arguments):
        _, options = command_line.parse([str(one) for one in arguments], "batch.py")
        made, folder = inputs.clips(command_line.parser(), options)
        return [(one.source.relative_to(self.folder).as_posix(), one.target.relative_to(self.folder).as_posix())
                for one in made], folder  # fmt: skip

    def test_a_folder_is_made_again(self):
        found, folder = self.found(self.into, "-o", self.folder / "out")
        places = ["a.bvh", "walks/b.FBX", "walks/slow/c.glb"]
        self.assertEqual(found, [(f"in/{place}", f"out/{place}") for place in places])
        self.assertEqual(folder, self.folder / "out")

    def test_patterns(self):
        for pattern, places in (
            ("in/**/*.glb", ["walks/slow/c.glb"]),
            ("in/w*/*", ["walks/b.FBX", "walks/slow/c.glb"]),
            ("in/**", ["a.bvh", "walks/b.FBX", "walks/slow/c.glb"]),
            ("in/walks/[ab].*", ["b.FBX"]),
        ):
            with self.subTest(pattern):
                found, _ = self.found(self.folder / pattern, "-o", self.folder / "out")
                self.assertEqual(sorted(target for _, target in found), [f"out/{place}" for place in places])

    def test_what_came_out_is_not_taken_again(self):
        out = self.into / "fixed"
        out.mkdir()
        (out / "a.bvh").write_bytes(b"")
        for given in (self.into, self.into / "**"):
            found, _ = self.found(given, "-o", out)
            self.assertEqual([source for source, _ in found if "fixed" in source], [])
            self.assertEqual(len(found), 3)

    def test_parts_have_each_clip_once(self):
        whole, _ = self.found(self.into, "-o", self.folder / "out")
        parts = [self.found(self.into, "-o", self.folder / "out", "--part", f"{k}/2")[0] for k in (1, 2)]
        self.assertEqual([len(part) for part in parts], [2, 1])
        self.assertEqual(sorted([*parts[0], *parts[1]]), whole)
        self.assertEqual(self.found(self.into, "-o", self.folder / "out", "--part", "4/4")[0], [])

    def test_usage(self):
        empty = self.folder / "empty"
        empty.mkdir()
        out = self.folder / "out"
        for wanted, *arguments in (
            ("name another folder", empty, "-o", out),
            ("name another folder", self.folder / "no*.bvh", "-o", out),
            ("“typo” does not exist", "typo", "-o", out),
            ("3/2 is not like", self.into / "a.bvh", "-o", out, "--part", "3/2"),
            ("0/2 is not like", self.into / "a.bvh", "-o", out, "--part", "0/2"),
            ("0 is not between", self.into / "a.bvh", "-o", out, "--jobs", "0"),
            ("choose another output", self.into, self.into / "walks", "-o", self.into / "a.bvh"),
            ("is the input itself", self.into, "-o", self.into),
            ("ends before it starts", self.into, "-o", out, "--frames", "40", "10"),
        ):
            with self.subTest(arguments):
                status, said = run(*arguments)
                self.assertEqual(status, 2, said)
                self.assertIn(wanted, said)
        self.assertFalse(out.exists())


class Runs(clips.InFolder):
    def setUp(self):
        super().setUp()
        self.into, self.out = self.folder / "in", self.folder / "out"

    def run_all(self, *more, out=None, jobs=1):
        return run(self.into, "-o", out or self.out, "--jobs", jobs, *more)

    def test_processes_give_what_one_gives(self):
        cut(self.into / "walks", 3)
        shutil.copy(cut(self.into, 1)[0], self.into / "bad.bvh")
        (self.into / "bad.bvh").write_bytes((self.into / "bad.bvh").read_bytes()[:9000])
        one, said = self.run_all("--jobs", 1)
        self.assertEqual(one, 1, said)
        two, also = self.run_all(out=self.folder / "two", jobs=2)
        self.assertEqual(two, 1, also)
        self.assertEqual(len(contents(self.out)), 4)
        self.assertEqual(contents(self.out), contents(self.folder / "two"))
        self.assertEqual(lines(said), [line.replace(str(self.folder / "two"), str(self.out)) for line in lines(also)])
        rows = [summary(folder)["rows"] for folder in (self.out, self.folder / "two")]
        for row in [*rows[0], *rows[1]]:
            del row["seconds"], row["output"]
        self.assertEqual(*rows)

    def test_what_is_done_is_skipped(self):
        paths = cut(self.into, 2)
        labels = self.folder / "labels"
        status, said = self.run_all("--export-contacts", labels)
        self.assertEqual(status, 0, said)
        first = summary(self.out)
        self.assertFalse(any(row["skipped"] for row in first["rows"]))

        def done(*more):
            """Which clips are done by a run, and which are not."""
            status, said = self.run_all("--contacts", labels, *more)
            self.assertEqual(status, 0, said)
            return [Path(row["input"]).name for row in summary(self.out)["rows"] if not row["skipped"]]

        names = [path.name for path in paths]
        self.assertEqual(done(), names)  # other labels
        self.assertEqual(done(), [])
        again = summary(self.out)["rows"]
        for name, value in first["rows"][0].items():
            if name not in ("skipped", "seconds", "contacts_from") and again[0][name] is not None:
                self.assertEqual(again[0][name], value, name)
        self.assertEqual(done("--jobs", "2"), [])
        os.utime(paths[0])
        self.assertEqual(done(), [])
        paths[0].write_bytes(paths[0].read_bytes().replace(b"Frame Time: 0.008333", b"Frame Time: 0.016667"))
        self.assertEqual(done(), names[:1])
        text = (labels / "clip 001.json").read_text()
        (labels / "clip 001.json").write_text(text + "\n")
        self.assertEqual(done(), names[1:])
        (self.out / names[0]).write_bytes(b"mine")
        self.assertEqual(done(), names[:1])
        (self.out / names[1]).unlink()
        self.assertEqual(done(), names[1:])
        self.assertEqual(done("--keep-path", "1"), names)
        self.assertEqual(done("--keep-path", "1", "--force"), names)
        record = self.out / ".footlock" / f"{names[0]}.json"
        record.write_text("[" * 100_000)
        self.assertEqual(done("--keep-path", "1"), names[:1])
        with mock.patch.object(records, "version", lambda: "99.0.0"):
            self.assertEqual(done("--keep-path", "1"), names)

    def test_a_killed_worker_takes_one_clip_with_it(self):
        """Two damaged clips of twelve, and a worker that is killed while it works; then everything again."""
        paths = cut(self.into, 12, frames=60)
        for path in paths[3:5]:
            path.write_bytes(path.read_bytes()[:9000])
        stale = self.into.parent / "out" / whole_file.temporary(Path(paths[0].name)).name
        stale.parent.mkdir()
        stale.write_bytes(b"half")
        ask, killed = workers._Worker.ask, []

        def asked(worker, told):
            if str(told.get("source", "")) == str(paths[7]) and not killed:
                killed.append(worker._process.pid)
                os.kill(worker._process.pid, getattr(signal, "SIGKILL", signal.SIGTERM))
            return ask(worker, told)

        with mock.patch.object(workers._Worker, "ask", asked):
            status, said = self.run_all(jobs=2)
        self.assertEqual(status, 1, said)
        self.assertEqual(len(killed), 1)
        self.assertIn("Blender ended while it worked on this clip", said)
        wrong = {Path(row["input"]).name for row in summary(self.out)["rows"] if row["error"]}
        self.assertEqual(wrong, {paths[i].name for i in (3, 4, 7)})
        self.assertEqual(len(contents(self.out)), 9)
        self.assertEqual(unfinished(self.out), [])
        times = {path: path.stat().st_mtime_ns for path in self.out.glob("*.bvh")}
        status, said = self.run_all(jobs=2)
        self.assertEqual(status, 1, said)
        found = summary(self.out)
        self.assertEqual((found["clips"], found["failed"], found["skipped"]), (12, 2, 9))
        self.assertEqual({path: path.stat().st_mtime_ns for path in times}, times)
        self.assertEqual(said.count("cut off"), 2)
        self.assertEqual(self.run_all(out=self.folder / "one")[0], 1)
        self.assertEqual(contents(self.out), contents(self.folder / "one"))

    def test_parts_fill_one_folder(self):
        cut(self.into, 3, frames=60)
        for k in (1, 2):
            status, said = self.run_all("--part", f"{k}/2")
            self.assertEqual(status, 0, said)
        counts = [summary(self.out, f"footlock_summary.{k}-of-2")["clips"] for k in (1, 2)]
        self.assertEqual(counts, [2, 1])
        self.assertEqual(len(contents(self.out)), 3)
        self.assertEqual(self.run_all()[0], 0)
        self.assertEqual(summary(self.out)["skipped"], 3)

    def test_a_table_without_formulas(self):
        path = self.into / "=1+1.bvh"
        shutil.copy(cut(self.folder / "cut", 1)[0], self.folder / "one.bvh")
        self.into.mkdir()
        shutil.copy(self.folder / "one.bvh", path)
        folder = os.getcwd()
        os.chdir(self.into)
        self.addCleanup(os.chdir, folder)
        status, said = run("=1+1.bvh", "none.bvh", "-o", self.out)
        self.assertEqual(status, 1, said)
        with open(self.out / "footlock_summary.csv", encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(rows[0]["input"], "'=1+1.bvh")
        self.assertEqual(rows[0]["action"], "'=1+1")
        self.assertGreater(float(rows[0]["Left slide_before_mm_per_frame"]), 0.0)
        self.assertLess(float(rows[0]["Left slide_after_mm_per_frame"]), 1e-3)
        self.assertIn("does not exist", rows[1]["error"])
        self.assertEqual(summary(self.out)["rows"][0]["input"], "=1+1.bvh")

    @unittest.skipUnless(sys.platform == "linux", "other systems have no such names")
    def test_names_that_are_no_text(self):
        source = cut(self.folder / "cut", 1, frames=60)[0]
        self.into.mkdir()
        for name in (b"w\xe9 \xe2\x80\x9cx\xe2\x80\x9d.bvh", "🦶 ünï.bvh".encode()):
            shutil.copy(source, self.into / os.fsdecode(name))
        os.mkfifo(self.into / "pipe.bvh")
        for jobs in (1, 2):
            status, said = self.run_all(out=self.folder / f"out {jobs}", jobs=jobs)
            self.assertEqual(status, 1, said)
            self.assertEqual(len(contents(self.folder / f"out {jobs}")), 2)
            wrong = [row for row in summary(self.folder / f"out {jobs}")["rows"] if row["error"]]
            self.assertEqual([Path(row["input"]).name for row in wrong], ["pipe.bvh"])
            self.assertIn("is no file", wrong[0]["error"])
        self.assertEqual(contents(self.folder / "out 1"), contents(self.folder / "out 2"))

    @unittest.skipIf(sys.platform == "win32", "links want a permission there")
    def test_links_that_lead_to_themselves(self):
        cut(self.into, 2, frames=60)
        loop = self.into / "loop.bvh"
        loop.symlink_to(loop.name)
        status, said = self.run_all(jobs=1)
        self.assertEqual(status, 1, said)
        self.assertEqual(len(contents(self.out)), 2)
        self.assertNotIn("Traceback", said)
        wrong = [row for row in summary(self.out)["rows"] if row["error"]]
        self.assertEqual([Path(row["input"]).name for row in wrong], [loop.name])
        status, said = run(loop, "-o", self.folder / "alone.bvh", "--report", loop)
        self.assertEqual(status, 2, said)
        self.assertNotIn("Traceback", said)

    def test_a_file_where_records_belong(self):
        cut(self.into, 1, frames=60)
        self.out.mkdir()
        (self.out / ".footlock").write_text("mine")
        status, said = self.run_all(jobs=1)
        self.assertEqual(status, 1, said)
        self.assertIn("is a folder that can be written to", summary(self.out)["rows"][0]["error"])
        self.assertEqual((self.out / ".footlock").read_text(), "mine")

    def test_one_file_is_as_it_was(self):
        source = cut(self.into, 1)[0]
        for _ in range(2):
            status, said = run(source, "-o", self.folder / "out.bvh")
            self.assertEqual(status, 0, said)
            self.assertNotIn("skipped", said)
        self.assertEqual({path.name for path in self.folder.iterdir()}, {"in", "out.bvh"})

    def test_as_a_command_of_blender(self):
        """By the function that Blender calls: the exit status is what it returns."""
        paths = cut(self.into, 1)
        self.assertEqual(command._run([str(self.into), "-o", str(self.out)]), 0)
        self.assertEqual(list(contents(self.out)), [paths[0].name])
        self.assertEqual(run(paths[0], "-o", self.folder / "one.bvh")[0], 0)
        self.assertEqual((self.folder / "one.bvh").read_bytes(), (self.out / paths[0].name).read_bytes())


# A program that runs another and is sent a SIGINT while that loads Blender.
EARLY = """
import os, runpy, signal, sys

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name in ("bpy_types", "_bpy_types"):
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Finder())
sys.argv[:1] = []
runpy.run_path(sys.argv[0], run_name="__main__")
print("not stopped")
"""


@unittest.skipUnless(POSIX, "signals and limits of POSIX")
class Ends(clips.InFolder):
    """Runs that do not come to their end."""

    def setUp(self):
        super().setUp()
        self.into, self.out = self.folder / "in", self.folder / "out"

    def test_stopped(self):
        cut(self.into, 12)
        for jobs, number in ((1, signal.SIGINT), (2, signal.SIGINT), (2, signal.SIGTERM)):
            with self.subTest(jobs=jobs, signal=number):
                shutil.rmtree(self.out, ignore_errors=True)
                program = batch_clips.start(self.into, "-o", self.out, "--jobs", jobs)
                for line in program.stdout:
                    if "→" in line:
                        break
                program.send_signal(number)
                said = "".join(program.communicate(timeout=60))
                self.assertEqual(program.returncode, 130, said)
                self.assertEqual(said.count("Stopped: "), 1, said)
                self.assertNotIn("Traceback", said)
                found = summary(self.out)
                self.assertTrue(found["stopped"])
                self.assertEqual(found["failed"], 0)
                self.assertIn(found["clips"], range(1, 12))
                self.assertEqual(unfinished(self.out), [])
                self.assertLessEqual(found["clips"], len(contents(self.out)))
                for row in found["rows"]:
                    self.assertTrue(Path(row["output"]).is_file())
        status, said = run(self.into, "-o", self.out, "--jobs", 2)
        self.assertEqual(status, 0, said)
        self.assertGreaterEqual(summary(self.out)["skipped"], 1)
        self.assertEqual(len(contents(self.out)), 12)

    @unittest.skipIf(bpy.app.binary_path, "this Blender is there before the program is")
    def test_stopped_while_blender_is_loaded(self):
        cut(self.into, 1)
        self.folder.joinpath("early.py").write_text(EARLY)
        command = [sys.executable, self.folder / "early.py", ROOT / "batch.py", self.into, "-o", self.out]
        done = subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (130, ""))
        self.assertNotIn("not stopped", done.stdout)
        self.assertFalse(self.out.exists())

    def test_stopped_within_what_blender_calls(self):
        """There Blender would print the exception as an error of that function, and go on."""
        sent = []

        @bpy.app.handlers.persistent
        def handler(*_):
            os.kill(os.getpid(), signal.SIGINT)
            sent.append(None)

        said = io.StringIO()
        with stopping.Stop() as stop, redirect_stderr(said):
            stop.raising = True
            bpy.app.handlers.load_post.append(handler)
            self.addCleanup(bpy.app.handlers.load_post.remove, handler)
            clips.new_file()
            self.assertEqual((len(sent), stop.asked, said.getvalue()), (1, True, ""))
            end = time.monotonic() + 30.0
            with self.assertRaises(stopping.Stopped):
                while time.monotonic() < end:
                    rotations.normalized(np.ones((100_000, 4)))

    def test_a_full_disk(self):
        """Files may not become larger than some bytes: whatever is cut off fails its clip, and nothing of it stays."""
        source = cut(self.into, 1)[0]
        clips.import_clip(source)
        bpy.ops.export_scene.fbx(
            filepath=str(self.into / "clip.fbx"), bake_anim_simplify_factor=0.0, add_leaf_bones=False
        )
        bpy.ops.export_scene.gltf(filepath=str(self.into / "clip.glb"), export_optimize_animation_size=False)
        bpy.ops.wm.save_as_mainfile(filepath=str(self.into / "clip.blend"), compress=False)
        self.out.mkdir()
        kept = self.out / "clip.blend"
        kept.write_bytes(b"an older output")

        def limited():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))

        self.assertLess(60_000, min(path.stat().st_size for path in self.into.iterdir()))
        program = batch_clips.start(self.into, "-o", self.out, "--jobs", 1, preexec_fn=limited)
        said = "".join(program.communicate(timeout=300))
        self.assertEqual(program.returncode, 1, said)
        rows = summary(self.out)["rows"]
        self.assertEqual(len(rows), 4)
        for row in rows:
            self.assertRegex(row["error"] or "", "cannot be written", row["input"])
        self.assertEqual(unfinished(self.out), [])
        self.assertEqual(kept.read_bytes(), b"an older output")
        self.assertEqual(list(contents(self.out)), ["clip.blend"])
        self.assertEqual([path.name for path in self.out.rglob("*.bvh.json")], [])
