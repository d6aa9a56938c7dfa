"""Euler angles: matrices, and back to the same numbers. In degrees here, so that the numbers can be read."""

import itertools
import unittest

import numpy as np

from footlock.solvers import euler

ORDERS = ["".join(order) for order in itertools.permutations("XYZ")]


def to_matrix(degrees, axes):
    return euler.to_matrix(np.radians(degrees), axes)


def from_matrix(matrices, axes, near=None):
    return np.degrees(euler.from_matrix(matrices, axes, None if near is None else np.radians(near)))


def axis_matrix(axis, degrees):
    """The textbook's rotation about one axis, for one angle."""
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    return np.array(
        {
            "X": [[1, 0, 0], [0, c, -s], [0, s, c]],
            "Y": [[c, 0, s], [0, 1, 0], [-s, 0, c]],
            "Z": [[c, -s, 0], [s, c, 0], [0, 0, 1]],
        }[axis]
    )


class Rotations(unittest.TestCase):
    def setUp(self):
        self.rng = np.random.default_rng(3)

    def test_product_of_the_listed_axes(self):
        for count in range(4):
            for axes in map("".join, itertools.permutations("XYZ", count)):
                degrees = self.rng.uniform(-400, 400, (20, count))
                wanted = []
                for row in degrees:
                    product = np.eye(3)
                    for axis, angle in zip(axes, row, strict=True):
                        product = product @ axis_matrix(axis, angle)
                    wanted.append(product)
                np.testing.assert_allclose(to_matrix(degrees, axes), wanted, rtol=0.0, atol=1e-13)

    def test_unchanged_rotations_give_their_numbers_back(self):
        """Two full turns either way, both solutions: whatever the file said."""
        for axes in ORDERS:
            near = self.rng.uniform(-720, 720, (5000, 3))
            found = from_matrix(to_matrix(near, axes), axes, near)
            cos_middle = np.abs(np.cos(np.radians(near[:, 1])))
            far = cos_middle > 1e-3
            np.testing.assert_allclose(found[far], near[far], rtol=0.0, atol=1e-9)
            np.testing.assert_allclose(found, near, rtol=0.0, atol=1e-6)

    def test_unchanged_at_and_near_gimbal_lock(self):
        for axes in ORDERS:
            for offset in (0.0, 1e-13, 1e-10, 1e-8, 1e-6, 1e-4, 1e-2):
                near = self.rng.uniform(-720, 720, (200, 3))
                near[:, 1] = self.rng.choice([-450, -270, -90, 90, 270, 450], 200) + offset
                found = from_matrix(to_matrix(near, axes), axes, near)
                np.testing.assert_allclose(found[:, 0], near[:, 0], rtol=1e-15, atol=0.0)
                np.testing.assert_allclose(found, near, rtol=0.0, atol=1e-9)

    def test_turn_in_gimbal_lock_keeps_the_first(self):
        for axes, offset in itertools.product(ORDERS, (0.0, 1e-6)):
            middle = np.full(50, 90.0 + offset)
            near = np.column_stack([np.linspace(-500, 500, 50), middle, np.linspace(30, 40, 50)])
            matrices = to_matrix(near + np.array([10.0, 0.0, 0.0]), axes)
            found = from_matrix(matrices, axes, near)
            np.testing.assert_allclose(found[:, 0], near[:, 0], rtol=1e-15, atol=0.0)
            np.testing.assert_allclose(np.abs(found[:, 2] - near[:, 2]), 10.0, rtol=0.0, atol=1e-6)
            np.testing.assert_allclose(to_matrix(found, axes), matrices, rtol=0.0, atol=1e-8)

    def test_changed_rotations_stay_near(self):
        for axes in ORDERS:
            near = self.rng.uniform(-720, 720, (3000, 3))
            near = near[np.abs(np.cos(np.radians(near[:, 1]))) > 0.2]
            wanted = near + self.rng.uniform(-3, 3, near.shape)
            found = from_matrix(to_matrix(wanted, axes), axes, near)
            np.testing.assert_allclose(found, wanted, rtol=0.0, atol=1e-9)

    def test_any_rotation_is_met(self):
        """Whatever ``near`` says, the angles make the same matrix, and no other choice of them is closer."""
        for axes in ORDERS:
            angles, near = self.rng.uniform(-180, 180, (2, 500, 3))
            matrices = to_matrix(angles, axes)
            found = from_matrix(matrices, axes, near)
            np.testing.assert_allclose(to_matrix(found, axes), matrices, rtol=0.0, atol=1e-12)
            distance = np.abs(found - near).sum(axis=1)
            for solution in (angles, angles * (1, -1, 1) + 180.0):
                for turns in itertools.product((-720, -360, 0, 360, 720), repeat=3):
                    other = np.abs(solution + turns - near).sum(axis=1)
                    self.assertTrue((distance <= other + 1e-9).all())

    def test_almost_locked_rotations_are_met(self):
        for axes in ORDERS:
            for offset in 10.0 ** np.arange(-12.0, 0.0):
                angles = self.rng.uniform(-180, 180, (100, 3))
                angles[:, 1] = 90.0 + offset * self.rng.choice([-1, 1], 100)
                matrices = to_matrix(angles, axes)
                for near in (None, self.rng.uniform(-180, 180, (100, 3))):
                    found = from_matrix(matrices, axes, near)
                    met = to_matrix(found, axes)
                    np.testing.assert_allclose(met, matrices, rtol=0.0, atol=4e-7)
                    if np.radians(offset) > 2e-7:
                        np.testing.assert_allclose(met, matrices, rtol=0.0, atol=1e-12)

    def test_continuous_without_near(self):
        """Through full turns and through gimbal lock, where the plain solution jumps by half a turn."""
        t = np.linspace(0.0, 1.0, 2000)
        curves = {
            "turns": np.column_stack([1500 * t, 40 * np.sin(9 * t), -1100 * t + 20]),
            "through lock": np.column_stack([30 + 20 * t, 700 * t, 10 - 50 * t]),
            "resting in lock": np.column_stack([30 + 0 * t, np.minimum(200 * t, 90), 10 + 5 * t]),
        }
        for axes, (name, wanted) in itertools.product(ORDERS, curves.items()):
            with self.subTest(axes=axes, curve=name):
                # Rounding as after a product with a parent's rotation: in lock the first angle is noise.
                matrices = to_matrix(wanted, axes) + self.rng.uniform(-1e-14, 1e-14, (2000, 3, 3))
                found = from_matrix(matrices, axes)
                np.testing.assert_allclose(to_matrix(found, axes), matrices, rtol=0.0, atol=4e-7)
                np.testing.assert_allclose(found, wanted + (found[0] - wanted[0]), rtol=0.0, atol=1e-6)

    def test_lock_without_near(self):
        matrices = to_matrix(np.tile([20.0, 90.0, 0.0], (4, 1)), "ZYX")
        found = from_matrix(matrices, "ZYX")
        np.testing.assert_allclose(found, np.tile([0.0, 90.0, -20.0], (4, 1)), rtol=0.0, atol=1e-9)
        self.assertEqual(from_matrix(np.empty((0, 3, 3)), "ZYX").shape, (0, 3))
        self.assertEqual(from_matrix(np.empty((0, 3, 3)), "ZYX", np.empty((0, 3))).shape, (0, 3))
        self.assertEqual(from_matrix(matrices[:1], "ZYX").shape, (1, 3))

    def test_arguments_are_left_alone(self):
        near = self.rng.uniform(-180, 180, (10, 3))
        kept = near.copy()
        matrices = to_matrix(near, "XZY")
        kept_matrices = matrices.copy()
        from_matrix(matrices, "XZY", near)
        from_matrix(matrices, "XZY")
        np.testing.assert_array_equal(near, kept)
        np.testing.assert_array_equal(matrices, kept_matrices)

    def test_wrong_shapes(self):
        eye = np.tile(np.eye(3), (4, 1, 1))
        for call in (
            lambda: to_matrix(np.zeros((4, 2)), "XYZ"),
            lambda: to_matrix(np.zeros(3), "XYZ"),
            lambda: to_matrix(np.zeros((4, 3)), "XYX"),
            lambda: to_matrix(np.zeros((4, 3)), "xyz"),
            lambda: from_matrix(eye, "XY"),
            lambda: from_matrix(eye, "XYX"),
            lambda: from_matrix(eye[0], "XYZ"),
            lambda: from_matrix(eye, "XYZ", np.zeros((3, 3))),
        ):
            with self.assertRaises(ValueError):
                call()


if __name__ == "__main__":
    unittest.main()
