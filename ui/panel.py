"""The Footlock tab in the sidebar of the 3D viewport. It shows what is stored and computes nothing."""

import bpy
from bpy.app.translations import pgettext_iface as iface_

from ..operators import properties
from ..rig.names import ROLES, Leg

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
    data = armature.animation_data
    return data.action if data else None


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
        remove = buttons.operator("footlock.remove_sliding")
        properties.copy(properties.RemovalProperties, settings, remove)


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


class FOOTLOCK_PT_legs(FootlockSubPanel, bpy.types.Panel):
    bl_label = "Legs"

    @classmethod
    def poll(cls, context):
        return _armature(context) is not None

    def draw(self, context):
        layout = self.split_layout()
        armature = _armature(context).data
        mapping = armature.footlock
        layout.operator("footlock.map_legs", icon="VIEWZOOM")
        if len(mapping.legs):
            _draw_bone(layout, mapping, "pelvis", armature)
        else:
            _draw_hint(layout, "Found by their names when needed")
        for index, leg in enumerate(mapping.legs):
            _draw_leg(layout.box(), index, leg, armature)
        layout.operator_menu_enum("footlock.add_leg", "side", icon="ADD")


class FOOTLOCK_PT_contacts(FootlockSubPanel, bpy.types.Panel):
    bl_label = "Contacts"

    def draw(self, context):
        layout = self.split_layout()
        settings = context.scene.footlock
        planted = layout.column(align=True)
        planted.prop(settings, "velocity")
        planted.prop(settings, "height")
        cleaned = layout.column(align=True)
        cleaned.prop(settings, "vote")
        cleaned.prop(settings, "smoothing")
        level = cleaned.column(align=True)
        level.active = settings.smoothing > 0.0
        level.prop(settings, "level")


class FOOTLOCK_PT_advanced(FootlockSubPanel, bpy.types.Panel):
    bl_label = "Advanced"

    def draw(self, context):
        layout = self.split_layout()
        settings = context.scene.footlock
        layout.prop(settings, "method")
        if settings.method == "runtime":
            lock = layout.column(align=True)
            lock.prop(settings, "lock_distance")
            lock.prop(settings, "unlock_distance")
            lock.prop(settings, "blend_time")
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
    if action is None:
        _draw_hint(layout, "Assign or import an animation", icon="ACTION")
    else:
        layout.label(text=action.name, icon="ACTION", translate=False)


def _draw_hint(layout, text, icon="NONE"):
    row = layout.row()
    row.active = False
    row.label(text=text, icon=icon)


def _draw_leg(layout, index, leg, armature):
    header = layout.row()
    header.label(text=_leg_name(leg), translate=False)
    header.operator("footlock.remove_leg", text="", icon="X", emboss=False).index = index
    bones = layout.column(align=True)
    for role in ROLES:
        _draw_bone(bones, leg, role, armature, needed=role != "toe")


def _draw_bone(layout, owner, role, armature, needed=True):
    """A picker of a bone, red where the bone is not there, or not chosen though it is needed."""
    name = getattr(owner, role)
    row = layout.row(align=True)
    row.alert = name not in armature.bones if name else needed
    row.prop_search(owner, role, armature, "bones")


def _draw_result(layout, leg):
    counts = iface_("{:d} contacts").format(leg.contacts)
    layout.label(text=f"{_leg_name(leg)}: {counts}", translate=False)
    _draw_slide(layout, "Mean", leg.slide_before, leg.slide_after)
    _draw_slide(layout, "Largest", leg.largest_before, leg.largest_after)
    if leg.out_of_reach:
        layout.label(text=iface_("{:d} frames out of reach").format(leg.out_of_reach), icon="ERROR", translate=False)


def _draw_slide(layout, caption, before, after):
    row = layout.split(factor=_CAPTION)
    row.label(text=caption)
    row.label(text=iface_("{:.2f} → {:.2f} mm").format(before * _MM, after * _MM), translate=False)


def _leg_name(leg):
    """What a leg is called, ready to be shown: a side is translated, a bone's name never."""
    label = Leg(leg.side, leg.thigh, leg.shin, leg.foot, leg.toe).label
    return iface_(label or "Leg") if leg.side or not label else label
