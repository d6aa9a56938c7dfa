"""The runtime lock: the reference values, and that it never makes a toe jump."""

import json
import unittest
from dataclasses import fields, replace
from pathlib import Path

import numpy as np

from footlock.solvers import foot_lock, inertialize
from footlock.solvers.foot_lock import FootLockSettings

VECTORS = Path(__file__).resolve().parent.parent / "data" / "vectors"


def cases():
    return json.loads((VECTORS / "foot_lock.json").read_text())["cases"]


def settings_of(case):
    return FootLockSettings(case["lock_distance"], case["unlock_distance"], case["blend_time"])


def path(time):
    """A toe that walks, its height never below 3 cm, and slides while it is low; smooth in time (seconds)."""
    phase = 2.0 * np.pi * time
    return np.stack([0.9 * time + 0.1 * np.sin(phase), 0.03 * np.sin(2.3 * time), 0.09 - 0.06 * np.cos(phase)], axis=-1)


def low(time):
    return np.cos(2.0 * np.pi * time) > 0.5


class Reference(unittest.TestCase):
    def test_all_cases(self):
        self.assertEqual(len(cases()), 6)
        for number, case in enumerate(cases()):
            with self.subTest(case=number):
                toes, contact = np.array(case["input"])[:, None], np.array(case["contact"])[:, None]
                positions, locked = foot_lock.lock(
                    toes, contact, case["ground_height"], case["delta_time"], settings_of(case)
                )
                np.testing.assert_allclose(positions[:, 0], case["position"], rtol=0, atol=1e-6)
                np.testing.assert_array_equal(locked[:, 0], case["locked"])
                self.assertTrue(locked.any() and not locked.all())

    def test_frame_by_frame(self):
        """As a game would: the state is the only memory."""
        case = cases()[0]
        state = foot_lock.start(np.array(case["input"][:1]))
        for source, contact, position, locked in zip(
            case["input"], case["contact"], case["position"], case["locked"], strict=True
        ):
            source, contact = np.array([source]), np.array([contact])
            state = foot_lock.update(
                state, source, contact, case["ground_height"], case["delta_time"], settings_of(case)
            )
            np.testing.assert_allclose(state.position[0], position, rtol=0, atol=1e-6)
            self.assertEqual(bool(state.locked[0]), locked)


class Smooth(unittest.TestCase):
    def locked_path(self, rate, settings, ground=0.02, seconds=4.0):
        time = np.arange(round(seconds * rate) + 1) / rate
        toes, contact = path(time)[:, None], low(time)[:, None]
        positions, locked = foot_lock.lock(toes, contact, ground, 1.0 / rate, settings)
        changes = np.count_nonzero(np.diff(locked[:, 0]))
        return toes[:, 0], positions[:, 0], changes

    def test_position_does_not_jump(self):
        """Steps eight times shorter in time are about eight times shorter in space; a jump would stay as it is."""
        for blend in (0.1, 0.3, 0.5):
            for distance in (0.01, 1.0):
                settings = FootLockSettings(lock_distance=distance, blend_time=blend)
                with self.subTest(blend=blend, lock_distance=distance):
                    _, coarse, changes = self.locked_path(60.0, settings)
                    _, fine, _ = self.locked_path(480.0, settings)
                    self.assertGreater(changes, 2)
                    longest = [np.linalg.norm(np.diff(p, axis=0), axis=1).max() for p in (coarse, fine)]
                    self.assertLess(longest[1], longest[0] / 6.0)

    def test_velocity_does_not_jump(self):
        """Second differences go down with the square of the time step; with a jump in velocity only with the step."""
        settings = FootLockSettings(lock_distance=1.0, blend_time=0.3)
        _, coarse, _ = self.locked_path(120.0, settings)
        _, fine, _ = self.locked_path(1920.0, settings)
        most = [np.linalg.norm(np.diff(p, n=2, axis=0), axis=1).max() for p in (coarse, fine)]
        self.assertLess(most[1], most[0] / 100.0)

    def test_no_faster_than_source_and_decay(self):
        """What decays moves at no more than 1.5 times the offset over the blend time plus its own velocity at the
        start, and a lock that starts while another decays adds the two."""
        settings = FootLockSettings(blend_time=0.3)
        toes, positions, _ = self.locked_path(60.0, settings)
        fastest = np.linalg.norm(np.diff(toes, axis=0), axis=1).max() * 60.0
        offset = np.linalg.norm(positions - toes, axis=1).max() + fastest / 60.0
        speed = np.linalg.norm(np.diff(positions, axis=0), axis=1).max() * 60.0
        self.assertLess(speed, 2.0 * fastest + 1.5 * offset / settings.blend_time)

    def test_first_frame_is_the_source(self):
        toes, positions, _ = self.locked_path(60.0, FootLockSettings())
        np.testing.assert_array_equal(positions[0], toes[0])

    def test_no_contact_is_the_source(self):
        toes = path(np.arange(100) / 60.0)[:, None]
        positions, locked = foot_lock.lock(toes, np.zeros((100, 1), bool), 0.0, 1 / 60)
        np.testing.assert_array_equal(positions, toes)
        self.assertFalse(locked.any())

    def test_comes_to_stand_on_the_ground(self):
        """After the blend time a locked toe does not move at all, at the height of the ground."""
        time = np.arange(120) / 60.0
        toes = np.stack([0.02 * time, 0.01 * time, 0.05 + 0.0 * time], axis=1)[:, None]
        settings = FootLockSettings(blend_time=0.5)
        positions, locked = foot_lock.lock(toes, np.ones((120, 1), bool), 0.03, 1 / 60, settings)
        self.assertTrue(locked.all())
        still = positions[32:, 0]
        np.testing.assert_array_equal(still, np.tile(still[:1], (len(still), 1)))
        np.testing.assert_array_equal(still[0], [toes[0, 0, 0], toes[0, 0, 1], 0.03])

    def test_lets_go_and_comes_back_to_the_source(self):
        time = np.arange(240) / 60.0
        toes = np.stack([0.2 * time, 0.0 * time, 0.03 + 0.0 * time], axis=1)[:, None]
        settings = FootLockSettings(unlock_distance=0.1, blend_time=0.25)
        contact = (np.arange(240) < 20)[:, None]
        positions, locked = foot_lock.lock(toes, contact, 0.03, 1 / 60, settings)
        np.testing.assert_array_equal(locked[:, 0], np.arange(240) < 20)
        np.testing.assert_allclose(positions[40:], toes[40:], rtol=0, atol=1e-12)

    def test_unlock_distance(self):
        time = np.arange(120) / 60.0
        toes = np.stack([0.2 * time, 0.0 * time, 0.03 + 0.0 * time], axis=1)[:, None]
        settings = FootLockSettings(lock_distance=0.0101, unlock_distance=0.1, blend_time=1e-3)
        positions, locked = foot_lock.lock(toes, np.ones((120, 1), bool), 0.03, 1 / 60, settings)
        distance = np.linalg.norm(positions - toes, axis=-1)[:, 0]
        # Let go in the frame in which the source has gone too far: 0.1 m at 0.2 m/s is 0.5 s.
        self.assertEqual(int(np.argmin(locked[:, 0])), 31)
        self.assertLess(distance.max(), 0.1 + 0.2 / 60 + 1e-9)

    def test_no_blend_time(self):
        _, positions, _ = self.locked_path(60.0, FootLockSettings(blend_time=0.0))
        self.assertTrue(np.isfinite(positions).all())

    def test_no_time_step(self):
        """The same frame again: nothing may become infinite."""
        state = foot_lock.start(np.array([[0.0, 0.0, 0.05]]))
        for _ in range(3):
            state = foot_lock.update(state, np.array([[0.0, 0.0, 0.05]]), np.array([True]), 0.0, 0.0)
            self.assertTrue(np.isfinite(state.position).all())


class Shapes(unittest.TestCase):
    def test_two_legs_as_each_alone(self):
        time = np.arange(240) / 60.0
        toes = np.stack([path(time), path(time + 0.37) + np.array([0.0, 0.2, 0.0])], axis=1)
        contact = np.stack([low(time), low(time + 0.37)], axis=1)
        ground = np.array([0.02, 0.025])
        both, both_locked = foot_lock.lock(toes, contact, ground, 1 / 60)
        for leg in range(2):
            alone, locked = foot_lock.lock(toes[:, leg : leg + 1], contact[:, leg : leg + 1], ground[leg], 1 / 60)
            np.testing.assert_array_equal(both[:, leg], alone[:, 0])
            np.testing.assert_array_equal(both_locked[:, leg], locked[:, 0])

    def test_short_and_empty(self):
        for frames, legs in ((0, 2), (1, 2), (2, 1), (5, 0)):
            positions, locked = foot_lock.lock(np.zeros((frames, legs, 3)), np.ones((frames, legs), bool), 0.0, 1 / 60)
            self.assertEqual(positions.shape, (frames, legs, 3))
            self.assertEqual(locked.shape, (frames, legs))

    def test_wrong_shapes(self):
        for toes, contacts in (((5, 2), (5, 2)), ((5, 2, 2), (5, 2)), ((5, 2, 3), (4, 2)), ((5, 2, 3), (5,))):
            with self.assertRaisesRegex(ValueError, "toes"):
                foot_lock.lock(np.zeros(toes), np.zeros(contacts, bool), 0.0, 1 / 60)

    def test_arguments_untouched(self):
        time = np.arange(60) / 60.0
        toes, contact, ground = path(time)[:, None], low(time)[:, None], np.array([0.02])
        for array in (toes, contact, ground):
            array.setflags(write=False)
        foot_lock.lock(toes, contact, ground, 1 / 60)
        state = foot_lock.start(toes[0])
        for field in fields(state):
            value = getattr(state, field.name)
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
        foot_lock.update(state, toes[1], np.array([True]), ground, 1 / 60)


class Inertialization(unittest.TestCase):
    def setUp(self):
        rng = np.random.default_rng(41)
        self.offset = inertialize.Offset(rng.normal(size=(5, 3)), rng.normal(size=(5, 3)), np.zeros(5))

    def test_begins_and_ends(self):
        position, velocity = inertialize.decayed(self.offset, 0.4)
        np.testing.assert_array_equal(position, self.offset.position)
        np.testing.assert_array_equal(velocity, self.offset.velocity)
        for time in (0.4, 0.41, 9.0):
            for left in inertialize.decayed(inertialize.advanced(self.offset, time), 0.4):
                np.testing.assert_allclose(left, 0.0, rtol=0, atol=1e-14)

    def test_velocity_is_that_of_the_position(self):
        step = 1e-6
        for time in (0.05, 0.2, 0.35):
            before, after = (
                inertialize.decayed(inertialize.advanced(self.offset, t), 0.4)[0] for t in (time - step, time + step)
            )
            _, velocity = inertialize.decayed(inertialize.advanced(self.offset, time), 0.4)
            np.testing.assert_allclose((after - before) / (2 * step), velocity, rtol=0, atol=1e-8)

    def test_a_transition_in_the_midst_of_another_is_smooth(self):
        """The article's listing drops what is still decaying."""
        rng = np.random.default_rng(42)
        now = inertialize.advanced(self.offset, 0.13)
        left, left_velocity = inertialize.decayed(now, 0.4)
        source, destination = tuple(rng.normal(size=(2, 5, 3))), tuple(rng.normal(size=(2, 5, 3)))
        where = np.array([True, False, True, True, False])
        new, new_velocity = inertialize.decayed(inertialize.transition(now, where, source, destination, 0.4), 0.4)
        np.testing.assert_allclose((destination[0] + new)[where], (source[0] + left)[where], rtol=0, atol=1e-14)
        np.testing.assert_allclose(
            (destination[1] + new_velocity)[where], (source[1] + left_velocity)[where], rtol=0, atol=1e-14
        )
        np.testing.assert_array_equal(new[~where], left[~where])
        kept = inertialize.transition(now, where, source, destination, 0.4)
        np.testing.assert_array_equal(kept.time, np.where(where, 0.0, 0.13))

    def test_frozen(self):
        changed = replace(self.offset, time=np.ones(5))
        self.assertFalse(self.offset.time.any())
        self.assertTrue(changed.time.all())
