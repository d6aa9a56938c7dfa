"""What the whole-clip correction costs and what it leaves: a line for each clip and kind of slide.

Called by ``tests/benchmark.py``. Clips go through ``batch.py`` as files, and what comes out is measured by
``measure``, which shares nothing with the add-on. Slide is measured between frames and half frames, too, as Blender
shows them with linear keys.
"""

import importlib.util
import json
import time
from contextlib import redirect_stdout
from dataclasses import replace
from io import StringIO
from pathlib import Path

import bpy
import measure
import motions
import numpy as np

from footlock.operators import fit_root
from footlock.rig import bvh_armature, contact_property, mapping
from footlock.rig import labels as label_files

_BY_HIP = ("Hip", "Knee", "Ankle", "Toe")
_BY_LEG = ("UpLeg", "Leg", "Foot", "ToeBase")
# Joints of a leg, metres of one unit.
CLIPS = {
    "cmu_131_01": (_BY_HIP, 1.0),
    "cmu_131_03": (_BY_HIP, 1.0),
    "cmu_12_01": (_BY_LEG, 0.056444),
    "cmu_01_01": (_BY_LEG, 0.056444),
}
CASES = (("×0.75", 0.75, False), ("×1.25", 1.25, False), ("×1.5", 1.5, False), ("×0, root fitted", 0.0, True))
_HEAD = (
    "slide mean", "max", "at half frames", "(source)", "ends", "lowest", "out", "by", "knee mean", "max", "accel",
    "pelvis", "max", "joints",
)  # fmt: skip
_UNITS = ("mm", "mm", "mm", "mm", "×", "mm", "frames", "mm", "deg", "deg", "×", "mm", "mm", "deg")


def print_table(batch, bvh, folder):
    """Run the batch over every clip and case with labels of the clean clip and with its own; print what is left."""
    print("\nRemove Sliding on written files: 1.1 at the ends of contacts and 1.2 at the knees are the bars")
    print(f"{'':46}" + "".join(f"{text:>15}" for text in _HEAD))
    print(f"{'':46}" + "".join(f"{text:>15}" for text in _UNITS))
    for name, (joints, unit) in CLIPS.items():
        clean = motions.DATA / f"{name}.bvh"
        write_labels(name, joints, folder / f"{name}.json")
        for case, factor, fitted in CASES:
            source = scaled(bvh, clean, factor, folder / "source.bvh")
            for given in (True, False):
                given_labels = folder / f"{name}.json" if given else None
                # What is corrected is the clip that has its travel back.
                before = _fitted(bvh, source, given_labels, unit, folder / "fitted.bvh") if fitted else source
                arguments = [before, "-o", folder / "out.bvh", "--report", folder / "report.json", "--unit", unit]
                arguments += ["--contacts", given_labels] if given else []
                arguments += ["--export-contacts", folder / "used.json"]
                with redirect_stdout(StringIO()):
                    status = batch.main([str(one) for one in arguments])
                report = json.loads((folder / "report.json").read_text(encoding="utf-8"))["clips"][0]
                used = np.stack(list(json.loads((folder / "used.json").read_text())["contacts"].values()), 1) > 0
                missed = out_of_reach(report, used.shape)
                row = measured(before, folder / "out.bvh", joints, unit, used, missed, bvh, folder)
                title = f"{name} {case}, {'given' if given else 'own'} labels"
                text = "".join(f"{value:15.3f}" for value in row)
                print(f"{title:46}{text if status == 0 else ' failed'}", flush=True)


def write_labels(name, joints, path):
    """Labels of the clean clip at its own frames, as a file."""
    motion = measure.load(motions.DATA / f"{name}.bvh")
    loaded = motions.load(name)
    truth = motions.at_frames(motions.truth(loaded), len(loaded.root), loaded.rate)
    skipped = len(motion.positions) - len(truth)
    truth = np.concatenate([np.repeat(truth[:1], skipped, axis=0), truth])
    contacts = {f"{side}{joints[3]}": truth[:, i].astype(int).tolist() for i, side in enumerate(("Left", "Right"))}
    path.write_text(json.dumps({"frame_rate": 1.0 / motion.frame_time, "frame_start": 1, "contacts": contacts}))


def scaled(bvh, path, factor, target):
    """The clip with the horizontal travel of its root scaled."""
    clip = bvh.read(path)
    columns, axes = clip.position_columns(0)
    rows = clip.motion.copy()
    for column, axis in zip(columns, axes, strict=True):
        if axis != "Y":
            rows[:, column] = rows[0, column] + factor * (rows[:, column] - rows[0, column])
    bvh.write(target, clip.with_motion(rows))
    return target


def opened(bvh, path):
    """The BvhFile, the armature and the LegMap of a file, in an empty scene."""
    motion = bvh.read(path)
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    armature = bvh_armature.load(path, motion)
    legs = mapping.find(armature)
    return motion, armature, replace(legs, carrier=bvh_armature.carrier(motion, legs))


def _fitted(bvh, path, labels_path, unit, target):
    """The clip with its root fitted to the feet, by labels of a file or its own."""
    motion, armature, legs = opened(bvh, path)
    known = None
    if labels_path is not None:
        known = label_files.read(labels_path, legs, len(motion.motion)) > contact_property.LEVEL
    fit_root.fit(bpy.context.scene, armature, legs, unit, known)
    bvh.write(target, bvh_armature.store(armature, motion, legs))
    return target


def _at_half_frames(bvh, path, target):
    """The motion with a frame between each two, halfway in every channel."""
    clip = bvh.read(path)
    motion = clip.motion.copy()
    for joint in range(len(clip.joints)):
        # As Blender reads them: an angle does not jump by a turn.
        turns = list(clip.rotation_columns(joint)[0])
        motion[:, turns] = np.rad2deg(np.unwrap(np.deg2rad(motion[:, turns]), axis=0))
    rows = np.empty((2 * len(motion) - 1, motion.shape[1]))
    rows[::2] = motion
    rows[1::2] = 0.5 * (motion[1:] + motion[:-1])
    bvh.write(target, clip.with_motion(rows))
    return measure.load(target)


def out_of_reach(report, shape):
    """Which of (frames, legs) a clip's report says were out of reach, bool."""
    missed = np.zeros(shape, bool)
    for i, leg in enumerate(report["legs"]):
        missed[np.array(leg["frames_out_of_reach"], int) - 1, i] = True
    return missed


def measured(before_path, target, joints, unit, labels, out_of_reach, bvh, folder):
    """The numbers of ``_HEAD`` of a written file beside its source: (14,). labels, out_of_reach: (frames, legs)."""
    before, after = measure.load(before_path), measure.load(target)
    rate = 1.0 / before.frame_time
    reach = max(1, round(rate / 30.0))
    halves = _at_half_frames(bvh, target, folder / "halves.bvh")
    own = _at_half_frames(bvh, before_path, folder / "halves.bvh")
    aside, slides, half, ends, low, knees, accelerated, out, residual = [], [], [], [], [], [], [], 0, 0.0
    for i, side in enumerate(("Left", "Right")):
        hip, knee, heel, toe = (side + joint for joint in joints)
        contact = labels[:, i]
        missed = out_of_reach[:, i]
        out += int(missed.sum())
        point, old = after.point(toe) * unit, before.point(toe) * unit
        slid = measure.slide(point, contact)
        slides.append(slid.full)
        if missed.any():
            residual = max(residual, float(slid.full.max(initial=0.0)))
        between = np.repeat(contact, 2)[:-1]
        between[1::2] = contact[1:] & contact[:-1]
        # How far the source itself is from the middle of two frames, which is what its angles do between them.
        straight = 0.5 * (old[1:] + old[:-1])
        aside.append(2.0 * np.linalg.norm(own.point(toe)[1::2] * unit - straight, axis=1)[contact[1:] & contact[:-1]])
        half.append(2.0 * measure.slide(halves.point(toe) * unit, between).full)
        sizes = [np.pad(measure.acceleration(p, before.frame_time), 1) for p in (old, point)]
        for start, stop in measure.runs(contact):
            for frame in ([start] if start > reach else []) + ([stop - 1] if stop < len(contact) - reach else []):
                near = slice(frame - reach, frame + reach + 1)
                if stop - start > 1:
                    ends.append(sizes[1][near].max() / sizes[0][near].max())
        height = point[:, 1]
        if contact.any():
            low.append((height - np.median(height[contact])).min())
        angles = [measure.knee_angle(motion, hip, knee, heel) for motion in (before, after)]
        knees.append(np.abs(angles[1] - angles[0]))
        accelerated.append(np.abs(np.diff(angles[1], 2)).max() / np.abs(np.diff(angles[0], 2)).max())
    moved = np.linalg.norm(after.positions[:, 0] - before.positions[:, 0], axis=1) * unit
    turned = list(measure.turn_difference(before, after).values())
    slides, half, aside, knees = (np.concatenate(parts) for parts in (slides, half, aside, knees))
    return (
        slides.mean() * 1e3 if len(slides) else 0.0,
        slides.max(initial=0.0) * 1e3,
        half.max(initial=0.0) * 1e3,
        aside.max(initial=0.0) * 1e3,
        max(ends, default=0.0),
        min(low, default=0.0) * 1e3,
        out,
        residual * 1e3,
        knees.mean(),
        knees.max(),
        max(accelerated),
        moved.mean() * 1e3,
        moved.max() * 1e3,
        float(np.mean(turned)),
    )


def print_sweeps(slide_removal, frames=10_000, seconds=20.0):
    """The article's sweeps beside the same problem solved: as many as fit into some seconds, and what 25,000 take."""
    source = motions.load("cmu_131_01")
    motion = motions.root_scaled(source.at_rate(60.0), 1.25)
    labels = motions.truth(source)
    ground = np.array([np.median(motion.toes[labels[:, leg], leg, 2]) for leg in range(2)])
    there = np.concatenate([np.arange(len(labels)), np.arange(len(labels))[::-1]])
    order = np.resize(there, frames)
    pelvis, toes, planted = motion.root[order], motion.toes[order], labels[order]

    start = time.perf_counter()
    found = slide_removal.solve(pelvis, toes, planted, ground)
    ours = time.perf_counter() - start
    sweep = Sweeps(pelvis, toes, planted, ground)
    start = time.perf_counter()
    done = 0
    while time.perf_counter() - start < seconds and done < 25_000:
        sweep()
        done += 1
    each = (time.perf_counter() - start) / done
    short = slice(0, len(labels))
    one = Sweeps(pelvis[short], toes[short], planted[short], ground)
    for _ in range(25_000):
        one()
    limit = slide_removal.solve(pelvis[short], toes[short], planted[short], ground)
    print(f"\nThe article's own problem, {frames} frames: {ours:.2f} s in {found.steps} steps")
    ratio = 25_000 * each / ours
    print(f"its sweeps, vectorised: {1e3 * each:.2f} ms each, 25,000 take {25_000 * each:.0f} s: {ratio:.0f} times")
    both = planted[short][1:] & planted[short][:-1]
    left = (np.linalg.norm(np.diff(one.toes, axis=0), axis=-1))[both]
    away = np.linalg.norm(one.pelvis - limit.pelvis, axis=1).max()
    print(
        f"after 25,000 of them on {len(labels)} frames the pelvis is {1e3 * away:.0f} mm from the solution and"
        f" planted toes slide {1e3 * left.mean():.3f} mm a frame, {1e3 * left.max():.3f} at most (ours: 0)"
    )


class Sweeps:
    """The article's constraints, one after the other, each corrected in part: velocity of pelvis and toes, distances
    from pelvis to toes (softly), planted toes (hard). Odd and even steps in turn, so that each is one operation."""

    SOFT, HARD = 0.05, 0.9

    def __init__(self, pelvis, toes, planted, ground):
        self.pelvis, self.toes = pelvis.copy(), toes.copy()
        self._step = np.diff(pelvis, axis=0), np.diff(toes, axis=0)
        self._length = np.linalg.norm(pelvis[:, None] - toes, axis=-1)
        self._joined = (planted[1:] & planted[:-1])[..., None]
        self._planted, self._ground = planted, np.broadcast_to(ground, planted.shape)

    def __call__(self):
        legs = self.toes.shape[1]
        for start in (0, 1):
            one, other = slice(start, len(self.pelvis) - 1, 2), slice(start + 1, None, 2)
            for _ in range(legs):
                self._pull(self.pelvis[one], self.pelvis[other], self._step[0][start::2], self.SOFT)
            joined = self._joined[start::2]
            wanted = np.where(joined, 0.0, self._step[1][start::2])
            self._pull(self.toes[one], self.toes[other], wanted, np.where(joined, self.HARD, self.SOFT))
        for leg in range(legs):
            offset = self.pelvis - self.toes[:, leg]
            length = np.linalg.norm(offset, axis=-1)
            push = 0.5 * self.SOFT * ((self._length[:, leg] - length) / length)[:, None] * offset
            self.pelvis += push
            self.toes[:, leg] -= push
        height = self.toes[..., 2]
        height[self._planted] += self.HARD * (self._ground - height)[self._planted]

    @staticmethod
    def _pull(one, other, wanted, weight):
        error = 0.5 * weight * (other - one - wanted)
        one += error
        other -= error


def load(path):
    """The batch script as a module."""
    spec = importlib.util.spec_from_file_location("footlock_batch", Path(path))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
