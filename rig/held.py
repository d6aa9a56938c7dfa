"""Channels that a correction leaves alone: curves that are locked, and muted ones, which would not play new keys.

Locks of a bone's transforms (the padlocks in the sidebar) are no such: they guard against the hand, as they do for
Blender's own keys.
"""

from dataclasses import dataclass, replace

from ..solvers.errors import FootlockError
from . import compat, curves

_LOCKED, _MUTED = "locked", "muted"


@dataclass(frozen=True)
class Held:
    """What stays as it is. ``bones``: names of those that get no keys. ``legs``: indices of legs of which that is thigh
    or shin, so that the whole leg stays, and ``stiff``: of those whose foot moves with the shin. ``carrier``: the
    location that carries the pelvis stays. ``sizes``: the scale that keeps legs from stretching, in words, "" for none.
    ``why``: what is said of each of the others."""

    bones: frozenset = frozenset()
    legs: tuple = ()
    stiff: tuple = ()
    carrier: bool = False
    sizes: str = ""
    why: tuple = ()

    def reaching(self, pose):
        """A LegPose (frames, legs) whose stiff feet are the end of the shin."""
        if not self.stiff:
            return pose
        heel = pose.heel.copy()
        heel[:, self.stiff] = pose.toe[:, self.stiff]
        return replace(pose, heel=heel)

    def sentence(self, stretched):
        """What stayed, as it is reported, also of legs that should be ``stretched``; empty where nothing did."""
        stayed = f" Left as they are: {', '.join(self.why)}." if self.why else ""
        return stayed + (f" No leg was stretched: {self.sizes}." if stretched and self.sizes else "")


def held(armature, legs, rotation_property):
    """The Held of an armature's action. rotation_property: pose bone → the property that its mode reads. Raises
    FootlockError where no leg could be corrected."""
    found = _held_channels(armature)
    bones, stay, stiff, why = set(), [], [], []
    carrier = legs.carrier or legs.pelvis
    state = found.get((carrier, "location"))
    if state:
        why.append(f"the location of “{carrier}” ({state})")
    for i, leg in enumerate(legs.legs):
        parts = [name for name in (leg.thigh, leg.shin, leg.foot, leg.toe) if name]
        states = {name: found.get((name, rotation_property(armature.pose.bones[name]))) for name in parts}
        states = {name: one for name, one in states.items() if one}
        if states.keys() & {leg.thigh, leg.shin}:
            stay.append(i)
            bones.update(parts)
            name = next(iter(states))
            why.append(f"{leg.label} (“{name}” is {states[name]})")
        elif leg.foot in states:
            stiff.append(i)
            bones.update(parts[2:])
            why.append(f"“{leg.foot}” ({states[leg.foot]})")
        elif states:
            bones.add(leg.toe)
            why.append(f"“{leg.toe}” ({states[leg.toe]})")
    if len(stay) == len(legs.legs):
        raise FootlockError(
            f"No leg can be corrected, for the curves of their bones are locked or muted ({', '.join(why)}):"
            " unlock or unmute them in the Graph Editor."
        )
    sized = (name for leg in legs.legs for name in (leg.thigh, leg.shin, leg.foot))
    sizes = [f"the scale of “{name}” is {found[name, 'scale']}" for name in sized if (name, "scale") in found]
    return Held(frozenset(bones), tuple(stay), tuple(stiff), bool(state), "".join(sizes[:1]), tuple(why))


def check_free(armature, bone, channel):
    """Raise FootlockError where a channel of a bone is locked or muted."""
    state = _held_channels(armature).get((bone, channel))
    if state:
        raise FootlockError(
            f"The curve “{channel}” of bone “{bone}” is {state}: {'unlock' if state == _LOCKED else 'unmute'} it in the"
            " Graph Editor, or delete it."
        )


def _held_channels(armature):
    """(bone, property) → why it may get no keys."""
    found = {}
    for curve in compat.fcurves(armature):
        state = _LOCKED if compat.is_locked(curve) else _MUTED if compat.is_muted(curve) else None
        if state:
            found[curves.bone_and_property(curve.data_path)] = state
    for group in compat.locked_groups(armature):
        # New curves would be made in it.
        for channel in ("location", "scale", "rotation_quaternion", "rotation_euler", "rotation_axis_angle"):
            found.setdefault((group, channel), _LOCKED)
    return found
