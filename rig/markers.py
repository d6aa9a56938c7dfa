"""Contacts as pose markers of an action: “L down” where a foot comes down, “L up” where it lifts."""

import numpy as np

from ..solvers import contacts

DOWN, UP = "down", "up"


def tags(legs):
    """What each leg is called in markers: its place and side, or its bone where these do not tell it from others."""
    sides = [f"{leg.place} {leg.side}".strip() for leg in legs.legs]
    return [
        tag if leg.side and sides.count(tag) == 1 else leg.bearer for leg, tag in zip(legs.legs, sides, strict=True)
    ]


def write(action, legs, frames, labels, skip=()):
    """Write labels (frames, legs), in place of the markers of these legs that are there; other markers stay, and so do
    those of legs in ``skip``, indices. Returns how many were written. A foot that is planted in the last frame gets no
    “up”. Blender keeps markers on whole frames, so a contact takes one at least."""
    names = tags(legs)
    own = {f"{tag} {what}" for i, tag in enumerate(names) for what in (DOWN, UP) if i not in skip}
    for marker in [marker for marker in action.pose_markers if marker.name in own]:
        action.pose_markers.remove(marker)
    count = 0
    for i, tag in enumerate(names):
        if i in skip:
            continue
        for start, stop in contacts.runs(labels[:, i]):
            down = round(frames[start])
            events = [(DOWN, down)]
            if stop < len(frames):
                events.append((UP, max(round(frames[stop]), down + 1)))
            for what, frame in events:
                action.pose_markers.new(f"{tag} {what}").frame = frame
                count += 1
    return count


def read(action, legs, frames):
    """Labels (frames, legs) bool as the markers have them, and (legs,) bool, whether a leg has markers at all. A foot
    whose first marker is an “up” is planted before it."""
    labels, known = np.zeros((len(frames), len(legs.legs)), bool), np.zeros(len(legs.legs), bool)
    for i, tag in enumerate(tags(legs)):
        events = sorted(
            (marker.frame, marker.name == f"{tag} {DOWN}")
            for marker in action.pose_markers
            if marker.name in (f"{tag} {DOWN}", f"{tag} {UP}")
        )
        if not events:
            continue
        known[i] = True
        labels[:, i] = not events[0][1]
        for frame, down in events:
            labels[frames >= frame - 0.5, i] = down
    return labels, known
