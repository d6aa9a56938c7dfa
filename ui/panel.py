"""The Footlock tab in the sidebar of the 3D viewport. It shows what is stored and computes nothing."""

import bpy
from bpy.app.translations import pgettext_iface as iface_

from ..operators import properties
from ..rig import mapping as legs_of
from ..rig import nla, presets, results
from ..rig.names import ROLES

_MM = 1000.0
# How much larger than usual the buttons are that a new user shall see first.
_BUTTON_SCALE = 1.5
# Share of the width that captions take, as in Blender's own panels.
_CAPTION = 0.4


def _armature(context):
    """The armature that the operators would work on, or None."""
    armature = context.object
    return armature if armature is not None and armature.type == "ARMATURE" else None


def _action(armature):
    """The action that is shown: that in use, or of the correction layer, or None."""
    return results.subject(armature)


class FootlockPanel:
    """Where the panels are."""

    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Footlock"


class FootlockSubPanel(FootlockPanel):
    """A panel within the first one, collapsed until it is wanted."""

    bl_parent_id = "FOOTLOCK_PT_main"
    bl_options = {"DEFAULT_CLOSED"}

    def split_layout(self):
        """The panel's layout with names left of values, and nothing about keyframes, which settings do not have."""
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        return layout


class FOOTLOCK_PT_main(FootlockPanel, bpy.types.Panel):
    bl_label = "Footlock"

    def draw(self, context):
        layout = self.layout
        settings = context.scene.footlock
        _draw_subject(layout.column(align=True), _armature(context))
        buttons = layout.column()
        buttons.scale_y = _BUTTON_SCALE
        detect = buttons.operator("footlock.detect_contacts")
        properties.copy(properties.DetectionProperties, settings, detect)
        properties.copy(properties.ResultProperties, settings, buttons.operator("footlock.fit_root"))
        remove = buttons.operator("footlock.remove_sliding")
        properties.copy(properties.RemovalProperties, settings, remove)
        if _armature(context) is not None:
            _draw_way_back(layout.column(), _armature(context))


class FOOTLOCK_PT_result(FootlockSubPanel, bpy.types.Panel):
    bl_label = "Result"
    bl_options = set()  # open: it comes only with a run, and is what the run was for

    @classmethod
    def poll(cls, context):
        armature = _armature(context)
        action = _action(armature) if armature is not None else None
        return action is not None and armature.data.footlock.result_action == action.name

    def draw(self, context):
        layout = self.layout
        _draw_hint(layout, "Slide of planted feet per frame")
        for leg in _armature(context).data.footlock.legs:
            _draw_result(layout.box().column(align=True), leg)


class FOOTLOCK_PT_found(FootlockSubPanel, bpy.types.Panel):
    bl_label = "Found"
    bl_options = set()  # open: it comes only with a detection, and is what one looks for after it

    @classmethod
    def poll(cls, context):
        armature = _armature(context)
        action = _action(armature) if armature is not None else None
        return action is not None and armature.data.footlock.found_action == action.name

    def draw(self, context):
        layout = self.layout
        found = _armature(context).data.footlock
        _draw_root(layout.column(align=True), found)
        for leg in found.legs:
            _draw_found(layout.box().column(align=True), leg)
        shares = layout.column(align=True)
        _draw_row(shares, "Two feet down", iface_("{:.0f} %").format(100.0 * found.double_support))
        _draw_row(shares, "No foot down", iface_("{:.0f} %").format(100.0 * found.flight))
        _draw_row(shares, "Planted below", iface_("{:.2f} m/s, {:.2f} m").format(found.enter, found.highest))


class FOOTLOCK_PT_legs(FootlockSubPanel, bpy.types.Panel):
    bl_label = "Legs"

    @classmethod
    def poll(cls, context):
        return _armature(context) is not None

    def draw(self, context):
        layout = self.split_layout()
        armature = _armature(context).data
        mapping = armature.footlock
        find = layout.row(align=True)
        find.operator("footlock.map_legs", icon="VIEWZOOM")
        find.menu("FOOTLOCK_MT_leg_presets", text="", icon="PRESET")
        _draw_question(layout, mapping)
        if len(mapping.legs):
            _draw_bone(layout, mapping, "pelvis", armature)
        else:
            _draw_hint(layout, "Found by their names when needed")
        for index, leg in enumerate(mapping.legs):
            _draw_leg(layout.box(), index, leg, armature, several=len(mapping.legs) > 2)
        add = layout.row(align=True)
        add.operator_menu_enum("footlock.add_leg", "side", icon="ADD")
        add.operator("footlock.add_hands", icon="VIEW_PAN")


class FOOTLOCK_MT_leg_presets(bpy.types.Menu):
    bl_label = "Presets of Legs"

    def draw(self, context):
        layout = self.layout
        for name in presets.names():
            layout.operator("footlock.load_leg_preset", text=name, translate=False).name = name
        layout.separator()
        layout.operator_context = "INVOKE_DEFAULT"
        layout.operator("footlock.save_leg_preset", icon="ADD")
        for name in presets.names():
            text = iface_("Delete “{:s}”").format(name)
            layout.operator("footlock.delete_leg_preset", text=text, icon="X", translate=False).name = name


class FOOTLOCK_PT_contacts(FootlockSubPanel, bpy.types.Panel):
    bl_label = "Contacts"

    def draw(self, context):
        layout = self.split_layout()
        settings = context.scene.footlock
        layout.prop(settings, "mode")
        if settings.mode == "THRESHOLD":
            _draw_thresholds(layout, settings)
        span = layout.column(align=True)
        span.prop(settings, "use_range")
        frames = span.column(align=True)
        frames.active = settings.use_range
        frames.prop(settings, "range_start")
        frames.prop(settings, "range_end")
        layout.prop(settings, "replace_edited")
        layout.prop(settings, "bake")
        exchange = layout.grid_flow(columns=2, even_columns=True, align=True)
        for name, text in (
            ("export_contacts", "Export"),
            ("import_contacts", "Import"),
            ("contacts_to_markers", "To Markers"),
            ("markers_to_contacts", "From Markers"),
        ):
            properties.copy(properties.ClipProperties, settings, exchange.operator(f"footlock.{name}", text=text))


class FOOTLOCK_PT_removal(FootlockSubPanel, bpy.types.Panel):
    bl_label = "Correction"

    def draw(self, context):
        layout = self.split_layout()
        settings = context.scene.footlock
        layout.prop(settings, "result")
        layout.prop(settings, "method")
        if settings.method == "runtime":
            lock = layout.column(align=True)
            for name in ("lock_distance", "unlock_distance", "blend_time"):
                lock.prop(settings, name)
            return
        for group in (("smooth_time",), ("keep_path", "lower_hips", "stretch"), ("hold_heading", "keep_dips")):
            column = layout.column(align=True)
            for name in group:
                column.prop(settings, name)
        _draw_floor(layout.column(align=True), settings, context.scene)
        keys = layout.column(align=True)
        keys.prop(settings, "keys")
        if settings.keys == "REDUCED":
            keys.prop(settings, "key_tolerance")
        ends = layout.column(align=True)
        ends.prop(settings, "cyclic")
        pins = ends.column(align=True)
        pins.active = not settings.cyclic
        pins.prop(settings, "pin_first")
        pins.prop(settings, "pin_last")
        span = pins.column(align=True)
        span.prop(settings, "solve_range")
        frames = span.column(align=True)
        frames.active = settings.solve_range
        frames.prop(settings, "solve_start")
        frames.prop(settings, "solve_end")


class FOOTLOCK_PT_advanced(FootlockSubPanel, bpy.types.Panel):
    bl_label = "Advanced"

    def draw(self, context):
        layout = self.split_layout()
        settings = context.scene.footlock
        layout.prop(settings, "softening")
        unit = layout.column(align=True)
        unit.prop(settings, "unit")
        if settings.unit == 0.0:
            _draw_hint(unit, "0: judged from the length of the legs")


def _draw_subject(layout, armature):
    """What the buttons work on, or what to do to give them something."""
    if armature is None:
        _draw_hint(layout, "Select the armature of the character", icon="ARMATURE_DATA")
        return
    layout.label(text=armature.name, icon="ARMATURE_DATA", translate=False)
    action = _action(armature)
    if action is not None:
        layout.label(text=action.name, icon="ACTION", translate=False)
        if action.library is not None:
            layout.operator("footlock.copy_action", icon="DUPLICATE")
    strips = results.layer(armature) is None and nla.live_strips(armature.animation_data)
    if strips:
        _draw_hint(layout, "NLA strips move it, too" if action else "NLA strips alone move it", icon="NLA")
        layout.operator("footlock.bake_nla", icon="NLA_PUSHDOWN")
    elif action is None:
        _draw_hint(layout, "Assign or import an animation", icon="ACTION")


def _draw_way_back(layout, armature):
    """How much of a correction layer shows, and the way back from it or from a copy."""
    original = results.original(_action(armature))
    if original is None:
        return
    if results.layer(armature):
        layout.prop(armature, "footlock_influence", slider=True)
    text = iface_("Revert to “{}”").format(original.name)
    layout.operator("footlock.revert", text=text, icon="LOOP_BACK", translate=False)


def _draw_hint(layout, text, icon="NONE"):
    row = layout.row()
    row.active = False
    row.label(text=text, icon=icon)


def _draw_question(layout, mapping):
    """The legs to choose from where it is not clear which they are."""
    if not len(mapping.question):
        return
    column = layout.column(align=True)
    column.label(text="Which are the legs?", icon="QUESTION")
    for index, choice in enumerate(mapping.question):
        column.operator("footlock.choose_legs", text=choice.name, translate=False).index = index


def _draw_leg(layout, index, leg, armature, several):
    header = layout.row()
    header.label(text=_leg_name(leg), translate=False)
    header.operator("footlock.mirror_leg", text="", icon="MOD_MIRROR", emboss=False).index = index
    header.operator("footlock.remove_leg", text="", icon="X", emboss=False).index = index
    bones = layout.column(align=True)
    if several:
        bones.prop(leg, "place")
    for role in ROLES:
        _draw_bone(bones, leg, role, armature, needed=role != "toe")


def _draw_bone(layout, owner, role, armature, needed=True):
    """A picker of a bone, red where the bone is not there, or not chosen though it is needed."""
    name = getattr(owner, role)
    row = layout.row(align=True)
    row.alert = name not in armature.bones if name else needed
    row.prop_search(owner, role, armature, "bones")


def draw_planted(layout, settings):
    """The thresholds below which a foot may be planted, each with a switch that has it chosen."""
    planted = layout.column(align=True)
    for name in ("velocity", "height", "floor"):
        row = planted.row(align=True)
        value = row.row(align=True)
        value.active = not getattr(settings, f"auto_{name}")
        value.prop(settings, name)
        row.prop(settings, f"auto_{name}", text="", icon="AUTO")


def _draw_thresholds(layout, settings):
    draw_planted(layout, settings)
    cleaned = layout.column(align=True)
    cleaned.prop(settings, "vote")
    cleaned.prop(settings, "smoothing")
    level = cleaned.column(align=True)
    level.active = settings.smoothing > 0.0
    level.prop(settings, "level")


def _draw_floor(layout, settings, scene):
    """What the feet stand on."""
    layout.prop(settings, "ground")
    if settings.ground == "HEIGHT":
        layout.prop(settings, "ground_height")
    elif settings.ground == "OBJECT":
        row = layout.row()
        row.alert = settings.ground_object not in scene.objects
        row.prop_search(settings, "ground_object", scene, "objects")
        layout.prop(settings, "follow_slope")


def _draw_root(layout, found):
    """How fast the root travels, and how fast the feet would have it."""
    _draw_row(layout, "Root travels", iface_("{:.2f} m/s").format(found.root_speed))
    _draw_row(layout, "Feet travel", iface_("{:.2f} m/s").format(found.feet_speed))
    if found.root_kind == "scale":
        much = found.root_scale > 1.0
        text = iface_("Root {:.2f}× too fast") if much else iface_("Root {:.2f}× too slow")
        ratio = found.root_scale if much else 1.0 / found.root_scale
        layout.label(text=text.format(ratio), icon="ERROR", translate=False)
    elif found.in_place:
        layout.label(text="In place", icon="INFO")
    elif found.root_kind == "path":
        layout.label(text="The root does not fit the feet", icon="ERROR")


def _draw_found(layout, leg):
    counts = iface_("{:d} contacts, {:.0f} %").format(leg.contacts, 100.0 * leg.share)
    layout.label(text=f"{_leg_name(leg)}: {counts}", translate=False)
    _draw_row(layout, "Shortest", iface_("{:.2f} s").format(leg.shortest))
    _draw_row(layout, "Floor", iface_("{:.1f} cm").format(100.0 * leg.ground))


def _draw_row(layout, caption, text):
    row = layout.split(factor=_CAPTION)
    row.label(text=caption)
    row.label(text=text, translate=False)


def _draw_result(layout, leg):
    counts = iface_("{:d} contacts").format(leg.contacts)
    layout.label(text=f"{_leg_name(leg)}: {counts}", translate=False)
    _draw_slide(layout, "Mean", leg.slide_before, leg.slide_after)
    _draw_slide(layout, "Largest", leg.largest_before, leg.largest_after)
    if leg.out_of_reach:
        layout.label(text=iface_("{:d} frames out of reach").format(leg.out_of_reach), icon="ERROR", translate=False)


def _draw_slide(layout, caption, before, after):
    _draw_row(layout, caption, iface_("{:.2f} → {:.2f} mm").format(before * _MM, after * _MM))


def _leg_name(leg):
    """What a leg is called, ready to be shown: a side is translated, a bone's name never."""
    label = legs_of.leg_of(leg).label
    return iface_(label or "Leg") if leg.side or not label else label
