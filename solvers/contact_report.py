"""The report: every contact of every foot, how far it slides before and after, and what made it a contact.

World space, metres, seconds; frames are indices of the clip here.
"""

from dataclasses import dataclass

import numpy as np

from . import arguments, contacts

# What made a contact, and what a leg's labels are from: a detection, a person, a file; and why a leg has none.
FOUND, HAND, FILE, MUTED, ABSENT = ORIGINS = ("found", "hand", "file", "muted", "absent")
# A foot is planted where its weight is above this.
_LEVEL = 0.5
# What is left of two contacts differs where it does by so much, metres: less nobody sees.
_SEEN = 1e-4
# The median place is found to this, metres, or after so many steps.
_NEAR, _MOST_STEPS = 1e-7, 100


@dataclass(frozen=True)
class Motion:
    """What a report is made of. ``before`` (frames, legs, 3): toes, world, metres, at ``frame_rate`` (Hz); ``weights``
    (frames, legs): contacts, above 0.5 a foot is planted. ``detected`` (frames, legs) bool, ``speed`` over the floor
    (m/s) and ``height`` over it (metres), both (frames, legs): what a detection finds on this clip, with the levels
    ``enter`` and ``highest`` below which a foot may be planted. ``origins`` (legs,): one of ORIGINS each. ``after``:
    corrected toes, or None; ``out_of_reach`` (frames, legs) bool, or None."""

    before: np.ndarray
    weights: np.ndarray
    frame_rate: float
    detected: np.ndarray
    speed: np.ndarray
    height: np.ndarray
    enter: float
    highest: float
    origins: tuple
    after: np.ndarray | None = None
    out_of_reach: np.ndarray | None = None


@dataclass(frozen=True)
class Movement:
    """How a toe moves within a contact, metres. ``mean``, ``largest``: from one frame to the next. ``drift``: from the
    first frame to the last. ``away``: from its median place to where it is farthest from it."""

    mean: float
    largest: float
    drift: float
    away: float


@dataclass(frozen=True)
class Row:
    """One contact. ``leg``: index; ``first``, ``last``: its frames; ``worst``: the frame to look at, where most is
    left, or else where it slid most; ``seconds``. ``before``, ``after``: Movements, the latter None without a
    correction. ``residual``: metres by which the corrected toe is from its place at worst, its place being the median
    of the frames within reach; ``missed``: frames out of reach. ``speed``, ``height``: (mean, largest), over the floor,
    before. ``cause``: FOUND, HAND or FILE."""

    leg: int
    first: int
    last: int
    worst: int
    seconds: float
    before: Movement
    after: Movement | None
    residual: float
    missed: int
    speed: tuple
    height: tuple
    cause: str


@dataclass(frozen=True)
class Traces:
    """What goes along with the frames, all (frames, legs): ``weights``, ``detected``, ``speed`` and ``height`` as in
    Motion; ``before``, ``after``: metres by which a planted toe moved from the frame before, 0 where it is not planted
    in both; ``after`` is None without a correction; ``missed``: metres by which a toe out of reach is from its
    place."""

    weights: np.ndarray
    detected: np.ndarray
    speed: np.ndarray
    height: np.ndarray
    before: np.ndarray
    after: np.ndarray | None
    missed: np.ndarray


@dataclass(frozen=True)
class Report:
    """Rows, worst first, and Traces of a clip. ``armature``, ``action``: their names; ``legs`` and ``origins``: of each
    leg; ``frames`` (n,): of the scene; ``frame_rate``: Hz; ``enter``, ``highest``: see Motion."""

    armature: str
    action: str
    legs: tuple
    origins: tuple
    frames: np.ndarray
    frame_rate: float
    enter: float
    highest: float
    rows: tuple
    traces: Traces

    @property
    def corrected(self):
        """True where there is an after."""
        return self.traces.after is not None


def of_motion(armature, action, legs, frames, motion):
    """The Report of a Motion. Raises ValueError for shapes that do not fit or a number that is none."""
    rows, traces = measure(motion)
    return Report(
        armature,
        action,
        tuple(legs),
        tuple(motion.origins),
        np.asarray(frames, float),
        float(motion.frame_rate),
        float(motion.enter),
        float(motion.highest),
        rows,
        traces,
    )


def measure(motion):
    """(Rows, worst first, and Traces) of a Motion.

    The worst contact is the one of which most is left, to a tenth of a millimetre; among those alike, or without a
    correction, the one whose toe got farthest from its place before. Raises ValueError for shapes that do not fit or a
    number that is none.
    """
    toes = arguments.toes(motion.before, motion.frame_rate, least=0)
    flat = toes.shape[:2]
    after = None if motion.after is None else arguments.finite("after", motion.after, toes.shape)
    weights, speed, height, detected = (
        arguments.finite(name, getattr(motion, name), flat) for name in ("weights", "speed", "height", "detected")
    )
    missed = np.zeros(flat, bool) if motion.out_of_reach is None else np.asarray(motion.out_of_reach, bool)
    if missed.shape != flat or len(motion.origins) != flat[1]:
        raise ValueError(f"out_of_reach and origins of toes {flat} expected, got {missed.shape}, {motion.origins}")
    planted = weights > _LEVEL
    slid, left = _steps(toes, planted), None if after is None else _steps(after, planted)
    away = np.zeros(flat)
    rows = []
    for leg in range(flat[1]):
        for start, stop in contacts.runs(planted[:, leg]):
            here, at = slice(start, stop), (slice(start, stop), leg)
            worst, residual, moved = start + int(slid[at].argmax()), 0.0, None
            if after is not None and left is not None:
                moved = _movement(after[at], left[at])
                off = _from_place(after[at], ~missed[at])
                away[at], residual = off, float(off.max())
                worst = start + int(off.argmax()) if residual > _SEEN else worst
            rows.append(
                Row(
                    leg,
                    int(start),
                    int(stop - 1),
                    worst,
                    float((stop - start) / motion.frame_rate),
                    _movement(toes[at], slid[at]),
                    moved,
                    residual,
                    int(missed[at].sum()),
                    (float(speed[at].mean()), float(speed[at].max())),
                    (float(height[at].mean()), float(height[at].max())),
                    _cause(motion.origins[leg], detected[:, leg] > 0.0, here),
                )
            )
    rows.sort(key=lambda row: (-round(row.residual / _SEEN), -row.before.away, row.first, row.leg))
    traces = Traces(weights, detected, speed, height, slid, left, np.where(missed & planted, away, 0.0))
    return tuple(rows), traces


def _steps(toes, planted):
    """Metres (frames, legs) by which a planted toe moved from the frame before."""
    steps = np.zeros(planted.shape)
    steps[1:] = np.linalg.norm(np.diff(toes, axis=0), axis=-1) * (planted[1:] & planted[:-1])
    return steps


def _movement(toe, steps):
    """The Movement of a toe (frames, 3) in one contact, with its steps (frames,), of which the first is none."""
    within = steps[1:]
    return Movement(
        float(within.mean()) if len(within) else 0.0,
        float(within.max(initial=0.0)),
        float(np.linalg.norm(toe[-1] - toe[0])),
        float(_from_place(toe, np.ones(len(toe), bool)).max()),
    )


def _from_place(toe, known):
    """Metres (frames,) by which a toe (frames, 3) is from its place: its median where ``known`` (frames,) bool, or
    anywhere without.

    The median of all three axes at once: that of each would depend on how the world is turned.
    """
    points = toe[known] if known.any() else toe
    return np.linalg.norm(toe - _median(points), axis=-1)


def _median(points):
    """The place to which the sum of distances from points (n, 3) is least, by Weiszfeld's steps."""
    place = points.mean(axis=0)
    for _ in range(_MOST_STEPS):
        far = np.linalg.norm(points - place, axis=-1)
        weight = 1.0 / np.maximum(far, _NEAR)
        new = (weight[:, None] * points).sum(axis=0) / weight.sum()
        done = np.linalg.norm(new - place) < _NEAR
        place = new
        if done:
            break
    return place


def _cause(origin, detected, here):
    """What made the contact in the slice ``here`` of a leg whose labels have this origin: a contact of a detection that
    a person left as it was is still found."""
    if origin != HAND:
        return origin
    before, after = detected[here.start - 1 : here.start], detected[here.stop : here.stop + 1]
    return FOUND if detected[here].all() and not before.any() and not after.any() else HAND
