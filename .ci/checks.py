# SPDX-License-Identifier: GPL-3.0-or-later
"""What .ci/run does: which checks there are, what each needs, and what their results mean. How they run side by side is
in lanes.py. Needs a Python 3.11 and nothing but its standard library.
"""

import os
import re
import sys
import threading
from pathlib import Path

from lanes import Job, Lanes, Result, call

CI = Path(__file__).resolve().parent
ROOT = CI.parent
CACHE = Path(os.environ.get("FOOTLOCK_CACHE") or Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache", "footlock"))
CACHE = CACHE.expanduser().absolute()
MODULES = "4.2", "4.5", "5.3"
OLDEST, NEWEST = (4, 2), (5, 3)
# Debian's suites with a Blender, and its version; unstable has what it has on the day.
DEBIAN = {"trixie": r"4\.3\.", "sid": ""}
PYTHON = "python3"
RUNNER = [PYTHON, "tools/blender.py", "tests/run.py"]
WITHOUT_SOLVERS = ["--without-solvers"]
NUMPY = "import numpy; print('numpy-is-' + '.'.join(numpy.__version__.split('.')[:2]))"
COUNTS = re.compile(r"^(\d+) passed, (\d+) failed(?:, \d+ skipped)?$", re.MULTILINE)
WHO = re.compile(r"^(?:Blender|Python) [0-9].*numpy.*$", re.MULTILINE)


class Checks:
    """The jobs of one run, and what has to be known over all of them."""

    def __init__(self, lanes):
        self.lanes = lanes
        self._lock = threading.Lock()
        self._numpy = {}  # version → who runs, or ran, the tests of the solvers with it
        self.blenders = {}  # kind and version, as "bpy module 4.2" → what ran all tests
        environment = {name: value for name, value in os.environ.items() if name != "BLENDER"}
        # The checkout may be anywhere, for .ci/debian-blender.
        self.environment = {**environment, "FOOTLOCK_MOUNT": str(ROOT), "FOOTLOCK_CACHE": str(CACHE)}

    def add_all(self):
        """Queue everything: what takes long comes first, what is short fills the end."""
        for name, packages in (("tools", ["ruff>=0.9,<1", "mypy>=1.11,<3", "numpy"]), ("numpy", ["numpy"])):
            self.lanes.fetch(name, lambda log, name=name, packages=packages: self._tool_venv(log, name, packages))
        readme = self._readme_version()
        self._add("ruff", self._lint, "tools", "-m", "ruff", "check", "--no-cache", "--output-format", "concise", ".")
        self._add("mypy", self._lint, "tools", "-m", "mypy", "--cache-dir=/dev/null")
        self._add("the README's command", self._readme, None, readme)
        for version in MODULES:
            if version != readme:
                self.lanes.fetch(f"module {version}", lambda log, version=version: self._module(log, version))
                self._add(f"bpy module {version}", self._suite, f"module {version}", version)
        for suite in DEBIAN:
            self.lanes.fetch(f"debian {suite}", lambda log, suite=suite: self._debian(log, suite))
            self._add(f"Debian {suite}", self._debian_suite, f"debian {suite}", suite)
        for suite in DEBIAN:
            self._add(f"window of Debian {suite}", self._window, f"debian {suite}", suite)
        self._add("solvers without Blender", self._solvers, "numpy")
        for suite in DEBIAN:
            self._add(f"installed on Debian {suite}", self._installed, f"debian {suite}", suite)
        self._add(
            "the README's command: a failing test is seen",
            self._failure_seen,
            None,
            RUNNER,
            after="the README's command",
        )
        self._add("without Blender: a failing test is seen", self._python_failure_seen, "numpy")
        self._add("executable: a failing test is seen", self._executable_failure_seen, "debian trixie")

    def closing(self):
        """What has to hold over all jobs, as Results."""
        for version in MODULES:
            if f"bpy module {version}" not in self.blenders:
                yield Result(failed=1, line=f"FAILED  bpy module {version} did not run all tests")
        if not any(kind.startswith("executable") for kind in self.blenders):
            yield Result(failed=1, line="FAILED  no executable of Blender ran all tests")

    def _add(self, name, function, needs, *arguments, after=None):
        self.lanes.add(Job(name, lambda job: function(job, *arguments), needs, after))

    # What is fetched. Each returns what the jobs get that need it.

    def _tool_venv(self, log, name, packages):
        """The interpreter of a virtual environment with some packages, made when it is missing."""
        venv = CACHE / name
        python = venv / "bin" / "python"
        if not (venv / "complete").exists():
            call(["rm", "-rf", str(venv)], log, self.environment)
            call([PYTHON, "-m", "venv", str(venv)], log, self.environment)
            status = call([str(python), "-m", "pip", "install", "--quiet", *packages], log, self.environment).status
            if status:
                raise RuntimeError(f"{', '.join(packages)} could not be installed")
            (venv / "complete").touch()
        if name == "numpy":
            self._claim([str(python), "-c", NUMPY], "solvers without Blender")
        return str(python)

    def _module(self, log, version):
        return self._command_of(log, [str(CI / "bpy-module"), version])

    def _debian(self, log, suite):
        blender = self._command_of(log, [str(CI / "debian-blender"), suite])
        found = re.search(r"^Blender ((\d+)\.(\d+)\S*)", call([blender, "--version"], log, self.environment).text, re.M)
        if not OLDEST <= (int(found[2]), int(found[3])) <= NEWEST:
            raise RuntimeError(f"its Blender is {found[1]}, which Footlock is not for")
        return blender

    def _command_of(self, log, command):
        """The last line that a script prints, or its last words in a RuntimeError."""
        done = call(["bash", *command], log, self.environment)
        lines = done.text.split("\n")
        words = [line for line in lines if line.strip()] or ["nothing was printed"]
        if done.status:
            raise RuntimeError(words[-1].strip())
        return words[-1].strip()

    def _readme_version(self):
        """Which bpy module the README's command uses here, as "4.5": that one needs no second run. None for others."""
        text = call([*RUNNER[:2], "--which"], None, self.environment).text
        found = re.search(
            r"^(?:Blender |bpy==)(\d+\.\d+).*\(bpy module\)|^bpy>=.*<(\d+)\.(\d+) \(bpy module\)", text, re.M
        )
        if found is None:
            return None
        return found[1] or f"{found[2]}.{int(found[3]) - 1}"

    # Jobs.

    def _lint(self, job, *arguments):
        status = job.run([job.given, *arguments], self.environment).status
        return Result(failed=int(status != 0), line=f"{'FAILED ' if status else 'ok     '} {job.name}")

    def _readme(self, job, version):
        expected = rf"^Blender {re.escape(version)}\..*bpy module" if version else r"^Blender "
        return self._judge(job, job.run(RUNNER, self.environment), expected, all_tests=True)

    def _suite(self, job, version):
        return self._tests_of(job, job.given, [job.given, "-c", NUMPY], rf"^Blender {re.escape(version)}\..*bpy module")

    def _debian_suite(self, job, suite):
        asked = [job.given, "--background", "--factory-startup", "--python-expr", NUMPY]
        return self._tests_of(job, job.given, asked, rf"^Blender {DEBIAN[suite]}.*executable")

    def _tests_of(self, job, blender, asked, expected):
        """All tests on a Blender; those of the solvers where no other one has the same numpy."""
        arguments, before = self._solvers_once(job, asked)
        done = job.run([*RUNNER, *arguments], {**self.environment, "BLENDER": blender})
        more = f" (those of the solvers with numpy {before[0]}: {before[1]})" if before else ""
        return self._judge(job, done, expected, more, all_tests=True)

    def _solvers_once(self, job, asked):
        """Arguments that leave the tests of the solvers out where another job has this numpy; its version and name."""
        version, holder = self._claim(asked, job.name)
        return ([], None) if holder == job.name else (WITHOUT_SOLVERS, (version, holder))

    def _claim(self, asked, name):
        """The version of a numpy, and who runs the tests of the solvers with it: the first who asks."""
        found = re.search(r"numpy-is-(\S+)", call(asked, None, self.environment).text)
        with self._lock:
            return (found[1], self._numpy.setdefault(found[1], name)) if found else ("", name)

    def _solvers(self, job):
        return self._judge(job, job.run([job.given, "tests/run.py"], self.environment), r"^Python .* without Blender")

    def _window(self, job, suite):
        done = job.run(["bash", ".ci/window-tests", job.given], self.environment)
        return self._judge(job, done, rf"^Blender {DEBIAN[suite]}.*window")

    def _installed(self, job, suite):
        done = job.run(["bash", ".ci/installed-tests", job.given], self.environment)
        return self._judge(job, done, rf"^Blender {DEBIAN[suite]}.*installed")

    def _python_failure_seen(self, job):
        return self._failure_seen(job, [job.given, "tests/run.py"])

    def _executable_failure_seen(self, job):
        return self._failure_seen(job, RUNNER, {"BLENDER": job.given})

    def _failure_seen(self, job, command, more=()):
        """The tests' command, given a test that fails and then no test at all, must count it and end with 1."""
        environment = {**self.environment, **dict(more)}
        for arguments, wanted in (
            (["--start", "tests/failing"], "1 passed, 1 failed"),
            (["-k", "no_test_has_this_name"], "0 passed, 1 failed"),
        ):
            done = job.run([*command, *arguments], environment)
            counts = last(COUNTS, done.text)
            if done.status != 1 or counts is None or counts[0] != wanted:
                said = counts[0] if counts else "no result"
                return Result(failed=1, line=f"FAILED  {job.name}: {done.ending}, {said}")
        return Result(line=f"ok      {job.name}")

    def _judge(self, job, done, expected, more="", all_tests=False):
        """The Result of tests that ran: what they counted, if the right Blender ran them and they ended as they say."""
        counts, who = last(COUNTS, done.text), WHO.search(done.text)
        if counts is None or who is None:
            return Result(failed=1, line=f"FAILED  {job.name}: no result, {done.ending}")
        passed, failed = int(counts[1]), int(counts[2])
        said = f"{job.name}: {who[0]}: {counts[0]}{more}"
        if bool(failed) != bool(done.status):
            return Result(passed, failed + 1, f"FAILED  {said}, but {done.ending}")
        if not re.search(expected, who[0]):
            return Result(passed, failed + 1, f"FAILED  {said}: it ran under another Blender than it should have")
        if all_tests and not failed and passed:
            kind = re.match(r"Blender ((\d+\.\d+)[^(]*)\((bpy module|executable)", who[0])
            with self._lock:
                self.blenders[f"{kind[3]} {kind[2]}"] = f"{kind[1].strip()} ({kind[3]}): {counts[0]}"
        return Result(passed, failed, f"{'FAILED ' if failed else 'ok     '} {said}")


def last(pattern, text):
    """The last match of a pattern, or None."""
    found = None
    for found in pattern.finditer(text):  # noqa: B007
        pass
    return found


def main(patterns):
    """Do everything, or, while one works on a part of it, only the jobs with one of the patterns in their names."""
    CACHE.mkdir(parents=True, exist_ok=True)
    os.chdir(ROOT)
    lanes = Lanes(optional={"debian sid"})
    checks = Checks(lanes)
    checks.add_all()
    lanes.keep(patterns)
    lanes.work()
    results = [*lanes.results, *([] if patterns else checks.closing())]
    passed, failed = sum(one.passed for one in results), sum(one.failed for one in results)
    print(f"\n=== summary, after {lanes.clock()}")
    print("\n".join(one.line for one in results))
    print("Blenders that ran all tests:")
    print("\n".join(f"  {line}" for line in sorted(checks.blenders.values())) or "  none")
    print(f"{passed} passed, {failed} failed")
    return 0 if passed and not failed else 1


if __name__ == "__main__":
    sys.stdout.reconfigure(line_buffering=True, errors="backslashreplace")
    sys.exit(main(sys.argv[1:]))
