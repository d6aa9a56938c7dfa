"""Footlock: feet that stay where they are planted.

Registers the extension and nothing else. Blender's modules are imported when it is enabled, so the solvers can be
used, and tested, without Blender.
"""


def register():
    from . import operators, ui
    from .rig import contact_reports, mapping

    mapping.register()
    contact_reports.register()
    operators.register()
    ui.register()


def unregister():
    from . import operators, ui
    from .rig import contact_reports, mapping

    ui.unregister()
    operators.unregister()
    contact_reports.unregister()
    mapping.unregister()
