"""The measuring code against cases that were worked out by hand: the other tests lean on it."""

import contextlib
import io
import json
import tempfile
import unittest
from pathlib import Path

import measure
import numpy as np

DATA = Path(__file__).resolve().parents[1] / "data"

# A leg of two bones and a toe. The second frame has the hip turned by 90° about Z, the knee by -90° about X.
LEG = """HIERARCHY
ROOT Hip
{
  OFFSET 5 5 5
  CHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation
  JOINT Left Knee
  {
    OFFSET 0 -2 0
    CHANNELS 3 Yrotation Xrotation Zrotation
    End Site
    {
      OFFSET 0 -1 0
    }
  }
}
MOTION
Frames: 3
Frame Time: 0.5
0 3 0 0 0 0 0 0 0
10 3 0 90 0 0 0 -90 0
0 3 0 90 0 90 90 0 90
"""


def leg(text=LEG):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "leg.bvh"
        path.write_text(text, encoding="utf-8")
        return measure.load(path)


class ForwardKinematics(unittest.TestCase):
    def test_by_hand(self):
        motion = leg()
        self.assertEqual(motion.names, ("Hip", "Left Knee", "Left Knee end"))
        self.assertEqual(motion.parents, (-1, 0, 1))
        self.assertEqual(motion.frame_time, 0.5)
        wanted = [
            # Standing: the offset of the root gives way to its position channels.
            [(0, 3, 0), (0, 1, 0), (0, 0, 0)],
            # Rz(90) takes (0, -2, 0) to (2, 0, 0); Rx(-90) takes (0, -1, 0) to (0, 0, 1), which Rz leaves alone.
            [(10, 3, 0), (12, 3, 0), (12, 3, 1)],
            # Rz(90) Rx(90): (0, -2, 0) → (0, 0, -2) → (0, 0, -2). The knee's Ry(90) Rz(90): (0, -1, 0) → (1, 0, 0)
            # → (0, 0, -1); then Rx(90) → (0, 1, 0), Rz(90) → (-1, 0, 0).
            [(0, 3, 0), (0, 3, -2), (-1, 3, -2)],
        ]
        np.testing.assert_allclose(motion.positions, wanted, rtol=0.0, atol=1e-14)
        np.testing.assert_array_equal(motion.rotations["Left Knee"][2], [90, 0, 90])
        np.testing.assert_array_equal(motion.translations["Hip"][1], [10, 3, 0])
        self.assertNotIn("Left Knee", motion.translations)

    def test_rotation_about_one_axis(self):
        for axis, (start, stop) in enumerate((((0, 1, 0), (0, 0, 1)), ((0, 0, 1), (1, 0, 0)), ((1, 0, 0), (0, 1, 0)))):
            np.testing.assert_allclose(measure.axis_rotation(axis, np.array([90.0]))[0] @ start, stop, atol=1e-15)

    def test_lengths_and_angles(self):
        motion = leg()
        np.testing.assert_allclose(measure.bone_lengths(motion), np.tile([0.0, 2.0, 1.0], (3, 1)), rtol=0.0, atol=1e-14)
        np.testing.assert_allclose(
            measure.knee_angle(motion, "Hip", "Left Knee", "Left Knee end"), [180, 90, 90], rtol=0.0, atol=1e-12
        )
        np.testing.assert_allclose(measure.lowest(motion.positions), [0.0, 3.0, 3.0], rtol=0.0, atol=1e-14)
        with self.assertRaises(KeyError):
            motion.point("Foot")

    def test_differences(self):
        motion = leg()
        self.assertEqual(set(measure.joint_difference(motion, motion).values()), {0.0})
        other = leg(LEG.replace("10 3 0 90 0 0 0 -90 0", "10 3 0.25 90 0 0 0 -60 0"))
        moved = measure.joint_difference(motion, other)
        self.assertAlmostEqual(moved["Hip"], 0.25)
        # The chord of 30° on a bone of length 1, along the Y and Z of the hip, and 0.25 along Z.
        chord = np.array([np.sin(np.pi / 3) - 1.0 + 0.25, np.cos(np.pi / 3)])
        self.assertAlmostEqual(moved["Left Knee end"], float(np.hypot(*chord)))
        turned = measure.turn_difference(motion, other)
        self.assertAlmostEqual(turned["Hip"], 0.0)
        self.assertAlmostEqual(turned["Left Knee"], 30.0)
        with self.assertRaises(ValueError):
            measure.joint_difference(motion, leg(LEG.replace("Hip", "Pelvis")))

    def test_samples_keep_their_bones(self):
        for path in sorted(DATA.glob("*.bvh")):
            motion = measure.load(path)
            lengths = measure.bone_lengths(motion)
            rest = np.linalg.norm(motion.offsets, axis=1)
            moving = np.array(motion.parents) >= 0
            np.testing.assert_allclose(lengths[:, moving] - rest[moving], 0.0, rtol=0.0, atol=1e-12)


class Sliding(unittest.TestCase):
    POINT = np.array([(0, 0, 0), (3, 4, 0), (3, 4, 0), (3, 16, 5), (0, 0, 0), (0, 0, 2)], dtype=float)

    def test_steps(self):
        moved = measure.slide(self.POINT, np.array([1, 1, 1, 0, 1, 1], dtype=bool))
        np.testing.assert_array_equal(moved.steps, [0, 1, 4])
        np.testing.assert_allclose(moved.full, [5, 0, 2])
        np.testing.assert_allclose(moved.horizontal, [3, 0, 2])
        self.assertAlmostEqual(moved.mean, 7 / 3)
        self.assertEqual((moved.max, moved.horizontal_max), (5.0, 3.0))
        self.assertAlmostEqual(moved.horizontal_mean, 5 / 3)
        moved = measure.slide(self.POINT, np.ones(6, bool), up="Z")
        np.testing.assert_allclose(moved.horizontal[2:4], [12, np.hypot(3, 16)])

    def test_without_steps(self):
        moved = measure.slide(self.POINT, np.array([1, 0, 1, 0, 0, 1], dtype=bool))
        self.assertEqual((moved.mean, moved.max, moved.horizontal_mean, moved.horizontal_max), (0.0,) * 4)

    def test_runs(self):
        self.assertEqual(measure.runs(np.array([1, 1, 0, 0, 1, 0, 1])), [(0, 2), (4, 5), (6, 7)])
        self.assertEqual(measure.runs(np.zeros(3)), [])
        self.assertEqual(measure.runs(np.ones(3)), [(0, 3)])
        self.assertEqual(measure.runs(np.array([])), [])

    def test_acceleration(self):
        t = np.arange(6.0)[:, None] * 0.1
        np.testing.assert_allclose(measure.acceleration(t**2 * (3.0, 0.0, 4.0), 0.1), np.full(4, 10.0))


class Contacts(unittest.TestCase):
    def test_stands_and_steps(self):
        """Half a second still, half a second of a step at 2 m/s, half a second still; a jolt changes nothing."""
        for rate in (30.0, 60.0, 120.0):
            t = np.arange(int(1.5 * rate)) / rate
            toe = np.zeros((len(t), 3))
            toe[:, 0] = 2.0 * np.clip(t - 0.5, 0.0, 0.5)
            wanted = (t < 0.5) | (t >= 1.0)
            found = measure.majority_contacts(toe, 1.0 / rate)
            (first, last) = measure.runs(found)
            self.assertEqual((first[0], last[1]), (0, len(t)))
            self.assertLessEqual(np.sum(found != wanted), 2 * np.ceil(rate / 60.0) * 2)
        toe[30, 2] += 0.02
        np.testing.assert_array_equal(measure.majority_contacts(toe, 1.0 / rate), found)

    def test_height(self):
        toe = np.zeros((120, 3))
        toe[40:80, 1] = 0.3
        toe[80:, 1] = 0.05
        found = measure.majority_contacts(toe, 1.0 / 60.0)
        self.assertTrue(found[:35].all() and found[85:].all() and not found[40:80].any())

    def test_walk_alternates(self):
        motion = measure.load(DATA / "cmu_131_01.bvh")
        labels = [measure.majority_contacts(motion.point(name), motion.frame_time) for name in ("LeftToe", "RightToe")]
        for name, contact in zip(("LeftToe", "RightToe"), labels, strict=True):
            self.assertEqual(len(contact), 995)
            self.assertTrue(0.4 < contact.mean() < 0.7)
            # Nobody slides here: less than a millimetre a frame at 120 Hz.
            self.assertLess(measure.slide(motion.point(name), contact).mean, 1e-3)
        # In a walk some foot is down almost always.
        self.assertGreater((labels[0] | labels[1]).mean(), 0.8)

    def test_labels_of_another_rate(self):
        labels = [0, 1, 1, 0, 0]
        found = measure.labels_at_frames(labels, 60.0, 12, 0.008333)
        np.testing.assert_array_equal(found, [0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0])
        np.testing.assert_array_equal(measure.labels_at_frames(labels, 60.0, 5, 1 / 60), np.array(labels, bool))


class Table(unittest.TestCase):
    def test_printed(self):
        with tempfile.TemporaryDirectory() as folder:
            path, labels = Path(folder) / "leg.bvh", Path(folder) / "labels.json"
            path.write_text(LEG, encoding="utf-8")
            contacts = {"Hip": [1, 1, 0], "Left Knee end": [1, 1, 1]}
            labels.write_text(json.dumps({"frame_rate": 2.0, "frame_start": 1, "contacts": contacts}), encoding="utf-8")
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                status = measure.main([str(path), "--contacts", str(labels), "--unit", "0.01"])
        self.assertEqual(status, 0)
        lines = out.getvalue().splitlines()
        self.assertEqual(len(lines), 4)
        # The hip moves by 10 units of a centimetre in its one step in contact: 100 mm; there and back in 0.5 s each.
        self.assertEqual(lines[2].split(), ["Hip", "2", "1", "100.000", "100.000", "100.000", "100.000", "0.800"])


if __name__ == "__main__":
    unittest.main()
