"""The velocity of the floor in a clip's own frame: what planted feet have in common.

It is zero in a clean clip, a share of the root's velocity where the root travels too far or too little, minus the
travel in a clip that walks in place, and it may turn with the character or change along the clip. The article takes
it for zero, and so finds nothing where a foot slides; here it is sought, as the velocity under which low feet stand
still for longest (the project's notes on the article, §1).

Floors of several kinds are fitted to the clip, from simple to free, and a path through them is chosen by dynamic
programming: a simple one that explains the feet nearly as well is preferred, and so is to stay with one. Space: world,
z up, metres, at RATE; velocities are horizontal, (frames, legs, 2), since under a turning floor each foot has its own.
"""

from dataclasses import dataclass

import numpy as np

from . import contacts, filters

# All times below are meant at this rate, Hz.
RATE = 60.0
# Kinds of floor.
STILL, ROOT, PLANE, FREE = range(4)

# A foot at this velocity against a floor (m/s) counts for it by 1/e.
_KERNEL = 0.25
# What a floor must explain more than a still one, as a share of all that could be: a share of the root's velocity, and
# more for a large share; a steady or turning plane, and more for one that goes with the root besides; a free one.
_ROOT_PRICE, _SHARE_PRICE = 0.02, 0.04
_PLANE_PRICE, _ROOT_PLANE_PRICE = 0.10, 0.13
_FREE_PRICE = 0.2
# What it costs to change to another floor, and per m/s between the two, in frames of one planted foot.
_CHANGE, _JUMP = 5.0, 6.0
# Frames that share a step of the path.
_STEP = 6
# A free floor pays where it goes to and fro and gets nowhere: feet that swing in the air make such a floor.
_IDLE_PRICE, _IDLE_WINDOW, _IDLE_SMOOTHING = 0.3, 90, 12.0
_IDLE_TRAVEL = 0.15
# Mean shift: window (frames to each side) and narrowing kernels, m/s.
_WINDOW = 36
_KERNELS = (0.75, 0.6, 0.48, 0.38, 0.3, 0.25)
# Then the free floor follows the feet closer: kernel (m/s), rounds, deviation in frames, and the wide one (frames, and
# its weight) that bridges the flights.
_FOLLOW_KERNEL, _FOLLOW_ROUNDS, _FOLLOW = 0.4, 4, 3.0
_BRIDGE, _BRIDGE_WEIGHT = 30.0, 0.05
# Shares of the root's velocity from which free floors start, and those that are tried for the root's.
_STARTS = (-1.0, -0.5, -1 / 3, 0.2, 1 / 3, 0.5)
_SHARES = np.linspace(-1.5, 1.0, 101)
_SHARE_KERNEL = 0.12
# The root's velocity (m/s) below which it does not travel.
_STANDS = 0.05
# The middle of a contact: this share is left out at either end.
_EDGE = 0.35
# A contact of this many seconds has no vote yet, one longer by so much has a whole one.
_VOTE_FROM, _VOTE_FULL = 0.07, 0.13
# Shares nearer than this to each other, in parts of what is left of the root, are one opinion.
_OPINION, _LEAST_LEFT = 0.05, 0.2
# No share is larger: a root that the feet follow altogether does not travel.
_MOST = 0.95
# Two free floors nearer than this (m/s) are the same.
_SAME = 0.02


@dataclass(frozen=True)
class Floor:
    """``velocity`` (frames, legs, 2), m/s. ``kind`` (frames,): STILL, ROOT, PLANE or FREE. ``share``: of the root's
    velocity, for ROOT."""

    velocity: np.ndarray
    kind: np.ndarray
    share: float


def estimate(feet, evidence, root, places, supported):
    """The floor under feet with horizontal velocities ``feet`` (frames, legs, 2).

    evidence: (frames, legs) 0..1, how much a foot looks planted by its height and vertical speed; root: (frames, 2),
    m/s; places: (frames, legs, 2) of the feet, metres; supported: (frames, legs) bool, a foot far enough under the
    pelvis that the body could stand on it, without which it says nothing of a floor that moves by itself.
    """
    borne = evidence * supported
    share = _likely_share(feet, evidence, root)
    floors = [np.zeros_like(feet), np.broadcast_to(share * root[:, None], feet.shape)]
    kinds, prices = [STILL, ROOT], [0.0, _ROOT_PRICE + _SHARE_PRICE * abs(share)]
    free = _free_floors(feet, borne, root)
    if free:
        best = max(free, key=lambda floor: explained(feet, borne, floor).sum())
        planes = _planes(feet, borne, root, places, best)
        floors += [*planes, *free]
        kinds += [PLANE] * len(planes) + [FREE] * len(free)
        prices += [_PLANE_PRICE, _ROOT_PLANE_PRICE] + [_FREE_PRICE] * len(free)
    kind = np.array(kinds)
    chosen = _path(feet, evidence, borne, floors, kind, np.array(prices))
    velocity = np.empty_like(feet)
    for index, floor in enumerate(floors):
        here = chosen == index
        velocity[here] = floor[here]
    return Floor(velocity, kind[chosen], share)


def root_share(feet, root, labels, frame_rate):
    """The share of the root's velocity (frames, 2) that planted feet (frames, legs, 2) have, by labels (frames, legs)
    bool, at ``frame_rate`` (Hz); 0 where the root does not travel over a planted foot.

    Each contact votes by its middle, where the foot is flat and does not roll; the more for a faster root.
    """
    found = []
    for leg in range(labels.shape[1]):
        for start, stop in contacts.runs(labels[:, leg]):
            edge = int((stop - start) * _EDGE)
            middle = slice(start + edge, max(stop - edge, start + edge + 1))
            travel = (root[middle] ** 2).sum()
            speed = np.sqrt(travel / (middle.stop - middle.start))
            if speed < _STANDS:
                continue
            long = np.clip(((stop - start) / frame_rate - _VOTE_FROM) / _VOTE_FULL, 1e-3, 1.0)
            found.append(((feet[middle, leg] * root[middle]).sum() / travel, speed * long))
    if not found:
        return 0.0
    shares, votes = np.array(found).T
    order = np.argsort(shares)
    passed = np.cumsum(votes[order]) - 0.5 * votes[order]
    share = np.interp(0.5 * votes.sum(), passed, shares[order])
    for _ in range(3):
        width = _OPINION * max(1.0 - share, _LEAST_LEFT)
        near = votes * np.exp(-(((shares - share) / width) ** 2)) + 1e-9
        share = (near * shares).sum() / near.sum()
    return float(min(share, _MOST))


def explained(feet, evidence, floor, kernel=_KERNEL):
    """How much each foot (frames, legs) stands still on a floor (frames, legs or 1, 2)."""
    away = feet - floor
    return evidence * np.exp((away[..., 0] ** 2 + away[..., 1] ** 2) / -(kernel**2))


def _likely_share(feet, evidence, root):
    """The share of the root's velocity at which low feet stand still for longest."""
    total = max(evidence.sum(), 1e-9)
    scores = [
        explained(feet, evidence, share * root[:, None], _SHARE_KERNEL).sum() / total - _ROOT_PRICE * abs(share)
        for share in _SHARES
    ]
    share = _SHARES[int(np.argmax(scores))]
    for _ in range(4):
        weight = explained(feet, evidence, share * root[:, None], _SHARE_KERNEL)[..., None]
        share = (weight * feet * root[:, None]).sum() / ((weight * root[:, None] ** 2).sum() + 1e-9)
    return float(np.clip(share, _SHARES[0], _SHARES[-1]))


def _free_floors(feet, evidence, root):
    """Floors (frames, 1, 2) that change along the clip, each from another start; equal ones once."""
    if not evidence.any():
        return []
    total = filters.window_sum(evidence.sum(1), _WINDOW)
    mean = filters.window_sum((evidence[..., None] * feet).sum(1), _WINDOW) / np.maximum(total, 1e-6)[:, None]
    smooth = filters.gaussian(root, 0.1 * RATE)
    found: list[np.ndarray] = []
    for start in (np.zeros_like(root), *(share * smooth for share in _STARTS), mean):
        floor = start
        for kernel in _KERNELS:
            floor = _shifted(feet, evidence, floor, kernel)
        if all(np.sqrt(np.average(((floor - one) ** 2).sum(1), weights=total + 1e-9)) > _SAME for one in found):
            found.append(floor)
    return [_followed(feet, evidence, floor)[:, None] for floor in found]


def _shifted(feet, evidence, floor, kernel):
    """One step of mean shift within the window."""
    weight = explained(feet, evidence, floor[:, None], kernel)
    total = filters.window_sum(weight.sum(1), _WINDOW)[:, None]
    moved = filters.window_sum((weight[..., None] * feet).sum(1), _WINDOW)
    return np.where(total > 1e-3, moved / np.maximum(total, 1e-9), floor)


def _followed(feet, evidence, floor):
    """A floor that follows the feet which are near it, and bridges the flights between them."""
    for _ in range(_FOLLOW_ROUNDS):
        weight = explained(feet, evidence, floor[:, None], _FOLLOW_KERNEL)
        sums = np.concatenate([(weight[..., None] * feet).sum(1), weight.sum(1)[:, None]], axis=1)
        near = filters.gaussian(sums, _FOLLOW, "nothing") + _BRIDGE_WEIGHT * filters.gaussian(sums, _BRIDGE, "nothing")
        least = 1e-4  # where there is no foot at all, the floor stays
        floor = (near[:, :2] + least * floor) / (near[:, 2:] + least)
    return floor


def _planes(feet, evidence, root, places, start):
    """Floors with one velocity and one turn for the whole clip, without and with a share of the root's: fitted by
    reweighted least squares, from ``start``."""
    basis = np.zeros((*feet.shape, 4))
    basis[..., 0, 0], basis[..., 1, 1] = 1.0, 1.0
    centred = places - places.mean((0, 1))
    basis[..., 0, 2], basis[..., 1, 2] = -centred[..., 1], centred[..., 0]
    basis[..., 3] = root[:, None]
    planes = []
    for count in (3, 4):
        columns = basis[..., :count]
        floor = start
        for kernel in (0.4, 0.3, 0.2, 0.15, 0.15, 0.15):
            weight = explained(feet, evidence, floor, kernel)[..., None, None]
            flat = (weight * columns).reshape(-1, count)
            normal = flat.T @ columns.reshape(-1, count) + 1e-3 * np.eye(count)
            floor = columns @ np.linalg.solve(normal, flat.T @ feet.reshape(-1))
        planes.append(floor)
    return planes


def _path(feet, evidence, borne, floors, kinds, prices):
    """Index of the floor (frames,) that holds in each frame."""
    own = kinds <= ROOT  # floors that do not move by themselves
    support = np.stack(
        [explained(feet, evidence if alone else borne, floor).sum(1) for alone, floor in zip(own, floors, strict=True)],
        axis=1,
    )
    idle = np.stack(
        [
            _idle(floor[:, 0]) if kind == FREE else np.zeros(len(feet))
            for kind, floor in zip(kinds, floors, strict=True)
        ],
        axis=1,
    )
    weight = np.maximum(evidence.sum(1), 0.1)[:, None]
    gain = _in_steps(support - (prices + idle) * weight).sum(1)
    speed = _in_steps(np.stack([floor.mean(1) for floor in floors], axis=1)).mean(1)
    away = np.linalg.norm(speed[1:, :, None] - speed[1:, None], axis=-1)
    change = (_CHANGE + _JUMP * np.minimum(away, 1.0)) * ~np.eye(len(floors), dtype=bool)
    best, came = gain[0], np.zeros(gain.shape, int)
    for step in range(1, len(gain)):
        total = best[:, None] - change[step - 1]
        came[step] = total.argmax(0)
        best = total.max(0) + gain[step]
    path = np.empty(len(gain), int)
    path[-1] = best.argmax()
    for step in range(len(gain) - 1, 0, -1):
        path[step - 1] = came[step, path[step]]
    return np.repeat(path, _STEP)[: len(feet)]


def _idle(floor):
    """The price (frames,) of a floor (frames, 2) that goes to and fro."""
    smooth = filters.gaussian(floor, _IDLE_SMOOTHING, "lines")
    net = np.linalg.norm(filters.window_sum(smooth, _IDLE_WINDOW), axis=-1) / RATE
    way = filters.window_sum(np.linalg.norm(smooth, axis=-1), _IDLE_WINDOW) / RATE
    least = 0.02  # metres below which neither says anything
    straight = (net + least) / (way + least) * np.minimum(1.0, (net + least) / _IDLE_TRAVEL)
    return _IDLE_PRICE * np.clip((0.7 - straight) / 0.4, 0.0, 1.0)


def _in_steps(values):
    """Values (frames, …) as (steps, _STEP, …), the last repeated as often as it takes."""
    missing = -len(values) % _STEP
    padded = np.concatenate([values, np.repeat(values[-1:], missing, axis=0)])
    return padded.reshape(-1, _STEP, *values.shape[1:])
