"""Edits of the labels of one foot, as an animator makes them at the playhead.

Labels are numbers (frames,), as ``slide_removal.solve`` takes them: above 0.5 the foot is planted. All functions return
new ones, and None where there is nothing of the kind to edit. ``at`` is the index of a frame. Cyclic motions: see
``repeated``.
"""

import numpy as np

from . import contacts


def contact_at(values, at):
    """(first, one past the last) index of the contact at a frame, or None."""
    return next((run for run in runs(values) if run[0] <= at < run[1]), None)


def planted(values, first, last):
    """A contact from one frame to another, both included; it joins those that it meets."""
    return _changed(values, _filled(values, first, last + 1, 1.0))


def made(values, at, length):
    """A contact of so many frames from a free frame on, that ends one frame before the next one begins."""
    if contact_at(values, at):
        return None
    after = min((start for start, _ in runs(values) if start > at), default=np.inf)
    return _filled(values, at, max(int(min(at + length, after - 1)), at + 1), 1.0)


def freed(values, first, last):
    """No contact from one frame to another, both included."""
    return _changed(values, _filled(values, first, last + 1, 0.0))


def deleted(values, at):
    """Without the contact at a frame."""
    run = contact_at(values, at)
    return _filled(values, run[0], run[1], 0.0) if run else None


def split(values, at):
    """The contact at a frame as two, this frame free between them."""
    run = contact_at(values, at)
    return _filled(values, at, at + 1, 0.0) if run and run[0] < at < run[1] - 1 else None


def joined(values, at):
    """The two contacts on either side of a free frame as one; of a planted one the contact and the next."""
    run = contact_at(values, at)
    gap_from = run[1] if run else max((stop for _, stop in runs(values) if stop <= at), default=None)
    gap_to = min((start for start, _ in runs(values) if start > at), default=None)
    return None if gap_from is None or gap_to is None else _filled(values, gap_from, gap_to, 1.0)


def started(values, at):
    """The contact at a frame, or the next one, begins in that frame."""
    run = contact_at(values, at) or next((run for run in runs(values) if run[0] > at), None)
    if run is None:
        return None
    return _changed(values, _filled(_filled(values, run[0], at, 0.0), at, run[0], 1.0))


def ended(values, at):
    """The contact at a frame, or the one before, ends with that frame."""
    run = contact_at(values, at) or next((run for run in runs(values)[::-1] if run[1] <= at), None)
    if run is None:
        return None
    return _changed(values, _filled(_filled(values, run[1], at + 1, 1.0), at + 1, run[1], 0.0))


def shifted(values, at, by):
    """The contact at a frame so many frames later, or earlier, as ``room`` allows; at the ends of the clip it loses
    what goes beyond."""
    run, by = contact_at(values, at), room(values, at, by)
    if by == 0:
        return None
    start, stop = run
    first, last = max(start + by, 0), min(stop + by, len(values))
    if last <= first:
        return None
    new = _filled(values, start, stop, 0.0)
    new[first:last] = values[first - by : last - by]
    return new


def room(values, at, by):
    """By how many of so many frames the contact at a frame can be shifted: it stops one frame before another one."""
    run = contact_at(values, at)
    if run is None:
        return 0
    start, stop = run
    before = max((other for _, other in runs(values) if other < start), default=-np.inf)
    after = min((other for other, _ in runs(values) if other > stop - 1), default=np.inf)
    return int(min(max(by, before + 1 - start), after - 1 - stop))


def repeated(edit, values, period):
    """What ``edit``, a function of values and of how far the indices of frames are on, makes of a motion that begins
    anew after ``period`` frames: the last contact of it may be one with the first."""
    once = np.array(values[:period], float)
    three = np.tile(once, 3)
    new = edit(three, period)
    if new is None:
        return None
    changed = np.flatnonzero(new != three)
    once[changed % period] = new[changed]
    return _changed(values, once[np.arange(len(values)) % period])


def always(values):
    """True where there is no frame without contact."""
    return bool((np.asarray(values) > contacts.PLANTED_ABOVE).all())


def runs(values):
    """(first, one past the last) index of each contact."""
    return [(int(first), int(stop)) for first, stop in contacts.runs(np.asarray(values) > contacts.PLANTED_ABOVE)]


def _filled(values, first, stop, value):
    new = np.array(values, float)
    new[max(first, 0) : max(stop, 0)] = value
    return new


def _changed(values, new):
    return None if np.array_equal(values, new) else new
