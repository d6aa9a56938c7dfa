"""The NLA: what of it moves an armature besides the action in use, and where in the scene that action's frames are.

In tweak mode the action in use is that of a strip, whose frames are moved and scaled into the scene. Otherwise it lies
on top of the strips, in scene frames.
"""

from dataclasses import dataclass

import numpy as np

from ..solvers.errors import FootlockError
from ..solvers.wording import Said
from . import compat, curves

# Strips that map frames differently from the first to the second of these are not the one that is tweaked.
_PROBES = (0.0, 100.0)


@dataclass(frozen=True)
class StripTime:
    """``start``: scene frame of the action's frame 0; ``scale``: scene frames of one frame of the action."""

    start: float = 0.0
    scale: float = 1.0

    def to_scene(self, frames):
        """Scene frames of frames of the action."""
        return self.start + self.scale * np.asarray(frames, float)

    def to_action(self, frames):
        """Frames of the action that are at scene frames."""
        return (np.asarray(frames, float) - self.start) / self.scale


# Of an action that is not tweaked.
AS_IT_IS = StripTime()


def time(armature):
    """The StripTime of the action in use. Raises FootlockError for a tweaked strip whose frames are not each once and
    in order in the scene."""
    data = armature.animation_data
    if not data.use_tweak_mode:
        return AS_IT_IS
    strip = tweaked(data)
    if strip is not None:
        for odd, what in (
            (strip.use_reverse, Said("plays backwards")),
            (strip.repeat != 1.0, Said("repeats its action")),
            (strip.use_animated_time, Said("has an animated time")),
        ):
            if odd:
                raise FootlockError(
                    "The strip “{strip}” {what}, so its frames have no single place in the scene: leave tweak"
                    " mode (Tab in the NLA Editor) and work on the action itself.",
                    strip=strip.name,
                    what=what,
                )
    start, then = (data.nla_tweak_strip_time_to_scene(frame) for frame in _PROBES)
    return StripTime(start, (then - start) / (_PROBES[1] - _PROBES[0]))


def tweaked(data):
    """The strip that is tweaked, or None."""
    if not data.use_tweak_mode:
        return None
    strips = [strip for strip in _all_strips(data) if strip.action == data.action]
    if len(strips) > 1:
        places = [data.nla_tweak_strip_time_to_scene(frame) for frame in _PROBES]
        strips = [strip for strip in strips if np.allclose(_ends(strip), places, atol=0.01)] or strips
    return strips[0] if strips else None


def _ends(strip):
    """Scene frames at which a strip plays the probes."""
    if strip.use_reverse:
        return [strip.frame_end - (frame - strip.action_frame_start) * strip.scale for frame in _PROBES]
    return [strip.frame_start + (frame - strip.action_frame_start) * strip.scale for frame in _PROBES]


def live_strips(data):
    """The strips with actions that are played beside the action in use, muted ones left out."""
    if data is None or not data.use_nla:
        return []
    solo = any(track.is_solo for track in data.nla_tracks)
    tracks = [track for track in data.nla_tracks if (track.is_solo if solo else not track.mute)]
    own = tweaked(data)
    return [
        strip
        for track in tracks
        for strip in _flat(track.strips)
        if not strip.mute and strip.action is not None and strip != own
    ]


def check(armature, limbs):
    """Raise FootlockError where strips move the bones ``limbs``, by name, besides the action in use."""
    data = armature.animation_data
    strips, own = live_strips(data), tweaked(data)
    if own is not None and (own.blend_type != "REPLACE" or own.use_animated_influence or own.blend_in or own.blend_out):
        raise FootlockError(
            "The strip “{strip}” is blended with what is below it: set it to Replace, without animated influence"
            " and blends, or leave tweak mode (Tab in the NLA Editor).",
            strip=own.name,
        )
    if not strips:
        return
    if any(track.is_solo for track in data.nla_tracks) and not data.use_tweak_mode:
        raise FootlockError(
            "A track of “{armature}” plays solo in the NLA Editor, and the action does not: switch its star off.",
            armature=armature.name,
        )
    if own is None and (data.action_blend_type != "REPLACE" or data.action_influence != 1.0):
        raise FootlockError(
            "The action of “{armature}” is blended with the NLA strips below it: set it to Replace with an"
            " influence of 1 in the NLA Editor, or click Bake from NLA.",
            armature=armature.name,
        )
    above = set(_names(data, own)) if own is not None else set()
    for strip, path in _shown(armature, strips, above):
        if curves.bone_and_property(path)[0] in limbs and not curves.is_own(path):
            raise FootlockError(
                "NLA strips move “{armature}” too (“{strip}”): mute their tracks, or click Bake from NLA.",
                armature=armature.name,
                strip=strip.name,
            )


def moves(armature, bones):
    """True where strips show through the action in use on one of the bones, by name, or on the object itself."""
    data = armature.animation_data
    wanted = {None, *bones}
    return any(curves.bone_and_property(path)[0] in wanted for _, path in _shown(armature, live_strips(data)))


def _names(data, own):
    """Names of the strips on tracks over the one of a strip."""
    tracks = list(data.nla_tracks)
    place = next(i for i, track in enumerate(tracks) if own in _flat(track.strips))
    return [strip.name for track in tracks[place + 1 :] for strip in _flat(track.strips)]


def _shown(armature, strips, above=()):
    """(strip, data path) of the curves of strips that no curve of the action in use replaces, as it does none of those
    strips, by name, that lie ``above`` it."""
    own = curves.by_path(armature) if strips else {}
    return [
        (strip, curve.data_path)
        for strip in strips
        for curve in compat.strip_fcurves(strip)
        if not compat.is_muted(curve) and (strip.name in above or (curve.data_path, curve.array_index) not in own)
    ]


def _all_strips(data):
    return [strip for track in data.nla_tracks for strip in _flat(track.strips)]


def _flat(strips):
    """Strips, those within meta strips included."""
    return [one for strip in strips for one in ([strip] if strip.type != "META" else _flat(strip.strips))]
