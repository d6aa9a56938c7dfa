"""Channels that a correction leaves alone: curves that are locked, and muted ones, which would not play new keys.

Locks of a bone's transforms (the padlocks in the sidebar) are no such: they guard against the hand, as they do for
Blender's own keys.
"""

from dataclasses import dataclass, replace

from ..solvers.errors import FootlockError
from ..solvers.wording import Listed, Said, together
from . import compat, curves

_LOCKED, _MUTED = Said("locked"), Said("muted")


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
        return together(
            Said("Left as they are: {bones}.", bones=Listed(self.why)) if self.why else "",
            Said("No leg was stretched: {why}.", why=self.sizes) if stretched and self.sizes else "",
        )


NOTHING = Held()


def held(armature, legs, driven_by, rotation_property):
    """The Held of an armature's action. driven_by: Controls of the legs. rotation_property: pose bone → the property
    that its mode reads. Raises FootlockError where no leg could be corrected."""
    found = _held_channels(armature)
    bones, stay, stiff, why = set(), [], [], []
    state = found.get((driven_by.carrier, "location"))
    if state:
        why.append(Said("the location of “{bone}” ({state})", bone=driven_by.carrier, state=state))

    def states_of(sources, *channels):
        """Names of bones → why one of their channels is held."""
        held_of = {}
        for name in (source.bone for source in sources):
            for channel in ("rotation", *channels):
                channel = rotation_property(armature.pose.bones[name]) if channel == "rotation" else channel
                if (name, channel) in found:
                    held_of.setdefault(name, found[name, channel])
        return held_of

    for i, (leg, limb) in enumerate(zip(legs.legs, driven_by.limbs, strict=True)):
        whole = states_of([*limb.turns["thigh"], *limb.turns["shin"]]) | states_of(limb.places, "location")
        foot, toe = states_of(limb.turns["foot"]), states_of(limb.turns["toe"])
        if whole:
            stay.append(i)
            bones.update(source.bone for source in limb.sources())
            name, reason = next(iter(whole.items()))
            why.append(Said("{leg} (“{bone}” is {state})", leg=leg.label, bone=name, state=reason))
        elif foot:
            stiff.append(i)
            bones.update(source.bone for source in (*limb.turns["foot"], *limb.turns["toe"]))
            why += [Said("“{bone}” ({state})", bone=name, state=reason) for name, reason in foot.items()]
        elif toe:
            bones.update(toe)
            why += [Said("“{bone}” ({state})", bone=name, state=reason) for name, reason in toe.items()]
    if len(stay) == len(legs.legs):
        raise FootlockError(
            "No leg can be corrected, for the curves of their bones are locked or muted ({why}): unlock or"
            " unmute them in the Graph Editor.",
            why=Listed(why),
        )
    sized = (name for leg in legs.legs for name in (leg.thigh, leg.shin, leg.foot))
    sizes = (
        Said("the scale of “{bone}” is {state}", bone=name, state=found[name, "scale"])
        for name in sized
        if (name, "scale") in found
    )
    return Held(frozenset(bones), tuple(stay), tuple(stiff), bool(state), next(sizes, ""), tuple(why))


def check_free(armature, bone, channel):
    """Raise FootlockError where a channel of a bone is locked or muted."""
    state = _held_channels(armature).get((bone, channel))
    if state:
        raise FootlockError(
            "The curve “{channel}” of bone “{bone}” is locked: unlock it in the Graph Editor, or delete it."
            if state is _LOCKED
            else "The curve “{channel}” of bone “{bone}” is muted: unmute it in the Graph Editor, or delete it.",
            channel=channel,
            bone=bone,
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
