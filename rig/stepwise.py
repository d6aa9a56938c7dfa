"""Long work in steps: generators that say how far they are, so that the interface can go on beside them, and stop.

Such a generator yields a ``Step`` now and then, and returns its result. Whoever drives it may close it at any of them;
what it has changed by then it puts back. A script exhausts it at once (``finish``), an operator a little at a time
(``Work``). Only jobs run in another thread, so that Blender is touched by the main one alone.
"""

import threading
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from functools import wraps

# What is being done while curves that were written are looked at.
NOTING = "noting what was written"


class Cancelled(Exception):
    """Raised within a job that nobody waits for any more."""


@dataclass(frozen=True)
class Step:
    """``share``: how much of the work is done, 0 to 1; ``what``: is done next, in a word or two. ``job``: a function
    that needs no Blender, so that it may run in another thread; its result is sent to the generator. It is given a
    function to tell which share it has done of what lies before ``end``, and that may raise Cancelled."""

    share: float
    what: str
    job: Callable | None = None
    end: float = 1.0


def job(what, function, *arguments, **named):
    """Steps that let a function work that needs no Blender; its result."""
    return (yield Step(0.0, what, lambda tell: function(*arguments, **named)))


def told_job(what, function):
    """The same of a function that takes one by which it tells its progress, 0 to 1."""
    return (yield Step(0.0, what, function))


def each(what, function, items):
    """Steps that let a function work on one item after the other, here and now; the list of its results."""
    items, found = list(items), []
    for i, item in enumerate(items):
        yield Step(i / len(items), what)
        found.append(function(item))
    return found


def part(steps, start, end):
    """Steps that are only the part of a work from one share of it to another; their result."""
    wide = end - start
    resume, value = steps.send, None
    while True:
        try:
            step = resume(value)
        except StopIteration as stop:
            return stop.value
        try:
            value = yield replace(step, share=start + wide * step.share, end=start + wide * step.end)
            resume = steps.send
        except BaseException as error:  # a job that failed, or the end
            resume, value = steps.throw, error


def finish(steps, tell=None):
    """Exhaust steps at once; their result. tell: a function of each Step, or None."""
    with closing(steps):
        resume, value = steps.send, None
        while True:
            try:
                step = resume(value)
            except StopIteration as stop:
                return stop.value
            if tell is not None:
                tell(step)
            resume, value = steps.send, None
            if step.job is not None:
                try:
                    value = step.job(_untold)
                except BaseException as error:
                    resume, value = steps.throw, error


def plain(stepwise):
    """The function that exhausts what a generator function makes, and returns its result."""

    @wraps(stepwise)
    def finished(*arguments, **named):
        return finish(stepwise(*arguments, **named))

    return finished


class Work:
    """Steps that go on a little at a time, with jobs in a thread of their own. ``share`` of what is done, 0 to 1, which
    never falls; ``what`` is done; and the ``result`` at the end."""

    def __init__(self, steps):
        self._steps = steps
        self._job = None
        self._next = steps.send, None
        self._share = 0.0
        self.what = ""
        self.result = None

    @property
    def share(self):
        if self._job is not None:
            self._share = max(self._share, self._job.share)
        return self._share

    def advance(self, seconds):
        """Go on for about so long; True when all is done. Raises what the steps raise, with which they have ended."""
        end = time.perf_counter() + seconds
        while True:
            if self.waits(end - time.perf_counter()):
                return False
            if self._job is not None:
                self._next, self._job = self._job.resume(self._steps), None
            resume, value = self._next
            try:
                step = resume(value)
            except StopIteration as stop:
                self._share, self.result = 1.0, stop.value
                return True
            self._next = self._steps.send, None
            self._share, self.what = max(self._share, step.share), step.what
            if step.job is not None:
                self._job = _Job(step)
            elif time.perf_counter() >= end:
                return False

    def waits(self, seconds):
        """True while a job is at work, for which it is waited so long."""
        return self._job is not None and not self._job.done(seconds)

    def stop(self):
        """End at once, so that the steps put back what they have changed. A job is left behind and ends by itself."""
        if self._job is not None:
            self._job.wanted = False
            self._job = None
        self._steps.close()


class _Job:
    """The job of a step, in a thread that nobody has to wait for."""

    def __init__(self, step):
        self._step = step
        self._outcome = None
        self.share = step.share
        self.wanted = True
        self._thread = threading.Thread(target=self._run, name="Footlock", daemon=True)
        self._thread.start()

    def _run(self):
        try:
            self._outcome = self._step.job(self._tell), None
        except BaseException as error:
            self._outcome = None, error

    def _tell(self, share):
        if not self.wanted:
            raise Cancelled
        self.share = self._step.share + (self._step.end - self._step.share) * share

    def done(self, seconds):
        """True when it has ended, for which it is waited so long."""
        self._thread.join(max(seconds, 0.0))
        return not self._thread.is_alive()

    def resume(self, steps):
        """How the steps go on: by which function, and its argument."""
        value, error = self._outcome
        return (steps.send, value) if error is None else (steps.throw, error)


def _untold(share):
    """Nobody listens."""
