"""What the options mean: the settings of the detection and of the correction."""

from dataclasses import replace

from ..operators import detect_contacts, remove_sliding
from ..solvers import contacts, foot_lock, foot_skate, leg_chain, slide_removal
from ..solvers.errors import FootlockError
from . import command_line


def removal(options):
    """The settings of the correction."""
    return foot_skate.Settings(
        method=options.method,
        chain=leg_chain.LegChainSettings(softening=options.softening),
        lock=foot_lock.FootLockSettings(options.lock_distance, options.unlock_distance, options.blend_time),
        terms=slide_removal.Terms(options.smoothing, options.keep_path, options.lower_hips),
        keep_dips=options.keep_dips,
        hold_heading=options.hold_heading,
        follow_slope=options.follow_slope,
        stretch=options.stretch,
    )


def extent(scene, options):
    """What of a clip is corrected, and on what ground."""
    floor = None
    if options.floor_object is not None:
        floor = scene.objects.get(options.floor_object)
        if floor is None:
            raise FootlockError(
                "The scene has no object “{name}”: check the name of the floor.",
                name=options.floor_object,
            )
    return remove_sliding.Options(
        options.floor_height,
        floor,
        tuple(options.frames) if options.frames else None,
        options.pin_first,
        options.pin_last,
        options.cyclic,
        options.only_keys,
        options.key_tolerance / 1000.0,
        options.floor_rest,
        command_line.RESULTS[options.result],
    )


def detection(options):
    """The settings of the detection. A threshold that is given is meant to be used."""
    default = contacts.ThresholdSettings()
    given = {
        "velocity": options.velocity_threshold,
        "height": options.height_threshold,
        "vote": options.clean_up,
        "smoothing": options.label_smoothing,
        "contact": options.label_level,
    }
    given = {name: value for name, value in given.items() if value is not None}
    mode = options.detect or ("threshold" if given or options.detect_floor is not None else "auto")
    chosen = {name: None if value == command_line.AUTO else value for name, value in given.items()}
    return detect_contacts.Settings(mode, replace(default, **chosen), options.detect_floor)
