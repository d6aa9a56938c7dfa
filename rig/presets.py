"""Maps of legs as files, so that the next character with the same bones needs no search: role → name of the bone."""

import json
import os
import re
import unicodedata
from dataclasses import asdict
from pathlib import Path

import bpy

from ..solvers.errors import FootlockError
from . import whole_file
from .names import Leg, LegMap

_FOLDER = os.path.join("presets", "footlock", "legs")
_ENDING = ".json"
_VERSION = 1
# What no file can be called on one system or another: characters, and names that stand for devices.
_FORBIDDEN = re.compile(r'[\\/:*?"<>|\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]')
_DEVICES = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)
# Bytes and values of a file: a map of legs has some hundred.
_LARGEST, _MOST = 1 << 20, 10_000
# Bytes of the longest name; with the ending it is a file's everywhere.
_LONGEST = 240


def names():
    """The presets that there are, sorted."""
    return sorted((path.stem for path in _folder().glob(f"*{_ENDING}")), key=str.casefold)


def suggested(name):
    """A name near to this one that a file can have, or ""."""
    return _FORBIDDEN.sub("_", name).lstrip(". ")


def save(name, legs):
    """Save a LegMap, in place of the preset of just this name. Returns the name under which it is found again. Raises
    FootlockError for one that no file can have, or that some system takes for another preset's."""
    stem = unicodedata.normalize("NFC", name.strip())
    if not stem:
        raise FootlockError("The preset has no name: give it one.")
    if _FORBIDDEN.search(stem) or stem.startswith(".") or _DEVICES.fullmatch(stem):
        raise FootlockError(
            "No file can be called “{name}” on every system: give the preset a name of letters and digits.", name=stem
        )
    if len(stem.encode()) > _LONGEST:
        raise FootlockError("The name of the preset is too long for a file: give it a shorter one.")
    other = next((one for one in names() if one != stem and _folded(one) == _folded(stem)), None)
    if other is not None:
        raise FootlockError(
            "There is a preset “{other}”, which some systems take for the same file as “{name}”: give it that name to"
            " replace it, or another one.",
            other=other,
            name=stem,
        )
    data = {"footlock_legs": _VERSION, "pelvis": legs.pelvis, "legs": [asdict(leg) for leg in legs.legs]}
    path = _path(stem)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FootlockError(
            "The preset “{path}” cannot be written ({reason}): make its folder writable.",
            path=path,
            reason=error.strerror,
        ) from error
    whole_file.write(path, [json.dumps(data, ensure_ascii=False, indent=1).encode() + b"\n"])
    return stem


def load(name):
    """The LegMap of a preset."""
    path = _existing(name)
    data = whole_file.read(path, "JSON", _LARGEST)
    try:
        data = whole_file.json_of(data, _MOST)
    except ValueError as error:
        raise FootlockError("“{path}” is no preset of legs: save it anew.", path=path) from error
    try:
        if data["footlock_legs"] != _VERSION:
            raise FootlockError("“{path}” is from another version of Footlock: save it anew.", path=path)
        legs = tuple(Leg(**{str(key): str(value) for key, value in leg.items()}) for leg in data["legs"])
        return LegMap(str(data["pelvis"]), legs)
    except (KeyError, TypeError, AttributeError) as error:
        raise FootlockError("“{path}” is no preset of legs: save it anew.", path=path) from error


def remove(name):
    """Delete a preset's file."""
    path = _existing(name)
    try:
        path.unlink()
    except OSError as error:
        raise FootlockError(
            "The preset “{path}” cannot be deleted ({reason}): make its folder writable.",
            path=path,
            reason=error.strerror,
        ) from error


def lacking(legs, bones):
    """The first bone of a LegMap that is not among ``bones``, or None."""
    wanted = (legs.pelvis, *(bone for leg in legs.legs for bone in leg.bones))
    return next((name for name in wanted if name not in bones), None)


def _folded(name):
    """What two names have in common that are one file where case, or how accents are written, makes no difference."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def _folder():
    return Path(bpy.utils.user_resource("SCRIPTS", path=_FOLDER))


def _existing(name):
    """The file of a preset that there is: a name could lead out of the folder."""
    if name not in names():
        raise FootlockError("There is no preset “{name}”: choose one of the list.", name=name)
    return _path(name)


def _path(name):
    return _folder() / (name + _ENDING)
