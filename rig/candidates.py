"""The legs of a skeleton whose rest pose is known: names and shape confirmed against each other.

Names propose, structure decides. What a convention names must come down to the ground with a knee on the way; of copies
of a leg in one place, as control rigs have them, the one that deforms is taken; arms that are named as front legs and
hang in the air are none. Where the shape tells of more or of other legs than the names, it is right when the names are
impossible, and otherwise a person is asked.
"""

from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from . import arms as arms_by_shape
from . import names, structure, words
from .skeleton import Skeleton

# Joints nearer than this share of a leg's length are one.
_SAME = 0.08
# A foot, or the toe where there is one, is no higher than this share of the hip's height over the ground ...
_STANDS = 0.35
# ... and where there is a toe, the heel no higher than this one: a horse's hock is at less than half.
_HOCK = 0.55
# ... and a knee is between these shares of the way from hip to foot; outside of the second ones it cannot be.
_KNEE, _POSSIBLE = (0.22, 0.78), (0.08, 0.92)
# A thigh that begins lower than this share of the height of the hip begins at the knee.
_KNEE_HEIGHT = 0.65
# Front legs begin further from hind legs than this share of their length.
_FRONT = 0.5
# Cosine of the largest angle between two halves of one bone.
_STRAIGHT = np.cos(np.radians(8.0))
_IMPOSSIBLE, _ODD, _LIKELY = range(3)


@dataclass(frozen=True)
class _Named:
    """What the names tell of one character, and how the rest pose likes it."""

    legs: names.LegMap
    verdict: int
    rank: tuple


def find(bones):
    """The maps of legs that a skeleton may have, the likeliest first: none, one, or several that a person must choose
    from. bones: dict of name → Rest, any order."""
    skeleton = Skeleton(bones)
    named = _by_names(skeleton)
    shaped = _without_arms(skeleton, structure.find_all(skeleton))
    if not named or (shaped and all(one.verdict == _IMPOSSIBLE for one in named)):
        return shaped
    maps = [_refined(skeleton, one.legs, shaped) for one in named]
    others = [legs for legs in shaped if not any(_covers(skeleton, one, legs) for one in maps)]
    if len(maps) > 1 or not others:
        return maps
    more = [legs for legs in others if _covers(skeleton, legs, maps[0])]
    if more:  # one leg of two, or two of four, was named
        whole = _refined(skeleton, _with_names(skeleton, more[0], maps[0]), shaped)
        return [whole, *(legs for legs in others if legs is not more[0])]
    if named[0].verdict == _LIKELY and len(shaped) == 1 and not _begins_at_knees(skeleton, maps[0], others[0]):
        return maps
    return maps + others


def _without_arms(skeleton, shaped):
    """Maps of legs by shape but for those of arms, which hang down where there is no body below them, and are named."""
    arms = {bone for one in names.arm_proposals(skeleton.parents) for arm in one.limbs for bone in arm.bones}
    return [legs for legs in shaped if not all(leg.thigh in arms and leg.foot in arms for leg in legs.legs)]


def _refined(skeleton, named, shaped):
    """Named legs with what the shape tells besides: toes that have no name, the first halves of split bones of which
    only the second has one, and bones in the same place that deform where these do not."""
    shapes = [leg for one in shaped for leg in one.legs]
    legs = []
    for leg in named.legs:
        there = next((one for one in shapes if _same(skeleton, one, leg)), None)
        if there is not None and _deforming(skeleton, there) > _deforming(skeleton, leg):
            leg = replace(there, side=leg.side, place=leg.place)
        shape = next((one for one in shapes if one.foot == leg.foot), None)
        if shape is not None:
            if not leg.toe and shape.toe and not words.read(shape.toe).helps:
                leg = replace(leg, toe=shape.toe)
            if _in_line(skeleton, shape.thigh, leg.thigh, leg.shin):
                leg = replace(leg, thigh=shape.thigh)
            if _in_line(skeleton, shape.shin, leg.shin, leg.foot):
                leg = replace(leg, shin=shape.shin)
        legs.append(leg)
    return replace(named, legs=tuple(legs))


def _deforming(skeleton, leg):
    """How many bones of thigh, shin and foot deform."""
    return sum(skeleton.bones[name].deform for name in leg.bones[:3])


def _in_line(skeleton, first, half, end):
    """True where ``half`` begins on the straight way from ``first`` above it to ``end``."""
    if first not in skeleton.above[half]:
        return False
    one, other = skeleton.heads[half] - skeleton.heads[first], skeleton.heads[end] - skeleton.heads[half]
    return bool(one @ other > _STRAIGHT * np.linalg.norm(one) * np.linalg.norm(other) > 0.0)


def find_arms(bones, legs):
    """The arms of a skeleton whose legs are known, as Legs with ``place`` HAND: by their names or by their shape, empty
    where there are none."""
    skeleton = Skeleton(bones)
    taken = {bone for leg in legs.legs for bone in leg.bones}
    hips = np.mean([skeleton.heads[leg.thigh] for leg in legs.legs], axis=0)
    length = skeleton.length(legs.legs[0].bones[:3])
    found = []
    for proposal in names.arm_proposals(skeleton.parents):
        bodies = {}
        for arm in _without_copies(skeleton, proposal.limbs):
            if not taken & set(arm.bones):
                body = skeleton.body(arm.thigh) if skeleton.upright else ""
                bodies.setdefault(body, {}).setdefault(arm.side, arm)
        for arms in bodies.values():
            if len(arms) == 2:
                shoulders = np.mean([skeleton.heads[arm.thigh] for arm in arms.values()], axis=0)
                # Those of another character are elsewhere.
                found.append((np.linalg.norm((shoulders - hips)[:2]) // length, len(found), arms))
    if found:
        arms = min(found)[2]
        return arms["L"], arms["R"]
    return arms_by_shape.find_arms(skeleton, legs)


def descent(bones, maps):
    """How far the legs of the first of some maps come down, on average, as a share of their length; 0 without."""
    skeleton = Skeleton(bones)
    legs = [_joints(skeleton, leg) for one in maps[:1] for leg in one.legs]
    return float(np.mean([(hip[2] - heel[2]) / (_length((hip, knee, heel)) or 1.0) for hip, knee, heel in legs] or 0.0))


def _by_names(skeleton):
    """What the best convention names: _Named of each character."""
    best = []
    for proposal in names.proposals(skeleton.parents):
        found = _characters(skeleton, proposal)
        if not best or (found and min(one.rank for one in found) > min(one.rank for one in best)):
            best = found
    return best


def _characters(skeleton, proposal):
    limbs = [_with_ball(skeleton, proposal.convention, limb) for limb in _without_copies(skeleton, proposal.limbs)]
    standing = [limb for limb in limbs if _stands(skeleton, limb)]
    limbs = standing or limbs
    bodies = {}
    for limb in limbs:
        bodies.setdefault(skeleton.body(limb.thigh) if skeleton.upright else "", []).append(limb)
    whole = [group for group in bodies.values() if {limb.side for limb in group} == {"L", "R"}]
    found = []
    for group in chain.from_iterable(_apart(skeleton, one) for one in (whole if len(whole) > 1 else [limbs])):
        legs = names.leg_map(_told_apart(skeleton, group), skeleton.parents, proposal.convention)
        verdict = min(_verdict(skeleton, leg) for leg in legs.legs)
        both, layer, _ = proposal.rank
        found.append(_Named(legs, verdict, (both, verdict, layer, sum(len(leg.bones) for leg in legs.legs))))
    return found


def _apart(skeleton, limbs):
    """The limbs of one body as one group; or where two pairs of the same names begin at one place of it, as legs of
    clothes do beside those that wear them, each pair by itself."""
    left, right = ([limb for limb in limbs if limb.side == side] for side in "LR")
    if any(limb.place for limb in limbs) or len(left) != 2 or len(right) != 2:
        return [limbs]
    hips = [0.5 * (skeleton.heads[a.thigh] + skeleton.heads[b.thigh]) for a, b in zip(left, right, strict=True)]
    if np.linalg.norm((hips[0] - hips[1])[:2]) > _FRONT * _length(_joints(skeleton, left[0])):
        return [limbs]
    return [list(pair) for pair in zip(left, right, strict=True)]


def _without_copies(skeleton, limbs):
    """Of limbs in one place only the one that deforms, or the first."""
    kept = []
    for limb in sorted(limbs, key=lambda limb: -_deforming(skeleton, limb)):
        if not any(limb.side == other.side and _same(skeleton, limb, other) for other in kept):
            kept.append(limb)
    return sorted(kept, key=limbs.index)


def _with_ball(skeleton, convention, limb):
    """A limb whose toe is, of several beside each other, the one in their middle."""
    if not limb.toe:
        return limb
    depth = len(skeleton.above[limb.toe])
    toes = [
        name
        for name in skeleton.bones
        if len(skeleton.above[name]) == depth
        and limb.foot in skeleton.above[name]
        and convention.role(words.read(name)) == "toe"
        and words.read(name).layer == words.read(limb.toe).layer
    ]
    return replace(limb, toe=structure.middle(skeleton, toes)) if len(toes) > 2 and skeleton.height > 0.0 else limb


def _told_apart(skeleton, legs):
    """Legs with a place each: by their names, or where these are the same by where they are."""
    placed = names.placed(legs)
    if len({(leg.side, leg.place) for leg in placed}) == len(placed):
        return placed
    sides = {side: [leg for leg in legs if leg.side == side] for side in ("L", "R")}
    apart = [np.mean([skeleton.heads[leg.thigh] for leg in one], axis=0) for one in sides.values() if one]
    across = apart[0] - apart[-1]
    ahead = np.array([across[1], -across[0], 0.0])
    if len(sides["L"]) != len(sides["R"]):
        return structure.ranked([(skeleton.heads[leg.thigh], [leg]) for leg in legs], ahead)
    ordered = [sorted(one, key=lambda leg: -float(skeleton.heads[leg.thigh] @ ahead)) for one in sides.values()]
    pairs = [(skeleton.heads[left.thigh], [left, right]) for left, right in zip(*ordered, strict=True)]
    return structure.ranked(pairs, ahead)


def _joints(skeleton, leg):
    """Places of hip, knee and heel (3, 3)."""
    return np.array([skeleton.heads[name] for name in (leg.thigh, leg.shin, leg.foot)])


def _length(joints):
    return float(np.linalg.norm(np.diff(joints, axis=0), axis=1).sum())


def _same(skeleton, one, other):
    a, b = _joints(skeleton, one), _joints(skeleton, other)
    return bool(np.linalg.norm(a - b, axis=1).max() < _SAME * max(_length(a), _length(b)))


def _covers(skeleton, more, less):
    """True where each leg of ``less`` is one of ``more``."""
    return all(any(_same(skeleton, one, other) for one in more.legs) for other in less.legs)


def _begins_at_knees(skeleton, named, shaped):
    """True where what is named a thigh is at the knee of a leg by shape, or below: an upper arm that hangs from a
    shoulder blade, as in front legs, begins higher."""
    hips = {leg.shin: skeleton.share(leg.thigh) for leg in shaped.legs}
    return any(
        skeleton.share(leg.thigh) < _KNEE_HEIGHT * hips[bone]
        for leg in named.legs
        for bone in (leg.thigh, *skeleton.above[leg.thigh])
        if bone in hips
    )


def _with_names(skeleton, shaped, named):
    """Legs that were found by their shape, with the bones that names tell of those that they tell."""
    legs = []
    for leg in shaped.legs:
        known = next((one for one in named.legs if _same(skeleton, leg, one)), None)
        legs.append(replace(known, place=leg.place) if known else leg)
    return replace(shaped, legs=tuple(legs))


def _stands(skeleton, leg):
    """True for a leg that comes down to the ground."""
    if not skeleton.upright:
        return True
    hip, lowest = skeleton.share(leg.thigh), skeleton.share(leg.bearer)
    return hip > 0.0 and lowest < _STANDS * hip


def _verdict(skeleton, leg):
    """How the rest pose likes a leg."""
    hip, knee, heel = _joints(skeleton, leg)
    length = _length((hip, knee, heel))
    if not length > 0.0:
        return _IMPOSSIBLE
    share = float(np.linalg.norm(knee - hip)) / length
    if not _POSSIBLE[0] < share < _POSSIBLE[1] or (skeleton.upright and not max(hip[2], knee[2]) > heel[2]):
        return _IMPOSSIBLE
    high = skeleton.upright and skeleton.share(leg.foot) > _HOCK * skeleton.share(leg.thigh)
    return _LIKELY if _KNEE[0] < share < _KNEE[1] and _stands(skeleton, leg) and not high else _ODD
