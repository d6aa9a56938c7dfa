"""Remove sliding from clips without a window.

    blender --background --python batch.py -- IN [IN ...] -o OUT
    python batch.py IN [IN ...] -o OUT          by an interpreter that has the bpy module

IN is a .bvh or .blend file; OUT a file, or a folder for several. Exit status: 0 all went well, 1 a clip failed (the
others still come out), 2 usage.
"""

import argparse
import importlib.util
import json
import os
import sys
import time
import traceback
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).resolve().parent
KINDS = (".bvh", ".blend")
_RESULTS = {"in-place": "IN_PLACE", "new": "NEW", "layer": "LAYER"}
# In place of a threshold: it is chosen.
AUTO = "auto"


def load_package():
    """The extension as the package ``footlock``, wherever its folder is and whatever it is called."""
    if "footlock" not in sys.modules:
        spec = importlib.util.spec_from_file_location(
            "footlock", ROOT / "__init__.py", submodule_search_locations=[str(ROOT)]
        )
        sys.modules["footlock"] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules["footlock"])
    return sys.modules["footlock"]


load_package()

import bpy  # noqa: E402
import numpy as np  # noqa: E402

from footlock.operators import detect_contacts, fit_root, remove_sliding, reports  # noqa: E402
from footlock.rig import (  # noqa: E402
    bvh,
    bvh_armature,
    clip,
    compat,
    contact_property,
    controls,
    correction,
    labels,
    mapping,
    markers,
    nla_bake,
    results,
)
from footlock.rig.contact_property import PROTECTED, State  # noqa: E402
from footlock.solvers import contacts, foot_skate, slide_removal  # noqa: E402
from footlock.solvers.errors import FootlockError  # noqa: E402


def parser():
    """The command line."""
    p = argparse.ArgumentParser(prog="batch.py", description="Remove foot sliding from .bvh and .blend files.")
    p.add_argument("inputs", nargs="+", type=Path, metavar="IN", help=".bvh or .blend file")
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
        choices=_RESULTS,
        default="in-place",
        help="correct the action, or a copy of it, or lay a correction over it in the NLA (.blend, %(default)s)",
    )
    p.add_argument(
        "--bake-nla",
        action="store_true",
        help="make one action of what NLA strips play where an armature has no action of its own (.blend)",
    )
    p.add_argument("--report", type=Path, metavar="FILE", help="write what was found and done as JSON")
    return p


def main(arguments):
    """Run over the inputs; returns the exit status."""
    p = parser()
    options = p.parse_args(arguments)
    jobs = _jobs(p, options)
    if not hasattr(bpy.types.Armature, "footlock"):
        load_package().register()
    said = []
    for source, target in jobs:
        start = time.perf_counter()
        try:
            found = _process(source, target, options, several=len(jobs) > 1)
        except FootlockError as error:
            found = [{"error": str(error)}]
        except Exception as error:  # One clip must not take the others with it; the trace is for us.
            traceback.print_exc()
            sentence = (
                f"“{source.name}” failed in a way that Footlock did not expect ({error}): please report it with it."
            )
            found = [{"error": sentence}]
        seconds = round(time.perf_counter() - start, 3)
        for one in found:
            said.append({"input": str(source), "output": str(target), "seconds": seconds, **one})
            _say(said[-1])
    failed = sum("error" in report for report in said)
    if options.report:
        try:
            _write_json(options.report, {"clips": said, "failed": failed})
        except OSError as error:
            print(
                f"The report “{options.report}” cannot be written ({error.strerror}): choose another place.",
                file=sys.stderr,
            )
            failed += 1
    return 1 if failed else 0


def _process(source, target, options, several):
    """One input file: returns what is said of each clip in it. Nothing is written before all is solved."""
    if not source.is_file():
        raise FootlockError(f"“{source}” does not exist: check its path.")
    given, exported = (
        _labels_file(options.contacts, source, several),
        _labels_file(options.export_contacts, source, several),
    )
    if source.suffix.lower() == ".bvh":
        motion = bvh.read(source)
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        armature = bvh_armature.load(source, motion)
        legs = mapping.find(armature)
        legs = replace(legs, carrier=bvh_armature.carrier(motion, legs))
        done = [_correct(bpy.context.scene, armature, legs, given, options)]
        if len(done[0][0].labels) != len(motion.motion):
            raise FootlockError(
                f"Blender read {len(done[0][0].labels)} frames of “{source.name}” and it has {len(motion.motion)}:"
                " give it a constant frame time."
            )
        result = bvh_armature.store(armature, motion, legs)
        _export(exported, done)
        _make_folder(target)
        bvh.write(target, result)
    else:
        armatures = _open_blend(source, options)
        if len(armatures) > 1 and (given or exported):
            raise FootlockError(
                f"“{source.name}” has {len(armatures)} animated armatures, and labels are for one: split the file."
            )
        done = [_correct(scene, armature, legs, given, options) for scene, armature, legs in armatures]
        _export(exported, done)
        _make_folder(target)
        _save_blend(target)
    return [reports.corrected(one, said) for one, said in done]


def _export(path, done):
    """Write the labels that were used, before anything else is written."""
    if path:
        _make_folder(path)
        first = done[0][0].clip
        labels.write(path, first.legs, done[0][0].weights, first.frame_rate, first.scene_frames[0])


def _correct(scene, armature, legs, given, options):
    """Scale, label, fit and correct the action of one armature; returns the Removal, and what is said besides."""
    bpy.context.view_layer.update()
    driven_by = controls.of(armature, legs)
    correction.check(armature, legs, driven_by)
    result = _RESULTS[options.result]
    results.check(armature, correction.keyed(armature, legs, driven_by, options.stretch > 0.0), result)
    if armature.animation_data.action.library is not None:
        results.begin(armature, result)  # for the contact curves, which else are of the original, too
    if options.root_scale != 1.0:
        correction.scale_travel(armature, clip.read(scene, armature, legs, options.unit), options.root_scale)
    source = clip.read(scene, armature, legs, options.unit)
    found, said = _contacts(scene, armature, legs, source, given, options)
    results.begin(armature, result)
    if options.fit_root and found.any():
        said["root_fit"] = reports.fitted(fit_root.fit(scene, armature, legs, source.unit, found))
    # Curves may say more than planted or not.
    weights = contact_property.weights(armature, legs, source.frames)
    weights = found if weights is None else weights
    extent = _extent(scene, options)
    done = remove_sliding.remove(scene, armature, legs, _removal(options), source.unit, weights, extent)
    if options.markers:
        markers.write(results.labelled(armature), legs, done.clip.frames, found)
    return done, said


def _contacts(scene, armature, legs, source, given, options):
    """Labels (frames, legs) of a clip, written as its curves, and what is said of them. From the file that is given,
    else the curves that are there, else found; curves that are locked or muted are never replaced."""
    if given:
        found = labels.read(given, legs, len(source.frames))
        kept = [i for i, state in enumerate(contact_property.states(armature, legs)) if state in PROTECTED]
        if len(kept) == len(legs.legs):
            raise FootlockError(
                f"All contact curves of “{armature.name}” are locked or muted, and --contacts would not be used:"
                " leave it out, or unlock and unmute them."
            )
        contact_property.write(armature, legs, source.frames, found, skip=kept)
        return contact_property.read(armature, legs, source.frames), {"contacts_from": "file"}
    states = contact_property.states(armature, legs)
    kept = [i for i, state in enumerate(states) if state is not State.ABSENT]
    if options.replace_contacts:
        kept = [i for i in kept if states[i] in PROTECTED]
    elif kept:
        kept = list(range(len(states)))
    if len(kept) == len(states):
        found = contact_property.read(armature, legs, source.frames)
        none = np.zeros((len(source.frames), len(states)), bool)
        return none if found is None else found, {"contacts_from": "curves"}
    detected = detect_contacts.detect(scene, armature, legs, _detection(options), source.unit)
    if detected.mode == "threshold" and not detected.labels.any():
        raise FootlockError("No contact was found: raise the thresholds, or use --detect auto.")
    contact_property.write(armature, legs, source.frames, detected.labels, detected=True, skip=kept)
    return contact_property.read(armature, legs, source.frames), reports.detected(detected)


def _removal(options):
    """The settings of the correction."""
    return foot_skate.Settings(
        method=options.method,
        terms=slide_removal.Terms(options.smoothing, options.keep_path, options.lower_hips),
        keep_dips=options.keep_dips,
        hold_heading=options.hold_heading,
        stretch=options.stretch,
    )


def _extent(scene, options):
    """What of a clip is corrected, and on what ground."""
    floor = None
    if options.floor_object is not None:
        floor = scene.objects.get(options.floor_object)
        if floor is None:
            raise FootlockError(f"The scene has no object “{options.floor_object}”: check the name of the floor.")
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
        _RESULTS[options.result],
    )


def _detection(options):
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


def _say(report):
    """One line for each clip."""
    failed = "error" in report
    print(reports.line(report), file=sys.stderr if failed else sys.stdout, flush=True)


def _jobs(p, options):
    """Input and output file of each clip; usage errors end the program with status 2."""
    for source in options.inputs:
        if source.suffix.lower() not in KINDS:
            p.error(f"“{source}” is neither .bvh nor .blend")
    folder = len(options.inputs) > 1 or options.output.is_dir() or options.output.suffix.lower() not in KINDS
    targets = [options.output / source.name if folder else options.output for source in options.inputs]
    for source, target in zip(options.inputs, targets, strict=True):
        if target.suffix.lower() != source.suffix.lower():
            p.error(f"“{source}” comes out as {source.suffix}, and “{target}” is no such file")
        if target.exists() and source.exists() and target.samefile(source):
            p.error(f"“{target}” is the input itself: choose another output")
    whole = ("frames", "cyclic", "pin_first", "pin_last", "only_keys", "key_tolerance", "stretch")
    whole += ("floor_height", "floor_rest", "floor_object")
    if options.method == "runtime" and any(getattr(options, name) not in (None, False) for name in whole):
        p.error("floors, frames, pins, loops, --stretch and which keys are for --method offline: leave them out")
    if (options.key_tolerance or options.stretch) and any(one.suffix.lower() == ".bvh" for one in options.inputs):
        p.error("--key-tolerance and --stretch are for .blend files, which have keys and scale: leave them out")
    if (options.result != "in-place" or options.bake_nla) and any(s.suffix.lower() == ".bvh" for s in options.inputs):
        p.error("--result and --bake-nla are for .blend files, which have actions to keep: leave them out")
    if len({str(target) for target in targets}) < len(targets):
        p.error("two inputs have the same name and would overwrite each other: run them into different folders")
    several = len(options.inputs) > 1
    beside = [path for source in options.inputs if (path := _labels_file(options.export_contacts, source, several))]
    if options.report:
        beside.append(options.report)
    taken = {path.resolve() for path in (*options.inputs, *targets)}
    for path in beside:
        if path.resolve() in taken:
            p.error(f"“{path}” is written or read already: choose another file for labels and report")
        taken.add(path.resolve())
    return list(zip(options.inputs, targets, strict=True))


def _labels_file(option, source, several):
    """The labels file of an input: the option itself, or STEM.json in it where it is a folder."""
    if option is None:
        return None
    return option / f"{source.stem}.json" if several or option.is_dir() else option


def _open_blend(source, options):
    """Open a .blend file; the scene, armature and legs of each animated character in it. What NLA strips play becomes
    an action, where that is asked for."""
    try:
        bpy.ops.wm.open_mainfile(filepath=str(source), load_ui=False, use_scripts=False)
    except RuntimeError as error:
        raise FootlockError(
            f"“{source.name}” cannot be opened by Blender {bpy.app.version_string}:"
            " save it by this version or an older one."
        ) from error
    found, problem, seen = [], None, set()
    for scene in bpy.data.scenes:
        for armature in scene.objects:
            if armature.type != "ARMATURE" or armature.animation_data is None:
                continue
            if armature.animation_data.action is None and nla_bake.can(armature):
                if not options.bake_nla:
                    problem = FootlockError(
                        f"“{armature.name}” has no action, for NLA strips move it: run with --bake-nla."
                    )
                    continue
                nla_bake.bake(scene, armature)
            if armature.animation_data.action is None:
                continue
            # An action that several objects or scenes show is corrected once, and each of its copies.
            key = armature.animation_data.action, compat.slot_name(armature)
            if options.result != "in-place":
                key = (*key, armature)
            if key in seen:
                continue
            seen.add(key)
            try:
                found.append((scene, armature, mapping.of(armature)))
            except FootlockError as error:
                problem = error
    if not found:
        raise problem or FootlockError(
            f"“{source.name}” has no armature with an action: save one with the animation assigned."
        )
    return found


def _save_blend(target):
    temporary = target.with_name(f".{target.stem}.{os.getpid()}.blend")
    try:
        bpy.ops.wm.save_as_mainfile(filepath=str(temporary), copy=True)
        os.replace(temporary, target)
    except (RuntimeError, OSError) as error:
        raise FootlockError(
            f"“{target}” cannot be written: choose a folder that can be written to, with room for it."
        ) from error
    finally:
        temporary.unlink(missing_ok=True)


def _make_folder(target):
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FootlockError(
            f"The folder “{target.parent}” cannot be made ({error.strerror}): choose another output."
        ) from error


def _write_json(path, data):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


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


if __name__ == "__main__":
    # Blender hands its own arguments over too; what follows "--" is ours.
    own = sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else sys.argv[1:]
    try:
        status = main(own)
    except SystemExit as end:  # argparse: usage or --help
        status = end.code or 0
    except BaseException:
        traceback.print_exc()
        status = 1
    # Blender has no exit status of its own for a script, and the bpy modules 4.2 and 4.5 do not always survive a
    # normal exit.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)
