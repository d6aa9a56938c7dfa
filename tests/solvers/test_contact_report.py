"""The report on clips made by hand, whose slides are known, and what it says of them."""

import csv
import io
import json
import unittest
from dataclasses import replace

import numpy as np

from footlock.solvers import contact_report, reasons, report_table
from footlock.solvers.contact_report import FILE, FOUND, HAND, Motion
from footlock.solvers.reasons import Frame

FRAMES = 60


def motion(**changes):
    """Two feet at 30 Hz: the left planted in 10 to 19, where it slides 2 mm a frame along y, and in 30 to 39, where it
    stands but for one step of 5 mm; the right in 20 to 29, where it stands. Elsewhere they travel."""
    toes = np.zeros((FRAMES, 2, 3))
    for leg in range(2):
        toes[:, leg, 0] = 0.1 * np.arange(FRAMES)
    toes[10:20, 0] = [5.0, 0.0, 0.1]
    toes[10:20, 0, 1] += 0.002 * np.arange(10)
    toes[30:40, 0] = [9.0, 1.0, 0.1]
    toes[36:40, 0, 0] += 0.005
    toes[20:30, 1] = [7.0, 2.0, 0.1]
    weights = np.zeros((FRAMES, 2))
    weights[10:20, 0] = weights[30:40, 0] = weights[20:30, 1] = 1.0
    planted = weights > 0.5
    speed, height = np.where(planted, 0.06, 3.0), np.where(planted, 0.01, 0.2)
    speed[12, 0] = 0.18
    given = Motion(toes, weights, 30.0, planted, speed, height, 0.25, 0.1, (FOUND, FOUND))
    return replace(given, **changes)


def corrected(**changes):
    """The same after a correction: all stand, but the last contact of the left, out of reach in its last two frames."""
    given = motion()
    after = given.before.copy()
    after[10:20, 0], after[30:40, 0] = [5.0, 0.009, 0.1], [9.0, 1.0, 0.1]
    after[38, 0, 2], after[39, 0, 2] = 0.104, 0.112
    missed = np.zeros((FRAMES, 2), bool)
    missed[38:40, 0] = True
    return replace(given, after=after, out_of_reach=missed, **changes)


def report(given, legs=("Left", "Right"), frames=None, **names):
    frames = np.arange(1.0, FRAMES + 1.0) if frames is None else frames
    return contact_report.of_motion(names.get("armature", "Rig"), names.get("action", "Walk"), legs, frames, given)


class Rows(unittest.TestCase):
    def test_known_slides(self):
        rows, _ = contact_report.measure(motion())
        self.assertEqual([(row.leg, row.first, row.last) for row in rows], [(0, 10, 19), (0, 30, 39), (1, 20, 29)])
        slid, stepped, stood = rows
        self.assertAlmostEqual(slid.seconds, 1.0 / 3.0)
        for name, wanted in {"mean": 0.002, "largest": 0.002, "drift": 0.018, "away": 0.009}.items():
            self.assertAlmostEqual(getattr(slid.before, name), wanted, places=9, msg=name)
        for name, wanted in {"mean": 0.005 / 9.0, "largest": 0.005, "drift": 0.005, "away": 0.005}.items():
            self.assertAlmostEqual(getattr(stepped.before, name), wanted, places=6, msg=name)
        self.assertEqual(stepped.worst, 36)
        self.assertEqual((stood.before.mean, stood.before.largest, stood.before.drift), (0.0, 0.0, 0.0))
        self.assertAlmostEqual(slid.speed[0], 0.072)
        np.testing.assert_allclose([slid.speed[1], *slid.height], [0.18, 0.01, 0.01])
        self.assertTrue(all(row.after is None and row.residual == 0.0 and row.missed == 0 for row in rows))

    def test_what_is_left_comes_first(self):
        rows, traces = contact_report.measure(corrected())
        self.assertEqual([(row.leg, row.first) for row in rows], [(0, 30), (0, 10), (1, 20)])
        left = rows[0]
        self.assertAlmostEqual(left.residual, 0.012, places=6)
        self.assertEqual((left.missed, left.worst), (2, 39))
        self.assertAlmostEqual(left.after.largest, 0.008)
        self.assertAlmostEqual(left.after.drift, 0.012)
        self.assertLess(rows[1].residual, 1e-9)
        self.assertAlmostEqual(rows[1].before.drift, 0.018)
        np.testing.assert_allclose(traces.missed[36:40, 0], [0.0, 0.0, 0.004, 0.012], atol=1e-6)
        self.assertEqual(np.count_nonzero(traces.missed), 2)

    def test_less_than_is_seen_does_not_decide(self):
        given = corrected()
        after = given.before.copy()
        after[10:20, 0], after[30:40, 0] = [5.0, 0.0, 0.1], [9.0, 1.0, 0.1]
        after[25:30, 1, 1] += 3e-5
        rows, _ = contact_report.measure(replace(given, after=after, out_of_reach=None))
        self.assertEqual([(row.leg, row.first) for row in rows], [(0, 10), (0, 30), (1, 20)])

    def test_the_place_is_where_the_leg_reaches(self):
        """Most frames out of reach do not move the place from which that is told."""
        given = corrected()
        missed, after = np.zeros((FRAMES, 2), bool), given.after.copy()
        missed[32:40, 0], after[32:40, 0] = True, [9.0, 1.0, 0.14]
        rows, _ = contact_report.measure(replace(given, after=after, out_of_reach=missed))
        self.assertAlmostEqual(rows[0].residual, 0.04, places=6)
        self.assertEqual(rows[0].missed, 8)

    def test_traces_are_the_steps_of_planted_feet(self):
        given = corrected()
        _, traces = contact_report.measure(given)
        for points, got in ((given.before, traces.before), (given.after, traces.after)):
            for leg in range(2):
                for frame in range(FRAMES):
                    both = frame and given.weights[frame, leg] > 0.5 and given.weights[frame - 1, leg] > 0.5
                    wanted = np.linalg.norm(points[frame, leg] - points[frame - 1, leg]) if both else 0.0
                    self.assertAlmostEqual(got[frame, leg], wanted)

    def test_another_world_gives_the_same_rows(self):
        rng = np.random.default_rng(4)
        for seed in range(5):
            given = corrected()
            toes = given.before + rng.normal(size=given.before.shape) * 0.003
            given = replace(given, before=toes, after=given.after + rng.normal(size=toes.shape) * 0.001)
            turn, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))
            shift = rng.normal(size=3) * 50.0
            moved = replace(given, before=toes @ turn.T + shift, after=given.after @ turn.T + shift)
            for one, other in zip(contact_report.measure(given)[0], contact_report.measure(moved)[0], strict=True):
                self.assertEqual(
                    (one.leg, one.first, one.last, one.worst), (other.leg, other.first, other.last, other.worst)
                )
                for a, b in ((one.before, other.before), (one.after, other.after)):
                    np.testing.assert_allclose(
                        [a.mean, a.largest, a.drift, a.away], [b.mean, b.largest, b.drift, b.away], atol=1e-6
                    )
                self.assertAlmostEqual(one.residual, other.residual, places=5)

    def test_clips_with_little_in_them(self):
        one_frame = np.zeros((FRAMES, 2))
        one_frame[[5, 59], [0, 1]] = 1.0
        for weights, count in (
            (np.zeros((FRAMES, 2)), 0),
            (one_frame, 2),
            (-np.ones((FRAMES, 2)), 0),
            (np.ones((FRAMES, 2)), 2),
        ):
            rows, traces = contact_report.measure(corrected(weights=weights))
            self.assertEqual(len(rows), count)
            for row in rows:
                numbers = [row.seconds, row.residual, *row.speed, *row.height, *vars(row.before).values()]
                self.assertTrue(np.isfinite(numbers).all())
                self.assertTrue(row.first <= row.worst <= row.last)
            for array in vars(traces).values():
                self.assertTrue(np.isfinite(array).all())

    def test_wrong_shapes_and_numbers(self):
        for changes in (
            {"weights": np.zeros((FRAMES, 3))},
            {"speed": np.full((FRAMES, 2), np.nan)},
            {"after": np.zeros((FRAMES - 1, 2, 3))},
            {"origins": (FOUND,)},
            {"out_of_reach": np.zeros(FRAMES, bool)},
            {"frame_rate": 0.0},
        ):
            with self.subTest(**changes), self.assertRaises(ValueError):
                contact_report.measure(motion(**changes))


class Causes(unittest.TestCase):
    def test_a_contact_that_a_person_left_as_it_was_is_found(self):
        edited = motion().weights.copy()
        edited[30:36, 0], edited[50:55, 0] = 0.0, 1.0
        rows, _ = contact_report.measure(motion(weights=edited, origins=(HAND, FILE)))
        causes = {(row.leg, row.first): row.cause for row in rows}
        self.assertEqual(causes, {(0, 10): FOUND, (0, 36): HAND, (0, 50): HAND, (1, 20): FILE})
        words = {row.cause: reasons.of_contact(row, 0.25, 0.1) for row in rows}
        self.assertEqual(words[HAND], "by hand")
        self.assertEqual(words[FILE], "from a file")
        self.assertEqual(words[FOUND], "slower than 0.25 m/s and lower than 10.0 cm")

    def test_a_contact_that_passes_its_levels(self):
        row = contact_report.measure(motion())[0][0]
        self.assertIn("mostly slower than 0.15 m/s and lower than", reasons.of_contact(row, 0.15, 0.1))
        self.assertIn("slower than 0.20 m/s and mostly lower than 0.5 cm", reasons.of_contact(row, 0.2, 0.005))


class Sentences(unittest.TestCase):
    def said(self, weight, detected, speed=0.04, height=0.012, origin=FOUND, missed=0.0):
        return reasons.of_frame("L", Frame(weight, origin, detected, speed, height, 0.21, 0.034, missed))

    def test_as_it_was_detected(self):
        self.assertEqual(
            self.said(1.0, True), "L planted: 0.04 m/s over the floor (below 0.21), 1.2 cm high (below 3.4)."
        )
        self.assertEqual(self.said(0.0, False, 0.9), "L free: 0.90 m/s over the floor (planted below 0.21).")
        self.assertEqual(self.said(0.0, False, 0.1, 0.2), "L free: 20.0 cm high (planted below 3.4).")
        self.assertIn("0.90 m/s over the floor (planted below 0.21), 20.0 cm high", self.said(0.0, False, 0.9, 0.2))
        self.assertIn("slow and low enough", self.said(0.0, False))
        self.assertIn("0.23 m/s over the floor (above 0.21, within a contact)", self.said(1.0, True, 0.23))
        self.assertIn("1.2 cm under the floor", self.said(1.0, True, height=-0.012))

    def test_set_by_others(self):
        self.assertEqual(
            self.said(1.0, False, 0.9, origin=HAND),
            "L planted: by hand; detection would leave it free, 0.90 m/s over the floor (planted below 0.21).",
        )
        self.assertTrue(self.said(0.0, True, origin=FILE).startswith("L free: from a file; detection would plant it, "))
        self.assertIn(
            "L free: its contact curve is muted; detection would plant it", self.said(0.0, True, origin="muted")
        )
        self.assertIn("it has no contact curve", self.said(0.0, True, origin="absent"))
        self.assertIn("so it was when contacts were detected; now detection would", self.said(1.0, False, 0.9))

    def test_in_part_on_purpose_and_out_of_reach(self):
        self.assertTrue(self.said(0.75, True).startswith("L held in part (75 %): "))
        self.assertTrue(self.said(0.25, True, origin=HAND).startswith("L held in part (25 %): by hand"))
        self.assertTrue(self.said(-1.0, True, origin=HAND).startswith("L sliding on purpose: by hand"))
        self.assertTrue(self.said(1.0, True, missed=0.012).endswith("; out of reach by 12.0 mm."))


class Tables(unittest.TestCase):
    NAMES = {"armature": 'x"<y&,\n', "action": "Göße\t;1"}

    def both(self, given):
        made = report(given, legs=('toe,"L"', "Rechts"), **self.NAMES)
        return (
            made,
            list(csv.DictReader(io.StringIO(report_table.as_csv(made)))),
            json.loads(report_table.as_json(made)),
        )

    def test_files_say_what_the_rows_say(self):
        made, lines, data = self.both(corrected())
        self.assertEqual(len(lines), 3)
        for row, line, record in zip(made.rows, lines, data["contacts"], strict=True):
            self.assertEqual({name: str(value) for name, value in record.items()}, line)
            self.assertEqual(line["armature"], self.NAMES["armature"])
            self.assertEqual(line["leg"], made.legs[row.leg])
            self.assertEqual(int(line["first_frame"]), row.first + 1)
            self.assertEqual(int(line["frames"]), row.last - row.first + 1)
            for name, metres in (
                ("mean_slide_before_mm_per_frame", row.before.mean),
                ("largest_slide_after_mm_per_frame", row.after.largest),
                ("drift_before_mm", row.before.drift),
                ("from_place_after_mm", row.after.away),
                ("residual_mm", row.residual),
                ("mean_height_mm", row.height[0]),
            ):
                self.assertAlmostEqual(float(line[name]), 1000.0 * metres, delta=6e-4)
            self.assertAlmostEqual(float(line["mean_speed_m_per_s"]), row.speed[0], delta=6e-5)
        self.assertIn('3 contacts (toe,"L" 2, Rechts 1)', data["summary"])
        self.assertIn('before and 12.0 mm after; 2 frames out of reach; worst is toe,"L" at 31–40.', data["summary"])

    def test_without_a_correction_there_is_no_after(self):
        _, lines, data = self.both(motion())
        self.assertEqual({line["residual_mm"] for line in lines}, {""})
        self.assertIsNone(data["contacts"][0]["mean_slide_after_mm_per_frame"])
        self.assertNotIn("after", data["summary"])

    def test_nothing_planted(self):
        made, lines, data = self.both(motion(weights=np.zeros((FRAMES, 2))))
        self.assertEqual((lines, data["contacts"]), ([], []))
        self.assertIn("no foot is planted", report_table.as_text(made))

    def test_the_clipboard_is_a_table(self):
        made = report(corrected(), legs=("Left\tLeg", "Right"))
        summary, blank, head, *lines = report_table.as_text(made).splitlines()
        self.assertEqual((summary, blank), (report_table.summary(made), ""))
        self.assertEqual({len(line.split("\t")) for line in (head, *lines)}, {13})
        self.assertEqual(len(lines), 3)
        self.assertTrue(lines[0].startswith("Left Leg\t31–40\t0.33\t0.56\t"))

    def test_frames_between_frames(self):
        made = report(motion(), frames=1.0 + 0.2 * np.arange(FRAMES))
        record = report_table.records(made)[0]
        self.assertEqual((record["first_frame"], record["last_frame"]), (3, 4.8))
        self.assertIn("\t3–4.8\t", report_table.as_text(made))


if __name__ == "__main__":
    unittest.main()
