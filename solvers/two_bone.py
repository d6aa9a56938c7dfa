"""Two-bone inverse kinematics: hip and knee turned so that the heel meets its target.

From the article's ``TwoBoneInverseKinematics``: a side vector in place of a pole, and angles that are added to those
of the pose, so that the pose is changed as little as the target asks for. What is added: ``passes`` (a second look at
the angles, since the side vector is seldom exactly square to the leg), and an answer for each degenerate leg.
"""

from dataclasses import dataclass

import numpy as np

from . import rotations as rot

# Lengths below this share of the leg's are taken as zero.
ZERO_LENGTH = 1e-9
# Sine of a bend below which the plane of a leg is rounding.
STRAIGHT = 1e-6


@dataclass(frozen=True)
class TwoBoneResult:
    """``hip``, ``knee``: the rotations (…, 4), in world space, to put before (left of) the bones' own world rotations.
    ``knee_world``, ``heel_world`` (…, 3): where knee and heel come to be. ``residual`` (…): heel to target, metres."""

    hip: np.ndarray
    knee: np.ndarray
    knee_world: np.ndarray
    heel_world: np.ndarray
    residual: np.ndarray


def soft_clamp(distance, limit, softening):
    """The article's soft clamp of a length: up to ``limit - softening`` itself, then towards ``limit`` exponentially.

    All metres and broadcast. With ``softening`` 0 the clamp is hard.
    """
    distance, limit, softening = np.broadcast_arrays(*(np.asarray(a, float) for a in (distance, limit, softening)))
    start = limit - softening
    beyond = np.maximum(distance - start, 0.0)
    soft = softening > 0.0
    saturation = np.where(soft, 1.0 - np.exp(-beyond / np.where(soft, softening, 1.0)), 0.0)
    return np.where(distance > start, start + softening * saturation, distance)


def reach_limit(distance, source, full, softening):
    """The length that a leg takes when it is asked for ``distance``: Footlock's own reach function (all metres,
    broadcast).

    Itself up to where it starts to bend, which is ``full - softening`` or the ``source``'s own length, whichever is
    longer; from there on with slope 1 at first (C1), towards ``full``, which it nears and never passes. So the
    source's own length always comes back unchanged.
    """
    start = np.maximum(full - softening, np.minimum(source, full))
    return soft_clamp(distance, full, full - start)


def solve(hip, knee, heel, target, side, passes=1):
    """Turn hip and knee so that the heel comes to ``target`` without changing the bones' lengths.

    hip, knee, heel, target: (…, 3) world positions, metres. side: (…, 3) world direction about which a positive turn
    bends the knee further; cross(thigh, shin) of a bent leg. passes: how often the angles are corrected; 1 is the
    article's solution, each further pass takes away most of what is left where ``side`` is not square to the leg.

    A target beyond reach leaves the leg straight towards it, one nearer than the folded leg leaves it folded;
    ``residual`` says by how much it missed. A target on the hip has no direction, and the leg keeps its own. A
    straight leg bends about ``side``, or where that lies along the leg about any direction square to it. A bone
    without length does not turn.
    """
    hip, knee, heel, target, side = np.broadcast_arrays(
        *(np.asarray(a, float) for a in (hip, knee, heel, target, side))
    )
    thigh, shin = rot.length(knee - hip), rot.length(heel - knee)
    tiny = ZERO_LENGTH * (thigh + shin)

    bend_hip = np.broadcast_to(rot.IDENTITY, (*hip.shape[:-1], 4))
    bend_knee = bend_hip
    bent_knee, bent_heel = knee, heel
    wanted = rot.length(target - hip)
    axis = _square_axis(rot.normalized(heel - hip, fallback=rot.normalized(knee - hip)), side)
    for i in range(passes):
        if i > 0:
            axis = _bend_axis(hip, bent_knee, bent_heel, axis)
        hip_angle, knee_angle = _interior_angles(hip, bent_knee, bent_heel)
        hip_goal, knee_goal = _angles_for(thigh, shin, wanted, tiny)
        turnable = (thigh > tiny) & (shin > tiny)
        r0 = rot.from_scaled_angle_axis(axis * np.where(turnable, hip_goal - hip_angle, 0.0))
        r1 = rot.from_scaled_angle_axis(axis * np.where(turnable, knee_goal - knee_angle, 0.0))
        # The knee turns first, in the pose as it stands, then the hip carries both: r0 · r1, as the article
        # multiplies them.
        bend_hip = rot.multiply(r0, bend_hip)
        bend_knee = rot.multiply(r0, rot.multiply(r1, bend_knee))
        bent_knee = hip + rot.rotate(bend_hip, knee - hip)
        bent_heel = bent_knee + rot.rotate(bend_knee, heel - knee)

    # As the article does, the leg is aimed by what stood between hip and heel in the pose when one pass is asked for;
    # what the bend turned out to be is the better reference once it was corrected.
    aim_from = heel - hip if passes == 1 else bent_heel - hip
    degenerate = (rot.length(aim_from) <= tiny) | (wanted <= tiny)
    aim = np.where(degenerate, rot.IDENTITY, rot.between(aim_from, np.where(degenerate, aim_from, target - hip)))
    turn_hip, turn_knee = rot.multiply(aim, bend_hip), rot.multiply(aim, bend_knee)
    knee_world = hip + rot.rotate(turn_hip, knee - hip)
    heel_world = knee_world + rot.rotate(turn_knee, heel - knee)
    residual = rot.length(target - heel_world)[..., 0]
    return TwoBoneResult(turn_hip, turn_knee, knee_world, heel_world, residual)


def _bend_axis(hip, knee, heel, axis):
    """The axis about which a leg that is bent is bent: minus the normal of its plane. ``axis`` stays where the leg is
    straight, or bends to the other side, so that a knee that is a little over-stretched comes forward and does not bend
    further back."""
    normal = rot.cross(rot.normalized(knee - hip), rot.normalized(heel - knee))
    bent = (rot.length(normal) > STRAIGHT) & (rot.dot(normal, axis) < 0.0)
    return np.where(bent, -rot.normalized(normal), axis)


def _square_axis(down, side):
    """The axis about which the article turns: minus the part of ``side`` that is square to ``down``."""
    forward = rot.normalized(rot.cross(down, side))
    least = np.eye(3)[np.argmin(np.abs(down), axis=-1)]
    forward = np.where(rot.length(forward) > 0.0, forward, rot.normalized(rot.cross(down, rot.cross(down, least))))
    return rot.normalized(rot.cross(down, forward))


def _interior_angles(hip, knee, heel):
    """The angles at hip and knee inside the triangle (…, 1), radians."""
    to_knee, to_heel, shin = rot.normalized(knee - hip), rot.normalized(heel - hip), rot.normalized(heel - knee)
    return _arccos(rot.dot(to_heel, to_knee)), _arccos(-rot.dot(to_knee, shin))


def _angles_for(thigh, shin, wanted, tiny):
    """The angles at hip and knee (…, 1) of a triangle with these sides, by the law of cosines, clamped where there is
    none."""
    least = np.where(tiny > 0.0, tiny**2, 1.0)
    hip = _arccos((thigh**2 + wanted**2 - shin**2) / np.maximum(2.0 * thigh * wanted, least))
    knee = _arccos((thigh**2 + shin**2 - wanted**2) / np.maximum(2.0 * thigh * shin, least))
    return hip, knee


def _arccos(cosine):
    return np.arccos(np.clip(cosine, -1.0, 1.0))
