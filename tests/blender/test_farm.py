"""The job type for Flamenco, against a stand-in for what Flamenco documents of it, and the tasks that it makes."""

import json
import shutil
import subprocess
import unittest
from pathlib import Path

import clips
from blender import batch_clips
from blender.test_batch import run

from footlock.batching import command_line, inputs

ROOT = Path(__file__).parents[2]
SCRIPT, MANAGER = ROOT / "docs/farm/footlock.js", ROOT / "tests/farm/flamenco.js"
NODE = shutil.which("node") or shutil.which("nodejs")


@unittest.skipUnless(NODE, "job types are JavaScript, and Node is not here")
class Flamenco(clips.InFolder):
    def job(self, count, **settings):
        """The job type, and the tasks of a job with so many clips."""
        given = {"clips": str(self.folder / "in"), "output": str(self.folder / "out"), "footlock": "/shared/batch.py"}
        counted = {} if count is None else {"clip_count": count}
        submitted = {"name": "test", "settings": {**given, **counted, **settings}}
        found = subprocess.run(
            [NODE, MANAGER, SCRIPT], input=json.dumps(submitted), capture_output=True, text=True, timeout=60
        )
        if found.returncode:
            raise RuntimeError(found.stderr)
        made = json.loads(found.stdout)
        return made["jobType"], made["tasks"]

    def arguments(self, task):
        """What a task's only command gives the batch."""
        (command,) = task["commands"]
        self.assertEqual((task["type"], command["name"]), ("blender", "blender-render"))
        given = command["parameters"]
        self.assertEqual((given["exe"], given["exeArgs"], given["blendfile"]), ("{blender}", "{blenderArgs}", ""))
        self.assertEqual(given["argsBefore"], ["--background", "--factory-startup"])
        words, own = given["args"][:4], given["args"][5:]
        self.assertEqual(words, ["--python-exit-code", "1", "--python", "/shared/batch.py"])
        self.assertEqual(given["args"][4], "--")
        return own

    def test_tasks_of_so_many_clips(self):
        for count, each, parts in ((1, 25, 1), (25, 25, 1), (26, 25, 2), (1000, 25, 40), (3, 1, 3)):
            _, tasks = self.job(count, clips_per_task=each)
            self.assertEqual(len(tasks), parts + 1)
            *work, summary = tasks
            for i, task in enumerate(work):
                _, options = command_line.parse(self.arguments(task), "batch.py")
                self.assertEqual(options.part, (i + 1, parts))
                self.assertTrue(options.bad_clips_ok)
                self.assertEqual(task["dependencies"], [])
            _, options = command_line.parse(self.arguments(summary), "batch.py")
            self.assertEqual((options.part, options.bad_clips_ok), (None, False))
            self.assertEqual(summary["dependencies"], [task["uuid"] for task in work])

    def test_settings_reach_the_batch(self):
        look = self.folder / "our look.json"
        look.write_text('{"keep-path": 0.5}', encoding="utf-8")
        _, tasks = self.job(
            2, settings_file=str(look), options="--fit-root --action 'Walk *' --smoothing 0.1", processes=3
        )
        for task in tasks:
            _, options = command_line.parse(self.arguments(task), "batch.py")
            self.assertEqual(options.keep_path, 0.5)
            self.assertEqual((options.fit_root, options.action, options.jobs), (True, ["Walk *"], 3))
            self.assertEqual(options.smoothing, 0.1)
            self.assertEqual(options.inputs, [str(self.folder / "in")])

    def test_what_is_missing_is_said(self):
        with self.assertRaisesRegex(RuntimeError, "clips.*choose a path that all workers share"):
            self.job(1, clips="")
        with self.assertRaisesRegex(RuntimeError, "no clip_count"):
            self.job(None)

    def test_the_clips_are_counted_as_they_are_sent(self):
        """By the expression that Blender evaluates, with the names that Flamenco's add-on gives it."""
        for place in ("a.bvh", "walks/b.FBX", "walks/slow/c.glb", "walks/notes.txt"):
            path = self.folder / "in" / place
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"")
        job_type, _ = self.job(1)
        (counted,) = [one for one in job_type["settings"] if one["key"] == "clip_count"]
        for kind in inputs.KINDS:
            self.assertIn(kind, counted["eval"])
        settings = type("Settings", (), {"clips": str(self.folder / "in")})
        self.assertEqual(eval(counted["eval"], {"Path": Path, "abspath": Path, "settings": settings}), 3)

    def test_a_job_is_done(self):
        """Two tasks of two clips, one of them damaged, the first one started twice, and the summary."""
        batch_clips.cut(self.folder / "in", 4, frames=40)
        (self.folder / "in/clip 002.bvh").write_text("HIERARCHY\n", encoding="utf-8")
        _, tasks = self.job(4, clips_per_task=2, processes=1)
        first, second, summary = (self.arguments(task) for task in tasks)
        # The tasks are done here, as workers that are this process.
        for own, counted in ((first, "2 of 2 done, 1 failed"), (second, "2 of 2 done"), (first, "1 skipped")):
            status, said = run(*own)
            self.assertEqual(status, 0, said)
            self.assertIn(counted, said)
        status, said = run(*summary)
        self.assertEqual(status, 1, said)
        found = json.loads((self.folder / "out/footlock_summary.json").read_text(encoding="utf-8"))
        self.assertEqual((found["clips"], found["failed"], found["skipped"]), (4, 1, 3))
        self.assertEqual([Path(row["input"]).name for row in found["rows"] if row["error"]], ["clip 002.bvh"])
        self.assertEqual(len(list((self.folder / "out").glob("*.bvh"))), 3)
