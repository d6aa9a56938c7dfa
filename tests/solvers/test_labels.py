"""Labels files: there and back, and a sentence for every file that does not fit."""

import json
import os
import tempfile
import unittest
from pathlib import Path

import numpy as np

from footlock.rig import labels
from footlock.rig.names import Leg, LegMap
from footlock.solvers.errors import FootlockError

LEGS = LegMap("Hips", (Leg("L", "LT", "LS", "LF", "Left Toe"), Leg("R", "RT", "RS", 'R"F"', "")))


class LabelsCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "läbels.json"

    def put(self, content):
        text = content if isinstance(content, str) else json.dumps(content)
        self.path.write_text(text, encoding="utf-8")

    def refused(self, said, frames=3):
        """A FootlockError of one sentence that says what to do, with the file's name in it."""
        with self.assertRaises(FootlockError) as caught:
            labels.read(self.path, LEGS, frames)
        text = str(caught.exception)
        self.assertRegex(text, said)
        self.assertIn("läbels.json", text)
        self.assertRegex(text, r": [^:]+\.$")
        self.assertNotIn("\n", text)


class Reading(LabelsCase):
    def test_there_and_back(self):
        rng = np.random.default_rng(91)
        for frames in (1, 2, 500):
            wanted = rng.random((frames, 2)) < 0.5
            labels.write(self.path, LEGS, wanted, 59.94, -7)
            found = labels.read(self.path, LEGS, frames)
            np.testing.assert_array_equal(found, wanted)
            labels.write(str(self.path), LEGS, wanted, 59.94, -7)
            np.testing.assert_array_equal(labels.read(str(self.path), LEGS, frames), wanted)

    def test_what_is_written(self):
        labels.write(self.path, LEGS, np.array([[True, False], [False, True], [True, True]]), 30.0, 12)
        wanted = {"frame_rate": 30.0, "frame_start": 12, "contacts": {"Left Toe": [1, 0, 1], 'R"F"': [0, 1, 1]}}
        self.assertEqual(json.loads(self.path.read_text(encoding="utf-8")), wanted)

    def test_kinds_of_values(self):
        """Shares and slides are kept; true and false are numbers too; other bones are left alone."""
        self.put({"contacts": {"Left Toe": [0.5, -1, 1], 'R"F"': [True, False, 0.0], "Tail": ["x"]}})
        np.testing.assert_array_equal(labels.read(self.path, LEGS, 3), [[0.5, 1], [-1, 0], [1, 0]])

    def test_shares_and_slides_there_and_back(self):
        wanted = np.array([[0.25, -1.0], [1.0, 0.0], [1.0 / 3.0, -0.5]])
        labels.write(self.path, LEGS, wanted, 30.0, 1)
        np.testing.assert_allclose(labels.read(self.path, LEGS, 3), wanted, rtol=0, atol=1e-6)

    def test_byte_order_mark(self):
        self.path.write_bytes(b"\xef\xbb\xbf" + json.dumps({"contacts": {"Left Toe": [1], 'R"F"': [0]}}).encode())
        np.testing.assert_array_equal(labels.read(self.path, LEGS, 1), [[True, False]])


class Refusing(LabelsCase):
    def test_no_file(self):
        self.refused("cannot be read")

    def test_folder(self):
        self.path.mkdir()
        self.refused("cannot be read")

    def test_not_text(self):
        self.path.write_bytes(b"\xff\xfe\x00\x01\xff")
        self.refused("cannot be read|not a labels file")

    def test_too_large(self):
        with open(self.path, "wb") as file:
            file.truncate(65 << 20)
        self.refused("too large")

    def test_not_json(self):
        cut_off = '{"contacts": {"Left Toe": [1, 0, '
        for text in ("", " ", "{", "contacts", "{'contacts': {}}", cut_off, "HIERARCHY\nROOT"):
            with self.subTest(text=text):
                self.put(text)
                self.refused("not a labels file")

    def test_deep_json(self):
        self.put("[" * 100_000)
        self.refused("not a labels file")
        self.put('{"contacts": ' + "[" * 100_000 + "]" * 100_000 + "}")
        self.refused("not a labels file")

    def test_other_json(self):
        inside = ({"contacts": value} for value in ([], None, 1, "x"))
        for value in ([], 3, None, "contacts", {}, {"contact": {}}, *inside):
            with self.subTest(value=value):
                self.put(value)
                self.refused("not a labels file")

    def test_other_bones(self):
        self.put({"contacts": {"mixamorig:LeftToeBase": [1, 0, 1], "x": [0, 0, 0]}})
        self.refused("mixamorig:LeftToeBase.*none for “Left Toe”")
        self.put({"contacts": {}})
        self.refused("no bone.*Left Toe")
        self.put({"contacts": {"Left Toe": [1, 0, 1]}})
        self.refused('none for “R"F"”')
        self.put({"contacts": {f"bone {i}": [1, 0, 1] for i in range(1000)}})
        self.refused("none for “Left Toe”")

    def test_other_length(self):
        for values in ([], [1, 0], [1, 0, 1, 0]):
            with self.subTest(values=values):
                self.put({"contacts": {"Left Toe": [1, 0, 1], 'R"F"': values}})
                self.refused(f'{len(values)} labels for “R"F"” and the clip has 3 frames')

    def test_no_list(self):
        for values in (1, "101", None, {"0": 1}):
            with self.subTest(values=values):
                self.put({"contacts": {"Left Toe": values, 'R"F"': [1, 0, 1]}})
                self.refused("no labels for “Left Toe”")

    def test_values_out_of_range(self):
        for value in (-2, 2, 1.0001, -1.0001, "1", None, [1], {}, float("nan"), float("inf"), 10**400):
            with self.subTest(value=str(value)[:10]):
                self.put({"contacts": {"Left Toe": [1, value, 1], 'R"F"': [1, 0, 1]}})
                self.refused("“Left Toe” that is not between -1 and 1")

    def test_endless_numbers(self):
        self.put('{"contacts": {"Left Toe": [' + "1" * 10_000 + '], "R\\"F\\"": [1]}}')
        self.refused("not a labels file|not between", frames=1)
        self.put('{"contacts": {"Left Toe": [1e999], "R\\"F\\"": [1]}}')
        self.refused("not between", frames=1)

    def test_cannot_be_written(self):
        for path in (self.path.parent / "none" / "läbels.json", self.path.parent):
            with self.assertRaisesRegex(FootlockError, r"(cannot be written|is a folder).*: .*\."):
                labels.write(path, LEGS, np.zeros((3, 2), bool), 30.0, 1)

    @unittest.skipIf(os.name == "nt" or os.geteuid() == 0, "root reads everything")
    def test_not_permitted(self):
        self.put({"contacts": {}})
        self.path.chmod(0)
        self.refused("cannot be read")
