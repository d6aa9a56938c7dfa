"""One file: opened, its clips corrected, written, and what is said of each."""

import re
import time
import traceback
from contextlib import suppress
from dataclasses import dataclass, field

from ..operators import reports
from ..rig import labels, whole_file
from ..solvers import plot_svg
from ..solvers.errors import FootlockError
from . import correcting, files, records


@dataclass
class _Files:
    """What a file's clips were made of, fingerprints by path, and the paths of what came out."""

    read: dict = field(default_factory=dict)
    written: list = field(default_factory=list)

    def reads(self, path):
        """Note a file that is read, where there is one."""
        with suppress(OSError):  # Whoever opens it says so.
            if path.is_file():
                self.read[path] = records.fingerprint(path)


def process(clip, options):
    """What is said of each clip of a Clip's file, which comes out as a whole or not at all: dicts, with an error in
    those that failed. Nothing is raised but what stops a program."""
    start, used = time.perf_counter(), _Files()
    try:
        found = _process(clip, options, used)
    except FootlockError as error:
        return [failed(clip, str(error), start)]
    except Exception as error:  # One clip must not take the others with it; the trace is for us.
        traceback.print_exc()
        sentence = (
            f"“{clip.source.name}” failed in a way that Footlock did not expect ({error}): please report it with it."
        )
        return [failed(clip, sentence, start)]
    begun = _begun(clip, start)
    rows = [{**begun, **one} for one in found]
    if clip.record and not any("error" in row for row in rows):
        try:
            records.write(clip, options, rows, used.read, used.written)
        except (FootlockError, OSError) as error:
            rows[0]["error"] = (
                f"“{clip.target.name}” came out, and that it did cannot be noted ({error}): see that"
                f" “{clip.record.parent}” is a folder that can be written to, and run again."
            )
    return rows


def failed(clip, sentence, start):
    """What is said of a Clip's file that failed as a whole; work on it began at ``start``."""
    return {**_begun(clip, start), "error": sentence}


def _begun(clip, start):
    seconds = round(time.perf_counter() - start, 3)
    return {"input": str(clip.source), "output": str(clip.target), "seconds": seconds}


def _process(clip, options, used):
    used.reads(clip.source)
    opened, failed = files.opened(clip.source, options), {}
    shots = opened.shots
    while True:
        done, problems = _corrected(opened, shots, clip, options, used)
        failed |= problems
        if not problems or not done or not opened.spoiled:
            break
        # What failed may have changed something on its way.
        kept = {_named(shot) for shot, *_ in done}
        opened = files.opened(clip.source, options)
        shots = [shot for shot in opened.shots if _named(shot) in kept]
    for path in opened.read:
        used.reads(path)
    said = [{"armature": name, "action": action, "error": error} for (name, action), error in failed.items()]
    said += opened.left
    if done:
        _write(clip, opened, done, used)
        said += [row for *_, row in done]
    order = {_named(shot): i for i, shot in enumerate(opened.shots)}
    return sorted(said, key=lambda row: order.get((row.get("armature"), row["action"]), len(order)))


def _corrected(opened, shots, clip, options, used):
    """(shot, Removal, Report, what is said) of each shot that could be corrected, and the errors of the others by
    armature and name."""
    done, failed = [], {}
    for shot in shots:
        given = _file_of(clip.contacts, shot, opened.shots)
        try:
            opened.begin(shot, options.unit)
            if given:
                used.reads(given)
            removal, report, found = correcting.correct(shot, given, options)
            opened.finish(shot, removal)
        except FootlockError as error:
            if not opened.separate or len(opened.shots) == 1:
                raise
            failed[_named(shot)] = str(error)
            continue
        row = {"armature": shot.armature.name, "action": shot.name, **reports.corrected(removal, report, found)}
        done.append((shot, removal, report, row))
    return done, failed


def _write(clip, opened, done, used):
    """Write labels and plots, and then the file itself."""
    for shot, removal, report, _ in done:
        exported, plotted = (_file_of(path, shot, opened.shots) for path in (clip.exported, clip.plotted))
        if len(opened.shots) > 1:
            whole_file.sweep(path for path in (exported, plotted) if path)
        if exported:
            files.make_folder(exported)
            source = removal.clip
            labels.write(exported, source.legs, removal.weights, source.frame_rate, source.scene_frames[0])
        if plotted:
            files.make_folder(plotted)
            whole_file.write(plotted, [plot_svg.draw(report).encode(errors="replace")])
        used.written += [path for path in (exported, plotted) if path]
    files.make_folder(clip.target)
    if clip.target.suffix.lower() == files.BLEND:
        files.save_blend(clip.target)
    else:
        opened.write(clip.target)
    used.written.append(clip.target)


def _named(shot):
    return shot.armature.name, shot.name


def _file_of(path, shot, shots):
    """The labels or plot of one of several clips: its name stands behind the file's, and the armature's before it where
    it takes both to tell them apart."""
    if path is None or len(shots) == 1:
        return path
    same = sum(one.name == shot.name for one in shots) > 1
    name = f"{shot.armature.name} {shot.name}" if same else shot.name
    name = re.sub(r"[^\w .-]", "_", name)
    return path.with_name(f"{path.stem}.{name}{path.suffix or '.json'}")
