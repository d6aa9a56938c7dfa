"""What a run works on: files, those in folders, and those of patterns, and where each comes out."""

import glob
import os
from dataclasses import asdict, dataclass
from pathlib import Path

KINDS = (".bvh", ".fbx", ".glb", ".gltf", ".blend")
_BLEND = ".blend"
# Kinds whose keys have handles, scale, and none where nobody put one.
_BLEND_ONLY = ("key_tolerance", "stretch")
_OFFLINE_ONLY = (
    "frames", "cyclic", "pin_first", "pin_last", "only_keys", "key_tolerance", "stretch", "floor_height", "floor_rest",
    "floor_object",
)  # fmt: skip
# What we keep in a folder of outputs.
OWN_FOLDER = ".footlock"


@dataclass(frozen=True)
class Clip:
    """A file that is worked on: ``source`` comes out as ``target``. ``contacts``: labels to use; ``exported``,
    ``plotted``: where labels and plot go; ``record``: where it is kept what was done. All of these may be None."""

    source: Path
    target: Path
    contacts: Path | None = None
    exported: Path | None = None
    plotted: Path | None = None
    record: Path | None = None

    def written(self):
        """The files that are made of it, of one clip."""
        return [path for path in (self.target, self.exported, self.plotted, self.record) if path]

    def as_data(self):
        """As JSON has it."""
        return {name: path and str(path) for name, path in asdict(self).items()}

    @classmethod
    def of_data(cls, data):
        """What ``as_data`` gave."""
        return cls(**{name: path and Path(path) for name, path in data.items()})


def clips(p, options):
    """The Clips of a command line, of its part where it has one, and the folder that they come out in, None where one
    file becomes one file. Usage errors end the program with status 2."""
    found, tree = _found(p, options)
    several = tree or len(found) > 1
    folder = several or options.output.is_dir() or options.output.suffix.lower() not in KINDS
    if folder and options.output.exists() and not options.output.is_dir():
        p.error(f"“{options.output}” is a file, and what comes out wants a folder: choose another output")
    made = []
    for source, place in found:
        target = options.output / place if folder else options.output
        made.append(
            Clip(
                source,
                target,
                _file_of(options.contacts, place, several, ".json"),
                _file_of(options.export_contacts, place, several, ".json"),
                _file_of(options.plot, place, several, ".svg"),
                options.output / OWN_FOLDER / place.with_name(f"{place.name}.json") if folder else None,
            )
        )
    _check(p, options, made)
    if options.part:
        first, parts = options.part
        # By the places alone, which are the same on each machine.
        ordered = sorted(zip(made, found, strict=True), key=lambda one: one[1][1].as_posix())
        made = [clip for clip, _ in ordered[first - 1 :: parts]]
    return made, options.output if folder else None


def _found(p, options):
    """(file, where it comes out in the folder of outputs) of all inputs, and whether some are of a folder or
    pattern."""
    found, seen, tree = [], set(), False
    for given in options.inputs:
        path = Path(given)
        if glob.has_magic(given) and not path.exists():
            base, files = _matching(given)
        elif path.is_dir():
            base, files = path, _inside(path)
        else:
            if path.suffix.lower() not in KINDS and not path.exists():
                p.error(f"“{path}” does not exist: check how it is written")
            if path.suffix.lower() not in KINDS:
                p.error(f"“{path}” is none of {', '.join(KINDS)}: export the clip as one of these")
            found.append((path, Path(path.name)))
            seen.add(found[-1])
            continue
        tree = True
        if _is_in(options.output, base):
            # What came out earlier is not taken again.
            files = [file for file in files if not _is_in(file, options.output)]
        if not files:
            p.error(f"“{given}” has no {', '.join(KINDS[:-1])} or {KINDS[-1]} file: name another folder or pattern")
        # Patterns and folders may overlap; a file that is named twice is an error, further on.
        found += [one for file in files if (one := (file, file.relative_to(base))) not in seen]
        seen.update(found)
    return found, tree


def _inside(folder):
    """The files of our kinds in a folder and the folders in it, but for hidden ones, sorted."""
    found = []
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        found += [
            Path(place, name)
            for name in sorted(names)
            if Path(name).suffix.lower() in KINDS and not name.startswith(".")
        ]
    return found


def _matching(pattern):
    """The folder with which a pattern begins, and the files of our kinds that it stands for, sorted; folders that it
    stands for with all that is in them."""
    fixed = []
    for part in Path(pattern).parts[:-1]:
        if glob.has_magic(part):
            break
        fixed.append(part)
    base, found = Path(*fixed), []
    for name in sorted(glob.glob(pattern, recursive=True)):
        path = Path(name)
        if path.is_dir():
            found += _inside(path)
        elif path.suffix.lower() in KINDS:
            found.append(path)
    return base, list(dict.fromkeys(found))


def _is_in(path, folder):
    """True for a path in a folder, and not the folder itself, whatever links lead there."""
    return os.path.realpath(folder) in map(str, Path(os.path.realpath(path)).parents)


def _check(p, options, made):
    """Usage errors of what is read and written."""
    for clip in made:
        if clip.target.suffix.lower() not in (clip.source.suffix.lower(), _BLEND):
            p.error(f"“{clip.source}” comes out as {clip.source.suffix} or .blend, and “{clip.target}” is neither")
        if clip.target.exists() and clip.source.exists() and clip.target.samefile(clip.source):
            p.error(f"“{clip.target}” is the input itself: choose another output")
    if options.frames and options.frames[1] < options.frames[0]:
        p.error("--frames ends before it starts: give the first frame and then the last")
    if options.method == "runtime" and any(getattr(options, name) not in (None, False) for name in _OFFLINE_ONLY):
        p.error("floors, frames, pins, loops, --stretch and which keys are for --method offline: leave them out")
    if any(getattr(options, name) for name in _BLEND_ONLY) and any(
        clip.target.suffix.lower() != _BLEND for clip in made
    ):
        p.error("--key-tolerance and --stretch are for .blend files, which have keys and scale: leave them out")
    kinds = {path.suffix.lower() for clip in made for path in (clip.source, clip.target)}
    if (options.result != "in-place" or options.bake_nla) and kinds != {_BLEND}:
        p.error("--result and --bake-nla are for .blend files, which have actions to keep: leave them out")
    if options.action and options.result != "in-place":
        p.error("--action corrects each action in place: leave out --result")
    if len({os.path.normcase(clip.target) for clip in made}) < len(made):
        p.error("two inputs have the same name and would overwrite each other: run them into different folders")
    beside = [path for clip in made for path in (clip.exported, clip.plotted) if path]
    if options.report:
        beside.append(options.report)
    # Not Path.resolve, which raises at links that lead to themselves.
    taken = {os.path.realpath(path) for clip in made for path in (clip.source, clip.target)}
    for path in beside:
        if os.path.realpath(path) in taken:
            p.error(f"“{path}” is written or read already: choose another file for labels, report and plot")
        taken.add(os.path.realpath(path))


def _file_of(option, place, several, kind):
    """The labels or plot of an input: the option itself, or where it is a folder, the input's place in it, with another
    kind."""
    if option is None:
        return None
    return option / place.with_suffix(kind) if several or option.is_dir() else option
