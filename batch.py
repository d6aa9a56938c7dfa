"""Remove sliding from clips without a window.

    blender --background --python batch.py -- IN [IN ...] -o OUT
    python batch.py IN [IN ...] -o OUT          by an interpreter that has the bpy module

IN is a .bvh, .fbx, .glb, .gltf or .blend file; OUT a file of the same kind or a .blend, or a folder for several. Exit
status: 0 all went well, 1 a clip failed (the others still come out), 2 usage.
"""

import importlib.util
import json
import os
import re
import sys
import time
import traceback
from pathlib import Path

ROOT = Path(__file__).resolve().parent


def load_package():
    """The extension as the package ``footlock``, wherever its folder is and whatever it is called."""
    if "footlock" not in sys.modules:
        spec = importlib.util.spec_from_file_location(
            "footlock", ROOT / "__init__.py", submodule_search_locations=[str(ROOT)]
        )
        sys.modules["footlock"] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules["footlock"])
    return sys.modules["footlock"]


load_package()

import bpy  # noqa: E402

from footlock.batching import command_line, correcting, files  # noqa: E402
from footlock.operators import reports  # noqa: E402
from footlock.rig import labels, whole_file  # noqa: E402
from footlock.solvers import plot_svg  # noqa: E402
from footlock.solvers.errors import FootlockError  # noqa: E402


def main(arguments):
    """Run over the inputs; returns the exit status."""
    p = command_line.parser()
    options = p.parse_args(arguments)
    jobs = command_line.jobs(p, options)
    if not hasattr(bpy.types.Armature, "footlock"):
        load_package().register()
    said = []
    for source, target in jobs:
        start = time.perf_counter()
        try:
            found = _process(source, target, options, several=len(jobs) > 1)
        except FootlockError as error:
            found = [{"error": str(error)}]
        except Exception as error:  # One clip must not take the others with it; the trace is for us.
            traceback.print_exc()
            sentence = (
                f"“{source.name}” failed in a way that Footlock did not expect ({error}): please report it with it."
            )
            found = [{"error": sentence}]
        seconds = round(time.perf_counter() - start, 3)
        for one in found:
            said.append({"input": str(source), "output": str(target), "seconds": seconds, **one})
            _say(said[-1], named=len(found) > 1)
    failed = sum("error" in report for report in said)
    if options.report:
        try:
            _write_json(options.report, {"clips": said, "failed": failed})
        except OSError as error:
            print(
                f"The report “{options.report}” cannot be written ({error.strerror}): choose another place.",
                file=sys.stderr,
            )
            failed += 1
    return 1 if failed else 0


def _process(source, target, options, several):
    """One input file: returns what is said of each clip in it. Nothing is written before all is solved."""
    opened = files.opened(source, options)
    given, exported, plotted = (
        command_line.file_of(option, source, several, kind)
        for option, kind in ((options.contacts, ".json"), (options.export_contacts, ".json"), (options.plot, ".svg"))
    )
    said, done = [], []
    for shot in opened.shots:
        named = {"armature": shot.armature.name, "action": shot.name}
        try:
            opened.begin(shot, options.unit)
            removal, report, found = correcting.correct(shot, _file_of(given, shot, opened.shots), options)
            opened.finish(shot, removal)
        except FootlockError as error:
            if not opened.separate or len(opened.shots) == 1:
                raise
            said.append({**named, "error": str(error)})
            continue
        done.append((shot, removal, report))
        said.append({**named, **reports.corrected(removal, report, found)})
    if not done:
        return said
    for shot, removal, report in done:
        _export(_file_of(exported, shot, opened.shots), removal)
        _plot(_file_of(plotted, shot, opened.shots), report)
    files.make_folder(target)
    if target.suffix.lower() == files.BLEND:
        files.save_blend(target)
    else:
        opened.write(target)
    return said


def _file_of(path, shot, shots):
    """The labels or plot of one of several clips: its name stands behind the file's, and the armature's before it where
    it takes both to tell them apart."""
    if path is None or len(shots) == 1:
        return path
    same = sum(one.name == shot.name for one in shots) > 1
    name = f"{shot.armature.name} {shot.name}" if same else shot.name
    name = re.sub(r"[^\w .-]", "_", name)
    return path.with_name(f"{path.stem}.{name}{path.suffix or '.json'}")


def _export(path, removal):
    """Write the labels that were used, before anything else is written."""
    if path:
        files.make_folder(path)
        clip = removal.clip
        labels.write(path, clip.legs, removal.weights, clip.frame_rate, clip.scene_frames[0])


def _plot(path, report):
    """Draw a Report, before anything else is written."""
    if path:
        files.make_folder(path)
        whole_file.write(path, [plot_svg.draw(report).encode()])


def _say(report, named):
    """One line for each clip; ``named``: the file has several."""
    failed = "error" in report
    print(reports.line(report, named), file=sys.stderr if failed else sys.stdout, flush=True)


def _write_json(path, data):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    # Blender hands its own arguments over too; what follows "--" is ours.
    own = sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else sys.argv[1:]
    try:
        status = main(own)
    except SystemExit as end:  # argparse: usage or --help
        status = end.code or 0
    except BaseException:
        traceback.print_exc()
        status = 1
    # Blender has no exit status of its own for a script, and the bpy modules 4.2 and 4.5 do not always survive a
    # normal exit.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)
