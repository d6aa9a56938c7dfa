"""What each foot does from frame to frame, as it is shown: planted, free, sliding or out of reach.

Everything here is a matter of showing: nothing of it goes into a correction.
"""

from dataclasses import dataclass

import numpy as np

from . import arguments
from .contacts import runs

FREE, PLANTED, SLIDING, OUT_OF_REACH = range(4)
# A planted toe that is faster than this slides: a millimetre from frame to frame at 30 Hz, m/s.
SLIDES_ABOVE = 0.03
# A contact curve's values are shown in so many steps, so that one that rises smoothly is not thousands of spans.
_SHADES = 8


@dataclass(frozen=True)
class Spans:
    """Spans of frames in which a foot has a contact of the same weight, in order of legs and frames: ``leg`` (m,),
    index; ``first`` and ``last`` (m,), indices of frames; ``weight`` (m,), 0..1."""

    leg: np.ndarray
    first: np.ndarray
    last: np.ndarray
    weight: np.ndarray


def of_steps(toes, planted, out_of_reach, frame_rate, slides_above=SLIDES_ABOVE):
    """The state (frames - 1, legs) int of each step from one frame to the next.

    toes: (frames, legs, 3); planted, out_of_reach: (frames, legs) bool; frame_rate: Hz; slides_above: speed in units of
    the toes per second. A step is planted where both its ends are, and out of reach where one of these is.
    """
    toes = arguments.toes(toes, frame_rate)
    planted = arguments.labels(planted, toes.shape[:2])
    missed = arguments.labels(out_of_reach, toes.shape[:2])
    held = planted[1:] & planted[:-1]
    speed = np.linalg.norm(np.diff(toes, axis=0), axis=-1) * frame_rate
    states = np.where(held, PLANTED, FREE)
    states[held & (speed > slides_above)] = SLIDING
    states[held & (missed[1:] | missed[:-1])] = OUT_OF_REACH
    return states


def of_frames(step_states, planted):
    """The state (frames, legs) int of each frame: the worse one of the steps before and after it, of a planted one."""
    padded = np.concatenate([step_states[:1], step_states, step_states[-1:]]) if len(step_states) else planted[[0, 0]]
    worse = np.maximum(padded[1:], padded[:-1])
    return np.where(planted, np.maximum(worse, PLANTED), FREE)


def spans(weights):
    """Spans of the contact curves' numbers (frames, legs) that are above zero, weights rounded to eighths but never to
    none."""
    shades = np.ceil(np.clip(np.asarray(weights, float), 0.0, 1.0) * _SHADES - 1e-6).astype(int)
    found = [
        (leg, first, end - 1, shade / _SHADES)
        for leg in range(shades.shape[1])
        for shade in range(1, _SHADES + 1)
        for first, end in runs(shades[:, leg] == shade)
    ]
    found.sort(key=lambda span: span[:2])
    leg, first, last, weight = zip(*found, strict=True) if found else ((), (), (), ())
    return Spans(np.array(leg, int), np.array(first, int), np.array(last, int), np.array(weight, float))
