# SPDX-License-Identifier: GPL-3.0-or-later
"""Run the tests, under whatever runs this file.

    blender --background --python-exit-code 1 --python tests/run.py -- ARGS...
    python tests/run.py ARGS...

With Blender (an executable, or a Python that has the bpy module) both tests/solvers and tests/blender run; without it,
only tests/solvers. The last line is `N passed, N failed`, with `, N skipped` where some were; the exit status is 0 if
nothing failed and something ran, else 1. `python3 tools/blender.py tests/run.py` looks for a Blender by itself.
"""
from __future__ import annotations

import argparse
import faulthandler
import importlib.util
import os
import sys
import time
import traceback
import unittest
from collections import Counter
from pathlib import Path

# Before anything loads numpy. Two of its threads may round a sum in another way than one does, where tests compare to
# the bit; and those of numpy 1.26 wait at work, which takes a third more of the processor's time.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

try:
    import bpy
except ModuleNotFoundError as missing:
    if missing.name != "bpy":  # bpy is there, but broken
        raise
    bpy = None

TESTS = Path(__file__).resolve().parent
ROOT = TESTS.parent


def now() -> tuple[float, float]:
    """The clock, and the processor's time of this process and of those that it started and that have ended; seconds."""
    return time.perf_counter(), sum(os.times()[:4])


class Outcome(unittest.TestResult):
    """Counts each test once, however many of its subtests or clean-ups failed, and prints what fails when it does."""

    SEVERITY = ("passed", "skipped", "failed")

    def __init__(self, verbose: bool = False):
        super().__init__()
        self.verbose = verbose
        self.counts: Counter[str] = Counter()
        self.bad: list[str] = []
        self.reasons: Counter[str] = Counter()
        self.spent: dict[str, tuple[float, float]] = {}
        self._running: unittest.TestCase | None = None
        self._verdict = ""
        self._last = now()

    def startTestRun(self):
        super().startTestRun()
        self._last = now()

    def startTest(self, test):
        super().startTest(test)
        self._running, self._verdict = test, ""

    def stopTest(self, test):
        super().stopTest(test)
        if self._running is None:  # Python 3.12.1 stops skipped tests that it never started
            return
        verdict = self._verdict or "failed"  # nothing was reported: the test was broken off
        self.counts[verdict] += 1
        # From the end of the test before: what a class or a module prepares counts with its first test.
        last, self._last = self._last, now()
        self.spent[test.id()] = (self._last[0] - last[0], self._last[1] - last[1])
        if self.verbose:
            print("{:7} {} ({:.2f} s, processor {:.2f} s)".format(verdict, test.id(), *self.spent[test.id()]))
        self._running = None

    def _mark(self, verdict: str) -> None:
        if self._running is None:  # setUpClass and its like belong to no test
            self.counts[verdict] += 1
        else:
            self._verdict = max(self._verdict or "passed", verdict, key=self.SEVERITY.index)

    def fail(self, name: str, text: str) -> None:
        """Count a failure, of the running test or of none, and print its text."""
        self._mark("failed")
        self.bad.append(name)
        print(f"\nFAILED {name}\n{text.rstrip()}\n")

    def addSuccess(self, test):
        super().addSuccess(test)
        self._mark("passed")

    def addError(self, test, err):
        super().addError(test, err)
        self.fail(test.id(), self.errors[-1][1])

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.fail(test.id(), self.failures[-1][1])

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            kept = self.failures if issubclass(err[0], test.failureException) else self.errors
            self.fail(subtest.id(), kept[-1][1])

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.reasons[reason] += 1
        self._mark("skipped")

    def addExpectedFailure(self, test, err):
        super().addExpectedFailure(test, err)
        self._mark("passed")

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self.fail(test.id(), "It passed, though it is marked as an expected failure.")

    def summary(self) -> str:
        text = f"{self.counts['passed']} passed, {self.counts['failed']} failed"
        return text + (f", {self.counts['skipped']} skipped" if self.counts["skipped"] else "")

    def slowest(self, number: int) -> list[str]:
        """Lines with the time that each file's tests took, and with the slowest tests: the clock's time, and the
        processor's, which depends less on what else the machine does."""
        files: dict[str, tuple[float, float]] = {}
        for name, spent in self.spent.items():
            file = ".".join(name.split(".")[:2])
            files[file] = tuple(a + b for a, b in zip(files.get(file, (0.0, 0.0)), spent, strict=True))
        lines = [f"{'seconds':>8} {'processor':>9}"]
        for times, most in ((files, len(files)), (self.spent, number)):
            order = sorted(times, key=times.get, reverse=True)[:most]
            lines += [f"{times[name][0]:8.2f} {times[name][1]:9.2f} {name}" for name in order]
        return lines


class BrokenModule(unittest.TestCase):
    """Stands for the tests of a module that could not be imported."""

    def __init__(self, name: str, error: BaseException):
        super().__init__()
        self.name, self.error = name, error

    def id(self) -> str:
        return self.name

    def runTest(self):
        raise self.error


def import_file(name: str, path: Path, **options):
    """Import a file under a name of our choice, so that a folder of the same name elsewhere cannot be meant."""
    spec = importlib.util.spec_from_file_location(name, path, **options)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def load(folder: Path, patterns: list[str]) -> unittest.TestSuite:
    """The tests of every test_*.py of a folder. A module that cannot be imported is a test that fails."""
    loader = unittest.TestLoader()
    loader.testNamePatterns = [pattern if "*" in pattern else f"*{pattern}*" for pattern in patterns] or None
    suite = unittest.TestSuite()
    for path in sorted(folder.glob("test_*.py")):
        name = f"{folder.name}.{path.stem}"
        try:
            suite.addTests(loader.loadTestsFromModule(import_file(name, path)))
        except (Exception, SystemExit) as error:  # whatever a test module does wrong is reported
            suite.addTest(BrokenModule(name, error))
    return suite


def flat(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from flat(test)
        else:
            yield test


def environment() -> str:
    """Which Blender, Python and numpy run the tests, in one line."""
    try:
        import numpy

        numbers = f"numpy {numpy.__version__}"
    except ImportError:
        numbers = "no numpy"
    python = f"Python {sys.version.split()[0]}"
    if bpy is None:
        return f"{python} without Blender, {numbers}"
    kind = "executable" if bpy.app.binary_path else "bpy module"
    return f"Blender {bpy.app.version_string} ({kind}), {python}, {numbers}"


def run_registered(footlock, suite: unittest.TestSuite, outcome: Outcome) -> None:
    """Run tests with the add-on registered. Without that they would all fail for one reason, so they are left out."""
    try:
        footlock.register()
    except Exception:
        outcome.fail("footlock.register()", traceback.format_exc())
        print(f"{suite.countTestCases()} tests of tests/blender left out: the add-on could not be registered")
        return
    suite.run(outcome)
    try:
        footlock.unregister()
    except Exception:
        outcome.fail("footlock.unregister()", traceback.format_exc())


def own_arguments() -> list[str]:
    if bpy is not None and bpy.app.binary_path:  # sys.argv is Blender's whole command line
        return sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else []
    return sys.argv[2:] if sys.argv[1:2] == ["--"] else sys.argv[1:]


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tests/run.py", description="Run Footlock's tests.")
    parser.add_argument(
        "-k", dest="patterns", metavar="PATTERN", action="append", default=[],
        help="only tests whose name (folder.file.Class.test) contains this, or matches it if it has a *; repeatable",
    )
    parser.add_argument("-v", dest="verbose", action="store_true", help="print every test, with its time")
    parser.add_argument(
        "--slowest", type=int, default=0, metavar="N", help="print at the end each file's time, and the slowest tests",
    )
    parser.add_argument(
        "--without-solvers", action="store_true",
        help="leave out tests/solvers, which need no Blender: for a Blender whose numpy ran them before",
    )
    parser.add_argument("--list", dest="list_only", action="store_true", help="print the tests' names, run none")
    parser.add_argument(
        "--start", type=Path, metavar="FOLDER",
        help="run the test_*.py of this folder instead, without registering the add-on",
    )
    return parser.parse_args(arguments)


def main(options: argparse.Namespace) -> int:
    print(environment())
    outcome = Outcome(options.verbose)
    start = time.perf_counter()

    footlock = None
    try:
        # The checkout's folder may have any name; the package is always called footlock.
        footlock = import_file("footlock", ROOT / "__init__.py", submodule_search_locations=[str(ROOT)])
    except Exception:
        outcome.fail("import footlock", traceback.format_exc())

    plain, registered = unittest.TestSuite(), unittest.TestSuite()
    if footlock is not None:
        sys.path.insert(0, str(TESTS))
        if options.start:
            plain = load(options.start.resolve(), options.patterns)
        else:
            if not options.without_solvers:
                plain = load(TESTS / "solvers", options.patterns)
            if bpy is not None:
                registered = load(TESTS / "blender", options.patterns)
            else:
                print("tests/blender left out: no Blender here")

    if options.list_only:
        names = [test.id() for test in flat([plain, registered])]
        print("\n".join(names))
        return 0 if names else 1

    outcome.startTestRun()
    plain.run(outcome)
    if registered.countTestCases():
        run_registered(footlock, registered, outcome)
    if not outcome.counts["passed"] + outcome.counts["failed"]:
        outcome.fail("tests/run.py", "No test ran.")

    if options.slowest:
        print("\n".join(outcome.slowest(options.slowest)))
    for reason, count in outcome.reasons.items():
        print(f"skipped {count}: {reason}")
    for name in outcome.bad:
        print(f"failed: {name}")
    print(f"{time.perf_counter() - start:.1f} s")
    print(outcome.summary())
    return 1 if outcome.counts["failed"] else 0


def leave(status: int) -> None:
    """End the process at once: the bpy module of 4.2 crashes and that of 4.5 hangs while the interpreter goes down."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    # Line by line and never an encoding error: the log shall be whole up to a crash, and say where that was.
    faulthandler.enable(all_threads=False)
    sys.stdout.reconfigure(line_buffering=True, errors="backslashreplace")
    try:
        parsed = parse(own_arguments())
    except SystemExit as stop:
        leave(stop.code)
    try:
        status = main(parsed)
    except BaseException:  # sys.exit(0) somewhere in a test or in the add-on is no success
        traceback.print_exc()
        status = 1
    leave(status)
