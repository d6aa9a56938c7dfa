# SPDX-License-Identifier: GPL-3.0-or-later
"""tools/blender.py: which Blender it takes, how it runs it, and tests/run.py: what it counts.

The launcher is copied into a temporary checkout and meets nothing but fakes there: shell scripts that answer as
Blender, as Python and as pip would, on a PATH that has nothing else.
"""
import contextlib
import importlib.util
import io
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]

# Answers --version, and for anything else prints its arguments and ends with $STATUS.
FAKE_BLENDER = """#!/bin/sh
case "$*" in
    --version) echo "Blender {version} LTS"; exit 0 ;;
esac
echo "blender {version}"
for argument in "$@"; do echo "[$argument]"; done
exit "${{STATUS:-0}}"
"""

# Answers what the launcher asks an interpreter. `-m venv` makes one more of its kind, which has bpy once pip has
# installed it.
FAKE_PYTHON = """#!/bin/sh
here=$(dirname "$0")
case "$*" in
    --version) echo "Python {version}.1" ;;
    *"import bpy"*)
        if [ -e "$here/has-bpy" ]; then echo "bpy-is-$(cat "$here/has-bpy")"; else exit 1; fi ;;
    *ensurepip*) echo "python-is-{version}" ;;
    "-m venv "*) mkdir -p "$3/bin" && cp "$0" "$3/bin/python" ;;
    "-m pip install "*)
        echo "noise of pip"
        [ -z "$PIP_FAILS" ] || exit 1
        echo "$4" >>"$here/installed"
        echo 4.5.9 >"$here/has-bpy" ;;
    *)
        echo "python {version} of $here"
        for argument in "$@"; do echo "[$argument]"; done
        exit "${{STATUS:-0}}" ;;
esac
"""


def import_file(path):
    spec = importlib.util.spec_from_file_location(f"under_test_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look themselves up there
    spec.loader.exec_module(module)
    return module


@unittest.skipIf(os.name == "nt", "the fakes are shell scripts")
class LauncherTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="footlock launcher ü ")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name).resolve()
        self.checkout = self.folder / "a checkout"
        self.script = self.checkout / "tests" / "run.py"
        for path in (self.checkout / "tools", self.checkout / "tests", self.folder / "bin", self.folder / "home"):
            path.mkdir(parents=True)
        self.script.write_text("")
        shutil.copy(ROOT / "tools" / "blender.py", self.checkout / "tools")
        # The fakes' own needs; nothing else of the machine's PATH, which may well have a Blender.
        self.tools = self.folder / "tools"
        self.tools.mkdir()
        for tool in ("sh", "cat", "cp", "mkdir", "dirname"):
            (self.tools / tool).symlink_to(shutil.which(tool))
        # The interpreter that "runs" the launcher: one that fits no wheel and has no bpy, unless a test says otherwise.
        self.running = self.fake_python("running/python3", "3.10")

    def fake(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
        return path

    def fake_blender(self, name, version):
        return self.fake(name, FAKE_BLENDER.format(version=version))

    def fake_python(self, name, version, bpy=None):
        path = self.fake(name, FAKE_PYTHON.format(version=version))
        if bpy:
            (path.parent / "has-bpy").write_text(bpy)
        return path

    def launch(self, *arguments, cwd=None, **variables):
        """Run the launcher as a process, as if the fake interpreter ran it: status, stdout, stderr."""
        # -S -E: whatever the real interpreter has installed, be it bpy, is not there.
        code = (
            "import runpy, sys; sys.executable = sys.argv[1]; del sys.argv[:2]; "
            "runpy.run_path(sys.argv[0], run_name='__main__')"
        )
        environment = {"PATH": f"{self.folder / 'bin'}:{self.tools}", "HOME": str(self.folder / "home"), **variables}
        launcher = str(self.checkout / "tools" / "blender.py")
        done = subprocess.run(
            [sys.executable, "-X", "utf8", "-S", "-E", "-c", code, str(self.running), launcher, *arguments],
            cwd=cwd or self.folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=60,
        )
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def venv(self, state=None, bpy=None):
        """A .venv in the checkout, as an earlier run may have left it."""
        folder = self.checkout / ".venv"
        self.fake_python("a checkout/.venv/bin/python", "3.11", bpy)
        if state:
            (folder / "footlock-state.txt").write_text(state + "\n")
        (folder / "left behind").write_text("")
        return folder


class Choice(LauncherTest):
    def test_the_environment_wins_over_all_others(self):
        named = self.fake_blender("somewhere/my blender", "4.2.1")
        self.fake_blender("bin/blender", "4.5.0")
        self.running = self.fake_python("running/python3", "3.11", bpy="4.5.3")
        status, out, _ = self.launch("--which", BLENDER=str(named))
        self.assertEqual((status, out), (0, f"Blender 4.2.1 (executable): {named}\n"))

    def test_the_path_wins_over_the_running_interpreter(self):
        found = self.fake_blender("bin/blender", "5.2.0")
        self.running = self.fake_python("running/python3", "3.11", bpy="4.5.3")
        self.assertEqual(self.launch("--which")[:2], (0, f"Blender 5.2.0 (executable): {found}\n"))

    def test_the_running_interpreter_wins_over_venv(self):
        self.running = self.fake_python("running/python3", "3.11", bpy="4.5.3")
        self.venv("complete", bpy="4.5.9")
        self.assertEqual(self.launch("--which")[:2], (0, f"Blender 4.5.3 (bpy module): {self.running}\n"))

    def test_venv_is_used_when_there_is_nothing_else(self):
        folder = self.venv("complete", bpy="4.5.9")
        self.assertEqual(self.launch("--which")[:2], (0, f"Blender 4.5.9 (bpy module): {folder}/bin/python\n"))

    def test_an_older_blender_on_the_path_is_skipped_with_a_word(self):
        old = self.fake_blender("bin/blender", "3.4.1")
        self.running = self.fake_python("running/python3", "3.11", bpy="4.5.3")
        status, out, err = self.launch("--which")
        self.assertEqual((status, out), (0, f"Blender 4.5.3 (bpy module): {self.running}\n"))
        self.assertEqual(err, f"skipping {old}: Blender 3.4.1 is older than 4.2\n")

    def test_a_blender_on_the_path_that_does_not_run_is_skipped_with_a_word(self):
        self.fake("bin/blender", "#!/bin/sh\nexit 127\n")
        self.running = self.fake_python("running/python3", "3.11", bpy="4.5.3")
        status, _, err = self.launch("--which")
        self.assertEqual(status, 0)
        self.assertIn("does not run", err)

    def test_versions_are_compared_as_numbers(self):
        found = self.fake_blender("bin/blender", "4.10.0")
        self.assertEqual(self.launch("--which")[:2], (0, f"Blender 4.10.0 (executable): {found}\n"))

    def test_an_old_module_of_the_running_interpreter_is_not_used(self):
        self.running = self.fake_python("running/python3", "3.10", bpy="3.6.0")
        folder = self.venv("complete", bpy="4.5.9")
        self.assertEqual(self.launch("--which")[:2], (0, f"Blender 4.5.9 (bpy module): {folder}/bin/python\n"))

    def test_the_environment_may_name_a_python_with_bpy(self):
        self.fake_blender("bin/blender", "4.5.0")
        python = self.fake_python("modules/bin/python", "3.13", bpy="5.3.0")
        status, out, _ = self.launch("--which", BLENDER=str(python))
        self.assertEqual((status, out), (0, f"Blender 5.3.0 (bpy module): {python}\n"))

    def test_the_environment_may_name_a_command_of_the_path(self):
        found = self.fake_blender("bin/blender-lts", "4.5.0")
        self.assertEqual(self.launch("--which", BLENDER="blender-lts")[1], f"Blender 4.5.0 (executable): {found}\n")


class BadEnvironment(LauncherTest):
    """Whoever sets $BLENDER wants that one: there is no second choice."""

    def refused(self, blender):
        self.fake_blender("bin/blender", "4.5.0")
        status, out, err = self.launch("tests/run.py", BLENDER=str(blender))
        self.assertEqual((status, out), (2, ""))
        self.assertEqual(err.count("\n"), 1, err)
        self.assertNotIn("Traceback", err)
        self.assertIn(str(blender), err)
        return err

    def test_missing(self):
        self.assertIn("no such executable", self.refused(self.folder / "no such blender"))

    def test_a_folder(self):
        self.assertIn("no such executable", self.refused(self.folder))

    def test_too_old(self):
        self.assertIn("4.2 or newer", self.refused(self.fake_blender("old/blender", "4.1.1")))

    def test_not_a_blender(self):
        self.assertIn("--version", self.refused(self.fake("other/program", "#!/bin/sh\necho hello\n")))

    def test_a_python_without_bpy(self):
        self.assertIn("bpy", self.refused(self.fake_python("bare/python", "3.11")))


class Run(LauncherTest):
    def test_an_executable_gets_the_script_and_its_arguments(self):
        self.fake_blender("bin/blender", "4.5.0")
        status, out, err = self.launch("tests/run.py", "-k", "two words", "--", "ü", "")
        options = ["--background", "--factory-startup", "--python-exit-code", "1", "--python", str(self.script), "--"]
        expected = [*options, "-k", "two words", "--", "ü", ""]
        self.assertEqual(out.splitlines(), ["blender 4.5.0", *(f"[{argument}]" for argument in expected)])
        self.assertEqual((status, err), (0, ""))

    def test_a_module_gets_the_script_and_its_arguments(self):
        self.running = self.fake_python("running/python3", "3.11", bpy="4.5.3")
        _, out, _ = self.launch("tests/run.py", "-v", "two words")
        self.assertEqual(out.splitlines()[1:], [f"[{self.script}]", "[-v]", "[two words]"])

    def test_the_status_is_passed_on(self):
        self.fake_blender("bin/blender", "4.5.0")
        python = self.fake_python("modules/bin/python", "3.13", bpy="5.3.0")
        for blender in ("", str(python)):
            for expected in (0, 1, 2, 77):
                with self.subTest(blender=blender, status=expected):
                    status, _, _ = self.launch("tests/run.py", STATUS=str(expected), BLENDER=blender)
                    self.assertEqual(status, expected)

    def test_the_checkout_is_meant_wherever_it_is_called(self):
        self.fake_blender("bin/blender", "4.5.0")
        elsewhere = self.folder / "elsewhere"
        (elsewhere / "tests").mkdir(parents=True)
        (elsewhere / "tests" / "run.py").write_text("another project's")
        for cwd in (self.folder, self.checkout, self.checkout / "tests", elsewhere):
            with self.subTest(cwd=cwd.name):
                self.assertIn(f"[{self.script}]\n", self.launch("tests/run.py", cwd=cwd)[1])

    def test_a_script_of_the_working_directory(self):
        self.fake_blender("bin/blender", "4.5.0")
        self.assertIn(f"[{self.script}]\n", self.launch("run.py", cwd=self.script.parent)[1])

    def test_a_missing_script_is_an_error_and_makes_no_venv(self):
        self.fake_python("bin/python3.11", "3.11")
        status, out, err = self.launch("no_such.py")
        self.assertEqual((status, out), (2, ""))
        self.assertIn("no_such.py", err)
        self.assertFalse((self.checkout / ".venv").exists())

    def test_no_arguments(self):
        status, out, err = self.launch()
        self.assertEqual((status, out), (2, ""))
        self.assertIn("tools/blender.py", err)


class Venv(LauncherTest):
    def state(self):
        return (self.checkout / ".venv" / "footlock-state.txt").read_text().strip()

    def installed(self):
        path = self.checkout / ".venv" / "bin" / "installed"
        return path.read_text().splitlines() if path.exists() else []

    def test_made_once_and_then_used(self):
        self.fake_python("bin/python3.11", "3.11")
        status, out, err = self.launch("tests/run.py", "-v")
        self.assertEqual(status, 0, err)
        self.assertIn("fetching the bpy module into .venv, about 1 GB, once\n", err)
        python = f"python 3.11 of {self.checkout}/.venv/bin"
        self.assertEqual(out.splitlines(), [python, f"[{self.script}]", "[-v]"])  # and nothing of pip
        self.assertEqual((self.state(), self.installed()), ("complete", ["bpy==4.5.*"]))
        status, out, err = self.launch("tests/run.py")
        self.assertEqual((status, out.splitlines()[0], err), (0, python, ""))
        self.assertEqual(self.installed(), ["bpy==4.5.*"])

    def test_a_half_made_one_is_made_anew_even_if_it_seems_to_work(self):
        self.fake_python("bin/python3.11", "3.11")
        folder = self.venv("making", bpy="4.5.9")
        self.assertEqual(self.launch("tests/run.py")[0], 0)
        self.assertFalse((folder / "left behind").exists())
        self.assertEqual((self.state(), self.installed()), ("complete", ["bpy==4.5.*"]))

    def test_a_failed_installation_is_an_error_and_tried_again(self):
        self.fake_python("bin/python3.11", "3.11")
        status, out, err = self.launch("tests/run.py", PIP_FAILS="1")
        self.assertEqual((status, out), (2, ""))
        self.assertIn("could not be installed", err)
        self.assertEqual(self.state(), "making")
        self.assertEqual(self.launch("tests/run.py")[0], 0)
        self.assertEqual(self.state(), "complete")

    def test_a_finished_one_that_no_longer_works_is_made_anew(self):
        self.fake_python("bin/python3.11", "3.11")
        folder = self.venv("complete")
        self.assertEqual(self.launch("tests/run.py")[0], 0)
        self.assertFalse((folder / "left behind").exists())

    def test_somebody_elses_is_used_if_it_has_bpy(self):
        folder = self.venv(bpy="4.5.9")
        self.assertEqual(self.launch("tests/run.py")[0], 0)
        self.assertTrue((folder / "left behind").exists())

    def test_somebody_elses_without_bpy_is_never_removed(self):
        self.fake_python("bin/python3.11", "3.11")
        folder = self.venv()
        status, _, err = self.launch("tests/run.py")
        self.assertEqual(status, 2)
        self.assertIn("was not made by this tool", err)
        self.assertTrue((folder / "left behind").exists())

    def test_which_makes_nothing(self):
        self.fake_python("bin/python3.11", "3.11")
        status, out, _ = self.launch("--which")
        self.assertEqual(status, 0)
        self.assertIn("bpy==4.5.*", out)
        self.assertFalse((self.checkout / ".venv").exists())

    def test_the_running_interpreter_is_preferred_if_a_wheel_fits(self):
        self.fake_python("bin/python3.13", "3.13")
        self.running = self.fake_python("running/python3", "3.11")
        self.assertIn(f"bpy==4.5.* (bpy module), to be fetched into {self.checkout}/.venv by {self.running}\n",
                      self.launch("--which")[1])

    def test_each_candidate_is_tried(self):
        """A shim that runs nothing stands first on the PATH, and the one that works under pyenv's versions."""
        self.fake("bin/python3.13", "#!/bin/sh\necho 'command not found' >&2\nexit 127\n")
        self.fake("bin/python3.11", "#!/bin/sh\nexit 127\n")
        python = self.fake_python("home/.pyenv/versions/3.13.2/bin/python", "3.13")
        _, out, _ = self.launch("--which")
        self.assertIn("bpy>=5.1,<5.4", out)
        self.assertIn(str(python), out)

    def test_the_second_of_that_name_on_the_path_is_tried(self):
        self.fake("bin/python3.11", "#!/bin/sh\nexit 127\n")
        python = self.fake_python("tools/python3.11", "3.11")
        self.assertIn(f"by {python}\n", self.launch("--which")[1])

    def test_no_python_for_a_wheel_is_one_sentence(self):
        status, out, err = self.launch("tests/run.py")
        self.assertEqual((status, out, err.count("\n")), (2, "", 1))
        self.assertIn("install", err)
        self.assertIn("3.11", err)
        self.assertFalse((self.checkout / ".venv").exists())


class RunnerCounts(unittest.TestCase):
    """tests/run.py on test modules that are written for the purpose."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="footlock-runner-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.runner = import_file(ROOT / "tests" / "run.py")
        self.addCleanup(mock.patch.object(sys, "path", list(sys.path)).start)
        self.addCleanup(mock.patch.stopall)

    def run_tests(self, text, *options):
        """Status, printed text, last line."""
        (self.folder / "test_it.py").write_text("import unittest\n" + text)
        printed = io.StringIO()
        before = set(sys.modules)
        footlock = sys.modules.get("footlock")
        with contextlib.redirect_stdout(printed):
            status = self.runner.main(self.runner.parse(["--start", str(self.folder), *options]))
        for name in set(sys.modules) - before:
            if name.startswith(self.folder.name):
                del sys.modules[name]
        if footlock is not None:
            sys.modules["footlock"] = footlock
        return status, printed.getvalue(), printed.getvalue().splitlines()[-1]

    def of_methods(self, *lines):
        return self.run_tests("class T(unittest.TestCase):\n" + "".join(f"    {line}\n" for line in lines))

    def test_all_pass(self):
        status, _, last = self.of_methods("def test_a(self): pass", "def test_b(self): pass")
        self.assertEqual((status, last), (0, "2 passed, 0 failed"))

    def test_failures_and_errors(self):
        status, text, last = self.of_methods(
            "def test_a(self): self.fail('because')", "def test_b(self): 1 / 0",
            "def test_c(self): raise SystemExit(0)", "def test_d(self): pass",
        )
        self.assertEqual((status, last), (1, "1 passed, 3 failed"))
        self.assertIn("because", text)
        self.assertIn("ZeroDivisionError", text)

    def test_subtests_make_one_failure_of_one_test(self):
        status, text, last = self.of_methods(
            "def test_a(self):", "    for i in range(5):", "        with self.subTest(i=i): self.assertEqual(i % 2, 0)",
            "def tearDown(self): 1 / 0",
        )
        self.assertEqual((status, last), (1, "0 passed, 1 failed"))
        self.assertIn("(i=1)", text)
        self.assertIn("(i=3)", text)

    def test_skips_are_counted_apart_and_hide_no_failure(self):
        status, text, last = self.of_methods(
            "@unittest.skip('not today')", "def test_a(self): pass", "def test_b(self): pass",
            "def test_c(self):", "    with self.subTest(): self.fail()", "    self.skipTest('too late')",
        )
        self.assertEqual((status, last), (1, "1 passed, 1 failed, 1 skipped"))
        self.assertIn("not today", text)

    def test_expected_failures(self):
        status, _, last = self.of_methods(
            "@unittest.expectedFailure", "def test_a(self): self.fail()",
            "@unittest.expectedFailure", "def test_b(self): pass",
        )
        self.assertEqual((status, last), (1, "1 passed, 1 failed"))

    def test_a_broken_fixture_of_the_class(self):
        status, _, last = self.of_methods(
            "@classmethod", "def setUpClass(cls): 1 / 0", "def test_a(self): pass", "def test_b(self): pass"
        )
        self.assertEqual((status, last), (1, "0 passed, 1 failed"))

    def test_modules_that_cannot_be_imported(self):
        for text in ("import no_such_module_anywhere", "def broken(:", "raise SystemExit(0)"):
            with self.subTest(text=text):
                status, printed, last = self.run_tests(text)
                self.assertEqual((status, last), (1, "0 passed, 1 failed"))
                self.assertIn("Traceback", printed)

    def test_no_test_at_all_is_a_failure(self):
        self.assertEqual(self.run_tests("")[::2], (1, "0 passed, 1 failed"))
        self.assertEqual(self.of_methods("@unittest.skip('')", "def test_a(self): pass")[::2],
                         (1, "0 passed, 1 failed, 1 skipped"))

    def test_patterns_and_the_list(self):
        text = "class T(unittest.TestCase):\n    def test_one(self): pass\n    def test_two(self): self.fail()\n"
        self.assertEqual(self.run_tests(text, "-k", "one")[::2], (0, "1 passed, 0 failed"))
        self.assertEqual(self.run_tests(text, "-k", "*_one", "-k", "T.test_two")[::2], (1, "1 passed, 1 failed"))
        status, printed, _ = self.run_tests(text, "--list")
        name = f"{self.folder.name}.test_it.T.test_"
        self.assertEqual((status, printed.splitlines()[-2:]), (0, [name + "one", name + "two"]))

    def test_the_slowest(self):
        """What a class prepares counts with its first test, and the processor's time has that of other processes."""
        busy = "end = time.process_time() + 0.2\nwhile time.process_time() < end: pass"
        text = (
            "import subprocess, sys, time\n"
            "class T(unittest.TestCase):\n"
            "    def test_a(self): pass\n"
            f"    def test_b(self): subprocess.run([sys.executable, '-c', {'import time' + chr(10) + busy!r}])\n"
            "class U(unittest.TestCase):\n"
            "    @classmethod\n"
            "    def setUpClass(cls): time.sleep(0.3)\n"
            "    def test_c(self): pass\n"
        )
        status, printed, last = self.run_tests(text, "--slowest", "2")
        self.assertEqual((status, last), (0, "3 passed, 0 failed"))
        lines = printed.splitlines()
        first = lines.index(f"{'seconds':>8} {'processor':>9}") + 1
        rows = [line.split() for line in lines[first : first + 3]]
        module = f"{self.folder.name}.test_it"
        self.assertEqual(rows[0][2], module)
        self.assertEqual({row[2] for row in rows[1:]}, {f"{module}.T.test_b", f"{module}.U.test_c"})
        seconds, processor = ({row[2]: float(row[i]) for row in rows} for i in range(2))
        self.assertGreaterEqual(seconds[f"{module}.U.test_c"], 0.3)
        self.assertGreaterEqual(processor[f"{module}.T.test_b"], 0.2)
        rounded = 0.02  # three numbers of two digits
        self.assertGreaterEqual(seconds[module] + rounded, seconds[f"{module}.T.test_b"] + 0.3)
        self.assertNotIn("seconds", self.run_tests(text)[1])

    def test_without_the_solvers(self):
        """Under a Blender whose numpy ran them before; without any Blender nothing is left, which is a failure."""
        with mock.patch.object(self.runner, "load", return_value=unittest.TestSuite()) as load, \
                mock.patch.object(self.runner, "bpy", object()), \
                mock.patch.object(self.runner, "environment", return_value=""), \
                contextlib.redirect_stdout(io.StringIO()):
            for options, folders in (([], ["solvers", "blender"]), (["--without-solvers"], ["blender"])):
                load.reset_mock()
                status = self.runner.main(self.runner.parse([*options, "--list"]))
                self.assertEqual((status, [call.args[0].name for call in load.call_args_list]), (1, folders))


class RunnerRegistration(unittest.TestCase):
    def setUp(self):
        self.runner = import_file(ROOT / "tests" / "run.py")
        self.outcome = self.runner.Outcome()
        self.suite = unittest.TestSuite([unittest.FunctionTestCase(lambda: None)])

    def counts(self, footlock):
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            self.runner.run_registered(footlock, self.suite, self.outcome)
        return self.outcome.summary(), printed.getvalue()

    def test_tests_run_between_register_and_unregister(self):
        self.assertEqual(self.counts(mock.Mock())[0], "1 passed, 0 failed")

    def test_an_error_in_registration_is_a_failure(self):
        summary, text = self.counts(mock.Mock(register=mock.Mock(side_effect=RuntimeError("twice"))))
        self.assertEqual(summary, "0 passed, 1 failed")
        self.assertIn("RuntimeError: twice", text)

    def test_an_error_in_unregistration_is_a_failure(self):
        summary, _ = self.counts(mock.Mock(unregister=mock.Mock(side_effect=RuntimeError("never"))))
        self.assertEqual(summary, "1 passed, 1 failed")
