"""Cases of a fuzz test, run in processes of their own: a crash or an endless loop fails one case, by its seed.

A kind of cases is a module of this folder with a function ``case(seed, folder)``. It returns in a word how the case
ended, and raises what it finds wrong. A seed makes the same case everywhere:

    python tests/fuzz/blocks.py KIND SEED COUNT
    blender --background --factory-startup --python tests/fuzz/blocks.py -- KIND SEED COUNT

In the tests, FOOTLOCK_FUZZ_SEED gives the first seed of all kinds, FOOTLOCK_FUZZ_COUNT how many each has.
"""

import importlib
import importlib.util
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections import Counter
from pathlib import Path

try:
    import resource
except ModuleNotFoundError:  # Windows
    resource = None
try:
    import bpy
except ModuleNotFoundError:
    bpy = None

ROOT = Path(__file__).resolve().parents[2]
# Seconds that one case may take, start of the process included: a hundred times what it does.
LONGEST = 60.0
# Bytes that the cases of a process may need beside what it has from the start.
MEMORY = 2 << 30
# So many failures tell enough.
_MOST_FAILURES = 12
_BEGUN, _ENDED, _FAILED, _DONE = "fuzz begun", "fuzz ended", "fuzz failed", "fuzz done"


def run(kind, count):
    """Run cases of a kind; how many ended in which way, and what failed: texts that name the seed."""
    first = int(os.environ.get("FOOTLOCK_FUZZ_SEED", "0"))
    count = int(os.environ.get("FOOTLOCK_FUZZ_COUNT", count))
    seed, stop, ends, failures = first, first + count, Counter(), []
    while seed < stop and len(failures) < _MOST_FAILURES:
        seed = _block(kind, seed, stop, ends, failures)
    return ends, failures


def _block(kind, seed, stop, ends, failures):
    """Run cases in a process until all are done or it goes down; the seed that comes next."""
    arguments = [str(Path(__file__).resolve()), "--", kind, str(seed), str(stop - seed)]
    start = (
        [bpy.app.binary_path, "--background", "--factory-startup", "--python"] if _executable() else [sys.executable]
    )
    process = subprocess.Popen(
        [*start, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        errors="backslashreplace",
    )  # fmt: skip
    lines = queue.Queue()
    threading.Thread(target=_listen, args=(process.stdout, lines), daemon=True).start()
    text, running, until = [], False, time.monotonic() + LONGEST
    again = f"{Path(sys.executable).name} tests/fuzz/blocks.py {kind}"
    while True:
        try:
            line = lines.get(timeout=max(until - time.monotonic(), 0.001))
        except queue.Empty:
            process.kill()
            process.wait()
            failures.append(f"{kind}, seed {seed}: it takes more than {LONGEST:.0f} s ({again} {seed} 1)" + _tail(text))
            return seed + 1
        word, _, rest = (line or "").rstrip("\n").partition(": ")
        if line is None:
            process.wait()
            what = "crashes" if running else "cannot start, or ends too soon,"
            failures.append(f"{kind}, seed {seed}: Blender {what} with status {process.returncode}" + _tail(text))
            return seed + 1 if running else stop
        if word == _BEGUN:
            seed, running, until, text = int(rest), True, time.monotonic() + LONGEST, []
        elif word == _ENDED:
            ends[rest] += 1
            seed, running = seed + 1, False
        elif word == _FAILED:
            failures.append(f"{kind}, seed {seed} ({again} {seed} 1)" + _tail(text))
            seed, running = seed + 1, False
        elif word == _DONE:
            process.wait()
            return stop
        else:
            text.append(line.rstrip("\n"))
        if len(failures) >= _MOST_FAILURES:
            process.kill()
            process.wait()
            return stop


def bound_memory(more):
    """Let this process have so many bytes more than it has, where the system can do that."""
    if resource is not None and Path("/proc/self/statm").exists():
        there = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (there + more, there + more))


def load_footlock():
    """The extension as the package ``footlock``, registered where there is a Blender, as tests/run.py has it."""
    sys.path.insert(0, str(ROOT / "tests"))
    spec = importlib.util.spec_from_file_location(
        "footlock", ROOT / "__init__.py", submodule_search_locations=[str(ROOT)]
    )
    footlock = sys.modules["footlock"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(footlock)
    if bpy is not None:
        footlock.register()


def _executable():
    return bpy is not None and bool(bpy.app.binary_path)


def _listen(stream, lines):
    for line in stream:
        lines.put(line)
    lines.put(None)


def _tail(text):
    return "\n" + "\n".join(text[-40:])


def _work(kind, first, count):
    """Run cases in this process, and say of each that it has begun and how it has ended."""
    load_footlock()
    case = importlib.import_module(f"fuzz.{kind}").case
    bound_memory(MEMORY)
    for seed in range(first, first + count):
        print(f"\n{_BEGUN}: {seed}", flush=True)
        with tempfile.TemporaryDirectory() as folder:
            try:
                end = case(seed, Path(folder))
                print(f"\n{_ENDED}: {end}", flush=True)
            except Exception:
                traceback.print_exc(file=sys.stdout)
                print(f"\n{_FAILED}: {seed}", flush=True)
    print(f"\n{_DONE}", flush=True)


if __name__ == "__main__":
    given = sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else sys.argv[1:]
    status = 1
    try:
        _work(given[0], int(given[1]), int(given[2]))
        status = 0
    except BaseException:
        traceback.print_exc(file=sys.stdout)
    # Some Blenders crash when the interpreter ends.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)
