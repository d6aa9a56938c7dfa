"""``blender --command footlock``: the batch where the extension is installed."""

import bpy

_NAME = "footlock"
_handles = []


def register():
    # Blender may ask at any start, so what the command needs is imported when it runs.
    _handles.append(bpy.utils.register_cli_command(_NAME, _run))


def unregister():
    while _handles:
        bpy.utils.unregister_cli_command(_handles.pop())


def _run(arguments):
    from . import program

    return program.as_command(arguments)
