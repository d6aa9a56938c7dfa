"""How far a run is, on a stream: one line that changes in a terminal, else a line now and then."""

import time

# Seconds between two lines.
_TERMINAL, _LOG = 0.1, 30.0


class Progress:
    """Counts files as they get done. ``total``: how many there are; of one file nothing is said."""

    def __init__(self, total, stream):
        self._total, self._stream = total, stream
        self._terminal = stream.isatty()
        self._start = self._said = time.monotonic()
        self._width = 0
        self.done = self.failed = self.skipped = 0

    def count(self, rows):
        """A file got done, of which rows are said."""
        self.done += 1
        self.failed += any("error" in row for row in rows)
        self.skipped += all(row.get("skipped", False) for row in rows)

    def show(self):
        """Say it, unless it was said just now."""
        now = time.monotonic()
        if self._total < 2 or self.done == self._total or now - self._said < (_TERMINAL if self._terminal else _LOG):
            return
        self._said = now
        self._write(self._line(now))

    def clear(self):
        """Take away the line that changes, for others to be printed."""
        if self._width:
            self._stream.write("\r" + " " * self._width + "\r")
            self._stream.flush()
            self._width = 0

    def end(self, stopped):
        """Say how it was."""
        self.clear()
        if self._total > 1 or stopped:
            seconds = time.monotonic() - self._start
            text = f"{self._counts()} in {_time(seconds)}, {self._rate(seconds):.2f} clips per second"
            if stopped:
                text = f"Stopped: {text}; run the same command again to go on"
            print(f"{text}.", file=self._stream, flush=True)

    def _line(self, now):
        seconds = now - self._start
        text = f"{self._counts()}, {self._rate(seconds):.2f} clips per second"
        if self.done > self.skipped:
            text += f", {_time((self._total - self.done) / self._rate(seconds))} left"
        return text

    def _counts(self):
        text = f"{self.done} of {self._total} done"
        for number, word in ((self.failed, "failed"), (self.skipped, "skipped")):
            text += f", {number} {word}" if number else ""
        return text

    def _rate(self, seconds):
        """Files per second, without those that took none."""
        return (self.done - self.skipped) / max(seconds, 1e-3)

    def _write(self, text):
        if self._terminal:
            self.clear()
            self._width = len(text)
            self._stream.write(text)
        else:
            self._stream.write(text + "\n")
        self._stream.flush()


def _time(seconds):
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{seconds:02d}" if hours else f"{minutes}:{seconds:02d}"
