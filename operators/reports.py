"""What a run found and did, as plain data for a report."""

from ..solvers import contacts, report_table, slide
from ..solvers.wording import counted, out_of_reach, shown

# How a line calls what --fit-root did.
_ROOT_FITS = {"none": "left as it is", "scale": "scaled", "path": "given the feet's path"}


def detected(found):
    """Of a Detection: heights in metres, speeds in metres per second."""
    fit, summary = found.fit, found.summary()
    return {
        "contacts_from": found.mode,
        "ground": [float(height) for height in found.ground],
        "enter_speed": float(found.enter),
        "highest": float(found.highest),
        "double_support": summary.double_support,
        "flight": summary.flight,
        "root": {
            "fit": fit.kind,
            "scale": float(fit.scale),
            "speed": fit.root_speed,
            "feet_speed": fit.feet_speed,
            "in_place": bool(fit.in_place),
        },
    }


def fitted(done):
    """Of a Fitted: slide in millimetres."""
    fit = done.fit
    return {
        "bones": list(done.bones),
        "fit": fit.kind,
        "scale": float(fit.scale),
        "mean_mm_per_frame_before": slide.overall(done.before) * 1e3,
        "mean_mm_per_frame_after": slide.overall(done.after) * 1e3,
    }


def corrected(done, report, said):
    """Of a Removal and its Report: slide in millimetres, frames as Blender counts them. ``said``: what was said of the
    clip before."""
    source, legs, summary = done.clip, [], contacts.summary(done.labels, done.clip.frame_rate)
    rows = list(zip(report.rows, report_table.records(report), strict=True))
    for i, leg in enumerate(source.legs.legs):
        legs.append(
            {
                "leg": leg.label,
                "bones": {"thigh": leg.thigh, "shin": leg.shin, "foot": leg.foot, "toe": leg.toe or None},
                "contacts": summary.counts[i],
                "contact_share": summary.shares[i],
                "shortest_contact": summary.shortest[i],
                "slide_before": _slide(done.before[i], source),
                "slide_after": _slide(done.after[i], source),
                "contact_rows": [_without_names(record) for row, record in rows if row.leg == i],
                "frames_out_of_reach": source.scene_frames[done.out_of_reach[:, i]].tolist(),
            }
        )
    return {
        "armature": done.armature,
        "frames": len(source.frames),
        "frame_rate": source.frame_rate,
        "unit": source.unit,
        "pelvis": source.legs.pelvis,
        "legs": legs,
        "converged": done.converged,
        "notes": str(done.notes),
        **said,
    }


def _without_names(record):
    """A contact without what is said of the clip and the leg already."""
    return {name: value for name, value in record.items() if name not in ("armature", "action", "leg")}


def _slide(measured, source):
    return {
        "mean_mm_per_frame": measured.mean * 1e3,
        "max_mm_per_frame": measured.largest * 1e3,
        "mean_mm_per_second": measured.mean * 1e3 * source.frame_rate,
        "max_mm_per_second": measured.largest * 1e3 * source.frame_rate,
        "worst_frame": float(source.scene_frames[measured.worst]) if measured.worst >= 0 else None,
    }


def line(report, named=False):
    """One line for the report of a clip, as ``batch`` completes it: with input, output, seconds, or an error. named:
    with the action's name, where the file has several clips."""
    source = f"{report['input']}, “{report['action']}”" if named else report["input"]
    if "error" in report:
        return shown(f"{source}: FAILED: {report['error']}")
    if "left_alone" in report:
        return shown(f"{source}: left alone, for it {report['left_alone']}")
    if report.get("skipped"):
        return shown(f"{source} → {report['output']}: skipped, for it is done and unchanged")
    frames = counted(
        report["frames"],
        "{count} frame at {rate:g} Hz",
        "{count} frames at {rate:g} Hz",
        rate=report["frame_rate"],
    )
    parts = [f"one unit is {report['unit']:g} m", frames]
    if len(report["legs"]) == 1:
        parts.append(f"only one leg ({report['legs'][0]['leg']}) was found")
    for leg in report["legs"]:
        before, after = leg["slide_before"], leg["slide_after"]
        text = counted(
            leg["contacts"],
            "{leg} {count} contact, slide {before:.3f} → {after:.3f} mm per frame",
            "{leg} {count} contacts, slide {before:.3f} → {after:.3f} mm per frame",
            leg=leg["leg"],
            before=before["mean_mm_per_frame"],
            after=after["mean_mm_per_frame"],
        )
        if leg["frames_out_of_reach"]:
            text = f"{text}, {out_of_reach(len(leg['frames_out_of_reach']))}"
        parts.append(text)
    if "root" in report:
        parts.append(_root_words(report["root"]))
    if "root_fit" in report:
        parts.append(f"root {_ROOT_FITS[report['root_fit']['fit']]}")
    if report["notes"]:
        parts.append(report["notes"].rstrip("."))
    if not report["converged"]:
        parts.append("the solver stopped early")
    return shown(f"{source} → {report['output']}: {'; '.join(parts)}; {report['seconds']:.1f} s")


def _root_words(root):
    if root["fit"] == "scale":
        faster = root["scale"] > 1.0
        ratio = root["scale"] if faster else 1.0 / root["scale"]
        return f"the root travels {ratio:.2f}× too {'far' if faster else 'little'}"
    if root["in_place"]:
        return f"in place, feet at {root['feet_speed']:.2f} m/s"
    return f"root at {root['speed']:.2f} m/s, feet at {root['feet_speed']:.2f} m/s"
