"""Sentences in the language of Blender's interface, as they are shown."""

import bpy

from ..solvers import wording
from ..solvers.errors import FootlockError


def translated(said):
    """A FootlockError, Said or Listed as it is reported; other texts stay as they are. For tooltips, too, in which
    Blender shows what a poll says without translating it."""
    return wording.retold(_of(said), bpy.app.translations.pgettext_rpt)


def on_screen(said):
    """The same for panels, overlays and the status bar."""
    return wording.retold(_of(said), bpy.app.translations.pgettext_iface)


def _of(said):
    return said.said if isinstance(said, FootlockError) else said
