"""Random cases of the solvers and readers: each ends in a result that is right, or in one sentence.

See fuzz/blocks.py."""

import unittest

from fuzz import blocks


class Fuzz(unittest.TestCase):
    def run_cases(self, kind, count):
        """All where there is no Blender; some tell whether its numpy does the same."""
        ends, failures = blocks.run(kind, count if blocks.bpy is None else count // 20)
        self.assertEqual(failures, [], "\n\n".join(failures))
        self.assertGreater(len(ends), 2, "all cases end alike")

    def test_arrays(self):
        self.run_cases("arrays", 500)

    def test_readers(self):
        self.run_cases("readers", 500)
