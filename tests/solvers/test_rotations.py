"""Quaternions and vectors: against the textbook, one at a time, and by what a rotation must keep."""

import math
import unittest

import numpy as np

from footlock.solvers import rotations as rot


def unit(rng, count, size):
    v = rng.normal(size=(count, size))
    return v / np.linalg.norm(v, axis=1, keepdims=True)


def naive_product(a, b):
    """By the table of the units: i·j = k and so on."""
    table = {
        (0, 0): (0, 1), (0, 1): (1, 1), (0, 2): (2, 1), (0, 3): (3, 1), (1, 0): (1, 1), (2, 0): (2, 1), (3, 0): (3, 1),
        (1, 1): (0, -1), (2, 2): (0, -1), (3, 3): (0, -1),
        (1, 2): (3, 1), (2, 3): (1, 1), (3, 1): (2, 1), (2, 1): (3, -1), (3, 2): (1, -1), (1, 3): (2, -1),
    }  # fmt: skip
    product = [0.0] * 4
    for i in range(4):
        for j in range(4):
            k, sign = table[i, j]
            product[k] += sign * a[i] * b[j]
    return product


def rodrigues(axis, angle, v):
    """A vector turned about a unit axis."""
    return v * math.cos(angle) + np.cross(axis, v) * math.sin(angle) + axis * np.dot(axis, v) * (1 - math.cos(angle))


def angle_between(a, b):
    return np.arctan2(np.linalg.norm(np.cross(a, b), axis=-1), np.einsum("...i,...i->...", a, b))


class Vectors(unittest.TestCase):
    def setUp(self):
        self.rng = np.random.default_rng(1)

    def test_products_and_lengths(self):
        a, b = self.rng.normal(size=(2, 5, 7, 3))
        np.testing.assert_allclose(rot.cross(a, b), np.cross(a, b), rtol=0, atol=1e-15)
        np.testing.assert_allclose(rot.dot(a, b), np.sum(a * b, axis=-1, keepdims=True), rtol=0, atol=1e-14)
        np.testing.assert_allclose(rot.length(a), np.linalg.norm(a, axis=-1, keepdims=True), rtol=1e-15)

    def test_broadcast(self):
        a, b = self.rng.normal(size=(4, 1, 3)), self.rng.normal(size=(5, 3))
        self.assertEqual(rot.dot(a, b).shape, (4, 5, 1))
        np.testing.assert_allclose(rot.cross(a, b), np.cross(np.tile(a, (1, 5, 1)), np.tile(b, (4, 1, 1))), atol=1e-15)
        self.assertEqual(rot.rotate(unit(self.rng, 4, 4)[:, None], b).shape, (4, 5, 3))

    def test_normalized(self):
        v = np.array([[3.0, 0.0, 4.0], [0.0, 0.0, 0.0], [1e-30, 0.0, 0.0]])
        np.testing.assert_allclose(rot.normalized(v), [[0.6, 0, 0.8], [0, 0, 0], [1, 0, 0]], atol=1e-15)
        np.testing.assert_allclose(rot.normalized(v, np.array([0.0, 1.0, 0.0]))[1], [0, 1, 0], rtol=0, atol=0)


class Quaternions(unittest.TestCase):
    def setUp(self):
        self.rng = np.random.default_rng(2)

    def test_product(self):
        a, b = unit(self.rng, 50, 4), unit(self.rng, 50, 4)
        wanted = [naive_product(x, y) for x, y in zip(a, b, strict=True)]
        np.testing.assert_allclose(rot.multiply(a, b), wanted, rtol=0, atol=1e-15)

    def test_product_turns_by_the_right_one_first(self):
        a, b, v = unit(self.rng, 50, 4), unit(self.rng, 50, 4), self.rng.normal(size=(50, 3))
        np.testing.assert_allclose(
            rot.rotate(rot.multiply(a, b), v), rot.rotate(a, rot.rotate(b, v)), rtol=0, atol=1e-14
        )

    def test_inverse(self):
        q = unit(self.rng, 50, 4)
        np.testing.assert_allclose(rot.multiply(q, rot.inverse(q)), np.tile(rot.IDENTITY, (50, 1)), rtol=0, atol=1e-15)

    def test_rotation_vector(self):
        """From angles that only show in the last digits to several turns."""
        for size in (0.0, 1e-300, 1e-20, 1e-9, 1.9e-4, 2e-4, 2.1e-4, 0.01, 1.0, math.pi, 4.0, 20.0):
            axes, vectors = unit(self.rng, 20, 3), self.rng.normal(size=(20, 3))
            turned = rot.rotate(rot.from_scaled_angle_axis(axes * size), vectors)
            wanted = [rodrigues(axis, size, v) for axis, v in zip(axes, vectors, strict=True)]
            np.testing.assert_allclose(turned, wanted, rtol=0, atol=5e-12 if size < 1e-3 else 1e-13)

    def test_rotation_vector_is_unit(self):
        for size in (0.0, 1e-12, 1e-4, 1.99e-4, 2.0e-4, 1.0):
            q = rot.from_scaled_angle_axis(unit(self.rng, 20, 3) * size)
            np.testing.assert_allclose(np.linalg.norm(q, axis=1), 1.0, rtol=0, atol=4e-16)

    def test_continuous(self):
        angles = np.cumsum(self.rng.uniform(-0.5, 0.5, (200, 3)), axis=0)
        q = rot.from_scaled_angle_axis(angles)
        mixed = np.stack([q, q], axis=1) * self.rng.choice([-1.0, 1.0], (200, 2, 1))
        kept = mixed.copy()
        smooth = rot.continuous(mixed)
        np.testing.assert_array_equal(smooth[0], mixed[0])
        np.testing.assert_array_equal(np.abs(smooth), np.abs(mixed))
        self.assertGreater(np.einsum("fli,fli->fl", smooth[1:], smooth[:-1]).min(), 0.0)
        np.testing.assert_array_equal(mixed, kept)


class Between(unittest.TestCase):
    def setUp(self):
        self.rng = np.random.default_rng(3)

    def check(self, p, q, tolerance):
        turn = rot.between(p, q)
        np.testing.assert_allclose(np.linalg.norm(turn, axis=-1), 1.0, rtol=0, atol=1e-15)
        reached = rot.rotate(turn, p / np.linalg.norm(p, axis=-1, keepdims=True))
        self.assertLess(angle_between(reached, q).max(), tolerance)
        # Shortest: no more than the angle between the two.
        turned = 2.0 * np.arctan2(np.linalg.norm(turn[..., 1:], axis=-1), np.abs(turn[..., 0]))
        np.testing.assert_allclose(turned, angle_between(p, q), rtol=0, atol=tolerance)

    def test_any_directions(self):
        p, q = self.rng.normal(size=(2, 500, 3))
        self.check(p, q, 1e-13)
        self.check(p * 1e-6, q * 1e5, 1e-13)

    def test_nearly_the_same(self):
        p = unit(self.rng, 100, 3)
        for off in (0.0, 1e-15, 1e-12, 1e-8, 1e-4):
            self.check(p, p + off * unit(self.rng, 100, 3), 1e-14)

    def test_nearly_opposite(self):
        """The axis is as good as rounding lets it be known: 1e-16 over the angle that is left."""
        p = unit(self.rng, 100, 3)
        square = np.cross(p, unit(self.rng, 100, 3))
        square /= np.linalg.norm(square, axis=1, keepdims=True)
        for off in (1e-2, 1e-4, 1e-6, 1e-7):
            self.check(p, -p + off * square, 3e-15 / off)
        for off in (1e-8, 1e-9, 1e-12, 1e-16):
            self.check(p, -p + off * square, 1e-7)

    def test_opposite(self):
        p = np.concatenate([unit(self.rng, 100, 3), np.eye(3), -np.eye(3)])
        self.check(p, -p, 1e-14)
        self.check(p, -2.5 * p, 1e-14)

    def test_zero_asks_for_nothing(self):
        zero, p = np.zeros((3, 3)), self.rng.normal(size=(3, 3))
        for a, b in ((zero, p), (p, zero), (zero, zero)):
            np.testing.assert_array_equal(rot.between(a, b), np.tile(rot.IDENTITY, (3, 1)))


class Matrices(unittest.TestCase):
    def setUp(self):
        self.rng = np.random.default_rng(4)

    def test_matrix_turns_as_the_quaternion(self):
        q, v = unit(self.rng, 100, 4), self.rng.normal(size=(100, 3))
        np.testing.assert_allclose(np.einsum("nij,nj->ni", rot.to_matrix(q), v), rot.rotate(q, v), rtol=0, atol=1e-14)

    def test_there_and_back(self):
        """With each of the four components the largest, the smallest and zero; half turns among them."""
        special = [rot.IDENTITY, *np.eye(4)[1:]]
        for i in range(4):
            for j in range(4):
                pair = np.zeros(4)
                pair[i] += 1.0
                pair[j] += 1.0
                special.append(pair / np.linalg.norm(pair))
                pair = pair.copy()
                pair[(j + 1) % 4] += 1e-9
                special.append(pair / np.linalg.norm(pair))
        q = np.concatenate([unit(self.rng, 2000, 4), special])
        back = rot.from_matrix(rot.to_matrix(q))
        self.assertGreaterEqual(back[:, 0].min(), 0.0)
        np.testing.assert_allclose(rot.to_matrix(back), rot.to_matrix(q), rtol=0, atol=2e-15)
        same = np.abs(np.einsum("ni,ni->n", back, q))
        np.testing.assert_allclose(same, 1.0, rtol=0, atol=2e-15)

    def test_many_axes(self):
        q = unit(self.rng, 24, 4).reshape(2, 3, 4, 4)
        together = rot.from_matrix(rot.to_matrix(q))
        for index in np.ndindex(2, 3, 4):
            np.testing.assert_array_equal(together[index], rot.from_matrix(rot.to_matrix(q[index])))


class Arguments(unittest.TestCase):
    def test_not_written_to(self):
        rng = np.random.default_rng(5)
        a, b, v, w = unit(rng, 9, 4), unit(rng, 9, 4), rng.normal(size=(9, 3)), rng.normal(size=(9, 3))
        w[0], v[1], w[2] = -v[0], 0.0, v[2]
        for array in (a, b, v, w):
            array.setflags(write=False)  # numpy raises where it would be written to
        m = rot.to_matrix(a)
        m.setflags(write=False)
        rot.multiply(a, b), rot.inverse(a), rot.rotate(a, v), rot.from_scaled_angle_axis(v), rot.between(v, w)
        rot.from_matrix(m), rot.continuous(a), rot.normalized(v, np.array([1.0, 0.0, 0.0])), rot.cross(v, w)
