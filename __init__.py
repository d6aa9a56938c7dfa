"""Footlock: feet that stay where they are planted.

Registers the extension and nothing else. Blender's modules are imported when it is enabled, so the solvers can be
used, and tested, without Blender.
"""


def register():
    from . import operators, ui
    from .batching import command
    from .rig import contact_reports, mapping, trail_cache

    mapping.register()
    contact_reports.register()
    trail_cache.register()
    operators.register()
    ui.register()
    command.register()


def unregister():
    from . import operators, ui
    from .batching import command
    from .rig import contact_reports, mapping, trail_cache

    command.unregister()
    ui.unregister()
    operators.unregister()
    trail_cache.unregister()
    contact_reports.unregister()
    mapping.unregister()
