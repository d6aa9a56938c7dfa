"""Clips done by several processes, each a Blender of its own that takes one clip after the other.

They are told what to do, and answer, in lines of JSON. Blender writes into standard output what it likes, so a worker
keeps the pipe for itself, and its lines begin with a word that nobody else knows.
"""

import argparse
import json
import os
import queue
import secrets
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from contextlib import suppress
from pathlib import Path

import bpy

from ..rig import whole_file
from . import inputs, one_file, records

# The first argument of a worker; its word is the second.
WORKER = "--worker"
_SCRIPT = Path(__file__).parents[1] / "batch.py"
# Seconds: how often the run looks whether it is stopped, and what a worker has to end by itself.
_LOOK, _GRACE = 0.2, 5.0


class _Died(Exception):
    """A worker ended, with an exit ``status``; ``starting``: before it was told of a clip."""

    def __init__(self, status, starting):
        super().__init__(status, starting)
        self.status, self.starting = status, starting


class _Worker:
    """A process that works on clips."""

    def __init__(self, options, folder):
        """options: as JSON; folder: where its temporary files go."""
        word = secrets.token_hex(16)
        if bpy.app.binary_path:
            start = [bpy.app.binary_path, "--background", "--factory-startup", "--python", str(_SCRIPT), "--"]
        else:
            start = [sys.executable, str(_SCRIPT)]
        environment = {**os.environ, **dict.fromkeys(("TMPDIR", "TEMP", "TMP"), folder)}
        # In a group of its own, so that Ctrl-C is for the run, which ends its workers.
        alone = (
            {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP} if os.name == "nt" else {"start_new_session": True}
        )
        self._word = word.encode()
        self._process = subprocess.Popen(
            [*start, WORKER, word], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, **alone
        )
        self._started = False
        self.ask(options)
        self._started = True

    def ask(self, told):
        """Send a line, and wait for the answer. Raises _Died."""
        try:
            self._process.stdin.write(json.dumps(told).encode() + b"\n")
            self._process.stdin.flush()
            for line in self._process.stdout:
                if line.startswith(self._word):
                    return json.loads(line[len(self._word) :])
        except (OSError, ValueError):
            pass
        raise _Died(self._process.wait(), not self._started)

    def close(self):
        """Let it end, which has nothing to do."""
        try:
            self._process.stdin.close()
            self._process.wait(_GRACE)
        except (OSError, subprocess.TimeoutExpired):
            self.kill()
        self._process.stdout.close()

    def kill(self):
        """End it at once."""
        self._process.kill()
        self._process.wait()


def run(clips, options, jobs, stop, tell):
    """Do some Clips by so many processes; ``tell(clip, rows)`` of each as it gets done. Ends early, with what was
    being worked on put away, where ``stop``, a Stop, was asked for."""
    todo, done = deque(clips), queue.SimpleQueue()
    lock, busy = threading.Lock(), {}

    def next_clip(me):
        with lock:
            busy.pop(me, None)
            return todo.popleft() if todo and not stop.asked else None

    def work(me, folder):
        worker = None
        try:
            while (clip := next_clip(me)) is not None:
                start = time.perf_counter()
                try:
                    rows = None if options.force else records.known(clip, options)
                    if rows is None:
                        worker = worker or _Worker(as_data(options), folder)
                        with lock:
                            if stop.asked:
                                break
                            busy[me] = worker, clip
                        rows = worker.ask(clip.as_data())
                except (_Died, OSError) as error:
                    if stop.asked:
                        break
                    whole_file.sweep(clip.written())
                    rows, worker = [one_file.failed(clip, _why(error), start)], None
                done.put((clip, rows))
        finally:
            done.put(None)
            if worker is not None:
                worker.close()

    with tempfile.TemporaryDirectory(prefix="footlock-", ignore_cleanup_errors=True) as folder:
        threads = [threading.Thread(target=work, args=(me, folder), daemon=True) for me in range(jobs)]
        for thread in threads:
            thread.start()
        running = jobs
        try:
            while running and not stop.asked:
                with suppress(queue.Empty):
                    running -= _took(done.get(timeout=_LOOK), tell)
        finally:
            stop.asked = stop.asked or running > 0
            with lock:
                working = list(busy.values())
            for worker, _ in working:
                worker.kill()
            for thread in threads:
                thread.join()
            whole_file.sweep(path for _, clip in working for path in clip.written())
        while not done.empty():
            _took(done.get(), tell)


def serve(word):
    """What a worker does, until nobody tells it anything any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    told, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    options = None
    for line in told:
        data = json.loads(line)
        if options is None:
            options, answer = of_data(data), {"pid": os.getpid()}
        else:
            answer = one_file.process(inputs.Clip.of_data(data), options)
        try:
            answers.write(word.encode() + json.dumps(answer).encode() + b"\n")
            answers.flush()
        except BrokenPipeError:  # the run was killed, and its clips are done
            return


def as_data(options):
    """Options as JSON has them."""
    return {name: {"path": str(value)} if isinstance(value, Path) else value for name, value in vars(options).items()}


def of_data(data):
    """What ``as_data`` gave."""
    return argparse.Namespace(
        **{name: Path(value["path"]) if isinstance(value, dict) else value for name, value in data.items()}
    )


def _took(one, tell):
    """Tell of a clip that is done; 1 for a thread that ended instead."""
    if one is None:
        return 1
    tell(*one)
    return 0


def _why(error):
    """What is said of a clip whose worker is gone."""
    if isinstance(error, OSError):
        return f"Blender cannot be started ({error.strerror}): run with --jobs 1."
    if error.starting:
        return f"Blender ended as soon as it was started (exit status {error.status}): run with --jobs 1."
    return f"Blender ended while it worked on this clip (exit status {error.status}): run again to try it once more."
