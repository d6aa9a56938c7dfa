"""The summary of a run: one row for each clip, as JSON and as a table for a spreadsheet."""

import csv
import io
import json
import math

from ..rig import whole_file
from ..solvers import report_table

_NAME = "footlock_summary"
_MM = "mm_per_frame"


def paths(folder, part):
    """The two files of a summary in a folder of outputs. part: (number, of how many), or None."""
    name = f"{_NAME}.{part[0]}-of-{part[1]}" if part else _NAME
    return folder / f"{name}.json", folder / f"{name}.csv"


def write(folder, part, rows, stopped):
    """Write the summary of what is said of clips."""
    table = [_row(row) for row in rows]
    as_json, as_csv = paths(folder, part)
    folder.mkdir(parents=True, exist_ok=True)
    failed, skipped = (sum(bool(row.get(name)) for row in rows) for name in ("error", "skipped"))
    counts = {"clips": len(rows), "failed": failed, "skipped": skipped, "stopped": stopped}
    text = json.dumps({**counts, "rows": table}, indent=1, ensure_ascii=False) + "\n"
    # What is no letter in the name of a file stays readable as JSON.
    whole_file.write(as_json, [text.encode(errors="backslashreplace")])
    whole_file.write(as_csv, [_csv(table).encode("utf-8-sig", "backslashreplace")])


def _row(row):
    """What a summary says of a clip: its figures, those of a foot under its own names."""
    legs, root = row.get("legs", ()), row.get("root", {})
    found = {
        "input": row["input"],
        "output": row["output"],
        "armature": row.get("armature"),
        "action": row.get("action"),
        "frames": row.get("frames"),
        "frame_rate": row.get("frame_rate"),
        "unit_m": row.get("unit"),
        "contacts_from": row.get("contacts_from"),
        "contacts": sum(leg["contacts"] for leg in legs) if legs else None,
        "double_support": row.get("double_support"),
        "flight": row.get("flight"),
        "root": root.get("fit"),
        "root_speed_factor": root.get("scale"),
        "root_m_per_s": root.get("speed"),
        "feet_m_per_s": root.get("feet_speed"),
        "in_place": root.get("in_place"),
        "root_fitted": row.get("root_fit", {}).get("fit"),
        f"largest_slide_before_{_MM}": _largest(legs, "slide_before"),
        f"largest_slide_after_{_MM}": _largest(legs, "slide_after"),
        "frames_out_of_reach": len({one for leg in legs for one in leg["frames_out_of_reach"]}) if legs else None,
        "seconds": row.get("seconds"),
        "skipped": bool(row.get("skipped")),
        "left_alone": row.get("left_alone"),
        "notes": row.get("notes"),
        "error": row.get("error"),
    }
    for leg in legs:
        name = leg["leg"]
        found[f"{name} contacts"] = leg["contacts"]
        for when in ("slide_before", "slide_after"):
            found[f"{name} {when}_{_MM}"] = leg[when]["mean_mm_per_frame"]
        found[f"{name} frames_out_of_reach"] = len(leg["frames_out_of_reach"])
    return {name: _rounded(value) if isinstance(value, float) else value for name, value in found.items()}


def _rounded(value):
    return round(value, 6) if math.isfinite(value) else None


def _largest(legs, when):
    return max((leg[when]["max_mm_per_frame"] for leg in legs), default=None)


def _csv(table):
    """The table as CSV: a line of names, and one for each clip. Columns of feet that a clip has not stay empty."""
    names = dict.fromkeys(name for row in table for name in row) or dict.fromkeys(("input", "output", "error"))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(report_table.cell(name) for name in names)
    writer.writerows([report_table.cell(row.get(name)) for name in names] for row in table)
    return text.getvalue()
