"""What the batch does with a library of clips: two are damaged and a worker is killed in mid-run, then all again.

    python3 tools/blender.py tests/benchmark_batch.py [--clips N] [--frames N] [--jobs N] [--alone N]

Clips are cut from tests/data into folders. Prints a line for each step, with clips per second beside those of one
process over ``--alone`` of the same clips; ends with status 1 where something is not as it should be.
"""

import argparse
import importlib.util
import json
import os
import shutil
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path

TESTS = Path(__file__).resolve().parent
ROOT = TESTS.parent
DAMAGED = (0.31, 0.77)  # which clips, as shares of all


def main(arguments):
    p = argparse.ArgumentParser(prog="benchmark_batch.py")
    p.add_argument("--clips", type=int, default=200)
    p.add_argument("--frames", type=int, default=120)
    p.add_argument("--jobs", type=int, default=os.cpu_count())
    p.add_argument("--alone", type=int, default=40, help="how many clips one process does, to compare with")
    options = p.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        _run(Path(folder), options)
    print("all as it should be")


def _run(folder, options):
    into, out, one = folder / "in", folder / "out", folder / "one"
    count = options.clips
    paths = batch_clips.cut(folder / "cut", count, sorted((TESTS / "data").glob("*.bvh")), options.frames)
    for i, path in enumerate(paths):
        place = into / f"day {i % 5}" / f"take {i % 3}" / path.name
        place.parent.mkdir(parents=True, exist_ok=True)
        paths[i] = shutil.move(path, place)
    bad = {paths[int(share * count)] for share in DAMAGED}
    for path in bad:
        path.write_bytes(path.read_bytes()[:-4000])
    alone = folder / "alone"
    for path in [path for path in paths if path not in bad][:: max(1, count // options.alone)]:
        place = alone / path.relative_to(into)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, place)

    status, seconds, rows = _batch(alone, one, 1)
    _check("one process ends with 0", status == 0 and len(rows) > 0)
    single = len(rows) / seconds
    print(f"one process: {len(rows)} clips in {seconds:.1f} s, {single:.2f} clips per second")

    status, seconds, rows = _batch(into, out, options.jobs, kill_at=count // 3)
    several = len(rows) / seconds
    print(
        f"{options.jobs} processes, one killed: {len(rows)} clips in {seconds:.1f} s, {several:.2f} clips per second,"
        f" {several / single:.2f} times as many"
    )
    errors = {row["input"]: row["error"] for row in rows if row["error"]}
    killed = [name for name, error in errors.items() if "ended while it worked on this clip" in error]
    _check("status 1", status == 1)
    _check("one row a clip", len(rows) == count)
    _check("the killed worker failed one clip", len(killed) == 1)
    _check("the damaged clips failed, and no other", set(errors) - set(killed) == {str(path) for path in bad})
    _check("all others came out", len(_outputs(out)) == count - 3)
    times = {path: path.stat().st_mtime_ns for path in _outputs(out)}

    status, seconds, rows = _batch(into, out, options.jobs)
    errors = {row["input"]: row["error"] for row in rows if row["error"]}
    done = [row["input"] for row in rows if not row["skipped"]]
    print(f"again: {count - len(done)} skipped, {len(done) - len(errors)} done, in {seconds:.1f} s")
    for name, error in errors.items():
        print(f"    {Path(name).name}: {error}")
    _check("status 1 again", status == 1)
    _check("the damaged clips alone failed", set(errors) == {str(path) for path in bad})
    _check("only what had failed was done", set(done) == {*errors, *killed})
    _check("nothing was written twice", all(path.stat().st_mtime_ns == then for path, then in times.items()))
    _check(f"{count - 2} outputs", len(_outputs(out)) == count - 2)
    _check("nothing unfinished", not batch_clips.unfinished(out))
    same = [path.read_bytes() == (out / path.relative_to(one)).read_bytes() for path in _outputs(one)]
    _check(f"{len(same)} of them as one process made them, to the byte", len(same) > 0 and all(same))
    largest = max(row["largest_slide_after_mm_per_frame"] for row in rows if not row["error"])
    print(f"largest slide that is left: {largest:.4f} mm per frame")
    _check("feet stand", largest < 0.5)


def _batch(into, out, jobs, kill_at=None):
    """Run the batch as a program, and kill one of its workers when so many clips are done; returns its status, its
    seconds, and the rows of its summary."""
    start = time.perf_counter()
    program = batch_clips.start(into, "-o", out, "--jobs", jobs)
    done = 0
    for line in program.stdout:
        done += "→" in line
        if done == kill_at:
            workers = _children(program.pid)
            os.kill(workers[0], signal.SIGKILL)
            print(f"killed worker {workers[0]} of {len(workers)} after {done} clips")
            kill_at = None
    program.communicate()
    seconds = time.perf_counter() - start
    rows = json.loads((out / "footlock_summary.json").read_text(encoding="utf-8"))["rows"]
    return program.returncode, seconds, rows


def _children(pid):
    """The processes that a process has started."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            # After the name in brackets, which may hold anything: the state, and the parent.
            parent = int(stat.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        if parent == pid:
            found.append(int(stat.parent.name))
    return found


def _outputs(folder):
    return sorted(folder.rglob("*.bvh"))


def _check(what, holds):
    if not holds:
        raise AssertionError(what)
    print(f"ok: {what}")


if __name__ == "__main__":
    own = sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else sys.argv[1:]
    sys.path[:0] = [str(TESTS), str(TESTS / "blender")]
    spec = importlib.util.spec_from_file_location(
        "footlock", ROOT / "__init__.py", submodule_search_locations=[str(ROOT)]
    )
    sys.modules["footlock"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules["footlock"])
    import batch_clips

    try:
        main(own)
        status = 0
    except SystemExit as end:
        status = end.code or 0
    except BaseException:
        traceback.print_exc()
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)
