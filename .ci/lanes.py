# SPDX-License-Identifier: GPL-3.0-or-later
"""Jobs side by side: a lane for each of two cores, and beside them one that fetches what jobs need.

Each process has a time limit, and what it started ends with it, also when the run is stopped.
"""

import contextlib
import os
import signal
import subprocess
import tempfile
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field

LANES = 2
LIMIT = 1800  # seconds for one process
GRACE = 30  # seconds to end by itself
_start = time.monotonic()
_running = set()
_stopped = threading.Event()


@dataclass(frozen=True)
class Done:
    """A process that ended: its exit status, what it printed, and how it ended, in words."""

    status: int
    text: str
    ending: str


@dataclass(frozen=True)
class Result:
    """What a job counts, and its line in the summary."""

    passed: int = 0
    failed: int = 0
    line: str = ""


@dataclass(eq=False)
class Job:
    """``needs``: what has to be fetched for it, which is ``given`` then; ``after``: the job that has to end before."""

    name: str
    function: Callable
    needs: str | None = None
    after: str | None = None
    given: str = ""
    log: object = field(default=None, repr=False)

    def run(self, command, environment):
        return call(command, self.log, environment)


class Lanes:
    """``optional``: what may fail to be fetched; the jobs that need it are left out then, with the reason."""

    def __init__(self, optional=()):
        self.results = []
        self._optional = frozenset(optional)
        self._waiting, self._fetches = [], []
        self._fetched, self._missing, self._ended = {}, {}, set()
        self._changed = threading.Condition()

    def fetch(self, name, function):
        """Queue something to be fetched: ``function(log)`` returns what jobs get, or raises RuntimeError."""
        self._fetches.append((name, function))

    def add(self, job):
        self._waiting.append(job)

    def keep(self, patterns):
        """Leave out jobs with none of the patterns in their names, if there are any, and what only they need."""
        if patterns:
            self._waiting = [job for job in self._waiting if any(pattern in job.name for pattern in patterns)]
            needed = {job.needs for job in self._waiting}
            self._fetches = [fetch for fetch in self._fetches if fetch[0] in needed]
            self._ended = {job.after for job in self._waiting} - {job.name for job in self._waiting}

    def clock(self):
        minutes, seconds = divmod(int(time.monotonic() - _start), 60)
        return f"{minutes} min {seconds:02} s"

    def work(self):
        """Do everything. The processes end when this one is stopped."""
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, _stop)
        threads = [threading.Thread(target=self._fetch_all, daemon=True)]
        threads += [threading.Thread(target=self._lane, daemon=True) for _ in range(LANES)]
        try:
            for thread in threads:
                thread.start()
            for thread in threads:
                while thread.is_alive():  # a plain join would keep signals waiting
                    thread.join(1.0)
        finally:
            _stopped.set()
            for process in list(_running):
                _end(process, signal.SIGKILL)

    def _fetch_all(self):
        for name, function in self._fetches:
            with _log() as log:
                began = time.monotonic()
                value, reason = None, ""
                for attempt in range(2):  # what comes over a network deserves a second try
                    try:
                        value = function(log)
                        break
                    except Exception as error:
                        reason = " ".join(str(error).split()) or repr(error)
                        log.write(f"attempt {attempt + 1}: {reason}\n")
                took = time.monotonic() - began
                with self._changed:
                    if value is None:
                        self._missing[name] = reason
                        self._print(f"fetching {name} failed after {took:.0f} s", log)
                    else:
                        self._fetched[name] = value
                        print(f"--- {self.clock()}: {name} is there ({took:.0f} s): {value}")
                    self._changed.notify_all()

    def _lane(self):
        while (job := self._next()) is not None:
            print(f"--- {self.clock()}: {job.name} begins")
            began = time.monotonic()
            with _log() as job.log:
                try:
                    result = self._result(job)
                except Exception:
                    job.log.write(traceback.format_exc())
                    result = Result(failed=1, line=f"FAILED  {job.name}: CI itself failed")
                with self._changed:
                    took = time.monotonic() - began
                    self._print(f"{job.name}, {took:.0f} s", job.log)
                    line = f"{result.line} ({took:.0f} s)"
                    print(line)
                    self.results.append(Result(result.passed, result.failed, line))
                    self._ended.add(job.name)
                    self._changed.notify_all()

    def _result(self, job):
        reason = self._missing.get(job.needs)
        if reason is None:
            job.given = self._fetched.get(job.needs, "")
            return job.function(job)
        if job.needs in self._optional:
            return Result(line=f"skipped {job.name} because of {job.needs}: {reason}")
        return Result(failed=1, line=f"FAILED  {job.name} did not run because of {job.needs}: {reason}")

    def _next(self):
        """The first job that can begin, when there is one; None when all have begun."""
        with self._changed:
            while True:
                if not self._waiting or _stopped.is_set():
                    return None
                for job in self._waiting:
                    there = job.needs is None or job.needs in self._fetched or job.needs in self._missing
                    if there and (job.after is None or job.after in self._ended):
                        self._waiting.remove(job)
                        return job
                self._changed.wait(1.0)

    def _print(self, heading, log):
        log.flush()
        log.seek(0)
        print(f"\n=== {heading}\n{log.read().rstrip()}")


def call(command, log, environment):
    """Run a command to its end, or to the limit. What it prints goes into ``log``, if there is one, too."""
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            command, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
            start_new_session=True,
        )  # fmt: skip
        _running.add(process)
        hung = False
        try:
            if _stopped.is_set():  # between two processes of a job
                _end(process, signal.SIGKILL)
            process.wait(LIMIT)
        except subprocess.TimeoutExpired:
            hung = True
            _end(process, signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(GRACE)
        finally:
            _end(process, signal.SIGKILL)  # what it left running, too
            process.wait()
            _running.discard(process)
        output.seek(0)
        text = output.read().decode(errors="backslashreplace")
    ending = f"exit status {process.returncode}"
    if process.returncode < 0:
        ending = f"killed by {signal.Signals(-process.returncode).name}"
    if hung:
        ending = f"stopped after {LIMIT} s"
    if log is not None:
        log.write(f"{text.rstrip()}\n[{ending}]\n")
    return Done(process.returncode, text, ending)


def _log():
    return tempfile.TemporaryFile("w+", encoding="utf-8", errors="backslashreplace")


def _end(process, number):
    """A signal to all that a process started, itself included."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


def _stop(number, _frame):
    raise SystemExit(128 + number)
