"""Measuring of motion for the tests. It shares nothing with the add-on: what is wrong there must not be wrong here too.

Own reader of BVH, own forward kinematics, numpy and the standard library. Frames come first, lengths are in the unit of
the file unless a unit is asked for, times in seconds, angles in degrees. The reader trusts its file: only good ones
belong here.

    python tests/measure.py FILE --contacts LABELS.json --unit METRES
"""

import argparse
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

# End sites are points too. They are called like their joint, with this behind it.
END = " end"


@dataclass(frozen=True, eq=False)
class Motion:
    """A clip. Points are the joints in the order of the file, then the end sites.

    ``positions`` (frames, points, 3) and ``orientations`` (frames, joints, 3, 3) are in the world of the file.
    ``rotations`` and ``translations`` hold the raw channels of each joint that has such, (frames, channels), as listed.
    """

    names: tuple[str, ...]
    parents: tuple[int, ...]
    offsets: np.ndarray
    positions: np.ndarray
    orientations: np.ndarray
    rotations: dict[str, np.ndarray]
    translations: dict[str, np.ndarray]
    frame_time: float
    up: str

    def point(self, name: str) -> np.ndarray:
        """(frames, 3) positions of a joint or, with " end" behind its name, of its end site. KeyError without one."""
        if name not in self.names:
            raise KeyError(f"no point {name!r} among {', '.join(self.names)}")
        return self.positions[:, self.names.index(name)]


@dataclass(frozen=True, eq=False)
class Slide:
    """Movement of a point over the steps between two neighbouring frames that are both in contact.

    ``steps`` are the indices of the first frames; ``full`` and ``horizontal`` the lengths, in the order of the steps.
    """

    steps: np.ndarray
    full: np.ndarray
    horizontal: np.ndarray

    @property
    def mean(self) -> float:
        """Mean of ``full``; 0 without steps."""
        return float(self.full.mean()) if len(self.full) else 0.0

    @property
    def max(self) -> float:
        """Largest of ``full``; 0 without steps."""
        return float(self.full.max(initial=0.0))

    @property
    def horizontal_mean(self) -> float:
        """Mean of ``horizontal``; 0 without steps."""
        return float(self.horizontal.mean()) if len(self.horizontal) else 0.0

    @property
    def horizontal_max(self) -> float:
        """Largest of ``horizontal``; 0 without steps."""
        return float(self.horizontal.max(initial=0.0))


def load(path: str | Path, up: str = "Y") -> Motion:
    """Read a BVH file and pose its skeleton. ``up`` is the axis that points up in it: a BVH file does not say."""
    words = Path(path).read_bytes().decode("utf-8", "replace").split()
    names: list[str] = []
    parents: list[int] = []
    offsets: list[list[float]] = []
    channels: list[list[str]] = []
    ends: list[tuple[int, list[float]]] = []
    # The joints around the current word; None stands for an end site.
    around: list[int | None] = []
    at = 0
    while words[at].upper() != "MOTION":
        word = words[at].upper()
        if word in ("ROOT", "JOINT"):
            brace = words.index("{", at)
            parents.append(around[-1] if around else -1)
            names.append(" ".join(words[at + 1 : brace]))
            offsets.append([0.0, 0.0, 0.0])
            channels.append([])
            around.append(len(names) - 1)
            at = brace
        elif word == "END":
            around.append(None)
            at = words.index("{", at)
        elif word == "}":
            around.pop()
        elif word == "OFFSET":
            values = [float(value) for value in words[at + 1 : at + 4]]
            if around[-1] is None:
                ends.append((around[-2], values))
            else:
                offsets[around[-1]] = values
            at += 3
        elif word == "CHANNELS":
            count = int(words[at + 1])
            channels[around[-1]] = [channel.lower() for channel in words[at + 2 : at + 2 + count]]
            at += 1 + count
        at += 1
    # MOTION Frames: n Frame Time: t
    frames, frame_time = int(words[at + 2]), float(words[at + 5])
    width = sum(map(len, channels))
    values = np.array([float(word) for word in words[at + 6 :]]).reshape(frames, width)

    translations, rotations = {}, {}
    positions = np.empty((frames, len(names) + len(ends), 3))
    orientations = np.empty((frames, len(names), 3, 3))
    column = 0
    for joint, (name, parent) in enumerate(zip(names, parents, strict=True)):
        # A position channel stands in the place of the offset along its axis.
        local = np.tile(offsets[joint], (frames, 1))
        turn = np.tile(np.eye(3), (frames, 1, 1))
        moves, turns = [], []
        for channel in channels[joint]:
            axis, value = "xyz".index(channel[0]), values[:, column]
            if channel.endswith("position"):
                local[:, axis] = value
                moves.append(value)
            else:
                turn = turn @ axis_rotation(axis, value)
                turns.append(value)
            column += 1
        if moves:
            translations[name] = np.stack(moves, axis=1)
        if turns:
            rotations[name] = np.stack(turns, axis=1)
        if parent < 0:
            positions[:, joint], orientations[:, joint] = local, turn
        else:
            positions[:, joint] = positions[:, parent] + np.einsum("nij,nj->ni", orientations[:, parent], local)
            orientations[:, joint] = orientations[:, parent] @ turn
    for index, (owner, offset) in enumerate(ends, len(names)):
        positions[:, index] = positions[:, owner] + orientations[:, owner] @ np.array(offset)
    return Motion(
        names=tuple(names) + tuple(names[owner] + END for owner, _ in ends),
        parents=tuple(parents) + tuple(owner for owner, _ in ends),
        offsets=np.array(offsets + [offset for _, offset in ends]),
        positions=positions,
        orientations=orientations,
        rotations=rotations,
        translations=translations,
        frame_time=frame_time,
        up=up,
    )


def axis_rotation(axis: int, degrees: np.ndarray) -> np.ndarray:
    """(n, 3, 3) rotations about the coordinate axis 0, 1 or 2, by Rodrigues' formula: I + sin K + (1 - cos) K K."""
    across = np.cross(np.eye(3)[axis], np.eye(3)).T
    angle = np.deg2rad(degrees)[:, None, None]
    return np.eye(3) + np.sin(angle) * across + (1.0 - np.cos(angle)) * (across @ across)


def slide(point: np.ndarray, contact: np.ndarray, up: str = "Y") -> Slide:
    """How far a point (frames, 3) moves from frame to frame while in contact (frames,) bool."""
    contact = np.asarray(contact, dtype=bool)
    steps = np.flatnonzero(contact[:-1] & contact[1:])
    moved = np.diff(point, axis=0)[steps]
    level = np.delete(moved, "XYZ".index(up), axis=1)
    return Slide(steps, np.sqrt((moved**2).sum(axis=1)), np.sqrt((level**2).sum(axis=1)))


def runs(contact: np.ndarray) -> list[tuple[int, int]]:
    """Stretches of contact as (first frame, frame after the last)."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], np.asarray(contact, dtype=bool), [False]])))
    return [(int(start), int(stop)) for start, stop in edges.reshape(-1, 2)]


def lowest(positions: np.ndarray, up: str = "Y") -> np.ndarray:
    """(frames,) height of the lowest of the points (frames, points, 3)."""
    return positions[..., "XYZ".index(up)].min(axis=1)


def bone_lengths(motion: Motion) -> np.ndarray:
    """(frames, points) distance of each point from its parent; 0 for roots."""
    parents = np.array(motion.parents)
    lengths = np.sqrt(((motion.positions - motion.positions[:, parents]) ** 2).sum(axis=2))
    return np.where(parents < 0, 0.0, lengths)


def joint_difference(a: Motion, b: Motion) -> dict[str, float]:
    """Largest distance over the frames between the two places of each point.

    ValueError unless skeletons and frames agree.
    """
    _check_alike(a, b)
    distances = np.sqrt(((a.positions - b.positions) ** 2).sum(axis=2)).max(axis=0)
    return dict(zip(a.names, distances.tolist(), strict=True))


def turn_difference(a: Motion, b: Motion) -> dict[str, float]:
    """Largest angle over the frames, degrees, between the two rotations of each joint against its parent.

    ValueError unless skeletons and frames agree.
    """
    _check_alike(a, b)
    result = {}
    for joint in range(a.orientations.shape[1]):
        in_a, in_b = (_against_parent(motion, joint) for motion in (a, b))
        # The chord is exact for small angles, where the arc cosine of the trace loses half of its digits.
        chord = np.sqrt(((in_a - in_b) ** 2).sum(axis=(1, 2)).max() / 8.0)
        result[a.names[joint]] = float(np.rad2deg(2.0 * np.arcsin(min(chord, 1.0))))
    return result


def knee_angle(motion: Motion, thigh: str, shin: str, foot: str) -> np.ndarray:
    """(frames,) degrees between thigh and shin bone at the joint ``shin``; 180 is a straight leg."""
    knee = motion.point(shin)
    up, down = motion.point(thigh) - knee, motion.point(foot) - knee
    return np.rad2deg(np.arctan2(np.linalg.norm(np.cross(up, down), axis=1), (up * down).sum(axis=1)))


def acceleration(point: np.ndarray, frame_time: float) -> np.ndarray:
    """(frames - 2,) size of the acceleration of a point (frames, 3), in its unit per s²; entry 0 is that of frame 1."""
    return np.linalg.norm(point[2:] - 2.0 * point[1:-1] + point[:-2], axis=1) / frame_time**2


def majority_contacts(
    toe: np.ndarray,
    frame_time: float,
    up: str = "Y",
    speed: float = 0.25,
    height: float = 0.1,
    rate: float = 60.0,
    window: int = 5,
) -> np.ndarray:
    """(frames,) bool labels for a clip whose feet do not slide. ``toe`` is (frames, 3) in metres.

    Contact is a toe slower than ``speed``, m/s, and less than ``height``, m, above the 5th percentile of its heights.
    It is decided at ``rate`` Hz, where the majority of ``window`` frames has the last word, and carried back to the
    nearest frames of the clip.
    """
    times = np.arange(len(toe)) * frame_time
    # Half a frame of slack keeps the last sample when the frame time is a rounded decimal such as 0.008333.
    samples = np.arange(int(np.floor((times[-1] + 0.5 * frame_time) * rate)) + 1) / rate
    sampled = np.stack([np.interp(samples, times, axis) for axis in toe.T], axis=1)
    if len(samples) < 2:
        raise ValueError(f"a clip of {len(toe)} frames is too short to have a speed at {rate} Hz")
    speeds = np.linalg.norm(np.gradient(sampled, 1.0 / rate, axis=0), axis=1)
    heights = sampled[:, "XYZ".index(up)]
    still = (speeds < speed) & (heights - np.percentile(heights, 5.0) < height)
    around = np.lib.stride_tricks.sliding_window_view(np.pad(still, window // 2, mode="edge"), window)
    voted = around.sum(axis=1) > window // 2
    return voted[np.clip(np.round(times * rate).astype(int), 0, len(voted) - 1)]


def labels_at_frames(labels: np.ndarray, rate: float, frames: int, frame_time: float) -> np.ndarray:
    """(frames,) bool: contact labels of another rate, whose first is the clip's first frame, at the clip's frames.

    A frame between two labels is in contact if both are: a step that the labels do not claim must not count as sliding.
    """
    labels = np.append(np.asarray(labels, dtype=float) > 0.5, False)
    at = np.arange(frames) * frame_time * rate
    # A twentieth of a label's length is no time between labels, but rounding of the frame time.
    before = np.clip(np.floor(at + 0.05).astype(int), 0, len(labels) - 1)
    after = np.clip(np.ceil(at - 0.05).astype(int), 0, len(labels) - 1)
    return labels[before] & labels[after]


def _check_alike(a: Motion, b: Motion) -> None:
    if a.names != b.names or a.positions.shape != b.positions.shape:
        raise ValueError(f"clips of {a.positions.shape} and {b.positions.shape} with the same points expected")


def _against_parent(motion: Motion, joint: int) -> np.ndarray:
    parent, turn = motion.parents[joint], motion.orientations[:, joint]
    return turn if parent < 0 else np.swapaxes(motion.orientations[:, parent], 1, 2) @ turn


def main(arguments: list[str] | None = None) -> int:
    """Print the sliding of each foot."""
    parser = argparse.ArgumentParser(description="Measure the sliding of the feet of a BVH file.")
    parser.add_argument("file", type=Path)
    parser.add_argument(
        "--contacts", type=Path, required=True, help="labels: a JSON file; its first label is the first frame"
    )
    parser.add_argument("--unit", type=float, default=1.0, help="metres in one unit of the file")
    parser.add_argument("--up", choices=("X", "Y", "Z"), default="Y", help="axis of the file that points up")
    options = parser.parse_args(arguments)

    motion = load(options.file, options.up)
    labels = json.loads(options.contacts.read_text(encoding="utf-8"))
    frames = len(motion.positions)
    print(f"{options.file.name}: {frames} frames, {1.0 / motion.frame_time:.2f} Hz; movement in mm a frame, m/s²")
    titles = ("mean", "max", "level mean", "level max", "acceleration")
    print(f"{'point':<20}{'contact':>9}{'runs':>6}" + "".join(f"{title:>13}" for title in titles))
    for name, values in labels["contacts"].items():
        point = motion.point(name) * options.unit
        contact = labels_at_frames(values, labels["frame_rate"], frames, motion.frame_time)
        moved = slide(point, contact, options.up)
        numbers = [1e3 * moved.mean, 1e3 * moved.max, 1e3 * moved.horizontal_mean, 1e3 * moved.horizontal_max]
        numbers.append(acceleration(point, motion.frame_time).max(initial=0.0))
        cells = "".join(f"{number:>13.3f}" for number in numbers)
        print(f"{name:<20}{contact.sum():>9}{len(runs(contact)):>6}{cells}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
