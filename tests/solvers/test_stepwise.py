"""Long work in steps: that both ways to drive it give the same, that it says how far it is, and that it stops."""

import itertools
import threading
import time
import unittest

from footlock.rig import stepwise
from footlock.rig.stepwise import Step, Work, job, part, plain, told_job

LONG = 5.0  # seconds that no test waits for


def adding(numbers, log):
    """Steps that add up numbers, every other one in a job."""
    total = 0
    try:
        for i, number in enumerate(numbers):
            if i % 2:
                total = yield from part(job("adding", sum, (total, number)), i / len(numbers), (i + 1) / len(numbers))
            else:
                total += number
                yield Step((i + 1) / len(numbers), "counting")
        return total
    finally:
        log.append("closed")


def halves(log):
    """Two additions as one work."""
    first = yield from part(adding(range(5), log), 0.0, 0.5)
    return first, (yield from part(adding(range(10), log), 0.5, 1.0))


def advanced(work, seconds=0.0):
    """Exhaust a Work a little at a time; what was seen of it after each time."""
    seen = []
    until = time.monotonic() + LONG
    while not work.advance(seconds):
        seen.append((work.share, work.what))
        assert time.monotonic() < until
    return seen


class Driving(unittest.TestCase):
    def test_both_ways_give_the_same(self):
        self.assertEqual(stepwise.finish(halves([])), (10, 45))
        self.assertEqual(plain(halves)([]), (10, 45))
        work = Work(halves([]))
        seen = advanced(work)
        self.assertEqual(work.result, (10, 45))
        self.assertGreaterEqual(len(seen), 8)
        self.assertIn("counting", {what for _, what in seen})

    def test_it_tells_how_far_it_is_and_never_goes_back(self):
        told = []
        stepwise.finish(halves([]), lambda step: told.append(step.share))
        self.assertEqual(told, sorted(told))
        self.assertAlmostEqual(told[4], 0.5)
        self.assertAlmostEqual(told[-1], 0.95)  # before the last job

        def back():
            yield Step(0.7, "on")
            yield Step(0.2, "back")

        work = Work(back())
        seen = advanced(work)
        self.assertEqual(seen, [(0.7, "on"), (0.7, "back")])
        self.assertEqual(work.share, 1.0)

    def test_a_long_slice_takes_all_steps_at_once(self):
        work = Work(halves([]))
        self.assertTrue(work.advance(LONG))

    def test_plain_keeps_the_name(self):
        self.assertEqual(plain(adding).__doc__, adding.__doc__)


class Jobs(unittest.TestCase):
    def test_only_jobs_leave_the_thread(self):
        threads = []

        def work():
            threads.append(threading.current_thread())
            yield from job("away", lambda: threads.append(threading.current_thread()))
            threads.append(threading.current_thread())

        advanced(Work(work()))
        own, away, again = threads
        self.assertIs(own, threading.current_thread())
        self.assertIs(again, own)
        self.assertIsNot(away, own)
        threads.clear()
        stepwise.finish(work())
        self.assertEqual(set(threads), {own})

    def test_it_does_not_wait_for_a_job(self):
        go_on = threading.Event()
        work = Work(job("waiting", go_on.wait, LONG))
        start = time.monotonic()
        self.assertFalse(work.advance(0.02))
        self.assertFalse(work.advance(0.02))
        self.assertLess(time.monotonic() - start, 0.5 * LONG)
        go_on.set()
        self.assertTrue(work.advance(LONG))
        self.assertIs(work.result, True)

    def test_a_job_tells_its_share(self):
        told, go_on = threading.Event(), threading.Event()

        def solve(tell):
            tell(0.5)
            told.set()
            go_on.wait(LONG)
            return "solved"

        work = Work(part(told_job("solving", solve), 0.2, 0.6))
        self.assertFalse(work.advance(0.0))
        self.assertTrue(told.wait(LONG))
        self.assertAlmostEqual(work.share, 0.4)
        go_on.set()
        self.assertTrue(work.advance(LONG))
        self.assertEqual(work.result, "solved")

    def test_what_a_job_raises_comes_to_the_steps(self):
        def failing():
            raise ZeroDivisionError("of a job")

        def work(log):
            try:
                yield from part(job("failing", failing), 0.0, 1.0)
            finally:
                log.append("put back")

        for drive in (stepwise.finish, lambda steps: Work(steps).advance(LONG)):
            log = []
            with self.assertRaisesRegex(ZeroDivisionError, "of a job"):
                drive(part(work(log), 0.0, 0.5))
            self.assertEqual(log, ["put back"])

    def test_a_job_that_failed_can_be_done_without(self):
        def failing():
            raise ZeroDivisionError

        def work():
            try:
                yield from job("failing", failing)
            except ZeroDivisionError:
                yield Step(0.5, "without")
            return "done"

        self.assertEqual(stepwise.finish(part(work(), 0.0, 1.0)), "done")
        other = Work(part(work(), 0.0, 1.0))
        advanced(other)
        self.assertEqual(other.result, "done")


class Stopping(unittest.TestCase):
    def test_at_every_step_it_puts_back(self):
        for steps in itertools.count(1):
            log = []
            work = Work(halves(log))
            if any([work.advance(0.0) for _ in range(steps)]):
                break
            closed = len(log)
            work.stop()
            self.assertEqual(len(log), closed + 1)
            work.stop()
        self.assertGreater(steps, 8)

    def test_a_job_left_behind_ends_by_itself(self):
        begun, ended = threading.Event(), []

        def solve(tell):
            begun.set()
            until = time.monotonic() + LONG
            try:
                while time.monotonic() < until:
                    tell(0.1)
                    time.sleep(0.001)
            except stepwise.Cancelled:
                ended.append(True)
                raise

        log = []

        def work():
            try:
                yield from told_job("solving", solve)
            finally:
                log.append("closed")

        running = Work(work())
        self.assertFalse(running.advance(0.0))
        self.assertTrue(begun.wait(LONG))
        stopped = time.monotonic()
        running.stop()
        self.assertLess(time.monotonic() - stopped, 0.5 * LONG)
        self.assertEqual(log, ["closed"])
        while not ended and time.monotonic() < stopped + LONG:
            time.sleep(0.001)
        self.assertTrue(ended)

    def test_an_interrupted_script_puts_back(self):
        log = []

        def interrupt(step):
            if step.what == "adding":
                raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt):
            stepwise.finish(halves(log), interrupt)
        self.assertEqual(log, ["closed"])
