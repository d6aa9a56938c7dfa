"""Ctrl-C and the like: a run that is stopped ends in order."""

import _thread
import signal
import threading

STATUS = 130
# Seconds until a stop that has to wait is tried again.
_AGAIN = 0.05
_OWN = __package__.rpartition(".")[0] + "."
_SOLVERS = _OWN + "solvers."


class Stopped(BaseException):
    """A run is stopped. No error of a clip: nothing that takes errors shall take it for one."""


class Stop:
    """While it is entered, SIGINT and SIGTERM set ``asked``, and raise Stopped once, where the work is done by this
    process (``raising``) and as soon as the solvers are at it. Blender itself would end at once, or not at all; what
    Python raises while keys are written would leave them half done; and in a function that Blender calls it would be
    printed as an error of that function, and forgotten."""

    def __init__(self):
        self.asked = False
        self.raising = False
        self._raised = False
        self._again = None
        self._before = {}

    def __enter__(self):
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                # None: that of a program that is no Python, which cannot be put back.
                self._before[number] = signal.signal(number, self._ask) or signal.SIG_DFL
        return self

    def __exit__(self, *_):
        self.raising = False
        if self._again is not None:
            self._again.cancel()
            self._again.join()
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def check(self):
        """Raise Stopped where a stop was asked for: what it was raised in first may have taken it for an error."""
        if self.asked:
            raise Stopped

    def _ask(self, number, frame):
        self.asked = True
        if not self.raising or self._raised:
            return
        if _is_solving(frame):
            self._raised = True
            raise Stopped
        if self._again is not None:
            self._again.cancel()
        self._again = threading.Timer(_AGAIN, _thread.interrupt_main, (number,))
        self._again.daemon = True
        self._again.start()


def _is_solving(frame):
    """True where the nearest of Footlock's own frames is one of the solvers, which know nothing of Blender."""
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if name.startswith(_OWN):
            return name.startswith(_SOLVERS)
        frame = frame.f_back
    return False
