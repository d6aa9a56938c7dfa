"""Maps of legs as files, so that the next character with the same bones needs no search: role → name of the bone."""

import json
import os
from dataclasses import asdict
from pathlib import Path

import bpy

from ..solvers.errors import FootlockError
from .names import Leg, LegMap

_FOLDER = os.path.join("presets", "footlock", "legs")
_ENDING = ".json"
_VERSION = 1


def names():
    """The presets that there are, sorted."""
    return sorted((path.stem for path in _folder().glob(f"*{_ENDING}")), key=str.casefold)


def save(name, legs):
    """Save a LegMap. Returns the name under which it is found again, which is one that a file can have."""
    stem = bpy.path.clean_name(name.strip())
    if not stem:
        raise FootlockError("The preset has no name: give it one.")
    data = {"footlock_legs": _VERSION, "pelvis": legs.pelvis, "legs": [asdict(leg) for leg in legs.legs]}
    path = _path(stem)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(data, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise FootlockError(
            "The preset “{path}” cannot be written ({reason}): make its folder writable.",
            path=path,
            reason=error.strerror,
        ) from error
    return stem


def load(name):
    """The LegMap of a preset."""
    path = _path(name)
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise FootlockError("There is no preset “{name}”: choose one of the list.", name=name) from error
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
    try:
        _path(name).unlink()
    except OSError as error:
        raise FootlockError(
            "The preset “{name}” cannot be deleted ({reason}): choose one of the list.",
            name=name,
            reason=error.strerror,
        ) from error


def lacking(legs, bones):
    """The first bone of a LegMap that is not among ``bones``, or None."""
    wanted = (legs.pelvis, *(bone for leg in legs.legs for bone in leg.bones))
    return next((name for name in wanted if name not in bones), None)


def _folder():
    return Path(bpy.utils.user_resource("SCRIPTS", path=_FOLDER))


def _path(name):
    return _folder() / (name + _ENDING)
