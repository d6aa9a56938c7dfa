"""Arms found by the shape of a skeleton whose legs are known: the longest chain on each side of the body that is no leg
and begins higher than the hips, with an elbow about halfway, up to the bone from which fingers spread."""

from itertools import pairwise

import numpy as np

from .names import HAND, Leg

# Bones beside the plane between the legs by less than this share of the height are in the middle of the body.
_MIDDLE = 0.03
# A collarbone is shorter than this share of the bone after it.
_COLLAR = 0.7
# What is left of a single finger behind the hand is shorter than this share of the longest bone of the arm.
_FINGER = 0.4
# A bone of the palm begins nearer to the wrist than this share of the forearm's length.
_PALM = 0.2
_FINGERS = 3
# Arms are no shorter than this share of the legs: ears and eyebrows are pairs, too.
_LEAST = 0.4


def find_arms(skeleton, legs):
    """Arms of a Skeleton with the LegMap of a biped, as Legs with ``place`` HAND, the left one first; empty where there
    are none."""
    left = [leg for leg in legs.legs if leg.side == "L"]
    right = [leg for leg in legs.legs if leg.side == "R"]
    if len(legs.legs) > 2 or not left or not right or not skeleton.height > 0.0:
        return ()
    ends = [np.mean([skeleton.heads[leg.thigh] for leg in side], axis=0) for side in (left, right)]
    across, centre = (ends[0] - ends[1]) * (1.0, 1.0, 0.0), 0.5 * (ends[0] + ends[1])
    across /= np.linalg.norm(across) or 1.0
    taken = {bone for leg in legs.legs for bone in leg.bones}
    chains = {"L": [], "R": []}
    for name in skeleton.bones:
        aside = float((skeleton.heads[name] - centre) @ across)
        if abs(aside) < _MIDDLE * skeleton.height or skeleton.heads[name][2] < centre[2]:
            continue
        parent = skeleton.parents[name]
        if parent is not None and abs(float((skeleton.heads[parent] - centre) @ across)) < _MIDDLE * skeleton.height:
            chain = _arm(skeleton, name)
            copies = chain and any(not skeleton.is_far(chain[0], leg.thigh) for leg in legs.legs)
            if chain and not copies and not taken & set(chain):
                chains["L" if aside > 0.0 else "R"].append(chain)
    least = _LEAST * min(skeleton.length(leg.bones[:3]) for leg in legs.legs)
    pairs = [
        (one, other)
        for one in chains["L"]
        for other in chains["R"]
        if skeleton.are_mirrored(one[:3], other[:3], centre) and skeleton.length(one[:3]) > least
    ]
    if not pairs:
        return ()
    longest = max(pairs, key=lambda pair: _rank(skeleton, pair[0][:3]))
    if not skeleton.are_mirrored(*longest, centre):  # one hand holds something, or has other fingers
        longest = [chain[:3] for chain in longest]
    return tuple(Leg(side, *chain, place=HAND) for side, chain in zip("LR", longest, strict=True))


def _arm(skeleton, top):
    """Upper arm, forearm, hand and where there are fingers the middle one, below a bone; None without."""
    chain = [top]
    while (below := skeleton.children[chain[-1]]) and sum(bool(skeleton.children[one]) for one in below) < _FINGERS:
        chain.append(max(below, key=lambda name: _reach(skeleton, name)))
    joints = skeleton.joints(chain)
    steps = [skeleton.distance(*pair) for pair in pairwise(joints)]
    while len(joints) > 3 and steps[0] < _COLLAR * steps[1]:
        joints, steps = joints[1:], steps[1:]
    while len(joints) > 3 and steps[-1] < _FINGER * max(steps):
        joints, steps = joints[:-1], steps[:-1]
    if len(joints) < 3 or (elbow := skeleton.knee(joints)) is None:
        return None
    hand = joints[-1]
    return joints[0], elbow, hand, *_knuckle(skeleton, hand, _PALM * skeleton.distance(elbow, hand))


def _knuckle(skeleton, hand, palm):
    """The longest finger, which is the middle one, from its knuckle, in a tuple: bones of the palm begin at the wrist
    and are none."""
    fingers = []
    for name in skeleton.children[hand]:
        if skeleton.distance(name, hand) < palm and skeleton.children[name]:
            name = max(skeleton.children[name], key=lambda child: skeleton.distance(child, hand))
        if skeleton.distance(name, hand) >= palm:
            fingers.append(name)
    lengths = {name: skeleton.distance(name, hand) + _reach(skeleton, name) for name in fingers}
    return (max(fingers, key=lengths.get),) if fingers else ()


def _reach(skeleton, name):
    """How far the bones below one go on."""
    below = [skeleton.distance(name, child) + _reach(skeleton, child) for child in skeleton.children[name]]
    return max(below, default=0.0)


def _rank(skeleton, chain):
    """The longest arm is taken, and of copies in one place the one that deforms."""
    length = round(skeleton.length(chain) / skeleton.height, 3)
    return length, sum(skeleton.bones[name].deform for name in chain)
