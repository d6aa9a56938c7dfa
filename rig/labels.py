"""Contact labels as a JSON file: one value a frame, keyed by the bone that bears the property.

1 is a foot that is planted, 0 a free one; between them it is held in part, and at -1 it slides on purpose."""

import json
from pathlib import Path

import numpy as np

from ..solvers.errors import FootlockError
from ..solvers.wording import Listed, Said, counted
from . import whole_file

# An hour of four feet at 120 Hz has 2 million labels in 5 MB; a larger file is none of labels.
_LARGEST, _MOST = 64 << 20, 8_000_000


def read(path, legs, frames):
    """Weights (frames, legs) from a file. ``frames``: how many the clip has. Raises FootlockError for a file that
    does not fit."""
    path = Path(path)
    data = whole_file.read(path, "JSON", _LARGEST)
    try:
        contacts = whole_file.json_of(data, _MOST)["contacts"]
        names = set(contacts.keys())
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise FootlockError(
            "“{path}” is not a labels file: it wants an object with “contacts”, as --export-contacts writes it.",
            path=path,
        ) from error
    columns = []
    for leg in legs.legs:
        if leg.bearer not in names:
            found = [Said("“{bone}”", bone=name) for name in sorted(map(str, names))[:4]]
            raise FootlockError(
                "“{path}” has labels for {found} and none for “{bone}”: use labels of this skeleton.",
                path=path,
                found=Listed(found or [Said("no bone")]),
                bone=leg.bearer,
            )
        columns.append(_column(path, leg.bearer, contacts[leg.bearer], frames))
    return np.stack(columns, axis=1)


def write(path, legs, labels, frame_rate, frame_start):
    """Write labels or weights (frames, legs). Raises FootlockError where the file cannot be written."""
    frame_start = int(frame_start) if float(frame_start).is_integer() else float(frame_start)
    contacts = {
        leg.bearer: [int(value) if value == round(value) else round(value, 6) for value in labels[:, i].tolist()]
        for i, leg in enumerate(legs.legs)
    }
    text = json.dumps({"frame_rate": frame_rate, "frame_start": frame_start, "contacts": contacts})
    whole_file.write(Path(path), [text.encode() + b"\n"])


def _column(path, bone, values, frames):
    if not isinstance(values, list) or len(values) != frames:
        count = len(values) if isinstance(values, list) else "no"
        raise FootlockError(
            counted(
                count,
                "“{path}” has {count} label for “{bone}” and the clip has {frames} frames: use labels of this clip.",
                "“{path}” has {count} labels for “{bone}” and the clip has {frames} frames: use labels of this clip.",
                path=path,
                bone=bone,
                frames=frames,
            )
        )
    if not all(isinstance(value, (int, float)) and -1 <= value <= 1 for value in values):
        raise FootlockError(
            "“{path}” has a label for “{bone}” that is not between -1 and 1: mend the file or detect anew.",
            path=path,
            bone=bone,
        )
    return np.array(values, float)
