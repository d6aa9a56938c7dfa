"""Paths of fewer points: as near as asked for, no state mixed, and few."""

import itertools
import unittest

import numpy as np
from solvers.test_foot_skate import corrected, walk

from footlock.solvers import thinning


def furthest(points, kept):
    """How far any point is from the line between the kept ones on either side of it."""
    worst = 0.0
    for i in range(len(points)):
        after = int(np.clip(np.searchsorted(kept, i), 1, len(kept) - 1))
        one, other = points[kept[after - 1]], points[kept[after]]
        line = other - one
        length = line @ line
        share = np.clip((points[i] - one) @ line / length, 0.0, 1.0) if length else 0.0
        worst = max(worst, float(np.linalg.norm(points[i] - one - share * line)))
    return worst


class Thinned(unittest.TestCase):
    def test_a_line_is_its_ends(self):
        points = np.linspace(0.0, 1.0, 1025)[:, None] * [1.0, 2.0, 3.0]
        self.assertEqual(thinning.thinned(points, np.zeros(1024), 1e-9).tolist(), [0, 1024])

    def test_states_are_not_mixed(self):
        points = np.linspace(0.0, 1.0, 101)[:, None] * [1.0, 0.0, 0.0]
        states = np.repeat([0, 1, 2, 1], [13, 30, 1, 56])
        kept = thinning.thinned(points, states, 1e-6)
        self.assertLessEqual({0, 13, 43, 44, 100}, set(kept.tolist()))
        for first, last in itertools.pairwise(kept):
            self.assertEqual(len(set(states[first:last].tolist())), 1)
        self.assertLess(len(kept), 30)

    def test_no_further_than_the_tolerance(self):
        rng = np.random.default_rng(4)
        for count in (2, 3, 5, 64, 65, 200, 333):
            points = np.cumsum(rng.normal(size=(count, 3)), axis=0)
            for tolerance in (0.0, 0.5, 3.0):
                kept = thinning.thinned(points, np.zeros(count - 1), tolerance)
                self.assertEqual([kept[0], kept[-1]], [0, count - 1])
                self.assertLessEqual(furthest(points, kept), tolerance + 1e-12)

    def test_there_and_back_is_not_a_point(self):
        points = np.array([[0.0, 0, 0], [1.0, 0, 0], [0.0, 0, 0]])
        self.assertEqual(thinning.thinned(points, np.zeros(2), 0.1).tolist(), [0, 1, 2])

    def test_planted_toes_become_nearly_nothing(self):
        labels, toes = walk()[3], corrected().legs.toe
        states = labels[1:, 0] & labels[:-1, 0]
        kept = thinning.thinned(toes[:, 0], states, 5e-4)
        self.assertLess(furthest(toes[:, 0], kept), 5e-4)
        self.assertLess(len(kept), 0.6 * len(toes))

    def test_a_single_point(self):
        self.assertEqual(thinning.thinned(np.zeros((1, 3)), np.zeros(0), 0.1).tolist(), [0])
