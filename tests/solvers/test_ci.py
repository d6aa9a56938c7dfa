# SPDX-License-Identifier: GPL-3.0-or-later
"""CI's own exits: what fails, hangs, is killed or cannot be fetched is counted, and nothing is left running."""

import contextlib
import io
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / ".ci"))

import checks  # noqa: E402
import lanes  # noqa: E402

sys.path.pop(0)

PYTHON = sys.executable
# A test runner's output.
SAID = "Blender 4.5.1 LTS (bpy module), Python 3.11, numpy 1.26\n{counts}\n"


def worked(jobs, fetches=(), optional=()):
    """The Lanes after they did jobs, quietly."""
    made = lanes.Lanes(optional)
    for name, function in fetches:
        made.fetch(name, function)
    for job in jobs:
        made.add(job)
    with (
        contextlib.redirect_stdout(io.StringIO()),
        mock.patch.object(lanes.signal, "signal"),
        mock.patch.object(lanes, "_stopped", lanes.threading.Event()),
    ):
        made.work()
    return made


def code(text, limit=60.0, grace=1.0):
    """The Done of a Python that runs some code."""
    with mock.patch.object(lanes, "LIMIT", limit), mock.patch.object(lanes, "GRACE", grace):
        return lanes.call([PYTHON, "-c", text], io.StringIO(), dict(os.environ))


def judged(status, counts, said=SAID, expected="bpy module", **options):
    made = checks.Checks(lanes.Lanes())
    done = lanes.Done(status, said.format(counts=counts), f"exit status {status}")
    job = lanes.Job("a run", lambda job: None)
    return made, made._judge(job, done, expected, **options)


@unittest.skipUnless(os.name == "posix", "CI is for Linux")
class TestProcesses(unittest.TestCase):
    def test_status_and_text(self):
        done = code("import sys; print('ä'); sys.exit(3)")
        self.assertEqual((done.status, done.text.strip(), done.ending), (3, "ä", "exit status 3"))

    def test_killed(self):
        done = code("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)")
        self.assertEqual(done.ending, "killed by SIGSEGV")
        self.assertNotEqual(done.status, 0)

    def test_hung(self):
        """Also one that does not listen, with a child of its own."""
        child = "import time; time.sleep(600)"
        text = (
            "import signal, subprocess, sys, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
            f"print(subprocess.Popen([sys.executable, '-c', {child!r}]).pid, flush=True)\ntime.sleep(600)"
        )
        start = time.monotonic()
        done = code(text, limit=0.5, grace=0.2)
        if not done.text:  # a machine so slow that not even the child had begun
            done = code(text, limit=20.0)
        self.assertLess(time.monotonic() - start, 60.0)
        self.assertRegex(done.ending, "stopped after")
        self.assertNotEqual(done.status, 0)
        self.assertTrue(gone(int(done.text)))

    def test_what_a_process_left_ends_too(self):
        child = "import time; time.sleep(600)"
        done = code(f"import subprocess, sys; print(subprocess.Popen([sys.executable, '-c', {child!r}]).pid)")
        self.assertEqual(done.status, 0)
        self.assertTrue(gone(int(done.text)))

    def test_stopped_run_leaves_nothing(self):
        """The whole run gets a signal while two jobs work."""
        with tempfile.TemporaryDirectory() as folder:
            pids = [Path(folder) / name for name in "ab"]
            commands = [
                f"import os, time; open({str(path)!r}, 'w').write(str(os.getpid())); time.sleep(600)" for path in pids
            ]
            text = (
                f"import sys; sys.path.insert(0, {str(ROOT / '.ci')!r})\nimport lanes\nmade = lanes.Lanes()\n"
                f"for command in {commands!r}:\n"
                "    made.add(lanes.Job(command, lambda job: job.run([sys.executable, '-c', job.name], {})))\n"
                "made.work()\n"
            )
            process = subprocess.Popen([PYTHON, "-c", text], stdout=subprocess.DEVNULL)
            deadline = time.monotonic() + 120
            while not all(path.exists() and path.read_text() for path in pids) and time.monotonic() < deadline:
                time.sleep(0.05)
            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.wait(60), 128 + signal.SIGTERM)
            for path in pids:
                self.assertTrue(gone(int(path.read_text())))


class TestLanes(unittest.TestCase):
    def test_results_and_errors(self):
        def broken(job):
            raise ZeroDivisionError

        jobs = [lanes.Job("good", lambda job: lanes.Result(5, 0, "ok good")), lanes.Job("broken", broken)]
        made = worked(jobs)
        self.assertEqual(sorted((one.passed, one.failed) for one in made.results), [(0, 1), (5, 0)])

    def test_needs(self):
        """What cannot be fetched is a failure of the job that needs it, or a reason to leave it out."""

        def missing(log):
            raise RuntimeError("no such package")

        jobs = [
            lanes.Job(f"job of {name}", lambda job: lanes.Result(1, 0, job.given), name)
            for name in ("there", "wanted", "optional")
        ]
        fetches = [("optional", missing), ("wanted", missing), ("there", lambda log: "/path")]
        made = worked(jobs, fetches, optional=["optional"])
        lines = {re.sub(r" \(\d+ s\)$", "", one.line): one.failed for one in made.results}
        self.assertEqual(
            lines,
            {
                "/path": 0,
                "FAILED  job of wanted did not run because of wanted: no such package": 1,
                "skipped job of optional because of optional: no such package": 0,
            },
        )

    def test_second_try(self):
        tries = []

        def flaky(log):
            tries.append(1)
            if len(tries) == 1:
                raise RuntimeError("the network was away")
            return "/path"

        made = worked([lanes.Job("job", lambda job: lanes.Result(1, 0, job.given), "it")], [("it", flaky)])
        self.assertEqual((len(tries), made.results[0].passed), (2, 1))

    def test_order(self):
        """Beside each other, and one after another where that is wanted."""
        both, ended, seen = threading.Barrier(2), [], []

        def beside(job):
            both.wait(30.0)  # raises where the other one does not come
            ended.append(job.name)
            return lanes.Result(1)

        def last(job):
            seen.extend(ended)
            return lanes.Result(1)

        jobs = [lanes.Job("last", last, after="first"), lanes.Job("first", beside), lanes.Job("second", beside)]
        made = worked(jobs)
        self.assertEqual([(one.passed, one.failed) for one in made.results], [(1, 0)] * 3)
        self.assertIn("first", seen)


class TestJudging(unittest.TestCase):
    def test_good(self):
        made, result = judged(0, "7 passed, 0 failed, 2 skipped", all_tests=True)
        self.assertEqual((result.passed, result.failed), (7, 0))
        self.assertEqual(list(made.blenders), ["bpy module 4.5"])

    def test_bad(self):
        for status, counts, failed in (
            (1, "5 passed, 2 failed", 2),  # as it should be
            (0, "5 passed, 2 failed", 3),  # failures, and no status
            (1, "7 passed, 0 failed", 1),  # died at the end
            (-11, "no line", 1),
            (0, "no line", 1),
        ):
            with self.subTest(status=status, counts=counts):
                made, result = judged(status, counts, all_tests=True)
                self.assertEqual(result.failed, failed)
                self.assertTrue(result.line.startswith("FAILED"), result.line)
                self.assertEqual(made.blenders, {})

    def test_other_blender(self):
        self.assertEqual(judged(0, "7 passed, 0 failed", expected="executable", all_tests=True)[1].failed, 1)

    def test_too_few_blenders(self):
        """Three modules and an executable have to run."""
        made = checks.Checks(lanes.Lanes())
        kinds = ["bpy module 4.2", "bpy module 4.5", "bpy module 5.3", "executable 4.3"]
        made.blenders = dict.fromkeys(kinds, "")
        self.assertEqual(list(made.closing()), [])
        for kind in kinds:
            made.blenders = {one: "" for one in kinds if one != kind}
            self.assertEqual([one.failed for one in made.closing()], [1])


def gone(pid):
    """True once a process has ended, which takes a moment."""
    for _ in range(200):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state in "ZX":
            return True
        time.sleep(0.05)
    return False
