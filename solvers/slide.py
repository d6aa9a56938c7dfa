"""How far planted feet slide."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Slide:
    """Sliding of one foot in contact. ``mean``, ``largest``: metres from one frame of contact to the next. ``steps``:
    how many such pairs of frames there are. ``worst``: index of the frame with the largest, the later of the two; -1
    without contact."""

    mean: float
    largest: float
    steps: int
    worst: int


def measure(toes, contacts):
    """Slide of each leg, one for each, of toes (frames, legs, 3), metres, between neighbouring frames of contacts
    (frames, legs) bool.

    All three axes count: a planted toe that rises and falls is not planted either.
    """
    step = np.linalg.norm(np.diff(toes, axis=0), axis=-1)
    both = contacts[1:] & contacts[:-1]
    slides = []
    for leg in range(toes.shape[1]):
        moved = step[both[:, leg], leg]
        if len(moved) == 0:
            slides.append(Slide(0.0, 0.0, 0, -1))
            continue
        worst = np.flatnonzero(both[:, leg])[np.argmax(moved)] + 1
        slides.append(Slide(float(moved.mean()), float(moved.max()), len(moved), int(worst)))
    return slides


def overall(slides):
    """Mean of several Slides over all their steps, metres from frame to frame."""
    steps = sum(one.steps for one in slides)
    return sum(one.mean * one.steps for one in slides) / steps if steps else 0.0
