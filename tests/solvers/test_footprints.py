"""Footprints and slide marks on clips made by hand, on the CMU walk, and under the mouse."""

import unittest

import numpy as np
from solvers.test_foot_skate import corrected, walk

from footlock.solvers import contacts, footprints
from footlock.solvers import rotations as rot

# Two contacts of a left foot and one of a right foot, frames by the hundred.
FRAMES = 100
HEEL, TOE, END = np.array([0.0, 0.0, 0.1]), np.array([0.0, 0.16, 0.03]), np.array([0.0, 0.24, 0.03])


def steps(slide=0.0, climb=0.0):
    """Heels, toes, toe ends (frames, 2, 3) and labels: the left foot stands at x = 1 heading +y in frames 10 to 39 and
    at x = 3 heading -x in frames 60 to 89, the right one at x = 2 in frames 30 to 69; between them it flies. ``slide``
    metres along x in each contact, ``climb``: slope of the floor along +y."""
    points = np.stack([HEEL, TOE, END])
    left, right = np.zeros((FRAMES, 3, 3)), np.zeros((FRAMES, 3, 3))
    labels = np.zeros((FRAMES, 2), bool)
    t = np.arange(FRAMES)
    turned = points @ np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    for foot, leg, first, end, place, shape in (
        (left, 0, 10, 40, 1.0, points),
        (left, 0, 60, 90, 3.0, turned),
        (right, 1, 30, 70, 2.0, points),
    ):
        labels[first:end, leg] = True
        along = np.linspace(0.0, slide, end - first)
        foot[first:end] = shape + np.array([place, 5.0, 0.0])
        foot[first:end, :, 0] += along[:, None]
    for foot, labelled in ((left, labels[:, 0]), (right, labels[:, 1])):
        foot[~labelled] = points + np.array([0.0, 0.0, 0.4]) + 0.01 * t[~labelled, None, None]
    both = np.stack([left, right], axis=1)
    both[..., 2] += climb * both[..., 1]
    return both[:, :, 0], both[:, :, 1], both[:, :, 2], labels


class Made(unittest.TestCase):
    def test_one_print_a_contact(self):
        heels, toes, ends, labels = steps()
        found = footprints.find(heels, toes, ends, labels, (1.0, -1.0))
        self.assertEqual(found.leg.tolist(), [0, 0, 1])
        self.assertEqual(found.first.tolist(), [10, 60, 30])
        self.assertEqual(found.last.tolist(), [39, 89, 69])
        np.testing.assert_allclose(found.toe, [[1.0, 5.16, 0.03], [2.84, 5.0, 0.03], [2.0, 5.16, 0.03]], atol=1e-12)
        np.testing.assert_allclose(found.heading, [[0.0, 1.0], [-1.0, 0.0], [0.0, 1.0]], atol=1e-12)
        np.testing.assert_allclose(found.length, 0.24)
        np.testing.assert_allclose(found.slid, 0.0, atol=1e-12)

    def test_frames_as_they_are_called(self):
        found = footprints.find(*steps(), called=np.arange(FRAMES) * 0.2 + 7.0)
        np.testing.assert_allclose(found.first, [9.0, 19.0, 13.0])
        np.testing.assert_allclose(found.last, [14.8, 24.8, 20.8])
        self.assertEqual([found.at(0, 9.0), found.at(0, 24.8), found.at(1, 17.0)], [0, 1, 2])
        self.assertEqual([found.at(0, 17.0), found.at(1, 40.0), found.at(2, 9.0)], [-1, -1, -1])

    def test_outline_is_the_foot_from_heel_to_toe_end_on_the_floor(self):
        found = footprints.find(*steps())
        for i, (heel, end, across) in enumerate((((1.0, 5.0), (1.0, 5.24), 0), ((3.0, 5.0), (2.76, 5.0), 1))):
            along = found.outline[i, :, :2] @ found.heading[i]
            self.assertAlmostEqual(along.min(), np.dot(heel, found.heading[i]))
            self.assertAlmostEqual(along.max(), np.dot(end, found.heading[i]))
            self.assertAlmostEqual(np.ptp(found.outline[i, :, across]), found.width[i])
        np.testing.assert_allclose(found.outline[..., 2], 0.03, atol=1e-12)

    def test_left_and_right_are_mirrored(self):
        """Seen along the heading, and both counterclockwise from above."""
        heels, toes, ends, labels = steps()
        both = np.stack([toes[:, 1]] * 2, axis=1)
        found = footprints.find(
            np.stack([heels[:, 1]] * 2, axis=1),
            both,
            np.stack([ends[:, 1]] * 2, axis=1),
            labels[:, [1, 1]],
            (1.0, -1.0),
        )
        mirrored = found.outline[1] * [-1.0, 1.0, 1.0] + [4.0, 0.0, 0.0]
        for point in mirrored:
            self.assertLess(np.linalg.norm(found.outline[0] - point, axis=-1).min(), 1e-9)
        self.assertGreater(np.abs(found.outline[0] - found.outline[1]).max(), 0.002)
        for outline in found.outline:
            one, other = outline, np.roll(outline, -1, axis=0)
            self.assertGreater(np.sum(one[:, 0] * other[:, 1] - other[:, 0] * one[:, 1]), 0.0)

    def test_slide_is_how_far_the_toe_goes(self):
        found = footprints.find(*steps(slide=0.05))
        np.testing.assert_allclose(found.slid, 0.05)
        np.testing.assert_allclose(found.slid_to - found.slid_from, [[0.05, 0.0, 0.0]] * 3, atol=1e-12)
        np.testing.assert_allclose(found.slid_from[0], [1.0, 5.16, 0.03], atol=1e-12)

    def test_a_toe_that_slides_and_comes_back_has_slid(self):
        heels, toes, ends, labels = steps()
        moved = toes.copy()
        moved[10:40, 0, 0] += 0.02 * np.sin(np.linspace(0.0, np.pi, 30))
        found = footprints.find(heels, moved, ends, labels)
        self.assertAlmostEqual(found.slid[0], 0.02, delta=1e-4)
        self.assertEqual(found.slid[1], 0.0)

    def test_prints_follow_a_slope_that_the_foot_shows(self):
        """One leg stands on the level first and then on a slope of one in five."""
        heels, toes, ends, labels = (points.copy() for points in steps())
        labels[:, 1] = False
        labels[60:, 0] = False
        slope = np.arctan(0.2)
        turn = np.array([[1.0, 0.0, 0.0], [0.0, np.cos(slope), -np.sin(slope)], [0.0, np.sin(slope), np.cos(slope)]])
        for points, joint in ((heels, HEEL), (toes, TOE), (ends, END)):
            points[60:80, 0] = turn @ joint + np.array([1.0, 8.0, 0.6])
            points[80:, 0] = joint + np.array([1.0, 9.0, 0.0])
        labels[60:80, 0] = True
        labels[85:95, 0] = True
        found = footprints.find(heels, toes, ends, labels)
        np.testing.assert_allclose(np.ptp(found.outline[[0, 2], :, 2], axis=1), 0.0, atol=1e-9)
        rise = np.ptp(found.outline[1, :, 2]) / np.ptp(found.outline[1, :, 1])
        self.assertAlmostEqual(rise, 0.2, delta=0.03)

    def test_a_floor_that_is_all_slope_needs_the_level_foot(self):
        again = steps(climb=0.3)
        for points in again[:3]:
            points[60:, 0, 2] += 0.5  # so that the contacts are not of one height
        usual, found = footprints.find(*again), footprints.find(*again, level=(0.07, 0.07))
        self.assertLess(np.ptp(usual.outline[0, :, 2]) / np.ptp(usual.outline[0, :, 1]), 0.2)
        self.assertAlmostEqual(np.ptp(found.outline[0, :, 2]) / np.ptp(found.outline[0, :, 1]), 0.3, delta=0.01)

    def test_a_foot_without_length(self):
        heels, _, _, labels = steps()
        found = footprints.find(heels, heels, heels, labels, leg_lengths=(0.9, 0.9))
        np.testing.assert_allclose(found.length, 0.252)
        np.testing.assert_allclose(np.linalg.norm(found.heading, axis=1), 1.0)
        self.assertTrue(np.isfinite(found.outline).all())

    def test_without_contact_there_is_none(self):
        heels, toes, ends, labels = steps()
        found = footprints.find(heels, toes, ends, np.zeros_like(labels))
        self.assertEqual(len(found), 0)
        self.assertEqual(found.outline.shape[2], 3)
        self.assertEqual(footprints.footprint_at(found, np.eye(4), (800, 600), (10, 10)), -1)
        self.assertEqual(found.at(0, 10), -1)

    def test_wrong_shapes(self):
        heels, toes, ends, labels = steps()
        with self.assertRaisesRegex(ValueError, "labels"):
            footprints.find(heels, toes, ends, labels[:50])
        with self.assertRaisesRegex(ValueError, "toe_ends"):
            footprints.find(heels, toes, ends[:, :1], labels)


class Picked(unittest.TestCase):
    """From above, a metre is 100 pixels: the region of 1000 by 1000 has the floor from 0 to 10 in x and y."""

    SIZE = (1000, 1000)
    FROM_ABOVE = np.array([[0.2, 0, 0, -1.0], [0, 0.2, 0, -1.0], [0, 0, -0.01, 0], [0, 0, 0, 1.0]])

    def setUp(self):
        self.prints = footprints.find(*steps())

    def at(self, x, y, projection=FROM_ABOVE):
        return footprints.footprint_at(self.prints, projection, self.SIZE, (x, y))

    def test_inside_a_print(self):
        self.assertEqual([self.at(100, 510), self.at(290, 500), self.at(200, 502)], [0, 1, 2])

    def test_near_a_toe(self):
        self.assertEqual(self.at(112, 516), 0)
        self.assertEqual(self.at(100, 545), -1)
        self.assertEqual(self.at(500, 800), -1)

    def test_of_two_over_each_other_the_nearer_toe(self):
        heels, toes, ends, labels = (points.copy() for points in steps())
        for points in (heels, toes, ends):
            points[30:70, 1] += [-0.98, 0.1, 0.0]
        self.prints = footprints.find(heels, toes, ends, labels)
        self.assertEqual([self.at(101, 514), self.at(101, 523)], [0, 2])

    def test_nothing_behind_the_eye(self):
        behind = self.FROM_ABOVE * np.array([[1.0], [1.0], [1.0], [-1.0]])
        self.assertEqual(self.at(100, 510, behind), -1)

    def test_perspective(self):
        """An eye 10 over (1, 5) that looks down, an angle of 90 degrees: what is 10 away spans 20."""
        eye = np.eye(4)
        eye[:3, 3] = -1.0, -5.0, -10.0
        lens = np.array([[1.0, 0, 0, 0], [0, 1.0, 0, 0], [0, 0, -1.02, -0.2], [0, 0, -1.0, 0]])
        self.assertEqual(self.at(500, 505, lens @ eye), 0)
        self.assertEqual(self.at(500 + 50, 505, lens @ eye), 2)


class Walk(unittest.TestCase):
    """CMU 131_01 at 60 Hz, its root 1.25 times too fast, before and after the correction."""

    def setUp(self):
        _, self.pose, _, self.labels = walk()
        self.before = footprints.find(self.pose.heel, self.pose.toe, self.pose.toe_end, self.labels, (1.0, -1.0))

    def test_counts_and_places(self):
        for leg in (0, 1):
            spans = contacts.runs(self.labels[:, leg])
            mine = self.before.leg == leg
            self.assertEqual(
                list(zip(self.before.first[mine], self.before.last[mine] + 1, strict=True)), [*map(tuple, spans)]
            )
            for (first, end), toe in zip(spans, self.before.toe[mine], strict=True):
                away = np.linalg.norm(self.pose.toe[first:end, leg] - toe, axis=-1)
                self.assertLess(np.median(away), 0.06)

    def test_length_is_that_of_the_bones(self):
        """Heel to toe on the floor while the foot is flat, and the toe."""
        behind = np.linalg.norm(self.pose.toe - self.pose.heel, axis=-1)
        bones = np.median(behind + np.linalg.norm(self.pose.toe_end - self.pose.toe, axis=-1), axis=0)
        ratio = self.before.length / bones[self.before.leg]
        self.assertTrue(((ratio > 0.9) & (ratio <= 1.0)).all(), ratio)

    def test_heading_is_that_of_the_foot(self):
        """Within 15 degrees of where the foot points in the middle of the contact; the person turns and steps back."""
        for i in range(len(self.before)):
            middle = int(self.before.first[i] + self.before.last[i]) // 2
            ahead = (self.pose.toe - self.pose.heel)[middle, self.before.leg[i], :2]
            cosine = ahead @ self.before.heading[i] / np.linalg.norm(ahead)
            self.assertGreater(cosine, np.cos(np.radians(15.0)), i)
        self.assertGreater(np.ptp(np.arctan2(self.before.heading[:, 0], -self.before.heading[:, 1])), 1.5)

    def test_prints_are_level_on_a_level_floor(self):
        """On toes, too."""
        self.assertLess(np.ptp(self.before.outline[..., 2], axis=1).max(), 1e-9)
        for leg in (0, 1):
            self.assertLess(np.ptp(self.before.outline[self.before.leg == leg, :, 2]), 1e-9)

    def test_slide_is_gone_after_the_correction(self):
        legs = corrected().legs
        after = footprints.find(legs.heel, legs.toe, legs.toe_end, self.labels)
        self.assertEqual(len(after), len(self.before))
        self.assertGreater(np.median(self.before.slid), 0.02)
        self.assertLess(after.slid.max(), 1e-3)

    def test_a_moved_world_has_moved_prints(self):
        """Turned about the vertical, moved, ten times as large."""
        turn = rot.to_matrix(rot.from_scaled_angle_axis(np.array([0.0, 0.0, 1.1])))
        shift = np.array([3.0, -2.0, 0.7])

        def there(points):
            return 10.0 * (points @ turn.T) + shift

        after = footprints.find(
            there(self.pose.heel), there(self.pose.toe), there(self.pose.toe_end), self.labels, (1.0, -1.0)
        )
        for name in ("toe", "outline", "slid_from", "slid_to"):
            np.testing.assert_allclose(getattr(after, name), there(getattr(self.before, name)), atol=1e-9)
        np.testing.assert_allclose(after.heading, self.before.heading @ turn[:2, :2].T, atol=1e-12)
        for name in ("length", "width", "slid"):
            np.testing.assert_allclose(getattr(after, name), 10.0 * getattr(self.before, name), atol=1e-9)

    def test_what_is_given_stays(self):
        """The arrays of ``walk`` cannot be written to: reaching this line is the test of most of it."""
        self.assertFalse(self.pose.toe.flags.writeable)
        self.assertTrue(self.before.outline.flags.writeable)
