"""Contact labels for feet that slide, tremble, run, or walk in place: slow against the floor's own velocity.

The article asks whether a toe is slow in the world; here it is whether it is slow against the floor that the feet
themselves show (``floor_velocity``), and low. Noise is measured and smoothed away first, entering and leaving a
contact have levels of their own, and a contact must look like one: a foot that turns back in the air, comes from
below, or rides on a floor that only it knows, is not planted.
"""

from dataclasses import dataclass, replace

import numpy as np

from . import arguments, contacts, filters, floor_velocity, loops, resample

# All clips are judged at this rate, so that all rates give the same contacts.
RATE = floor_velocity.RATE

# Legs shorter than this are those of a small character, and how long a grown one's are, metres.
_SMALL, _USUAL = 0.5, 0.84
# A foot this high over its floor (metres), or this fast up or down (m/s), counts as planted by 1/e.
_LOW, _LEVEL = 0.04, 0.25
# How much higher than the lowest a leg's floor may be: joints are not all at one height. A foot held higher is in the
# air for as long as it is there.
_FLOORS_APART = 0.04
# Noise is smoothed until the velocity's is no more than this (m/s), with a Gaussian of at most this many frames.
_NOISE_LEFT, _MOST_SMOOTHING = 0.07, 4.0
# A foot less than this share of the leg's length under its hip bears nothing: sitting, swimming, lying.
_SUPPORT = 0.6
# A loop whose low feet move at this speed (m/s), and of which a still floor explains less than this share, walks in
# place by hand: its feet are on the ground where they are low (metres) and go backwards, at no less than this share of
# that speed and no further (shares of it, and m/s) to the side.
_TREAD, _TREAD_STILL, _TREAD_LOW, _TREAD_SLOWEST, _TREAD_ASIDE = 0.3, 0.5, 0.05, 0.3, 0.6
# ... while the root travels at less than this share of it. A foot whose fall changes into rise as steadily as this just
# turns.
_TREAD_ROOT, _TREAD_TURNING = 0.25, 0.9
# Feet that are found by the floor's velocity too are planted for at least this share of the time.
_TREAD_AGREES = 0.4
# A gap between contacts beside a pose that is held (seconds) is none where the foot gets no higher (metres).
_LOW_GAP, _LOW_GAP_HEIGHT = 0.2, 0.01
# A foot that steps further than this from one frame to the next (metres, and deviations of the noise besides) was cut,
# and no contact goes across.
_CUT, _CUT_NOISE = 0.04, 6.0

# A gap of at most this many frames between contacts is none where the foot gets no further in it (metres).
_PAUSE, _PAUSE_WAY = 6, 0.02

# A run of contact is none where within it the foot's velocity changes at this share of the rate around it (frames):
# it just turns back.
_TURNING, _AROUND = 0.75, 4
# ... or where it comes from below and leaves down again, this deep (metres), these frames away.
_BELOW, _BELOW_FRAMES = 0.01, (4, 12)
# ... or, on a floor that moves by itself (m/s), where the foot is never lifted by so much, in metres and in heights
# that it has within the contact, this long around it (frames).
_MOVING, _LIFT, _LIFT_RANGES, _LIFT_FRAMES = 0.1, 0.01, 2.0, 72


@dataclass(frozen=True)
class AutoSettings:
    """``enter``: m/s against the floor below which a contact begins. ``leave``: what it may reach before it ends.
    ``height``: metres over the floor below which a foot may be planted. ``shortest``: seconds, what is shorter is
    dropped or closed."""

    enter: float = 0.25
    leave: float = 0.28
    height: float = 0.1
    shortest: float = 0.05


@dataclass(frozen=True)
class AutoContacts:
    """What was found, at the clip's own frames: ``labels`` (frames, legs) bool; ``speed`` (frames, legs) against the
    floor, m/s, and ``height`` (frames, legs) over it, metres, as they were judged; ``floor`` (frames, legs, 2), the
    floor's horizontal velocity at each foot, m/s, and its ``kind`` (frames,), see ``floor_velocity``; ``ground``
    (legs,), height of each leg's floor, world z; ``noise`` (legs,), standard deviation of the feet's noise, metres;
    ``enter`` and ``leave``, m/s, and ``highest``, metres, below which a foot may be planted, as they were used."""

    labels: np.ndarray
    speed: np.ndarray
    height: np.ndarray
    floor: np.ndarray
    kind: np.ndarray
    ground: np.ndarray
    noise: np.ndarray
    enter: float
    leave: float
    highest: float


def detect(toes, hips, root, leg_lengths, frame_rate, settings=AutoSettings()):
    """Contacts of toes (frames, legs, 3), world space, z up, metres, at ``frame_rate`` (Hz).

    hips: (frames, legs, 3), where the legs begin; root: (frames, 3), the bone whose location carries the character;
    leg_lengths: (legs,), metres of thigh and shin. Returns AutoContacts; without a single contact where nothing is
    planted. Raises ValueError for shapes that do not fit, a point that is no number or a rate that is not positive.
    """
    toes = arguments.toes(toes, frame_rate)
    hips = arguments.finite("hips", hips, toes.shape)
    root = arguments.finite("root", root, (len(toes), 3))
    leg_lengths = arguments.finite("leg_lengths", leg_lengths, toes.shape[1:2])

    # A small character is judged as if it were grown up: its speeds and heights are as small as its legs.
    length = float(np.median(leg_lengths))
    grown = _USUAL / length if 0.0 < length < _SMALL else 1.0
    toes, hips, root, leg_lengths = grown * toes, grown * hips, grown * root, grown * leg_lengths
    cycle = loops.find(toes, root, frame_rate)
    at = cycle.phases(len(toes))
    toes, hips, root = (cycle.repeated(points) for points in (toes, hips, root))
    found = _detect(toes, hips, root, leg_lengths, frame_rate, settings, cycle)
    at = np.minimum(np.round(at * (RATE / frame_rate)).astype(int), len(found.labels) - 1)
    own = {name: getattr(found, name)[at] for name in ("labels", "speed", "height", "floor", "kind")}
    if cycle.held:
        # What is held stands where it is low, whatever floor moves under the loop before it.
        held = slice(len(at) - cycle.held, None)
        own["labels"][held] = own["height"][held] < found.highest
        own["speed"][held] = own["floor"][held] = 0.0
        own["labels"] = _without_low_gaps(own["labels"], own["height"], frame_rate)
    for name in ("speed", "height", "floor", "ground", "noise", "enter", "leave", "highest"):
        own[name] = own.get(name, getattr(found, name)) / grown
    return replace(found, **own)


def _without_low_gaps(labels, height, frame_rate):
    """Labels (frames, legs) of a loop that holds its last pose, with the short gaps closed in which a foot stays on the
    ground while the floor under it starts or stops."""
    labels, frames = labels.copy(), len(labels)
    for leg in range(labels.shape[1]):
        if not labels[:, leg].any():
            continue
        first = int(np.argmax(labels[:, leg]))
        turned = np.roll(labels[:, leg], -first)
        for start, stop in contacts.runs(~turned):
            at = (np.arange(start, stop) + first) % frames
            if stop - start <= _LOW_GAP * frame_rate and height[at, leg].max() < _LOW_GAP_HEIGHT:
                labels[at, leg] = True
    return labels


def noise(points):
    """Standard deviation (legs,) along one axis of what trembles in points (frames, legs, 3), in their unit.

    From fourth differences, which motion hardly has and noise has √70 of, in the calmest fifth of the frames.
    """
    if len(points) < 12:
        return np.zeros(points.shape[1])
    squares = (np.diff(points, 4, axis=0) ** 2).sum(-1) / 70.0
    calm = 1.005  # the 20th percentile of a χ² variable with three degrees of freedom
    return np.sqrt(np.percentile(squares, 20.0, axis=0) / calm)


def steadied(points, frame_rate):
    """Points (frames, legs, 3) without their noise: each leg smoothed as far as it trembles."""
    return _smoothed(points, _smoothing(noise(points), frame_rate))


def hysteresis(enter, leave):
    """Labels (frames, legs) bool: runs of ``leave`` in which ``enter`` is true at least once."""
    labels = np.zeros_like(leave)
    for leg in range(leave.shape[1]):
        entered = np.concatenate([[0], np.cumsum(enter[:, leg])])
        for start, stop in contacts.runs(leave[:, leg]):
            labels[start:stop, leg] = entered[stop] > entered[start]
    return labels


def _detect(toes, hips, root, leg_lengths, frame_rate, settings, cycle):
    """AutoContacts at RATE. cycle: of the clip, which is repeated already."""
    trembling = noise(toes)
    smoothing = _smoothing(trembling, frame_rate)
    raw = resample.at_rate(toes, frame_rate, RATE, False)
    hips = resample.at_rate(hips, frame_rate, RATE, False)
    toes = _at_rate(toes, frame_rate, smoothing)
    root = _at_rate(root[:, None], frame_rate, smoothing.mean(keepdims=True))[:, 0]

    feet, root_velocity = _velocity(toes), _velocity(root)[:, :2]
    ground = np.percentile(toes[..., 2], contacts.FLOOR_PERCENTILE, axis=0)
    ground = np.minimum(ground, ground.min() + _FLOORS_APART)
    height = toes[..., 2] - ground
    evidence = np.exp(-((np.maximum(height, 0.0) / _LOW) ** 2) - (feet[..., 2] / _LEVEL) ** 2)
    supported = hips[..., 2] - toes[..., 2] > _SUPPORT * leg_lengths
    floor = floor_velocity.estimate(feet[..., :2], evidence, root_velocity, toes[..., :2], supported)

    trodden = None
    if cycle.period and (tread := _tread(feet, evidence * supported, root_velocity)) is not None:
        labels, speed = _trodden(feet, height, tread, settings)
        floor_of_tread = np.broadcast_to(tread, feet[..., :2].shape)
        kind = np.full(len(feet), floor_velocity.PLANE)
        trodden = AutoContacts(
            labels, speed, height, floor_of_tread, kind, ground, trembling, settings.enter, settings.leave, _TREAD_LOW
        )
        if not cycle.again:
            return trodden
    judged = _Judged(toes, raw, feet, height, supported, trembling)
    labels, speed = _judge(judged, floor, settings)
    carried = floor.kind == floor_velocity.ROOT
    if carried.any():
        # Now that contacts are known, their middles tell the root's share better than all low feet did.
        share = floor_velocity.root_share(feet[..., :2], root_velocity, labels & carried[:, None], RATE)
        velocity = np.where(carried[:, None, None], share * root_velocity[:, None], floor.velocity)
        floor = replace(floor, velocity=velocity, share=share)
        labels, speed = _judge(judged, floor, settings)
    if trodden is not None and not _agree(labels, trodden.labels):
        return trodden
    return AutoContacts(
        labels,
        speed,
        height,
        floor.velocity,
        floor.kind,
        ground,
        trembling,
        settings.enter,
        settings.leave,
        settings.height,
    )


def _agree(labels, trodden):
    """True where labels (frames, legs) have the contacts of trodden feet, and not much less of them: over several
    cycles a floor that moves tells more closely when a foot is planted, if it does so for all feet."""
    same = (len(contacts.runs(labels[:, leg])) == len(contacts.runs(trodden[:, leg])) for leg in range(labels.shape[1]))
    return all(same) and bool((labels.sum(0) >= _TREAD_AGREES * trodden.sum(0)).all())


def _tread(feet, evidence, root):
    """The velocity (2,) at which the feet of a loop go back over the ground, None where they do not or the root
    (frames, 2) travels. The median of what low feet have along their mean direction, which a few feet that land or
    lift do not change."""
    total = evidence.sum()
    if not total or floor_velocity.explained(feet[..., :2], evidence, 0.0).sum() > _TREAD_STILL * total:
        return None
    mean = (evidence[..., None] * feet[..., :2]).sum((0, 1)) / total
    speed = np.linalg.norm(mean)
    if speed < _TREAD or np.linalg.norm(root, axis=1).mean() > _TREAD_ROOT * speed:
        return None
    along = (feet[..., :2] @ (mean / speed)).ravel()
    order = np.argsort(along)
    passed = np.cumsum(evidence.ravel()[order])
    return mean / speed * np.interp(0.5 * total, passed, along[order])


def _trodden(feet, height, tread, settings):
    """Labels and speed (frames, legs) of feet that go back over the ground at about ``tread`` (2,)."""
    fast = np.linalg.norm(tread)
    way = tread / fast
    along, aside = feet[..., :2] @ way, feet[..., 0] * way[1] - feet[..., 1] * way[0]
    back = (along > _TREAD_SLOWEST * fast) & (np.abs(aside) < _TREAD_ASIDE * fast + settings.enter)
    level = np.abs(feet[..., 2]) < np.maximum(settings.enter, 0.2 * fast)
    labels = contacts.majority(back & level & (height < _TREAD_LOW), 2.0 * settings.shortest * RATE - 1.0)
    # One foot that stays down shows that there is ground; where all just turn from down to up, as on pedals, is none.
    down = (
        not _turns_back(feet[:, leg, 2:], start, stop, _TREAD_TURNING)
        for leg in range(labels.shape[1])
        for start, stop in contacts.runs(labels[:, leg])
    )
    if not any(down):
        labels[:] = False
    against = feet.copy()
    against[..., :2] -= tread
    return labels, np.linalg.norm(against, axis=-1)


@dataclass(frozen=True)
class _Judged:
    """What does not depend on the floor's velocity: toes smoothed (frames, legs, 3) and ``raw``, their velocity
    ``feet``, ``height`` and ``supported`` (frames, legs), ``trembling`` (legs,)."""

    toes: np.ndarray
    raw: np.ndarray
    feet: np.ndarray
    height: np.ndarray
    supported: np.ndarray
    trembling: np.ndarray


def _judge(judged, floor, settings):
    """Labels and speed (frames, legs) against a Floor."""
    against = judged.feet.copy()
    against[..., :2] -= floor.velocity
    speed = np.linalg.norm(against, axis=-1)
    low = judged.height < settings.height
    by_itself = floor.kind >= floor_velocity.PLANE
    moving = np.linalg.norm(floor.velocity, axis=-1) * by_itself[:, None]
    labels = hysteresis(low & (speed < settings.enter), low & (speed < settings.leave))
    labels = contacts.majority(labels, 2.0 * settings.shortest * RATE - 1.0)
    labels = _without_pauses(labels, against)
    labels &= judged.supported | ~by_itself[:, None]
    cuts = _cuts(judged.raw, floor.velocity, judged.trembling)
    shortest = settings.shortest * RATE
    return _plausible(labels & ~cuts, against, judged, moving, cuts, shortest), speed


def _smoothing(trembling, frame_rate):
    """Deviation (legs,), frames, of the Gaussian under which noise leaves no more than _NOISE_LEFT in the velocity: of
    s frames it leaves 0.3756 / s^1.5 per frame."""
    frames = (trembling * frame_rate * 0.3756 / _NOISE_LEFT) ** (2.0 / 3.0)
    return np.minimum(frames, _MOST_SMOOTHING * frame_rate / RATE)


def _at_rate(points, frame_rate, deviations):
    """Points (frames, legs, 3) at RATE, each leg smoothed by ``deviations`` (legs,), frames of theirs. That is done at
    the finer of the two rates: of noise that is dropped first, more is left."""
    if frame_rate > RATE:
        return resample.at_rate(_smoothed(points, deviations), frame_rate, RATE, False)
    points = resample.at_rate(points, frame_rate, RATE, False)
    return _smoothed(points, deviations * (RATE / frame_rate))


def _smoothed(points, deviations):
    return np.stack([filters.gaussian(points[:, leg], sd, "lines") for leg, sd in enumerate(deviations)], axis=1)


def _without_pauses(labels, against):
    """Labels with the short gaps closed in which the foot, moving ``against`` the floor (frames, legs, 3), stays where
    it is."""
    labels = labels.copy()
    way = np.cumsum(against, axis=0) / RATE
    for leg in range(labels.shape[1]):
        for start, stop in contacts.runs(~labels[:, leg]):
            if start > 0 and stop < len(labels) and stop - start <= _PAUSE:
                within = way[start : stop + 1, leg] - way[start - 1, leg]
                labels[start:stop, leg] = np.linalg.norm(within, axis=1).max() < _PAUSE_WAY
    return labels


def _plausible(labels, against, judged, moving, cuts, shortest):
    """Labels without the runs in which a foot cannot be planted. against: (frames, legs, 3), velocity against the
    floor; moving: (frames, legs), speed of a floor that moves by itself; cuts: (frames, legs); shortest: frames."""
    labels = labels.copy()
    for leg in range(labels.shape[1]):
        z = judged.toes[:, leg, 2]
        for start, stop in contacts.runs(labels[:, leg]):
            level = np.median(z[start:stop])
            below = _outside(z, start, stop) - level
            around = z[max(start - _LIFT_FRAMES, 0) : stop + _LIFT_FRAMES]
            low, high = np.percentile(z[start:stop], [5.0, 95.0])
            unlifted = around.max() - level < max(_LIFT, _LIFT_RANGES * (high - low))
            labels[start:stop, leg] = not (
                stop - start < shortest
                # What is left of a stance beside a cut is too little to tell.
                or (_turns_back(against[:, leg], start, stop) and not cuts[max(start - 1, 0) : stop + 1, leg].any())
                or below.max() < -(_BELOW + judged.trembling[leg])
                or (unlifted and np.median(moving[start:stop, leg]) > _MOVING)
            )
    return labels


def _turns_back(velocity, start, stop, least=_TURNING):
    """True where the velocity (frames, 3) changes as steadily from ``start`` to ``stop`` as it does around."""
    count = stop - start
    time = np.arange(count) - 0.5 * (count - 1)
    within = np.linalg.norm(time @ velocity[start:stop]) / max((time**2).sum(), 1e-9)
    around = []
    if start >= _AROUND:
        around.append(velocity[start] - velocity[start - _AROUND])
    if stop + _AROUND <= len(velocity):
        around.append(velocity[stop - 1 + _AROUND] - velocity[stop - 1])
    return bool(around) and within > least * np.linalg.norm(around, axis=1).max() / _AROUND


def _outside(z, start, stop):
    """Mean height a little before and a little after a run, infinite where the clip does not go so far."""
    near, far = _BELOW_FRAMES
    before, after = z[max(start - far, 0) : max(start - near, 0)], z[stop + near : stop + far]
    return np.array([part.mean() if len(part) else np.inf for part in (before, after)])


def _cuts(toes, floor, trembling):
    """Frames (frames, legs) before and after a cut: steps that no planted foot takes."""
    step = np.diff(toes, axis=0)
    step[..., :2] -= 0.5 * (floor[1:] + floor[:-1]) / RATE
    far = np.linalg.norm(step, axis=-1) > _CUT + _CUT_NOISE * trembling
    none = np.zeros((1, toes.shape[1]), bool)
    return np.concatenate([far, none]) | np.concatenate([none, far])


def _velocity(points):
    if len(points) < 2:
        return np.zeros_like(points)
    return np.gradient(points, axis=0) * RATE
