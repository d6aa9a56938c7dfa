"""The file that tools/demo.py makes: what its text says can be done with it."""

import importlib.util
from contextlib import redirect_stdout
from io import StringIO

import bpy
import clips

TOOL = clips.DATA.parent.parent / "tools" / "demo.py"


class Demo(clips.InFolder):
    def test_both_scenes(self):
        spec = importlib.util.spec_from_file_location("footlock_demo", TOOL)
        demo = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(demo)
        path = self.folder / "démo.blend"
        with redirect_stdout(StringIO()):
            demo.main(path)
            bpy.ops.wm.open_mainfile(filepath=str(path))
        self.assertEqual([scene.name for scene in bpy.data.scenes], sorted(demo.SCENES))
        self.assertIn("Detect Contacts", bpy.data.texts["Read me"].as_string())
        for name in demo.SCENES:
            with self.subTest(name):
                bpy.context.window.scene = bpy.data.scenes[name]
                armature = bpy.context.object
                self.assertEqual(armature.type, "ARMATURE")
                body = next(one for one in armature.children if one.type == "MESH")
                self.assertEqual({group.name for group in body.vertex_groups} - set(armature.data.bones.keys()), set())
                bpy.ops.footlock.detect_contacts()
                if name == "In Place":
                    bpy.ops.footlock.fit_root()
                bpy.ops.footlock.remove_sliding()
                for leg in armature.data.footlock.legs:
                    self.assertGreater(leg.slide_before, 1e-4)
                    self.assertLess(leg.slide_after, 1e-5)
