# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel: what it shows in each state, drawn into a layout that records the calls, and what its buttons do.

A real layout exists in a window only (tests/window). The one here knows the functions of UILayout by their RNA, so a
wrong argument, icon, property or operator fails here too.
"""

import contextlib
import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import bpy
import clips
from bl_ui.utils import PresetPanel

import footlock
from footlock import ui
from footlock.operators import properties
from footlock.rig import clip, compat, contact_property, correction, mapping, presets
from footlock.ui import legs_panel, panel, presets_panel

DATA = Path(__file__).resolve().parent.parent / "data"
CLIP = DATA / "cmu_131_01.bvh"

# The panels of the tab, without the menu of presets, which is Blender's own.
PANELS = [cls for cls in ui.classes if issubclass(cls, bpy.types.Panel) and not issubclass(cls, PresetPanel)]
NAMED = {cls.__name__: cls for cls in PANELS}
MAIN, LEGS, CONTACTS, FLOOR, FIX, RESULT, ADVANCED = (
    NAMED[f"FOOTLOCK_PT_{name}"] for name in ("main", "legs", "contacts", "floor", "fix", "result", "advanced")
)
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

    def template_list(self, listtype, list_id, data, name, active_data, active_name, **arguments):
        check_arguments("template_list", arguments)
        active_data.bl_rna.properties[active_name]
        for index, item in enumerate(getattr(data, name)):
            row = Layout()
            getattr(ui.report_panel, listtype).draw_item(
                None, bpy.context, row, data, item, 0, active_data, active_name, index
            )
            self._say(" ".join(row.said))

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


def load_clip(frames=995):
    """The first frames of the clip, at 24 a second."""

    def make():
        clips.new_file()
        with tempfile.TemporaryDirectory() as folder:
            bpy.ops.import_anim.bvh(filepath=str(clips.part(folder, CLIP, frames)))

    return clips.opened(("panel", frames), make)


class CleanFile(unittest.TestCase):
    def setUp(self):
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)


class Registration(CleanFile):
    def test_nothing_is_left_and_everything_comes_back_five_times(self):
        for _ in range(5):
            with unregistered():
                for cls in ui.classes:
                    self.assertFalse(getattr(cls, "is_registered", False), cls.__name__)
                    self.assertFalse(hasattr(bpy.types, cls.__name__), cls.__name__)
                self.assertFalse(hasattr(bpy.types.Scene, "footlock"))
                self.assertFalse(hasattr(bpy.types.Armature, "footlock"))
                self.assertFalse(hasattr(bpy.types.Object, "footlock_influence"))
                self.assertFalse(hasattr(bpy.types.Action, "footlock_report"))
                self.assertFalse(hasattr(bpy.types.WindowManager, "footlock_report"))
                self.assertEqual([name for name in dir(bpy.types) if name.lower().startswith("footlock")], [])
            for cls in ui.classes:
                self.assertTrue(getattr(cls, "is_registered", True), cls.__name__)  # gizmos do not say
            self.assertEqual(bpy.context.scene.footlock.bl_rna.identifier, "FootlockSettings")

    def test_the_panels_are_one_tab_in_three_editors(self):
        for cls in PANELS:
            with self.subTest(cls.__name__):
                editor = {"dope_sheet": "DOPESHEET_EDITOR", "graph": "GRAPH_EDITOR"}
                ending = next((name for name in editor if cls.__name__.endswith(name)), "")
                where = (cls.bl_space_type, cls.bl_region_type, cls.bl_category)
                self.assertEqual(where, (editor.get(ending, "VIEW_3D"), "UI", "Footlock"))
                if cls.bl_label != "Footlock":
                    self.assertEqual(cls.bl_parent_id, f"FOOTLOCK_PT_main{ending and f'_{ending}'}")
        closed = {cls.bl_label for cls in PANELS if "DEFAULT_CLOSED" in getattr(cls, "bl_options", ())}
        self.assertLessEqual({"Legs", "Floor", "Contacts", "Fix", "Live Lock", "Overlay", "Advanced"}, closed)
        for label in ("Footlock", "Contacts", "Result"):
            self.assertEqual(len([cls for cls in PANELS if cls.bl_label == label]), 3, label)


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
        buttons = {**drawn(MAIN).buttons, **drawn(FIX).buttons}
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
        self.assertEqual(
            set(layouts["FOOTLOCK_PT_main"].buttons), {"footlock.detect_contacts", "footlock.remove_sliding"}
        )

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
        self.assertEqual(layouts["FOOTLOCK_PT_main"].said, ["cmu_131_01", "cmu_131_01", "Frames 1 to 995, 41.4 s"])
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
        said = drawn(LEGS).said
        self.assertEqual(said, ["Pelvis!", "Leg", "Thigh!", "Shin!", "Foot!", "Toe"])

    def test_a_bone_that_is_gone_is_seen(self):
        armature = load_clip()
        bpy.ops.footlock.map_legs()
        armature.data.bones["LeftToe"].name = "Renamed"
        armature.data.footlock.pelvis = "Nowhere"
        said = drawn(LEGS).said
        self.assertEqual([text for text in said if text.endswith("!")], ["Pelvis!", "Toe!"])

    def test_after_a_run(self):
        armature = load_clip(300)
        bpy.ops.footlock.detect_contacts()
        bpy.ops.footlock.remove_sliding()
        stored = armature.data.footlock.legs[0]
        said = drawn(RESULT).said
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
        main, said = drawn(MAIN), drawn(CONTACTS).said
        self.assertIn("Root 1.26× too fast", main.said)
        self.assertEqual(len(main.buttons["footlock.fit_root"]), 1)
        self.assertIn(f"Left: {stored.legs[0].contacts} contacts, {100 * stored.legs[0].share:.0f} %", said)
        for caption in ("Root travels", "Feet travel", "Shortest", "Floor", "Two feet down", "No foot down"):
            self.assertIn(caption, said)
        self.assertIn("0.25 m/s, 0.10 m", said)
        self.assertIn("root 1.26× too fast.", " ".join(main.said))
        bpy.ops.footlock.fit_root()
        self.assertNotIn("Shortest", drawn(CONTACTS).said)
        self.assertNotIn("footlock.fit_root", drawn(MAIN).buttons)

    def test_frames_out_of_reach_are_said_where_there_are_any(self):
        armature = load_clip()
        bpy.ops.footlock.map_legs()
        result = armature.data.footlock
        result.result_action, result.legs[1].out_of_reach = armature.animation_data.action.name, 7
        said = [text for text in drawn(RESULT).said if "reach" in text]
        self.assertEqual(said, ["7 frames out of reach"])

    def test_what_does_not_apply_is_greyed_or_hidden(self):
        settings = bpy.context.scene.footlock
        ranges = ["From", "To"]
        self.assertEqual(drawn(ADVANCED).greyed, [*ranges, *ranges, "0: judged from the length of the legs"])
        for name in ("Speed (m/s)", "Lock Within (m)", "Tolerance (mm)"):
            self.assertNotIn(name, drawn(ADVANCED).said)
        settings.unit, settings.cyclic = 1.0, True
        pins = ["Pin First Pose", "Pin Last Pose", "Only Frames"]
        self.assertEqual(
            drawn(ADVANCED).greyed,
            [*ranges, "A loop has no first and last pose, and no range", *pins, *ranges],
        )
        self.assertNotIn("Follow Slope", drawn(FLOOR).said)
        settings.ground, settings.cyclic = "OBJECT", False
        self.assertIn("Follow Slope", drawn(FLOOR).said)
        settings.mode, settings.auto_height, settings.solve_range = "THRESHOLD", True, True
        self.assertEqual(drawn(ADVANCED).greyed, ["Height (m)", "Floor (m)", "Level", *ranges])
        settings.smoothing, settings.method, settings.use_range = 0.025, "runtime", True
        self.assertEqual(drawn(ADVANCED).greyed, ["Height (m)", "Floor (m)"])
        self.assertIn("Lock Within (m)", drawn(ADVANCED).said)
        self.assertEqual(drawn(FLOOR).greyed[0], "The runtime lock takes the floor as it is")
        self.assertEqual(
            drawn(FIX).greyed,
            [
                "The runtime lock moves the legs alone",
                "Keep Path",
                "Lower Hips",
                "Stretch Legs",
                "Hold Heading",
                "Cyclic",
            ],
        )

    def test_what_a_run_said_stays_until_the_next(self):
        armature = load_clip(300)
        bpy.ops.footlock.detect_contacts()
        action = armature.animation_data.action
        self.assertIn("contacts", action.footlock_said)
        self.assertTrue(set(action.footlock_said.split()) <= set(" ".join(drawn(MAIN).said).split()))
        bpy.ops.footlock.remove_sliding()
        self.assertIn("mm per frame", action.footlock_said)
        bpy.ops.footlock.revert()
        self.assertEqual(action.footlock_said, "")

    def test_comparing(self):
        load_clip(300)
        self.assertNotIn("footlock.compare", drawn(MAIN).buttons)
        bpy.ops.footlock.detect_contacts()
        bpy.ops.footlock.remove_sliding()
        self.assertEqual(len(drawn(MAIN).buttons["footlock.compare"]), 1)
        self.assertEqual(len(drawn(MAIN).buttons["footlock.revert"]), 1)

    def test_contacts_are_edited_leg_by_leg(self):
        load_clip(300)
        self.assertIn("Detect contacts to edit them here", drawn(CONTACTS).said)
        bpy.ops.footlock.detect_contacts()
        buttons = drawn(CONTACTS).buttons["footlock.edit_contact"]
        self.assertEqual([button.leg for button in buttons], [0] * 8 + [1] * 8)
        self.assertFalse(any(hasattr(button, "use_range") for button in buttons))
        scene = bpy.context.scene
        scene.use_preview_range, scene.frame_preview_start, scene.frame_preview_end = True, 20, 40
        ranged = [button for button in drawn(CONTACTS).buttons["footlock.edit_contact"] if hasattr(button, "use_range")]
        self.assertEqual(
            {(one.edit, one.range_start, one.range_end) for one in ranged}, {("PLANT", 20, 40), ("FREE", 20, 40)}
        )

    def test_the_selected_footprint_has_buttons(self):
        armature = load_clip(300)
        bpy.ops.footlock.detect_contacts()
        self.assertIn("Click a footprint to select it, drag it to move it", drawn(CONTACTS).said)
        armature.footlock_selected.leg, armature.footlock_selected.frame = 1, 42.0
        layout = drawn(CONTACTS)
        self.assertIn("Footprint of Right, frame 42", layout.said)
        reset = layout.buttons["footlock.reset_footprint"][0]
        self.assertEqual((reset.leg, reset.frame), (1, 42.0))
        armature.footlock_selected.leg = 7
        self.assertNotIn("footlock.reset_footprint", drawn(CONTACTS).buttons)


class Presets(CleanFile):
    """Presets of settings, by Blender's own operators."""

    def files(self):
        paths = bpy.utils.preset_paths("footlock/settings")
        return {path.stem: path for folder in paths for path in Path(folder).glob("*.py")}

    def load(self, name):
        bpy.ops.script.execute_preset(filepath=str(self.files()[name]), menu_idname="FOOTLOCK_PT_presets")

    def state(self):
        settings = bpy.context.scene.footlock
        return {name: getattr(settings, name) for name in ui.settings.KEPT}

    def test_those_that_come_with_footlock(self):
        self.assertLessEqual({"walk", "run", "dance", "crawl", "retarget_clean-up", "game_loop"}, set(self.files()))
        default, seen = self.state(), []
        for name in self.files():
            for setting in ("keep_path", "lower_hips"):
                setattr(bpy.context.scene.footlock, setting, 0.77)
            bpy.context.scene.footlock.cyclic = True
            self.load(name)
            self.assertNotIn(self.state(), seen, name)
            seen.append(self.state())
        self.load("walk")
        self.assertEqual(self.state(), default)

    @contextlib.contextmanager
    def own_folder(self):
        """A folder that Blender takes for that of the user's presets."""
        with tempfile.TemporaryDirectory() as folder:
            presets_of = bpy.utils.preset_paths

            def resource(kind, path="", create=False):
                found = Path(folder) / path
                found.mkdir(parents=True, exist_ok=True)
                return str(found)

            def paths(subdir):
                return [resource("SCRIPTS", f"presets/{subdir}"), *presets_of(subdir)]

            with (
                mock.patch.object(bpy.utils, "user_resource", resource),
                mock.patch.object(bpy.utils, "preset_paths", paths),
            ):
                yield Path(folder)

    def refused(self, pattern, **given):
        """The button says one sentence that fits the pattern, and no file is other than it was."""
        before = {path: path.read_bytes() for path in self.files().values()}
        with self.assertRaisesRegex(RuntimeError, pattern) as caught:
            bpy.ops.footlock.add_preset(**given)
        self.assertNotIn("Traceback", str(caught.exception))
        self.assertEqual({path: path.read_bytes() for path in self.files().values()}, before)

    def test_those_that_come_with_footlock_stay(self):
        shipped = self.kept_copies()
        for name in ("walk", "Walk", "game_loop", "game loop", "Game Loop"):
            self.refused(f"“{name}” comes with Footlock", name=name, remove_name=True)
        self.load("run")
        self.refused("“run” comes with Footlock", remove_active=True)
        for name in ("nope", "", "../settings/walk"):
            self.refused("There is no preset", name=name, remove_name=True)
        with self.own_folder() as folder:
            for name in ("walk", "Walk", " game loop "):
                self.refused("There is a preset “.*” already: give it another name", name=name)
            self.assertEqual(list(folder.rglob("*.py")), [])
            bpy.ops.footlock.add_preset(name="Zombies")
            self.refused("There is a preset “Zombies” already", name="Zombies")
        self.assertEqual(self.kept_copies(), shipped)

    def kept_copies(self):
        return {path.name: path.read_bytes() for path in (Path(ui.__file__).parent / "presets").rglob("*.py")}

    def test_own_ones_are_removed(self):
        shipped = self.kept_copies()
        with self.own_folder() as folder:
            for made, removed in (("Zombies", {"name": "Zombies"}), ("My Zombies", {"name": "My Zombies"})):
                bpy.ops.footlock.add_preset(name=made)
                self.assertEqual(len(list(folder.rglob("*.py"))), 1)
                self.assertEqual(bpy.ops.footlock.add_preset(remove_name=True, **removed), {"FINISHED"})
                self.assertEqual(list(folder.rglob("*.py")), [])
            # One of the same name as one that comes with Footlock: the own goes, and then no other.
            own = folder / "presets/footlock/settings/walk.py"
            own.write_text("import bpy\n")
            bpy.ops.footlock.add_preset(name="walk", remove_name=True)
            self.assertFalse(own.exists())
            self.refused("“walk” comes with Footlock", name="walk", remove_name=True)
            bpy.ops.footlock.add_preset(name="Chosen")
            self.assertEqual(bpy.ops.footlock.add_preset(remove_active=True), {"FINISHED"})
            self.assertEqual(list(folder.rglob("*.py")), [])
            self.assertEqual(presets_panel.FOOTLOCK_PT_presets.bl_label, "Footlock Presets")
        self.assertEqual(self.kept_copies(), shipped)

    def test_a_name_that_is_none(self):
        with self.own_folder() as folder:
            for name in ("", " ", ".", "?!"):
                self.refused("has no name", name=name)
            self.assertEqual(list(folder.rglob("*.py")), [])

    def test_own_ones(self):
        with self.own_folder() as folder:
            settings = bpy.context.scene.footlock
            settings.keep_path, settings.ground, settings.solve_start = 0.25, "REST", 17
            bpy.ops.footlock.add_preset(name="Zombies")
            made = next(folder.rglob("*.py"))
            self.assertNotIn("solve_start", made.read_text())
            kept = self.state()
            settings.reset()
            self.assertNotEqual(self.state(), kept)
            self.assertEqual(settings.solve_start, 17)
            bpy.ops.script.execute_preset(filepath=str(made), menu_idname="FOOTLOCK_PT_presets")
            self.assertEqual(self.state(), kept)


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
        said = drawn(LEGS).said
        self.assertEqual(
            [text for text in said if "Left" in text or "Right" in text],
            ["Front Left", "Front Right", "Hind Left", "Hind Right"],
        )
        self.assertEqual(said.count("Place"), 4)

    def test_a_biped_has_no_places(self):
        load_clip()
        bpy.ops.footlock.map_legs()
        layout = drawn(LEGS)
        self.assertNotIn("Place", layout.said)
        self.assertEqual([button.index for button in layout.buttons["footlock.mirror_leg"]], [0, 1])

    def test_a_question_has_a_button_for_each_answer(self):
        armature = load_clip()
        self.assertNotIn("footlock.choose_legs", drawn(LEGS).buttons)
        for name in ("These", "Those"):
            armature.data.footlock.question.add().name = name
        layout = drawn(LEGS)
        self.assertIn("Which are the legs?", layout.said)
        self.assertEqual([button.index for button in layout.buttons["footlock.choose_legs"]], [0, 1])
        bpy.ops.footlock.map_legs()
        self.assertNotIn("footlock.choose_legs", drawn(LEGS).buttons)

    def test_presets(self):
        with mock.patch.object(presets, "names", lambda: ["One", "Two"]):
            layout = Layout()
            legs_panel.FOOTLOCK_MT_leg_presets.draw(SimpleNamespace(layout=layout), bpy.context)
        for button in ("load", "delete"):
            names = [given.name for given in layout.buttons[f"footlock.{button}_leg_preset"]]
            self.assertEqual(names, ["One", "Two"])
        self.assertEqual(len(layout.buttons["footlock.save_leg_preset"]), 1)


class LegsByHand(CleanFile):
    def test_bones_without_telling_names(self):
        """What is chosen in the panel is used, whatever the names and the shape tell."""
        armature = load_clip(300)
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
        armature = load_clip(300)
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
