# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel: what it shows in each state, drawn into a layout that records the calls, and what its buttons do.

A real layout exists in a window only (tests/window). The one here knows the functions of UILayout by their RNA, so a
wrong argument, icon, property or operator fails here too.
"""

import contextlib
import unittest
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import bpy

import footlock
from footlock import ui
from footlock.operators import properties
from footlock.rig import clip, compat, contact_property, correction, mapping, presets
from footlock.ui import panel

DATA = Path(__file__).resolve().parent.parent / "data"
CLIP = DATA / "cmu_131_01.bvh"

PANELS = [cls for cls in ui.classes if issubclass(cls, bpy.types.Panel)]
BUTTONS = {
    "footlock.detect_contacts": "DetectionProperties",
    "footlock.fit_root": "ResultProperties",
    "footlock.remove_sliding": "RemovalProperties",
}
HINTS = {"Select the armature of the character", "Assign or import an animation", "Found by their names when needed"}

UI_FUNCTIONS = bpy.types.UILayout.bl_rna.functions
ICONS = set(UI_FUNCTIONS["label"].parameters["icon"].enum_items.keys())
SUBLAYOUTS = ("row", "column", "box", "split", "grid_flow")


class Layout:
    """Records what is drawn. ``said``: texts and names of properties, with a ! in a row of alert; ``greyed``: those of
    them that are not active; ``buttons``: idname → what each button was given."""

    def __init__(self, parent=None):
        self.said = parent.said if parent else []
        self.buttons = parent.buttons if parent else {}
        self.greyed = parent.greyed if parent else []
        self.active = parent.active if parent else True
        self.alert = False
        self.scale_y = 1.0
        self.use_property_split = False
        self.operator_context = "EXEC_DEFAULT"
        self.use_property_decorate = True

    def __getattr__(self, name):
        if name not in SUBLAYOUTS:
            raise AttributeError(name)
        return lambda **arguments: self._sub(name, arguments)

    def __setattr__(self, name, value):
        if name not in ("said", "buttons", "greyed") and name not in bpy.types.UILayout.bl_rna.properties:
            raise AttributeError(f"UILayout has no {name}")
        object.__setattr__(self, name, value)

    def _sub(self, name, arguments):
        check_arguments(name, arguments)
        return Layout(self)

    def label(self, **arguments):
        check_arguments("label", arguments)
        self._say(arguments["text"])

    def prop(self, data, name, **arguments):
        check_arguments("prop", arguments)
        self._say(data.bl_rna.properties[name].name)

    def prop_search(self, data, name, search_data, search_name, **arguments):
        check_arguments("prop_search", arguments)
        search_data.bl_rna.properties[search_name]
        self._say(data.bl_rna.properties[name].name + ("!" if self.alert else ""))

    def operator(self, idname, **arguments):
        check_arguments("operator", arguments)
        given = OperatorSettings(idname)
        self.buttons.setdefault(idname, []).append(given)
        return given

    def menu(self, idname, **arguments):
        check_arguments("menu", arguments)
        assert issubclass(getattr(bpy.types, idname), bpy.types.Menu)

    def separator(self, **arguments):
        check_arguments("separator", arguments)

    def operator_menu_enum(self, idname, name, **arguments):
        check_arguments("operator_menu_enum", arguments)
        self.buttons.setdefault(idname, []).append(OperatorSettings(idname))
        operator_properties(idname)[name].enum_items[0]

    def _say(self, text):
        self.said.append(text)
        if not self.active:
            self.greyed.append(text)


class OperatorSettings:
    """Takes the properties of an operator and no others."""

    def __init__(self, idname):
        object.__setattr__(self, "idname", idname)
        operator_properties(idname)

    def __setattr__(self, name, value):
        operator_properties(self.idname)[name]
        object.__setattr__(self, name, value)


def operator_properties(idname):
    package, name = idname.split(".")
    return getattr(getattr(bpy.ops, package), name).get_rna_type().properties


def check_arguments(function, arguments):
    known = UI_FUNCTIONS[function].parameters
    for name, value in arguments.items():
        if name not in known:
            raise TypeError(f"UILayout.{function} has no argument {name}")
        if name == "icon" and value not in ICONS:
            raise TypeError(f"there is no icon {value}")


def drawn(cls):
    """The recorded layout of a panel, or None where its poll leaves it out."""
    if hasattr(cls, "poll") and not cls.poll(bpy.context):
        return None
    layout = Layout()
    mixed_in = {"split_layout": lambda: panel.FootlockSubPanel.split_layout(SimpleNamespace(layout=layout))}
    cls.draw(SimpleNamespace(layout=layout, **mixed_in), bpy.context)
    return layout


def all_drawn():
    return {cls.__name__: drawn(cls) for cls in PANELS}


@contextlib.contextmanager
def unregistered():
    footlock.unregister()
    try:
        yield
    finally:
        footlock.register()


def armature_of(bones):
    """An armature whose bones hang in a row, each from the one before; it is made active."""
    data = bpy.data.armatures.new("Puppet")
    armature = bpy.data.objects.new("Puppet", data)
    bpy.context.scene.collection.objects.link(armature)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    above = None
    for height, name in enumerate(reversed(bones)):
        bone = data.edit_bones.new(name)
        bone.head, bone.tail = (0.0, 0.0, height + 1.0), (0.0, 0.0, height)
    for name in bones:
        data.edit_bones[name].parent = above
        above = data.edit_bones[name]
    bpy.ops.object.mode_set(mode="OBJECT")
    return armature


def load_clip():
    bpy.ops.import_anim.bvh(filepath=str(CLIP))
    return bpy.context.object


class CleanFile(unittest.TestCase):
    def setUp(self):
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)


class Registration(CleanFile):
    def test_nothing_is_left_and_everything_comes_back_five_times(self):
        for _ in range(5):
            with unregistered():
                for cls in ui.classes:
                    self.assertFalse(cls.is_registered, cls.__name__)
                    self.assertFalse(hasattr(bpy.types, cls.__name__), cls.__name__)
                self.assertFalse(hasattr(bpy.types.Scene, "footlock"))
                self.assertFalse(hasattr(bpy.types.Armature, "footlock"))
                self.assertFalse(hasattr(bpy.types.Object, "footlock_influence"))
                self.assertEqual([name for name in dir(bpy.types) if name.lower().startswith("footlock")], [])
            for cls in ui.classes:
                self.assertTrue(cls.is_registered, cls.__name__)
            self.assertEqual(bpy.context.scene.footlock.bl_rna.identifier, "FootlockSettings")

    def test_the_panels_are_one_tab_of_the_viewport(self):
        for cls in PANELS:
            with self.subTest(cls.__name__):
                where = (cls.bl_space_type, cls.bl_region_type, cls.bl_category)
                self.assertEqual(where, ("VIEW_3D", "UI", "Footlock"))
        closed = [cls.bl_label for cls in PANELS if "DEFAULT_CLOSED" in getattr(cls, "bl_options", ())]
        self.assertEqual(closed, ["Legs", "Contacts", "Correction", "Live Lock", "Advanced"])


class Settings(CleanFile):
    def test_they_are_the_operators_own(self):
        settings = bpy.context.scene.footlock.bl_rna.properties
        seen = set()
        for idname in BUTTONS:
            for own in operator_properties(idname):
                if own.identifier == "rna_type":
                    continue
                seen.add(own.identifier)
                for what in ("type", "unit", "name", "description", "default", "hard_min", "soft_max", "precision"):
                    with self.subTest(operator=idname, property=own.identifier, what=what):
                        shown = settings[own.identifier]
                        self.assertEqual(getattr(own, what, None), getattr(shown, what, None))
        self.assertEqual(seen, set(settings.keys()) - {"rna_type", "name"})

    def test_all_say_what_they_are(self):
        for own in bpy.context.scene.footlock.bl_rna.properties:
            if own.identifier in ("rna_type", "name"):
                continue
            with self.subTest(own.identifier):
                self.assertTrue(own.name and own.description)
                self.assertFalse(own.is_animatable)
                if own.type == "FLOAT":
                    self.assertLess(own.soft_max, 10.0)

    def test_a_button_passes_what_the_panel_shows(self):
        settings = bpy.context.scene.footlock
        settings.velocity, settings.vote, settings.method, settings.unit = 0.5, 0.25, "runtime", 0.01
        buttons = drawn(panel.FOOTLOCK_PT_main).buttons
        for idname, group in BUTTONS.items():
            given = buttons[idname][0]
            for name in properties.names(getattr(properties, group)):
                with self.subTest(operator=idname, property=name):
                    self.assertEqual(getattr(given, name), getattr(settings, name))


class States(CleanFile):
    """What each panel says, from the first look to the result."""

    def hints(self, layouts):
        return {text for layout in layouts.values() if layout for text in layout.said} & HINTS

    def check_both_buttons(self, layouts):
        self.assertEqual(set(layouts["FOOTLOCK_PT_main"].buttons), set(BUTTONS))

    def test_no_object(self):
        layouts = all_drawn()
        self.check_both_buttons(layouts)
        self.assertEqual(self.hints(layouts), {"Select the armature of the character"})
        self.assertEqual(layouts["FOOTLOCK_PT_main"].greyed, ["Select the armature of the character"])
        self.assertIsNone(layouts["FOOTLOCK_PT_legs"])
        self.assertIsNone(layouts["FOOTLOCK_PT_result"])
        for idname in BUTTONS:
            self.assertFalse(getattr(bpy.ops.footlock, idname.split(".")[1]).poll())

    def test_another_object(self):
        bpy.ops.object.empty_add()
        self.assertEqual(self.hints(all_drawn()), {"Select the armature of the character"})

    def test_no_action(self):
        armature = armature_of(["Hips", "LeftUpLeg", "LeftLeg", "LeftFoot"])
        for _ in range(2):  # without animation data, and with some that has no action
            layouts = all_drawn()
            self.check_both_buttons(layouts)
            self.assertIn("Puppet", layouts["FOOTLOCK_PT_main"].said)
            self.assertIn("Assign or import an animation", layouts["FOOTLOCK_PT_main"].greyed)
            armature.animation_data_create()

    def test_not_mapped(self):
        load_clip()
        layouts = all_drawn()
        self.check_both_buttons(layouts)
        self.assertEqual(layouts["FOOTLOCK_PT_main"].said, ["cmu_131_01", "cmu_131_01"])
        self.assertEqual(self.hints(layouts), {"Found by their names when needed"})
        self.assertEqual(layouts["FOOTLOCK_PT_legs"].said, ["Found by their names when needed"])
        self.assertEqual(
            set(layouts["FOOTLOCK_PT_legs"].buttons), {"footlock.map_legs", "footlock.add_leg", "footlock.add_hands"}
        )
        self.assertIsNone(layouts["FOOTLOCK_PT_result"])

    def test_mapped(self):
        load_clip()
        bpy.ops.footlock.map_legs()
        layouts = all_drawn()
        self.assertEqual(self.hints(layouts), set())
        leg = ["Thigh", "Shin", "Foot", "Toe"]
        self.assertEqual(layouts["FOOTLOCK_PT_legs"].said, ["Pelvis", "Left", *leg, "Right", *leg])
        removers = layouts["FOOTLOCK_PT_legs"].buttons["footlock.remove_leg"]
        self.assertEqual([button.index for button in removers], [0, 1])
        self.assertIsNone(layouts["FOOTLOCK_PT_result"])

    def test_a_leg_by_hand_says_what_it_lacks(self):
        load_clip()
        bpy.ops.footlock.add_leg(side="NONE")
        said = drawn(panel.FOOTLOCK_PT_legs).said
        self.assertEqual(said, ["Pelvis!", "Leg", "Thigh!", "Shin!", "Foot!", "Toe"])

    def test_a_bone_that_is_gone_is_seen(self):
        armature = load_clip()
        bpy.ops.footlock.map_legs()
        armature.data.bones["LeftToe"].name = "Renamed"
        armature.data.footlock.pelvis = "Nowhere"
        said = drawn(panel.FOOTLOCK_PT_legs).said
        self.assertEqual([text for text in said if text.endswith("!")], ["Pelvis!", "Toe!"])

    def test_after_a_run(self):
        armature = load_clip()
        bpy.ops.footlock.detect_contacts()
        bpy.ops.footlock.remove_sliding()
        stored = armature.data.footlock.legs[0]
        said = drawn(panel.FOOTLOCK_PT_result).said
        mean = f"{stored.slide_before * 1000:.2f} → {stored.slide_after * 1000:.2f} mm"
        largest = f"{stored.largest_before * 1000:.2f} → {stored.largest_after * 1000:.2f} mm"
        self.assertEqual(said[1:6], [f"Left: {stored.contacts} contacts", "Mean", mean, "Largest", largest])
        self.assertGreater(stored.slide_before, 20.0 * stored.slide_after)
        self.assertIn("Right: ", "\n".join(said))
        all_drawn()

    def test_after_a_detection(self):
        """What was found is said: the root's speed against the feet's, contacts, shares and the floor."""
        armature = load_clip()
        legs = mapping.find(armature)
        correction.scale_travel(armature, clip.read(bpy.context.scene, armature, legs), 1.25)
        bpy.ops.footlock.detect_contacts()
        stored = armature.data.footlock
        said = drawn(panel.FOOTLOCK_PT_found).said
        self.assertIn("Root 1.26× too fast", said)
        self.assertIn(f"Left: {stored.legs[0].contacts} contacts, {100 * stored.legs[0].share:.0f} %", said)
        for caption in ("Root travels", "Feet travel", "Shortest", "Floor", "Two feet down", "No foot down"):
            self.assertIn(caption, said)
        self.assertIn("0.25 m/s, 0.10 m", said)
        bpy.ops.footlock.fit_root()
        self.assertIsNone(drawn(panel.FOOTLOCK_PT_found))

    def test_frames_out_of_reach_are_said_where_there_are_any(self):
        armature = load_clip()
        bpy.ops.footlock.map_legs()
        result = armature.data.footlock
        result.result_action, result.legs[1].out_of_reach = armature.animation_data.action.name, 7
        said = [text for text in drawn(panel.FOOTLOCK_PT_result).said if "reach" in text]
        self.assertEqual(said, ["7 frames out of reach"])

    def test_what_does_not_apply_is_greyed_or_hidden(self):
        settings = bpy.context.scene.footlock
        self.assertEqual(drawn(panel.FOOTLOCK_PT_contacts).greyed, ["From", "To"])
        self.assertNotIn("Speed (m/s)", drawn(panel.FOOTLOCK_PT_contacts).said)
        self.assertNotIn("Lock Within (m)", drawn(panel.FOOTLOCK_PT_removal).said)
        self.assertEqual(drawn(panel.FOOTLOCK_PT_removal).greyed, ["From", "To"])
        settings.cyclic = True
        self.assertEqual(
            drawn(panel.FOOTLOCK_PT_removal).greyed, ["Pin First Pose", "Pin Last Pose", "Only Frames", "From", "To"]
        )
        self.assertNotIn("Follow Slope", drawn(panel.FOOTLOCK_PT_removal).said)
        settings.ground = "OBJECT"
        self.assertIn("Follow Slope", drawn(panel.FOOTLOCK_PT_removal).said)
        settings.mode, settings.auto_height = "THRESHOLD", True
        self.assertEqual(drawn(panel.FOOTLOCK_PT_contacts).greyed, ["Height (m)", "Floor (m)", "Level", "From", "To"])
        settings.smoothing, settings.method, settings.use_range = 0.025, "runtime", True
        self.assertEqual(drawn(panel.FOOTLOCK_PT_contacts).greyed, ["Height (m)", "Floor (m)"])
        self.assertIn("Lock Within (m)", drawn(panel.FOOTLOCK_PT_removal).said)


class Legs(CleanFile):
    def beast(self, legs=4):
        armature = load_clip()
        mapped = armature.data.footlock
        for i in range(legs):
            leg = mapped.legs.add()
            leg.side, leg.place = "LR"[i % 2], ("Front", "Hind")[i // 2]
        return armature

    def test_legs_are_called_by_their_places(self):
        self.beast()
        said = drawn(panel.FOOTLOCK_PT_legs).said
        self.assertEqual(
            [text for text in said if "Left" in text or "Right" in text],
            ["Front Left", "Front Right", "Hind Left", "Hind Right"],
        )
        self.assertEqual(said.count("Place"), 4)

    def test_a_biped_has_no_places(self):
        load_clip()
        bpy.ops.footlock.map_legs()
        layout = drawn(panel.FOOTLOCK_PT_legs)
        self.assertNotIn("Place", layout.said)
        self.assertEqual([button.index for button in layout.buttons["footlock.mirror_leg"]], [0, 1])

    def test_a_question_has_a_button_for_each_answer(self):
        armature = load_clip()
        self.assertNotIn("footlock.choose_legs", drawn(panel.FOOTLOCK_PT_legs).buttons)
        for name in ("These", "Those"):
            armature.data.footlock.question.add().name = name
        layout = drawn(panel.FOOTLOCK_PT_legs)
        self.assertIn("Which are the legs?", layout.said)
        self.assertEqual([button.index for button in layout.buttons["footlock.choose_legs"]], [0, 1])
        bpy.ops.footlock.map_legs()
        self.assertNotIn("footlock.choose_legs", drawn(panel.FOOTLOCK_PT_legs).buttons)

    def test_presets(self):
        with mock.patch.object(presets, "names", lambda: ["One", "Two"]):
            layout = Layout()
            panel.FOOTLOCK_MT_leg_presets.draw(SimpleNamespace(layout=layout), bpy.context)
        for button in ("load", "delete"):
            names = [given.name for given in layout.buttons[f"footlock.{button}_leg_preset"]]
            self.assertEqual(names, ["One", "Two"])
        self.assertEqual(len(layout.buttons["footlock.save_leg_preset"]), 1)


class LegsByHand(CleanFile):
    def test_bones_without_telling_names(self):
        """What is chosen in the panel is used, whatever the names and the shape tell."""
        armature = load_clip()
        bones = armature.data.bones
        named = [side + joint for side in ("Left", "Right") for joint in ("Hip", "Knee", "Ankle", "Toe")]
        for letter, name in zip("abcdefghi", ["Hips", *named], strict=True):
            bones[name].name = f"part {letter}"
        for side, parts in (("LEFT", "bcde"), ("RIGHT", "fghi")):
            bpy.ops.footlock.add_leg(side=side)
            leg = armature.data.footlock.legs[-1]
            with self.assertRaisesRegex(RuntimeError, "lacks a bone|is not in|no pelvis"):
                bpy.ops.footlock.detect_contacts()
            leg.thigh, leg.shin, leg.foot, leg.toe = (f"part {letter}" for letter in parts)
            armature.data.footlock.pelvis = "part a"
        self.assertEqual([leg.side for leg in mapping.stored(armature).legs], ["L", "R"])

        bpy.ops.footlock.detect_contacts()
        for leg in ("part e", "part i"):
            self.assertIn(contact_property.NAME, armature.pose.bones[leg])
        bpy.ops.footlock.remove_sliding()
        result = armature.data.footlock
        self.assertEqual(result.result_action, armature.animation_data.action.name)
        self.assertLess(result.legs[1].slide_after, 0.05 * result.legs[1].slide_before)

    def test_remove(self):
        armature = load_clip()
        bpy.ops.footlock.map_legs()
        stored = armature.data.footlock
        stored.result_action = armature.animation_data.action.name
        bpy.ops.footlock.remove_leg(index=0)
        self.assertEqual([leg.side for leg in stored.legs], ["R"])
        self.assertEqual(stored.result_action, "")
        self.assertEqual([leg.side for leg in mapping.of(armature).legs], ["R"])
        bpy.ops.footlock.detect_contacts()
        curves = [curve for curve in compat.channels(armature).fcurves if curve.data_path.endswith('["contact"]')]
        self.assertEqual(len(curves), 1)

        bpy.ops.footlock.remove_leg(index=0)
        self.assertEqual([leg.side for leg in mapping.of(armature).legs], ["L", "R"])  # by name again

    def test_remove_what_is_not_there(self):
        load_clip()
        with self.assertRaisesRegex(RuntimeError, "There is no leg 3"):
            bpy.ops.footlock.remove_leg(index=3)

    def test_undo(self):
        name = load_clip().name
        bpy.ops.ed.undo_push(message="base")
        bpy.ops.footlock.map_legs("EXEC_DEFAULT", True)
        bpy.ops.footlock.remove_leg("EXEC_DEFAULT", True, index=1)
        bpy.ops.footlock.add_leg("EXEC_DEFAULT", True, side="NONE")
        counts = []
        for _ in range(4):
            counts.append([leg.side for leg in bpy.data.objects[name].data.footlock.legs])
            if len(counts) < 4:
                bpy.ops.ed.undo()
        self.assertEqual(counts, [["L", ""], ["L"], ["L", "R"], []])
