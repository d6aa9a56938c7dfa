"""Placements, given by hand: a contact stands there, and all else is as little moved as it can be."""

import unittest

import numpy as np
from solvers.test_foot_skate import RATE, corrected, walk

from footlock.solvers import contacts as labels_of
from footlock.solvers import foot_skate
from footlock.solvers import rotations as rot

AWAY = np.array([0.04, -0.03])


class PlacementCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.walk = (*walk(), RATE)
        cls.labels = cls.walk[3]
        cls.plain = corrected()
        cls.leg = 0
        runs = [run for run in labels_of.runs(cls.labels[:, 0]) if run[0] > 0 and run[1] < len(cls.labels)]
        cls.span = slice(*runs[len(runs) // 2])

    @classmethod
    def given(cls, place=None, lift=0.0, turn=0.0):
        shape = cls.labels.shape
        found = foot_skate.Placements(np.full((*shape, 2), np.nan), np.zeros(shape), np.zeros(shape))
        if place is not None:
            found.places[cls.span, cls.leg] = place
        found.lift[cls.span, cls.leg], found.turn[cls.span, cls.leg] = lift, turn
        return found

    @classmethod
    def solved(cls, given):
        return foot_skate.remove_sliding(*cls.walk, placements=given)


class Places(PlacementCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.place = cls.plain.legs.toe[cls.span, cls.leg][0]
        cls.moved = cls.solved(cls.given(cls.place[:2] + AWAY))

    def test_the_contact_stands_where_it_shall(self):
        place = self.place[:2] + AWAY
        toe = self.moved.legs.toe[self.span, self.leg]
        np.testing.assert_allclose(toe[:, :2], np.broadcast_to(place, (len(toe), 2)), atol=1e-6)
        np.testing.assert_allclose(toe[:, 2], self.place[2], atol=1e-6)

    def test_its_own_place_changes_next_to_nothing(self):
        new = self.solved(self.given(self.place[:2])).legs.toe
        self.assertLess(np.abs(new - self.plain.legs.toe).max(), 1e-4)

    def test_other_contacts_stay_together(self):
        new = self.moved.legs.toe
        moved = np.linalg.norm(new - self.plain.legs.toe, axis=-1)
        for leg in range(self.labels.shape[1]):
            for start, stop in labels_of.runs(self.labels[:, leg]):
                if stop - start > 1:
                    self.assertLess(np.ptp(new[start:stop, leg], axis=0).max(), 1e-5)
                if (leg, start) != (self.leg, self.span.start):
                    self.assertLess(moved[start:stop, leg].max(), 0.05)

    def test_nothing_given_is_as_without(self):
        new = self.solved(self.given())
        np.testing.assert_array_equal(new.legs.toe, self.plain.legs.toe)
        np.testing.assert_array_equal(new.pelvis, self.plain.pelvis)

    def test_free_feet_do_not_jump(self):
        new, old = self.moved.legs.toe[:, 0], self.plain.legs.toe[:, 0]
        kicks = [np.abs(np.diff(toe, n=2, axis=0)).max() for toe in (new, old)]
        self.assertLess(kicks[0], 1.5 * kicks[1])

    def test_out_of_the_contact_a_place_means_nothing(self):
        given = self.given()
        given.places[~self.labels] = 9.0
        np.testing.assert_array_equal(self.solved(given).legs.toe, self.plain.legs.toe)

    def test_lifted(self):
        toe = self.solved(self.given(lift=0.05)).legs.toe[self.span, self.leg]
        np.testing.assert_allclose(toe[:, 2], self.place[2] + 0.05, atol=1e-5)
        self.assertLess(np.ptp(toe, axis=0).max(), 1e-5)


class Turns(PlacementCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.turned = cls.solved(cls.given(turn=0.4))

    def heading(self, solution):
        foot = (solution.legs.toe - solution.legs.heel)[self.span, self.leg]
        return np.unwrap(np.arctan2(foot[:, 1], foot[:, 0]))

    def test_the_foot_turns_about_its_toe(self):
        new = self.turned
        np.testing.assert_allclose(self.heading(new) - self.heading(self.plain), 0.4, atol=1e-3)
        toe = new.legs.toe[self.span, self.leg]
        self.assertLess(np.ptp(toe, axis=0).max(), 1e-5)

    def test_it_turns_smoothly_into_the_contact_and_out_of_it(self):
        new = self.turned
        turn = rot.rotate(new.legs.foot_turn[:, self.leg], np.array([1.0, 0.0, 0.0]))
        plain = rot.rotate(self.plain.legs.foot_turn[:, self.leg], np.array([1.0, 0.0, 0.0]))
        step = np.linalg.norm(np.diff(turn - plain, axis=0), axis=1)
        self.assertLess(step.max(), 0.12)

    def test_the_other_foot_does_not(self):
        new = self.turned
        np.testing.assert_allclose(new.legs.foot_turn[:, 1], self.plain.legs.foot_turn[:, 1], atol=2e-2)


class Loops(unittest.TestCase):
    def test_a_contact_over_the_end_of_a_loop(self):
        (pelvis, pose, side, labels), rate = walk(), RATE
        frames, way = len(pelvis), pelvis[-1] - pelvis[0]
        given = foot_skate.Placements(np.full((frames, 2, 2), np.nan), np.zeros((frames, 2)), np.zeros((frames, 2)))
        labels = labels.copy()
        labels[:6, 0] = labels[-6:, 0] = True
        plain = foot_skate.remove_sliding(pelvis, pose, side, labels, rate, cyclic=True)
        place = plain.legs.toe[0, 0, :2] + 0.03
        given.places[:6, 0] = place
        toe = foot_skate.remove_sliding(pelvis, pose, side, labels, rate, cyclic=True, placements=given).legs.toe
        np.testing.assert_allclose(toe[:6, 0, :2], np.broadcast_to(place, (6, 2)), atol=1e-5)
        np.testing.assert_allclose(toe[-6:, 0, :2], np.broadcast_to(place + way[:2], (6, 2)), atol=1e-5)


if __name__ == "__main__":
    unittest.main()
