#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Build the zip by an executable of Blender, look at what is in it, install it into a profile of its own and test it
from there, as a user has it. Run by .ci/installed-tests; needs a Python 3.11 and nothing but its standard library.

    python3 tests/installed/check.py COMMAND [PATTERN]      COMMAND: a Blender; PATTERN as of tests/run.py
"""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import unittest
import zipfile
from pathlib import Path
from statistics import mean

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tools")]

import extension  # noqa: E402
import run  # noqa: E402

WALK, SCALE = ROOT / "tests" / "data" / "cmu_131_01.bvh", 1.25
LABELS = ROOT / "tests" / "data" / "cmu_131_01_contacts.json"
# How far a planted toe may move from one frame to the next, metres.
STANDS = 1e-5
# The largest zip, bytes.
LARGEST = 300_000
LIMIT = 300  # seconds for one process
OLDER = "0.0.9"
# All that the zip may hold; of the second kind it has to hold what the checkout has.
SINGLE = {"blender_manifest.toml", "__init__.py", "LICENSE", "batch.py"}
CODE = re.compile(r"(batching|operators|rig|solvers|ui)/([A-Za-z0-9_-]+/)*[A-Za-z0-9_-]+\.py")

# What Blender or Python print where something is wrong. (That there are no mounts to list is the chroot's doing.)
TROUBLE = re.compile(
    r"^(Traceback|Error|Warning)|\| (ERROR|FATAL|WARNING (?!Could not get a list of mounted))", re.M | re.I
)

blender = ""
work = Path()


def call(profile, *arguments):
    """Run Blender with a profile and return what it prints. AssertionError if it fails or prints an error."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("BLENDER_", "PYTHON"))}
    environment.update(BLENDER_USER_RESOURCES=str(profile), HOME=str(profile), FOOTLOCK_MOUNT=str(ROOT))
    command = [blender, *map(str, arguments)]
    try:
        done = subprocess.run(
            command, cwd=work, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, timeout=LIMIT,
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:
        said = (error.stdout or b"").decode(errors="replace")
        raise AssertionError(f"{command} took more than {LIMIT} s, and printed\n{said}") from error
    said = done.stdout.decode(errors="replace")
    if done.returncode or TROUBLE.search(said):
        raise AssertionError(f"{command} ended with {done.returncode}, and printed\n{said}")
    return said


def step(profile, name, *arguments, options=()):
    """What a step of inside.py found. ``options``: further ones of Blender."""
    answer = work / "answer.json"
    answer.unlink(missing_ok=True)
    script = ["--python-exit-code", 1, "--python", HERE / "inside.py", "--", name, answer, *arguments]
    call(profile, "--background", *options, *script)
    return json.loads(answer.read_text(encoding="utf-8"))


def build(source, target):
    """Validate a folder and build its zip, as the README has it, without a warning."""
    target.mkdir()
    said = call(work / "no-profile", "--command", "extension", "validate", source)
    said += call(work / "no-profile", "--command", "extension", "build", "--source-dir", source, "--output-dir", target)
    (built,) = target.iterdir()
    said += call(work / "no-profile", "--command", "extension", "validate", built)
    return built, said


def install(profile, path):
    profile.mkdir(exist_ok=True)
    call(profile, "--command", "extension", "install-file", "-r", "user_default", "-e", path)


def older_source():
    """A copy of the zip's content with an older version, and a file that the new one has no more."""
    folder = work / "older-source"
    with zipfile.ZipFile(work / "zip" / name_of(version())) as archive:
        archive.extractall(folder)
    manifest = folder / "blender_manifest.toml"
    text = manifest.read_text(encoding="utf-8")
    manifest.write_text(re.sub(r'(?m)^version = ".*"$', f'version = "{OLDER}"', text), encoding="utf-8")
    (folder / "rig" / "gone.py").write_text('"""Of an older version."""\n', encoding="utf-8")
    return folder


def version():
    return tomllib.loads((ROOT / "blender_manifest.toml").read_text(encoding="utf-8"))["version"]


def name_of(number):
    return f"footlock-{number}.zip"


def statements(source):
    """All that a module does, with lines and columns."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.FunctionDef)) and ast.get_docstring(node) is not None:
            del node.body[0]
    return ast.dump(tree, include_attributes=True)


def slides(found):
    """How far each toe moves in each step in which it is planted in both frames, metres."""
    places, planted = found["places"], found["planted"]
    return [
        sum((a - b) ** 2 for a, b in zip(places[i][leg], places[i + 1][leg], strict=True)) ** 0.5
        for i in range(len(places) - 1)
        for leg in range(len(places[i]))
        if planted[i][leg] == planted[i + 1][leg] == 1.0
    ]


class Case(unittest.TestCase):
    maxDiff = 2000

    def assertKeysEqual(self, found, wanted):
        """The same curves with the same keys, to the last bit."""
        self.assertEqual(sorted(found), sorted(wanted))
        self.assertEqual([path for path in wanted if found[path] != wanted[path]], [])


class TestZip(Case):
    """What is built is what users need, and nothing else."""

    def test_content(self):
        with zipfile.ZipFile(work / "zip" / name_of(version())) as archive:
            self.assertIsNone(archive.testzip())
            infos = archive.infolist()
        names = [info.filename for info in infos]
        for info in sorted(infos, key=lambda one: one.filename):
            print(f"{info.file_size:8} {info.compress_size:8} {info.filename}")
        strange = [name for name in names if name not in SINGLE and not CODE.fullmatch(name)]
        self.assertEqual(strange, [])
        self.assertEqual(len(names), len(set(names)))
        self.assertEqual([info.filename for info in infos if info.external_attr >> 28 == 0o12], [], "symbolic links")
        wanted = SINGLE | {
            path.relative_to(ROOT).as_posix()
            for path in ROOT.rglob("*.py")
            if CODE.fullmatch(path.relative_to(ROOT).as_posix())
        }
        self.assertEqual(wanted - set(names), set())

    def test_code_is_that_of_the_checkout(self):
        """Without comments and docstrings, and each statement in its line."""
        with zipfile.ZipFile(work / "zip" / name_of(version())) as archive:
            names = [name for name in archive.namelist() if name.endswith(".py")]
            for name in names:
                self.assertEqual(statements(archive.read(name)), statements((ROOT / name).read_bytes()), name)
        self.assertGreater(len(names), 100)

    def test_size(self):
        size = (work / "zip" / name_of(version())).stat().st_size
        print(f"{name_of(version())}: {size} bytes, {size / LARGEST:.0%} of what it may have")
        self.assertLess(size, LARGEST)

    def test_manifest(self):
        manifest = tomllib.loads((ROOT / "blender_manifest.toml").read_text(encoding="utf-8"))
        known = {
            "schema_version", "id", "version", "name", "tagline", "maintainer", "type", "website", "tags",
            "blender_version_min", "license", "copyright", "permissions", "build",
        }  # fmt: skip
        self.assertEqual(set(manifest) - known, set())  # Blender does not mind a misspelt key
        self.assertEqual(set(manifest["build"]), {"paths_exclude_pattern"})
        self.assertRegex(manifest["version"], r"^\d+\.\d+\.\d+$")


class TestInstalled(Case):
    """In a profile that has never had it."""

    @classmethod
    def setUpClass(cls):
        cls.profile = work / "fresh"
        install(cls.profile, work / "zip" / name_of(version()))
        cls.file = work / "corrected.blend"
        cls.made = step(cls.profile, "correct", WALK, SCALE, cls.file)

    def test_enabled_from_its_place(self):
        found = step(self.profile, "state")
        self.assertTrue(found["enabled"])
        self.assertTrue(found["file"].startswith(str(self.profile)), found["file"])
        self.assertEqual(found["copies"], ["bl_ext.user_default.footlock"])
        self.assertEqual(found["version"], version())

    def test_operators_are_registered(self):
        with zipfile.ZipFile(work / "zip" / name_of(version())) as archive:
            texts = [archive.read(name).decode() for name in archive.namelist() if name.endswith(".py")]
        wanted = {name for text in texts for name in re.findall(r'bl_idname = "footlock\.(\w+)"', text)}
        self.assertGreater(len(wanted), 20)
        self.assertEqual(wanted - set(step(self.profile, "state")["operators"]), set())

    def test_walk_stands(self):
        """Measured where the contact curves say that a toe is planted, which is where an independent file says so."""
        after = self.made["after"]
        contacts = after["planted"]
        before = slides({"places": self.made["before"]["places"], "planted": contacts})
        left = slides(after)
        print(
            f"slide in contact, mm per frame: {1000 * mean(before):.3f} before (worst {1000 * max(before):.3f}),"
            f" {1000 * mean(left):.5f} after (worst {1000 * max(left):.5f}), {len(left)} steps"
        )
        self.assertGreater(mean(before), 50 * STANDS)
        self.assertLess(max(left), STANDS)
        labels = list(json.loads(LABELS.read_text(encoding="utf-8"))["contacts"].values())
        for leg, known in enumerate(labels):
            both = sum(a == 1 and b[leg] == 1.0 for a, b in zip(known, contacts, strict=True))
            # How well contacts are found is judged elsewhere; here they have to be real ones, and not few.
            self.assertGreater(both, 0.9 * sum(one[leg] == 1.0 for one in contacts))
            self.assertGreater(both, 0.6 * sum(known))

    def test_file_keeps_all(self):
        found = step(self.profile, "look", self.file)
        self.assertEqual(found["settings"], self.made["settings"])
        self.assertGreater(len(found["settings"]), 3)
        self.assertKeysEqual(found["contacts"], self.made["contacts"])
        self.assertKeysEqual(found["corrected"], self.made["corrected"])
        self.assertLess(max(slides(found["after"])), STANDS)

    def test_revert_after_opening(self):
        self.assertKeysEqual(step(self.profile, "revert", self.file)["source"], self.made["source"])

    def test_presets_are_found(self):
        found = step(self.profile, "presets")
        shipped = {path.stem for path in (ROOT / "ui" / "presets" / "footlock" / "settings").glob("*.py")}
        self.assertGreater(len(shipped), 4)
        for name in shipped:
            self.assertTrue(found[name]["folder"].startswith(str(self.profile / "extensions")), found[name]["folder"])
        self.assertNotEqual(found["game_loop"]["settings"], found["crawl"]["settings"])
        self.assertIn("Own_Look", found)
        self.assertNotIn("extensions", found["Own_Look"]["folder"])

    def test_off_and_on(self):
        found = step(self.profile, "off_and_on", WALK, options=["--factory-startup"])["snapshots"]
        bare, on, worked, off, on_again, worked_again, off_again = found
        for kind in ("handlers", "classes", "operators", "properties", "presets", "draw handlers"):
            self.assertNotEqual(on[kind], bare[kind], kind)  # else nothing would be compared here
        self.assertGreater(len(worked["handlers"]), len(on["handlers"]))  # of Live Lock
        for kind in bare:
            self.assertEqual(off[kind], bare[kind], kind)
            self.assertEqual(on_again[kind], on[kind], kind)
            self.assertEqual(worked_again[kind], worked[kind], kind)
            self.assertEqual(off_again[kind], bare[kind], kind)

    def test_command(self):
        """`blender --command footlock`, where this version has it."""
        if not re.search(r"^\s*footlock\b", call(self.profile, "--command", "help"), re.MULTILINE):
            self.skipTest("no command “footlock” is registered")
        output = work / "command.bvh"
        call(self.profile, "--command", "footlock", WALK, "-o", output, "--root-scale", SCALE)
        self.assertTrue(output.read_text().startswith("HIERARCHY"))


class TestUpgraded(Case):
    """Installed over an older version, with which a file was made."""

    @classmethod
    def setUpClass(cls):
        cls.profile = work / "upgraded"
        older, _ = build(older_source(), work / "older")
        install(cls.profile, older)
        cls.before = step(cls.profile, "state")
        cls.gone = cls.profile / "extensions" / "user_default" / "footlock" / "rig" / "gone.py"
        cls.was_there = cls.gone.exists()
        cls.file = work / "older.blend"
        cls.made = step(cls.profile, "correct", WALK, SCALE, cls.file)
        install(cls.profile, work / "zip" / name_of(version()))

    def test_new_version_runs(self):
        self.assertEqual(self.before["version"], OLDER)
        self.assertTrue(self.was_there)
        found = step(self.profile, "state")
        self.assertEqual((found["version"], found["enabled"]), (version(), True))
        self.assertFalse(self.gone.exists())

    def test_older_file(self):
        found = step(self.profile, "look", self.file)
        self.assertEqual(found["settings"], self.made["settings"])
        self.assertKeysEqual(found["contacts"], self.made["contacts"])
        self.assertKeysEqual(found["corrected"], self.made["corrected"])
        self.assertIn("Own_Look", found["presets"])

    def test_revert_of_older_correction(self):
        self.assertKeysEqual(step(self.profile, "revert", self.file)["source"], self.made["source"])

    def test_older_correction_is_solved_again(self):
        found = step(self.profile, "again", self.file)
        self.assertKeysEqual(found["contacts"], self.made["contacts"])
        self.assertLess(max(slides(found["after"])), STANDS)


class TestRemoved(Case):
    """Uninstalled, with a file that it corrected."""

    @classmethod
    def setUpClass(cls):
        cls.profile = work / "removed"
        cls.file, cls.later = work / "kept.blend", work / "later.blend"
        install(cls.profile, work / "zip" / name_of(version()))
        cls.made = step(cls.profile, "correct", WALK, SCALE, cls.file)
        call(cls.profile, "--command", "extension", "remove", "footlock")
        cls.files = list((cls.profile / "extensions" / "user_default").glob("footlock*"))
        cls.state = step(cls.profile, "state")
        cls.found = step(cls.profile, "without", cls.file, cls.later)

    def test_nothing_stays(self):
        self.assertEqual((self.state["enabled"], self.state["file"], self.state["has_settings"]), (False, None, False))
        self.assertEqual(self.state["operators"], [])
        self.assertEqual(self.files, [])

    def test_file_opens_and_feet_stand(self):
        self.assertKeysEqual(self.found["corrected"], self.made["corrected"])
        left = slides({"places": self.found["after"]["places"], "planted": self.made["after"]["planted"]})
        self.assertLess(max(left), STANDS)

    def test_installed_again(self):
        """What Footlock kept in a file outlives a save by a Blender that does not have it."""
        install(self.profile, work / "zip" / name_of(version()))
        found = step(self.profile, "look", self.later)
        self.assertEqual(found["settings"], self.made["settings"])
        self.assertKeysEqual(found["contacts"], self.made["contacts"])
        self.assertKeysEqual(step(self.profile, "revert", self.later)["source"], self.made["source"])


def main(arguments):
    global blender, work
    blender = shutil.which(arguments[0])
    if blender is None:
        sys.exit(f"there is no {arguments[0]}")
    blender = os.path.abspath(blender)
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder).resolve()
        (work / "no-profile").mkdir()
        outcome = run.Outcome(verbose=True)
        print(step_environment())
        try:
            extension.lay_out(work / "source")
            print(build(work / "source", work / "zip")[1])
        except AssertionError as error:
            outcome.fail("the zip", str(error))
        else:
            loader = unittest.TestLoader()
            loader.testNamePatterns = [f"*{pattern}*" for pattern in arguments[1:]] or None
            loader.loadTestsFromModule(sys.modules[__name__]).run(outcome)
    for reason, count in outcome.reasons.items():
        print(f"skipped {count}: {reason}")
    for name in outcome.bad:
        print(f"failed: {name}")
    print(outcome.summary())
    return 0 if outcome.counts["passed"] and not outcome.counts["failed"] else 1


def step_environment():
    """The Blender, in the words of tests/run.py."""
    found = step(work / "no-profile", "state")
    return f"Blender {found['blender']} (executable, installed), Python {found['python']}, numpy {found['numpy']}"


if __name__ == "__main__":
    sys.stdout.reconfigure(line_buffering=True, errors="backslashreplace")
    sys.exit(main(sys.argv[1:]))
