"""Contact labels by thresholds: a toe that is slow and low is planted.

From the article's "Contact Times": speed of the toe, height as a sanity check, a majority vote, and on request a
continuous signal. Its windows are given in frames of 60 Hz; here all are in seconds, and slower clips are raised to
at least 60 Hz first, since a run's contact can last one frame at 30. It finds feet that do not slide; what it misses
on others is measured in the project's notes on the article.
"""

from dataclasses import dataclass, replace
from math import ceil

import numpy as np

from . import arguments, filters, resample

# The rate to which slower clips are raised, Hz; a rate within this share of it (59.94) is fast enough as it is.
_RATE = 60.0
_RATE_TOLERANCE = 0.02
# The floor is where the toes are when they are lowest, but for this share of frames, which may be noise.
FLOOR_PERCENTILE = 5.0
# A foot is planted where the weight of its contact is above this.
PLANTED_ABOVE = 0.5
# What ``nearest`` chooses from: m/s, and metres.
_VELOCITIES = np.geomspace(0.1, 2.0, 19)
_HEIGHTS = (0.03, 0.05, 0.07, 0.15)


@dataclass(frozen=True)
class ThresholdSettings:
    """``velocity``: metres per second below which a toe may be planted. ``height``: metres above the floor below
    which it may be. Both may be None, to be chosen by ``nearest``. ``vote``: seconds of the majority vote.
    ``smoothing``: standard deviation in seconds of the Gaussian that makes the labels a continuous signal, 0 for none
    (the article has 1.5 frames at 60 Hz, 0.025 s). ``contact``: the level of that signal above which a frame is a
    contact."""

    velocity: float | None = 0.25
    height: float | None = 0.1
    vote: float = 1.0 / 12.0
    smoothing: float = 0.0
    contact: float = 0.5


@dataclass(frozen=True)
class Contacts:
    """``labels`` (frames, legs) bool; ``signal`` (frames, legs) 0..1, the labels themselves without smoothing;
    ``speed`` (frames, legs), metres per second, and ``height`` (frames, legs), metres over the floor, as they were
    judged."""

    labels: np.ndarray
    signal: np.ndarray
    speed: np.ndarray
    height: np.ndarray


def floor_height(toes):
    """Height of the floor under toes (frames, legs, 3), world z in metres: a low percentile, so that a few frames of
    noise do not lower it."""
    return float(np.percentile(toes[..., 2], FLOOR_PERCENTILE))


def detect(toes, frame_rate, floor, settings=ThresholdSettings()):
    """Contact labels of toes (frames, legs, 3), world space, metres, at ``frame_rate`` (Hz) over a floor at height
    ``floor`` (scalar or (legs,)).

    Returns Contacts at the clip's own frames. Raises ValueError for another shape, a point that is no number or a rate
    that is not positive. A clip of one frame has no speed: its toes stand still.
    """
    judged = _judge(toes, frame_rate, floor)
    labels = _labels(judged, settings)
    signal = labels.astype(float)
    if settings.smoothing > 0.0:
        signal = filters.gaussian(signal, settings.smoothing * judged.rate)
        labels = signal > settings.contact
    own = slice(None, None, judged.factor)
    return Contacts(labels[own], signal[own], judged.speed[own], judged.height[own])


def nearest(toes, frame_rate, floor, wanted, settings):
    """Settings whose ``velocity`` and ``height``, where they are None, are those under which ``detect`` comes nearest
    to the labels ``wanted`` (frames, legs) bool, by F1; the article's where those have no contact."""
    default = ThresholdSettings()
    judged = _judge(toes, frame_rate, floor)
    wanted = np.asarray(wanted, bool)
    best, best_score = None, -1.0
    for height in [settings.height] if settings.height is not None else (default.height, *_HEIGHTS):
        for velocity in [settings.velocity] if settings.velocity is not None else (default.velocity, *_VELOCITIES):
            tried = replace(settings, velocity=velocity, height=height)
            labels = _labels(judged, tried)[:: judged.factor]
            score = 2.0 * np.count_nonzero(labels & wanted) / max(labels.sum() + wanted.sum(), 1)
            if score > best_score + 1e-9:
                best, best_score = tried, score
    return best


@dataclass(frozen=True)
class _Judged:
    """``speed`` and ``height`` (fine frames, legs) at ``rate``, ``factor`` times the clip's."""

    speed: np.ndarray
    height: np.ndarray
    rate: float
    factor: int


def _judge(toes, frame_rate, floor):
    toes = arguments.toes(toes, frame_rate, least=0)
    factor = ceil(_RATE / frame_rate * (1.0 - _RATE_TOLERANCE))
    fine = resample.upsampled(toes, factor)
    rate = frame_rate * factor
    return _Judged(_speed(fine, rate), fine[..., 2] - floor, rate, factor)


def _labels(judged, settings):
    slow_and_low = (judged.speed < settings.velocity) & (judged.height < settings.height)
    return majority(slow_and_low, settings.vote * judged.rate)


@dataclass(frozen=True)
class Summary:
    """``counts`` (legs,): contacts of each leg. ``shares`` (legs,): of the time. ``shortest`` (legs,): seconds, 0
    without. ``double_support``, ``flight``: shares of the time in which two feet or more, or none, are planted."""

    counts: tuple
    shares: tuple
    shortest: tuple
    double_support: float
    flight: float


def summary(labels, frame_rate):
    """Summary of labels (frames, legs) bool at ``frame_rate`` (Hz)."""
    spans = [runs(labels[:, leg]) for leg in range(labels.shape[1])]
    planted = labels.sum(axis=1)
    return Summary(
        tuple(len(span) for span in spans),
        tuple(float(share) for share in labels.mean(axis=0)),
        tuple(float(np.diff(span, axis=1).min() / frame_rate) if len(span) else 0.0 for span in spans),
        float((planted > 1).mean()),
        float((planted == 0).mean()),
    )


def majority(labels, window):
    """Labels (frames, …) after a vote over ``window`` frames around each, made odd; at the ends the first and last
    label vote for what is missing."""
    reach = round(window) // 2
    if reach == 0 or len(labels) == 0:
        return labels.copy()
    padded = np.concatenate(
        [np.repeat(labels[:1], reach + 1, axis=0), labels, np.repeat(labels[-1:], reach, axis=0)], axis=0
    )
    total = np.cumsum(padded, axis=0)
    return total[2 * reach + 1 :] - total[: -2 * reach - 1] > reach


def runs(labels):
    """Runs of True in labels (frames,): (runs, 2) int, first frame and frame after the last."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], labels, [False]]).astype(np.int8)))
    return edges.reshape(-1, 2)


def _speed(points, rate):
    """Speed (frames, …) by central differences, one-sided at the ends."""
    if len(points) < 2:
        return np.zeros(points.shape[:-1])
    return np.linalg.norm(np.gradient(points, axis=0), axis=-1) * rate
