"""The leg map as it is stored with the armature, where the panel edits it.

Where the armature's data is of another file, or an override of it, nothing that is added to it is saved, and the map is
kept with the action.
"""

import json
from dataclasses import astuple, replace
from itertools import pairwise

import bpy
import numpy as np
from bpy.props import BoolProperty, CollectionProperty, FloatProperty, IntProperty, PointerProperty, StringProperty
from mathutils import Matrix

from ..solvers import small_matrices
from ..solvers.errors import FootlockError
from ..solvers.wording import Listed, Said
from . import candidates, controls, results, sentences
from . import clip as clips
from .names import HAND, Leg, LegMap, ancestors
from .skeleton import Rest

# Cosine of the largest angle by which an armature that stands leans.
_UPRIGHT = np.cos(np.radians(25.0))
# Matrices (4, 4) that turn one of an object's axes up, or down.
_ON_AN_AXIS = [
    np.array(Matrix.Rotation(np.radians(angle), 4, axis))
    for angle, axis in ((0.0, "X"), (90.0, "X"), (-90.0, "X"), (180.0, "X"), (90.0, "Y"), (-90.0, "Y"))
]


class UnclearLegs(FootlockError):
    """The legs are this or that: ``maps``, LegMaps to choose from."""

    def __init__(self, armature, maps):
        super().__init__(
            "“{armature}” may have its legs in {count} ways: choose one under Legs in the Footlock panel.",
            armature=armature.name,
            count=len(maps),
        )
        self.maps = maps


# Property of the action: the map, where the armature's data cannot have it.
_IN_ACTION = "footlock_legs"


class FootlockLeg(bpy.types.PropertyGroup):
    """Bones of one leg, and how much it slid in the last run."""

    side: StringProperty(name="Side", description="L or R; empty for a leg that has no side")
    place: StringProperty(
        name="Place", description="Front, Middle, Hind or a number where there are more legs on a side; Hand for an arm"
    )
    thigh: StringProperty(name="Thigh", description="Bone that starts at the hip")
    shin: StringProperty(name="Shin", description="Bone that starts at the knee")
    foot: StringProperty(name="Foot", description="Bone that starts at the ankle")
    toe: StringProperty(
        name="Toe", description="Bone that starts at the ball of the foot; empty where the foot has none"
    )
    contacts: IntProperty(name="Contacts", description="How many contacts the last run had")
    share: FloatProperty(name="Share", description="Share of the time in which this foot is planted")
    shortest: FloatProperty(name="Shortest", description="Shortest contact of this foot, seconds")
    ground: FloatProperty(name="Ground", description="Height of the floor under this foot, metres")
    out_of_reach: IntProperty(name="Out of Reach", description="Frames in which the leg was too short to hold the toe")
    slide_before: FloatProperty(
        name="Slide Before", description="Mean slide in contact before the run, metres per frame"
    )
    slide_after: FloatProperty(name="Slide After", description="Mean slide in contact after the run, metres per frame")
    largest_before: FloatProperty(
        name="Largest Before", description="Largest slide in contact before, metres per frame"
    )
    largest_after: FloatProperty(name="Largest After", description="Largest slide in contact after, metres per frame")


class FootlockChoice(bpy.types.PropertyGroup):
    """One of several maps of legs that an armature may have. The name says which bones they are."""


class FootlockMapping(bpy.types.PropertyGroup):
    """Legs of an armature."""

    pelvis: StringProperty(name="Pelvis", description="Bone between the legs, whose location shares the correction")
    legs: CollectionProperty(type=FootlockLeg, name="Legs")
    question: CollectionProperty(
        type=FootlockChoice, name="Question", description="The legs to choose from where it is not clear which they are"
    )
    result_action: StringProperty(
        name="Result", description="Name of the action whose slide is stored with the legs; empty without"
    )
    found_action: StringProperty(
        name="Found", description="Name of the action whose contacts were detected last; empty without"
    )
    enter: FloatProperty(name="Enter", description="Speed below which a foot was taken for planted, m/s")
    highest: FloatProperty(name="Highest", description="Height below which a foot was taken for planted, metres")
    double_support: FloatProperty(
        name="Double Support", description="Share of the time in which two feet or more are planted"
    )
    flight: FloatProperty(name="Flight", description="Share of the time in which no foot is planted")
    root_kind: StringProperty(
        name="Root", description="What fits the root to the feet: none, scale or path; empty without a detection"
    )
    root_scale: FloatProperty(
        name="Root Scale", description="Travel of the root over the travel that the feet ask for", default=1.0
    )
    root_speed: FloatProperty(name="Root Speed", description="Mean speed of the root, m/s")
    feet_speed: FloatProperty(name="Feet Speed", description="Mean speed that the feet ask for, m/s")
    in_place: BoolProperty(name="In Place", description="The feet travel and the root does not")


classes = (FootlockLeg, FootlockChoice, FootlockMapping)


def register():
    for cls in classes:
        bpy.utils.register_class(cls)
    bpy.types.Armature.footlock = PointerProperty(
        type=FootlockMapping, name="Footlock", description="Legs that Footlock works on"
    )


def unregister():
    del bpy.types.Armature.footlock
    for cls in reversed(classes):
        bpy.utils.unregister_class(cls)


def find(armature):
    """The legs of an armature object by the names of its bones and the shape of its rest pose. Raises UnclearLegs where
    these tell of more than one map, FootlockError where they tell of none."""
    maps = choices(armature)
    if not maps:
        raise FootlockError(
            "No leg was found in “{armature}”: choose thigh, shin and foot under Legs in the Footlock panel.",
            armature=armature.name,
        )
    if len(maps) > 1:
        raise UnclearLegs(armature, maps)
    return _with_controls(armature, maps[0])


def choices(armature):
    """The maps of legs that an armature object may have, always in the same order, the likeliest first."""
    bones, axes = rest(armature), np.array(armature.matrix_world, float)[:3, :3]
    clips.check_size(armature, np.array(armature.matrix_world, float)[None])
    up = small_matrices.inverse(axes[None])[0, :, 2]
    if np.abs(up).max() > _UPRIGHT * np.linalg.norm(up):
        return candidates.find(bones)
    # The object tumbles in this frame. It stands on one of its own axes: the one along which legs come down.
    turned = [rest(armature, axes) for axes in _ON_AN_AXIS]
    found = [(bones, candidates.find(bones)) for bones in turned]
    return max(found, key=lambda one: candidates.descent(*one))[1]


def said(legs):
    """What is said of the legs that were found or chosen."""
    return Said("Pelvis {pelvis}; {legs}.", pelvis=legs.pelvis, legs=described(legs))


def described(legs):
    """Which bones the legs of a map are, in a few words."""
    return Listed(Said("{leg} {thigh} … {toe}", leg=leg.label, thigh=leg.thigh, toe=leg.bearer) for leg in legs.legs)


def with_hands(armature, legs):
    """A LegMap with the arms of an armature object as limbs that can be planted. Raises FootlockError where none are
    found."""
    legs = replace(legs, legs=tuple(leg for leg in legs.legs if leg.place != HAND))
    arms = candidates.find_arms(rest(armature), legs)
    if not arms:
        raise FootlockError(
            "No arms were found in “{armature}”: add each as a leg under Legs in the Footlock panel, and"
            " choose upper arm, forearm, hand and a finger.",
            armature=armature.name,
        )
    return _carried(armature, replace(legs, legs=(*legs.legs, *arms)))


def rest(armature, world=None):
    """Rest of each bone of an armature object, in the world, or where the matrix ``world`` (4, 4) puts it."""
    world = np.array(armature.matrix_world if world is None else world, float)

    def there(point):
        return world[:3, :3] @ np.array(point) + world[:3, 3]

    return {
        bone.name: Rest(
            bone.parent.name if bone.parent else None,
            there(bone.head_local),
            there(bone.tail_local),
            bone.use_deform,
        )
        for bone in armature.data.bones
    }


def stored(armature):
    """The legs stored with an armature object, or None. Raises FootlockError where they do not fit its bones."""
    mapping = armature.data.footlock
    kept = None if _stores(armature) else _kept_in_action(armature)
    if kept is not None:
        result = kept
    elif len(mapping.legs):
        result = LegMap(mapping.pelvis, tuple(leg_of(item) for item in mapping.legs))
    else:
        return None
    check(armature, result)
    return _with_controls(armature, _carried(armature, result))


def leg_of(item):
    """The Leg that a FootlockLeg stores."""
    return Leg(item.side, item.thigh, item.shin, item.foot, item.toe, item.place)


def of(armature):
    """The legs stored with an armature object, otherwise those that are found."""
    return stored(armature) or find(armature)


def _with_controls(armature, legs):
    """A LegMap that knows by which bones an animator moves the feet of a control rig."""
    handles = controls.handles(armature, legs)
    return replace(legs, legs=tuple(replace(leg, control=one) for leg, one in zip(legs.legs, handles, strict=True)))


def _carried(armature, legs):
    """A LegMap whose carrier carries arms too: where they do not hang from the pelvis, the lowest bone above all."""
    parents = _parents(armature)
    limbs = (legs.pelvis, *(leg.thigh for leg in legs.legs))
    if all(legs.pelvis in ancestors(name, parents) for name in limbs[1:]):
        return legs
    return replace(legs, carrier=_shared(limbs, parents))


def _shared(names, parents):
    """The lowest bone that all hang from, or "" without."""
    first, *others = (ancestors(name, parents) for name in names)
    return next((bone for bone in first if all(bone in above for above in others)), "")


def _parents(armature):
    return {bone.name: bone.parent.name if bone.parent else None for bone in armature.data.bones}


def _stores(armature):
    """False for data that is linked or an override: what is added to it is not saved."""
    return armature.data.override_library is None and armature.data.library is None


def check_listed(armature):
    """Raise FootlockError where the list of legs cannot be edited."""
    if not _stores(armature):
        raise FootlockError(
            "The data of “{armature}” is of another file, so the list of its legs cannot be edited: edit it"
            " there, or give the bones to Find Legs (F9).",
            armature=armature.name,
        )


def remember(armature, legs):
    """Store a leg map with an armature that has none, where it can be kept."""
    if stored(armature) is None and (_stores(armature) or _keeping_action(armature)):
        store(armature, legs)


def store(armature, legs):
    """Store a leg map with the armature, in place of what is there, or with its action. Raises FootlockError where
    there is none that can keep it."""
    if not _stores(armature):
        action = _keeping_action(armature)
        if action is None:
            raise FootlockError(
                "The data of “{armature}” is of another file, and legs are kept with its action then: assign"
                " an action of this file first, or click Copy Action.",
                armature=armature.name,
            )
        action[_IN_ACTION] = json.dumps({"pelvis": legs.pelvis, "legs": [astuple(leg) for leg in legs.legs]})
        return
    mapping = armature.data.footlock
    mapping.pelvis = legs.pelvis
    mapping.result_action = mapping.found_action = ""
    mapping.question.clear()
    mapping.legs.clear()
    for leg in legs.legs:
        store_leg(mapping.legs.add(), leg)


def store_leg(item, leg):
    """Store a Leg in a FootlockLeg."""
    item.side, item.place = leg.side, leg.place
    item.thigh, item.shin, item.foot, item.toe = leg.thigh, leg.shin, leg.foot, leg.toe


def ask(armature, maps):
    """Store which maps of legs there are to choose from, for the panel to show."""
    if not _stores(armature):
        return
    question = armature.data.footlock.question
    question.clear()
    for legs in maps:
        question.add().name = sentences.on_screen(described(legs))


def _keeping_action(armature):
    """The action that can keep the legs of an armature whose data cannot, or None."""
    action = results.subject(armature)
    return action if action is not None and action.library is None else None


def _kept_in_action(armature):
    """The LegMap that the action in use keeps, or the one it was made from; None without."""
    action = results.subject(armature)
    for one in (action, results.original(action)):
        if one is not None and _IN_ACTION in one:
            kept = json.loads(one[_IN_ACTION])
            return LegMap(kept["pelvis"], tuple(Leg(*leg) for leg in kept["legs"]))
    return None


def forget(armature):
    """Nothing is found or done that the panel could show."""
    action = results.subject(armature)
    if action is not None and action.library is None:
        action.footlock_said = ""
    if _stores(armature):
        armature.data.footlock.result_action = armature.data.footlock.found_action = ""


def store_found(armature, found):
    """Store what a Detection found, for the panel to show."""
    if not _stores(armature):
        return
    mapping, summary, fit = armature.data.footlock, found.summary(), found.fit
    mapping.result_action = ""
    for i, item in enumerate(mapping.legs):
        item.contacts, item.share = summary.counts[i], summary.shares[i]
        item.shortest, item.ground = summary.shortest[i], found.ground[i]
    mapping.enter, mapping.highest = found.enter, found.highest
    mapping.double_support, mapping.flight = summary.double_support, summary.flight
    mapping.root_kind, mapping.root_scale = fit.kind, fit.scale
    mapping.root_speed, mapping.feet_speed, mapping.in_place = fit.root_speed, fit.feet_speed, fit.in_place
    mapping.found_action = results.subject(armature).name


def store_result(armature, contacts, before, after, out_of_reach):
    """Store with each leg how many contacts it had, its Slide before and after, and its frames out of reach, for the
    panel to show."""
    if not _stores(armature):
        return
    mapping = armature.data.footlock
    for item, count, old, new, missed in zip(mapping.legs, contacts, before, after, out_of_reach, strict=True):
        item.contacts, item.out_of_reach = count, missed
        item.slide_before, item.slide_after = old.mean, new.mean
        item.largest_before, item.largest_after = old.largest, new.largest
    mapping.result_action, mapping.found_action = results.subject(armature).name, ""


def check(armature, legs):
    """Raise FootlockError where a leg map names bones that are missing, used twice, or not in one chain. Arms and front
    legs may hang from a bone that the pelvis hangs from, too."""
    parents = _parents(armature)
    used = set()
    if not legs.pelvis:
        raise FootlockError(
            "“{armature}” has no pelvis chosen: choose it under Legs in the Footlock panel, or click Find Legs.",
            armature=armature.name,
        )
    for name in (legs.pelvis, *(name for leg in legs.legs for name in (leg.thigh, leg.shin, leg.foot))):
        if name not in parents:
            raise FootlockError(
                "Bone “{bone}” is not in “{armature}”: choose the bones under Legs in the Footlock panel, or click"
                " Find Legs."
                if name
                else "A leg of “{armature}” lacks a bone: choose the bones under Legs in the Footlock panel, or click"
                " Find Legs.",
                bone=name,
                armature=armature.name,
            )
    for leg in legs.legs:
        chain = [name for name in (legs.pelvis, leg.thigh, leg.shin, leg.foot, leg.toe) if name]
        for upper, lower in pairwise(chain):
            if lower not in parents or not (
                upper in ancestors(lower, parents)
                or _is_loose(leg, lower, parents)
                or (leg.place and upper == legs.pelvis and _shared((upper, lower), parents))
            ):
                raise FootlockError(
                    "Bone “{lower}” does not hang from “{upper}”: choose the bones of this leg from the hip down.",
                    lower=lower,
                    upper=upper,
                )
        if used & set(chain[1:]):
            raise FootlockError(
                "Bone “{bone}” is in two legs: choose another bone for one of them.",
                bone=sorted(used & set(chain[1:]))[0],
            )
        used |= set(chain[1:])


def _is_loose(leg, bone, parents):
    """True for a foot that hangs from the root in place of its shin: legs that were baked from a control rig have it
    so."""
    return bone == leg.foot and bone not in ancestors(leg.thigh, parents)
