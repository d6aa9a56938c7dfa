"""Sentences in the language of Blender's interface, as they are shown."""

from bpy.app.translations import pgettext_iface as iface_
from bpy.app.translations import pgettext_rpt as rpt_

from ..solvers.errors import FootlockError
from ..solvers.wording import retold


def translated(said):
    """A FootlockError, Said or Listed as it is reported; other texts as they are."""
    return retold(_of(said), rpt_)


def on_screen(said):
    """The same for panels, overlays and the status bar."""
    return retold(_of(said), iface_)


def _of(said):
    return said.said if isinstance(said, FootlockError) else said
