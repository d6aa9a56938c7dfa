#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lay out what goes into the extension's zip, for `blender --command extension build --source-dir FOLDER`.

    python3 tools/extension.py FOLDER       a new folder

The code is the checkout's without its comments and docstrings, which are a quarter of a zip that everybody loads and
nobody reads; each statement stays in its line, so that a traceback of a user fits the source.
"""

import argparse
import ast
import io
import shutil
import sys
import tokenize
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SINGLE = ("blender_manifest.toml", "LICENSE", "__init__.py", "batch.py")
FOLDERS = ("batching", "operators", "rig", "solvers", "ui")


def lay_out(target: Path) -> None:
    """Copy what is shipped into a new folder."""
    target.mkdir(parents=True)
    code = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]
    for path in [*(ROOT / name for name in SINGLE), *code]:
        copy = target / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".py":
            copy.write_bytes(bare(path.read_text(encoding="utf-8")).encode())
        else:
            shutil.copyfile(path, copy)


def bare(source: str) -> str:
    """Python without comments and docstrings, line for line. Those of classes stay: Blender shows them as tooltips."""
    lines = source.splitlines()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column].rstrip()
    for node in ast.walk(ast.parse(source)):
        documented = isinstance(node, (ast.Module, ast.FunctionDef)) and ast.get_docstring(node) is not None
        if documented and len(node.body) > 1:  # else there would be nothing left to run
            for row in range(node.body[0].lineno, node.body[0].end_lineno + 1):
                lines[row - 1] = ""
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="a new folder")
    folder = parser.parse_args().folder
    try:
        lay_out(folder)
    except FileExistsError:
        sys.exit(f"{folder} is there already: name a new folder.")
