# SPDX-License-Identifier: GPL-3.0-or-later
"""Draw how it works, out of a recorded walk whose root travels a quarter too far: contacts, the whole clip, a leg.

    python3 tools/drawings.py docs

Writes how_it_works.svg, and settings.svg, what some settings do to the same walk. Needs numpy alone.
"""

import importlib.util
import sys
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))
if "footlock" not in sys.modules:
    spec = importlib.util.spec_from_file_location(
        "footlock", ROOT / "__init__.py", submodule_search_locations=[str(ROOT)]
    )
    sys.modules["footlock"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules["footlock"])

import measure  # noqa: E402
import motions  # noqa: E402
import numpy as np  # noqa: E402

from footlock.solvers import auto_contacts, foot_skate  # noqa: E402
from footlock.solvers.leg_chain import LegPose  # noqa: E402

FACTOR = 1.25
# Seconds of the clip that are drawn, and the leg.
SPAN, LEG = (3.6, 5.65), 0
WIDTH, TOP, HEIGHT, GAP = 1200, 74, 250, 30
_INK, _GREY, _BLUE, _RED, _GREEN = "#222222", "#9a9a9a", "#2458a6", "#d2452c", "#4da362"


def clip():
    """Pelvis (frames, 3), LegPose (frames, 2) and Motion of the slid walk."""
    motion = motions.root_scaled(motions.load("cmu_131_01"), FACTOR)
    recorded = measure.load(motions.DATA / "cmu_131_01.bvh")
    away = (motion.root - motions.load("cmu_131_01").root)[:, None]

    def joint(name):
        points = [recorded.point(f"{side}{name}") for side in ("Left", "Right")]
        return np.stack([np.stack([x, -z, y], axis=-1) for x, y, z in (p.T for p in points)], axis=1) + away

    return motion, LegPose(joint("Hip"), joint("Knee"), joint("Ankle"), joint("Toe"), joint("Toe end"))


def main(folder):
    motion, pose = clip()
    found = auto_contacts.detect(motion.toes, motion.hips, motion.root, motion.leg_lengths, motion.rate)
    normal = np.cross(pose.knee - pose.hip, pose.heel - pose.knee)
    side = normal / np.linalg.norm(normal, axis=-1, keepdims=True)

    def solved(contacts=found.labels, **terms):
        usual = foot_skate.Settings()
        settings = replace(usual, terms=replace(usual.terms, **terms))
        return foot_skate.remove_sliding(motion.root, pose, side, contacts, motion.rate, settings)

    usual = solved()
    (Path(folder) / "how_it_works.svg").write_text(_how(motion, pose, found, usual), encoding="utf-8")
    (Path(folder) / "settings.svg").write_text(_settings(motion, found.labels, usual, solved), encoding="utf-8")


class Drawing:
    """Panels side by side over the time of SPAN, or another."""

    def __init__(self, motion, labels, panels, span=SPAN):
        self.time, self.span = np.arange(len(motion.root)) / motion.rate, span
        self.shown = (self.time >= span[0]) & (self.time <= span[1])
        self.runs = [(a, b) for a, b in measure.runs(labels[:, LEG] & self.shown) if b - a > 5]
        way = (motion.root[self.shown][-1] - motion.root[self.shown][0]) * (1, 1, 0)
        self.way = way / np.linalg.norm(way)
        self.wide = (WIDTH - (panels + 1) * GAP) / panels
        self.parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {TOP + HEIGHT + 50}" font-size="14"'
            f' font-family="Helvetica, Arial, DejaVu Sans, sans-serif" fill="{_INK}">',
            f'<rect width="{WIDTH}" height="{TOP + HEIGHT + 50}" fill="#ffffff"/>',
        ]

    def left(self, number):
        return GAP + number * (self.wide + GAP)

    def plot(self, number, lines, words):
        """A panel with lines, (values (frames,), colour), over the contacts; ``words``: its title and two lines."""
        left, seen = self.left(number), [values[self.shown] for values, _ in lines]
        low, high = min(map(np.min, seen)), max(map(np.max, seen))
        x = left + self.wide * (self.time - self.span[0]) / (self.span[1] - self.span[0])
        for start, stop in self.runs:
            self.parts.append(_bar(x[start], TOP, x[stop - 1] - x[start], HEIGHT, _GREEN, 0.16))
        for values, (_, colour) in zip(seen, lines, strict=True):
            self.parts.append(_line(x[self.shown], TOP + HEIGHT * (1.0 - (values - low) / (high - low)), colour))
        _words(self.parts, left, *words)

    def text(self):
        return "\n".join([*self.parts, "</svg>\n"])


def _how(motion, pose, found, fixed):
    drawing = Drawing(motion, found.labels, 3)
    speed = np.linalg.norm(np.gradient(motion.toes[:, LEG, :2], axis=0), axis=-1) * motion.rate
    over = found.speed[:, LEG]
    drawing.plot(
        0, ((np.minimum(speed, 1.5), _GREY), (np.minimum(over, 1.5), _BLUE)),
        ("1  Find contacts", "speed of a toe: over the ground (grey) it never stops,",
         "against the floor that the feet show (blue) it does: planted"),
    )  # fmt: skip
    first = np.flatnonzero(drawing.shown)[0]
    tracks = [
        points @ drawing.way for points in (motion.toes[:, LEG], fixed.legs.toe[:, LEG], motion.root, fixed.pelvis)
    ]
    tracks = [track - tracks[1][first] for track in tracks]
    drawing.plot(
        1, list(zip(tracks, (_GREY, _BLUE, "#cccccc", _RED), strict=True)),
        ("2  Solve the whole clip", "how far toe (blue) and pelvis (red) get; grey is the source:",
         "planted toes are level, all else keeps its velocity"),
    )  # fmt: skip
    start, stop = max(drawing.runs, key=lambda run: run[1] - run[0])
    moments = np.linspace(start, stop - 1, 3).astype(int)
    _legs(drawing.parts, drawing.left(2), drawing.wide, drawing.way, motion.root, pose, fixed, moments)
    return drawing.text()


def _settings(motion, labels, usual, solved):
    drawing = Drawing(motion, labels, 4)
    held = labels.astype(float)
    parted = [solved(np.where(labels & drawing.shown[:, None], share, held)) for share in (0.5, -1.0)]
    toes = [one.legs.toe[:, LEG] @ drawing.way for one in (*parted[::-1], usual)]
    first = np.flatnonzero(drawing.shown)[0]
    toes = [track - track[first] for track in toes]
    drawing.plot(
        0, list(zip(toes, (_RED, _GREY, _BLUE), strict=True)),
        ("Contact curve", "how far a toe gets: held at 1 (blue), in part",
         "at 0.5 (grey), sliding on purpose at -1 (red)"),
    )  # fmt: skip
    kept = solved(keep_path=1.0)
    aside = [np.linalg.norm((one.pelvis - motion.root)[:, :2], axis=1) for one in (usual, kept)]
    drawing.plot(
        1, list(zip(aside, (_BLUE, _RED), strict=True)),
        ("Keep Path", "how far the pelvis is from its path in the", "source: 0 (blue), 1 (red)"),
    )  # fmt: skip
    heights = [one.pelvis[:, 2] for one in (solved(lower_hips=0.0), solved(lower_hips=1.0))]
    drawing.plot(
        2, [(motion.root[:, 2], _GREY), (heights[0], _BLUE), (heights[1], _RED)],
        ("Lower Hips", "height of the pelvis: in the source (grey),", "0 (blue), 1 (red), where legs are too short"),
    )  # fmt: skip
    near = Drawing(motion, labels, 4, (4.45, 5.05))
    near.parts = drawing.parts
    speeds = [
        np.linalg.norm(np.gradient(one.legs.toe[:, LEG], axis=0), axis=-1) * motion.rate
        for one in (solved(smoothing=0.0), usual, solved(smoothing=0.1))
    ]
    near.plot(
        3, [(np.minimum(one, 2.0), colour) for one, colour in zip(speeds, (_RED, _BLUE, _GREY), strict=True)],
        ("Smoothing", "a toe's speed as it lands: 0 (red, a stop at", "once), 0.033 s (blue), 0.1 s (grey)"),
    )  # fmt: skip
    return drawing.text()


def _legs(parts, left, wide, way, root, pose, fixed, frames):
    """The leg at some moments of a contact, before and after, from the side."""
    solved = fixed.legs
    joints = ("knee", "heel", "toe", "toe_end")
    hips = pose.hip[:, LEG] + fixed.pelvis - root
    before = [np.stack([getattr(pose, name)[at, LEG] for name in ("hip", *joints)]) for at in frames]
    after = [np.stack([hips[at], *(getattr(solved, name)[at, LEG] for name in joints)]) for at in frames]
    scale = HEIGHT / 1.05
    for points, colour, place in ((before, _GREY, 0.27), (after, _BLUE, 0.75)):
        middle = np.mean([one[3] @ way for one in points])
        for number, one in enumerate(points):
            x, y = left + place * wide + scale * (one @ way - middle), TOP + HEIGHT - scale * one[:, 2]
            parts.append(_line(x, y, colour, 4.0, 0.4 + 0.3 * number))
            parts.append(f'<circle cx="{x[3]:.1f}" cy="{y[3]:.1f}" r="4.5" fill="{_RED}"/>')
    parts.append(_line(np.array([left, left + wide]), np.array([TOP + HEIGHT] * 2, float), _INK, 1.0))
    _words(
        parts, left, "3  Legs reach for the toes", "three moments of a contact, before and after: two-bone IK,",
        "the smallest change to the pose that has the toe there",
    )  # fmt: skip


def _words(parts, left, title, first, second):
    parts.append(f'<text x="{left:.0f}" y="30" font-size="19" font-weight="bold">{title}</text>')
    parts.append(f'<text x="{left:.0f}" y="{TOP + HEIGHT + 22}" font-size="12.5">{first}</text>')
    parts.append(f'<text x="{left:.0f}" y="{TOP + HEIGHT + 39}" font-size="12.5">{second}</text>')


def _line(x, y, colour, width=2.0, opacity=1.0):
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True))
    return (
        f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="{width}"'
        f' stroke-opacity="{opacity:.2f}" stroke-linejoin="round" stroke-linecap="round"/>'
    )


def _bar(x, y, width, height, colour, opacity):
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{colour}"'
        f' fill-opacity="{opacity}"/>'
    )


if __name__ == "__main__":
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_dir():
        sys.exit(__doc__.strip())
    main(sys.argv[1])
