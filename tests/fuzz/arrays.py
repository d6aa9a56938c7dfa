"""Fuzz cases of the solvers on arrays: legs of any size, anywhere, with contacts of any kind. No Blender."""

from dataclasses import fields, replace

import numpy as np

from footlock.solvers import (
    auto_contacts,
    contacts,
    foot_lock,
    foot_skate,
    footprints,
    ground,
    knee_side,
    label_edits,
    leg_chain,
    loops,
    root_fit,
    slide_removal,
)
from footlock.solvers.errors import FootlockError

_JOINTS = ("hip", "knee", "heel", "toe", "toe_end")


def case(seed, folder):
    """One solver on one clip; how it ended, in a word."""
    rng = np.random.default_rng(seed)
    return _CASES[int(rng.integers(len(_CASES)))](rng)


def _chosen(rng, options):
    return options[int(rng.integers(len(options)))]


class _Clip:
    """Legs that step, hop or tremble: pelvis (n, 3), a LegPose, sides, contacts (n, legs), rate; ``size`` in metres,
    ``away`` from the origin."""

    def __init__(self, rng):
        count, legs = int(rng.integers(3, 41)), int(_chosen(rng, (1, 2, 2, 2, 3, 4, 6)))
        self.size, self.away = _chosen(rng, (1.0, 1.0, 1.0, 0.01, 100.0)), _chosen(rng, (0.0, 0.0, 1.0, 1e3, 1e6))
        self.rate = _chosen(rng, (24.0, 60.0, 60.0, 120.0, 1.0, 1e3))
        t = np.arange(count)[:, None] / 24.0
        rough = _chosen(rng, (0.0, 0.0, 1e-3, 0.1))

        def wave(width, height):
            frequency, phase = rng.uniform(0.2, 2.0, width), rng.uniform(0.0, 6.3, width)
            return height * np.sin(6.3 * frequency * t + phase) + rough * rng.normal(size=(count, width))

        origin = self.away * rng.normal(size=3)
        travel = t * rng.normal(size=3) * [1.0, 1.0, 0.0]
        pelvis = travel + wave(3, 0.05) + [0.0, 0.0, 1.0]
        hip = pelvis[:, None] + rng.normal(size=(1, legs, 3)) * 0.1
        lengths = rng.uniform(0.3, 0.6, (2, legs)) * _chosen(rng, (1.0, 1.0, 1.0, 1e-6))
        points = [hip]
        for i in range(2):
            way = wave(3 * legs, 0.4).reshape(count, legs, 3) - np.eye(3)[2]
            way /= np.linalg.norm(way, axis=-1, keepdims=True)
            points.append(points[-1] + way * lengths[i][:, None])
        foot = rng.normal(size=(1, legs, 3)) * 0.1
        points += [points[-1] + foot, points[-1] + foot * 1.4]
        self.pelvis = self.size * pelvis + origin
        self.pose = leg_chain.LegPose(*(self.size * point + origin for point in points))
        frames = np.broadcast_to(np.eye(3), (count, legs, 3, 3))
        self.side = knee_side.side_vectors(self.pose, frames)
        self.contacts = np.zeros((count, legs))
        for leg in range(legs):
            for _ in range(int(rng.integers(0, 4))):
                start = int(rng.integers(count))
                stop = start + int(rng.integers(1, 20))
                self.contacts[start:stop, leg] = _chosen(rng, (1.0, 1.0, 1.0, 0.5, 1e-3, -1.0))
        self.precision = 1e-12 * (self.away + self.size)


def _spoiled(rng, clip):
    """True where a number of the clip is none now."""
    if rng.random() < 0.9:
        return False
    name = _chosen(rng, _JOINTS)
    points = getattr(clip.pose, name).copy()
    points[tuple(int(rng.integers(n)) for n in points.shape)] = _chosen(rng, (np.nan, np.inf, -np.inf))
    clip.pose = replace(clip.pose, **{name: points})
    return name == "toe"


def _removal(rng):
    clip = _Clip(rng)
    spoiled = _spoiled(rng, clip)
    terms = slide_removal.Terms(_chosen(rng, (0.0, 0.03, 1.0)), _chosen(rng, (0.0, 0.5, 1.0)), _chosen(rng, (0.0, 1.0)))
    settings = foot_skate.Settings(
        _chosen(rng, ("offline", "offline", "runtime")),
        terms=terms,
        keep_dips=bool(rng.integers(2)),
        hold_heading=bool(rng.random() < 0.3),
        stretch=_chosen(rng, (0.0, 0.0, 0.02)),
    )
    pinned = None
    if rng.random() < 0.3:
        pinned = np.zeros(len(clip.pelvis), bool)
        pinned[:: int(rng.integers(2, 30))] = True
    given = [np.copy(getattr(clip.pose, name)) for name in _JOINTS]
    floor = ground.Ground.of_contacts(clip.pose, clip.contacts > 0.0) if not spoiled else None
    try:
        with np.errstate(all="ignore"):
            found = foot_skate.remove_sliding(
                clip.pelvis, clip.pose, clip.side, clip.contacts, clip.rate, settings, floor, pinned
            )
    except (ValueError, FootlockError) as error:
        assert not np.isfinite([getattr(clip.pose, name) for name in _JOINTS]).all(), error
        return "refused"
    for name, before in zip(_JOINTS, given, strict=True):
        np.testing.assert_array_equal(getattr(clip.pose, name), before)
    if not np.isfinite(given).all():
        return "not a number"
    _check(clip, settings, found)
    return settings.method


def _check(clip, settings, found):
    """Everything is finite, bones keep their lengths, planted toes stand, and without contacts nothing moves."""
    pose, new = clip.pose, found.legs
    shift = (found.pelvis - clip.pelvis)[:, None]
    old = [getattr(pose, name) for name in _JOINTS]
    now = [pose.hip + shift, *(getattr(new, name) for name in _JOINTS[1:])]
    assert np.isfinite(now).all() and np.isfinite(found.pelvis).all(), "points that are no numbers"
    room = 1e-9 * clip.size + 1e3 * clip.precision
    if not (clip.contacts > 0.0).any():
        assert np.abs(found.pelvis - clip.pelvis).max() == 0.0
        assert max(np.abs(a - b).max() for a, b in zip(old, now, strict=True)) < 2e-6 + room, "it moves without contact"
        return
    for i in range(4):
        before, after = (np.linalg.norm(points[i + 1] - points[i], axis=-1) for points in (old, now))
        longest = 1.0 + (settings.stretch if i < 2 else 0.0)
        assert (after <= before * longest + room).all() and (after >= before - room).all(), (
            f"{_JOINTS[i]} changes by {np.abs(after - before).max()} of {before.max()}"
        )
    if settings.method == "runtime":
        return
    planted = (clip.contacts >= 1.0) & found.locked & ~found.out_of_reach
    both = planted[1:] & planted[:-1]
    slid = np.linalg.norm(np.diff(new.toe, axis=0), axis=-1)[both].max(initial=0.0)
    assert slid <= 2.0 * foot_skate.OUT_OF_REACH + room, f"a planted toe slides by {slid}"


def _lock(rng):
    clip = _Clip(rng)
    settings = foot_lock.FootLockSettings(*(_chosen(rng, (0.0, 0.01, 1.0, 1e6)) for _ in range(3)))
    where, locked = foot_lock.lock(clip.pose.toe, clip.contacts > 0.5, 0.0, 1.0 / clip.rate, settings)
    assert np.isfinite(where).all()
    assert not (locked & ~(clip.contacts > 0.5)).any()
    if not locked.any():
        np.testing.assert_array_equal(where, clip.pose.toe)
    return "lock"


def _detection(rng):
    clip = _Clip(rng)
    toes, spoiled = clip.pose.toe, _spoiled(rng, clip)
    try:
        lengths = clip.pose.leg_lengths() if not spoiled else np.ones(toes.shape[1])
        with np.errstate(all="ignore"):
            if rng.random() < 0.6:
                found = auto_contacts.detect(clip.pose.toe, clip.pose.hip, clip.pelvis, lengths, clip.rate)
            else:
                found = contacts.detect(clip.pose.toe, clip.rate, contacts.floor_height(clip.pose.toe))
    except ValueError as error:
        assert not np.isfinite([getattr(clip.pose, name) for name in _JOINTS]).all(), error
        return "refused"
    assert found.labels.shape == toes.shape[:2] and found.labels.dtype == bool
    contacts.summary(found.labels, clip.rate)
    return "detection"


def _fit(rng):
    clip = _Clip(rng)
    labels = clip.contacts > 0.5
    found = root_fit.fit(clip.pose.toe, clip.pelvis, labels, clip.rate)
    assert np.isfinite(found.shift).all() and found.shift.shape == (len(labels), 2)
    cycle = loops.find(clip.pose.toe, clip.pelvis, clip.rate)
    return f"fit {found.kind}" + (" cycle" if cycle else "")


def _edit(rng):
    values = _Clip(rng).contacts[:, 0]
    at = int(rng.integers(len(values)))
    before = values.copy()
    for edit in (label_edits.split, label_edits.joined, label_edits.started, label_edits.ended, label_edits.deleted):
        new = edit(values, at)
        assert new is None or (new.shape == values.shape and np.isfinite(new).all())
    by = int(rng.integers(-50, 50))
    new = label_edits.shifted(values, at, by)
    assert new is None or (new.shape == values.shape and set(new) <= {0.0, *values})
    np.testing.assert_array_equal(values, before)
    return "edit"


def _footprints(rng):
    clip = _Clip(rng)
    pose = clip.pose
    prints = footprints.find(pose.heel, pose.toe, pose.toe_end, clip.contacts > 0.5)
    for field in fields(prints):
        value = getattr(prints, field.name)
        if isinstance(value, np.ndarray) and value.dtype.kind == "f":
            assert np.isfinite(value).all(), field.name
    return "footprints"


def _spread(rng):
    """The offline pass alone, with bounds on its steps."""
    clip = _Clip(rng)
    heights = np.array([float(np.median(clip.pose.toe[:, leg, 2])) for leg in range(clip.contacts.shape[1])])
    found = slide_removal.solve(clip.pelvis, clip.pose.toe, clip.contacts, heights, clip.rate)
    assert np.isfinite(found.pelvis).all() and np.isfinite(found.toes).all()
    for leg in range(clip.contacts.shape[1]):
        for start, stop in contacts.runs(clip.contacts[:, leg] >= 1.0):
            if stop - start > 1 and (clip.contacts[max(start - 1, 0) : stop + 1, leg] != 0.5).all():
                moved = np.ptp(found.toes[start:stop, leg], axis=0).max()
                assert moved <= 1e-9 * clip.size + 1e3 * clip.precision, f"a contact moves by {moved}"
    return "spread"


_CASES = (_removal,) * 6 + (_detection, _detection, _lock, _fit, _edit, _footprints, _spread, _spread)
