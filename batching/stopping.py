"""Ctrl-C and the like: a run that is stopped ends in order."""

import signal
import threading

STATUS = 130


class Stopped(BaseException):
    """A run is stopped. No error of a clip: nothing that takes errors shall take it for one."""


class Stop:
    """While it is entered, SIGINT and SIGTERM set ``asked``, and raise Stopped once, where the work is done by this
    process (``raising``). Blender itself would end at once, or not at all, and Python would raise in the midst of what
    cannot be left half done."""

    def __init__(self):
        self.asked = False
        self.raising = False
        self._before = {}

    def __enter__(self):
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                # None: that of a program that is no Python, which cannot be put back.
                self._before[number] = signal.signal(number, self._ask) or signal.SIG_DFL
        return self

    def __exit__(self, *_):
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def check(self):
        """Raise Stopped where a stop was asked for: what it was raised in first may have taken it for an error."""
        if self.asked:
            raise Stopped

    def _ask(self, *_):
        first, self.asked = not self.asked, True
        if first and self.raising:
            raise Stopped
