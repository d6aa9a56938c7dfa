"""The map of legs by hand: the other side, presets, and what a file keeps."""

import tempfile
from pathlib import Path
from unittest import mock

import bpy
import clips
import skeletons
from blender import rigs
from blender.mapped import ROWS, MappingCase, build, labels, stored

from footlock.rig import mapping, presets
from footlock.ui import legs_panel


class Mirror(MappingCase):
    def test_every_convention(self):
        for row in skeletons.PEOPLE:
            made = skeletons.person(row)
            armature = build(made)
            with self.subTest(row["name"]):
                bpy.ops.footlock.map_legs()
                for keep in (0, 1):
                    bpy.ops.footlock.remove_leg(index=1 - keep)
                    bpy.ops.footlock.mirror_leg(index=0)
                    self.assertEqual(sorted(stored(armature)), made.legs)
                    bpy.ops.footlock.mirror_leg(index=0)  # fills in what is there
                    self.assertEqual(sorted(stored(armature)), made.legs)
            bpy.data.armatures.remove(armature.data)

    def test_by_their_places(self):
        """Names that have no side."""
        made = skeletons.person(ROWS["Mixamo bare"])
        made = made.renamed({name: f"b{i}" for i, name in enumerate(made.bones)})
        armature = build(made)
        bpy.ops.footlock.map_legs()
        bpy.ops.footlock.remove_leg(index=1)
        bpy.ops.footlock.mirror_leg(index=0)
        self.assertEqual(stored(armature), made.legs)

    def test_what_has_no_mirror_image(self):
        armature = self.person()
        bpy.ops.footlock.map_legs()
        armature.data.footlock.legs[0].foot = "head"
        before = rigs.everything()
        for index, said in ((0, "No bone mirrors “head”"), (5, "There is no leg 5 to mirror")):
            with self.assertRaisesRegex(RuntimeError, said):
                bpy.ops.footlock.mirror_leg(index=index)
        armature.data.footlock.legs[0].foot = "gone"
        with self.assertRaisesRegex(RuntimeError, "“gone” is not in the armature"):
            bpy.ops.footlock.mirror_leg(index=0)
        armature.data.footlock.legs[0].foot = "head"
        self.assertEqual(rigs.everything(), before)


class Presets(MappingCase):
    def setUp(self):
        super().setUp()
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        patch = mock.patch.object(bpy.utils, "user_resource", lambda kind, path="": f"{self.folder.name}/{kind}/{path}")
        patch.start()
        self.addCleanup(patch.stop)

    def test_saved_loaded_deleted(self):
        armature = build(skeletons.beast(skeletons.BEASTS[0]))
        bpy.ops.footlock.map_legs()
        legs, names, pelvis = stored(armature), labels(armature), armature.data.footlock.pelvis
        self.assertEqual(presets.names(), [])
        bpy.ops.footlock.save_leg_preset(name="My wolf 1 “灰”")
        (name,) = presets.names()
        self.assertEqual(name, "My wolf 1 “灰”")
        self.assertTrue(list(Path(self.folder.name).glob("SCRIPTS/presets/footlock/legs/*.json")))
        rigs.new_file()
        other = build(skeletons.beast(skeletons.BEASTS[0]))
        bpy.ops.footlock.load_leg_preset(name=name)
        self.assertEqual((stored(other), labels(other), other.data.footlock.pelvis), (legs, names, pelvis))
        bpy.ops.footlock.delete_leg_preset(name=name)
        self.assertEqual(presets.names(), [])

    def test_names_of_every_script(self):
        self.person("Mixamo bare")
        given = (
            "ä",
            "Wölfin",
            "オオカミ",
            "волк",
            "الذئب",
            "a b",
            "a_b",
            "a.b",
            "v1.0",
            "_",
            "_ _",
            "100 % + #1 (new)",
        )
        for name in given:
            bpy.ops.footlock.save_leg_preset(name=name)
        self.assertEqual(set(presets.names()), set(given))
        for name in given:
            bpy.ops.footlock.load_leg_preset(name=name)
            bpy.ops.footlock.delete_leg_preset(name=name)
        self.assertEqual(presets.names(), [])

    def test_names_that_no_file_has(self):
        self.person("Mixamo bare")
        for name in (
            ".",
            "..",
            "a/b",
            "a\\b",
            "a\nb",
            "a:b",
            'a"b',
            "a\u2028b",
            "../up",
            ".hidden",
            "NUL",
            "com1.x",
            "*",
        ):
            with self.assertRaisesRegex(RuntimeError, "No file can be called") as caught:
                bpy.ops.footlock.save_leg_preset(name=name)
            self.assertEqual(len(str(caught.exception).strip().splitlines()), 1, name)
            self.assertFalse(presets.suggested(name).startswith("."))
        with self.assertRaisesRegex(RuntimeError, "too long"):
            bpy.ops.footlock.save_leg_preset(name="狼" * 100)
        self.assertEqual(presets.names(), [])

    def test_none_replaces_another_unasked(self):
        self.person("Mixamo bare")
        for name in ("Wolf", "Ä"):
            bpy.ops.footlock.save_leg_preset(name=name)
        folder = Path(bpy.utils.user_resource("SCRIPTS", path="presets/footlock/legs"))
        before = {path: path.read_bytes() for path in folder.iterdir()}
        rigs.new_file()
        self.person("Unreal UE4")
        for name, other in (("wolf", "Wolf"), ("WOLF", "Wolf"), ("ä", "Ä"), ("a\u0308", "Ä")):
            with self.assertRaisesRegex(RuntimeError, f"There is a preset “{other}”"):
                bpy.ops.footlock.save_leg_preset(name=name)
        self.assertEqual({path: path.read_bytes() for path in folder.iterdir()}, before)
        # Just the same name replaces, however its accents are written.
        for name in ("Wolf", "A\u0308"):
            bpy.ops.footlock.save_leg_preset(name=name)
        self.assertEqual(presets.names(), ["Wolf", "Ä"])
        self.assertFalse(set(before.values()) & {path.read_bytes() for path in folder.iterdir()})

    def test_nothing_outside_of_the_folder(self):
        self.person("Mixamo bare")
        bpy.ops.footlock.save_leg_preset(name="Here")
        folder = Path(bpy.utils.user_resource("SCRIPTS", path="presets/footlock/legs"))
        outside = folder.parent / "outside.json"
        outside.write_bytes((folder / "Here.json").read_bytes())
        for run in (bpy.ops.footlock.load_leg_preset, bpy.ops.footlock.delete_leg_preset):
            with self.assertRaisesRegex(RuntimeError, "There is no preset"):
                run(name="../outside")
        self.assertTrue(outside.exists())

    def test_a_rig_without_the_bones(self):
        self.person("Mixamo bare")
        bpy.ops.footlock.save_leg_preset(name="Mixamo")
        rigs.new_file()
        self.person("Unreal UE4")
        before = rigs.everything()
        with self.assertRaisesRegex(RuntimeError, "“Mixamo” needs the bone “Hips”, which “Rig” does not have"):
            bpy.ops.footlock.load_leg_preset(name="Mixamo")
        self.assertEqual(rigs.everything(), before)

    def test_files_that_are_none(self):
        self.person()
        folder = Path(bpy.utils.user_resource("SCRIPTS", path="presets/footlock/legs"))
        folder.mkdir(parents=True)
        for text in ("", "[]", "{}", '{"footlock_legs": 1, "pelvis": "a", "legs": [{"leg": 1}]}', "\0"):
            (folder / "bad.json").write_text(text)
            with self.assertRaisesRegex(RuntimeError, "is no preset of legs"):
                bpy.ops.footlock.load_leg_preset(name="bad")
        (folder / "bad.json").write_text('{"footlock_legs": 99}')
        with self.assertRaisesRegex(RuntimeError, "another version"):
            bpy.ops.footlock.load_leg_preset(name="bad")
        for run in (bpy.ops.footlock.load_leg_preset, bpy.ops.footlock.delete_leg_preset):
            with self.assertRaisesRegex(RuntimeError, "“none”"):
                run(name="none")
        with self.assertRaisesRegex(RuntimeError, "has no name"):
            bpy.ops.footlock.save_leg_preset(name=" ")
        self.assertTrue(issubclass(legs_panel.FOOTLOCK_MT_leg_presets, bpy.types.Menu))


class Kept(clips.InFolder):
    def test_places_survive_a_file(self):
        rigs.new_file()
        armature = build(skeletons.beast(skeletons.BEASTS[0]))
        bpy.ops.footlock.map_legs()
        legs = mapping.stored(armature)
        path = self.folder / "beast.blend"
        bpy.ops.wm.save_as_mainfile(filepath=str(path))
        bpy.ops.wm.open_mainfile(filepath=str(path))
        self.assertEqual(mapping.stored(bpy.data.objects["Rig"]), legs)
