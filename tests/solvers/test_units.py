"""The unit of a scene, judged from its legs."""

import unittest

from footlock.rig import units

UNITS = {"metre": 1.0, "centimetre": 0.01, "millimetre": 0.001, "inch": 0.0254, "foot": 0.3048, "CMU": 0.056444}


class Judged(unittest.TestCase):
    def test_an_adult_in_every_unit(self):
        for name, unit in UNITS.items():
            with self.subTest(unit=name):
                self.assertEqual(units.judged(0.83 / unit), unit)

    def test_from_child_to_giant_in_the_usual_units(self):
        for leg in (0.36, 0.5, 0.83, 1.0, 1.59):
            for unit in (1.0, 0.01, 0.001):
                with self.subTest(leg=leg, unit=unit):
                    self.assertEqual(units.judged(leg / unit), unit)

    def test_the_scene_is_believed_where_it_is_plausible(self):
        for unit in (*UNITS.values(), 0.1, 0.5):
            with self.subTest(unit=unit):
                self.assertEqual(units.judged(0.9 / unit, scene_scale=unit), unit)
        # As metres this leg would do as well.
        self.assertEqual(units.judged(1.5, scene_scale=0.3048), 0.3048)

    def test_the_scene_is_not_believed_where_it_is_not(self):
        self.assertEqual(units.judged(0.83, scene_scale=0.01), 1.0)
        self.assertEqual(units.judged(83.0, scene_scale=1.0), 0.01)
        self.assertEqual(units.judged(830.0, scene_scale=0.01), 0.001)
        self.assertEqual(units.judged(83.0, scene_scale=100.0), 0.01)

    def test_toys_and_dragons_keep_the_scene_s_word(self):
        for leg, scale in ((0.05, 1.0), (0.001, 1.0), (1e6, 1.0), (1e-9, 0.01)):
            with self.subTest(leg=leg):
                self.assertEqual(units.judged(leg, scale), scale)

    def test_no_leg(self):
        self.assertEqual(units.judged(0.0), 1.0)
        self.assertEqual(units.judged(0.0, 0.01), 0.01)

    def test_the_clips_of_the_tests(self):
        """Thigh and shin of the skeletons in tests/data, in units of their files."""
        self.assertEqual(units.judged(0.8), 1.0)
        self.assertEqual(units.judged(0.8 / 0.056444), 0.056444)
