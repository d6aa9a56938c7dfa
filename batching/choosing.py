"""Which clips of a file are meant: armatures and actions by patterns of their names."""

from dataclasses import dataclass, field
from fnmatch import fnmatchcase

import bpy

from ..rig import names
from ..solvers.errors import FootlockError
from ..solvers.wording import Listed, Said

# A take of fewer frames is a pose, which is left alone.
LEAST_FRAMES = 3
# No more names than these are listed in a sentence.
_LISTED = 4


@dataclass(frozen=True)
class Shot:
    """A clip of an open file: what an armature of a scene does in the take of that ``name``, and its legs. ``key`` is
    the file's own."""

    scene: bpy.types.Scene
    armature: bpy.types.Object
    legs: names.LegMap
    name: str
    key: object = field(default=None, repr=False)


def armatures(found, patterns, source):
    """Those of some armatures that are meant. Raises FootlockError where there are some, and none is."""
    chosen = _matching(found, patterns)
    if found and not chosen:
        raise FootlockError(
            "“{file}” has no armature called {patterns}, but {found}: check --armature.",
            file=source.name,
            patterns=_quoted(patterns),
            found=_quoted(sorted(one.name for one in found)),
        )
    return chosen


def actions(found, patterns, source):
    """The same of actions or takes."""
    chosen = _matching(found, patterns)
    if patterns and not chosen:
        there = _quoted(sorted(one.name for one in found)) if len(found) else Said("none at all")
        raise FootlockError(
            "“{file}” has no action called {patterns}, but {found}: check --action.",
            file=source.name,
            patterns=_quoted(patterns),
            found=there,
        )
    return chosen


def _matching(found, patterns):
    if not patterns:
        return list(found)
    return [one for one in found if any(fnmatchcase(one.name, pattern) for pattern in patterns)]


def _quoted(texts):
    shown = [Said("“{name}”", name=text) for text in texts[:_LISTED]]
    return Listed([*shown, Said("more")] if len(texts) > _LISTED else shown)
