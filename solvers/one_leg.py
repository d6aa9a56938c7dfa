"""The leg chain of one leg in one frame, for what has to be quick: ``leg_chain.solve`` with its default switches, in
plain numbers.

It gives the same turns (the tests compare them) in about a fiftieth of the time that arrays of a single leg take.
"""

from dataclasses import dataclass
from math import acos, atan2, cos, exp, sin, sqrt

from .leg_chain import LEAST_FOOT_ANGLE
from .plain import (
    IDENTITY,
    about,
    add,
    along,
    between,
    cross,
    dot,
    length,
    multiply,
    normalized,
    rotate,
    scaled,
    sub,
)
from .two_bone import STRAIGHT, ZERO_LENGTH

_NONE = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class OneLeg:
    """``thigh``, ``shin``, ``foot``, ``toe``: turns, (w, x, y, z) in world space, to put before the bones' own
    rotations. ``toe_place``: where the toe is then; ``residual``: how far that is from its target, metres."""

    thigh: tuple
    shin: tuple
    foot: tuple
    toe: tuple
    toe_place: tuple
    residual: float


def solve(hip, knee, heel, toe, toe_end, target, side, lowest, settings):
    """Pose a leg so that its toe comes to ``target``.

    hip, knee, heel, toe, toe_end, target: (x, y, z), world, metres; side: world direction about which the knee bends
    further; lowest: heights under which heel, toe and toe end do not go; settings: LegChainSettings with the limit
    "reach", ``keep_foot``, ``height_clamp`` and both look-ats. Returns a OneLeg.
    """
    foot = sub(toe, heel)
    target = (target[0], target[1], max(target[2], lowest[1]))
    asked = _raised(sub(target, foot), target, lowest[0])
    heel_target = _within_reach(hip, knee, heel, asked, target, settings)
    thigh_turn, shin_turn, new_heel = _two_bones(hip, knee, heel, heel_target, side, settings.passes)

    most = settings.max_pivot + _angle(foot, sub(target, asked))
    foot_turn = _at_most(between(foot, sub(target, new_heel)), most)
    new_toe = add(new_heel, rotate(foot_turn, foot))
    toe_turn = IDENTITY
    end = add(new_toe, sub(toe_end, toe))
    goal = _raised(end, new_toe, lowest[2])
    if goal is not end:
        toe_turn = between(sub(end, new_toe), sub(goal, new_toe))
    return OneLeg(thigh_turn, shin_turn, foot_turn, toe_turn, new_toe, length(sub(new_toe, target)))


def _raised(point, pivot, minimum):
    """A point no lower than ``minimum``, as far from the pivot as it was; the same object where it is not lower."""
    if point[2] >= minimum:
        return point
    offset, rise = sub(point, pivot), minimum - pivot[2]
    room = sqrt(max(dot(offset, offset) - rise * rise, 0.0))
    level = sqrt(offset[0] ** 2 + offset[1] ** 2)
    share = room / level if level > 0.0 else 0.0
    return pivot[0] + offset[0] * share, pivot[1] + offset[1] * share, minimum


def _angle(a, b):
    return atan2(length(cross(a, b)), dot(a, b))


def _at_most(turn, angle):
    axis = turn[1:]
    sine = length(axis)
    half = atan2(sine, turn[0])
    if half <= 0.5 * angle or sine == 0.0:
        return turn
    return cos(0.5 * angle), *scaled(axis, sin(0.5 * angle) / sine)


def _soft_clamp(distance, limit, softening):
    start = limit - softening
    if distance <= start:
        return distance
    return start + (softening * (1.0 - exp((start - distance) / softening)) if softening > 0.0 else 0.0)


def _within_reach(hip, knee, heel, target, toe, settings):
    """The heel's target, brought to where the leg reaches: by a heel that rises about the toe, then along the leg."""
    wanted, source = length(sub(target, hip)), length(sub(heel, hip))
    full = length(sub(knee, hip)) + length(sub(heel, knee))
    allowed = _soft_clamp(wanted, full, full - max(full - settings.softening, min(source, full)))
    if wanted > allowed and settings.max_pivot > 0.0:
        target = _pivoted(hip, target, toe, allowed, settings.max_pivot)
        wanted = length(sub(target, hip))
    return target if wanted <= allowed else along(hip, sub(target, hip), allowed / wanted)


def _pivoted(hip, heel, toe, allowed, most):
    to_hip, to_heel = sub(hip, toe), sub(heel, toe)
    far, foot = length(to_hip), length(to_heel)
    if far <= 0.0 or foot <= 0.0:
        return heel
    way = scaled(to_hip, 1.0 / far)
    square = normalized(along(to_heel, way, -dot(to_heel, way)))
    source_angle = _arccos(dot(to_hip, to_heel) / (far * foot))
    cosine = (far * far + foot * foot - allowed * allowed) / (2.0 * far * foot)
    wanted_angle = acos(min(max(cosine, -1.0), cos(LEAST_FOOT_ANGLE * source_angle)))
    angle = source_angle - _soft_clamp(max(source_angle - wanted_angle, 0.0), most, 0.5 * most)
    return along(along(toe, way, foot * cos(angle)), square, foot * sin(angle))


def _two_bones(hip, knee, heel, target, side, passes):
    """Turns of thigh and shin that bring the heel to its target, and where it is then."""
    to_knee, to_heel, to_target = sub(knee, hip), sub(heel, knee), sub(target, hip)
    thigh, shin, wanted = length(to_knee), length(to_heel), length(to_target)
    tiny = ZERO_LENGTH * (thigh + shin)
    turnable = thigh > tiny and shin > tiny
    bend_hip = bend_knee = IDENTITY
    upper, lower = to_knee, to_heel  # as they are bent so far
    axis = _square_axis(normalized(sub(heel, hip), normalized(to_knee)), side)
    least = tiny * tiny if tiny > 0.0 else 1.0
    hip_goal = _arccos((thigh**2 + wanted**2 - shin**2) / max(2.0 * thigh * wanted, least))
    knee_goal = _arccos((thigh**2 + shin**2 - wanted**2) / max(2.0 * thigh * shin, least))
    for i in range(passes):
        one, other = normalized(upper), normalized(lower)
        if i > 0:
            normal = cross(one, other)
            if length(normal) > STRAIGHT and dot(normal, axis) < 0.0:
                axis = scaled(normalized(normal), -1.0)
        if turnable:
            to_end = normalized(add(upper, lower))
            r0 = about(axis, hip_goal - _arccos(dot(to_end, one)))
            r1 = about(axis, knee_goal - _arccos(-dot(one, other)))
            bend_hip, bend_knee = multiply(r0, bend_hip), multiply(r0, multiply(r1, bend_knee))
            upper, lower = rotate(bend_hip, to_knee), rotate(bend_knee, to_heel)
    aim_from = sub(heel, hip) if passes == 1 else add(upper, lower)
    if length(aim_from) > tiny and wanted > tiny:
        aim = between(aim_from, to_target)
        bend_hip, bend_knee = multiply(aim, bend_hip), multiply(aim, bend_knee)
    return bend_hip, bend_knee, add(add(hip, rotate(bend_hip, to_knee)), rotate(bend_knee, to_heel))


def _square_axis(down, side):
    forward = normalized(cross(down, side))
    if forward == _NONE:
        least = min(range(3), key=lambda i: abs(down[i]))
        forward = normalized(cross(down, cross(down, tuple(float(i == least) for i in range(3)))))
    return normalized(cross(down, forward))


def _arccos(cosine):
    return acos(min(max(cosine, -1.0), 1.0))
