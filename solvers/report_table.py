"""The report as text: a table for the clipboard, CSV, and plain data for JSON. Units stand in the names of columns."""

import csv
import io
import json

from . import reasons
from .wording import Listed, Said, counted, out_of_reach

_MM = 1000.0
# How cells begin that spreadsheets compute.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def records(report):
    """A dict for each contact, worst first; what was not measured is None."""
    return [{name: value(report, row) for name, value in _COLUMNS.items()} for row in report.rows]


def as_csv(report):
    """The text of a CSV file: a line of names, and one for each contact."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(_COLUMNS), lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: cell(value) for name, value in record.items()} for record in records(report))
    return text.getvalue()


def cell(value):
    """A value for a cell of a CSV file. A text that a spreadsheet would take for a formula, as names can be one, begins
    with an apostrophe."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def as_json(report):
    """The text of a JSON file: the same, and a summary."""
    data = {
        "armature": report.armature,
        "action": report.action,
        "frame_rate": round(report.frame_rate, 6),
        "frame_first": _number(report.frames[0]),
        "frame_last": _number(report.frames[-1]),
        "planted_below_m_per_s": round(report.enter, 4),
        "planted_below_cm": round(100.0 * report.highest, 2),
        "summary": summary(report),
        "contacts": records(report),
    }
    return json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def as_text(report):
    """What is copied to the clipboard: the summary, and a table whose cells are parted by tabs, for a spreadsheet or a
    mail."""
    lines = ["\t".join(("leg", "frames", "s", *_CELLS, "why"))]
    for row in report.rows:
        span = f"{frame_text(report.frames[row.first])}–{frame_text(report.frames[row.last])}"
        cells = [report.legs[row.leg], span, f"{row.seconds:.2f}"]
        cells += [_cell(value) for value in _figures(row)]
        cells.append(reasons.of_contact(row, report.enter, report.highest))
        lines.append("\t".join(" ".join(cell.split()) for cell in cells))
    return "\n".join([summary(report), "", *lines]) + "\n"


def summary(report):
    """The report in a sentence."""
    rows, names = report.rows, {"armature": report.armature, "action": report.action}
    if not rows:
        return Said("“{armature}”, “{action}”: no foot is planted.", **names)
    worst, before = rows[0], _MM * max(row.before.away for row in rows)
    counts = (
        Said("{leg} {count}", leg=label, count=sum(row.leg == leg for row in rows))
        for leg, label in enumerate(report.legs)
    )
    clauses = [
        counted(len(rows), "{count} contact ({legs})", "{count} contacts ({legs})", legs=Listed(counts)),
        Said(
            "toes get up to {before:.1f} mm from their places before and {after:.1f} mm after",
            before=before,
            after=_MM * worst.residual,
        )
        if report.corrected
        else Said("toes get up to {before:.1f} mm from their places", before=before),
    ]
    missed = sum(row.missed for row in rows)
    if missed:
        clauses.append(out_of_reach(missed))
    at = f"{frame_text(report.frames[worst.first])}–{frame_text(report.frames[worst.last])}"
    clauses.append(Said("worst is {leg} at {frames}", leg=report.legs[worst.leg], frames=at))
    return Said("“{armature}”, “{action}”: {clauses}.", clauses=Listed(clauses, "; "), **names)


def frame_text(frame):
    """A frame number as it is read: 12, or 12.4."""
    return f"{round(float(frame), 2):g}"


# What a table says of a contact in numbers.
_CELLS = (
    "mm/frame before", "after", "largest before", "after", "mm from place before", "after", "out of reach", "m/s", "cm"
)  # fmt: skip


def _figures(row):
    after = row.after
    return (
        _MM * row.before.mean, after and _MM * after.mean, _MM * row.before.largest, after and _MM * after.largest,
        _MM * row.before.away, after and _MM * row.residual, row.missed, row.speed[0], 100.0 * row.height[0],
    )  # fmt: skip


def _cell(value):
    if value is None:
        return "–"
    return str(value) if isinstance(value, int) else f"{value + 0.0:.2f}"


def _mm(read):
    """A column in millimetres of a row's metres; None where there is no correction."""
    return lambda report, row: None if (value := read(row)) is None else _rounded(_MM * value, 3)


def _frame(name):
    return lambda report, row: _number(report.frames[getattr(row, name)])


def _after(name):
    return _mm(lambda row: row.after and getattr(row.after, name))


_COLUMNS = {
    "armature": lambda report, row: report.armature,
    "action": lambda report, row: report.action,
    "leg": lambda report, row: report.legs[row.leg],
    "first_frame": _frame("first"),
    "last_frame": _frame("last"),
    "worst_frame": _frame("worst"),
    "frames": lambda report, row: row.last - row.first + 1,
    "duration_s": lambda report, row: _rounded(row.seconds, 4),
    "mean_slide_before_mm_per_frame": _mm(lambda row: row.before.mean),
    "mean_slide_after_mm_per_frame": _after("mean"),
    "largest_slide_before_mm_per_frame": _mm(lambda row: row.before.largest),
    "largest_slide_after_mm_per_frame": _after("largest"),
    "drift_before_mm": _mm(lambda row: row.before.drift),
    "drift_after_mm": _after("drift"),
    "from_place_before_mm": _mm(lambda row: row.before.away),
    "from_place_after_mm": _after("away"),
    "residual_mm": _mm(lambda row: row.after and row.residual),
    "frames_out_of_reach": lambda report, row: row.missed,
    "mean_speed_m_per_s": lambda report, row: _rounded(row.speed[0], 4),
    "largest_speed_m_per_s": lambda report, row: _rounded(row.speed[1], 4),
    "mean_height_mm": _mm(lambda row: row.height[0]),
    "largest_height_mm": _mm(lambda row: row.height[1]),
    "cause": lambda report, row: row.cause,
    "why": lambda report, row: reasons.of_contact(row, report.enter, report.highest),
}


def _rounded(value, places):
    return round(float(value), places) + 0.0


def _number(frame):
    """A frame as a whole number where it is one."""
    frame = round(float(frame), 4)
    return int(frame) if frame.is_integer() else frame
