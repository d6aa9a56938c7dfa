"""How the root should travel so that planted feet stand still, before any inverse kinematics.

Where the root's travel is too long or too short by one factor, that factor is the answer: each contact votes with the
share of the root's velocity that its toe has while the foot is flat, in the middle of the contact, where it does not
roll. Where it is not one factor (in place, or a travel of another shape), the floor's own way is taken off the root's
path: the planted toes' velocity, carried over the flights between.
"""

from dataclasses import dataclass

import numpy as np

from . import arguments, auto_contacts, contacts, filters, floor_velocity, loops, resample

# The root's velocity (m/s) below which it does not travel.
_STANDS = 0.05
# A foot stands still on the floor where it differs from it by less than this share of its speed and this (m/s).
_STILL_SHARE, _STILL = 0.17, 0.1
# Feet that are planted for less than this (seconds, all together) say nothing.
_LEAST_PLANTED = 0.1
# Frames per second at which short contacts are judged.
_FINE = 120.0
# A factor must leave less than this share of the slide, and take this much off (m/s).
_FACTOR_LEAVES, _FACTOR_TAKES = 0.85, 0.012
# A path must leave less than this share of what slides without it, and that only where feet slide by more than this
# (m/s) and more than this share of the root's speed.
_PATH_LEAVES, _PATH_FROM, _PATH_SHARE = 0.5, 0.12, 0.05
# Deviation (seconds) of the smoothing of the floor's way, and of the bridge over flights with its weight.
_SMOOTH, _BRIDGE, _BRIDGE_WEIGHT = 0.03, 0.25, 1e-3
# A planted toe is never quite still: it comes and goes forwards, so that the floor seems slower than it is, by about
# this share of what planted toes scatter around it (measured on clean walks), and never by more than the second.
_CREEP, _MOST_CREEP = 0.8, 0.08


@dataclass(frozen=True)
class RootFit:
    """``kind``: "scale", "path", or "none" where the root fits as it is or nothing is planted. ``scale``: the root's
    travel over that which the feet ask for, 1 unless ``kind`` is "scale". ``shift`` (frames, 2): what to add to the
    root's horizontal place, metres, zero in the first frame. ``root_speed``, ``feet_speed``: mean horizontal speed
    of the root, and the one that the feet ask for, m/s. ``leg_speed`` (legs,): mean speed of the floor under each
    foot in contact, m/s, NaN without. ``slide``: mean speed of planted toes before and after the fit, m/s."""

    kind: str
    scale: float
    shift: np.ndarray
    root_speed: float
    feet_speed: float
    leg_speed: np.ndarray
    slide: tuple

    @property
    def in_place(self):
        """True where the feet travel and the root does not."""
        return self.feet_speed > 4.0 * max(self.root_speed, _STANDS)


def fit(toes, root, labels, frame_rate):
    """RootFit of toes (frames, legs, 3) and root (frames, 3), world space, z up, metres, with labels (frames, legs)
    bool, at ``frame_rate`` (Hz). Raises ValueError for shapes that do not fit, a point that is no number or a rate that
    is not positive."""
    toes = arguments.toes(toes, frame_rate)
    root = arguments.finite("root", root, (len(toes), 3))
    labels = arguments.labels(labels, toes.shape[:2])
    if len(toes) == 1:
        nowhere = np.full(toes.shape[1], np.nan)
        return RootFit("none", 1.0, np.zeros((1, 2)), 0.0, 0.0, nowhere, (0.0, 0.0))
    cycle = loops.find(toes, root, frame_rate)
    held, first = cycle.held, cycle.first
    frames = len(toes) - held
    labels = cycle.repeated_labels(labels)
    toes, root = cycle.repeated(toes), cycle.repeated(root)

    feet = np.gradient(auto_contacts.steadied(toes, frame_rate)[..., :2], axis=0) * frame_rate
    way = np.gradient(root[:, :2], axis=0) * frame_rate
    weight = _flat(labels)
    share = floor_velocity.root_share(feet, way, labels, frame_rate)
    path = _steady(feet, labels) if cycle.period else _floor(feet, labels, frame_rate)
    floors = {"none": np.zeros_like(way), "scale": share * way, "path": path}
    slides = {kind: _mean_speed(feet - floor[:, None], weight) for kind, floor in floors.items()}
    root_speed = float(np.linalg.norm(way, axis=1).mean())
    tells = np.count_nonzero(labels[1:] & labels[:-1]) >= _LEAST_PLANTED * frame_rate
    kind = _kind(slides, root_speed) if tells else "none"
    floor = floors[kind]
    if kind == "path" and not cycle.period:
        floor = _without_creep(feet, labels, floor)
    own = slice(first, first + frames)
    step = 0.5 * (floor[1:] + floor[:-1]) / frame_rate
    shift = -np.concatenate([np.zeros((1, 2)), np.cumsum(step, axis=0)])[own]
    if kind == "scale":
        shift = -share * (root[own, :2])
    if kind != "none" and _slid(toes[own], shift - shift[0], labels[own]) >= _slid(toes[own], 0.0 * shift, labels[own]):
        # What is meant to help makes it worse.
        kind, shift, floor = "none", 0.0 * shift, floors["none"]
    if held:  # the root stands where the last pose is held
        shift = np.concatenate([shift, np.tile(shift[-1:], (held, 1))])
    return RootFit(
        kind,
        1.0 / (1.0 - share) if kind == "scale" else 1.0,
        shift - shift[0],
        root_speed,
        float(np.linalg.norm((way - floor)[own], axis=1).mean()),
        _leg_speeds(toes, labels, path, frame_rate),
        (slides["none"], slides[kind]),
    )


def _kind(slides, root_speed):
    """The kind of fit that takes enough off the slide of the others; slides: m/s, by kind."""
    kind = "none"
    if slides["scale"] < min(_FACTOR_LEAVES * slides["none"], slides["none"] - _FACTOR_TAKES):
        kind = "scale"
    if slides[kind] > max(_PATH_FROM, _PATH_SHARE * root_speed) and slides["path"] < _PATH_LEAVES * slides[kind]:
        kind = "path"
    return kind


def _slid(toes, shift, labels):
    """How far planted toes (frames, legs, 3) go in all, metres, when they are moved by a shift (frames, 2)."""
    step = np.diff(toes[..., :2] + shift[:, None], axis=0)
    return float((np.linalg.norm(step, axis=-1) * (labels[1:] & labels[:-1])).sum())


def _leg_speeds(toes, labels, floor, frame_rate):
    """Mean speed (legs,) of the floor under each foot where the foot stands still on it. Judged between the frames,
    since a run's contact has few."""
    factor = max(1, round(_FINE / frame_rate))
    feet = np.gradient(resample.upsampled(toes, factor)[..., :2], axis=0) * (frame_rate * factor)
    floor = resample.upsampled(floor, factor)
    planted = resample.upsampled(labels, factor) > 0.5
    speed = np.linalg.norm(floor, axis=-1)[:, None]
    against = np.linalg.norm(feet - floor[:, None], axis=-1)
    still = planted * np.exp(-((against / (_STILL_SHARE * speed + _STILL)) ** 2))
    total = still.sum(0)
    mean = (still[..., None] * feet).sum(0) / np.maximum(total, 1e-9)[:, None]
    return np.where(total > 0.0, np.linalg.norm(mean, axis=1), np.nan)


def _steady(feet, labels):
    """The floor's velocity (frames, 2) in a loop: the same all the time, the median of what planted feet have."""
    if not labels.any():
        return np.zeros((len(feet), 2))
    planted = feet[labels]
    mean = planted.mean(0)
    speed = np.linalg.norm(mean)
    if speed > 0.0:
        mean = mean / speed * np.median(planted @ (mean / speed))
    return np.broadcast_to(mean, (len(feet), 2))


def _flat(labels):
    """Weights (frames, legs) 0..1 that favour the middle of each contact, where the foot is flat."""
    weight = np.zeros(labels.shape)
    for leg in range(labels.shape[1]):
        for start, stop in contacts.runs(labels[:, leg]):
            place = (np.arange(stop - start) + 0.5) / (stop - start)
            weight[start:stop, leg] = np.sin(np.pi * place) ** 2
    return weight


def _floor(feet, labels, frame_rate):
    """Velocity of the floor (frames, 2) as planted toes have it."""
    sums = np.concatenate([(labels[..., None] * feet).sum(1), labels.sum(1)[:, None]], axis=1)
    near = filters.gaussian(sums, _SMOOTH * frame_rate, "nothing")
    wide = filters.gaussian(sums, _BRIDGE * frame_rate, "nothing")
    total = near + _BRIDGE_WEIGHT * wide
    return total[:, :2] / np.maximum(total[:, 2:], 1e-9)


def _without_creep(feet, labels, floor):
    """The floor's velocity (frames, 2) made up for what planted toes creep forwards."""
    speed = _mean_speed(np.broadcast_to(floor[:, None], feet.shape), labels)
    if speed < _STANDS:
        return floor
    scatter = _mean_speed(feet - floor[:, None], labels)
    return floor * (1.0 + min(_CREEP * scatter / speed, _MOST_CREEP))


def _mean_speed(velocity, weight):
    """Weighted mean speed of velocities (frames, legs, 2), 0 without weight."""
    total = weight.sum()
    return float((np.linalg.norm(velocity, axis=-1) * weight).sum() / total) if total else 0.0
