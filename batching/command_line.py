"""The command line: what it takes, what each run reads and writes, and the settings that it stands for."""

import argparse
import re
from pathlib import Path

from ..operators import detect_contacts
from ..solvers import foot_lock, foot_skate, leg_chain
from . import settings_file

# In place of a threshold: it is chosen.
AUTO = "auto"
RESULTS = {"in-place": "IN_PLACE", "new": "NEW", "layer": "LAYER"}
# What a run reads, writes and does, which no file of settings says.
OF_A_RUN = {
    "inputs", "output", "settings", "contacts", "export_contacts", "report", "plot", "jobs", "part", "force",
    "bad_clips_ok",
    "armature", "action",
}  # fmt: skip


def parse(arguments, program):
    """The parser, and what a command line says, with the settings of its file where it names one; usage errors end the
    program with status 2. program: what it is called."""
    p = parser(program)
    options = p.parse_args(arguments)
    if options.settings:
        p.set_defaults(**settings_file.defaults(p, options, arguments, OF_A_RUN))
        options = p.parse_args(arguments)
    return p, options


def parser(program="batch.py"):
    """The command line."""
    p = argparse.ArgumentParser(
        prog=program,
        usage="%(prog)s IN [IN ...] -o OUT [options]",
        description="Remove foot sliding from .bvh, .fbx, .glb, .gltf and .blend files.",
    )
    _add_run(p)
    _add_contacts(p)
    _add_correction(p)
    return p


def _add_run(p):
    """What is read and written, and how."""
    p.add_argument(
        "inputs",
        nargs="+",
        metavar="IN",
        help=".bvh, .fbx, .glb, .gltf or .blend file, a folder with such files in it and in its folders, or a pattern"
        " such as 'takes/**/*.fbx'",
    )
    p.add_argument(
        "-o",
        "--output",
        required=True,
        type=Path,
        metavar="OUT",
        help="file, or a folder, in which the folders of the input are made again",
    )
    p.add_argument(
        "--jobs",
        type=_at_least_one,
        metavar="N",
        help="so many clips at the same time, each in a Blender of its own (default: one for each core); 1 for none but"
        " this one",
    )
    p.add_argument(
        "--part",
        type=_part,
        metavar="K/N",
        help="only the K-th of N equal parts of the clips, for several machines that write into one folder",
    )
    p.add_argument(
        "--force", action="store_true", help="do again what is done and unchanged since, which is skipped without it"
    )
    p.add_argument(
        "--bad-clips-ok",
        action="store_true",
        help="exit status 0 also where clips failed, for farms that would do it all again: the summary says which",
    )
    p.add_argument(
        "--settings",
        type=Path,
        metavar="FILE",
        help="settings from a .json or .toml file, as the panel saves them: the options below without their dashes;"
        " what the command line says counts more",
    )
    p.add_argument(
        "--armature",
        action="append",
        metavar="NAME",
        help="only armatures of this name, in which * and ? stand for any letters (.blend, .fbx, .glb; again for"
        " another)",
    )
    p.add_argument(
        "--action",
        action="append",
        metavar="NAME",
        help="actions or takes of this name, each as a clip of its own, in the same way; of a .blend without it those"
        " that are in use",
    )
    p.add_argument("--report", type=Path, metavar="FILE", help="write what was found and done as JSON")
    p.add_argument(
        "--plot",
        type=Path,
        metavar="FILE",
        help="draw speed, height, contacts and slide of each foot as SVG; a folder for several inputs",
    )
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


def _add_contacts(p):
    """How contacts are found."""
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
        "--detect-floor", type=_number, metavar="M", help="threshold: height of the floor (default: where toes are low)"
    )
    p.add_argument(
        "--clean-up",
        type=_at_least_zero,
        metavar="S",
        help="threshold: contacts and gaps shorter than about half of these seconds are removed",
    )
    p.add_argument(
        "--label-smoothing", type=_at_least_zero, metavar="S", help="threshold: seconds over which labels are smoothed"
    )
    p.add_argument(
        "--label-level", type=_share, metavar="SHARE", help="threshold: smoothed labels above this are a contact"
    )
    p.add_argument(
        "--speed-and-height",
        action=_Flag,
        help="write what the detection went by as two more curves of each foot (.blend)",
    )
    p.add_argument(
        "--replace-contacts",
        action=_Flag,
        help="detect anew where a .blend has contact curves; locked and muted ones stay",
    )
    p.add_argument("--markers", action=_Flag, help="write contacts as pose markers of the action too (.blend)")


def _add_correction(p):
    """How the root and the legs are corrected."""
    p.add_argument(
        "--fit-root",
        action=_Flag,
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
    p.add_argument(
        "--softening",
        type=_at_least_zero,
        default=leg_chain.LegChainSettings().softening,
        metavar="M",
        help="a leg is kept from stretching out over this last part of its length (%(default)g)",
    )
    p.add_argument(
        "--follow-slope",
        type=_share,
        default=removal.follow_slope,
        metavar="SHARE",
        help="how far planted feet pitch with the ground under them, 0 to 1 (%(default)g)",
    )
    lock = foot_lock.FootLockSettings()
    p.add_argument(
        "--lock-distance",
        type=_at_least_zero,
        default=lock.lock_distance,
        metavar="M",
        help="runtime: a toe locks when it is this near to the source (%(default)g)",
    )
    p.add_argument(
        "--unlock-distance",
        type=_at_least_zero,
        default=lock.unlock_distance,
        metavar="M",
        help="runtime: a toe is let go when the source is this far (%(default)g)",
    )
    p.add_argument(
        "--blend-time",
        type=_at_least_zero,
        default=lock.blend_time,
        metavar="S",
        help="runtime: seconds of the change between locked and free (%(default)g)",
    )
    p.add_argument("--hold-heading", action=_Flag, help="planted feet do not turn about the vertical either")
    p.add_argument("--keep-dips", action=_Flag, help="feet under the floor in the source may stay there")
    floor = p.add_mutually_exclusive_group()
    floor.add_argument(
        "--floor-height", type=_number, metavar="M", help="height of the floor, to which the clip is moved"
    )
    floor.add_argument("--floor-rest", action=_Flag, help="the floor is where the rest pose stands")
    floor.add_argument("--floor-object", metavar="NAME", help="object of a .blend on which the feet stand")
    p.add_argument("--cyclic", action=_Flag, help="the clips are loops and stay so")
    p.add_argument("--pin-first", action=_Flag, help="the first pose stays as it is")
    p.add_argument("--pin-last", action=_Flag, help="the last pose stays as it is")
    keys = p.add_mutually_exclusive_group()
    keys.add_argument("--only-keys", action=_Flag, help="give keys that are there new values and add none (.blend)")
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
        action=_Flag,
        help="make one action of what NLA strips play where an armature has no action of its own (.blend)",
    )


class _Flag(argparse.BooleanOptionalAction):
    """A switch that a command line can put off, too, where a file of settings has it on."""

    def __init__(self, option_strings, dest, help=None):  # argparse gives the text by this name
        super().__init__(option_strings, dest, default=False, help=argparse.SUPPRESS)
        self.help = help


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


def _at_least_one(text):
    value = int(text)
    if not 1 <= value <= 1024:
        raise argparse.ArgumentTypeError(f"{text} is not between 1 and 1024")
    return value


def _part(text):
    found = re.fullmatch(r"(\d{1,6})/(\d{1,6})", text, re.ASCII)
    if not found or not 1 <= int(found[1]) <= int(found[2]):
        raise argparse.ArgumentTypeError(f"{text} is not like 1/8, with the first number from 1 to the second")
    return int(found[1]), int(found[2])
