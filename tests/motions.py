"""Motion as the detection of contacts sees it: recorded clips, what happens to clips, and made ones of known truth.

World space, z up, metres. Nothing here is shared with the solvers: clips are read by ``measure``, resampled and
labelled by code of this file.
"""

from dataclasses import dataclass, replace
from pathlib import Path

import measure
import numpy as np

DATA = Path(__file__).resolve().parent / "data"
LEVEL = np.array([1.0, 1.0, 0.0])
TRUTH_RATE = 60.0


@dataclass(frozen=True, eq=False)
class Motion:
    """``toes`` and ``hips`` (frames, legs, 3), ``root`` (frames, 3), ``leg_lengths`` (legs,), ``rate`` in Hz."""

    name: str
    toes: np.ndarray
    hips: np.ndarray
    root: np.ndarray
    leg_lengths: np.ndarray
    rate: float

    def moved(self, change):
        """Every point changed by a function of points (frames, …, 3)."""
        return replace(self, toes=change(self.toes), hips=change(self.hips), root=change(self.root))

    def at_rate(self, rate):
        """The same motion at another rate, by cubic interpolation."""
        count = int((len(self.root) - 1) * rate / self.rate + 1e-6) + 1
        places = np.arange(count) * (self.rate / rate)
        return replace(self.moved(lambda points: _cubic(points, places)), rate=rate)


# What the joints of the clips are called, metres of one unit, and frames at the start that are a T-pose.
_BY_HIP = ("Hip", "Knee", "Ankle", "Toe")
_BY_LEG = ("UpLeg", "Leg", "Foot", "ToeBase")
_CLIPS = {
    "cmu_131_01": (_BY_HIP, 1.0, 0),
    "cmu_131_03": (_BY_HIP, 1.0, 0),
    "cmu_12_01": (_BY_LEG, 0.056444, 1),
    "cmu_01_01": (_BY_LEG, 0.056444, 1),
}
CLIPS = tuple(_CLIPS)


def load(name):
    """A recorded clip at its own rate."""
    joints, unit, skip = _CLIPS[name]
    motion = measure.load(DATA / f"{name}.bvh")

    def upright(joint):
        x, y, z = motion.point(joint).T * unit
        return np.stack([x, -z, y], axis=1)[skip:]

    hip, knee, ankle, toe = (np.stack([upright(f"{side}{joint}") for side in ("Left", "Right")], 1) for joint in joints)
    lengths = np.linalg.norm(knee - hip, axis=2) + np.linalg.norm(ankle - knee, axis=2)
    return Motion(name, toe, hip, upright("Hips"), np.median(lengths, axis=0), 1.0 / motion.frame_time)


def truth(motion):
    """Labels (frames, legs) bool of a clip that does not slide, at TRUTH_RATE: the article's, by speed and height."""
    toes = motion.at_rate(TRUTH_RATE).toes
    speed = np.linalg.norm(np.gradient(toes, axis=0), axis=-1) * TRUTH_RATE
    height = toes[..., 2] - np.percentile(toes[..., 2], 5.0, axis=0)
    still = np.pad((speed < 0.25) & (height < 0.1), ((2, 2), (0, 0)), mode="edge")
    return np.lib.stride_tricks.sliding_window_view(still, 5, axis=0).sum(-1) > 2


def at_frames(labels, frames, rate):
    """Labels at TRUTH_RATE at the frames of a clip at another rate, the nearest of them."""
    nearest = np.round(np.arange(frames) * (TRUTH_RATE / rate)).astype(int)
    return labels[np.minimum(nearest, len(labels) - 1)]


def f1(found, wanted):
    """F1 of labels, 1 where both are empty."""
    total = found.sum() + wanted.sum()
    return 2.0 * np.count_nonzero(found & wanted) / total if total else 1.0


def root_scaled(motion, factor):
    """The root's horizontal travel scaled, from where it is in the first frame."""
    away = (factor - 1.0) * (motion.root - motion.root[0]) * LEVEL
    return motion.moved(lambda points: points + (away if points.ndim == 2 else away[:, None]))


def turned(motion, degrees=45.0):
    """Turned steadily about where the root is in the first frame."""
    angle = np.linspace(0.0, np.deg2rad(degrees), len(motion.root))
    middle = motion.root[0] * LEVEL

    def turn(points):
        away = points - middle
        a = angle if points.ndim == 2 else angle[:, None]
        x, y = away[..., 0], away[..., 1]
        return np.stack([np.cos(a) * x - np.sin(a) * y, np.sin(a) * x + np.cos(a) * y, away[..., 2]], -1) + middle

    return motion.moved(turn)


def noisy(motion, deviation, seed=1):
    """Noise on the toes, metres along each axis."""
    rng = np.random.default_rng(seed)
    return replace(motion, toes=motion.toes + rng.normal(0.0, deviation, motion.toes.shape))


def conditions(motion):
    """What a clip may suffer: (name, Motion). The feet stand and lift as in the clip itself."""
    yield "clean", motion
    for factor in (0.5, 0.75, 1.25, 1.5, 2.0):
        yield f"×{factor:g}", root_scaled(motion, factor)
    yield "in place", root_scaled(motion, 0.0)
    yield "turned", turned(motion)
    yield "5 mm", noisy(motion, 0.005)
    yield "10 mm", noisy(motion, 0.01)
    yield "×1.25, 5 mm", noisy(root_scaled(motion, 1.25), 0.005)
    yield "×1.5, 10 mm", noisy(root_scaled(motion, 1.5), 0.01)
    yield "30 fps", motion.at_rate(30.0)
    yield "at 0.5 m", motion.moved(lambda points: points + np.array([0.0, 0.0, 0.5]))


def synthetic():
    """Made clips: (name, Motion, contacts of each leg)."""
    for motion, wanted in _made_clips():
        yield motion.name, motion, wanted


def _made_clips():
    for seconds, speed, gravity in ((1.2, 0.0, 9.81), (2.0, 9.0, 0.0)):
        t = _time(seconds)
        height = 30.0 - speed * t - 0.5 * gravity * t**2
        feet = [
            _points(
                0.15 * np.sin(9.0 * t + phase), side + 0.1 * np.cos(7.0 * t), height + 0.1 * np.sin(8.0 * t + phase)
            )
            for side, phase in ((0.1, 0.0), (-0.1, 2.0))
        ]
        yield _made(f"a fall from {speed:g} m/s", feet, _points(0.0 * t, 0.0 * t, height + 0.8)), (0, 0)
    for amplitude, beats, travel in ((0.2, 1.5, 1.2), (0.1, 1.0, 0.8), (0.3, 1.0, 1.0), (0.15, 2.5, 1.6)):
        for speed in (travel, 0.0):
            yield _swimming(amplitude, beats, speed), (0, 0)
    for speed in (0.0, 1.0):
        t = _time(3.0)
        beat = 2.0 * np.pi * 0.9 * t
        feet = [
            _points(
                speed * t - 0.7 + 0.25 * np.cos(beat), sign * (0.2 + 0.15 * np.sin(beat)), 1.0 + 0.05 * np.sin(beat)
            )
            for sign in (1.0, -1.0)
        ]
        yield _made(f"swims like a frog at {speed:g} m/s", feet, _points(speed * t, 0.0 * t, 1.1 + 0.0 * t)), (0, 0)
    for degrees in (15.0, 30.0, 45.0):
        for beats in (0.5, 0.8, 1.2):
            for lag in (0.0, np.pi, 1.7):
                yield _sitting(degrees, beats, lag), (0, 0)
    for beats in (1.0, 1.5):
        t = _time(3.0)
        angle = 2.0 * np.pi * beats * t
        feet = [
            _points(sign * 0.17 * np.cos(angle), sign * 0.1 + 0.0 * t, 0.5 + sign * 0.17 * np.sin(angle))
            for sign in (1.0, -1.0)
        ]
        yield _made(f"pedals at {beats:g} Hz", feet, _points(-0.3 + 0.0 * t, 0.0 * t, 1.2 + 0.0 * t)), (0, 0)
    t = _time(0.5)
    rise = 2.45 * t - 4.905 * t**2
    feet = [
        _points(
            3.0 * t + sign * 0.1 * np.sin(5.0 * t), sign * 0.1 + 0.0 * t, 0.3 + rise + sign * 0.05 * np.sin(6.0 * t)
        )
        for sign in (1.0, -1.0)
    ]
    yield _made("flies in a jump", feet, _points(3.0 * t, 0.0 * t, 1.1 + rise)), (0, 0)
    yield from _standing()
    yield from _hopping()


def _swimming(amplitude, beats, speed):
    """Lying level, both feet kicking up and down in turn; they go a little to and fro as they do."""
    t = _time(3.0)
    beat, x = 2.0 * np.pi * beats * t, speed * t
    feet = [
        _points(x - 0.9 + 0.05 * np.cos(2.0 * beat), sign * 0.1 + 0.0 * t, 1.0 + sign * amplitude * np.sin(beat))
        for sign in (1.0, -1.0)
    ]
    name = f"swims, kicks {amplitude:g} m at {beats:g} Hz, {speed:g} m/s"
    return _made(name, feet, _points(x, 0.0 * t, 1.0 + 0.0 * t))


def _sitting(degrees, beats, lag):
    """On something high, both shins swinging from the knees."""
    t = _time(3.0)
    hip, thigh, shin, ahead, down = 0.82, 0.42, 0.42, 0.12, 0.06
    feet = []
    for side, phase in ((0.1, 0.0), (-0.1, lag)):
        a = np.deg2rad(degrees) * np.sin(2.0 * np.pi * beats * t + phase)
        forward, below = np.sin(a), np.cos(a)
        x = thigh + shin * forward + ahead * below + down * forward
        feet.append(_points(x, side + 0.0 * t, hip - shin * below + ahead * forward - down * below))
    name = f"sits, swings {degrees:g}° at {beats:g} Hz, {lag:.1f} apart"
    return _made(name, feet, _points(0.0 * t, 0.0 * t, hip + 0.0 * t), thigh + shin)


def _standing():
    t = _time(3.0)
    sway = _points(0.02 * np.sin(t), 0.0 * t, 0.9 + 0.0 * t)
    left, right = (_points(0.1 + 0.0 * t, side + 0.0 * t, 0.04 + 0.0 * t) for side in (0.1, -0.1))
    for deviation in (0.001, 0.003, 0.005, 0.01):
        still = _made(f"stands with {deviation * 1e3:g} mm of noise", [left, right], sway)
        yield noisy(still, deviation, seed=7), (1, 1)
    held = _points(0.1 + 0.02 * np.sin(2.0 * t), -0.1 + 0.0 * t, 0.35 + 0.02 * np.cos(1.7 * t))
    yield _made("stands on one leg, the other held up", [left, held], sway), (1, 0)
    yield _made("stands on one leg, the other quite still", [left, right + np.array([0.0, 0.0, 0.16])], sway), (1, 0)


def _hopping():
    """On the left leg, five times; the right one is held up."""
    t = _time(3.0)
    cycle, phase = np.divmod(t, 0.6)
    flying = phase > 0.3
    rise = np.where(flying, 4.905 * (phase - 0.3) * (0.6 - phase), 0.0)
    x = 0.3 * (cycle + np.where(flying, (phase - 0.3) / 0.3, 0.0))
    body = _smoothed(_points(x, 0.0 * t, 0.9 + rise), 5)
    beat = 2.0 * np.pi * t / 0.6
    left = _points(x, 0.1 + 0.0 * t, 0.04 + rise)
    right = _points(body[:, 0] - 0.1 + 0.03 * np.sin(beat), -0.1 + 0.0 * t, body[:, 2] - 0.55 + 0.03 * np.cos(beat))
    hops = _made("hops on one leg", [left, right], body)
    yield hops, (5, 0)
    yield replace(root_scaled(hops, 0.0), name="hops on one leg, in place"), (5, 0)
    on_the_spot = hops.moved(lambda points: points * (0.0, 1.0, 1.0))
    yield replace(on_the_spot, name="hops on one leg, on the spot"), (5, 0)


def _made(name, feet, root, length=0.84):
    toes = np.stack(feet, axis=1)
    hips = np.stack([root + np.array([0.0, side, 0.0]) for side in (0.1, -0.1)], axis=1)
    return Motion(name, toes, hips, root, np.full(2, length), TRUTH_RATE)


def _time(seconds):
    return np.arange(int(seconds * TRUTH_RATE) + 1) / TRUTH_RATE


def _points(x, y, z):
    return np.stack(np.broadcast_arrays(x, y, z), axis=-1).astype(float)


def _smoothed(points, reach):
    """A running mean, three times."""
    for _ in range(3):
        padded = np.concatenate([np.repeat(points[:1], reach, 0), points, np.repeat(points[-1:], reach, 0)])
        points = np.lib.stride_tricks.sliding_window_view(padded, 2 * reach + 1, axis=0).mean(-1)
    return points


def _cubic(points, places):
    """Catmull-Rom through points (frames, …), at places counted in frames."""
    last = len(points) - 1
    before = np.clip(np.floor(places).astype(int), 0, last - 1)
    f = (places - before).reshape(-1, *(1,) * (points.ndim - 1))
    a, b, c, d = (points[np.clip(before + i, 0, last)] for i in (-1, 0, 1, 2))
    return b + 0.5 * f * (c - a + f * (2.0 * a - 5.0 * b + 4.0 * c - d + f * (3.0 * (b - c) + d - a)))
