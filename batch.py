"""Remove sliding from clips without a window.

    blender --background --python batch.py -- IN [IN ...] -o OUT
    python batch.py IN [IN ...] -o OUT          by an interpreter that has the bpy module

IN is a .bvh, .fbx, .glb, .gltf or .blend file, a folder or a pattern; OUT a file of the same kind or a .blend, or a
folder. Exit status: 0 all went well, 1 a clip failed (the others still come out), 2 usage, 130 stopped.
"""

import importlib.util
import os
import signal
import sys
import traceback
from pathlib import Path

STOPPED = 130
ROOT = Path(__file__).resolve().parent


def load_package():
    """The extension as the package ``footlock``, wherever its folder is and whatever it is called."""
    if "footlock" not in sys.modules:
        spec = importlib.util.spec_from_file_location(
            "footlock", ROOT / "__init__.py", submodule_search_locations=[str(ROOT)]
        )
        sys.modules["footlock"] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules["footlock"])
    return sys.modules["footlock"]


if __name__ == "__main__":
    # Blender takes a second to be loaded, and does not bear a KeyboardInterrupt meanwhile. Nothing is begun until then.
    signal.signal(signal.SIGINT, lambda *_: os._exit(STOPPED))

load_package()

from footlock.batching import program, workers  # noqa: E402


def main(arguments):
    """Run over the inputs, or as a worker of such a run; returns the exit status."""
    program.prepare()
    if arguments[:1] == [workers.WORKER]:
        workers.serve(arguments[1])
        return 0
    return program.main(arguments)


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
