# SPDX-License-Identifier: GPL-3.0-or-later
"""All that an add-on can leave behind in Blender, read from Blender itself and not from what the add-on says.

Draw handlers cannot be listed, so they are counted from ``watch`` on.
"""

import gc
import types

import bpy

_drawing = {}


def watch():
    """Count draw handlers, in all editors, from here on."""
    for kind in _kinds():
        if issubclass(kind, bpy.types.Space) and hasattr(kind, "draw_handler_add") and kind is not bpy.types.Space:
            _watch_space(kind)


def _watch_space(space):
    add, remove = space.draw_handler_add, space.draw_handler_remove

    def adding(function, *arguments):
        handle = add(function, *arguments)
        _drawing[id(handle)] = f"{space.__name__}: {_where(function)}"
        return handle

    def removing(handle, region):
        remove(handle, region)
        del _drawing[id(handle)]

    space.draw_handler_add, space.draw_handler_remove = staticmethod(adding), staticmethod(removing)


def snapshot():
    """Kind of thing → sorted list of what there is of it."""
    found = {
        "handlers": _handlers(),
        "classes": dir(bpy.types),
        "operators": [f"{group}.{name}" for group in dir(bpy.ops) for name in dir(getattr(bpy.ops, group))],
        "properties": _properties(),
        "drawn by": _appended(),
        "keymaps": _keymaps(),
        "presets": bpy.utils.preset_paths("footlock/settings"),
        "draw handlers": list(_drawing.values()),
        "timers": _timers(),
    }
    return {kind: sorted(names) for kind, names in found.items()}


def _kinds():
    """All registered classes, and those that Blender itself has."""
    return [kind for name in dir(bpy.types) if hasattr(kind := getattr(bpy.types, name), "bl_rna")]


def _where(function):
    return f"{getattr(function, '__module__', '')}.{getattr(function, '__qualname__', repr(function))}"


def _handlers():
    lists = {name: getattr(bpy.app.handlers, name) for name in dir(bpy.app.handlers)}
    return [f"{name}: {_where(one)}" for name, those in lists.items() if isinstance(those, list) for one in those]


def _properties():
    return [f"{kind.__name__}.{name}" for kind in _kinds() for name in kind.bl_rna.properties.keys()]  # noqa: SIM118


def _appended():
    """Functions that were added to panels, menus and headers."""
    drawn = [(kind.__name__, getattr(getattr(kind, "draw", None), "_draw_funcs", ())) for kind in _kinds()]
    return [f"{name}: {_where(one)}" for name, functions in drawn for one in functions]


def _keymaps():
    found = []
    for configuration in bpy.context.window_manager.keyconfigs:
        for keymap in configuration.keymaps:
            found += [f"{configuration.name} {keymap.name}: {item.idname}" for item in keymap.keymap_items]
    return found


def _timers():
    functions = [one for one in gc.get_objects() if isinstance(one, types.FunctionType)]
    return [_where(one) for one in functions if bpy.app.timers.is_registered(one)]
