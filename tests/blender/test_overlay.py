"""The overlay: its arrays against hand-made trails and real ones, its settings, and, where Blender can draw without a
window, what comes out of the graphics card."""

import unittest
from types import SimpleNamespace
from unittest import mock

import bpy
import gpu
import numpy as np
from blender.test_panel import Layout
from blender.test_trails import shown, walker
from mathutils import Matrix

from footlock.rig import contact_property, mapping, trail_cache, trails
from footlock.rig.names import Leg
from footlock.solvers import foot_states
from footlock.ui import overlay, overlay_arrays, overlay_panel, timeline_bars

COLOURS = overlay_arrays.Colours(
    free=(0.0, 0.0, 1.0, 0.5),
    planted=(0.0, 1.0, 0.0, 1.0),
    sliding=(1.0, 0.0, 0.0, 1.0),
    out_of_reach=(1.0, 0.0, 1.0, 1.0),
    source=(0.5, 0.5, 0.5, 0.25),
    left=(0.0, 0.8, 1.0, 0.8),
    right=(1.0, 0.8, 0.0, 0.8),
)
# Matrix to clip space of an eye far above that sees x and y from -10 to 10, and a region for it.
FROM_ABOVE = np.diag([0.1, 0.1, -0.01, 1.0])
SIZE = (400, 400)


def made(count=9, slide=0.0, unit=1.0, weights=None, source=None, out_of_reach=None):
    """Trails of two legs at 30 Hz, frames from 11 on: both feet go along x, a metre a second, but where planted, which
    the left one is in the middle third, sliding by ``slide`` metres a frame."""
    third = count // 3
    planted = np.zeros((count, 2))
    planted[third : 2 * third, 0] = 1.0
    planted = planted if weights is None else (weights > 0.5).astype(float)
    step = np.where(planted[1:] * planted[:-1] > 0.0, slide, 1.0 / 30.0)
    x = np.concatenate([np.zeros((1, 2)), np.cumsum(step, axis=0)]) / unit
    toes = np.stack([x, np.zeros_like(x) + np.array([0.1, -0.1]) / unit, np.zeros_like(x)], axis=-1)
    up = np.array([0.0, 0.0, 1.0]) / unit
    back = np.array([-0.16, 0.0, 0.07]) / unit
    return trails.Trails(
        frames=11.0 + np.arange(count),
        hips=toes + 0.9 * up,
        knees=toes + 0.5 * up,
        heels=toes + back,
        toes=toes,
        toe_ends=toes + np.array([0.07, 0.0, 0.0]) / unit,
        legs=(Leg("L", "", "", "", "toe.L"), Leg("R", "", "", "", "toe.R")),
        weights=planted if weights is None else weights,
        out_of_reach=np.zeros((count, 2), bool) if out_of_reach is None else out_of_reach,
        ground=np.zeros(2),
        level=np.full(2, 0.07 / unit),
        frame_rate=30.0,
        unit=unit,
        source=source,
        place=np.eye(4),
    )


def of_leg(arrays, y):
    """The lines of the leg at this y: x of both ends (k, 2) and colours (k, 4)."""
    vertices, colours = arrays
    mine = vertices[:, 1] == np.float32(y)
    return vertices[mine, 0].reshape(-1, 2), colours[mine].reshape(-1, 2, 4)[:, 0]


class Paths(unittest.TestCase):
    def paths(self, found, tolerance=-1.0):  # so that no point is left out

        return overlay_arrays.paths(found.toes, overlay_arrays.step_states(found), COLOURS.of_states(), tolerance)

    def test_each_step_has_the_colour_of_its_state(self):
        arrays = self.paths(made(slide=0.01))
        x, colours = of_leg(arrays, 0.1)
        self.assertEqual((x.shape, arrays[0].dtype, arrays[1].dtype), ((8, 2), np.float32, np.float32))
        np.testing.assert_allclose(x[1:, 0], x[:-1, 1])
        free, sliding = COLOURS.free, COLOURS.sliding
        np.testing.assert_allclose(colours, [free, free, free, sliding, sliding, free, free, free])
        np.testing.assert_allclose(of_leg(arrays, -0.1)[1], [free] * 8)

    def test_what_stands_is_planted_and_what_is_short_out_of_reach(self):
        missed = np.zeros((9, 2), bool)
        missed[5, 0] = True
        for found, wanted in ((made(), COLOURS.planted), (made(out_of_reach=missed), COLOURS.out_of_reach)):
            _, colours = of_leg(self.paths(found), 0.1)
            np.testing.assert_allclose(colours[4], wanted)

    def test_units_do_not_matter(self):
        """Sliding is metres a second, whatever a unit is."""
        for unit in (0.01, 1.0):
            for slide, state in ((0.0008, foot_states.PLANTED), (0.0012, foot_states.SLIDING)):
                states = overlay_arrays.step_states(made(slide=slide, unit=unit))
                self.assertEqual(states[3:5, 0].tolist(), [state, state])

    def test_thin_paths_keep_their_colours(self):
        found = made(count=300)
        x, colours = of_leg(self.paths(found, 1e-6), 0.1)
        self.assertLess(len(x), 60)
        self.assertEqual({tuple(colour) for colour in colours.tolist()}, {COLOURS.free, COLOURS.planted})

    def test_strength_is_alpha(self):
        found = made()
        states = overlay_arrays.step_states(found)
        _, colours = overlay_arrays.paths(found.toes, states, COLOURS.of_states(), 0.0, 0.5)
        self.assertAlmostEqual(colours[0, 3], 0.25)

    def test_near_the_current_frame(self):
        found = made()
        states = overlay_arrays.step_states(found)
        x, colours = of_leg(overlay_arrays.near(found, states, COLOURS.of_states(), 15.0, 2), 0.1)
        np.testing.assert_allclose(x[:, 0], found.toes[2:6, 0, 0], rtol=1e-6)
        np.testing.assert_allclose(colours[[0, 2]], [COLOURS.free, COLOURS.planted])
        nothing = overlay_arrays.near(found, states, COLOURS.of_states(), 90.0, 2)
        self.assertEqual([len(one) for one in nothing], [0, 0])


class Prints(unittest.TestCase):
    def test_frames_are_those_of_the_scene(self):
        found = overlay_arrays.prints(made())
        self.assertEqual((found.first.tolist(), found.last.tolist(), found.leg.tolist()), ([14.0], [16.0], [0]))
        np.testing.assert_allclose(found.heading, [[1.0, 0.0]])
        self.assertAlmostEqual(found.length[0], 0.23)

    def test_soles_and_outlines(self):
        found = overlay_arrays.prints(made())
        feet = COLOURS.of_feet(np.array([1.0, -1.0]))
        np.testing.assert_allclose(feet, [COLOURS.left, COLOURS.right])
        for level in range(len(overlay_arrays.LEVELS)):
            vertices, colours = overlay_arrays.soles(found, feet, 0.5, level)
            corners = vertices.reshape(-1, 3, 3)
            area = 0.5 * np.abs(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])[:, 2]).sum()
            self.assertGreater(area, 0.35 * found.length[0] * found.width[0])
            self.assertLess(area, 0.95 * found.length[0] * found.width[0])
            np.testing.assert_allclose(colours, np.tile((*COLOURS.left[:3], 0.4), (len(vertices), 1)), rtol=1e-6)
            lines, _ = overlay_arrays.outlines(found, feet, 1.0, level)
            ends = lines.reshape(-1, 2, 3)
            np.testing.assert_array_equal(ends[:, 1], np.roll(ends[:, 0], -1, axis=0))

    def test_marks(self):
        found = overlay_arrays.prints(made(slide=0.02))
        chosen = overlay_arrays.slides(found, 1.0)
        self.assertEqual(chosen.tolist(), [0])
        lines = overlay_arrays.marks(found, chosen).reshape(-1, 2, 3)
        self.assertEqual(len(lines), 3)
        self.assertAlmostEqual(float(np.linalg.norm(lines[0, 1] - lines[0, 0])), 0.04, places=6)
        np.testing.assert_allclose(lines[..., 2], found.outline[0, 0, 2], atol=1e-6)

    def test_no_mark_below_a_millimetre(self):
        for slide, count in ((0.0, 0), (0.00045, 0), (0.00055, 1)):
            for unit in (0.01, 1.0):
                found = overlay_arrays.prints(made(slide=slide, unit=unit))
                self.assertEqual(len(overlay_arrays.slides(found, unit)), count, (slide, unit))

    def test_the_furthest_first(self):
        weights = np.zeros((30, 2))
        weights[2:6, 0] = weights[10:20, 0] = weights[3:9, 1] = 1.0
        found = overlay_arrays.prints(made(count=30, slide=0.01, weights=weights))
        slid = found.slid[overlay_arrays.slides(found, 1.0)]
        self.assertEqual(len(slid), 3)
        self.assertTrue((np.diff(slid) <= 0.0).all())

    def test_several_legs_of_a_side_are_told_apart(self):
        feet = COLOURS.of_feet(np.array([1.0, 1.0, -1.0, 0.0]))
        self.assertLess(feet[1, 1], feet[0, 1])
        self.assertEqual(feet[1, 3], feet[0, 3])
        np.testing.assert_allclose(feet[3], 0.5 * (np.array(COLOURS.left) + COLOURS.right))


class Bars(unittest.TestCase):
    def test_each_contact_is_a_bar(self):
        weights = np.zeros((9, 2))
        weights[1:4, 0], weights[6, 0], weights[2:9, 1], weights[0, 1] = 1.0, 1.0, 0.5, -1.0
        vertices, colours = overlay_arrays.bars(made(weights=weights), COLOURS.of_feet(np.array([1.0, -1.0])))
        bars = vertices.reshape(-1, 6, 3)
        spans = [(bar[:, 0].min(), bar[:, 0].max(), bar[:, 1].min()) for bar in bars]
        self.assertEqual(spans, [(11.5, 14.5, 1.0), (16.5, 17.5, 1.0), (12.5, 19.5, 0.0)])
        np.testing.assert_allclose(np.ptp(bars[..., 1], axis=1), 0.75)
        np.testing.assert_allclose(colours.reshape(-1, 6, 4)[[0, 2], 0, 3], [0.8, 0.4])


class Chunks(unittest.TestCase):
    def setUp(self):
        weights = np.zeros((5000, 2))
        for first in range(20, 5000, 60):
            weights[first : first + 30, 0] = weights[first + 30 : first + 50, 1] = 1.0
        self.trails = made(count=5000, weights=weights, source=made(count=5000))
        self.prints = overlay_arrays.prints(self.trails)
        self.chunks = overlay_arrays.chunks(self.trails, self.prints)

    def test_all_of_it_is_in_one_and_in_its_ball(self):
        self.assertGreater(len(self.chunks), 3)
        steps = np.concatenate([np.arange(one.frames.start, one.frames.stop - 1) for one in self.chunks])
        self.assertEqual(steps.tolist(), list(range(4999)))
        self.assertEqual(sorted(np.concatenate([one.prints for one in self.chunks])), list(range(len(self.prints))))
        for one in self.chunks:
            outlines = self.prints.outline[one.prints].reshape(-1, 3)
            points = np.concatenate([self.trails.toes[one.frames].reshape(-1, 3), outlines])
            self.assertLessEqual(np.linalg.norm(points - one.centre, axis=1).max(), one.radius + 1e-9)
            self.assertEqual(one.source, one.frames)

    def test_what_is_in_view_and_how_fine(self):
        centres = np.array([[0.0, 0.0, 0.0], [9.5, 0.0, 0.0], [12.0, 0.0, 0.0], [0.0, -30.0, 0.0]])
        radii = np.ones(4)
        for zoom, wanted in ((1.0, [3, 3, -1, -1]), (0.1, [5, 5, 5, 5]), (30.0, [0, -1, -1, -1])):
            projection = np.diag([zoom, zoom, 1.0, 1.0]) @ FROM_ABOVE
            found = overlay_arrays.levels(centres, radii, projection, SIZE, 1.0)
            self.assertEqual(found.tolist(), wanted, zoom)

    def test_near_the_eye_it_is_finest(self):
        """In perspective; and in centimetres as in metres."""
        lens = np.array([[1.0, 0, 0, 0], [0, 1.0, 0, 0], [0, 0, -1.002, -0.2], [0, 0, -1.0, 0]])
        for unit in (1.0, 0.01):
            centres = np.array([[0.0, 0.0, -2.0], [0.0, 0.0, -60.0], [0.0, 0.0, 5.0]]) / unit
            sight = lens.copy()
            sight[2, 3] /= unit
            found = overlay_arrays.levels(centres, np.full(3, 1.0) / unit, sight, (1000, 1000), unit)
            self.assertEqual(found.tolist(), [0, 4, -1], unit)


class Real(unittest.TestCase):
    """Of a rig, before and after its sliding is removed."""

    def test_colours_and_prints_before_and_after(self):
        armature = walker()
        settings = bpy.context.scene.footlock_overlay
        before = overlay.built(armature, shown(armature), settings)
        planted = before.trails.planted
        held = planted[1:] & planted[:-1]
        self.assertGreater((before.states == foot_states.SLIDING).sum(), 0.9 * held.sum())
        self.assertEqual(len(before.prints), 3)
        self.assertEqual(len(before.labelled), 3)
        bpy.ops.footlock.remove_sliding(unit=1.0)
        after = overlay.built(armature, shown(armature), settings)
        self.assertEqual((after.states == foot_states.SLIDING).sum(), 0)
        self.assertEqual(len(after.labelled), 0)
        self.assertEqual(len(after.prints), 3)
        toes = after.trails.toes
        for i, (leg, first) in enumerate(zip(after.prints.leg, after.prints.first, strict=True)):
            np.testing.assert_allclose(after.prints.toe[i], toes[int(first) - 1, leg], atol=1e-4)

    def test_built_once(self):
        armature = walker()
        entry, settings = shown(armature), bpy.context.scene.footlock_overlay
        found = overlay.built(armature, entry, settings)
        self.assertIs(overlay.built(armature, shown(armature), settings), found)
        settings.planted = (0.1, 0.2, 0.3, 1.0)
        other = overlay.built(armature, entry, settings)
        self.assertIsNot(other, found)
        np.testing.assert_allclose(other.table[foot_states.PLANTED], (0.1, 0.2, 0.3, 1.0), rtol=1e-6)

    def test_what_there_is_to_show(self):
        armature = walker()
        shown(armature)
        self.assertEqual(overlay.subject(bpy.context)[0], armature)
        bpy.ops.object.mode_set(mode="EDIT")
        self.assertIsNone(overlay.subject(bpy.context))
        bpy.ops.object.mode_set(mode="OBJECT")
        bpy.context.view_layer.objects.active = None
        self.assertIsNone(overlay.subject(bpy.context))

    def test_the_panel_says_what_is_missing(self):
        armature = walker()
        layout = Layout()
        overlay_panel._draw_state(layout, bpy.context)
        self.assertEqual(layout.said, [])
        armature.data.pose_position = "REST"
        trail_cache.touch()
        shown(armature)
        overlay_panel._draw_state(layout, bpy.context)
        self.assertIn("Pose Position", layout.said[0])
        self.assertIn("footlock.refresh_overlay", layout.buttons)

    def test_settings_are_no_channels(self):
        """A key on one would do nothing."""
        for owner in (bpy.context.scene.footlock_overlay, walker().footlock_selected):
            for name, one in owner.bl_rna.properties.items():
                if name not in ("rna_type", "name"):
                    self.assertFalse(one.is_animatable, name)


@unittest.skipUnless(hasattr(gpu, "init") and bpy.app.background, "this Blender draws in a window only")
class Drawn(unittest.TestCase):
    """All that is drawn, by the shaders of this Blender, into a picture. The tests in a window show it on others."""

    @classmethod
    def setUpClass(cls):
        gpu.init()

    def setUp(self):
        self.armature = walker()
        bpy.ops.footlock.remove_sliding(unit=1.0)
        self.settings = bpy.context.scene.footlock_overlay
        trails_ = shown(self.armature).trails
        toes = np.concatenate([trails_.toes, trails_.source.toes]).reshape(-1, 3)
        middle, reach = toes.mean(axis=0), 0.8 * np.ptp(toes[:, :2], axis=0).max()
        self.sight = np.diag([1.0 / reach, 1.0 / reach, -0.1, 1.0])
        self.sight[:2, 3] = -middle[:2] / reach

    def context(self, region=None, overlays=True):
        return SimpleNamespace(
            scene=bpy.context.scene,
            view_layer=bpy.context.view_layer,
            preferences=SimpleNamespace(  # the interface has no scale without a window
                system=SimpleNamespace(ui_scale=1.0), themes=bpy.context.preferences.themes
            ),
            space_data=SimpleNamespace(overlay=SimpleNamespace(show_overlays=overlays)),
            region=region or self.region(),
            region_data=SimpleNamespace(perspective_matrix=Matrix(self.sight.tolist())),
        )

    def region(self, address=1):
        return SimpleNamespace(width=SIZE[0], height=SIZE[1], as_pointer=lambda: address)

    def picture(self, draw, sight, context):
        """RGBA (height, width, 4), 0 to 255, over black."""
        canvas = gpu.types.GPUOffScreen(*SIZE)
        with canvas.bind(), gpu.matrix.push_pop(), gpu.matrix.push_pop_projection():
            gpu.state.active_framebuffer_get().clear(color=(0.0, 0.0, 0.0, 1.0), depth=1.0)
            gpu.matrix.load_matrix(Matrix.Identity(4))
            gpu.matrix.load_projection_matrix(Matrix(sight.tolist()))
            # A viewport that is none has no local view to be asked for.
            with mock.patch.object(overlay, "_in_view", lambda *_: True):
                draw(context)
        buffer = canvas.texture_color.read()
        buffer.dimensions = SIZE[0] * SIZE[1] * 4
        pixels = np.array(buffer).reshape(SIZE[1], SIZE[0], 4)
        canvas.free()
        return pixels

    def world(self, **arguments):
        return self.picture(overlay._draw_world, self.sight, self.context(**arguments))

    def only(self, *names):
        for name in ("paths", "footprints", "slides", "source", "ghost"):
            setattr(self.settings, name, name in names)

    def near(self, pixels, colour):
        """How many pixels have this colour."""
        return int((np.abs(pixels[..., :3].astype(int) - 255.0 * np.array(colour[:3])) < 6.0).all(axis=-1).sum())

    def lit(self, pixels):
        return int((pixels[..., :3] > 8).any(axis=-1).sum())

    def test_paths(self):
        self.only("paths")
        self.settings.free = (0.0, 0.0, 1.0, 1.0)
        self.settings.line_width = 4.0
        self.assertGreater(self.near(self.world(), (0.0, 0.0, 1.0)), 100)

    def test_nothing_where_overlays_are_off(self):
        self.assertGreater(self.lit(self.world()), 100)
        self.assertEqual(self.lit(self.world(overlays=False)), 0)
        self.settings.show = False
        self.assertEqual(self.lit(self.world()), 0)

    def test_each_part_alone(self):
        for name in ("paths", "footprints", "source", "ghost"):
            self.only(name)
            self.assertGreater(self.lit(self.world()), 20, name)
        self.only("slides")
        self.assertEqual(self.lit(self.world()), 0)
        labels = shown(self.armature).trails.planted
        bpy.ops.ed.undo_push(message="base")
        self.armature = walker()
        contact_property.write(self.armature, mapping.of(self.armature), 1.0 + np.arange(40), labels)
        trail_cache.touch()
        shown(self.armature)
        self.settings = bpy.context.scene.footlock_overlay
        self.only("slides")
        self.assertGreater(self.near(self.world(), self.settings.sliding), 10)

    def test_the_selected_print(self):
        self.only("footprints")
        without = self.world()
        self.armature.footlock_selected.leg, self.armature.footlock_selected.frame = 0, 8.0
        selected = self.world()
        colour = bpy.context.preferences.themes[0].view_3d.object_active
        self.assertEqual(self.near(without, colour), 0)
        self.assertGreater(self.near(selected, colour), 5)
        self.armature.footlock_selected.frame = 20.0  # no contact of that leg
        np.testing.assert_array_equal(self.world(), without)

    def test_a_range_is_stronger(self):
        self.only("paths")
        self.settings.free = (0.0, 0.0, 1.0, 1.0)
        self.settings.line_width = 4.0
        everywhere = self.near(self.world(), (0.0, 0.0, 1.0))
        self.settings.reach = 8
        bpy.context.scene.frame_set(20)
        part = self.near(self.world(), (0.0, 0.0, 1.0))
        self.assertGreater(part, 20)
        self.assertLess(part, 0.8 * everywhere)

    def test_a_moved_object_has_moved_pixels(self):
        self.only("paths")
        before = self.world()
        self.armature.location.x = 20 * 2.0 / (SIZE[0] * self.sight[0, 0])  # 20 pixels
        bpy.context.view_layer.update()
        after = self.world()
        np.testing.assert_allclose(after[:, 40:], before[:, 20:-20], atol=40)
        self.assertGreater(np.abs(after.astype(int) - before).max(), 50)

    def test_dots_and_lengths(self):
        pixels = np.array([[2.0 / SIZE[0], 0, 0, -1.0], [0, 2.0 / SIZE[1], 0, -1.0], [0, 0, -1.0, 0], [0, 0, 0, 1.0]])
        self.settings.free = (0.0, 0.0, 1.0, 1.0)
        bpy.context.scene.frame_set(10)
        found = self.picture(overlay._draw_pixels, pixels, self.context())
        self.assertGreater(self.near(found, self.settings.planted), 20)
        self.assertGreater(self.near(found, self.settings.free), 5)
        self.assertLess(self.lit(found), 400)
        again = walker()
        shown(again)
        bpy.context.scene.frame_set(300)
        written = self.picture(overlay._draw_pixels, pixels, self.context())
        self.assertGreater(np.count_nonzero((written[..., :3] > 150).all(axis=-1)), 20)  # letters have soft edges

    def test_dots_go_on_with_what_the_paths_were_drawn_by(self):
        """The pixels' part of a redraw of the same region, and of that redraw only."""
        pixels = np.array([[2.0 / SIZE[0], 0, 0, -1.0], [0, 2.0 / SIZE[1], 0, -1.0], [0, 0, -1.0, 0], [0, 0, 0, 1.0]])
        bpy.context.scene.frame_set(10)
        alone = self.picture(overlay._draw_pixels, pixels, self.context())
        self.assertGreater(self.lit(alone), 20)
        for address, looks in ((1, [0, 1]), (2, [1, 1])):
            self.world()
            for more in looks:
                with mock.patch.object(overlay, "_view", wraps=overlay._view) as looked:
                    found = self.picture(overlay._draw_pixels, pixels, self.context(self.region(address)))
                self.assertEqual(looked.call_count, more)
                np.testing.assert_array_equal(found, alone)
        self.world(overlays=False)
        self.assertEqual(self.lit(self.picture(overlay._draw_pixels, pixels, self.context())), 0)

    def test_what_is_in_view_is_one_batch(self):
        """Of all chunks in view, made anew only for another view, of which no more than a few are kept."""
        with mock.patch.object(overlay_arrays, "_CHUNK", 8):
            overlay._built.clear()
            self.world()
        view = overlay._viewed[1]
        self.assertGreater(len(view.made.chunks), 3)
        seen = view.made.seen(view.projection, view.size)
        self.assertEqual([i for _, i in seen], list(range(len(view.made.chunks))))
        self.assertIs(view.made.seen(view.projection.copy(), view.size), seen)
        drawn, paths = [], ("paths",)
        view.made.batches.clear()
        with mock.patch.object(overlay, "_lines_batch", lambda *arrays: drawn.append(arrays) or len(drawn)):
            for _ in range(2):
                self.assertEqual(overlay._seen(view.made, paths, seen), 1)
            np.testing.assert_array_equal(
                drawn[0][0], np.concatenate([view.made.vertices("paths", view.made.chunks[i], at)[0] for at, i in seen])
            )
            self.assertEqual(len(drawn[0][0]), len(drawn[0][1]))
            for count in range(5):
                overlay._seen(view.made, paths, seen[:count])
        self.assertEqual(len(drawn), 6)
        self.assertEqual(len(seen), 5)
        self.assertEqual(list(view.made.batches), [(paths, seen[:i]) for i in (1, 2, 3, 4)])

    def test_bars(self):
        """Frame 0 is at the left edge and a frame is ten pixels."""
        view = SimpleNamespace(region_to_view=lambda x, y: (x / 10.0, y))
        region = SimpleNamespace(width=SIZE[0], height=SIZE[1], view2d=view)
        pixels = np.array([[2.0 / SIZE[0], 0, 0, -1.0], [0, 2.0 / SIZE[1], 0, -1.0], [0, 0, -1.0, 0], [0, 0, 0, 1.0]])
        self.settings.left, self.settings.right = (0.0, 1.0, 1.0, 1.0), (1.0, 1.0, 0.0, 1.0)
        found = self.picture(timeline_bars._draw, pixels, self.context(region))
        weights = shown(self.armature).trails.weights
        for leg, colour in enumerate(((0, 255, 255), (255, 255, 0))):
            columns = (found[..., :3] == colour).all(axis=-1).any(axis=0)
            wanted = np.repeat(weights[:, leg] > 0.0, 10)
            # The middle of the first frame's bar is at 10; names cover the left end.
            off = columns[105:390] != wanted[100:385]
            self.assertLess(off.sum(), 4, leg)
        self.settings.bars = False
        self.assertEqual(self.lit(self.picture(timeline_bars._draw, pixels, self.context(region))), 0)


class Unregistered(unittest.TestCase):
    def test_no_draw_handle_is_left(self):
        """Each that is added is taken down, over 20 rounds."""
        held = []

        def add(function, *_):
            held.append(object())
            return held[-1]

        for module, space in ((overlay, bpy.types.SpaceView3D), (timeline_bars, bpy.types.SpaceDopeSheetEditor)):
            module.unregister()
            with (
                mock.patch.object(module.bpy, "types", SimpleNamespace(**{
                    space.__name__: SimpleNamespace(
                        draw_handler_add=add, draw_handler_remove=lambda handle, _: held.remove(handle)
                    )
                })),
            ):  # fmt: skip
                for _ in range(20):
                    module.register()
                    self.assertGreater(len(held), 0)
                    module.unregister()
                    self.assertEqual((held, module._handles), ([], []))
            module.register()
            self.assertGreater(len(module._handles), 0)
