"""Random actions, rigs and files: each ends in a result that is right, or in one sentence, and nothing else changes.
See fuzz/blocks.py."""

import unittest

import bpy
from fuzz import blocks

# All cases on one Blender, a part on the others.
_ALL = bpy.app.version[:2] == (4, 5)


class Fuzz(unittest.TestCase):
    def run_cases(self, kind, all_, some):
        ends, failures = blocks.run(kind, all_ if _ALL else some)
        self.assertEqual(failures, [], "\n\n".join(failures))
        self.assertGreater(len(ends), 2, "all cases end alike")

    def test_actions(self):
        self.run_cases("actions", 850, 60)

    def test_readers(self):
        self.run_cases("readers", 150, 15)


class Seen(unittest.TestCase):
    """What a case does wrong is a failure that names its seed."""

    def failures(self, kind):
        ends, failures = blocks.run(kind, 3)
        return ends, "\n".join(failures)

    def test_crash_and_error(self):
        ends, failures = self.failures("wrong")
        self.assertEqual(dict(ends), {"well": 1})
        self.assertIn("wrong, seed 1 (", failures)
        self.assertIn("AssertionError: this is found", failures)
        self.assertIn("wrong, seed 2: Blender crashes with status", failures)
