"""The runtime lock in plain numbers: the reference values, and how fast the toe may be."""

import json
import unittest
from pathlib import Path

import numpy as np

from footlock.solvers import contacts, foot_lock, live_contacts, one_lock
from footlock.solvers.foot_lock import FootLockSettings

DATA = Path(__file__).resolve().parent.parent / "data" / "vectors"


def played(toes, planted, ground, delta_time, settings):
    """States of a toe (frames, 3) in every frame."""
    state = one_lock.start(tuple(toes[0]))
    states = []
    for toe, contact in zip(toes.tolist(), planted, strict=True):
        state = one_lock.update(state, tuple(toe), bool(contact), ground, delta_time, settings)
        states.append(state)
    return states


class Reference(unittest.TestCase):
    def test_all_cases(self):
        cases = json.loads((DATA / "foot_lock.json").read_text())["cases"]
        self.assertEqual(len(cases), 6)
        for number, case in enumerate(cases):
            with self.subTest(case=number):
                settings = FootLockSettings(case["lock_distance"], case["unlock_distance"], case["blend_time"])
                states = played(
                    np.array(case["input"]), case["contact"], case["ground_height"], case["delta_time"], settings
                )
                np.testing.assert_allclose([one.position for one in states], case["position"], rtol=0, atol=1e-6)
                self.assertEqual([one.locked for one in states], case["locked"])

    def test_same_as_on_arrays(self):
        """A toe that is locked, dragged beyond the distance, let go, and locked again within the blend time."""
        time = np.arange(600) / 60.0
        toes = np.stack([np.sin(1.7 * time), 0.3 * np.cos(4.0 * time), 0.05 + 0.04 * np.sin(9.0 * time)], axis=1)
        planted = np.sin(11.0 * time) + np.sin(3.1 * time) > 0.0
        for settings in (FootLockSettings(0.3, 0.25, 0.5), FootLockSettings(0.05, 0.1, 0.2), FootLockSettings(1, 1, 0)):
            with self.subTest(settings=settings):
                wanted, locked = foot_lock.lock(toes[:, None], planted[:, None], 0.02, 1 / 60, settings)
                states = played(toes, planted, 0.02, 1 / 60, settings)
                np.testing.assert_allclose([one.position for one in states], wanted[:, 0], rtol=0, atol=1e-12)
                np.testing.assert_array_equal([one.locked for one in states], locked[:, 0])
                self.assertGreater(np.count_nonzero(np.diff(locked[:, 0])), 4)


class Speed(unittest.TestCase):
    def test_no_step_above_the_inputs_own_and_the_blend(self):
        """From frame to frame the toe's velocity changes by no more than the input's does and what the cubic of the
        blend, with the offset that it has to fade, does at its steepest: 6 offset / blend² + 4 velocity / blend."""
        data = np.load(DATA / "slide_removal_cmu_131_01_x125.npz")
        rate = float(data["frame_rate"])
        for leg in range(2):
            for blend in (0.1, 0.25, 0.5):
                with self.subTest(leg=leg, blend=blend):
                    toes, planted = data["source_toes"][:, leg], data["contacts"][:, leg]
                    settings = FootLockSettings(lock_distance=0.05, blend_time=blend)
                    states = played(toes, planted, 0.03, 1.0 / rate, settings)
                    position = np.array([one.position for one in states])
                    own, made = (np.linalg.norm(np.diff(path, n=2, axis=0), axis=1) * rate for path in (toes, position))
                    left, velocity = (
                        np.linalg.norm([getattr(one, name) for one in states], axis=1)
                        for name in ("left", "left_velocity")
                    )
                    steepest = (6.0 * left / blend**2 + 4.0 * velocity / blend) / rate
                    most = own + np.maximum(np.maximum(steepest[2:], steepest[1:-1]), steepest[:-2])
                    self.assertGreater(np.count_nonzero(np.diff([one.locked for one in states])), 4)
                    self.assertLess((made - most).max(), 1e-9)
                    self.assertGreater((made - own).max(), 0.0, "the lock does nothing")


class Contacts(unittest.TestCase):
    def clip(self, percent):
        data = np.load(DATA / f"slide_removal_cmu_131_01_x{percent}.npz")
        pelvis = data["source_pelvis"]
        travel = (pelvis - pelvis[0]) * [1.0, 1.0, 0.0] * (0.01 * percent - 1.0) / (0.01 * percent)
        return data["source_toes"] - travel[:, None], data["contacts"], float(data["frame_rate"])

    def test_near_the_labels_of_the_whole_clip(self):
        """They come later by what a vote looks ahead, and are else the same."""
        toes, wanted, rate = self.clip(125)
        labels = live_contacts.detect(toes, rate, live_contacts.Thresholds())
        for leg in range(2):
            found, expected = contacts.runs(labels[:, leg]), contacts.runs(wanted[:, leg])
            self.assertLessEqual(abs(len(found) - len(expected)), 1)
            late = found[:, 0] - expected[np.searchsorted(expected[:, 0], found[:, 0], side="right") - 1, 0]
            self.assertTrue((late >= 0).all() and (late <= 5).all(), late)
        both = 2.0 * np.count_nonzero(labels & wanted) / (labels.sum() + wanted.sum())
        self.assertGreater(both, 0.9)

    def test_causal(self):
        """What comes changes nothing of what was."""
        toes, _, rate = self.clip(125)
        whole = live_contacts.detect(toes, rate, live_contacts.Thresholds())
        part = live_contacts.detect(toes[:200], rate, live_contacts.Thresholds())
        np.testing.assert_array_equal(part, whole[:200])

    def test_no_flutter_on_noise(self):
        """A standing toe that trembles by a millimetre, and one whose speed hovers at the threshold."""
        rng = np.random.default_rng(2)
        toes = np.zeros((600, 2, 3))
        toes[:, 0] = 1e-3 * rng.normal(size=(600, 3))
        toes[:, 1, 0] = np.cumsum(0.25 / 60.0 * (1.0 + 0.2 * rng.normal(size=600)))
        labels = live_contacts.detect(toes, 60.0, live_contacts.Thresholds())
        self.assertTrue(labels[6:, 0].all())
        plain = np.linalg.norm(np.diff(toes[:, 1], axis=0), axis=1) * 60.0 < 0.25
        changes = np.count_nonzero(np.diff(plain))
        self.assertGreater(changes, 200)
        self.assertLess(np.count_nonzero(np.diff(labels[:, 1])), changes / 10)

    def test_height_and_floor(self):
        toes = np.zeros((60, 1, 3)) + np.array([0.0, 0.0, 0.15])
        for floor, planted in ((0.0, False), (0.1, True)):
            found = live_contacts.detect(toes, 30.0, live_contacts.Thresholds(floor=floor))
            self.assertEqual(found[2:].all(), planted)
            self.assertEqual(found.any(), planted)

    def test_same_time_at_every_rate(self):
        """A toe that stops is planted half a vote later, at 24 frames a second as at 240."""
        for rate in (24.0, 30.0, 60.0, 120.0, 240.0):
            with self.subTest(rate=rate):
                time = np.arange(round(2.0 * rate)) / rate
                toes = np.stack([np.minimum(time, 1.0), 0.0 * time, 0.0 * time], axis=1)[:, None]
                first = time[np.flatnonzero(live_contacts.detect(toes, rate, live_contacts.Thresholds())[:, 0])[0]]
                self.assertTrue(1.0 < first < 1.1 + 1.5 / rate, first)

    def test_wrong_shape(self):
        with self.assertRaises(ValueError):
            live_contacts.detect(np.zeros((3, 3)), 60.0, live_contacts.Thresholds())
