# SPDX-License-Identifier: GPL-3.0-or-later
"""One test that fails and one that passes. CI runs them on purpose, to see that a failure is counted and reported."""
import unittest


class Failing(unittest.TestCase):
    def test_fails(self):
        self.assertEqual(1 + 1, 3, "this test is meant to fail")

    def test_passes(self):
        self.assertEqual(1 + 1, 2)
