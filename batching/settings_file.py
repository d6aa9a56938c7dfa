"""A file of settings, JSON or TOML: the names of the options without their dashes, and what each is."""

import argparse
import json
import os
import stat
import tomllib

from ..solvers.errors import FootlockError

# Bytes. All settings with a comment each take a quarter of it, and no nest of brackets in it takes long to read.
_LARGEST = 16 << 10
_LONGEST_NAME = 60


def defaults(p, options, arguments, excluded):
    """What the file of ``options.settings`` says, by names of options, as the parser ``p`` has them; but for what the
    command line ``arguments`` says itself, and what it rules out. ``excluded``: options that are none of such a file. A
    usage error ends the program."""
    path = options.settings
    try:
        found = _checked(path, p, _read(path), excluded)
    except FootlockError as error:
        p.error(str(error))
    spoken = _given(p, arguments)
    for group in p._mutually_exclusive_groups:
        names = {action.dest for action in group._group_actions}
        if sum(bool(found.get(name)) for name in names) > 1:
            p.error(f"“{path.name}” has {' and '.join(_said(name) for name in sorted(names & set(found)))}: keep one")
        if names & spoken:
            spoken |= names
    return {name: value for name, value in found.items() if name not in spoken}


def _given(p, arguments):
    """Names of the options that are on a command line."""
    kept = {action: action.default for action in p._actions}
    try:
        for action in kept:
            action.default = argparse.SUPPRESS
        return set(vars(p.parse_args(arguments)))
    finally:
        for action, default in kept.items():
            action.default = default


def _read(path):
    """The settings of a file as they stand there, by their keys."""
    if path.suffix.lower() not in (".json", ".toml"):
        raise FootlockError("The settings “{file}” are neither a .json nor a .toml file: choose one.", file=path.name)
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise FootlockError("“{path}” is no file of settings: choose one that the panel saved.", path=path)
        with open(path, "rb") as file:
            content = file.read(_LARGEST + 1)
    except OSError as error:
        raise FootlockError(
            "The settings “{path}” cannot be read ({reason}): check the path.", path=path, reason=error.strerror
        ) from error
    if len(content) > _LARGEST:
        raise FootlockError("“{path}” is too large for a file of settings: choose one that the panel saved.", path=path)
    try:
        text = content.decode("utf-8-sig")
        if path.suffix.lower() == ".toml":
            return tomllib.loads(text)
        found = json.loads(text, object_pairs_hook=_unique)
    except (ValueError, RecursionError) as error:
        kind, why = path.suffix[1:].upper(), "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise FootlockError(
            "“{path}” is no {kind} that can be read ({why}): mend it, or save it from the panel.",
            path=path,
            kind=kind,
            why=why,
        ) from error
    if not isinstance(found, dict):
        raise FootlockError("“{path}” is no file of settings: it wants an object with the options’ names.", path=path)
    return found


def _unique(pairs):
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name is there twice")
    return found


def _checked(path, p, found, excluded):
    """The settings by the names of options, each as the command line would have it."""
    by_name = {
        option.lstrip("-").replace("-", "_"): action
        for option, action in p._option_string_actions.items()
        if option.startswith("--") and not option.startswith("--no-")
    }
    checked = {}
    for key, value in found.items():
        name = key.replace("-", "_")
        action = by_name.get(name)
        shown = key if len(key) <= _LONGEST_NAME else f"{key[:_LONGEST_NAME]}…"
        if action is None or name == "help":
            raise FootlockError(
                "“{file}” has “{setting}”, which is none of the settings: --help lists them.",
                file=path.name,
                setting=shown,
            )
        if name in excluded:
            raise FootlockError(
                "“{file}” has “{setting}”, which is for the command line alone: take it out of the file.",
                file=path.name,
                setting=shown,
            )
        if name in checked:
            raise FootlockError("“{file}” has “{setting}” twice: keep one.", file=path.name, setting=shown)
        try:
            checked[name] = _value(action, value)
        except (argparse.ArgumentTypeError, ValueError, OverflowError) as error:
            raise FootlockError(
                "“{setting}” of “{file}”: {why}.", setting=shown, file=path.name, why=str(error)[:120]
            ) from error
    return checked


def _value(action, value):
    """A value of a file as an option has it. Raises ValueError or ArgumentTypeError for one that does not fit."""
    if action.nargs == 0:
        if not isinstance(value, bool):
            raise ValueError("it is true or false")
        return value
    if isinstance(action.nargs, int):
        if not isinstance(value, list) or len(value) != action.nargs:
            raise ValueError(f"it is a list of {action.nargs} numbers")
        return [_number(action, one) for one in value]
    if action.choices is not None:
        if value not in list(action.choices):
            raise ValueError(f"it is one of {', '.join(action.choices)}")
        return value
    if action.type is None:
        if not isinstance(value, str):
            raise ValueError("it is a name in quotes")
        return value
    return _number(action, value)


def _number(action, value):
    """A number, or a word that an option takes in place of one."""
    if isinstance(value, str):
        word = action.type(value)
        if not isinstance(word, str):
            raise ValueError("it is a number, without quotes")
        return word
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("it is a number")
    return action.type(str(value))


def _said(name):
    return f"“{name.replace('_', '-')}”"
