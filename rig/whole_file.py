"""Files read and written as a whole. No Blender here."""

import hashlib
import json
import os
import secrets
import shutil
import stat
import struct
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from ..solvers.errors import FootlockError
from ..solvers.wording import Said, clause

# What comes of content that is not what it should be.
_PROBLEMS = (
    LookupError, ValueError, TypeError, AttributeError, ArithmeticError, RecursionError, MemoryError, struct.error,
    zlib.error,
)  # fmt: skip
# No clip is larger: an hour of 100 joints at 120 Hz has about a gigabyte.
LARGEST = 2 << 30
_UNFINISHED = ".footlock-"
_DIGITS = 12


def read(path: Path, kind: str, largest: int = LARGEST) -> bytes:
    """The bytes of a file. ``kind``: what it should be, for the message. Raises FootlockError where it cannot be
    read."""
    try:
        status = check_is_file(path, kind)
        if status.st_size > largest:
            raise error(path, Said("is larger than {size} MB", size=largest >> 20), "split it into shorter clips")
        with open(path, "rb") as file:
            # With a size, so that a file that grows meanwhile stays bounded.
            return file.read(status.st_size)
    except OSError as problem:
        what = Said("cannot be read ({reason})", reason=problem.strerror or str(problem))
        raise error(path, what, "choose a file that exists and that you may read") from problem


def check_is_file(path: Path, kind: str) -> os.stat_result:
    """The status of a file. Raises FootlockError for a folder or device, some of which have no end."""
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        raise error(path, "is a folder or device and not a file", Said("choose a file in the {kind} format", kind=kind))
    return status


def json_of(data: bytes, most: int) -> Any:
    """What a JSON text holds, of ``most`` values at most: some bytes of it can make an object of a hundred. Raises
    ValueError for more, and what is no such text."""
    if sum(data.count(sign) for sign in b",[{") > most:
        raise ValueError("more values than it can mean")
    try:
        return json.loads(data.decode("utf-8-sig"))
    except RecursionError as problem:
        raise ValueError("nested too deep") from problem


def write(path: Path, parts: Iterable[bytes]) -> None:
    """Write a file in one step: whatever happens, ``path`` holds the old file or the whole new one. Raises
    FootlockError if the folder cannot be written."""
    # A link stays a link: its target is replaced, not the link.
    path = Path(os.path.realpath(path))
    if os.path.exists(path) and not os.path.isfile(path):
        raise error(path, "is a folder or device and not a file", "give the name of a file")
    unfinished = temporary(path)
    try:
        try:
            with open(unfinished, "xb") as file:
                file.writelines(parts)
                file.flush()
                os.fsync(file.fileno())
            if os.path.exists(path):
                shutil.copymode(path, unfinished)
            os.replace(unfinished, path)
        except BaseException:
            unfinished.unlink(missing_ok=True)
            raise
    except OSError as problem:
        what = Said(
            "cannot be written in the folder {folder} ({reason})",
            folder=printable(str(path.parent)),
            reason=problem.strerror or str(problem),
        )
        raise error(path, what, "choose a folder that can be written to and has room") from problem


def temporary(path: Path, ending: str = ".tmp") -> Path:
    """A name, beside a file, for what is going to be it."""
    return path.with_name(f"{_start(path)}{secrets.token_hex(4)}{ending}")


def sweep(paths: Iterable[Path]) -> None:
    """Remove what writers of these files have left that were killed. Nobody may be writing them."""
    folders: dict[Path, set[str]] = {}
    for path in paths:
        path = Path(os.path.realpath(path))
        folders.setdefault(path.parent, set()).add(_start(path))
    for folder, starts in folders.items():
        with suppress(OSError):
            for name in os.listdir(folder):
                if name.startswith(_UNFINISHED) and name[: len(_UNFINISHED) + _DIGITS + 1] in starts:
                    with suppress(OSError):
                        (folder / name).unlink()


def _start(path: Path) -> str:
    """How the temporary files of a file are called, and of no other in its folder."""
    return f"{_UNFINISHED}{hashlib.sha256(os.fsencode(path.name)).hexdigest()[:_DIGITS]}-"


@contextmanager
def damaged(path: Path) -> Iterator[None]:
    """Raise FootlockError for a file whose content is not what it should be, whatever is missed within."""
    try:
        yield
    except _PROBLEMS as problem:
        raise error(path, "is cut off or damaged") from problem


def error(path: Path, what: str, do: str = "export it again") -> FootlockError:
    """The FootlockError that says what is wrong with a file, and what to do: two clauses, literals or Said."""
    return FootlockError(
        "“{file}” {what}: {do}.", file=printable(path.name or str(path)), what=clause(what), do=clause(do)
    )


def printable(text: str) -> str:
    """A text from a file for a message, whatever it holds."""
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text)
