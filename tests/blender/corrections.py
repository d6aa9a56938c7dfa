"""What the tests of written corrections share: random corrections, and where the joints must be after them."""

import unittest
from types import SimpleNamespace

import bpy
import numpy as np
from blender import rigs

from footlock.rig import clip as reading
from footlock.rig import controls, correction, mapping
from footlock.solvers import rotations as rot

# Joints land within this share of the length of thigh and shin.
SAME = 1e-5
FRAMES = np.arange(1.0, 41.0)
TURNS = ("thigh_turn", "shin_turn", "foot_turn", "toe_turn")


def random_correction(clip, seed=3, shift=0.05, turn=0.4, still=None):
    """A pelvis (frames, 3) in the world, metres, and turns as a LegSolution has them, both smooth and random.
    ``still``: frames (n,) bool in which nothing changes."""
    rng = np.random.default_rng(seed)
    count, legs = len(clip.frames), len(clip.legs.legs)
    moves = np.ones((count, 1)) if still is None else ~still[:, None]
    moved = clip.head(clip.legs.pelvis) + moves * rigs.wave(rng, clip.frames, 3, shift)
    turns = {}
    for name in TURNS:
        angles = moves * rigs.wave(rng, clip.frames, 3 * legs, turn)
        turns[name] = rot.from_scaled_angle_axis(angles.reshape(count, legs, 3))
    return moved, SimpleNamespace(**turns)


def chain(leg):
    return [name for name in (leg.thigh, leg.shin, leg.foot, leg.toe) if name]


def expected_joints(heads, tails, legs, shift, solution):
    """Where heads of the legs' bones and the tail of the last go, (frames, joints, 3) for each leg. heads, tails: as
    ``rigs.evaluated`` gives them for the legs' bones in order; shift (frames, 3), in the same units."""
    result, at = [], 0
    for i, leg in enumerate(legs.legs):
        names = chain(leg)
        points = [*(heads[:, at + j] for j in range(len(names))), tails[:, at + len(names) - 1]]
        moved = [points[0] + shift]
        for j, turn in enumerate(TURNS[: len(names)]):
            moved.append(moved[-1] + rot.rotate(getattr(solution, turn)[:, i], points[j + 1] - points[j]))
        result.append(np.stack(moved, axis=1))
        at += len(names)
    return result


def neighbours(values):
    """Dot products of neighbouring rows."""
    return np.einsum("ij,ij->i", values[1:], values[:-1])


class CorrectionCase(unittest.TestCase):
    def setUp(self):
        rigs.new_file()

    @property
    def scene(self):
        """The scene of the file that is open now."""
        return bpy.context.scene

    def apply(self, armature, *, legs=None, unit=1.0, still=None, shift=0.05, turn=0.4, tolerance=SAME):
        """Write a random correction; the evaluated rig must have it, and everything else must be as it was."""
        bpy.context.view_layer.update()
        legs = legs or mapping.of(armature)
        names = [name for leg in legs.legs for name in chain(leg)]
        driven_by = controls.of(armature, legs)
        correction.check(armature, legs, driven_by)
        clip = reading.read(self.scene, armature, legs, unit, driven_by)
        before = rigs.evaluated(armature, clip.frames, names)
        held = rigs.dump(armature)
        channels = self.rotations(armature, names, clip.frames)
        modes = [bone.rotation_mode for bone in armature.pose.bones]
        pelvis, solution = random_correction(clip, still=still, shift=shift, turn=turn)

        correction.write(armature, clip, pelvis, solution)

        self.assertEqual([bone.rotation_mode for bone in armature.pose.bones], modes)
        self.only_legs_and_carrier(armature, legs, held)
        after = rigs.evaluated(armature, clip.frames, names)
        move = (pelvis - clip.head(legs.pelvis)) / clip.unit
        wanted = expected_joints(*before, legs, move, solution)
        at = 0
        for leg, points in zip(legs.legs, wanted, strict=True):
            bones = chain(leg)
            size = np.median(
                np.linalg.norm(points[:, 1] - points[:, 0], axis=1)
                + np.linalg.norm(points[:, 2] - points[:, 1], axis=1)
            )
            got = np.concatenate([after[0][:, at : at + len(bones)], after[1][:, at + len(bones) - 1, None]], axis=1)
            off = np.abs(got - points).max(axis=-1) / size
            worst = np.unravel_index(off.argmax(), off.shape)
            self.assertLess(off.max(), tolerance, f"joint {worst[1]} of {bones} in frame index {worst[0]}")
            at += len(bones)
        for name, new in self.rotations(armature, names, clip.frames).items():
            self.no_new_jumps(armature, name, channels[name], new)
        return clip

    def rotation(self, armature, name, frames):
        """The values (n, components) of a bone's rotation channel as Blender evaluates them."""
        return self.rotations(armature, [name], frames)[name]

    def rotations(self, armature, names, frames):
        """The same of several bones, by name."""
        bones = [(name, armature.pose.bones[name]) for name in names]
        rows = {name: [] for name in names}
        for frame in frames:
            rigs.set_frame(self.scene, frame)
            for name, bone in bones:
                rows[name].append(tuple(getattr(bone, reading.rotation_property(bone))))
        return {name: np.array(values) for name, values in rows.items()}

    def no_new_jumps(self, armature, name, old, new):
        mode = armature.pose.bones[name].rotation_mode
        if mode == "QUATERNION":
            flipped = (neighbours(new) < 0.0) & (neighbours(old) > 0.0)
        elif mode == "AXIS_ANGLE":
            flipped = (np.abs(np.diff(new[:, 0])) > np.pi) & (np.abs(np.diff(old[:, 0])) <= np.pi)
        else:
            flipped = ((np.abs(np.diff(new, axis=0)) > np.pi) & (np.abs(np.diff(old, axis=0)) <= np.pi)).any(axis=1)
        self.assertFalse(flipped.any(), f"{name} jumps between frame indices {np.flatnonzero(flipped)} and the next")

    def only_legs_and_carrier(self, armature, legs, before):
        """Curves that are there already and not of the legs are the same to the byte; those that are keep all but their
        keys."""
        allowed = {armature.pose.bones[legs.carrier or legs.pelvis].path_from_id("location")}
        allowed |= {rigs.rotation_path(armature.pose.bones[name]) for leg in legs.legs for name in chain(leg)}
        after = rigs.dump(armature)
        self.assertEqual(before.keys() - after.keys(), set())
        self.assertLessEqual({path for path, _ in after.keys() - before.keys()}, allowed)
        for key, old in before.items():
            if key[0] not in allowed:
                self.assertEqual(after[key], old, key)
            settings = len(rigs._KEY_ARRAYS)
            self.assertEqual(after[key][settings:], old[settings:], key)
