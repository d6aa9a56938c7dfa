"""The offline pass: pelvis and toe positions of a whole clip, with planted toes standing still.

The article's constraints, in the limit to which its sweeps would come: pelvis and free toes keep their velocity, the
distance from pelvis to toe is kept, and a toe does not move between two frames of contact. That is a small nonlinear
least-squares problem,

    minimise   ½ Σ L · |Δ(p − p⁰)|²                  pelvis keeps its velocity, once for each of L legs
             + ½ Σ |Δ(t − t⁰)|²                      a toe keeps its velocity, except between two frames in contact
             + ½ Σ (|p − t| − |p⁰ − t⁰|)²            distance from pelvis to toe, every frame and leg
             + ½ 1e-6 (|p − p⁰|² + Σ |t − t⁰|²)      fixes the free translation
             + ½ 3 Σ max(|p − t + c| − r, 0)²       a leg is not asked to be longer than it is (ours, with ``Reach``)
    subject to  t constant over each run of ≥ 2 contact frames, at the height of the ground

in which each frame meets only its neighbours: Gauss-Newton on a block tridiagonal system, with Newton's own
second-order term near the solution, first on every eighth frame, then on more, then on all. Sums over frames are
weighted as integrals over time, so that a rate of 60 Hz gives the sums above and another rate the same motion.
"""

from dataclasses import dataclass

import numpy as np

from . import block_tridiagonal

# The rate at which the sums of the problem are the article's own, Hz.
_RATE = 60.0
_ANCHOR = 1e-6
# How much more it counts, beside the distance from pelvis to toe, that a leg is asked for more than its length.
_TOO_LONG = 3.0
# A step in which nothing moves further than this (metres) was the last.
_TOLERANCE = 1e-6
# Steps shorter than this (metres) are near enough to the solution for Newton's.
_NEWTON_RADIUS = 0.02
# What is left after one of Newton's is so many times less than the step itself, at least, where the tolerances are.
_NEWTON_GAIN = 100.0
# The coarse levels keep every so manieth frame, and end sooner (metres).
_COARSE_STRIDES = (8, 4, 2)
_COARSE_TOLERANCE = 1e-4
# A level is worth its while from so many frames on, and when it leaves out more than this share of them.
_LEAST_COARSE = 24
_MOST_COARSE = 0.7
_MOST_STEPS = 100
_MOST_HALVINGS = 30
# Energies are compared to this share: below it a difference is rounding.
_ENERGY_ROUNDING = 1e-12


@dataclass(frozen=True)
class Reach:
    """How far the legs reach. ``offset`` (frames, legs, 3): what is to be added to pelvis minus toe to get hip minus
    heel, metres; ``length`` (frames, legs): how long that may become, metres. Article's own problem has no such
    bound, and leaves what the legs cannot do to the leg solver."""

    offset: np.ndarray
    length: np.ndarray


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


def solve(pelvis, toes, contacts, ground_height, frame_rate=_RATE, reach=None):
    """Remove the sliding of planted toes.

    pelvis: (frames, 3) and toes: (frames, legs, 3), world space, z up, metres. contacts: (frames, legs) bool.
    ground_height: world z, metres, broadcast to (frames, legs); a contact takes that of its first frame. frame_rate:
    Hz. reach: Reach, or None for the article's problem. Returns a SlideRemoval; the contacts hold exactly. Raises
    ValueError for shapes that do not fit, values that are not finite, or a rate that is not positive.
    """
    pelvis, toes, contacts = np.asarray(pelvis, float), np.asarray(toes, float), np.asarray(contacts, bool)
    frames, legs = contacts.shape
    if pelvis.shape != (frames, 3) or toes.shape != (frames, legs, 3):
        raise ValueError(
            f"expected pelvis {(frames, 3)} and toes {(frames, legs, 3)} for contacts {contacts.shape},"
            f" got {pelvis.shape} and {toes.shape}"
        )
    if not all(np.isfinite(values).all() for values in (pelvis, toes, ground_height)):
        raise ValueError("pelvis, toes and ground_height: expected finite numbers")
    if not frame_rate > 0.0:
        raise ValueError(f"frame_rate: expected a positive number of frames per second, got {frame_rate}")

    joined = contacts[1:] & contacts[:-1]
    locked = np.zeros_like(contacts)
    locked[1:] |= joined
    locked[:-1] |= joined
    if not locked.any():
        return SlideRemoval(pelvis.copy(), toes.copy(), locked, 0.0, 0, 0.0, True)

    source = np.concatenate([pelvis[:, None], toes], axis=1)
    first = _first_of_run(joined, locked)
    points = _standing(source, locked, first, ground_height)
    steps, longest = 0, np.inf
    for stride in _COARSE_STRIDES:
        kept = _kept_frames(locked, joined, stride)
        if _LEAST_COARSE <= len(kept) < _MOST_COARSE * frames:
            problem = _Problem(source, joined, locked, kept, frame_rate, reach)
            coarse, taken, longest, _ = _descend(problem, points[kept], _COARSE_TOLERANCE, longest)
            points = source + _interpolated(kept, coarse - source[kept], frames)
            points = _standing(points, locked, first, ground_height, at_first=True)
            steps += taken
    problem = _Problem(source, joined, locked, np.arange(frames), frame_rate, reach)
    points, taken, last_step, converged = _descend(problem, points, _TOLERANCE, longest)
    return SlideRemoval(
        points[:, 0], points[:, 1:], locked, problem.energy(points), steps + taken, last_step, converged
    )


class _Problem:
    """The sum that is minimised, on the frames ``kept``. Points are (kept, 1 + legs, 3): pelvis, then toes."""

    def __init__(self, source, joined, locked, kept, frame_rate, reach):
        self.source = source[kept]
        legs = locked.shape[1]
        span = np.diff(kept).astype(float)
        self.joined = joined[kept[:-1]]
        self.locked = locked[kept]

        whole = np.zeros(len(kept))
        whole[:-1] += 0.5 * span
        whole[1:] += 0.5 * span
        whole[0] += 0.5
        whole[-1] += 0.5
        self.node = whole * (_RATE / frame_rate)
        self.edge = (
            np.concatenate([np.full((len(span), 1), float(legs)), ~self.joined], axis=1)
            * (frame_rate / _RATE / span)[:, None]
        )
        self.anchor = np.full(self.source.shape, _ANCHOR) * self.node[:, None, None]
        self.held = np.zeros(self.source.shape, bool)
        self.held[:, 1:, 2] = self.locked
        self.anchor[self.held] = 0.0

        self.length = self._legs(self.source)[1]
        self.reach = reach and Reach(reach.offset[kept], reach.length[kept])
        size = 3 * (1 + legs)
        self.same = np.zeros((len(span), 1 + legs, 3), bool)
        self.same[:, 1:] = self.joined[..., None]
        self.same = self.same.reshape(-1, size)
        self._moving = ~self.held.reshape(-1, size)
        self._linear_diagonal, self._upper = self._linear_blocks()

    def energy(self, points):
        """The value of the sum at ``points``."""
        moved = points - self.source
        steps = np.diff(moved, axis=0)
        total = np.einsum("el,elc,elc->", self.edge, steps, steps)
        for weight, _, _, stretch in self._stretches(points):
            total += np.einsum("i,il->", self.node, weight * stretch**2)
        total += np.einsum("ilc,ilc,ilc->", self.anchor, moved, moved)
        return 0.5 * float(total)

    def step(self, points, newton):
        """The step (kept, 1 + legs, 3) to the minimum of the problem's quadratic model at ``points``: Gauss-Newton's,
        or Newton's own."""
        frames, count = points.shape[:2]
        moved = points - self.source
        flow = self.edge[..., None] * np.diff(moved, axis=0)
        gradient = self.anchor * moved
        gradient[1:] += flow
        gradient[:-1] -= flow

        curvature = np.zeros((frames, count - 1, 3, 3))
        for weight, offset, length, stretch in self._stretches(points):
            weight = self.node[:, None] * weight
            safe = np.where(length > 0.0, length, 1.0)
            along = offset / safe[..., None]
            pull = (weight * stretch)[..., None] * along
            gradient[:, 0] += pull.sum(1)
            gradient[:, 1:] -= pull
            square = along[..., :, None] * along[..., None, :]
            if newton:
                share = (stretch / safe)[..., None, None]
                square = (1.0 - share) * square + share * np.eye(3)
            curvature += weight[..., None, None] * square
        diagonal = self._linear_diagonal.copy()
        blocks = diagonal.reshape(frames, count, 3, count, 3)
        blocks[:, 0, :, 0] += curvature.sum(1)
        for leg in range(1, count):
            blocks[:, leg, :, leg] += curvature[:, leg - 1]
            blocks[:, 0, :, leg] -= curvature[:, leg - 1]
            blocks[:, leg, :, 0] -= curvature[:, leg - 1]
        diagonal *= self._moving[:, :, None]
        diagonal *= self._moving[:, None, :]
        size = 3 * count
        diagonal[:, np.arange(size), np.arange(size)] += ~self._moving
        gradient = gradient.reshape(frames, size) * self._moving
        return block_tridiagonal.minimize(diagonal, self._upper, gradient, self.same).reshape(points.shape)

    def _stretches(self, points):
        """The terms that are lengths: weight (kept, legs), vector (kept, legs, 3), its length and by how much it is
        too long."""
        offset, length = self._legs(points)
        yield np.ones_like(length), offset, length, np.where(length > 0.0, length - self.length, 0.0)
        if self.reach is not None:
            offset = offset + self.reach.offset
            length = np.sqrt(np.einsum("ilc,ilc->il", offset, offset))
            too_long = length > self.reach.length
            yield _TOO_LONG * too_long, offset, length, np.where(too_long, length - self.reach.length, 0.0)

    def _legs(self, points):
        """From toe to pelvis (kept, legs, 3), and its length."""
        offset = points[:, :1] - points[:, 1:]
        return offset, np.sqrt(np.einsum("ilc,ilc->il", offset, offset))

    def _linear_blocks(self):
        frames, count = self.source.shape[:2]
        size = 3 * count
        diagonal = np.zeros((frames, size, size))
        upper = np.zeros((frames - 1, size, size))
        index = np.arange(size)
        edge = np.repeat(self.edge, 3, axis=1)
        diagonal[:, index, index] = self.anchor.reshape(frames, size)
        diagonal[1:, index, index] += edge
        diagonal[:-1, index, index] += edge
        # A held height does not move, so it meets nothing; a joined component has no edge of its own.
        upper[:, index, index] = -edge * self._moving[1:] * self._moving[:-1]
        return diagonal, upper


def _descend(problem, points, tolerance, longest=np.inf):
    """Steps until none would move anything further than ``tolerance`` (metres), each of which lowers the energy.
    ``longest``: how far the last step before went. Returns the points, the number of steps, the length of the last, and
    whether the tolerance was met."""
    energy = problem.energy(points)
    for taken in range(1, _MOST_STEPS + 1):
        newton = longest < _NEWTON_RADIUS
        moved = _lowered(problem, points, energy, newton=True, halvings=0) if newton else None
        if moved is None:
            newton, moved = False, _lowered(problem, points, energy, newton=False, halvings=_MOST_HALVINGS)
        if moved is None:
            return points, taken, longest, False
        points, energy, longest = moved
        if longest < tolerance * (_NEWTON_GAIN if newton else 1.0):
            return points, taken, longest, True
    return points, _MOST_STEPS, longest, False


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


def _first_of_run(joined, locked):
    """For each frame and leg the first frame of its run (frames, legs); a frame that is not held is its own."""
    frames = np.arange(len(locked))[:, None]
    starts = np.where(np.concatenate([np.zeros((1, locked.shape[1]), bool), joined]), 0, frames)
    return np.maximum.accumulate(starts, axis=0)


def _standing(points, locked, first, ground_height, at_first=False):
    """Points whose held toes stand in one place in each run: the mean of the run's, or where they are ``at_first``,
    at the height of the ground."""
    points = points.copy()
    frames, legs = locked.shape
    ground = np.broadcast_to(np.asarray(ground_height, float), (frames, legs))
    for leg in range(legs):
        held = locked[:, leg]
        run = first[held, leg]
        toe = points[held, 1 + leg]
        if at_first:
            place = points[run, 1 + leg]
        else:
            size = np.bincount(run, minlength=frames)
            place = (
                np.stack([np.bincount(run, toe[:, axis], minlength=frames)[run] for axis in range(3)], axis=1)
                / size[run][:, None]
            )
        place[:, 2] = ground[run, leg]
        points[held, 1 + leg] = place
    return points


def _kept_frames(locked, joined, stride):
    """Frames of a coarse level: every ``stride``-th, the first and last of the clip, and those about the ends of each
    run."""
    frames = len(locked)
    keep = np.zeros(frames, bool)
    keep[::stride] = True
    keep[[0, -1]] = True
    change = np.any(joined[1:] != joined[:-1], axis=1)
    keep[1:-1] |= change
    lone = np.any(joined, axis=1)
    keep[[0, -1]] |= lone[[0, -1]] if frames > 1 else False
    return np.flatnonzero(keep)


def _interpolated(kept, values, frames):
    """Values (kept, …) at the frames ``kept``, drawn straight to all frames."""
    index = np.clip(np.searchsorted(kept, np.arange(frames), side="right") - 1, 0, len(kept) - 2)
    share = (np.arange(frames) - kept[index]) / (kept[index + 1] - kept[index])
    share = share.reshape(-1, *(1,) * (values.ndim - 1))
    return values[index] * (1.0 - share) + values[index + 1] * share
