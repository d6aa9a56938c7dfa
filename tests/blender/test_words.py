"""What is said comes out in the language of the interface, each sentence on one line, and numbers agree with words.

The language is one that puts «» around every text of ours. A Blender that has translations built in is made to speak
it; in others (the bpy modules) its functions are replaced.
"""

import ast
import contextlib
import ctypes
import importlib
import os
import pickle
import re
import sys
import tempfile
from pathlib import Path
from unittest import mock

import bpy
import numpy as np
from blender import rigs
from blender.test_actions import FRAMES
from blender.test_panel import drawn
from blender.test_results import ResultCase

from footlock import ui
from footlock.operators import reports
from footlock.rig import compat, contact_property, mapping, sentences
from footlock.solvers.errors import FootlockError

ROOT = Path(__file__).resolve().parent.parent.parent
# Blender's own translations stand before those of an add-on: this language has hardly any, on each Blender.
LANGUAGE = "ab"
# Modules that translate, and the functions that they do it by.
TRANSLATING = {"rig.sentences": ("iface_", "rpt_")} | {
    f"operators.{name}": ("tip_",) for name in ("base", "bake_nla", "compare", "contact_report", "revert")
}
PANELS = {cls.__name__: cls for cls in ui.classes}


def texts():
    """All texts in the code that may be a sentence or part of one."""
    for folder in ("operators", "rig", "ui", "solvers"):
        for path in (ROOT / folder).glob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value.strip()) > 1:
                    yield node.value


MARKED = {text: f"«{text}»" for text in texts()}


@contextlib.contextmanager
def speaking():
    """The interface is in the language of «» meanwhile."""
    view = bpy.context.preferences.view
    if bpy.app.build_options.international:
        before = view.language
        bpy.app.translations.register(__name__, {LANGUAGE: {("*", text): to for text, to in MARKED.items()}})
        try:
            view.language = LANGUAGE
            view.use_translate_interface = view.use_translate_tooltips = view.use_translate_reports = True
            yield
        finally:
            view.language = before
            bpy.app.translations.unregister(__name__)
        return
    with contextlib.ExitStack() as stack:
        for name, functions in TRANSLATING.items():
            module = importlib.import_module(f"footlock.{name}")
            for function in functions:
                stack.enter_context(mock.patch.object(module, function, lambda text: MARKED.get(text, text)))
        yield


@contextlib.contextmanager
def reported():
    """What Blender shows as reports of operators within, in a list: it writes them to the console, too."""
    said, flush = [], ctypes.CDLL(None).fflush
    with tempfile.TemporaryFile() as file:
        sys.stdout.flush()
        flush(None)
        console = os.dup(1)
        os.dup2(file.fileno(), 1)
        try:
            yield said
        finally:
            sys.stdout.flush()
            flush(None)
            os.dup2(console, 1)
            os.close(console)
            file.seek(0)
            written = file.read().decode()
            print(written, end="")
            said += re.split(r"^\w+: ", written, flags=re.MULTILINE)[1:]
            said[:] = [text.removesuffix("\n") for text in said]


class Spoken(ResultCase):
    def said(self, operator, *words, **options):
        """What an operator reports, which is translated as a whole, with these words in it."""
        with speaking(), reported() as said:
            self.assertEqual(operator(**options), {"FINISHED"})
        (text,) = said
        self.assertTrue(text.startswith("«") and text.endswith("»"), text)
        self.assertEqual(text.count("«"), text.count("»"))
        self.assertNotRegex(text, r"(?<!«)(Left|Right)\b(?! as they)")
        for word in words:
            self.assertIn(word, text)
        self.assertEqual(text.splitlines(), [text])
        return text

    def refused(self, operator, text, **options):
        with speaking(), self.assertRaises(RuntimeError) as caught:
            operator(**options)
        self.assertIn(text, str(caught.exception))

    def test_reports(self):
        armature, ops = self.walker(), bpy.ops.footlock
        self.said(ops.map_legs, "«Pelvis pelvis; ««Left» thigh.L … toe.L»")
        self.said(ops.fit_root, "mm per frame")
        contact_property.write(armature, mapping.of(armature), FRAMES, self.labels())
        text = self.said(ops.remove_sliding, "contacts»", "; «slide ")
        self.assertEqual(armature.animation_data.action.footlock_said, text)
        self.said(ops.compare, "«The source is shown.»")
        self.said(ops.compare, "«The correction is shown.»")
        self.said(ops.update_report, "«worst is «")
        self.said(ops.copy_report, "«Copied ")
        self.said(ops.explain_frame, "m/s over the floor»")
        self.assertIn("«", bpy.context.window_manager.footlock_report.answer)
        self.said(ops.contacts_to_markers, " pose markers written.»")
        self.said(ops.markers_to_contacts, "««Left» ")
        rigs.set_frame(self.scene, 12)
        self.said(ops.edit_contact, "««Left» 3 contacts»", edit="SPLIT", leg=0)
        self.said(ops.revert, "is as it was before the correction. Its contacts are kept.»")
        self.said(ops.remove_leg, "«Leg removed.»", index=1)

    def test_words_within(self):
        """States, and what is left alone."""
        armature = self.walker()
        curve = next(curve for curve in compat.fcurves(armature) if '"foot.R"' in curve.data_path)
        curve.lock = True
        self.said(bpy.ops.footlock.remove_sliding, "«Left as they are: «“foot.R” («locked»)».»")
        contact = next(
            curve for curve in compat.fcurves(armature) if "toe.L" in curve.data_path and "contact" in curve.data_path
        )
        contact.mute = True
        self.refused(bpy.ops.footlock.detect_contacts, "curves are «edited by hand»« or »«muted» and are kept")
        self.said(bpy.ops.footlock.detect_contacts, "««Left» kept («muted»)»", replace_edited=True)

    def test_errors(self):
        rigs.new_file()
        armature = rigs.biped()
        rigs.walk(armature, FRAMES)
        wanted = "«The action has no contact curve for these legs: click Detect Contacts first.»"
        self.refused(bpy.ops.footlock.remove_sliding, wanted)
        self.refused(bpy.ops.footlock.choose_legs, "«There is no choice 7: “Biped” has 1, from 0.»", index=7)
        armature.data.bones["shin.L"].name = "Left"
        bpy.ops.footlock.add_leg()
        error = FootlockError("There is no leg {index} to {what}: the list has {count}.", index=1, what="Left", count=0)
        with speaking():
            self.assertEqual(sentences.translated(error), "«There is no leg 1 to Left: the list has 0.»")
            self.assertNotIn("«", str(error))

    def test_unclear_legs(self):
        rigs.new_file()
        armature = rigs.biped()
        with speaking(), self.assertRaises(FootlockError) as caught:
            raise mapping.UnclearLegs(armature, [1, 2])
        with speaking():
            self.assertIn("«“Biped” may have its legs in 2 ways", sentences.translated(caught.exception))
        same = pickle.loads(pickle.dumps(caught.exception))
        self.assertEqual((type(same), str(same), same.maps), (mapping.UnclearLegs, str(caught.exception), [1, 2]))

    def test_polls(self):
        armature = self.walker()
        self.refused(bpy.ops.footlock.compare, "«Nothing was corrected yet: click Remove Sliding»")
        self.refused(bpy.ops.footlock.revert, "«The action was not corrected by Footlock»")
        self.refused(bpy.ops.footlock.bake_nla, "«No NLA strip moves the armature»")
        self.refused(bpy.ops.footlock.copy_report, "«The action has no report yet: click Detect Contacts»")
        armature.animation_data.action = None
        self.refused(bpy.ops.footlock.remove_sliding, "«Assign or import an animation first»")
        bpy.context.view_layer.objects.active = None
        self.refused(bpy.ops.footlock.map_legs, "«Select the armature of the character»")

    def test_panels(self):
        armature = self.walker()
        bpy.ops.footlock.detect_contacts(replace_edited=True)
        with speaking():
            contacts = drawn(PANELS["FOOTLOCK_PT_contacts"]).said
        self.assertTrue(any(re.fullmatch(r"««Right»: 2 contacts, \d+ %»", text) for text in contacts), contacts)
        bpy.ops.footlock.remove_sliding()
        with speaking():
            result = drawn(PANELS["FOOTLOCK_PT_result"]).said
            main = drawn(PANELS["FOOTLOCK_PT_main"]).said
            report = drawn(PANELS["FOOTLOCK_PT_report"]).said
        self.assertIn("««Right»: 2 contacts»", result)
        self.assertTrue(any(text.startswith("«Frames 1 to 60, 2.5 s") for text in main), main)
        self.assertTrue(any(text.startswith("«Right» ") for text in report), report)
        self.assertIn(armature.name, main)

    def test_files_and_console_stay_english(self):
        self.walker()
        with speaking():
            bpy.ops.footlock.detect_contacts(replace_edited=True)
            bpy.ops.footlock.copy_report()
            copied = bpy.context.window_manager.clipboard
            line = reports.line(corrected(2))
        self.assertNotIn("«", copied + line)


def corrected(count):
    """What the batch has to say of a clip whose leg has so many contacts, and frames out of reach."""
    slide = {"mean_mm_per_frame": 1.0}
    leg = {
        "leg": "Left", "contacts": count, "slide_before": slide, "slide_after": slide,
        "frames_out_of_reach": list(range(count)),
    }  # fmt: skip
    return {
        "input": "a\nb.bvh", "output": "c.bvh", "unit": 1.0, "frames": 60, "frame_rate": 24.0, "legs": [leg, leg],
        "notes": "", "converged": True, "seconds": 1.0,
    }  # fmt: skip


class OneAndSeveral(ResultCase):
    def report_of(self, operator, **options):
        with reported() as said:
            operator(**options)
        return said[0]

    def test_contacts(self):
        armature = self.walker()
        legs, labels = mapping.of(armature), np.zeros((len(FRAMES), 2))
        labels[10:20, 0] = labels[30:40, :] = 1.0
        contact_property.write(armature, legs, FRAMES, labels)
        text = self.report_of(bpy.ops.footlock.remove_sliding)
        self.assertTrue(text.startswith("Left 2 contacts, Right 1 contact; slide "), text)
        said = drawn(PANELS["FOOTLOCK_PT_result"]).said
        self.assertIn("Left: 2 contacts", said)
        self.assertIn("Right: 1 contact", said)
        self.assertEqual(self.report_of(bpy.ops.footlock.copy_report), "Copied 3 contacts.")
        self.assertRegex(self.report_of(bpy.ops.footlock.update_report), r"3 contacts \(Left 2, Right 1\); ")
        rigs.set_frame(self.scene, 15)
        text = self.report_of(bpy.ops.footlock.edit_contact, edit="FREE", leg=0, update=False)
        self.assertEqual(text, "Left 1 contact.")
        text = self.report_of(bpy.ops.footlock.detect_contacts, replace_edited=True)
        self.assertNotRegex(text, r"\b1 contacts")
        contact_property.write(armature, legs, FRAMES, labels * [0.0, 1.0])
        bpy.ops.footlock.update_report()
        self.assertEqual(self.report_of(bpy.ops.footlock.copy_report), "Copied 1 contact.")
        self.assertEqual(self.report_of(bpy.ops.footlock.contacts_to_markers), "2 pose markers written.")

    def test_footprints(self):
        armature = self.walker()
        labels = np.zeros((len(FRAMES), 2))
        labels[10:20] = 1.0
        contact_property.write(armature, mapping.of(armature), FRAMES, labels)
        rigs.set_frame(self.scene, 15)
        for leg in (0, 1):
            bpy.ops.footlock.move_footprint(leg=leg, offset=(0.01, 0.0, 0.0))
        self.assertEqual(self.report_of(bpy.ops.footlock.reset_footprint), "2 footprints are where they were found.")
        bpy.ops.footlock.move_footprint(leg=0, offset=(0.01, 0.0, 0.0))
        self.assertEqual(self.report_of(bpy.ops.footlock.reset_footprint), "1 footprint is where it was found.")

    def test_shared_actions(self):
        armature = self.walker()
        for count, text in (
            (2, "2 characters share this action: both change."),
            (3, "3 characters share this action: all"),
        ):
            other = armature.copy()
            other.data = armature.data.copy()
            self.scene.collection.objects.link(other)
            self.assertIn(text, self.report_of(bpy.ops.footlock.remove_sliding), count)

    def test_lines_of_the_batch(self):
        one, two = reports.line(corrected(1)), reports.line(corrected(2))
        self.assertIn("Left 1 contact, slide 1.000 → 1.000 mm per frame, 1 frame out of reach;", one)
        self.assertIn("Left 2 contacts, slide 1.000 → 1.000 mm per frame, 2 frames out of reach;", two)
        self.assertEqual(one.splitlines(), [one])
        failed = reports.line({"input": "a\rb", "error": "c"})
        self.assertEqual(failed, "a b: FAILED: c")


class Names(ResultCase):
    """Names with line breaks, other control characters and braces."""

    ODD = "a\nb\tc\u2028{x} {0} %s {"
    ON_ONE_LINE = "a b c {x} {0} %s {"

    def one_line(self, text, name=ON_ONE_LINE):
        self.assertEqual(text.strip().splitlines(), [text.strip()])
        self.assertIn(name, text)

    def test_errors(self):
        rigs.new_file()
        armature = rigs.biped(sides="L")
        armature.name = self.ODD
        for i, bone in enumerate(armature.data.bones):
            bone.name = f"part {i}"
        with self.assertRaises(RuntimeError) as caught:
            bpy.ops.footlock.map_legs()
        text = str(caught.exception).strip().removeprefix("Error: ")
        self.one_line(text)
        self.assertIn(f"No leg was found in “{self.ON_ONE_LINE}”: choose", text)

    def test_reports(self):
        armature = self.walker()
        armature.animation_data.action.name = self.ODD
        armature.pose.bones["pelvis"].name = "hip\ns {count}"
        stored = armature.data.footlock
        stored.pelvis = "hip\ns {count}"
        for options in ({"result": "NEW"},):
            with reported() as said:
                bpy.ops.footlock.remove_sliding(**options)
            self.one_line(said[0])
        with reported() as said:
            bpy.ops.footlock.revert()
            bpy.ops.footlock.map_legs()
        self.one_line(said[0])
        self.one_line(said[1], "Pelvis hip s {count};")
        with speaking(), reported() as said:
            bpy.ops.footlock.map_legs()
        self.one_line(said[0], "«Pelvis hip s {count};")
