"""The file that a person chose in an operator's properties."""

from pathlib import Path

import bpy

from ..solvers.errors import FootlockError


def path(filepath):
    """The Path of a ``filepath`` property; // is the folder of the .blend file. Raises FootlockError where it names
    none."""
    if not filepath:
        raise FootlockError("No file is named: give its name.")
    if filepath.startswith("//") and not bpy.data.filepath:
        raise FootlockError(
            "“//” is the folder of this .blend file, which has none yet: save it, or give a whole path."
        )
    return Path(bpy.path.abspath(filepath))
