"""The offline pass: pelvis and toe positions of a whole clip, with planted toes standing still.

The article's constraints, in the limit to which its sweeps would come: pelvis and free toes keep their velocity, the
distance from pelvis to toe is kept, and a toe does not move between two frames of contact. That is a small nonlinear
least-squares problem,

    minimise   ½ Σ L · |Δ(p − p⁰)|²                  pelvis keeps its velocity, once for each of L legs
             + ½ Σ |Δ(t − t⁰)|²                      a toe keeps its velocity, except between two frames in contact
             + ½ Σ (|p − t| − |p⁰ − t⁰|)²            distance from pelvis to toe, every frame and leg
             + ½ 1e-6 (|p − p⁰|² + Σ |t − t⁰|²)      fixes the free translation
    subject to  t constant over each run of ≥ 2 contact frames, at the height of the ground

to which ours are added, each of which can be left out (``Terms``, and the arguments of ``solve``):

             + ½ τ² Σ (L · |Δ²(p − p⁰)|² + |Δ²(t − t⁰)|²)   acceleration, across the ends of contacts too
             + ½ 3 Σ max(|p − t + c| − r, 0)²               a leg is not asked to be longer than it is
             + ½ 1e5 Σ max(floor − t_z, 0)²                 free toes stay above the floor
             + ½ L Σ (α |p − p⁰|²_xy + β max(p⁰_z − p_z, 0)²)   path and height of the pelvis
             + ½ 2000 Σ max(|Δ²t| − a, 0)²                  toes accelerate no more than they did about then
             + ½ 150 Σ max(|Δ²|p − t + c|| − b, 0)²         nor do the distances from hip to heel, so no knee pops

in which c leads from pelvis and toe to hip and heel, r is the length of a leg, and a and b are the largest
accelerations of the source near each frame; where a contact begins or ends, a is that about this edge.

Each frame meets only the two before and after it: Gauss-Newton on a block tridiagonal system, with Newton's own
second-order term near the solution, first on every eighth frame, then on more, then on all. Sums over frames are
weighted as integrals over time, so that a rate of 60 Hz gives the sums above and another rate the same motion.
"""

from dataclasses import dataclass, replace

import numpy as np

from . import arguments, resample, unknowns
from .clip_problem import RATE, Motion, Problem, Reach, Terms, most_acceleration, most_stretching

__all__ = ["Reach", "SlideRemoval", "Terms", "solve"]

_ARTICLE = Terms()
# A foot that is held in part, or slides on purpose, keeps the velocity that it shall have by so much more than a free
# one.
_FIRM = 100.0
# Lengths below are shares of the distance from pelvis to toe, so that a world of another unit gives the same answer.
# A step in which nothing moves further than this was the last.
_TOLERANCE = 1e-6
# Steps shorter than this are near enough to the solution for Newton's.
_NEWTON_RADIUS = 0.02
# What is left after one of Newton's is so many times less than the step itself, at least, where the tolerances are.
_NEWTON_GAIN = 100.0
# A Newton step so short that gains no more than this share of the energy was the last, too: where toes come to the
# floor or to what they may accelerate, the last of them go to and fro.
_SHORT, _LITTLE = 1e-3, 1e-3
# The coarse levels: every so manieth frame, so many about the ends of contacts, and what is their last step.
_COARSE = ((8, 0, 3e-4), (8, 3, 1e-5))
# A level is worth its while from so many frames on, and when it leaves out more than this share of them.
_LEAST_COARSE = 24
_MOST_COARSE = 0.7
_MOST_STEPS, _MOST_COARSE_STEPS = 100, 10
# A cyclic motion has more frames than this.
_LEAST_CYCLE = 5
_MOST_HALVINGS = 30
_NEWTON_HALVINGS = 3
# Energies are compared to this share: below it a difference is rounding.
_ENERGY_ROUNDING = 1e-12


@dataclass(frozen=True)
class SlideRemoval:
    """``pelvis`` (frames, 3) and ``toes`` (frames, legs, 3), world, metres. ``locked`` (frames, legs): the frames in
    which a toe is held. ``energy``: what the solution leaves of the sum that is minimised, square metres. ``steps``:
    Gauss-Newton and Newton steps, coarse and fine together. ``last_step``: metres. ``converged``: False when the
    steps stopped before the tolerance was met."""

    pelvis: np.ndarray
    toes: np.ndarray
    locked: np.ndarray
    energy: float
    steps: int
    last_step: float
    converged: bool


def solve(
    pelvis,
    toes,
    contacts,
    ground_height,
    frame_rate=RATE,
    reach=None,
    terms=_ARTICLE,
    floor=None,
    pinned=None,
    cyclic=False,
    rise=None,
    places=None,
    each_step=None,
):
    """Remove the sliding of planted toes.

    pelvis: (frames, 3) and toes: (frames, legs, 3), world space, z up, metres. contacts: (frames, legs), bool or
    numbers: 1 holds a toe, a share below it holds it in part (it slides by the rest of its way), 0 leaves it free,
    and below 0 it slides on purpose, just as it does in the source. ground_height: world z, metres, broadcast to
    (frames, legs); a contact takes that of its first frame. frame_rate: Hz. reach: Reach, or None for legs of any
    length. terms: Terms. floor: lowest heights of free toes, world z, broadcast to (frames, legs), or None. pinned:
    (frames,) bool, frames that stay as they are; a contact that goes on into them takes its place from there. cyclic:
    the last frame is the first again, but for the way between them, and none is pinned. rise: (frames, 1 + legs),
    metres by which pelvis and toes shall be higher than in the source, as uneven ground has it, or None. places:
    (frames, legs, 3), where a contact shall stand, at the height of its ground: that of its first frame that has one,
    NaN for anywhere. each_step: a function that is called before each step, to tell progress, or to raise what ends
    it.

    Returns a SlideRemoval; the contacts hold exactly. Raises ValueError for shapes that do not fit, values that are
    not finite, or a rate that is not positive.
    """
    toes = arguments.toes(toes, frame_rate, least=0)
    shape = toes.shape[:2]
    frames = len(toes)
    pelvis, contacts = arguments.finite("pelvis", pelvis, (frames, 3)), arguments.finite("contacts", contacts, shape)
    ground = arguments.finite("ground_height", np.broadcast_to(ground_height, shape), shape)
    lowest = np.broadcast_to(-np.inf if floor is None else np.asarray(floor, float), shape)
    source = np.concatenate([pelvis[:, None], toes], axis=1)
    if cyclic and frames > _LEAST_CYCLE:
        return _solve_cycle(source, contacts, ground, frame_rate, reach, terms, lowest, rise, each_step, places)
    pinned = np.zeros(frames, bool) if pinned is None else np.asarray(pinned, bool)
    return _solve(source, contacts, ground, frame_rate, reach, terms, lowest, pinned, None, rise, each_step, places)


def _solve_cycle(source, contacts, ground, frame_rate, reach, terms, floor, rise, each_step, places):
    """The solution on all frames but the last, which is the first again."""
    way = source[-1, 0] - source[0, 0]
    reach, rise = reach and reach.at(slice(-1)), None if rise is None else rise[:-1]
    places = None if places is None else places[:-1]
    pinned = np.zeros(len(source) - 1, bool)
    source, contacts, ground, floor = source[:-1], contacts[:-1], ground[:-1], floor[:-1]
    found = _solve(source, contacts, ground, frame_rate, reach, terms, floor, pinned, way, rise, each_step, places)
    return replace(
        found,
        pelvis=np.concatenate([found.pelvis, found.pelvis[:1] + way]),
        toes=np.concatenate([found.toes, found.toes[:1] + way]),
        locked=np.concatenate([found.locked, found.locked[:1]]),
    )


def _solve(source, contacts, ground, frame_rate, reach, terms, floor, pinned, way, rise, each_step, places):
    """SlideRemoval of points (frames, 1 + legs, 3). way: (3,), how far a cyclic motion gets in a cycle, else None."""
    frames, cyclic = len(source), way is not None
    stands = _Standing(source, contacts >= 1.0, ground, pinned, way, places)
    most = stretching = np.full(contacts.shape, np.inf)
    if terms.smoothing > 0.0 and frames > 2:
        about = max(1, round(terms.smoothing * frame_rate))
        most = most_acceleration(source[:, 1:], stands.joined[:, 1:], about, way)
        if reach is not None:
            stretching = most_stretching(source[:, 0], source[:, 1:], reach, about, cyclic)
    guide, firmness = _guide(source, contacts, cyclic)
    start = source
    if rise is not None:
        rise = rise * np.concatenate([[not terms.keep_height], np.ones(contacts.shape[1])])
        up = np.where(pinned[:, None], 0.0, rise)[..., None] * (0.0, 0.0, 1.0)
        guide, start = guide + up, source + up
    motion = Motion(source, guide, firmness, stands.joined, stands.held(terms), floor, most, stretching, reach, way)
    if not stands.locked.any() and not (source[:, 1:, 2] < floor).any() and (motion.guide == source).all():
        return SlideRemoval(source[:, 0].copy(), source[:, 1:].copy(), stands.locked, 0.0, 0, 0.0, True)

    points = stands.placed(start)
    size = float(np.median(np.linalg.norm(source[:, :1] - source[:, 1:], axis=-1))) or 1.0
    steps, longest = 0, np.inf
    for stride, about, tolerance in () if cyclic else _COARSE:
        kept = _kept_frames(stands, pinned, stride, about)
        if _LEAST_COARSE <= len(kept) < _MOST_COARSE * frames:
            problem = Problem(motion, kept, frame_rate, terms)
            start, most_steps = points[kept], _MOST_COARSE_STEPS
            coarse, taken, longest, _ = _descend(problem, start, tolerance, size, longest, most_steps, each_step)
            points = source + _interpolated(kept, coarse - source[kept], frames)
            points = stands.placed(points, at_first=True)
            steps += taken
    problem = Problem(motion, np.arange(frames), frame_rate, terms)
    points, taken, last_step, converged = _descend(problem, points, _TOLERANCE, size, longest, _MOST_STEPS, each_step)
    return SlideRemoval(
        points[:, 0], points[:, 1:], stands.locked, problem.energy(points), steps + taken, last_step, converged
    )


def _guide(source, contacts, cyclic):
    """The motion whose velocity is kept (frames, 1 + legs, 3), and by how much more than usual it counts that each step
    keeps it (steps, 1 + legs)."""
    share = contacts if not cyclic else np.concatenate([contacts, contacts[:1]])
    share = np.minimum(share[1:], share[:-1])
    firmness = np.ones((len(share), source.shape[1]))
    firmness[:, 1:][(share != 0.0) & (share < 1.0)] = _FIRM
    slowed = np.clip(share, 0.0, 1.0) * (share < 1.0)
    if not slowed.any():
        return source, firmness
    step = np.diff(source, axis=0)
    step[:, 1:] *= 1.0 - slowed[: len(step), :, None]
    return np.concatenate([source[:1], source[:1] + np.cumsum(step, axis=0)]), firmness


class _Standing:
    """Where toes stand: ``locked`` (frames, legs), the frames in which; ``joined`` (steps, 1 + legs), see Motion."""

    def __init__(self, source, contacts, ground, pinned, way, places):
        self._source, self._pinned, self._places = source, pinned, places
        self._ground, self._way = ground, way
        frames, legs = contacts.shape
        steps = frames if way is not None else max(frames - 1, 0)
        after = (np.arange(steps) + 1) % max(frames, 1)
        together = contacts[:steps] & contacts[after]
        self.locked = np.zeros_like(contacts)
        self.joined = np.zeros((steps, 1 + legs), bool)
        self._given = np.zeros_like(contacts)
        self._runs = []
        for leg in range(legs):
            for run in unknowns.runs(together[:, leg], way is not None):
                self._add(leg, run)
        self.joined &= ~(pinned[:steps] | pinned[after])[:, None]

    def _add(self, leg, run):
        fixed = self._pinned[run]
        free = run[~fixed]
        if (fixed[0] and fixed[-1]) or not len(free):
            # Its places at the two ends are not one place, or there is nothing to move.
            return
        place, given = None, self._given_place(leg, run)
        if fixed.any():
            place = self._source[run[np.flatnonzero(fixed)[-1 if fixed[0] else 0]], 1 + leg]
            self._given[free, leg] = True
        elif given is not None:
            place = given * (1.0, 1.0, 0.0) + (0.0, 0.0, self._ground[run[0], leg])
            self._given[free, leg] = True
        self.locked[free, leg] = True
        self.joined[free[:-1], 1 + leg] = True
        if self._way is not None and len(run) == len(self.joined):
            self.joined[:, 1 + leg] = True
        self._runs.append((leg, free, place, self._ground[run[0], leg]))

    def _given_place(self, leg, run):
        """Where a run shall stand, as its first frame has it, or None."""
        if self._places is None:
            return None
        places = self._places[run, leg]
        known = np.flatnonzero(np.isfinite(places).all(axis=1))
        if not len(known):
            return None
        # In a cyclic motion a run that goes on from the last frame to the first is a way further back there.
        wrapped = self._way is not None and run[known[0]] < run[0]
        return places[known[0]] + (self._way if wrapped else 0.0)

    def held(self, terms):
        """Components (frames, 1 + legs, 3) bool that are given: heights of contacts, pinned frames, the path that is
        kept."""
        held = np.zeros(self._source.shape, bool)
        held[:, 1:, 2] = self.locked
        held[:, 1:] |= self._given[..., None]
        held[self._pinned] = True
        held[:, 0, :2] |= terms.keep_path >= 1.0
        held[:, 0, 2] |= terms.keep_height
        return held

    def placed(self, points, at_first=False):
        """Points whose toes stand in one place in each run: the mean of the run's, or where they are ``at_first``, at
        the height of the ground."""
        points = points.copy()
        for leg, run, place, ground in self._runs:
            further = np.zeros((len(run), 3))
            if self._way is not None:
                further[run < run[0]] = self._way
            toe = points[run, 1 + leg] + further
            if place is None:
                place = (toe[0] if at_first else toe.mean(0)) * (1.0, 1.0, 0.0) + (0.0, 0.0, ground)
            points[run, 1 + leg] = place - further
        return points


def _descend(problem, points, tolerance, size, longest, most, each_step):
    """At most ``most`` steps, until none would move anything further than ``tolerance`` times ``size`` (metres); each
    lowers the energy. Where Gauss-Newton's go too far, Newton's own are tried, which see how lengths turn. ``longest``:
    how far the last step before went. Returns the points, the number of steps, the length of the last, and whether the
    tolerance was met."""
    energy = problem.energy(points)
    shortened = False
    for taken in range(1, most + 1):
        if each_step is not None:
            each_step()
        newton = shortened or longest < _NEWTON_RADIUS * size
        moved = _lowered(problem, points, energy, newton=True, halvings=_NEWTON_HALVINGS) if newton else None
        if moved is None:
            newton, moved = False, _lowered(problem, points, energy, newton=False, halvings=_MOST_HALVINGS)
        if moved is None:
            return points, taken, longest, False
        shortened = np.abs(moved[0] - points).max() < 0.5 * moved[2]
        gained = energy - moved[1]
        points, energy, longest = moved
        if longest < tolerance * size * (_NEWTON_GAIN if newton else 1.0):
            return points, taken, longest, True
        if newton and problem.terms.smoothing and longest < _SHORT * size and gained < _LITTLE * energy:
            return points, taken, longest, True
    return points, most, longest, False


def _lowered(problem, points, energy, newton, halvings):
    """The points after a step that does not raise the energy, their energy, and how far the whole step would have gone;
    None where there is no such step, as Newton's model may have no minimum."""
    step = problem.step(points, newton)
    longest = float(np.abs(step).max())
    for _ in range(halvings + 1):
        ahead = points + step
        new = problem.energy(ahead)
        if new <= energy * (1.0 + _ENERGY_ROUNDING):
            return ahead, new, longest
        step = 0.5 * step
    return None


def _kept_frames(stands, pinned, stride, about):
    """Frames of a coarse level: every ``stride``-th, the first and last of the clip, those that are pinned, and those
    at the ends of each run, with ``about`` more on either side."""
    keep = pinned.copy()
    keep[1:] |= pinned[:-1]
    keep[:-1] |= pinned[1:]
    keep[::stride] = True
    keep[[0, -1]] = True
    ends = 1 + np.flatnonzero(np.any(stands.joined[1:] != stands.joined[:-1], axis=1))
    for away in range(-about, about + 1):
        keep[np.clip(ends + away, 0, len(keep) - 1)] = True
    return np.flatnonzero(keep)


def _interpolated(kept, values, frames):
    """Values (kept, …) at the frames ``kept``, drawn to all frames on curves that are smooth there."""
    index = np.clip(np.searchsorted(kept, np.arange(frames), side="right") - 1, 0, len(kept) - 2)
    wide = (kept[index + 1] - kept[index]).reshape(-1, *(1,) * (values.ndim - 1))
    t = (np.arange(frames) - kept[index]).reshape(wide.shape) / wide
    slope = np.gradient(values, kept, axis=0)
    a, b, u, v = values[index], values[index + 1], slope[index] * wide, slope[index + 1] * wide
    return resample.hermite(a, b, u, v, t)
