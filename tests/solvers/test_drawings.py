"""The README's drawings are made as they say: real lines, over the contacts, with what was planted level."""

import importlib.util
import re
import tempfile
import unittest
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

TOOL = Path(__file__).resolve().parent.parent.parent / "tools" / "drawings.py"
SVG = "{http://www.w3.org/2000/svg}"


class Drawings(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        spec = importlib.util.spec_from_file_location("footlock_drawings", TOOL)
        drawings = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(drawings)
        with tempfile.TemporaryDirectory() as folder:
            drawings.main(folder)
            cls.text = {path.stem: path.read_text(encoding="utf-8") for path in Path(folder).iterdir()}

    def lines(self, name):
        """Points (n, 2) of each line, and (x, width) of each contact."""
        tree = ElementTree.fromstring(self.text[name])
        lines = [
            np.array([one.split(",") for one in line.get("points").split()], float)
            for line in tree.iter(f"{SVG}polyline")
        ]
        bars = [(float(bar.get("x")), float(bar.get("width"))) for bar in tree.iter(f"{SVG}rect") if bar.get("x")]
        return lines, bars

    def test_both_are_made_of_numbers(self):
        self.assertEqual(set(self.text), {"how_it_works", "settings"})
        for name, text in self.text.items():
            with self.subTest(name):
                self.assertFalse(re.search(r"\bnan\b|\binf\b", text))
                self.assertGreater(len(self.lines(name)[0]), 8)

    def test_a_planted_toe_is_level(self):
        lines, bars = self.lines("how_it_works")
        source, solved = lines[2], lines[3]
        start, wide = max((bar for bar in bars if bar[0] >= solved[0, 0] - 1.0), key=lambda bar: bar[1])
        planted = (solved[:, 0] >= start) & (solved[:, 0] <= start + wide)
        self.assertLessEqual(np.ptp(solved[planted, 1]), 0.11)
        self.assertGreater(np.ptp(source[planted, 1]), 3.0)

    def test_the_path_is_kept(self):
        free, kept = self.lines("settings")[0][3:5]
        self.assertLess(np.ptp(kept[:, 1]), 0.11)
        self.assertGreater(np.ptp(free[:, 1]), 50.0)


if __name__ == "__main__":
    unittest.main()
