"""Why a foot is planted or free, in words: what a detection measured there, and who said so else."""

from dataclasses import dataclass

from .contact_report import ABSENT, FILE, FOUND, HAND, MUTED
from .contacts import PLANTED_ABOVE

# A foot is held in full from this weight on.
_WHOLE = 0.999
# Why a foot that is slow and low is free all the same.
_NOT_LIKE_ONE = "slow and low enough, but too short for a contact, or nothing stands on it"
# A contact may pass its levels within.
_FOR_A_MOMENT = "within a contact"
_BY = {HAND: "by hand", FILE: "from a file"}


@dataclass(frozen=True)
class Frame:
    """A leg in a frame. ``weight`` of its contact curve, whose labels have this ``origin``; what a detection finds
    there: ``detected``, ``speed`` over the floor (m/s) and ``height`` over it (metres), and the levels ``enter`` and
    ``highest`` below which a foot may be planted. ``missed``: metres by which the toe is out of reach."""

    weight: float
    origin: str
    detected: bool
    speed: float
    height: float
    enter: float
    highest: float
    missed: float = 0.0


def of_frame(leg, frame):
    """A sentence of why a leg, by its label, is planted or free in a Frame."""
    planted = frame.weight > PLANTED_ABOVE
    if frame.weight < 0.0:
        what = "sliding on purpose"
    elif 0.0 < frame.weight < _WHOLE:
        what = f"held in part ({100.0 * frame.weight:.0f} %)"
    else:
        what = "planted" if planted else "free"
    return f"{leg} {what}: {_why(frame, planted)}{_reach(frame.missed)}."


def of_contact(row, enter, highest):
    """What made the contact of a Row, in a few words."""
    if row.cause != FOUND:
        return _BY.get(row.cause, row.cause)
    fast, high = row.speed[1] >= enter, row.height[1] >= highest
    return (
        f"{'mostly ' if fast else ''}slower than {speed(enter)} and {'mostly ' if high else ''}lower than"
        f" {centimetres(highest)} cm"
    )


def _why(frame, planted):
    """The reason, by where the label is from."""
    if frame.origin in (MUTED, ABSENT):
        there = "its contact curve is muted" if frame.origin == MUTED else "it has no contact curve"
        return f"{there}; {_opinion(frame)}"
    if frame.origin == FOUND:
        if planted == frame.detected:
            return _measured(frame)
        return f"so it was when contacts were detected; now {_opinion(frame)}"
    return f"{_BY[frame.origin]}; {_opinion(frame)}"


def _opinion(frame):
    would = "plant it" if frame.detected else "leave it free"
    return f"detection would {would}, {_measured(frame)}"


def _measured(frame):
    """Speed and height against their levels: of a free foot those that keep it free."""
    fast, above = frame.speed >= frame.enter, frame.height >= frame.highest
    over = f"{speed(frame.speed)} over the floor"
    high = f"{centimetres(abs(frame.height))} cm {'high' if frame.height >= 0.0 else 'under the floor'}"
    enter, highest = f"{frame.enter:.2f}", centimetres(frame.highest)
    if frame.detected:
        slow = f"above {enter}, {_FOR_A_MOMENT}" if fast else f"below {enter}"
        low = f"above {highest}, {_FOR_A_MOMENT}" if above else f"below {highest}"
        return f"{over} ({slow}), {high} ({low})"
    limits = [f"{over} (planted below {enter})"] * fast + [f"{high} (planted below {highest})"] * above
    return ", ".join(limits) or f"{over}, {high}: {_NOT_LIKE_ONE}"


def _reach(missed):
    return f"; out of reach by {1000.0 * missed:.1f} mm" if missed > 0.0 else ""


def speed(value):
    """Metres per second, to be read."""
    return f"{value:.2f} m/s"


def centimetres(value):
    """Metres as centimetres, to be read."""
    return f"{100.0 * value:.1f}"
