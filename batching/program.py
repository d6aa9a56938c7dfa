"""The run of a command line from its first word to its exit status."""

import json
import os
import sys

import bpy

from ..operators import reports
from ..rig import whole_file
from ..solvers.errors import FootlockError
from . import command_line, inputs, one_file, records, stopping, summary, workers
from .progress import Progress


def main(arguments, program="batch.py", here=True):
    """Run over the inputs; returns the exit status. program: what the command is called; here: one job may be done by
    this process, which has the settings of a fresh Blender."""
    p, options = command_line.parse(arguments, program)
    clips, folder = inputs.clips(p, options)
    run = _Run(options, clips)
    with stopping.Stop() as stop:
        whole_file.sweep(_written(clips, options, folder))
        jobs = min(options.jobs or _cores(), len(clips))
        if clips:
            if here and jobs == 1:
                _do_here(clips, options, stop, run.tell)
            else:
                workers.run(clips, options, jobs, stop, run.tell)
        return run.end(folder, stop.asked)


def _do_here(clips, options, stop, tell):
    """Do some Clips, one after the other, in this process; ends early where a Stop was asked for."""
    for clip in clips:
        try:
            stop.check()
            rows = None if options.force else records.known(clip, options)
            if rows is None:
                stop.raising = True
                rows = one_file.process(clip, options)
                stop.raising = False
            # Whatever it was raised in may have taken it for an error of the clip.
            stop.check()
        except stopping.Stopped:
            stop.raising = False
            whole_file.sweep(clip.written())
            return
        tell(clip, rows)


class _Run:
    """What is said while clips get done, and kept of them."""

    def __init__(self, options, clips):
        self._options, self._clips, self._rows = options, clips, {}
        self._progress = Progress(len(clips), sys.stderr)

    def tell(self, clip, rows):
        """Say what came of a Clip."""
        self._rows[clip] = rows if self._options.report else [_brief(row) for row in rows]
        self._progress.count(rows)
        self._progress.clear()
        for row in rows:
            print(reports.line(row, len(rows) > 1), file=sys.stderr if "error" in row else sys.stdout, flush=True)
        self._progress.show()

    def end(self, folder, stopped):
        """Write report and summary; returns the exit status."""
        self._progress.end(stopped)
        rows = [row for clip in self._clips for row in self._rows.get(clip, ())]
        failed = sum("error" in row for row in rows)
        problems = []
        if self._options.report:
            report = json.dumps({"clips": rows, "failed": failed}, indent=1, ensure_ascii=False) + "\n"
            try:
                self._options.report.parent.mkdir(parents=True, exist_ok=True)
                whole_file.write(self._options.report, [report.encode(errors="backslashreplace")])
            except (FootlockError, OSError) as error:
                problems.append(_unwritten("report", self._options.report, error))
        if folder and (rows or self._options.part):
            try:
                summary.write(folder, self._options.part, rows, stopped)
            except (FootlockError, OSError) as error:
                problems.append(_unwritten("summary", folder, error))
        for problem in problems:
            print(problem, file=sys.stderr)
        if stopped:
            return stopping.STATUS
        return 1 if problems or (failed and not self._options.bad_clips_ok) else 0


def _brief(row):
    """What is said of a clip without its single contacts, which of a whole library would take much memory."""
    if "legs" not in row:
        return row
    legs = [{name: value for name, value in leg.items() if name != "contact_rows"} for leg in row["legs"]]
    return {**row, "legs": legs}


def _written(clips, options, folder):
    """All files that a run writes."""
    found = [path for clip in clips for path in clip.written()]
    found += summary.paths(folder, options.part) if folder else ()
    return [*found, options.report] if options.report else found


def _unwritten(what, path, error):
    reason = error.strerror if isinstance(error, OSError) else error.values.get("reason", error)
    return f"The {what} “{path}” cannot be written ({reason}): choose another place."


def _cores():
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def prepare():
    """Have this process be one that works on clips, and can say what they are called, whatever that is."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    if not hasattr(bpy.types.Armature, "footlock"):
        from .. import register  # this package is loaded by it

        register()


def as_command(arguments):
    """What ``blender --command footlock`` does; returns the exit status."""
    prepare()
    return main(arguments, "blender --command footlock", here=False)
