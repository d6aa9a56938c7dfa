"""The states of feet by which paths are coloured, and the bars of their contacts, on clips made by hand."""

import unittest

import numpy as np
from solvers.test_foot_skate import RATE, corrected, walk

from footlock.solvers import foot_states
from footlock.solvers.foot_states import FREE, OUT_OF_REACH, PLANTED, SLIDING


def toes_at(*places):
    """Toes (frames, 1, 3) that are so far along x, metres."""
    toes = np.zeros((len(places), 1, 3))
    toes[:, 0, 0] = places
    return toes


def flags(text):
    """Labels (frames, 1) of a text with an x in each frame that has one."""
    return np.array([[one == "x"] for one in text])


class Steps(unittest.TestCase):
    def test_each_state(self):
        toes = toes_at(0.0, 0.1, 0.1, 0.1, 0.102, 0.104, 0.104, 0.3)
        found = foot_states.of_steps(toes, flags(".xxxxxx."), flags("......x."), 30.0)
        wanted = [FREE, PLANTED, PLANTED, SLIDING, SLIDING, OUT_OF_REACH, FREE]
        self.assertEqual(found[:, 0].tolist(), wanted)

    def test_slide_is_a_speed(self):
        """The same metres from frame to frame are sliding at 120 Hz and none at 24."""
        toes, all_planted = toes_at(0.0, 0.0006, 0.0012), flags("xxx")
        for rate, wanted in ((120.0, SLIDING), (24.0, PLANTED)):
            found = foot_states.of_steps(toes, all_planted, flags("..."), rate)
            self.assertEqual(found[:, 0].tolist(), [wanted, wanted], rate)

    def test_frames_have_the_worse_of_two_steps(self):
        steps = np.array([[FREE], [PLANTED], [SLIDING], [PLANTED], [FREE]])
        found = foot_states.of_frames(steps, flags(".xxxx."))
        self.assertEqual(found[:, 0].tolist(), [FREE, PLANTED, SLIDING, SLIDING, PLANTED, FREE])

    def test_a_foot_planted_in_a_single_frame_is_planted(self):
        steps = foot_states.of_steps(toes_at(0.0, 0.1, 0.2), flags(".x."), flags("..."), 30.0)
        self.assertEqual(foot_states.of_frames(steps, flags(".x."))[:, 0].tolist(), [FREE, PLANTED, FREE])

    def test_the_walk_slides_before_and_not_after(self):
        _, pose, _, labels = walk()
        nowhere = np.zeros_like(labels)
        before = foot_states.of_steps(pose.toe, labels, nowhere, RATE)
        after = foot_states.of_steps(corrected().legs.toe, labels, nowhere, RATE)
        held = labels[1:] & labels[:-1]
        self.assertEqual(((before != FREE) == held).mean(), 1.0)
        self.assertGreater((before == SLIDING).sum() / held.sum(), 0.85)
        self.assertEqual((after == SLIDING).sum(), 0)
        self.assertEqual((after == PLANTED).sum(), held.sum())

    def test_wrong_shapes(self):
        with self.assertRaisesRegex(ValueError, "labels"):
            foot_states.of_steps(toes_at(0.0, 1.0), flags("x"), flags("xx"), 30.0)


class Spans(unittest.TestCase):
    def test_each_contact_with_its_weight(self):
        weights = np.array([[0, 1, 1, 0, 0.5, 0.5, 1, -1, 0], [1, 1, 1, 0, 0, 0, 0, 0, 0.26]], float).T
        found = foot_states.spans(weights)
        rows = list(zip(found.leg, found.first, found.last, found.weight, strict=True))
        self.assertEqual(rows, [(0, 1, 2, 1.0), (0, 4, 5, 0.5), (0, 6, 6, 1.0), (1, 0, 2, 1.0), (1, 8, 8, 0.375)])

    def test_a_smooth_curve_is_a_few_spans(self):
        found = foot_states.spans(np.sin(np.linspace(0.0, np.pi, 2000))[:, None])
        self.assertEqual(len(found.leg), 15)
        self.assertTrue((found.first[1:] == found.last[:-1] + 1).all())

    def test_none(self):
        self.assertEqual(len(foot_states.spans(np.zeros((5, 2))).leg), 0)
