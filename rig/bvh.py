"""BVH files: reading and writing. No Blender here, so that it runs and is tested without one.

The format is Biovision's: a text with a HIERARCHY of joints, each with an OFFSET from its parent and a list of
CHANNELS, then a MOTION part with one row of channel values a frame. Positions are in the file's own unit, rotations in
degrees, both in the file's own axes. A joint's rotation is the product of its channels as listed:
``Zrotation Yrotation Xrotation`` means ``Rz @ Ry @ Rx``. The hierarchy is kept as the bytes it was, so a file that is
read and written again differs in its numbers alone. Bad files end in ``FootlockError``.
"""

import math
import os
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path

import numpy as np

from ..solvers.errors import FootlockError
from ..solvers.wording import Listed, Said, clause, counted
from . import whole_file

# Bounds against files that are no motion capture: no skeleton nears them. The depth also protects what is built from
# the joints later and may recurse.
LARGEST_FILE = whole_file.LARGEST
LARGEST_HIERARCHY = 16 << 20
DEEPEST = 1000
MOST_JOINTS = 10_000
# Seconds. Outside of these a number is not a frame time, whatever else it may be.
FRAME_TIMES = (1e-6, 3600.0)

# Seven decimals round by 5e-8 of a unit or degree. At 120 Hz and in metres that is 0.003 m/s² of noise in an
# acceleration; the customary six would be 0.03.
_DECIMALS = 7
# Bytes of motion text that are turned into numbers at a time: the words of a large file never stand in memory at once.
_BLOCK = 1 << 20

_CHANNELS = {f"{axis}{kind}".lower(): f"{axis}{kind}" for kind in ("position", "rotation") for axis in "XYZ"}
_BEGIN = re.compile(rb"(?:\xef\xbb\xbf)?\s*HIERARCHY\b", re.IGNORECASE)
_MOTION = re.compile(rb"(?<=[\r\n])[ \t]*MOTION(?=\s|\Z)", re.IGNORECASE)
_TIMING = re.compile(rb"\s*Frames\s*:\s*(\S+)\s+Frame\s*Time\s*:\s*(\S+)", re.IGNORECASE)
# A name goes to the end of its line, as it may hold spaces. The last alternative takes what the others do not.
_STATEMENT = re.compile(
    r"\s*(?:(?P<brace>[{}])|(?P<hierarchy>HIERARCHY)\b|(?P<end>END)\b[^{}\n]*"
    r"|(?P<joint>ROOT|JOINT)\b(?P<name>[^{}\n]*)|OFFSET\b(?P<offset>(?:[ \t]+[^\s{}]+){0,3})"
    r"|CHANNELS\s+(?P<count>[0-9]+)(?P<channels>(?:\s+[XYZ](?:position|rotation)\b)*)|(?P<other>[^\s{}]+))",
    re.IGNORECASE,
)
_SPACE = re.compile(rb"\s")
_END_SITE = -1  # on the stack of open braces, where a joint has its index

_Fail = Callable[..., FootlockError]


@dataclass(frozen=True)
class Joint:
    """A joint of the hierarchy. ``offset`` and ``end_site`` are in the file's unit, ``parent`` is -1 for a root.

    ``channels`` are spelled ``Xposition`` … ``Zrotation`` whatever the file's case; they stand in the motion's columns
    from ``first_channel`` on.
    """

    name: str
    parent: int
    offset: tuple[float, float, float]
    channels: tuple[str, ...]
    end_site: tuple[float, float, float] | None
    first_channel: int


@dataclass(frozen=True, eq=False)
class BvhFile:
    """A BVH file. ``header`` is all before the MOTION line; ``motion`` is (frames, channels), float64 and read-only.

    ``frame_time`` is in seconds, ``frame_time_text`` how the file spells it.
    """

    header: bytes
    joints: tuple[Joint, ...]
    frame_time: float
    frame_time_text: str
    motion: np.ndarray

    @property
    def frame_rate(self) -> float:
        """Frames a second."""
        return 1.0 / self.frame_time

    def joint_index(self, name: str) -> int:
        """Index of the joint called ``name``. Raises ``FootlockError`` if there is none."""
        names = [joint.name for joint in self.joints]
        if name not in names:
            raise FootlockError(
                "The BVH file has no joint {joint}: choose one of {known}.",
                joint=_shown(name),
                known=Listed(names[:40]),
            )
        return names.index(name)

    def position_columns(self, joint: int) -> tuple[tuple[int, ...], str]:
        """Columns of ``motion`` with the joint's position channels as listed, and their axes: ((0, 1, 2), "XYZ")."""
        return self._columns(joint, "position")

    def rotation_columns(self, joint: int) -> tuple[tuple[int, ...], str]:
        """Columns of ``motion`` with the joint's rotation channels as listed, and their axes: ((3, 4, 5), "ZYX")."""
        return self._columns(joint, "rotation")

    def with_motion(self, motion: np.ndarray) -> "BvhFile":
        """The same file with a copy of other rows, one or more. Raises ``ValueError`` for a wrong shape or NaN."""
        motion = np.array(motion, dtype=np.float64)
        channels = self.motion.shape[1]
        if motion.ndim != 2 or motion.shape[1] != channels or not len(motion):
            raise ValueError(f"motion must have the shape (frames, {channels}), got {motion.shape}")
        if not np.isfinite(motion).all():
            frame, column = np.argwhere(~np.isfinite(motion))[0]
            raise ValueError(f"motion must be finite, got {motion[frame, column]} at [{frame}, {column}]")
        motion.setflags(write=False)
        return replace(self, motion=motion)

    def _columns(self, joint: int, kind: str) -> tuple[tuple[int, ...], str]:
        at = self.joints[joint]
        found = [(at.first_channel + i, name[0]) for i, name in enumerate(at.channels) if name.endswith(kind)]
        return tuple(column for column, _ in found), "".join(axis for _, axis in found)


def read(path: str | os.PathLike[str]) -> BvhFile:
    """Read a BVH file, with one or more roots.

    Raises ``FootlockError`` for a file that cannot be opened, is not BVH, is cut off, or does not hold the numbers
    that it promises. Time and memory follow the size of the file.
    """
    path = Path(path)
    fail = partial(whole_file.error, path)
    data = whole_file.read(path, "BVH", LARGEST_FILE)
    if not data or data.isspace():
        raise fail("is empty")
    if b"\0" in data or not _BEGIN.match(data):
        raise fail("is not a BVH file: it is not a text that begins with HIERARCHY", "choose a file in the BVH format")
    found = _MOTION.search(data)
    joints = _hierarchy(data[: found.start()] if found else data, fail)
    if not found:
        raise fail("has no MOTION part: it is cut off, or a skeleton without its animation")
    if not any(joint.channels for joint in joints):
        raise fail("has no channels to animate", "export it again with its rotations")
    timing = _TIMING.match(data, found.end())
    if not timing:
        raise fail("has no lines “Frames: …” and “Frame Time: …” after MOTION")
    frames_text, frame_time_text = (text.decode("latin-1") for text in timing.groups())
    if not re.fullmatch("[0-9]{1,18}", frames_text):
        raise fail(Said("promises {text} frames, which is not a number of frames", text=_shown(frames_text)))
    frame_time = _number(frame_time_text)
    if frame_time is None or not FRAME_TIMES[0] <= frame_time <= FRAME_TIMES[1]:
        raise fail(
            Said("has the frame time {text}, which is not a number of seconds above zero", text=_shown(frame_time_text))
        )
    motion = _motion(data, timing.end(), joints, int(frames_text), fail)
    return BvhFile(data[: found.start()], joints, frame_time, frame_time_text, motion)


def write(path: str | os.PathLike[str], bvh: BvhFile) -> None:
    """Write a BVH file in one step: whatever happens, ``path`` holds the old file or the whole new one.

    Numbers are rounded by 5e-8 of a unit or degree at most. Raises ``FootlockError`` if the folder cannot be written.
    """
    newline = b"\r\n" if bvh.header.endswith(b"\r\n") else b"\n"
    frame_time = bvh.frame_time_text.encode("latin-1")
    lines = [b"MOTION", b"Frames: %d" % len(bvh.motion), b"Frame Time: %s" % frame_time, b""]
    row_format = b" ".join([b"%%.%df" % _DECIMALS] * bvh.motion.shape[1]) + newline
    rows = (row_format % tuple(row.tolist()) for row in bvh.motion)
    whole_file.write(Path(path), chain([bvh.header + newline.join(lines)], rows))


def _hierarchy(header: bytes, fail: _Fail) -> tuple[Joint, ...]:
    """The joints of a hierarchy, parents before children, in the order of their channels."""
    if len(header) > LARGEST_HIERARCHY:
        raise fail(
            Said("has a hierarchy of more than {size} MB, which no skeleton needs", size=LARGEST_HIERARCHY >> 20)
        )
    try:
        text = header.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = header.decode("latin-1")
    text = text.replace("\r\n", "\n").replace("\r", "\n").rstrip()
    joints: list[Joint] = []
    names: set[str] = set()
    # Indices of the joints whose braces are open, and of the one whose brace must open next.
    stack: list[int] = []
    opening: int | None = None
    channel_count = 0
    at = 0

    def wrong(what: str) -> FootlockError:
        return fail(Said("{what} in line {line}", what=clause(what), line=text.count("\n", 0, at) + 1))

    for found in _STATEMENT.finditer(text):
        kind, token, at = found.lastgroup, found[0].strip(), found.end()
        joint = joints[stack[-1]] if stack and stack[-1] != _END_SITE else None
        if (token == "{") != (opening is not None):
            raise wrong(
                Said(
                    "has {text} where no brace may open" if token == "{" else "has {text} where a brace may open",
                    text=_shown(token),
                )
            )
        if token == "{":
            stack.append(opening)
            opening = None
            if len(stack) > DEEPEST:
                raise wrong(
                    Said("has joints nested more than {deepest} deep, which no skeleton needs,", deepest=DEEPEST)
                )
        elif token == "}" and stack:
            stack.pop()
        elif kind == "hierarchy" and not stack:
            continue
        elif kind == "end" and joint:
            opening = _END_SITE
        elif kind == "name" and (joint if found["joint"].upper() == "JOINT" else not stack):
            name = " ".join(found["name"].split())
            if not name or name in names:
                raise wrong(
                    Said("has a second joint {joint}", joint=_shown(name)) if name else "has a joint without a name"
                )
            names.add(name)
            opening = len(joints)
            if opening == MOST_JOINTS:
                raise wrong(Said("has more than {most} joints, which no skeleton needs,", most=MOST_JOINTS))
            joints.append(Joint(name, stack[-1] if stack else -1, (), (), None, channel_count))
        elif kind == "offset" and stack:
            offset = tuple(_number(word) for word in found["offset"].split())
            if len(offset) != 3 or None in offset or not all(map(math.isfinite, offset)):
                given = _shown(found["offset"].strip())
                raise wrong(Said("has the offset {offset}, which is not three numbers,", offset=given))
            owner, field = (stack[-1], "offset") if joint else (stack[-2], "end_site")
            joints[owner] = replace(joints[owner], **{field: offset})
        elif kind == "channels" and joint and not joint.channels:
            channels = tuple(_CHANNELS[word.lower()] for word in found["channels"].split())
            if found["count"] != str(len(channels)) or len(set(channels)) != len(channels):
                listed = text[found.start("count") :].partition("\n")[0]
                what = Said(
                    "gives the joint {joint} the channels {channels}, which are not that many different ones of X, Y"
                    " and Z,",
                    joint=_shown(joint.name),
                    channels=_shown(listed),
                )
                raise wrong(what)
            joints[stack[-1]] = replace(joint, channels=channels, first_channel=channel_count)
            channel_count += len(channels)
        else:
            raise wrong(Said("has {text} where it does not belong", text=_shown(token)))
    if stack or opening is not None:
        raise fail("is cut off inside its hierarchy or lacks closing braces")
    for joint in joints:
        if not joint.offset:
            raise fail(Said("has no OFFSET for the joint {joint}", joint=_shown(joint.name)))
    return tuple(joints)


def _motion(data: bytes, start: int, joints: tuple[Joint, ...], promised: int, fail: _Fail) -> np.ndarray:
    """The rows of numbers in ``data`` from ``start`` on. Memory follows what is there, never the promised count."""
    channels = sum(len(joint.channels) for joint in joints)

    def place(index: int) -> Said:
        frame, column = divmod(index, channels)
        joint = next(j for j in joints if j.first_channel <= column < j.first_channel + len(j.channels))
        channel = joint.channels[column - joint.first_channel]
        return Said(
            "for {channel} of the joint {joint} in frame {frame}",
            channel=channel,
            joint=_shown(joint.name),
            frame=frame + 1,
        )

    blocks: list[np.ndarray] = []
    count = 0
    while start < len(data) and count <= promised * channels:
        gap = _SPACE.search(data, start + _BLOCK)
        end = gap.start() if gap else len(data)
        words = data[start:end].split()
        try:
            if b"_" in data[start:end]:
                raise ValueError("1_0 is a number to Python and none to BVH")
            numbers = list(map(float, words))
        except ValueError:
            wrong = next(i for i, word in enumerate(words) if _number(word) is None)
            # The last word of a file that is too short was a number until the cut.
            if end < len(data) or wrong + 1 < len(words) or count + wrong >= promised * channels:
                what = Said(
                    "has {text} instead of a number {place}",
                    text=_shown(words[wrong].decode("latin-1")),
                    place=place(count + wrong),
                )
                raise fail(what, "mend that value or export it again") from None
            numbers = list(map(float, words[:wrong]))
        blocks.append(np.array(numbers, dtype=np.float64))
        count += len(numbers)
        start = end
    if not count and not promised:
        raise fail("has no frames", "export it again with its animation")
    if count < promised * channels:
        raise fail(
            counted(
                promised,
                "is cut off, its header promises {count} frame and {there}",
                "is cut off, its header promises {count} frames and {there}",
                there=counted(count // channels, "{count} is there", "{count} are there"),
            )
        )
    if count > promised * channels:
        raise fail(
            counted(
                promised,
                "holds more numbers than the {count} frame of {channels} that its header promises",
                "holds more numbers than the {count} frames of {channels} that its header promises",
                channels=counted(channels, "{count} channel", "{count} channels"),
            )
        )
    values = np.concatenate(blocks)
    bad = ~np.isfinite(values)
    if bad.any():
        index = int(np.argmax(bad))
        what = Said("has the value {value} {place}", value=values[index], place=place(index))
        raise fail(what, "mend that curve and export it again")
    motion = values.reshape(promised, channels)
    motion.setflags(write=False)
    return motion


def _number(text: str | bytes) -> float | None:
    """The number that ``text`` spells, NaN and infinity included, or None."""
    try:
        return None if ("_" if isinstance(text, str) else b"_") in text else float(text)
    except ValueError:
        return None


def _shown(text: str) -> str:
    """A piece of a file for a message: quoted and short, whatever it holds."""
    return f"“{whole_file.printable(text[:40])}{'…' if len(text) > 40 else ''}”"
