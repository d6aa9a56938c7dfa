"""The sum that the offline pass minimises, its gradient and its quadratic model: see ``slide_removal``."""

from dataclasses import dataclass

import numpy as np

from . import block_tridiagonal
from .unknowns import Unknowns

# The rate at which the sums of the problem are the article's own, Hz.
RATE = 60.0
_ANCHOR = 1e-6
# How much more it counts, beside the distance from pelvis to toe: that a leg is asked for more than its length, and
# that a toe is under the floor.
_TOO_LONG, _UNDER = 3.0, 1e5
# ... and that a toe, or the distance from hip to heel, which bends the knee, accelerates more than it may.
_KICK, _JOLT = 2000.0, 150.0
# A toe may always accelerate by this share of what is usual for it.
_CALM = 0.03
# Weight of the pelvis' path and height beside what it weighs that it keeps its velocity, where half of each is kept.
_PATH, _SINK = 0.01, 0.1
# How three frames make a second difference.
_BEND = (1.0, -2.0, 1.0)


@dataclass(frozen=True)
class Reach:
    """How far the legs reach. ``offset`` (frames, legs, 3): what is to be added to pelvis minus toe to get hip minus
    heel, metres; ``length`` (frames, legs): how long that may become, metres. Article's own problem has no such
    bound, and leaves what the legs cannot do to the leg solver."""

    offset: np.ndarray
    length: np.ndarray

    def at(self, frames):
        """The same of some frames."""
        return Reach(self.offset[frames], self.length[frames])


@dataclass(frozen=True)
class Terms:
    """What is weighed beside the article's terms. The defaults are the article's own problem.

    ``smoothing``: seconds; pelvis and toes keep their acceleration, too, across the ends of contacts, over about this
    time. ``keep_path``: 0..1, how far the pelvis keeps its horizontal path: 0 not at all, 1 to the bit.
    ``lower_hips``: 0..1, how freely the pelvis goes lower than in the source: 1 as the other terms have it, 0 not at
    all. ``keep_height``: the pelvis keeps its height, to the bit."""

    smoothing: float = 0.0
    keep_path: float = 0.0
    lower_hips: float = 1.0
    keep_height: bool = False


@dataclass(frozen=True)
class Motion:
    """What is to be corrected. Points are pelvis and toes: (frames, 1 + legs, 3), world, metres.

    ``source``; ``guide``: the motion whose velocity is kept, the source but for feet that are held in part;
    ``firmness`` (steps, 1 + legs): how much more than usual it counts that a point keeps it. ``joined`` (steps, 1 +
    legs) bool: between these frames a point stands still; ``held`` (frames, 1 + legs, 3) bool: components that are
    given. ``floor`` (frames, legs): lowest heights of the toes, -inf for none. ``most_acceleration`` (frames, legs):
    what they may accelerate, metres a frame², and ``most_stretching``, the same of their distance from the hips; inf
    for any. ``way`` (3,): how far a cyclic motion gets in a cycle, which has as many steps as frames; None for others,
    which have one less.
    """

    source: np.ndarray
    guide: np.ndarray
    firmness: np.ndarray
    joined: np.ndarray
    held: np.ndarray
    floor: np.ndarray
    most_acceleration: np.ndarray
    most_stretching: np.ndarray
    reach: Reach | None
    way: np.ndarray | None

    @property
    def cyclic(self):
        """True where the last frame leads to the first."""
        return self.way is not None

    def at(self, kept):
        """The motion at the frames ``kept``, (n,) sorted, with first and last, in which every end of a contact is."""
        if len(kept) == len(self.source):
            return self
        reach = self.reach and self.reach.at(kept)
        first = kept[:-1]
        return Motion(
            self.source[kept],
            self.guide[kept],
            self.firmness[first],
            self.joined[first],
            self.held[kept],
            self.floor[kept],
            self.most_acceleration[kept],
            self.most_stretching[kept],
            reach,
            None,
        )


@dataclass(frozen=True)
class _Jerks:
    """Triples of frames in which something accelerates too much: ``frames``, three arrays (n,); for each of the three
    the ``rows`` of the Jacobian, (points (n,), (n, 3)); by how much it is too much, ``over`` (n,), their ``weight``,
    and what the curvature has besides (n, 3, 3), to be taken as second differences take the frames, or None."""

    frames: tuple
    rows: list
    over: np.ndarray
    weight: float
    across: np.ndarray | None


class Problem:
    """The sum on the frames ``kept`` of a Motion. Points are (kept, 1 + legs, 3)."""

    def __init__(self, motion, kept, frame_rate, terms):
        self.motion = motion = motion.at(kept)
        self.terms = terms
        frames, count = motion.source.shape[:2]
        legs = count - 1
        span = np.ones(frames) if motion.cyclic else np.diff(kept).astype(float)
        pace = frame_rate / RATE
        # The frames on either side of each step, and of each pair of steps the second.
        self._next = (np.arange(len(span)) + 1) % frames
        self._second = self._next if motion.cyclic else self._next[:-1]
        self._span = span[:, None, None]

        self._node = _share_of_each_frame(span, frames, motion.cyclic) / pace
        usual = np.concatenate([np.full((1, 1), float(legs)), np.ones((1, legs))], axis=1)
        free = ~motion.joined
        self._edge = usual * free * motion.firmness * (pace / span)[:, None]
        first = np.arange(len(self._second))
        wide = span[first] + span[self._second]
        bend = (terms.smoothing * RATE) ** 2 * pace**3 * 2.0 / wide
        self._bend = usual * (free[first] | free[self._second]) * bend[:, None]

        self._kick, self._jolt = _KICK * pace**3, _JOLT * pace**3
        # Accelerations are judged where three frames follow each other.
        fine = (span[first] == 1.0) & (span[self._second] == 1.0)
        self._limit = np.where(fine[:, None], motion.most_acceleration[self._second], np.inf)
        self._stretch_limit = np.where(fine[:, None], motion.most_stretching[self._second], np.inf)

        self._anchor = np.where(motion.held, 0.0, _ANCHOR * self._node[:, None, None])
        self._path = self._node * legs * _stiffness(terms.keep_path, _PATH)
        self._sink = self._node * legs * _stiffness(1.0 - terms.lower_hips, _SINK)
        self._length = _legs(motion.source)[1]

        self._unknowns = Unknowns(motion.joined, motion.cyclic, 2 if terms.smoothing > 0.0 else 1)
        used = self._unknowns.gathered(np.ones(motion.source.shape)) > 0.0
        given = self._unknowns.gathered(motion.held.astype(float)) > 0.0
        self._moving = used & ~given
        self._diagonal, self._upper = self._unknowns.matrix(self._band())
        self._upper *= self._moving[:-1, :, None]
        self._upper *= self._moving[1:, None, :]
        self._diagonal *= self._moving[:, :, None]
        self._diagonal *= self._moving[:, None, :]
        index = np.arange(self._unknowns.size)
        self._diagonal[:, index, index] += ~self._moving
        self._free = self._unknowns.spread(self._moving)
        self._elimination = block_tridiagonal.Elimination(self._unknowns.same, self._moving.shape)
        self._own, self._between = np.empty_like(self._diagonal), np.empty_like(self._upper)

    def energy(self, points):
        """The value of the sum at ``points``."""
        moved = points - self.motion.guide
        step = self._steps(moved)
        bend = self._bends(step)
        total = np.einsum("el,elc,elc->", self._edge, step, step)
        total += np.einsum("el,elc,elc->", self._bend, bend, bend)
        for weight, _, _, stretch in self._stretches(points):
            total += np.einsum("il,il->", weight, stretch**2)
        total += np.einsum("ilc,ilc,ilc->", self._anchor, moved, moved)
        for weight, _, under in self._heights(points):
            total += weight @ under**2
        total += sum(jerks.weight * jerks.over @ jerks.over for jerks in self._jerks(points))
        total += self._path @ (moved[:, 0, :2] ** 2).sum(-1)
        return 0.5 * float(total)

    def step(self, points, newton):
        """The step (kept, 1 + legs, 3) to the minimum of the problem's quadratic model at ``points``: Gauss-Newton's,
        or Newton's own."""
        diagonal, upper = self._own, self._upper
        np.copyto(diagonal, self._diagonal)
        gradient, curvatures = self._gradient_of_motion(points), 0.0
        for weight, offset, length, stretch in self._stretches(points):
            safe = np.where(length > 0.0, length, 1.0)
            along = offset / safe[..., None]
            pull = (weight * stretch)[..., None] * along
            gradient[:, 0] += pull.sum(1)
            gradient[:, 1:] -= pull
            curvature = along[..., :, None] * along[..., None, :]
            if newton:
                share = (stretch / safe)[..., None, None]
                curvature = (1.0 - share) * curvature + share * np.eye(3)
            curvatures = curvatures + weight[..., None, None] * curvature
        self._add_stretch(diagonal, curvatures)
        for weight, point, under in self._heights(points):
            gradient[:, point, 2] -= weight * under
            self._unknowns.add_heights(diagonal, point, weight * (under > 0.0))
        for jerks in self._jerks(points):
            if upper is self._upper:
                upper = self._between
                np.copyto(upper, self._upper)
            self._add_jerks(diagonal, upper, gradient, jerks)
        slope = self._unknowns.gathered(gradient) * self._moving
        return self._unknowns.spread(self._elimination.minimize(diagonal, upper, slope))

    def _add_stretch(self, diagonal, curvature):
        """Add the curvature (kept, legs, 3, 3) of lengths between pelvis and toes, where these move."""
        pelvis, toes = self._free[:, 0], self._free[:, 1:]
        own = curvature.sum(1) * pelvis[:, :, None] * pelvis[:, None, :]
        self._unknowns.add_pairs(diagonal, 0, 0, own)
        for leg in range(curvature.shape[1]):
            toe, curve = toes[:, leg], curvature[:, leg]
            self._unknowns.add_pairs(diagonal, 1 + leg, 1 + leg, curve * toe[:, :, None] * toe[:, None, :])
            self._unknowns.add_pairs(diagonal, 0, 1 + leg, -curve * pelvis[:, :, None] * toe[:, None, :])

    def _steps(self, moved):
        return moved[self._next] - moved[: len(self._next)]

    def _bends(self, step):
        slope = step / self._span
        return slope[self._second] - slope[: len(self._second)]

    def _gradient_of_motion(self, points):
        """Of the terms that are linear in velocity, acceleration and place."""
        moved = points - self.motion.guide
        step = self._steps(moved)
        pull = self._bend[..., None] * self._bends(step)
        flow = self._edge[..., None] * step
        flow[self._second] += pull / self._span[self._second]
        flow[: len(pull)] -= pull / self._span[: len(pull)]
        gradient = self._anchor * moved
        gradient[self._next] += flow
        gradient[: len(flow)] -= flow
        gradient[:, 0, :2] += self._path[:, None] * moved[:, 0, :2]
        return gradient

    def _stretches(self, points):
        """The terms that are lengths: weight (kept, legs), vector (kept, legs, 3), its length and by how much it is
        too long."""
        offset, length = _legs(points)
        weight = np.broadcast_to(self._node[:, None], length.shape)
        yield weight, offset, length, np.where(length > 0.0, length - self._length, 0.0)
        if self.motion.reach is not None:
            offset = offset + self.motion.reach.offset
            length = _length(offset)
            too_long = length > self.motion.reach.length
            weight = _TOO_LONG * too_long * weight
            yield weight, offset, length, np.where(too_long, length - self.motion.reach.length, 0.0)

    def _jerks(self, points):
        """Where toes, or their distances from the hips, accelerate more than they may."""
        step = self._steps(points[:, 1:])
        if self.motion.cyclic:
            step[-1] += self.motion.way
        bend = self._bends(step)
        size = _length(bend)
        first, leg = np.nonzero(size > self._limit)
        if len(first):
            limit, size = self._limit[first, leg], size[first, leg]
            way = bend[first, leg] / size[:, None]
            rows = [[(1 + leg, factor * way)] for factor in _BEND]
            across = ((size - limit) / size)[:, None, None] * (np.eye(3) - way[:, :, None] * way[:, None, :])
            yield _Jerks(self._three_frames(first), rows, size - limit, self._kick, across)
        if self.motion.reach is None:
            return
        offset = points[:, :1] - points[:, 1:] + self.motion.reach.offset
        length = _length(offset)
        step = self._steps(length)
        bend = step[self._second] - step[: len(self._second)]
        size = np.abs(bend)
        first, leg = np.nonzero(size > self._stretch_limit)
        if len(first):
            frames = self._three_frames(first)
            sign = np.sign(bend[first, leg])[:, None]
            rows = []
            for frame, factor in zip(frames, _BEND, strict=True):
                way = factor * sign * offset[frame, leg] / np.maximum(length[frame, leg], 1e-9)[:, None]
                rows.append([(np.zeros_like(leg), way), (1 + leg, -way)])
            yield _Jerks(frames, rows, size[first, leg] - self._stretch_limit[first, leg], self._jolt, None)

    def _three_frames(self, first):
        second = self._second[first]
        return first, second, self._next[second]

    def _add_jerks(self, diagonal, upper, gradient, jerks):
        """What such frames add to the model at the points: Gauss-Newton's part, and what else is positive."""
        # One entry for each point that accelerates and each of the three frames.
        entries = [(i, point, row) for i, rows in enumerate(jerks.rows) for point, row in rows]
        frame = np.stack([jerks.frames[i] for i, _, _ in entries])
        point = np.stack([point for _, point, _ in entries])
        row = np.stack([row for _, _, row in entries])
        np.add.at(gradient, (frame, point), jerks.weight * jerks.over[:, None] * row)
        free = self._free[frame, point]
        row = row * free
        one, other = np.triu_indices(len(entries))
        values = row[one, :, :, None] * row[other, :, None, :]
        if jerks.across is not None:
            factor = np.array([_BEND[i] for i, _, _ in entries])
            free = (factor[:, None, None] * free)[one, :, :, None] * (factor[:, None, None] * free)[other, :, None, :]
            values += free * jerks.across
        values *= jerks.weight
        values = values.reshape(-1, 3, 3)
        there, back = ((frame[some].reshape(-1), point[some].reshape(-1)) for some in (one, other))
        self._unknowns.add_between(diagonal, upper, there, back, values)

    def _heights(self, points):
        """The terms that are heights: weight (kept,), point, and by how much it is too low."""
        if self._sink.any():
            yield self._sink, 0, np.maximum(self.motion.guide[:, 0, 2] - points[:, 0, 2], 0.0)
        for leg in range(self.motion.floor.shape[1]):
            under = np.maximum(self.motion.floor[:, leg] - points[:, 1 + leg, 2], 0.0)
            if under.any():
                yield _UNDER * self._node * ~self.motion.held[:, 1 + leg, 2], 1 + leg, under

    def _band(self):
        """What couples frames i and i, i and i + 1, i and i + 2, of the terms that are linear."""
        frames, count = self.motion.source.shape[:2]
        edge, bend, span = self._edge, self._bend, self._span[:, 0]
        first, second = np.arange(len(self._second)), self._second
        a, c = 1.0 / span[first], 1.0 / span[second]
        own, one, two = np.zeros((frames, count)), -edge, bend * a * c
        own[: len(edge)] += edge
        own[self._next] += edge
        own[first] += bend * a**2
        own[second] += bend * (a + c) ** 2
        own[self._next[second]] += bend * c**2
        one[first] -= bend * a * (a + c)
        one[second] -= bend * c * (a + c)
        own = own[..., None] + self._anchor
        own[:, 0, :2] += self._path[:, None]
        return own, np.repeat(one[..., None], 3, axis=2), np.repeat(two[..., None], 3, axis=2)


def most_acceleration(toes, joined, reach, way=None):
    """How much toes may accelerate (frames, legs), metres a frame²: as much as in the source ``toes`` (frames, legs, 3)
    within ``reach`` frames, or where a contact begins or ends in their midst, about that. joined: (steps, legs) bool.
    way: (3,), how far a cyclic motion gets in a cycle."""
    cyclic = way is not None
    source = np.sqrt((_second_differences(toes, way) ** 2).sum(-1))
    near = _highest_near(source, reach, cyclic)
    most = near.copy()
    if cyclic:
        before, after = np.roll(joined, 1, axis=0), joined
    else:
        before, after = np.concatenate([joined[:1], joined]), np.concatenate([joined, joined[-1:]])
    frame, leg = np.nonzero(before != after)
    for away in range(-reach, reach + 1):
        there = (frame + away) % len(most) if cyclic else np.clip(frame + away, 0, len(most) - 1)
        np.minimum.at(most, (there, leg), near[frame, leg])
    return np.maximum(most, _CALM * np.percentile(source, 90.0))


def most_stretching(pelvis, toes, legs, reach, cyclic=False):
    """How much the distances from hip to heel may accelerate (frames, legs), metres a frame²: as much as in the source
    within ``reach`` frames. pelvis: (frames, 3), toes: (frames, legs, 3); legs: Reach."""
    length = _length(pelvis[:, None] - toes + legs.offset)
    source = np.abs(_second_differences(length, 0.0 if cyclic else None))
    return np.maximum(_highest_near(source, reach, cyclic), _CALM * np.percentile(source, 90.0))


def _second_differences(values, way):
    """Second differences (frames, …) of values (frames, …), none at the ends of a clip. way: how far a cyclic motion
    gets in a cycle, else None: a clip says nothing of its first and last frame."""
    if way is None:
        around = 2.0 * values[:1] - values[1:2], 2.0 * values[-1:] - values[-2:-1]
    else:
        around = values[-1:] - way, values[:1] + way
    return np.diff(np.concatenate([around[0], values, around[1]]), 2, axis=0)


def _highest_near(values, reach, cyclic):
    """The highest of values (frames, legs) within ``reach`` frames."""
    padded = np.pad(values, ((reach, reach), (0, 0)), mode="wrap" if cyclic else "constant")
    return np.lib.stride_tricks.sliding_window_view(padded, 2 * reach + 1, axis=0).max(-1)


def _legs(points):
    """From toe to pelvis (kept, legs, 3), and its length."""
    offset = points[:, :1] - points[:, 1:]
    return offset, _length(offset)


def _length(vectors):
    return np.sqrt(np.einsum("ilc,ilc->il", vectors, vectors))


def _share_of_each_frame(span, frames, cyclic):
    """How many frames each stands for (frames,): the first and last of a clip for a whole one."""
    if cyclic:
        return np.ones(frames)
    share = np.zeros(frames)
    share[:-1] += 0.5 * span
    share[1:] += 0.5 * span
    share[[0, -1]] += 0.5
    return share


def _stiffness(share, half):
    """A weight that is 0 for a share of 0, ``half`` for ½, and very large for 1."""
    return half * share / max(1.0 - share, 1e-6)
