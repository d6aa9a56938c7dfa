"""Why a foot is planted or free, in words: what a detection measured there, and who said so else."""

from dataclasses import dataclass

from .contact_report import ABSENT, FILE, FOUND, HAND, MUTED
from .contacts import PLANTED_ABOVE
from .wording import Listed, Said

# A foot is held in full from this weight on.
_WHOLE = 0.999
_BY = {HAND: Said("by hand"), FILE: Said("from a file")}
# What is said of a contact that was found, by whether its foot is too fast, and too high, for a moment within.
_SLOW_AND_LOW = {
    (False, False): "slower than {speed:.2f} m/s and lower than {height:.1f} cm",
    (False, True): "slower than {speed:.2f} m/s and mostly lower than {height:.1f} cm",
    (True, False): "mostly slower than {speed:.2f} m/s and lower than {height:.1f} cm",
    (True, True): "mostly slower than {speed:.2f} m/s and mostly lower than {height:.1f} cm",
}


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
        state = Said("sliding on purpose")
    elif 0.0 < frame.weight < _WHOLE:
        state = Said("held in part ({share:.0f} %)", share=100.0 * frame.weight)
    else:
        state = Said("planted") if planted else Said("free")
    why = _why(frame, planted)
    if frame.missed > 0.0:
        missed = 1000.0 * frame.missed
        return Said(
            "{leg} {state}: {why}; out of reach by {missed:.1f} mm.", leg=leg, state=state, why=why, missed=missed
        )
    return Said("{leg} {state}: {why}.", leg=leg, state=state, why=why)


def of_contact(row, enter, highest):
    """What made the contact of a Row, in a few words."""
    if row.cause != FOUND:
        return _BY.get(row.cause, row.cause)
    return Said(
        _SLOW_AND_LOW[bool(row.speed[1] >= enter), bool(row.height[1] >= highest)],
        speed=enter,
        height=100.0 * highest,
    )


def _why(frame, planted):
    """The reason, by where the label is from."""
    if frame.origin == FOUND and planted == frame.detected:
        return _measured(frame)
    opinion = _opinion(frame)
    if frame.origin == FOUND:
        return Said("so it was when contacts were detected; now {opinion}", opinion=opinion)
    if frame.origin == MUTED:
        return Said("its contact curve is muted; {opinion}", opinion=opinion)
    if frame.origin == ABSENT:
        return Said("it has no contact curve; {opinion}", opinion=opinion)
    return Said("{by}; {opinion}", by=_BY[frame.origin], opinion=opinion)


def _opinion(frame):
    if frame.detected:
        return Said("detection would plant it, {measured}", measured=_measured(frame))
    return Said("detection would leave it free, {measured}", measured=_measured(frame))


def _measured(frame):
    """Speed and height against their levels: of a free foot those that keep it free."""
    fast, above = frame.speed >= frame.enter, frame.height >= frame.highest
    over = Said("{speed:.2f} m/s over the floor", speed=frame.speed)
    height = 100.0 * abs(frame.height)
    if frame.height >= 0.0:
        high = Said("{height:.1f} cm high", height=height)
    else:
        high = Said("{height:.1f} cm under the floor", height=height)
    enter, highest = {"level": frame.enter}, {"level": 100.0 * frame.highest}
    if frame.detected:
        slow = Said("above {level:.2f}, within a contact" if fast else "below {level:.2f}", **enter)
        low = Said("above {level:.1f}, within a contact" if above else "below {level:.1f}", **highest)
        return Said("{over} ({slow}), {high} ({low})", over=over, slow=slow, high=high, low=low)
    limits = []
    if fast:
        limits.append(Said("{over} (planted below {level:.2f})", over=over, **enter))
    if above:
        limits.append(Said("{high} (planted below {level:.1f})", high=high, **highest))
    if limits:
        return Listed(limits)
    return Said(
        "{over}, {high}: slow and low enough, but too short for a contact, or nothing stands on it",
        over=over,
        high=high,
    )
