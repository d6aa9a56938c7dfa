"""The picture of a report: valid XML, curves within their axes, peaks that survive, and nothing that is no number."""

import re
import time
import unittest
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
from solvers.test_contact_report import FRAMES, corrected, motion, report

from footlock.solvers import plot_svg
from footlock.solvers.contact_report import FOUND, Motion

SVG = "{http://www.w3.org/2000/svg}"
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def drawn(made):
    """The root of the picture."""
    return ElementTree.fromstring(plot_svg.draw(made))


def foot(root, leg):
    return next(one for one in root.iter(f"{SVG}g") if one.get("id") == f"leg{leg}")


def curve(group, kind):
    """Points (n, 2) of a foot's curve of a class."""
    found = [one for one in group.iter(f"{SVG}path") if one.get("class") == kind]
    assert len(found) == 1, kind
    return np.array(
        [[float(number) for number in NUMBER.findall(part)] for part in found[0].get("d")[1:].rstrip("z").split("L")]
    )


def boxes(group):
    """(x, y, right, bottom) of the axes of speed, height and slide."""
    found = [one for one in group.iter(f"{SVG}rect") if one.get("fill") == "none"]
    rows = [[float(one.get(name)) for name in ("x", "y", "width", "height")] for one in found]
    return [(x, y, x + width, y + height) for x, y, width, height in rows]


def noisy(frames, legs=2, seed=3):
    """A long clip of feet that tremble, half of it planted."""
    rng = np.random.default_rng(seed)
    toes = np.cumsum(rng.normal(size=(frames, legs, 3)) * 0.003, axis=0)
    weights = (np.arange(frames)[:, None] // 25 + np.arange(legs)) % 2 * 1.0
    speed, height = rng.exponential(1.0, (frames, legs)), rng.normal(0.05, 0.05, (frames, legs))
    return Motion(
        toes,
        weights,
        60.0,
        weights > 0.5,
        speed,
        height,
        0.25,
        0.1,
        (FOUND,) * legs,
        toes * 0.5,
        np.zeros((frames, legs)),
    )


class Picture(unittest.TestCase):
    def test_curves_lie_within_their_axes(self):
        for given in (motion(), corrected(), noisy(3), noisy(5000), corrected(weights=-np.ones((FRAMES, 2)))):
            made = report(given, frames=np.arange(len(given.before)) + 1.0)
            root = drawn(made)
            for leg in range(2):
                group = foot(root, leg)
                axes = boxes(group)
                kinds = {"speed": axes[0], "height": axes[1], "before": axes[2]}
                if made.corrected:
                    kinds["after"] = axes[2]
                for kind, (left, top, right, bottom) in kinds.items():
                    x, y = curve(group, kind).T
                    self.assertGreaterEqual(x.min(), left)
                    self.assertLessEqual(x.max(), right)
                    self.assertGreaterEqual(y.min(), top - 0.06)
                    self.assertLessEqual(y.max(), bottom + 0.06)
                    self.assertAlmostEqual(x[0], left)
                    self.assertAlmostEqual(x.max(), right)
                    self.assertTrue((np.diff(x) >= 0.0).all())

    def test_values_are_where_the_axes_say(self):
        """A slide of 5 mm is at the top of an axis of 5 mm, at its frame; the threshold crosses at its level."""
        root = drawn(report(motion()))
        group = foot(root, 0)
        left, top, right, bottom = boxes(group)[2]
        x, y = curve(group, "before").T
        self.assertAlmostEqual(y.min(), top, places=1)
        self.assertAlmostEqual(x[y.argmin()], left + (right - left) * 36 / (FRAMES - 1), delta=0.06)
        at_two = [one for one in zip(x, y, strict=True) if abs(one[1] - (bottom - 0.4 * (bottom - top))) < 0.1]
        self.assertEqual(len(at_two), 9)
        left, top, right, bottom = boxes(group)[0]
        dashed = [one.get("d") for one in group.iter(f"{SVG}path") if one.get("stroke-dasharray")]
        level = float(NUMBER.findall(dashed[0])[1])
        self.assertAlmostEqual(level, bottom - (bottom - top) * np.sqrt(0.25 / 3.0), delta=0.1)

    def test_a_single_peak_of_a_long_clip_survives(self):
        given = noisy(10_000)
        for frame in (0, 1, 4321, 9999):
            speed, height = np.full((10_000, 2), 0.1), np.full((10_000, 2), 0.02)
            height[frame, 0] = 0.8
            group = foot(drawn(report(replace(given, speed=speed, height=height), frames=np.arange(10_000.0))), 0)
            left, top, right, _ = boxes(group)[1]
            x, y = curve(group, "height").T
            self.assertAlmostEqual(y.min(), top, places=1)
            self.assertAlmostEqual(x[y.argmin()], left + (right - left) * frame / 9999, delta=0.06)

    def test_thinned_keeps_least_and_largest_of_each_column(self):
        rng = np.random.default_rng(0)
        for count, columns in ((1, 5), (10, 5), (11, 5), (1000, 7), (10_000, 1092)):
            values = rng.normal(size=count)
            at = plot_svg.thinned(values, columns)
            self.assertTrue((np.diff(at) > 0).all() and at[0] == 0 and at[-1] == count - 1)
            self.assertLessEqual(len(at), max(2 * columns + 2, 0))
            for column in range(columns):
                mine = np.flatnonzero(np.arange(count) * columns // count == column)
                if len(mine):
                    self.assertIn(values[mine].max(), values[at])
                    self.assertIn(values[mine].min(), values[at])

    def test_long_clips_are_small_and_quick(self):
        given = noisy(10_000, legs=4)
        flicker = replace(given, weights=(np.arange(10_000) % 2.0)[:, None] * np.ones((1, 4)))
        for one in (given, flicker):
            made = report(one, legs=list("abcd"), frames=np.arange(10_000.0))
            start = time.process_time()  # the clock also tells what else the machine does
            text = plot_svg.draw(made)
            self.assertLess(time.process_time() - start, 1.0)
            self.assertLess(len(text.encode()), 1_000_000)
            ElementTree.fromstring(text)

    def test_any_name_is_valid(self):
        for name in ('x"<y&', "</text>", "\x00\x08\ud800", "]]>", "脚.L" * 40, ""):
            text = plot_svg.draw(report(corrected(), legs=(name, "Right"), armature=name, action=name))
            root = ElementTree.fromstring(text.encode())
            if name.isprintable() and 0 < len(name) < 40:
                self.assertIn(f"{name}, 2 contacts", [one.text for one in root.iter(f"{SVG}text")])

    def test_nothing_that_is_no_number(self):
        for given in (
            noisy(1),
            noisy(2),
            motion(weights=np.zeros((FRAMES, 2))),
            motion(speed=np.zeros((FRAMES, 2)), height=np.zeros((FRAMES, 2))),
            motion(speed=np.full((FRAMES, 2), 1e6), height=np.full((FRAMES, 2), -30.0)),
            motion(enter=0.0, highest=0.0),
        ):
            text = plot_svg.draw(report(given, frames=np.arange(float(len(given.before)))))
            for word in ("nan", "inf", "None"):
                self.assertNotRegex(text, rf"\b{word}\b")
            for one in ElementTree.fromstring(text).iter(f"{SVG}path"):
                self.assertRegex(one.get("d"), r"^[MLHVhvlz0-9. -]+$")

    def test_labels_and_what_is_out_of_reach_are_shown(self):
        given = corrected()
        weights = given.weights.copy()
        weights[45:50, 0], weights[50:55, 0] = 0.4, -1.0
        root = drawn(report(replace(given, weights=weights)))
        for leg, colours in ((0, True), (1, False)):
            fills = {one.get("fill") for one in foot(root, leg).iter(f"{SVG}path")}
            for colour in (plot_svg._PART, plot_svg._PURPOSE, plot_svg._MISSED):
                self.assertEqual(colour in fills, colours, colour)
        said = [one.text for one in root.iter(f"{SVG}text")]
        self.assertIn("worst: 31–40, 12.0 mm from its place after", said)

    def test_frames_that_are_not_whole(self):
        made = report(corrected(), frames=1.0 + 0.2 * np.arange(FRAMES))
        said = [one.text for one in drawn(made).iter(f"{SVG}text")]
        numbers = said[said.index("Left, 2 contacts") + 1 : said.index("frame")]
        self.assertEqual(numbers, [str(number) for number in range(1, 13)])


if __name__ == "__main__":
    unittest.main()
