"""What feet stand on: level floors, slopes, stairs; lifts over it, and turns of the feet with it."""

import unittest
from dataclasses import fields, replace
from functools import cache

import measure
import motions
import numpy as np

from footlock.solvers import foot_skate, foot_turn, leg_chain, lift, slide_removal
from footlock.solvers import rotations as rot
from footlock.solvers.ground import Ground
from footlock.solvers.leg_chain import LegPose

RATE = 60.0


class Slope:
    """Ground that rises along a direction (2,) by so many degrees, through a point (2,) at height 0."""

    def __init__(self, degrees, through, way):
        self.rise, self.through, self.way = np.tan(np.radians(degrees)), through, way / np.linalg.norm(way)

    def sample(self, points):
        normal = np.array([*(-self.rise * self.way), 1.0])
        height = self.rise * (points[:, :2] - self.through) @ self.way
        return height, np.tile(normal / np.linalg.norm(normal), (len(points), 1))


class Stairs(Slope):
    """Steps, of 17 cm."""

    def __init__(self, through, way, tread, height=0.17):
        super().__init__(0.0, through, way)
        self.tread, self.height = tread, height

    def sample(self, points):
        height = self.height * np.floor((points[:, :2] - self.through) @ self.way / self.tread)
        return height, np.tile([0.0, 0.0, 1.0], (len(points), 1))


@cache
def clip():
    """CMU 12_01, and the labels of its contacts."""
    return measure.load(motions.DATA / "cmu_12_01.bvh"), motions.truth(motions.load("cmu_12_01"))


@cache
def walk(rate=RATE):
    """Pelvis, pose, side vectors and contacts of CMU 12_01 at 60 Hz or another rate, clean."""
    motion, labels = clip()
    step = round(1.0 / motion.frame_time / rate)

    def upright(joint):
        x, y, z = motion.point(joint).T * 0.056444
        return np.stack([x, -z, y], axis=1)[1::step]

    joints = ("UpLeg", "Leg", "Foot", "ToeBase", "ToeBase end")
    pose = LegPose(*(np.stack([upright(side + joint) for side in ("Left", "Right")], 1) for joint in joints))
    thigh, shin = pose.knee - pose.hip, pose.heel - pose.knee
    side = rot.normalized(np.cross(thigh, shin), np.array([1.0, 0.0, 0.0]))
    pelvis = upright("Hips")
    labels = motions.at_frames(labels, len(pelvis), rate)
    labels[-1] = False  # a contact of one frame
    return pelvis, pose, side, labels


def way():
    pelvis = walk()[0]
    return (pelvis[-1] - pelvis[0])[:2]


@cache
def slope(degrees, way_in=(1.0, 0.0)):
    """Ground that rises along the walk, or along a direction (2,) that is told in that of the walk and aside."""
    ahead, aside = way_in
    return Slope(degrees, walk()[0][0, :2], ahead * way() + aside * way()[::-1] * (1, -1))


@cache
def stairs(height=0.17):
    """Stairs whose treads are as long as the steps."""
    unit = way() / np.linalg.norm(way())
    return Stairs(walk()[0][0, :2] - 0.2 * way() - 0.15 * unit, way(), 0.62, height)


@cache
def solved(surface, rate=RATE, **settings):
    """The walk on a surface, solved once for all tests: the correction, its ground, the source's pose and labels."""
    pelvis, pose, side, labels = walk(rate)
    ground = replace(Ground.of_contacts(pose, labels).at(0.0), surface=surface)
    found = foot_skate.remove_sliding(pelvis, pose, side, labels, rate, foot_skate.Settings(**settings), ground)
    return found, ground, pose, labels


@cache
def plainly_solved():
    """The walk without anything said of its ground."""
    return foot_skate.remove_sliding(*walk(), RATE)


def slid(toes, labels):
    both = labels[1:] & labels[:-1]
    return (np.linalg.norm(np.diff(toes, axis=0), axis=-1) * both).max()


def over(surface, points):
    return points[..., 2] - surface.sample(points.reshape(-1, 3))[0].reshape(points.shape[:2])


def runs(labels):
    return np.flatnonzero(np.diff(np.pad(labels.astype(int), 1))).reshape(-1, 2)


class Level(unittest.TestCase):
    def test_where_the_feet_stand(self):
        _, pose, _, labels = walk()
        ground = Ground.of_contacts(pose, labels)
        for leg in range(2):
            self.assertEqual(ground.toe[leg], np.median(pose.toe[labels[:, leg], leg, 2]))
        self.assertTrue((ground.toe_end <= ground.toe + 1e-9).all() and ground.known.all() and ground.level)
        self.assertEqual(ground.base, min(*ground.toe, *ground.heel, *ground.toe_end))

    def test_at_another_height(self):
        _, pose, _, labels = walk()
        ground = Ground.of_contacts(pose, labels)
        moved = ground.at(2.0)
        self.assertEqual(moved.base, 2.0)
        np.testing.assert_allclose(moved.toe - ground.toe, 2.0 - ground.base, atol=1e-12)

    def test_a_floor_at_another_height_moves_the_whole_motion(self):
        pelvis, pose, side, labels = walk()
        ground = Ground.of_contacts(pose, labels)
        plain = plainly_solved()
        for up in (-1.0, -0.2, 0.3):
            found = foot_skate.remove_sliding(pelvis, pose, side, labels, RATE, ground=ground.at(ground.base + up))
            np.testing.assert_allclose(found.pelvis, plain.pelvis + np.array([0.0, 0.0, up]), atol=1e-3)
            np.testing.assert_allclose(found.legs.toe, plain.legs.toe + np.array([0.0, 0.0, up]), atol=1e-3)

    def test_legs_that_never_stand_have_no_floor(self):
        _, pose, _, labels = walk()
        ground = Ground.of_contacts(pose, labels & (True, False))
        self.assertTrue(np.isneginf(ground.under(pose.toe, "toe")[:, 1]).all())
        self.assertTrue(np.isfinite(ground.under(pose.toe, "toe")[:, 0]).all())

    def test_a_clean_walk_hardly_changes(self):
        """Contacts of the article still slide by a few millimetres each, which is what is taken away."""
        pelvis, _, _, labels = walk()
        found = plainly_solved()
        self.assertLess(np.linalg.norm(found.pelvis - pelvis, axis=1).mean(), 0.08)
        self.assertEqual(slid(found.legs.toe_target, labels), 0.0)


class Uneven(unittest.TestCase):
    def check_stands(self, found, ground, surface, labels, tolerance):
        """Planted toes stand still, as high over the surface as over the level floor."""
        self.assertTrue(found.converged)
        self.assertFalse(found.out_of_reach.any())
        self.assertLess(slid(found.legs.toe, labels), 5e-5)
        upright = surface.sample(found.legs.toe.reshape(-1, 3))[1][:, 2].reshape(labels.shape)
        clear = over(surface, found.legs.toe) - (ground.toe - ground.base) / upright
        for leg in range(2):
            for start, stop in runs(labels[:, leg]):
                if stop - start > 1:
                    self.assertLess(np.abs(clear[start:stop, leg]).max(), tolerance)
        return clear

    def test_slope_of_15_degrees(self):
        """Up and down: 1.2 m of height over the clip. Feet pitch with it, and free toes stay above it."""
        pelvis = walk()[0]
        for degrees in (15.0, -15.0):
            with self.subTest(degrees=degrees):
                surface = slope(degrees)
                found, ground, pose, labels = solved(surface)
                clear = self.check_stands(found, ground, surface, labels, 0.001)
                self.assertGreater(clear.min(), -0.002)
                climbed = (found.pelvis - pelvis)[-1, 2]
                self.assertGreater(np.sign(degrees) * climbed, 0.7)
                pitch = [
                    np.degrees(np.arcsin((toe - heel)[..., 2] / np.linalg.norm(toe - heel, axis=-1)))
                    for heel, toe in ((pose.heel, pose.toe), (found.legs.heel, found.legs.toe))
                ]
                self.assertAlmostEqual(np.median((pitch[1] - pitch[0])[labels]), degrees, delta=2.0)

    def test_feet_that_do_not_follow_the_slope(self):
        found, _, pose, labels = solved(slope(10.0), follow_slope=0.0)
        flat, turned = (
            (toe - heel)[labels] for heel, toe in ((pose.heel, pose.toe), (found.legs.heel, found.legs.toe))
        )
        self.assertLess(np.median(np.linalg.norm(flat - turned, axis=1)), 0.01)

    def test_stairs_of_17_cm(self):
        """Each contact has its own height; the treads are as long as the steps."""
        surface = stairs()
        found, ground, _, labels = solved(surface)
        self.check_stands(found, ground, surface, labels, 1e-4)
        heights = {
            round(float(z), 3) for leg in range(2) for z in found.legs.toe[labels[:, leg], leg, 2] - ground.toe[leg]
        }
        self.assertEqual(len(heights), 8)
        step = np.diff(sorted(heights))
        np.testing.assert_allclose(step, 0.17, atol=1.1e-3)
        accelerated = [np.linalg.norm(np.diff(a, 2, axis=0), axis=1).max() for a in (walk()[0], found.pelvis)]
        self.assertLess(accelerated[1], 1.3 * accelerated[0])

    def test_steep_slopes(self):
        """Each contact settles, too, where its height changes fast with its place."""
        for degrees in (30.0, -30.0):
            for direction in ((1.0, 0.0), (0.0, 1.0)):
                with self.subTest(degrees=degrees, direction=direction):
                    surface = slope(degrees, direction)
                    found, ground, _, labels = solved(surface)
                    self.assertLess(slid(found.legs.toe, labels), 1e-3)
                    held = found.locked & ~found.out_of_reach
                    clear = over(surface, found.legs.toe) - (ground.toe - ground.base) / np.cos(np.radians(30.0))
                    self.assertLess(np.abs(clear[held]).max(), 0.002)

    def test_the_edge_of_a_stair(self):
        """Wherever the stairs begin, no foot floats over a tread or is inside of one."""
        unit = way() / np.linalg.norm(way())
        for start in np.linspace(0.0, 0.3, 7)[:-1]:
            with self.subTest(start=start):
                surface = Stairs(walk()[0][0, :2] - start * unit, way(), 0.3)
                found, ground, _, labels = solved(surface, rate=30.0)
                middle = np.array(
                    [
                        (leg, *found.legs.toe[start:stop, leg].mean(axis=0))
                        for leg in range(2)
                        for start, stop in runs(labels[:, leg] & ~found.out_of_reach[:, leg])
                    ]
                )
                clear = over(surface, middle[:, None, 1:])[:, 0] - (ground.toe - ground.base)[middle[:, 0].astype(int)]
                self.assertLess(np.abs(clear).max(), 1e-3)

    def again(self, found, surface):
        """The result as a source: pelvis, LegPose and Ground."""
        pelvis, pose, _, labels = walk()
        hip = pose.hip + (found.pelvis - pelvis)[:, None]
        new = LegPose(hip, *(getattr(found.legs, name) for name in ("knee", "heel", "toe", "toe_end")))
        ground = Ground.of_contacts(new, labels)
        return found.pelvis, new, ground if surface is None else ground.on(surface, new, labels)

    def test_what_is_on_the_surface_already_stays(self):
        for surface in (slope(15.0), slope(-15.0), stairs()):
            with self.subTest(surface):
                found = solved(surface)[0]
                _, _, side, labels = walk()
                pelvis, pose, ground = self.again(found, surface)
                self.assertTrue(ground.followed)
                second = foot_skate.remove_sliding(pelvis, pose, side, labels, RATE, ground=ground)
                # Free toes come up to half a centimetre nearer to the edges of stairs than they should.
                self.assertLess(np.abs(second.legs.toe - pose.toe).max(), 0.007)
                self.assertLess(np.abs(second.pelvis - pelvis).max(), 0.004)

    def test_contacts_on_another_level_keep_it_without_a_floor(self):
        """A clip that climbs stairs, as captured: the level floor is under those that are at its height."""
        found = solved(stairs())[0]
        _, _, side, labels = walk()
        pelvis, pose, ground = self.again(found, None)
        self.assertTrue(ground.level)
        second = foot_skate.remove_sliding(pelvis, pose, side, labels, RATE, ground=ground)
        self.assertLess(slid(second.legs.toe, labels), 5e-5)
        self.assertLess(np.abs((second.legs.toe - pose.toe)[labels][:, 2]).max(), 0.002)
        self.assertGreater(np.ptp(second.legs.toe[labels][:, 2]), 1.0)

    def test_curbs_keep_their_height_without_a_floor(self):
        """Lower than stairs, and both feet on one set of levels."""
        for height in (0.09, 0.12):
            with self.subTest(height):
                found = solved(stairs(height))[0]
                _, _, side, labels = walk()
                pelvis, pose, ground = self.again(found, None)
                second = foot_skate.remove_sliding(pelvis, pose, side, labels, RATE, ground=ground)
                self.assertLess(np.abs((second.legs.toe - pose.toe)[labels][:, 2]).max(), 0.002)

    def test_pinned_frames_ease_into_the_height_of_the_floor(self):
        pelvis, pose, side, labels = walk()
        pinned = np.zeros(len(pelvis), bool)
        pinned[[0, -1]] = True
        level = Ground.of_contacts(pose, labels)
        slope = level.on(Slope(5.0, pelvis[0, :2], way()), pose, labels)
        for ground in (slope, level.at(level.base + 0.1), level.at(level.base - 0.1)):
            found = foot_skate.remove_sliding(pelvis, pose, side, labels, RATE, ground=ground, pinned=pinned)
            np.testing.assert_array_equal(found.pelvis[pinned], pelvis[pinned])
            np.testing.assert_allclose(found.legs.toe[pinned], pose.toe[pinned], atol=1e-9)
            step = [np.linalg.norm(np.diff(a, axis=0), axis=-1).max() for a in (pelvis, found.pelvis)]
            self.assertLess(step[1], 2.0 * step[0])

    def test_nothing_below(self):
        """Where the surface has no height, the level floor stays."""

        class Nothing:
            def sample(self, points):
                return np.full(len(points), np.nan), np.tile([0.0, 0.0, 1.0], (len(points), 1))

        found, ground, _, labels = solved(Nothing())
        for leg in range(2):
            np.testing.assert_allclose(found.legs.toe[labels[:, leg], leg, 2], ground.toe[leg], atol=1e-6)


class Extremes(unittest.TestCase):
    def test_feet_always_planted(self):
        """The whole body sways by 3 cm over feet that shall stand: they do, and the hips still sway."""
        pelvis, pose, side, _ = walk()
        sway = 0.03 * np.sin(np.arange(len(pelvis)) / 10.0)[:, None] * [1.0, 0.0, 0.0]
        standing = LegPose(*(getattr(pose, f.name)[110] + sway[:, None] for f in fields(pose)))
        labels, side = np.ones((len(pelvis), 2), bool), np.broadcast_to(side[110], pose.toe.shape)
        found = foot_skate.remove_sliding(pelvis[110] + sway, standing, side, labels, RATE)
        self.assertTrue(found.converged)
        self.assertEqual(slid(found.legs.toe_target, labels), 0.0)
        self.assertLess(slid(found.legs.toe, labels), 5e-5)
        self.assertGreater(np.ptp(found.pelvis[:, 0]), 0.8 * np.ptp(sway[:, 0]))

    def test_no_contact_can_be_reached(self):
        """A pelvis that has to keep its path flies away from planted feet: the legs stay whole, and it is said."""
        pelvis, pose, side, labels = walk()
        labels = np.ones_like(labels)
        settings = foot_skate.Settings(terms=slide_removal.Terms(1 / 30, keep_path=1.0, lower_hips=0.0))
        found = foot_skate.remove_sliding(pelvis, pose, side, labels, RATE, settings)
        self.assertGreater(found.out_of_reach.mean(), 0.5)
        self.assertGreater(found.legs.residual.max(), 0.5)
        np.testing.assert_array_equal(found.pelvis[:, :2], pelvis[:, :2])
        for a, b in (("knee", "heel"), ("heel", "toe")):
            before = np.linalg.norm(getattr(pose, b) - getattr(pose, a), axis=-1)
            after = np.linalg.norm(getattr(found.legs, b) - getattr(found.legs, a), axis=-1)
            np.testing.assert_allclose(after, before, atol=1e-9)
        for f in fields(found.legs):
            self.assertTrue(np.isfinite(getattr(found.legs, f.name)).all())

    def test_a_contact_of_one_frame_asks_for_nothing(self):
        pelvis, pose, side, labels = walk()
        lone = np.zeros_like(labels)
        lone[100, 0] = True
        found = foot_skate.remove_sliding(pelvis, pose, side, lone, RATE)
        np.testing.assert_allclose(found.legs.toe, pose.toe, atol=1e-9)
        np.testing.assert_array_equal(found.pelvis, pelvis)
        self.assertFalse(found.locked.any())


class Lift(unittest.TestCase):
    def lift(self, required, none=None):
        required = np.asarray(required, float)[:, None]
        return lift.smooth(required, RATE, 1 / 30, np.zeros(required.shape, bool) if none is None else none[:, None])[
            :, 0
        ]

    def test_enough_and_local_and_smooth(self):
        frame = np.arange(121)
        required = 0.02 - 0.0001 * (frame - 60.0) ** 2
        up = self.lift(required)
        self.assertGreaterEqual((up - required).min(), 0.0)
        self.assertTrue((up[:30] < 1e-6).all() and (up[-30:] < 1e-6).all())
        self.assertLess(np.abs(np.diff(up, 2)).max(), 0.6 * np.abs(np.diff(np.maximum(required, 0.0), 2)).max())
        np.testing.assert_allclose(up, up[::-1], atol=1e-9)

    def test_nothing_required(self):
        np.testing.assert_array_equal(self.lift(np.full(50, -0.1)), 0.0)

    def test_none_where_none_may_be(self):
        none = np.zeros(60, bool)
        none[20:30] = True
        up = self.lift(np.where((np.arange(60) > 33) & (np.arange(60) < 40), 0.01, -1.0), none)
        np.testing.assert_array_equal(up[20:30], 0.0)
        self.assertGreaterEqual(up[34:40].min(), 0.01)

    def test_columns_do_not_meet(self):
        required = np.full((41, 3), -1.0)
        required[20, 1] = 0.01
        up = lift.smooth(required, RATE, 1 / 30, np.zeros(required.shape, bool))
        self.assertTrue(up[:, 1].any() and not up[:, [0, 2]].any())


class Turns(unittest.TestCase):
    def test_none_without_a_reason(self):
        foot, locked = np.tile([0.1, 0.0, -0.05], (30, 1, 1)), np.ones((30, 1), bool)
        up = np.tile([0.0, 0.0, 1.0], (30, 1, 1))
        still = np.zeros_like(locked)
        self.assertIsNone(foot_turn.turns(foot, locked, still, up, True, 1.0))

    def test_heading_is_held_and_comes_back(self):
        angle = np.linspace(0.0, 0.6, 60)
        foot = np.stack([np.cos(angle), np.sin(angle), -0.3 + 0.0 * angle], axis=1)[:, None]
        locked = np.zeros((60, 1), bool)
        locked[10:30] = locked[40:50] = True
        up = np.tile([0.0, 0.0, 1.0], (60, 1, 1))
        turned = rot.rotate(foot_turn.turns(foot, locked, np.zeros_like(locked), up, True, 0.0), foot)[:, 0]
        heading = np.arctan2(turned[:, 1], turned[:, 0])
        for start, stop in ((10, 30), (40, 50)):
            self.assertLess(np.ptp(heading[start:stop]), 1e-9)
        self.assertLess(np.abs(np.diff(heading)).max(), 0.05)
        np.testing.assert_allclose(turned[:, 2], foot[:, 0, 2], atol=1e-12)

    def test_pitch_with_the_ground_by_a_share(self):
        normal = np.array([-np.sin(0.3), 0.0, np.cos(0.3)])
        foot, locked = np.tile([0.2, 0.0, 0.0], (20, 1, 1)), np.ones((20, 1), bool)
        for share in (0.5, 1.0):
            turn = foot_turn.turns(foot, locked, np.zeros_like(locked), np.tile(normal, (20, 1, 1)), False, share)
            pitch = np.arcsin(rot.rotate(turn, foot)[..., 2] / 0.2)
            np.testing.assert_allclose(pitch, 0.3 * share, atol=1e-9)

    def test_the_chain_turns_the_foot_about_the_toe(self):
        pelvis, pose, side, _ = walk()
        turn = np.broadcast_to(rot.from_scaled_angle_axis(np.array([0.0, 0.0, 0.2])), (len(pelvis), 2, 4))
        low = leg_chain.MinimumHeights(-9.0, -9.0, -9.0)
        found = leg_chain.solve(pose, pose.toe, side, low, turn=turn)
        np.testing.assert_allclose(found.toe, pose.toe, atol=1e-3)
        wanted = pose.toe - rot.rotate(turn, pose.toe - pose.heel)
        np.testing.assert_allclose(found.heel, wanted, atol=5e-3)
        np.testing.assert_allclose(found.toe_end - found.toe, rot.rotate(turn, pose.toe_end - pose.toe), atol=1e-9)
