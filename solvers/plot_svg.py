"""The report as a picture: for each foot, over the frames, its speed and height with the levels below which it may be
planted, its labels, and how far it slides. An SVG of its own, without any other package.
"""

from dataclasses import dataclass
from xml.sax.saxutils import escape

import numpy as np

from . import contacts, reasons, report_table
from .contact_report import Report

WIDTH, LEFT, RIGHT = 1200.0, 84.0, 24.0
# Heights of what stands above the feet, and of the parts of a foot, and what is between these: pixels.
_HEAD, _NAME, _SPEED, _HEIGHT, _LABELS, _REACH, _SLIDE, _AXIS, _GAP = (
    92.0,
    30.0,
    96.0,
    72.0,
    14.0,
    5.0,
    104.0,
    34.0,
    9.0,
)
_FOOT = _NAME + _SPEED + _HEIGHT + _LABELS + _REACH + _SLIDE + 3.0 * _GAP + _AXIS
# Gaps between spans smaller than this are not seen, pixels.
_SPAN_GAP = 0.5
# Numbers beside an axis are so far from each other, pixels.
_TICK_GAP = 11.0
# Lines along the frames, about so many; names longer than this are cut; contacts that tell of themselves under the
# pointer, the worst.
_TICKS, _LONGEST, _MOST_HINTS = 12, 60, 400
# Of a foot that hardly moves the axes still have this much: m/s, metres, millimetres.
_LEAST_SPEED, _LEAST_HEIGHT, _LEAST_SLIDE = 0.5, 0.1, 1.0
# A cut in the clip is faster than anything else: the axis ends at so many times what all but a hundredth stay under.
_FASTEST = 2.0
_SPEEDS = (0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
# A contact that slides by less than this is not named, metres.
_NAMED = 1e-3
_MM = 1000.0

_INK, _PALE, _EDGE, _GRID = "#222222", "#666666", "#aaaaaa", "#dddddd"
_BLUE, _GREY, _ORANGE, _GREEN = "#2458a6", "#555555", "#f08c2e", "#0b6b3a"
_TINT, _PLANTED, _PART, _PURPOSE, _MISSED = "#e3f3e6", "#4da362", "#a9d8b3", "#8a63c2", "#d62f22"


@dataclass(frozen=True)
class _Axes:
    """A part of the picture: ``top`` and ``size``, pixels; values from ``low`` to ``high`` go up; by their root where
    ``rooted``, so that small ones are seen beside large ones."""

    top: float
    size: float
    low: float
    high: float
    rooted: bool = False

    def y(self, values):
        """Where values are, pixels from above."""
        share = (np.clip(values, self.low, self.high) - self.low) / (self.high - self.low)
        return self.top + self.size * (1.0 - (np.sqrt(share) if self.rooted else share))


def draw(report: Report) -> str:
    """The text of an SVG file of a Report."""
    height = _HEAD + _FOOT * len(report.legs) + 8.0
    slides = [one for one in (report.traces.before, report.traces.after) if one is not None]
    most = max(_LEAST_SLIDE, _MM * max(float(one.max(initial=0.0)) for one in slides))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH:.0f}" height="{height:.0f}"'
        f' viewBox="0 0 {WIDTH:.0f} {height:.0f}" font-family="Helvetica, Arial, DejaVu Sans, sans-serif"'
        f' font-size="11" fill="{_INK}">',
        f"<title>{_text(report_table.summary(report))}</title>",
        f'<rect width="{WIDTH:.0f}" height="{height:.0f}" fill="#ffffff"/>',
        *_head(report),
    ]
    for leg in range(len(report.legs)):
        parts.append(f'<g id="leg{leg}">')
        parts += _foot(report, leg, _HEAD + _FOOT * leg, most)
        parts.append("</g>")
    return "\n".join([*parts, "</svg>"]) + "\n"


def thinned(values, columns):
    """Indices of the values (n,) that show in so many columns of pixels: the least and the largest of each."""
    count = len(values)
    if count <= 2 * columns:
        return np.arange(count)
    column = np.arange(count) * columns // count
    order = np.lexsort((values, column))
    starts = np.searchsorted(column, np.arange(columns))
    ends = np.append(starts[1:], count) - 1
    return np.unique(np.concatenate([[0, count - 1], order[starts], order[ends]]))


def _head(report):
    name = f"{_cut(report.armature)} – {_cut(report.action)}"
    yield f'<text x="{LEFT:.0f}" y="28" font-size="17" font-weight="bold">{_text(name)}</text>'
    said = report_table.summary(report).split(": ", 1)[-1]
    yield f'<text x="{LEFT:.0f}" y="48" fill="{_PALE}">{_text(_cut(said, 3 * _LONGEST))}</text>'
    entries = [(_PLANTED, "planted"), (_PART, "held in part"), (_PURPOSE, "sliding on purpose")]
    entries += [(_MISSED, "out of reach"), (_ORANGE, "slide before" if report.corrected else "slide")]
    entries += [(_GREEN, "slide after")] if report.corrected else []
    x = LEFT
    for colour, text in entries:
        yield f'<rect x="{x:.0f}" y="62" width="14" height="10" fill="{colour}"/>'
        yield f'<text x="{x + 19:.0f}" y="71">{text}</text>'
        x += 36.0 + 6.2 * len(text)
    yield f'<path d="M{x:.0f} 67h22" stroke="{_PALE}" stroke-dasharray="5 3"/>'
    yield f'<text x="{x + 27:.0f}" y="71">may be planted below</text>'


def _foot(report, leg, top, most):
    """The parts of one foot from ``top`` on. most: millimetres of slide that all feet's axes have."""
    traces = report.traces
    speed, height, weights = (one[:, leg] for one in (traces.speed, traces.height, traces.weights))
    rows = [row for row in report.rows if row.leg == leg]
    fastest = min(float(speed.max()), _FASTEST * float(np.percentile(speed, 99.0)))
    fast = _Axes(top + _NAME, _SPEED, 0.0, max(_LEAST_SPEED, 2.0 * report.enter, fastest), rooted=True)
    lowest = min(0.0, float(height.min()))
    high = _Axes(
        fast.top + _SPEED + _GAP, _HEIGHT, lowest, max(_LEAST_HEIGHT, 1.5 * report.highest, float(height.max()))
    )
    labels = high.top + _HEIGHT + _GAP
    slide = _Axes(labels + _LABELS + _REACH + _GAP, _SLIDE, 0.0, most)
    bottom = slide.top + _SLIDE
    planted = weights > contacts.PLANTED_ABOVE
    yield f'<text x="{LEFT:.0f}" y="{top + 20:.1f}" font-size="14" font-weight="bold">{_text(_leg(report, leg))}</text>'
    for axes in (fast, high, slide):
        yield _spans(planted, axes.top, axes.size, _TINT)
    yield from _frame_lines(report.frames, fast.top, bottom)
    for axes, name, ticks in (
        (fast, "m/s", [0.0, *(tick for tick in _SPEEDS if tick <= fast.high)]),
        (high, "cm high", _nice(high.low, high.high, 3, 100.0)),
        (slide, "mm per frame", _nice(0.0, slide.high, 4)),
    ):
        yield from _scale(axes, name, ticks, 100.0 if axes is high else 1.0)
    for axes, level in ((fast, report.enter), (high, report.highest)):
        y = axes.y(level)
        yield f'<path d="M{LEFT:.0f} {y:.1f}H{WIDTH - RIGHT:.0f}" stroke="{_PALE}" stroke-dasharray="5 3"/>'
    yield _line(speed, fast, _BLUE, "speed")
    yield _line(height, high, _GREY, "height")
    for which, colour in (
        (planted & (weights > 0.999), _PLANTED),
        ((weights > 0.0) & (weights <= 0.999), _PART),
        (weights < 0.0, _PURPOSE),
    ):
        yield _spans(which, labels, _LABELS, colour)
    yield f'<text x="{LEFT - 8:.0f}" y="{labels + 11:.1f}" text-anchor="end" fill="{_PALE}">labels</text>'
    yield _spans(traces.missed[:, leg] > 0.0, labels + _LABELS, _REACH, _MISSED)
    yield _line(_MM * traces.before[:, leg], slide, _ORANGE, "before", filled=True)
    if traces.after is not None:
        yield _line(_MM * traces.after[:, leg], slide, _GREEN, "after")
    yield from _worst(report, rows, top, slide)
    yield from _hints(report, rows, fast.top, bottom)


def _leg(report, leg):
    count = sum(row.leg == leg for row in report.rows)
    return f"{_cut(report.legs[leg])}, {count} contact{'' if count == 1 else 's'}"


def _worst(report, rows, top, axes):
    """The name of a foot's worst contact beside the foot's, and a mark over its slide."""
    if not rows:
        return
    row = rows[0]
    left = report.corrected and row.residual >= _NAMED
    size = row.residual if left else row.before.away
    if size < _NAMED:
        return
    x = float(_x(np.array(float(row.worst)), len(report.frames)))
    words = f"{_MM * size:.1f} mm from its place{' after' if left else ' before' if report.corrected else ''}"
    yield (
        f'<text x="{WIDTH - RIGHT:.0f}" y="{top + 20:.1f}" text-anchor="end" fill="{_MISSED}">'
        f"worst: {_span(report, row)}, {words}</text>"
    )
    yield f'<path class="worst" d="M{x:.1f} {axes.top:.1f}l-5 -8h10z" fill="{_MISSED}"/>'


def _hints(report, rows, top, bottom):
    """What each contact says under the pointer, where the picture is shown by a browser."""
    count = len(report.frames)
    for row in rows[:_MOST_HINTS]:
        x, end = _x(np.array([row.first - 0.5, row.last + 0.5]), count)
        said = f"{_span(report, row)}: up to {_MM * row.before.away:.1f} mm from its place"
        if row.after is not None:
            said += f" before, {_MM * row.residual:.1f} after"
        said += f"; {reasons.of_contact(row, report.enter, report.highest)}"
        yield (
            f'<rect x="{x:.1f}" y="{top:.1f}" width="{end - x:.1f}" height="{bottom - top:.1f}" fill-opacity="0">'
            f"<title>{_text(said)}</title></rect>"
        )


def _span(report, row):
    return "–".join(report_table.frame_text(report.frames[i]) for i in (row.first, row.last))


def _frame_lines(frames, top, bottom):
    """Lines along the frames, and their numbers."""
    first, last = float(frames[0]), float(frames[-1])
    for tick in _nice(first, last, _TICKS):
        at = (tick - first) / (last - first) * (len(frames) - 1) if last > first else 0.0
        x = float(_x(np.array(at), len(frames)))
        yield f'<path d="M{x:.1f} {top:.1f}V{bottom:.1f}" stroke="{_GRID}"/>'
        yield f'<text x="{x:.1f}" y="{bottom + 15:.1f}" text-anchor="middle">{tick:g}</text>'
    x = LEFT - 8.0
    yield f'<text x="{x:.0f}" y="{bottom + 15:.1f}" text-anchor="end" fill="{_PALE}">frame</text>'


def _scale(axes, name, ticks, factor):
    """The frame of the axes, the numbers on its left, and what they are."""
    width = WIDTH - LEFT - RIGHT
    below = np.inf
    for tick in ticks:
        y = axes.y(tick)
        if below - y < _TICK_GAP:
            continue
        below = y
        yield f'<path d="M{LEFT:.0f} {y:.1f}h{width:.0f}" stroke="{_GRID}"/>'
        yield f'<text x="{LEFT - 6:.0f}" y="{y + 3.5:.1f}" text-anchor="end">{factor * tick:g}</text>'
    middle = axes.top + 0.5 * axes.size
    yield (
        f'<rect x="{LEFT:.0f}" y="{axes.top:.1f}" width="{width:.0f}" height="{axes.size:.1f}" fill="none"'
        f' stroke="{_EDGE}"/>'
    )
    yield (
        f'<text x="22" y="{middle:.1f}" transform="rotate(-90 22 {middle:.1f})" text-anchor="middle" fill="{_PALE}">'
        f"{name}</text>"
    )


def _line(values, axes, colour, kind, filled=False):
    """A curve, thinned to what shows."""
    at = thinned(values, int(WIDTH - LEFT - RIGHT))
    xs, ys = _x(at.astype(float), len(values)), axes.y(values[at])
    points = "L".join(f"{x:.1f} {y:.1f}" for x, y in zip(xs.tolist(), ys.tolist(), strict=True))
    if not filled:
        return (
            f'<path class="{kind}" d="M{points}" fill="none" stroke="{colour}" stroke-width="1.3"'
            f' stroke-linejoin="round"/>'
        )
    base = axes.top + axes.size
    return (
        f'<path class="{kind}" d="M{xs[0]:.1f} {base:.1f}L{points}L{xs[-1]:.1f} {base:.1f}z" fill="{colour}"'
        f' fill-opacity="0.75" stroke="{colour}" stroke-width="0.8" stroke-linejoin="round"/>'
    )


def _spans(which, top, size, colour):
    """Boxes over the frames ``which`` (n,) bool, half a frame wider at either end, in one path."""
    spans = _x(contacts.runs(which) - 0.5, len(which))
    boxes: list[list[float]] = []
    for start, end in spans.tolist():
        if boxes and start - boxes[-1][1] < _SPAN_GAP:
            boxes[-1][1] = end
        else:
            boxes.append([start, end])
    drawn = "".join(
        f"M{start:.1f} {top:.1f}h{max(end - start, 0.5):.1f}v{size:.1f}h{-max(end - start, 0.5):.1f}z"
        for start, end in boxes
    )
    return f'<path d="{drawn}" fill="{colour}"/>' if drawn else ""


def _x(indices, count):
    """Where frames of a clip of so many are, pixels from the left."""
    return np.clip(LEFT + (WIDTH - LEFT - RIGHT) * indices / max(count - 1, 1), LEFT, WIDTH - RIGHT)


def _nice(low, high, count, factor=1.0):
    """About so many round numbers from low to high, round once they are multiplied by ``factor``."""
    low, high = low * factor, high * factor
    if not high > low:
        return [low / factor]
    step = (high - low) / count
    size = 10.0 ** np.floor(np.log10(step))
    step = size * min((1.0, 2.0, 5.0, 10.0), key=lambda one: abs(np.log(one * size / step)))
    ticks = np.arange(np.ceil(low / step - 1e-9), np.floor(high / step + 1e-9) + 1.0) * step
    return [float(f"{tick:.6g}") / factor + 0.0 for tick in ticks]


def _cut(text, longest=_LONGEST):
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def _text(text):
    """A text for XML, whatever it holds."""
    known = "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text)
    return escape(known.encode("utf-8", "replace").decode(), {'"': "&quot;"})
