"""The command line: what it takes, what each run reads and writes, and the settings that it stands for."""

import argparse
from pathlib import Path

from ..operators import detect_contacts, remove_sliding
from ..solvers import contacts, foot_skate, slide_removal
from ..solvers.errors import FootlockError

KINDS = (".bvh", ".fbx", ".glb", ".gltf", ".blend")
_BLEND = ".blend"
# Kinds whose keys have handles, scale, and none where nobody put one.
_BLEND_ONLY = ("key_tolerance", "stretch")
# In place of a threshold: it is chosen.
AUTO = "auto"
RESULTS = {"in-place": "IN_PLACE", "new": "NEW", "layer": "LAYER"}


def parser():
    """The command line."""
    p = argparse.ArgumentParser(
        prog="batch.py", description="Remove foot sliding from .bvh, .fbx, .glb, .gltf and .blend files."
    )
    p.add_argument("inputs", nargs="+", type=Path, metavar="IN", help=".bvh, .fbx, .glb, .gltf or .blend file")
    p.add_argument("-o", "--output", required=True, type=Path, metavar="OUT", help="file, or folder for several inputs")
    p.add_argument(
        "--contacts",
        type=Path,
        metavar="FILE",
        help="labels to use in place of detection; a folder of STEM.json for several inputs",
    )
    p.add_argument(
        "--export-contacts",
        type=Path,
        metavar="FILE",
        help="write the labels that were used; a folder for several inputs",
    )
    p.add_argument(
        "--detect",
        choices=detect_contacts.MODES,
        help="find contacts against the floor's own velocity, or by thresholds on speed and height (default: auto, or"
        " threshold where one is given)",
    )
    p.add_argument(
        "--velocity-threshold",
        type=_threshold,
        metavar="M/S",
        help="threshold: a toe slower than this may be planted (0.25), or auto to choose it",
    )
    p.add_argument(
        "--height-threshold",
        type=_threshold,
        metavar="M",
        help="threshold: a toe lower than this over the floor may be planted (0.1), or auto to choose it",
    )
    p.add_argument(
        "--replace-contacts",
        action="store_true",
        help="detect anew where a .blend has contact curves; locked and muted ones stay",
    )
    p.add_argument("--markers", action="store_true", help="write contacts as pose markers of the action too (.blend)")
    p.add_argument(
        "--fit-root",
        action="store_true",
        help="fit the root's travel to the feet before the legs are bent",
    )
    p.add_argument(
        "--root-scale",
        type=_number,
        default=1.0,
        metavar="K",
        help="scale the root's horizontal travel first, to make a clip slide",
    )
    p.add_argument(
        "--unit",
        type=_positive,
        default=0.0,
        metavar="METRES",
        help="size of one unit of the file (default: judged from the legs)",
    )
    p.add_argument(
        "--method",
        choices=foot_skate.METHODS,
        default="offline",
        help="solve the whole clip, or lock frame by frame (%(default)s)",
    )
    removal = foot_skate.Settings()
    p.add_argument(
        "--smoothing",
        type=_at_least_zero,
        default=removal.terms.smoothing,
        metavar="S",
        help="seconds over which feet ease into and out of a contact (%(default).3f)",
    )
    p.add_argument(
        "--keep-path",
        type=_share,
        default=removal.terms.keep_path,
        metavar="SHARE",
        help="how far the pelvis keeps its path over the ground, 0 to 1 (%(default)g)",
    )
    p.add_argument(
        "--lower-hips",
        type=_share,
        default=removal.terms.lower_hips,
        metavar="SHARE",
        help="how freely the hips sink so that legs reach, 0 to 1 (%(default)g)",
    )
    p.add_argument(
        "--stretch",
        type=_stretch,
        default=removal.stretch,
        metavar="SHARE",
        help="part of its length by which a leg that is too short may become longer, up to 0.02 (.blend, %(default)g)",
    )
    p.add_argument("--hold-heading", action="store_true", help="planted feet do not turn about the vertical either")
    p.add_argument("--keep-dips", action="store_true", help="feet under the floor in the source may stay there")
    floor = p.add_mutually_exclusive_group()
    floor.add_argument(
        "--floor-height", type=_number, metavar="M", help="height of the floor, to which the clip is moved"
    )
    floor.add_argument("--floor-rest", action="store_true", help="the floor is where the rest pose stands")
    floor.add_argument("--floor-object", metavar="NAME", help="object of a .blend on which the feet stand")
    p.add_argument("--cyclic", action="store_true", help="the clips are loops and stay so")
    p.add_argument("--pin-first", action="store_true", help="the first pose stays as it is")
    p.add_argument("--pin-last", action="store_true", help="the last pose stays as it is")
    keys = p.add_mutually_exclusive_group()
    keys.add_argument(
        "--only-keys", action="store_true", help="give keys that are there new values and add none (.blend)"
    )
    keys.add_argument(
        "--key-tolerance",
        type=_at_least_zero,
        default=0.0,
        metavar="MM",
        help="as few keys as keep the legs within so many millimetres (.blend; default: a key on every frame)",
    )
    p.add_argument(
        "--frames",
        type=_number,
        nargs=2,
        metavar=("FIRST", "LAST"),
        help="correct these frames only; the others stay as they are",
    )
    p.add_argument(
        "--result",
        choices=RESULTS,
        default="in-place",
        help="correct the action, or a copy of it, or lay a correction over it in the NLA (.blend, %(default)s)",
    )
    p.add_argument(
        "--bake-nla",
        action="store_true",
        help="make one action of what NLA strips play where an armature has no action of its own (.blend)",
    )
    p.add_argument("--report", type=Path, metavar="FILE", help="write what was found and done as JSON")
    p.add_argument(
        "--plot",
        type=Path,
        metavar="FILE",
        help="draw speed, height, contacts and slide of each foot as SVG; a folder for several inputs",
    )
    return p


def jobs(p, options):
    """Input and output file of each clip; usage errors end the program with status 2."""
    for source in options.inputs:
        if source.suffix.lower() not in KINDS:
            p.error(f"“{source}” is none of {', '.join(KINDS)}")
    folder = len(options.inputs) > 1 or options.output.is_dir() or options.output.suffix.lower() not in KINDS
    targets = [options.output / source.name if folder else options.output for source in options.inputs]
    for source, target in zip(options.inputs, targets, strict=True):
        if target.suffix.lower() not in (source.suffix.lower(), _BLEND):
            p.error(f"“{source}” comes out as {source.suffix} or .blend, and “{target}” is neither")
        if target.exists() and source.exists() and target.samefile(source):
            p.error(f"“{target}” is the input itself: choose another output")
    whole = ("frames", "cyclic", "pin_first", "pin_last", "only_keys", "key_tolerance", "stretch")
    whole += ("floor_height", "floor_rest", "floor_object")
    if options.method == "runtime" and any(getattr(options, name) not in (None, False) for name in whole):
        p.error("floors, frames, pins, loops, --stretch and which keys are for --method offline: leave them out")
    if any(getattr(options, name) for name in _BLEND_ONLY) and any(one.suffix.lower() != _BLEND for one in targets):
        p.error("--key-tolerance and --stretch are for .blend files, which have keys and scale: leave them out")
    kinds = {one.suffix.lower() for one in (*options.inputs, *targets)}
    if (options.result != "in-place" or options.bake_nla) and kinds != {_BLEND}:
        p.error("--result and --bake-nla are for .blend files, which have actions to keep: leave them out")
    if len({str(target) for target in targets}) < len(targets):
        p.error("two inputs have the same name and would overwrite each other: run them into different folders")
    several = len(options.inputs) > 1
    beside = [
        path
        for source in options.inputs
        for option, kind in ((options.export_contacts, ".json"), (options.plot, ".svg"))
        if (path := file_of(option, source, several, kind))
    ]
    if options.report:
        beside.append(options.report)
    taken = {path.resolve() for path in (*options.inputs, *targets)}
    for path in beside:
        if path.resolve() in taken:
            p.error(f"“{path}” is written or read already: choose another file for labels, report and plot")
        taken.add(path.resolve())
    return list(zip(options.inputs, targets, strict=True))


def file_of(option, source, several, kind=".json"):
    """The labels or plot of an input: the option itself, or STEM and its kind in it where it is a folder."""
    if option is None:
        return None
    return option / f"{source.stem}{kind}" if several or option.is_dir() else option


def removal(options):
    """The settings of the correction."""
    return foot_skate.Settings(
        method=options.method,
        terms=slide_removal.Terms(options.smoothing, options.keep_path, options.lower_hips),
        keep_dips=options.keep_dips,
        hold_heading=options.hold_heading,
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
        RESULTS[options.result],
    )


def detection(options):
    """The settings of the detection. A threshold that is given is meant to be used."""
    given = options.velocity_threshold is not None or options.height_threshold is not None
    default = contacts.ThresholdSettings()
    chosen = {
        name: default_value if value is None else (None if value == AUTO else value)
        for name, value, default_value in (
            ("velocity", options.velocity_threshold, default.velocity),
            ("height", options.height_threshold, default.height),
        )
    }
    return detect_contacts.Settings(
        options.detect or ("threshold" if given else "auto"), contacts.ThresholdSettings(**chosen)
    )


def _number(text):
    value = float(text)
    if not abs(value) < 1e6:
        raise argparse.ArgumentTypeError(f"{text} is no sensible number")
    return value


def _threshold(text):
    try:
        return AUTO if text.lower() == AUTO else _positive(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text} is neither a number nor auto") from error


def _share(text):
    value = _number(text)
    if not 0.0 <= value <= 1.0:
        raise argparse.ArgumentTypeError(f"{text} is not between 0 and 1")
    return value


def _stretch(text):
    value = _number(text)
    if not 0.0 <= value <= 0.02:
        raise argparse.ArgumentTypeError(f"{text} is not between 0 and 0.02")
    return value


def _at_least_zero(text):
    value = _number(text)
    if value < 0.0:
        raise argparse.ArgumentTypeError(f"{text} is below zero")
    return value


def _positive(text):
    value = _number(text)
    if value <= 0.0:
        raise argparse.ArgumentTypeError(f"{text} is not above zero")
    return value
