#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run a script of this checkout under a Blender.

    python3 tools/blender.py batch.py ARGS...
    python3 tools/blender.py tests/run.py ARGS...
    python3 tools/blender.py --which        print what would be used, and run nothing

The first of these that fits is used:

1. $BLENDER: a Blender, 4.2 or newer, or a Python interpreter that has the bpy module;
2. `blender` on the PATH, if it is 4.2 or newer;
3. the interpreter that runs this file, if it has the bpy module;
4. the bpy module in the checkout's own `.venv`, which is made when it is missing (about 1 GB, once).

The exit status is the script's; 2 with a sentence on stderr means that nothing could be run.
Needs Python 3.9 or newer and nothing but its standard library.
"""
from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
# Written into .venv before anything else, so that an interrupted installation is told from a finished one,
# and a folder of ours from one that somebody else put there.
STATE = VENV / "footlock-state.txt"

OLDEST = (4, 2)
# Each wheel of bpy works with one version of Python only: 4.2, 4.5 and 5.0 with 3.11, 5.1 to 5.3 with 3.13.
WHEELS = {(3, 13): "bpy>=5.1,<5.4", (3, 11): "bpy==4.5.*"}

# os._exit, because some wheels crash or hang when the interpreter ends.
BPY_PROBE = """
import bpy, os, sys
sys.stdout.write("bpy-is-%d.%d.%d\\n" % bpy.app.version)
sys.stdout.flush()
os._exit(0)
"""
PYTHON_PROBE = "import ensurepip, venv, sys; print('python-is-%d.%d' % sys.version_info[:2])"


class CannotRun(Exception):
    """No Blender or no script: the text is a sentence for the user."""


@dataclass(frozen=True)
class Blender:
    """Something that runs scripts with bpy: an executable of Blender, or a Python that has the module."""

    program: str
    version: tuple[int, ...]
    is_module: bool

    def command(self, script: Path, arguments: list[str]) -> list[str]:
        if self.is_module:
            return [self.program, str(script), *arguments]
        # --python-exit-code counts only before --python.
        options = ["--background", "--factory-startup", "--python-exit-code", "1"]
        return [self.program, *options, "--python", str(script), "--", *arguments]

    def __str__(self) -> str:
        kind = "bpy module" if self.is_module else "executable"
        return f"Blender {'.'.join(map(str, self.version))} ({kind}): {self.program}"


def ask(*command: str) -> str:
    """Standard output of a command, empty if it cannot be run or fails."""
    try:
        answer = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=120
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return answer.stdout.decode(errors="replace") if answer.returncode == 0 else ""


def version_in(text: str, before: str) -> tuple[int, ...] | None:
    found = re.search(rf"^{before}(\d+(?:\.\d+)+)", text, re.MULTILINE)
    return tuple(map(int, found[1].split("."))) if found else None


def module_of(python: str) -> Blender | None:
    """The bpy module of an interpreter, if it has a usable one that is new enough."""
    version = version_in(ask(python, "-c", BPY_PROBE), "bpy-is-")
    return Blender(python, version, True) if version and version >= OLDEST else None


def from_environment() -> Blender | None:
    """What $BLENDER names. Whoever sets it wants that one and no other, so a bad value is an error."""
    named = os.environ.get("BLENDER", "")
    if not named:
        return None
    program = shutil.which(os.path.expanduser(named))
    if program is None:
        raise CannotRun(f"$BLENDER is {named!r}, and there is no such executable.")
    program = os.path.abspath(program)
    answer = ask(program, "--version")
    version = version_in(answer, "Blender ")
    if version is None and version_in(answer, "Python "):
        module = module_of(program)
        if module is None:
            raise CannotRun(f"$BLENDER is the Python {named!r}, which has no bpy module of 4.2 or newer.")
        return module
    if version is None:
        raise CannotRun(f"$BLENDER is {named!r}, which does not answer to --version as a Blender does.")
    if version < OLDEST:
        raise CannotRun(f"$BLENDER is {named!r}, a Blender {show(version)}; Footlock needs 4.2 or newer.")
    return Blender(program, version, False)


def from_path() -> Blender | None:
    program = shutil.which("blender")
    if program is None:
        return None
    program = os.path.abspath(program)
    version = version_in(ask(program, "--version"), "Blender ")
    if version and version >= OLDEST:
        return Blender(program, version, False)
    say(f"skipping {program}: " + (f"Blender {show(version)} is older than 4.2" if version else "it does not run"))
    return None


def venv_python() -> str:
    return str(VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python"))


def from_venv() -> Blender | None:
    """The module in .venv, or None if .venv is missing or must be made again."""
    if not VENV.is_dir() or not any(VENV.iterdir()):
        return None
    state = STATE.read_text().strip() if STATE.exists() else ""
    if state == "making":
        return None
    module = module_of(venv_python())
    if module is None and state != "complete":
        raise CannotRun(
            f"{VENV} was not made by this tool and has no bpy module: install bpy into it, remove it, or set $BLENDER."
        )
    return module


def interpreters() -> list[str]:
    """Interpreters that may fit a wheel: this one, those on the PATH, those of pyenv, newest version first."""
    found = [sys.executable]
    for major, minor in WHEELS:
        name = f"python{major}.{minor}"
        # Every folder of the PATH: the first may hold a shim of pyenv that runs nothing.
        for folder in os.get_exec_path():
            found.append(shutil.which(name, path=folder) or "")
        found += map(str, sorted(Path.home().glob(f".pyenv/versions/{major}.{minor}.*/bin/python"), reverse=True))
    return [python for python in dict.fromkeys(found) if python]


def python_for_wheel() -> tuple[str, str]:
    """An interpreter that can make a virtual environment, and the wheel for it."""
    for python in interpreters():
        version = version_in(ask(python, "-c", PYTHON_PROBE), "python-is-")
        if version in WHEELS:
            return python, WHEELS[version]
    raise CannotRun(
        "No Blender found: install Blender 4.2 or newer (or set $BLENDER to it), "
        "or install Python 3.11 or 3.13 with its venv module, for which the bpy module can be fetched."
    )


def make_venv() -> Blender:
    python, wheel = python_for_wheel()
    say("no Blender found: fetching the bpy module into .venv, about 1 GB, once")
    try:
        if VENV.exists():
            shutil.rmtree(VENV)
        VENV.mkdir()
        STATE.write_text("making\n")
    except OSError as error:
        raise CannotRun(f"The folder .venv cannot be made: {error}.") from error
    quiet = [] if sys.stderr.isatty() else ["--quiet"]  # a log wants no progress bars
    # What the two print goes to stderr: stdout belongs to the script.
    for command in ([python, "-m", "venv", str(VENV)], [venv_python(), "-m", "pip", "install", wheel, *quiet]):
        if subprocess.call(command, stdin=subprocess.DEVNULL, stdout=2) != 0:
            raise CannotRun(f"The bpy module could not be installed: {' '.join(command)} failed.")
    module = module_of(venv_python())
    if module is None:
        raise CannotRun(f"The bpy module was installed into {VENV}, but cannot be imported there.")
    STATE.write_text("complete\n")
    return module


def from_venv_or_new() -> Blender:
    """One process at a time looks at .venv or makes it, so that two that start together fetch one module."""
    lock = os.open(ROOT, os.O_RDONLY) if fcntl else None
    try:
        if lock is not None:
            with contextlib.suppress(OSError):  # some network file systems have no locks: then without
                fcntl.flock(lock, fcntl.LOCK_EX)
        return from_venv() or make_venv()
    finally:
        if lock is not None:
            os.close(lock)


def installed() -> Blender | None:
    """The first Blender that is there without .venv."""
    return from_environment() or from_path() or module_of(sys.executable)


def which() -> str:
    """What a run would use, found without making anything."""
    blender = installed() or from_venv()
    if blender:
        return str(blender)
    python, wheel = python_for_wheel()
    return f"{wheel} (bpy module), to be fetched into {VENV} by {python}"


def script_path(named: str) -> Path:
    """A relative path is one of the checkout, or else of the working directory."""
    for script in (ROOT / named, Path.cwd() / named):
        if script.is_file():
            return script
    raise CannotRun(f"There is no script {named!r} in {ROOT} or here.")


def show(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def run(command: list[str]) -> int:
    """Run a command in place of this process where that is possible, so that signals and the status are its own."""
    sys.stdout.flush()
    sys.stderr.flush()
    # A module is plain Python, which would keep its output back when it goes into a file.
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    try:
        if os.name == "posix":
            os.execve(command[0], command, environment)
        return subprocess.call(command, env=environment)
    except OSError as error:
        raise CannotRun(f"{command[0]} cannot be run: {error.strerror}.") from error


def main(arguments: list[str]) -> int:
    if arguments[:1] in ([], ["-h"], ["--help"]):
        print(__doc__.strip(), file=sys.stdout if arguments else sys.stderr)
        return 0 if arguments else 2
    try:
        if arguments == ["--which"]:
            print(which())
            return 0
        script = script_path(arguments[0])
        blender = installed() or from_venv_or_new()
        return run(blender.command(script, arguments[1:]))
    except CannotRun as error:
        say(str(error))
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
