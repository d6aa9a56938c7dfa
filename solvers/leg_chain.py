"""The leg chain: from a pose and a toe target to the rotations of thigh, shin, foot and toe.

From the article's ``SolveLegChain``: heel target from toe target, two-bone inverse kinematics, the heel turned so
that the toe meets its target, the toe turned so that its end stays above the floor. ``ARTICLE`` are the settings
under which it does exactly that. The default settings go past it in three places, because the article's chain moves a
pose that needs no change and cannot make a leg longer than it was:

- the leg's reach is the identity up to the source's own extension and nears the full length beyond
(``two_bone.reach_limit``);
- where the leg is too short for the heel, the heel rises about the planted toe, up to ``max_pivot``, before the toe
is allowed to slide;
- foot and toe keep the source's heading and roll in the world instead of being carried along by the shin.
"""

from dataclasses import dataclass, fields

import numpy as np

from . import rotations as rot
from . import two_bone

# Share of the angle between foot and leg that a rising heel leaves.
LEAST_FOOT_ANGLE = 0.25


@dataclass(frozen=True)
class LegPose:
    """Joint positions of legs (…, 3) in world space, z up, metres.

    A leg without a toe end has ``toe_end`` equal to ``toe``; one without a foot of any length has ``toe`` equal to
    ``heel``.
    """

    hip: np.ndarray
    knee: np.ndarray
    heel: np.ndarray
    toe: np.ndarray
    toe_end: np.ndarray

    def __post_init__(self):
        shape = np.shape(self.hip)
        if shape[-1:] != (3,):
            raise ValueError(f"LegPose.hip: expected shape (…, 3), got {shape}")
        for field in fields(self):
            if np.shape(getattr(self, field.name)) != shape:
                raise ValueError(
                    f"LegPose.{field.name}: expected shape {shape}, got {np.shape(getattr(self, field.name))}"
                )

    def leg_lengths(self):
        """Length of thigh and shin together, the median over the frames, which come first: (legs,), metres."""
        return np.median(rot.length(self.knee - self.hip) + rot.length(self.heel - self.knee), axis=0)[..., 0]


@dataclass(frozen=True)
class MinimumHeights:
    """The lowest heights of heel, toe and toe end, world z in metres; each broadcasts to the legs (…)."""

    heel: np.ndarray | float
    toe: np.ndarray | float
    toe_end: np.ndarray | float


@dataclass(frozen=True)
class LegChainSettings:
    """``height_clamp``, ``heel_look_at``, ``toe_look_at``: the article's three switches. ``softening``: metres over
    which the leg's extension is clamped softly. ``limit``: ``"reach"``, or ``"pose"`` for the article's (the source's
    own hip-heel distance). ``keep_foot``: foot and toe keep the source's world rotation. ``max_pivot``: how far the
    heel may rise about the toe for a leg that is too short, radians. ``passes``: corrections of the two-bone
    angles."""

    height_clamp: bool = True
    heel_look_at: bool = True
    toe_look_at: bool = True
    softening: float = 0.01
    limit: str = "reach"
    keep_foot: bool = True
    max_pivot: float = np.radians(20.0)
    passes: int = 3


ARTICLE = LegChainSettings(softening=0.005, limit="pose", keep_foot=False, max_pivot=0.0, passes=1)


@dataclass(frozen=True)
class LegSolution:
    """``…_turn`` (…, 4): rotations in world space to put before (left of) the bones' own world rotations. Joint
    positions (…, 3) after the solve; ``heel_target``, ``toe_target`` (…, 3) as they were asked for after the floor;
    ``residual`` (…): how far the toe is from its target, metres."""

    thigh_turn: np.ndarray
    shin_turn: np.ndarray
    foot_turn: np.ndarray
    toe_turn: np.ndarray
    knee: np.ndarray
    heel: np.ndarray
    toe: np.ndarray
    toe_end: np.ndarray
    heel_target: np.ndarray
    toe_target: np.ndarray
    residual: np.ndarray


def solve(pose, toe_target, side, minimum, settings=LegChainSettings(), turn=None):
    """Pose the legs so that each toe comes to its target.

    pose: LegPose of shape (…), e.g. (frames, legs), hips already where they shall be. toe_target: (…, 3) world,
    metres. side: (…, 3) world direction about which the knee bends further (see ``two_bone.solve``). minimum:
    MinimumHeights, used with ``height_clamp``. turn: world rotations (…, 4) of the whole foot about its toe, or None;
    with ``keep_foot`` only. Returns a LegSolution; raises ValueError for a wrong shape or limit.
    Where a leg cannot reach, the toe is left where the leg ends.
    """
    toe_target = np.array(toe_target, float)
    shape = np.shape(pose.hip)
    for name, given in (("toe_target", toe_target), ("side", side)):
        if np.shape(given) != shape:
            raise ValueError(f"{name}: expected shape {shape}, got {np.shape(given)}")
    for height in fields(minimum):
        given = np.shape(getattr(minimum, height.name))
        if any(own not in (1, wanted) for own, wanted in zip(given[::-1], shape[-2::-1], strict=False)):
            raise ValueError(f"minimum.{height.name}: expected a number or shape {shape[:-1]}, got {given}")
    if settings.limit not in ("reach", "pose"):
        raise ValueError(f'limit: expected "reach" or "pose", got {settings.limit!r}')
    foot = pose.toe - pose.heel
    if settings.keep_foot and turn is not None:
        foot = rot.rotate(turn, foot)

    if settings.height_clamp:
        toe_target[..., 2] = np.maximum(toe_target[..., 2], minimum.toe)
    heel_target = toe_target - foot
    if settings.height_clamp:
        heel_target = _raised(heel_target, toe_target, minimum.heel, keep_length=settings.keep_foot)

    within_reach = _within_reach(pose, heel_target, toe_target, settings)
    leg = two_bone.solve(pose.hip, pose.knee, pose.heel, within_reach, side, settings.passes)
    heel = leg.heel_world

    # Before it looks at its target, a foot either keeps its heading in the world or is carried along by the shin.
    carried = leg.knee
    if settings.keep_foot:
        carried = np.broadcast_to(rot.IDENTITY, leg.knee.shape) if turn is None else turn
    foot_turn = carried
    if settings.heel_look_at:
        look = rot.between(rot.rotate(carried, pose.toe - pose.heel), toe_target - heel)
        if settings.keep_foot:
            look = _at_most(look, settings.max_pivot + _angle(foot, toe_target - heel_target))
        foot_turn = rot.multiply(look, carried)
    toe = heel + rot.rotate(foot_turn, pose.toe - pose.heel)

    toe_turn = carried if settings.keep_foot else foot_turn
    toe_end = toe + rot.rotate(toe_turn, pose.toe_end - pose.toe)
    if settings.toe_look_at and settings.height_clamp:
        goal = _raised(toe_end, toe, minimum.toe_end, keep_length=settings.keep_foot)
        look = rot.between(toe_end - toe, goal - toe)
        toe_turn = rot.multiply(look, toe_turn)
        toe_end = toe + rot.rotate(look, toe_end - toe)

    return LegSolution(
        thigh_turn=leg.hip,
        shin_turn=leg.knee,
        foot_turn=foot_turn,
        toe_turn=toe_turn,
        knee=leg.knee_world,
        heel=heel,
        toe=toe,
        toe_end=toe_end,
        heel_target=heel_target,
        toe_target=toe_target,
        residual=rot.length(toe - toe_target)[..., 0],
    )


def _raised(points, pivot, minimum, keep_length):
    """Points (…, 3) no lower than ``minimum``. The article only lifts them, which makes the bone from ``pivot``
    shorter or longer than it is; with ``keep_length`` a point keeps its distance from the pivot by moving nearer to
    it over the floor."""
    lifted = points.copy()
    lifted[..., 2] = np.maximum(points[..., 2], minimum)
    if not keep_length:
        return lifted
    offset = points - pivot
    rise = lifted[..., 2:] - pivot[..., 2:]
    room = np.sqrt(np.maximum(rot.dot(offset, offset) - rise**2, 0.0))
    lifted[..., :2] = pivot[..., :2] + rot.normalized(offset[..., :2]) * room
    return np.where(lifted[..., 2:] > points[..., 2:], lifted, points)


def _angle(a, b):
    """Angles (…, 1) between vectors, radians."""
    return np.arctan2(rot.length(rot.cross(a, b)), rot.dot(a, b))


def _at_most(turn, angle):
    """Rotations (…, 4) about the same axes by no more than ``angle`` (…, 1)."""
    sine = rot.length(turn[..., 1:])
    half = np.minimum(np.arctan2(sine, turn[..., :1]), 0.5 * angle)
    axis = turn[..., 1:] / np.where(sine > 0.0, sine, 1.0)
    return np.concatenate([np.cos(half), np.sin(half) * axis], axis=-1)


def _within_reach(pose, heel_target, toe_target, settings):
    """Heel targets that the legs can reach, by the limit of the settings."""
    offset = heel_target - pose.hip
    wanted = rot.length(offset)
    source = rot.length(pose.heel - pose.hip)
    if settings.limit == "pose":
        return _shortened(pose.hip, heel_target, two_bone.soft_clamp(wanted, source, settings.softening))

    full = rot.length(pose.knee - pose.hip) + rot.length(pose.heel - pose.knee)
    allowed = two_bone.reach_limit(wanted, source, full, settings.softening)
    if settings.max_pivot > 0.0:
        heel_target = np.where(
            wanted > allowed, _pivoted(pose.hip, heel_target, toe_target, allowed, settings.max_pivot), heel_target
        )
        wanted = rot.length(heel_target - pose.hip)
    return _shortened(pose.hip, heel_target, np.minimum(wanted, allowed))


def _shortened(hip, target, allowed):
    """Targets (…, 3) brought along the line from the hip to the distance ``allowed`` (…, 1); those already there stay
    to the bit."""
    offset = target - hip
    wanted = rot.length(offset)
    return np.where(allowed < wanted, hip + offset * (allowed / np.where(wanted > 0.0, wanted, 1.0)), target)


def _pivoted(hip, heel, toe, allowed, most):
    """Heels turned about the toe towards the hip, in the plane of the three, until the hip is ``allowed`` away; at
    most by ``most`` radians.

    The angle is clamped softly over its last half, so that a foot comes to its most pitch without a stop.
    """
    to_hip, to_heel = hip - toe, heel - toe
    far, foot = rot.length(to_hip), rot.length(to_heel)
    along = rot.normalized(to_hip)
    square = rot.normalized(to_heel - along * rot.dot(to_heel, along))
    has_angle = (far > 0.0) & (foot > 0.0)
    product = np.where(has_angle, far * foot, 1.0)
    source_angle = np.arccos(np.clip(rot.dot(to_hip, to_heel) / product, -1.0, 1.0))
    # A foot in line with the leg can be turned no further, and the last degrees before it gain next to nothing and
    # would be taken at any speed: the heel stays out of the last quarter.
    most_in_line = np.cos(LEAST_FOOT_ANGLE * source_angle)
    wanted_angle = np.arccos(np.clip((far**2 + foot**2 - allowed**2) / (2.0 * product), -1.0, most_in_line))
    turn = two_bone.soft_clamp(np.maximum(source_angle - wanted_angle, 0.0), most, 0.5 * most)
    angle = source_angle - turn
    return np.where(has_angle, toe + foot * (np.cos(angle) * along + np.sin(angle) * square), heel)
