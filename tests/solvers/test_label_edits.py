"""Edits of labels at the playhead."""

import unittest

import numpy as np

from footlock.solvers import label_edits as edits


def labels(text):
    """Numbers of a line such as ..##..: a dot is free, # planted, h half, - a slide on purpose."""
    return np.array([{".": 0.0, "#": 1.0, "h": 0.6, "-": -1.0}[one] for one in text])


class Edits(unittest.TestCase):
    def check(self, edit, before, expected, *arguments):
        values = labels(before)
        values.setflags(write=False)
        new = edit(values, *arguments)
        if expected is None:
            self.assertIsNone(new)
        else:
            np.testing.assert_array_equal(new, labels(expected), f"{edit.__name__} {before} {arguments}")

    def test_planted_and_freed_over_a_range(self):
        self.check(edits.planted, "..#....#", "..####.#", 3, 5)
        self.check(edits.planted, "........", "########", 0, 7)
        self.check(edits.freed, "..#####.", "..#...#.", 3, 5)
        self.check(edits.freed, "..#####.", None, 0, 1)

    def test_made(self):
        self.check(edits.made, "..........", "..###.....", 2, 3)
        self.check(edits.made, "......##..", "..###.##..", 2, 9)
        self.check(edits.made, "...##.....", "..###.....", 2, 9)
        self.check(edits.made, "..........", "........##", 8, 5)
        self.check(edits.made, "..##......", None, 2, 3)

    def test_deleted(self):
        self.check(edits.deleted, ".##.hh.", ".##....", 5)
        self.check(edits.deleted, ".##.##.", None, 3)
        self.check(edits.deleted, "--.", None, 0)

    def test_split(self):
        self.check(edits.split, ".#####.", ".##.##.", 3)
        for at in (0, 1, 5, 6):
            self.check(edits.split, ".#####.", None, at)

    def test_joined(self):
        for at in (1, 2, 3, 4):
            self.check(edits.joined, ".##..##.", ".######.", at)
        self.check(edits.joined, ".##..##.", None, 0)
        self.check(edits.joined, ".##..##.", None, 5)
        self.check(edits.joined, ".##..##.", None, 7)
        self.check(edits.joined, ".##--##.", ".######.", 3)

    def test_started(self):
        self.check(edits.started, "..####..", "....##..", 4)
        self.check(edits.started, "..####..", ".#####..", 1)
        self.check(edits.started, "..####..", None, 2)
        self.check(edits.started, "..####..", None, 7)

    def test_ended(self):
        self.check(edits.ended, "..####..", "..##....", 3)
        self.check(edits.ended, "..####..", "..######", 7)
        self.check(edits.ended, "..####..", None, 5)
        self.check(edits.ended, "..####..", None, 1)

    def test_shifted(self):
        self.check(edits.shifted, "..###....", "....###..", 3, 2)
        self.check(edits.shifted, "..###....", ".###.....", 3, -1)
        self.check(edits.shifted, "..#h#....", "...#h#...", 3, 1)
        self.check(edits.shifted, "..##..##.", "...##.##.", 2, 5)
        self.check(edits.shifted, "##.##..", None, 3, -2)
        self.check(edits.shifted, "..##...", "##.....", 3, -2)
        self.check(edits.shifted, "..##...", "#......", 3, -3)
        self.check(edits.shifted, "..##...", None, 3, 0)
        self.check(edits.shifted, "..##...", None, 0, 1)

    def test_a_loop_begins_anew(self):
        def check(edit, before, expected, at, *arguments, period=8):
            def named(values, on):
                return edit(values, at + on, *arguments)

            named.__name__ = edit.__name__
            self.check(lambda values: edits.repeated(named, values, period), before, expected)

        # One frame more than the cycle has, the first again; then without it.
        check(edits.shifted, "##....###", "###....##", 0, 1)
        check(edits.shifted, "##....##", "###....#", 7, 1)
        check(edits.shifted, "#.....###", ".....###.", 7, -1)
        check(edits.deleted, "##....###", ".........", 1)
        check(edits.deleted, "##.#..##", "...#....", 6)
        check(edits.ended, "##....###", "###...###", 2)
        check(edits.started, "##....###", "##......#", 0)
        check(edits.started, "##...####", "##....###", 6)
        check(edits.joined, "#..##...#", "#..######", 6)
        check(edits.split, "##....###", ".#....##.", 0)
        check(edits.made, "...##....", "#..##..##", 7, 2)
        check(edits.made, ".........", "#......##", 7, 2)
        check(edits.shifted, "##.......", None, 3, 1)
        self.assertTrue(edits.always(labels("####")))
        self.assertFalse(edits.always(labels("##.#")))


if __name__ == "__main__":
    unittest.main()
