"""What was done to each clip, kept beside the outputs, so that a rerun skips what is done and unchanged.

A clip has a record of its own, which is written when all else is: many machines can write into one folder, and what is
killed loses no more than the clip that it worked on.
"""

import hashlib
import json
import os
import tomllib
from functools import cache
from pathlib import Path

from ..rig import whole_file

_LARGEST = 64 << 20
# Options that change nothing in what comes out; labels and plots that are written are known as files.
_OF_THE_RUN = {"inputs", "output", "jobs", "part", "force", "bad_clips_ok", "settings", "report"}
_PIECE = 1 << 20


@cache
def version():
    """The version of Footlock."""
    manifest = Path(__file__).parents[1] / "blender_manifest.toml"
    return tomllib.loads(manifest.read_text(encoding="utf-8"))["version"]


def fingerprint(path):
    """What tells whether a file is still the same: its size, and a hash of its content."""
    digest, size = hashlib.sha256(), 0
    with open(path, "rb") as file:
        while piece := file.read(_PIECE):
            digest.update(piece)
            size += len(piece)
    return [size, digest.hexdigest()]


def known(clip, options):
    """What is said of a clip's file that is skipped, with what was said when it was done: where that was with these
    options, and neither what it was made of nor what came out has changed since. Else None."""
    if clip.record is None:
        return None
    try:
        if clip.record.stat().st_size > _LARGEST:
            return None
        kept = json.loads(clip.record.read_text(encoding="utf-8"))
        if kept["made_by"] != _made_by(options) or not kept["written"]:
            return None
        for folder, files in ((clip.source.parent, kept["read"]), (clip.target.parent, kept["written"])):
            if not all(_is_same(folder / place, *expected) for place, expected in files.items()):
                return None
        names = {"input": str(clip.source), "output": str(clip.target)}
        return [{**names, **row, "skipped": True} for row in kept["clips"]] or None
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None  # What cannot be read is no record, and the clip is done again.


def write(clip, options, rows, read, written):
    """Keep what was said of a clip's file. ``read``: fingerprints of the files that it was made of, by their paths;
    ``written``: paths of those that came out."""
    record = {
        "made_by": _made_by(options),
        "read": {_place(path, clip.source.parent): found for path, found in read.items()},
        "written": {_place(path, clip.target.parent): fingerprint(path) for path in written},
        "clips": [{name: value for name, value in row.items() if name not in ("input", "output")} for row in rows],
    }
    clip.record.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(record, indent=1)
    whole_file.write(clip.record, [text.encode(), b"\n"])


def _made_by(options):
    """What tells one way to make the output of a clip from another."""
    kept = {name: value for name, value in vars(options).items() if name not in _OF_THE_RUN}
    text = json.dumps([version(), kept], default=str, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _place(path, folder):
    try:
        return os.path.relpath(path, folder)
    except ValueError:  # another drive
        return os.path.abspath(path)


def _is_same(path, size, digest):
    return path.stat().st_size == size and fingerprint(path) == [size, digest]
