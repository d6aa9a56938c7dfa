"""The report: every contact of every foot, how far it slides before and after, and what made it a contact.

World space, metres, seconds; frames are indices of the clip here.
"""

from dataclasses import dataclass

import numpy as np

from . import arguments, contacts

# What made a contact, and what a leg's labels are from: a detection, a person, a file; and why a leg has none.
FOUND, HAND, FILE, MUTED, ABSENT = ORIGINS = ("found", "hand", "file", "muted", "absent")
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
    planted = weights > contacts.PLANTED_ABOVE
    slid, left = _steps(toes, planted), None if after is None else _steps(after, planted)
    away = np.zeros(flat)
    rows = []
    for leg in range(flat[1]):
        spans = contacts.runs(planted[:, leg])
        off = _from_places(toes[:, leg], spans, np.ones(len(toes), bool))
        if after is not None:
            away[:, leg] = _from_places(after[:, leg], spans, ~missed[:, leg])
            off_after = _from_places(after[:, leg], spans, np.ones(len(toes), bool))
        for start, stop in spans.tolist():
            at = (slice(start, stop), leg)
            worst, moved = start + int(slid[at].argmax()), None
            residual = float(away[at].max())
            if after is not None and left is not None:
                moved = _movement(after[at], left[at], off_after[start:stop])
                worst = start + int(away[at].argmax()) if residual > _SEEN else worst
            rows.append(
                Row(
                    leg,
                    start,
                    stop - 1,
                    worst,
                    float((stop - start) / motion.frame_rate),
                    _movement(toes[at], slid[at], off[start:stop]),
                    moved,
                    residual,
                    int(missed[at].sum()),
                    (float(speed[at].mean()), float(speed[at].max())),
                    (float(height[at].mean()), float(height[at].max())),
                    _cause(motion.origins[leg], detected[:, leg] > 0.0, start, stop),
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


def _movement(toe, steps, off):
    """The Movement of a toe (frames, 3) in one contact, with its steps (frames,), of which the first is none, and how
    far it is from its place (frames,)."""
    within = steps[1:]
    return Movement(
        float(within.mean()) if len(within) else 0.0,
        float(within.max(initial=0.0)),
        float(np.linalg.norm(toe[-1] - toe[0])),
        float(off.max()),
    )


def _from_places(toe, spans, known):
    """Metres (frames,) by which a toe (frames, 3) is from its place in each of the spans (n, 2) of frames, 0 between
    them: its median there where ``known`` (frames,) bool, or anywhere without.

    The median of all three axes at once, to which the sum of distances is least (found by Weiszfeld's steps): that of
    each axis would depend on how the world is turned.
    """
    off = np.zeros(len(toe))
    if not len(spans):
        return off
    counts = spans[:, 1] - spans[:, 0]
    inside = np.repeat(spans[:, 0] - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
    starts, which = np.cumsum(counts) - counts, np.repeat(np.arange(len(spans)), counts)
    points, share = toe[inside], known[inside].astype(float)
    share[np.add.reduceat(share, starts)[which] == 0.0] = 1.0
    places, weight = None, share
    for _ in range(_MOST_STEPS):
        total = np.add.reduceat(weight, starts)
        new = np.add.reduceat(weight[:, None] * points, starts) / total[:, None]
        if places is not None and np.abs(new - places).max() < _NEAR:
            break
        places = new
        far = np.linalg.norm(points - places[which], axis=-1)
        weight = share / np.maximum(far, _NEAR)
    off[inside] = np.linalg.norm(points - new[which], axis=-1)
    return off


def _cause(origin, detected, start, stop):
    """What made the contact from ``start`` to before ``stop`` of a leg whose labels have this origin: a contact of a
    detection that a person left as it was is still found."""
    if origin != HAND:
        return origin
    around = detected[max(start - 1, 0) : start].any() or detected[stop : stop + 1].any()
    return FOUND if detected[start:stop].all() and not around else HAND
