"""From a clip's legs and contacts to the correction of its pose: the whole of the method on arrays.

Offline, the pelvis and the toes share the correction (``slide_removal``); at run time the toes alone are locked,
causally (``foot_lock``). Either way the legs then reach for the toes (``leg_chain``).
"""

from dataclasses import dataclass, field, replace

import numpy as np

from . import foot_lock, foot_turn, leg_chain, lift, slide_removal
from . import ground as grounds
from . import rotations as rot
from .contacts import FLOOR_PERCENTILE, PLANTED_ABOVE, runs
from .ground import Ground

# A planted toe further than this from its place (metres) is out of reach.
OUT_OF_REACH = 1e-4
# A pelvis or toe that moves less than this (metres) does not move: it is what single precision leaves of a clip that
# was solved before, and a knee that is nearly straight would make a tenth of a millimetre of it.
STILL = 2e-6
# A contact whose height on uneven ground changes by less than this (metres) with its place has found it.
_PLACED, _MOST_PLACINGS = 1e-4, 4
# ... and a free toe that is no deeper in it than this (metres) is over it.
_CLEAR = 5e-3
# What asks a heel or toe end to rise by more than this (metres) is a wall, such as the front of the next stair.
_STEP = 0.08
# How a foot that starts under the floor comes to it: its acceleration, m/s². A knee that is all but straight makes much
# more of it.
_LEAVE = 0.6
# How long the whole motion takes from pinned frames to the height of another floor, seconds.
RISE_TIME = 0.5
# A clip in which nothing moves further than this (metres) was corrected before.
_DONE = 2e-5
# A leg begins to stretch over this part of the softening.
_STRETCH_SOFTLY = 0.2
METHODS = ("offline", "runtime")
_NO_FLOOR = leg_chain.MinimumHeights(-np.inf, -np.inf, -np.inf)


@dataclass(frozen=True)
class Settings:
    """``method``: "offline" or "runtime". ``chain``: of the leg solver. ``lock``: of the runtime lock. ``terms``: of
    the offline pass. ``keep_dips``: feet that are under the floor in the source may stay there. ``hold_heading``:
    planted feet do not turn about the vertical. ``follow_slope``: 0..1, how far planted feet pitch with the ground.
    ``stretch``: by which share of its length a leg may become longer where it is too short."""

    method: str = "offline"
    chain: leg_chain.LegChainSettings = field(default_factory=leg_chain.LegChainSettings)
    lock: foot_lock.FootLockSettings = field(default_factory=foot_lock.FootLockSettings)
    terms: slide_removal.Terms = field(
        default_factory=lambda: slide_removal.Terms(smoothing=1.0 / 30.0, lower_hips=0.2)
    )
    keep_dips: bool = False
    hold_heading: bool = False
    follow_slope: float = 1.0
    stretch: float = 0.0


@dataclass(frozen=True)
class Placements:
    """Where contacts shall stand, given by hand, each the same in all frames of its contact. ``places`` (frames, legs,
    2): of the toe over the ground, world, metres, NaN for where it is found; ``lift`` (frames, legs): metres over the
    ground; ``turn`` (frames, legs): radians by which the foot is turned about the vertical."""

    places: np.ndarray
    lift: np.ndarray
    turn: np.ndarray

    def at(self, frames):
        """The same for some frames, indices."""
        return Placements(self.places[frames], self.lift[frames], self.turn[frames])


@dataclass(frozen=True)
class Correction:
    """``pelvis`` (frames, 3), metres, world. ``legs``: the LegSolution. ``locked`` (frames, legs): frames in which a
    toe is held. ``ground`` (legs,): the height at which, world z, over level ground. ``out_of_reach`` (frames, legs):
    held, but the leg is too short. ``steps`` and ``converged`` of the offline pass. ``stretch`` (frames, legs): how
    many times as long thigh and shin are."""

    pelvis: np.ndarray
    legs: leg_chain.LegSolution
    locked: np.ndarray
    ground: np.ndarray
    out_of_reach: np.ndarray
    steps: int
    converged: bool
    stretch: np.ndarray


def remove_sliding(
    pelvis,
    pose,
    side,
    contacts,
    frame_rate,
    settings=Settings(),
    ground=None,
    pinned=None,
    cyclic=False,
    placements=None,
    each_step=None,
):
    """The correction under which the toes in contact stand still.

    pelvis: (frames, 3); pose: LegPose (frames, legs); side: (frames, legs, 3), see ``knee_side``; contacts: (frames,
    legs), bool or numbers as ``slide_removal.solve`` takes them; frame_rate: Hz. ground: Ground, or None for a level
    one at the height at which the feet stand. pinned: (frames,) bool, frames that stay as they are; cyclic: the last
    frame is the first again; placements: Placements, or None, of the offline pass. each_step: see
    ``slide_removal.solve``. World space, z up, metres. Returns a Correction; where nothing is in contact it changes
    nothing. Raises ValueError for an unknown method or shapes that do not fit.
    """
    if settings.method not in METHODS:
        raise ValueError(f"method: expected one of {METHODS}, got {settings.method!r}")
    contacts = np.asarray(contacts, float)
    if np.shape(pose.toe) != (*contacts.shape, 3) or np.shape(pelvis) != (len(contacts), 3):
        raise ValueError(
            f"expected pelvis (frames, 3) and a pose (frames, legs, 3) for contacts {contacts.shape},"
            f" got {np.shape(pelvis)} and {np.shape(pose.toe)}"
        )
    if settings.method == "runtime":
        return _at_run_time(pelvis, pose, side, contacts > PLANTED_ABOVE, frame_rate, settings)
    ground = ground or Ground.of_contacts(pose, contacts > 0.0)
    if not (contacts > 0.0).any():
        return _unchanged(pelvis, pose, side, contacts, ground, settings)

    floor = None if settings.keep_dips else ground.under(pose.toe, "toe")
    away = _away(pinned, len(contacts), frame_rate)
    leave = 0.5 * _LEAVE * away**2
    t = np.minimum(away / RISE_TIME, 1.0)
    eased = t * t * (3.0 - 2.0 * t)
    lowest_there = pose.toe[..., 2] + leave
    if floor is not None:
        floor = np.minimum(floor, lowest_there)
    given = _given_places(placements, contacts > 0.0)
    source, places = (pose.toe if given is None else np.where(np.isnan(given), pose.toe, given)), given
    for tries in range(_MOST_PLACINGS + 1):
        turn = _turned_feet(pose, source, contacts >= 1.0, ground, leave == 0.0, settings, cyclic, placements)
        reach = _reach(pelvis, pose, turn, settings)
        heights = ground.of_each_contact(source, contacts > 0.0)
        if not ground.followed:
            heights = ground.eased(heights, contacts > 0.0, eased[:, 0])
        if placements is not None:
            heights = heights + placements.lift
        rise = ground.rise(heights, contacts > 0.0, frame_rate)
        rise = None if rise is None else eased * rise
        if floor is not None and not (ground.level and ground.up == 0.0):
            floor = np.minimum(ground.over_steps(source, heights, contacts > 0.0, frame_rate), lowest_there)
        solution = slide_removal.solve(
            pelvis,
            pose.toe,
            contacts,
            heights,
            frame_rate,
            reach,
            settings.terms,
            floor,
            pinned,
            cyclic,
            rise,
            places,
            each_step,
        )
        if ground.level:
            break
        moved = ground.of_each_contact(solution.toes, contacts > 0.0) - ground.of_each_contact(source, contacts > 0.0)
        unsettled = solution.locked & (np.abs(moved) > _PLACED)
        under = np.zeros(1)
        if floor is not None:
            over = ground.over_steps(solution.toes, heights, contacts > 0.0, frame_rate)
            under = np.minimum(over, lowest_there) - solution.toes[..., 2]
        if not unsettled.any() and under[~solution.locked].max(initial=0.0) < _CLEAR:
            break
        source = solution.toes
        if tries == _MOST_PLACINGS - 1 and not cyclic:
            # Between two steps of a stair, or on a steep slope: it stands where it is now, at the height of this place.
            places = _places(source, contacts > 0.0, unsettled)
            places = places if given is None else np.where(np.isnan(given), places, given)

    new_pelvis, targets = _unless_still(solution.pelvis, pelvis), _unless_still(solution.toes, pose.toe)
    if max(np.abs(new_pelvis - pelvis).max(), np.abs(targets - pose.toe).max()) < _DONE:
        new_pelvis, targets = pelvis, pose.toe
    lowest = _lowest(pose, targets, turn, ground, contacts > 0.0, leave, frame_rate, settings, cyclic)
    pose = _moved(pose, (new_pelvis - pelvis)[:, None])
    stretch = _stretches(pose, targets, turn, settings)
    legs = leg_chain.solve(_stretched(pose, stretch), targets, side, lowest, settings.chain, turn)
    out_of_reach = solution.locked & (legs.residual > OUT_OF_REACH)
    return Correction(
        new_pelvis, legs, solution.locked, ground.toe, out_of_reach, solution.steps, solution.converged, stretch
    )


def standing_heights(pose, contacts):
    """The heights, world z, metres, at which the runtime lock has the feet of a LegPose (frames, legs) stand, from the
    whole clip: MinimumHeights (legs,). ``toe`` is where toes are locked; no joint goes lower than it, or than the
    source has it."""

    def floor(points):
        legs = range(points.shape[1])
        return np.array([_height(points[:, leg, 2], contacts[:, leg], FLOOR_PERCENTILE) for leg in legs])

    toe = grounds.toe_heights(pose.toe, contacts)
    return leg_chain.MinimumHeights(floor(pose.heel), toe, floor(pose.toe_end))


def _at_run_time(pelvis, pose, side, contacts, frame_rate, settings):
    """The Correction of toes that are locked frame by frame."""
    heights = standing_heights(pose, contacts)
    targets, locked = foot_lock.lock(pose.toe, contacts, heights.toe, 1.0 / frame_rate, settings.lock)
    joints = ("heel", "toe", "toe_end")
    lowest = leg_chain.MinimumHeights(
        *(np.minimum(getattr(pose, joint)[..., 2], getattr(heights, joint)) for joint in joints)
    )
    legs = leg_chain.solve(pose, _unless_still(targets, pose.toe), side, lowest, settings.chain)
    out_of_reach = locked & (legs.residual > OUT_OF_REACH)
    return Correction(pelvis, legs, locked, heights.toe, out_of_reach, 0, True, np.ones(contacts.shape))


def _unchanged(pelvis, pose, side, contacts, ground, settings):
    legs = leg_chain.solve(pose, pose.toe, side, _NO_FLOOR, settings.chain)
    none = np.zeros(contacts.shape, bool)
    return Correction(np.array(pelvis, float), legs, none, ground.toe, none, 0, True, np.ones(contacts.shape))


def _given_places(placements, contacts):
    """Places (frames, legs, 3) that Placements give to contacts (frames, legs) bool, whose height is that of the
    ground; NaN for the others, None without any."""
    if placements is None or not (np.isfinite(placements.places[..., 0]) & contacts).any():
        return None
    places = np.where(contacts[..., None], placements.places, np.nan)
    return np.concatenate([places, 0.0 * places[..., :1]], axis=-1)


def _places(toes, contacts, unsettled):
    """Where contacts stand of which some frames are ``unsettled`` (frames, legs): the middle of their toes; NaN
    elsewhere, (frames, legs, 3)."""
    places = np.full(toes.shape, np.nan)
    for leg in range(contacts.shape[1]):
        for start, stop in runs(contacts[:, leg]):
            if unsettled[start:stop, leg].any():
                places[start:stop, leg] = toes[start:stop, leg].mean(axis=0)
    return places


def _away(pinned, frames, frame_rate):
    """Seconds from the nearest of the pinned frames (frames,) bool: (frames, 1), infinite without any."""
    if pinned is None or not pinned.any():
        return np.full((frames, 1), np.inf)
    frame, at = np.arange(frames), np.flatnonzero(pinned)
    place = np.searchsorted(at, frame)
    before, after = at[np.maximum(place - 1, 0)], at[np.minimum(place, len(at) - 1)]
    return np.minimum(np.abs(frame - before), np.abs(frame - after))[:, None] / frame_rate


def _turned_feet(pose, toes, planted, ground, still, settings, cyclic, placements):
    """Turns (frames, legs, 4) of the feet, or None."""
    slope = 0.0 if ground.level or ground.followed else settings.follow_slope
    yaw = np.zeros(planted.shape) if placements is None else placements.turn
    if not settings.hold_heading and slope == 0.0 and not yaw.any():
        return None
    still = np.broadcast_to(still, planted.shape)
    given = (pose.toe - pose.heel, planted, still, ground.normals(toes), yaw)
    foot, planted, still, normals, yaw = (_around(array, cyclic) for array in given)
    turns = foot_turn.turns(foot, planted, still, normals, settings.hold_heading, slope, yaw)
    return turns if turns is None else _middle(turns, len(toes), cyclic)


def _lowest(pose, targets, turn, ground, contacts, leave, frame_rate, settings, cyclic):
    """How low heel and toe end may go (frames, legs): not under the floor, which they come to without a kink. The toes
    are above it already."""
    if settings.keep_dips:
        return _NO_FLOOR
    # Where a foot is flat on a level floor, it tells where this is.
    flat = grounds.flat(contacts) if ground.level else np.zeros_like(contacts)
    flat = flat | (leave == 0.0)
    heights = []
    for joint in ("heel", "toe_end"):
        offset = getattr(pose, joint) - pose.toe
        points = targets + (offset if turn is None else rot.rotate(turn, offset))
        required = ground.under(points, joint) - points[..., 2]
        if not ground.level:
            required = np.where(required < _STEP, required, 0.0)
        required = np.where(required > STILL, np.minimum(required, leave), 0.0)
        around = _around(required, cyclic), _around(flat, cyclic)
        up = _middle(lift.smooth(around[0], frame_rate, settings.terms.smoothing, around[1]), len(flat), cyclic)
        heights.append(np.where(up > 0.0, points[..., 2] + up, -np.inf))
    return leg_chain.MinimumHeights(heights[0], -np.inf, heights[1])


def _around(values, cyclic):
    """Values (frames, …) of a cyclic motion three times in a row, others as they are."""
    return np.concatenate([values[:-1]] * 3 + [values[:1]]) if cyclic else values


def _middle(values, frames, cyclic):
    """What belongs to the motion itself of values that ``_around`` made longer."""
    return values[frames - 1 : 2 * frames - 1] if cyclic else values


def _moved(pose, shift):
    return replace(pose, **{name: getattr(pose, name) + shift for name in ("hip", "knee", "heel", "toe", "toe_end")})


def _reach(pelvis, pose, turn, settings):
    """How far the legs reach before they soften: as far as in the source, or to where the softening begins. The
    article's limit has no such bound."""
    if settings.chain.limit != "reach":
        return None
    length = _unsoftened(pose, settings, settings.stretch)
    return slide_removal.Reach(pose.hip - pelvis[:, None] + _foot(pose, turn), length)


def _foot(pose, turn):
    """From heel to toe (frames, legs, 3), turned."""
    foot = pose.toe - pose.heel
    return foot if turn is None else rot.rotate(turn, foot)


def _unsoftened(pose, settings, stretch):
    """How far from the hip a heel may be (frames, legs), metres, before the leg softens."""
    source = rot.length(pose.heel - pose.hip)[..., 0]
    full = (rot.length(pose.knee - pose.hip) + rot.length(pose.heel - pose.knee))[..., 0]
    return np.maximum((1.0 + stretch) * full - settings.chain.softening, source)


def _stretches(pose, targets, turn, settings):
    """How many times as long thigh and shin have to be (frames, legs) so that the heels reach, within the bound."""
    if settings.stretch <= 0.0:
        return np.ones(targets.shape[:2])
    full = (rot.length(pose.knee - pose.hip) + rot.length(pose.heel - pose.knee))[..., 0]
    wanted = rot.length(targets - _foot(pose, turn) - pose.hip)[..., 0]
    missing = np.maximum(wanted - _unsoftened(pose, settings, 0.0), 0.0)
    # It begins without a kink, so that the knee does not stop.
    soft = max(_STRETCH_SOFTLY * settings.chain.softening, STILL)
    missing = np.where(missing < 2.0 * soft, missing**2 / (4.0 * soft), missing - soft)
    return 1.0 + np.minimum(missing / np.where(full > 0.0, full, np.inf), settings.stretch)


def _stretched(pose, stretch):
    """The pose with legs so many times as long, from the hip down."""
    if (stretch == 1.0).all():
        return pose
    longer = stretch[..., None] - 1.0
    knee = longer * (pose.knee - pose.hip)
    heel = longer * (pose.heel - pose.hip)
    moved = {"knee": knee, "heel": heel, "toe": heel, "toe_end": heel}
    return replace(pose, **{name: getattr(pose, name) + shift for name, shift in moved.items()})


def _unless_still(points, source):
    """Points (…, 3), and the source itself where they hardly differ."""
    return np.where(np.abs(points - source).max(axis=-1, keepdims=True) < STILL, source, points)


def _height(heights, contact, percentile):
    return float(np.percentile(heights[contact] if contact.any() else heights, percentile))
