"""Footprints under the mouse: a click selects the contact, a drag moves it, or turns it with Ctrl held.

A gizmo is asked before the tool in use is, but says no wherever there is no footprint, so clicks elsewhere are as ever.
"""

import bpy
import numpy as np
from bpy_extras import view3d_utils
from mathutils import Matrix, Vector
from mathutils.geometry import intersect_line_plane

from ..rig.sentences import on_screen
from ..solvers import footprints
from ..solvers.wording import Said
from . import overlay

# A press that moves no further than this, pixels at a resolution scale of 1, is a click.
_CLICK = 4.0


class FOOTLOCK_GT_footprints(bpy.types.Gizmo):
    """All footprints of the active armature. The overlay draws them."""

    bl_idname = "FOOTLOCK_GT_footprints"

    def draw(self, context):
        pass

    def test_select(self, context, location):
        return 0 if print_at(context, location) is not None else -1


class FOOTLOCK_GGT_footprints(bpy.types.GizmoGroup):
    bl_idname = "FOOTLOCK_GGT_footprints"
    bl_label = "Footprints"
    bl_space_type = "VIEW_3D"
    bl_region_type = "WINDOW"
    bl_options = {"3D", "PERSISTENT"}

    @classmethod
    def poll(cls, context):
        return overlay.footprints_shown(context) is not None

    def setup(self, context):
        self.gizmos.new(FOOTLOCK_GT_footprints.bl_idname).target_set_operator("footlock.grab_footprint")


class FOOTLOCK_OT_grab_footprint(bpy.types.Operator):
    bl_idname = "footlock.grab_footprint"
    bl_label = "Grab Footprint"
    bl_description = "Select the contact of the footprint under the mouse; drag to move it, with Ctrl to turn it"
    bl_options = {"UNDO", "INTERNAL"}

    def invoke(self, context, event):
        found = print_at(context, (event.mouse_region_x, event.mouse_region_y))
        if found is None:
            return {"PASS_THROUGH"}
        armature, made, index = found
        prints = made.prints
        self._armature = armature.name
        self._leg, self._frame = int(prints.leg[index]), float(0.5 * (prints.first[index] + prints.last[index]))
        to_world = Matrix(made.trails.to_world(armature))
        self._toe = to_world @ Vector(prints.toe[index])
        self._unit = made.trails.unit
        self._start = Vector((event.mouse_region_x, event.mouse_region_y))
        self._begun = self._floor_under(context, self._start)
        self._offset, self._turn = Vector((0.0, 0.0, 0.0)), 0.0
        self._dragged = False
        selected = armature.footlock_selected
        selected.leg, selected.frame = self._leg, self._frame
        context.area.tag_redraw()
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context, event):
        if event.type == "MOUSEMOVE":
            self._drag(context, event)
            return {"RUNNING_MODAL"}
        if event.type == "LEFTMOUSE" and event.value == "RELEASE":
            self._end(context)
            return self._moved(context) if self._dragged else {"FINISHED"}
        if event.type in ("ESC", "RIGHTMOUSE"):
            self._end(context)
            return {"CANCELLED"}
        return {"RUNNING_MODAL"}

    def _drag(self, context, event):
        at = Vector((event.mouse_region_x, event.mouse_region_y))
        self._dragged |= (at - self._start).length > _CLICK * context.preferences.system.ui_scale
        there = self._floor_under(context, at)
        if not self._dragged or there is None or self._begun is None:
            return
        if event.ctrl:
            before, after = (self._begun - self._toe).to_2d(), (there - self._toe).to_2d()
            self._offset = Vector((0.0, 0.0, 0.0))
            self._turn = -before.angle_signed(after, 0.0) if before.length and after.length else 0.0
        else:
            self._offset, self._turn = there - self._begun, 0.0
        overlay.show_dragged(self._leg, self._frame, self._placed())
        text = Said(
            "Footprint: {length:.1f} cm, {turn:.1f}°; Ctrl turns, Esc cancels",
            length=100.0 * self._unit * self._offset.length,
            turn=np.degrees(self._turn),
        )
        context.workspace.status_text_set(on_screen(text))
        context.area.tag_redraw()

    def _placed(self):
        """The matrix (4, 4) in the world that brings the print from where it is to where it is dragged."""
        turned = Matrix.Translation(self._toe) @ Matrix.Rotation(self._turn, 4, "Z") @ Matrix.Translation(-self._toe)
        return np.array(Matrix.Translation(self._offset) @ turned)

    def _floor_under(self, context, at):
        """Where the floor on which the foot stands is under a place of the region (Vector), or None."""
        eye = view3d_utils.region_2d_to_origin_3d(context.region, context.region_data, at)
        way = view3d_utils.region_2d_to_vector_3d(context.region, context.region_data, at)
        return intersect_line_plane(eye, eye + way, self._toe, Vector((0.0, 0.0, 1.0)))

    def _end(self, context):
        overlay.show_dragged()
        context.workspace.status_text_set(None)
        if context.area is not None:
            context.area.tag_redraw()

    def _moved(self, context):
        armature = context.object
        if armature is None or armature.name != self._armature:
            return {"CANCELLED"}
        # It may go on beside the interface, and is a step of undo of its own, so that this one makes none.
        bpy.ops.footlock.move_footprint(
            "INVOKE_DEFAULT",
            True,
            leg=self._leg,
            frame=self._frame,
            offset=tuple(self._offset * self._unit),
            turn=self._turn,
        )
        return {"CANCELLED"}


classes = (FOOTLOCK_OT_grab_footprint, FOOTLOCK_GT_footprints, FOOTLOCK_GGT_footprints)


def print_at(context, xy):
    """(armature, what the overlay has of it, index of its footprint) at a place of the region, or None."""
    shown = overlay.footprints_shown(context)
    if shown is None or context.region is None:
        return None
    armature, made = shown
    projection = np.array(context.region_data.perspective_matrix) @ made.trails.to_world(armature)
    index = footprints.footprint_at(made.prints, projection, (context.region.width, context.region.height), xy)
    return None if index < 0 else (armature, made, index)
