"""Contacts: what was found, and edits at the playhead."""

from bpy.app.translations import pgettext_iface as iface_

from ..operators import properties
from ..rig.sentences import on_screen
from ..solvers.wording import Said, counted
from .panel import FootlockSubPanel, action_of, armature_of, draw_hint, draw_row, in_editors, leg_name

# The edits of a contact as buttons: what each does, its icon and its text.
_EDITS = (
    ("PLANT", "ADD"),
    ("FREE", "X"),
    ("SPLIT", "UNLINKED"),
    ("JOIN", "LINKED"),
    ("START", "TRIA_RIGHT_BAR"),
    ("END", "TRIA_LEFT_BAR"),
)
_SHIFTS = ((-1, "BACK"), (1, "FORWARD"))


class Contacts(FootlockSubPanel):
    bl_label = "Contacts"

    @classmethod
    def poll(cls, context):
        return armature_of(context) is not None

    def draw(self, context):
        layout = self.layout
        settings = context.scene.footlock
        armature = armature_of(context)
        _draw_edits(layout.column(align=True), armature.data.footlock, context.scene)
        _draw_footprint(layout, armature)
        action = action_of(armature)
        if action is not None and armature.data.footlock.found_action == action.name:
            _draw_found(layout, armature.data.footlock)
        exchange = layout.grid_flow(columns=2, even_columns=True, align=True)
        for name, text in (
            ("export_contacts", "Export"),
            ("import_contacts", "Import"),
            ("contacts_to_markers", "To Markers"),
            ("markers_to_contacts", "From Markers"),
        ):
            properties.copy(properties.ClipProperties, settings, exchange.operator(f"footlock.{name}", text=text))


classes = in_editors("FOOTLOCK_PT_contacts", Contacts)


def _draw_edits(layout, mapping, scene):
    """A row of buttons for each leg, which edit the contact at the playhead or over the preview range."""
    if not len(mapping.legs):
        draw_hint(layout, "Detect contacts to edit them here")
        return
    draw_hint(layout, "Over the preview range" if scene.use_preview_range else "At the playhead")
    for index, leg in enumerate(mapping.legs):
        row = layout.row(align=True)
        row.label(text=leg_name(leg), translate=False)
        for edit, icon in _EDITS:
            button = row.operator("footlock.edit_contact", text="", icon=icon)
            button.edit, button.leg = edit, index
            if scene.use_preview_range and edit in ("PLANT", "FREE"):
                button.use_range = True
                button.range_start, button.range_end = scene.frame_preview_start, scene.frame_preview_end
        for by, icon in _SHIFTS:
            button = row.operator("footlock.edit_contact", text="", icon=icon)
            button.edit, button.leg, button.by = "SHIFT", index, by


def _draw_footprint(layout, armature):
    """What can be done to the footprint that is selected in the viewport."""
    selected, legs = armature.footlock_selected, armature.data.footlock.legs
    if not 0 <= selected.leg < len(legs):
        if len(legs):
            draw_hint(layout, "Click a footprint to select it, drag it to move it")
        return
    box = layout.box().column(align=True)
    text = Said("Footprint of {leg}, frame {frame:.0f}", leg=leg_name(legs[selected.leg]), frame=selected.frame)
    box.label(text=on_screen(text), translate=False)
    row = box.row(align=True)
    for idname, icon, given in (
        ("footlock.edit_contact", "X", {"edit": "FREE"}),
        ("footlock.edit_contact", "BACK", {"edit": "SHIFT", "by": -1}),
        ("footlock.edit_contact", "FORWARD", {"edit": "SHIFT", "by": 1}),
        ("footlock.reset_footprint", "LOOP_BACK", {}),
    ):
        button = row.operator(idname, text="", icon=icon)
        button.leg, button.frame = selected.leg, selected.frame
        for name, value in given.items():
            setattr(button, name, value)


def _draw_found(layout, found):
    """What the last detection found."""
    column = layout.column(align=True)
    draw_row(column, "Root travels", iface_("{:.2f} m/s").format(found.root_speed))
    draw_row(column, "Feet travel", iface_("{:.2f} m/s").format(found.feet_speed))
    for leg in found.legs:
        box = layout.box().column(align=True)
        counts = counted(
            leg.contacts,
            "{leg}: {count} contact, {share:.0f} %",
            "{leg}: {count} contacts, {share:.0f} %",
            leg=leg_name(leg),
            share=100.0 * leg.share,
        )
        box.label(text=on_screen(counts), translate=False)
        draw_row(box, "Shortest", iface_("{:.2f} s").format(leg.shortest))
        draw_row(box, "Floor", iface_("{:.1f} cm").format(100.0 * leg.ground))
    shares = layout.column(align=True)
    draw_row(shares, "Two feet down", iface_("{:.0f} %").format(100.0 * found.double_support))
    draw_row(shares, "No foot down", iface_("{:.0f} %").format(100.0 * found.flight))
    draw_row(shares, "Planted below", iface_("{:.2f} m/s, {:.2f} m").format(found.enter, found.highest))
