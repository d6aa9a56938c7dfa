"""The offline pass: the reference solutions, the sum that it minimises written out in loops, and its constraints."""

import math
import unittest
from functools import cache
from pathlib import Path

import measure
import numpy as np

from footlock.solvers import resample, slide_removal

DATA = Path(__file__).resolve().parent.parent / "data"
CLIPS = ("cmu_131_01_x075", "cmu_131_01_x125", "cmu_131_03_x125")


@cache
def clip(name):
    with np.load(DATA / "vectors" / f"slide_removal_{name}.npz") as data:
        found = {key: data[key] for key in data.files}
    for array in found.values():
        array.setflags(write=False)
    return found


def source_of(data):
    return data["source_pelvis"], data["source_toes"], data["contacts"], float(data["ground_height"])


@cache
def removed(name):
    """What becomes of a clip, solved once for all tests."""
    return slide_removal.solve(*source_of(clip(name)))


def naive_energy(pelvis, toes, source_pelvis, source_toes, contacts, reach=None):
    """The sum as the notes on the article write it, for 60 Hz, number by number, and with ``reach`` the solver's own
    term for legs that are asked to be longer than they are."""
    frames, legs = contacts.shape
    joined = contacts[1:] & contacts[:-1]
    pelvis, toes, source_pelvis, source_toes = (a.tolist() for a in (pelvis, toes, source_pelvis, source_toes))
    terms = []
    for i in range(frames):
        for axis in range(3):
            terms.append(1e-6 * (pelvis[i][axis] - source_pelvis[i][axis]) ** 2)
            if i > 0:
                change = pelvis[i][axis] - pelvis[i - 1][axis] - source_pelvis[i][axis] + source_pelvis[i - 1][axis]
                terms.append(legs * change**2)
        for leg in range(legs):
            toe, source = toes[i][leg], source_toes[i][leg]
            held = (i > 0 and joined[i - 1, leg]) or (i + 1 < frames and joined[i, leg])
            for axis in range(2 if held else 3):
                terms.append(1e-6 * (toe[axis] - source[axis]) ** 2)
            if i > 0 and not joined[i - 1, leg]:
                for axis in range(3):
                    change = toe[axis] - toes[i - 1][leg][axis] - source[axis] + source_toes[i - 1][leg][axis]
                    terms.append(change**2)
            terms.append((math.dist(pelvis[i], toe) - math.dist(source_pelvis[i], source)) ** 2)
            if reach is not None:
                leg_length = math.dist(pelvis[i], [t - c for t, c in zip(toe, reach.offset[i, leg], strict=True)])
                terms.append(3.0 * max(leg_length - reach.length[i, leg], 0.0) ** 2)
    return 0.5 * math.fsum(terms)


def shift(rng, contacts, smooth):
    """A random change of pelvis and toes that the constraints allow, about 1 in size."""
    frames, legs = contacts.shape
    kernel = np.hanning(smooth + 2)[1:-1]
    noise = rng.normal(size=(frames + smooth - 1, 1 + legs, 3))
    moved = np.stack([np.convolve(column, kernel, "valid") for column in noise.reshape(len(noise), -1).T], axis=1)
    moved = moved.reshape(frames, 1 + legs, 3) / np.linalg.norm(kernel)
    toes = moved[:, 1:]
    for leg in range(legs):
        for first, after in held_runs(contacts[:, leg]):
            toes[first:after, leg] = toes[first, leg] * [1.0, 1.0, 0.0]
    return moved[:, 0], toes


def held_runs(contact):
    """First frame and frame after the last of each run of two or more."""
    runs, first = [], None
    for i, there in enumerate([*contact, False]):
        if there and first is None:
            first = i
        if not there and first is not None:
            if i - first >= 2:
                runs.append((first, i))
            first = None
    return runs


def walk(frames, legs, rng, scale=1.25):
    """A made-up creature whose body travels ``scale`` times as far as its feet know of."""
    time = np.arange(frames) / 60.0
    pelvis = np.stack([scale * time, 0.02 * np.sin(6.0 * time), 0.9 + 0.02 * np.cos(12.0 * time)], axis=1)
    toes, contacts = np.zeros((frames, legs, 3)), np.zeros((frames, legs), bool)
    for leg in range(legs):
        phase = (time / 0.8 + leg / max(legs, 1)) % 1.0
        u = np.clip((phase - 0.6) / 0.4, 0.0, 1.0)
        stand = np.floor(time / 0.8 + leg / max(legs, 1)) * 0.8
        toes[:, leg, 0] = stand + 0.8 * (3 * u**2 - 2 * u**3) + (scale - 1.0) * time
        toes[:, leg, 1] = 0.1 * (-1) ** leg + 0.002 * rng.normal(size=frames)
        toes[:, leg, 2] = 0.04 + 0.1 * np.sin(np.pi * u) ** 2
        contacts[:, leg] = phase < 0.58
    return pelvis, toes, contacts


class RemovalCase(unittest.TestCase):
    def check_contacts(self, found, contacts, ground):
        """Each run of contact stands in one place, to the bit, at the height of the ground."""
        ground = np.broadcast_to(ground, contacts.shape)
        locked = np.zeros_like(contacts)
        for leg in range(contacts.shape[1]):
            for first, after in held_runs(contacts[:, leg]):
                locked[first:after, leg] = True
                place = found.toes[first, leg]
                np.testing.assert_array_equal(found.toes[first:after, leg], np.tile(place, (after - first, 1)))
                self.assertEqual(place[2], ground[first, leg])
        np.testing.assert_array_equal(found.locked, locked)

    def check_minimum(self, found, source_pelvis, source_toes, contacts, tries=12, reach=None):
        """No allowed change lowers the sum, of whatever size, shape and sign."""
        rng = np.random.default_rng(61)
        source = (source_pelvis, source_toes, contacts, reach)
        energy = naive_energy(found.pelvis, found.toes, *source)
        self.assertAlmostEqual(found.energy, energy, delta=1e-11 * max(energy, 1e-12))
        for number in range(tries):
            size = (1e-3, 1e-4, 1e-2)[number % 3]
            pelvis, toes = shift(rng, contacts, (1, 9, 61)[(number // 3) % 3])
            for sign in (size, -size):
                changed = naive_energy(found.pelvis + sign * pelvis, found.toes + sign * toes, *source)
                self.assertGreater(changed, energy)


class Reference(RemovalCase):
    def test_solutions(self):
        for name in CLIPS:
            with self.subTest(clip=name):
                data = clip(name)
                found = removed(name)
                self.assertTrue(found.converged)
                self.assertLessEqual(found.steps, 25)
                self.assertLessEqual(found.energy, float(data["energy"]) * (1.0 + 1e-6))
                self.assertLess(np.linalg.norm(found.pelvis - data["pelvis"], axis=-1).max(), 1e-4)
                self.assertLess(np.linalg.norm(found.toes - data["toes"], axis=-1).max(), 1e-4)

    def test_energy_is_that_of_the_notes(self):
        for name in CLIPS:
            with self.subTest(clip=name):
                data, found = clip(name), removed(name)
                pelvis, toes, contacts, _ = source_of(data)
                own = naive_energy(found.pelvis, found.toes, pelvis, toes, contacts)
                self.assertAlmostEqual(found.energy, own, delta=1e-12 * own)
                theirs = naive_energy(data["pelvis"], data["toes"], pelvis, toes, contacts)
                self.assertAlmostEqual(theirs, float(data["energy"]), delta=1e-12 * theirs)
                self.assertLessEqual(own, theirs * (1.0 + 1e-6))

    def test_contacts_hold_exactly(self):
        for name in CLIPS:
            with self.subTest(clip=name):
                _, _, contacts, ground = source_of(clip(name))
                found = removed(name)
                self.check_contacts(found, contacts, ground)
                self.assertTrue(found.locked.any())

    def test_local_minimum(self):
        for name in CLIPS[1:]:
            with self.subTest(clip=name):
                self.check_minimum(removed(name), *source_of(clip(name))[:3])


class Contacts(RemovalCase):
    def setUp(self):
        self.rng = np.random.default_rng(62)

    def test_no_contact(self):
        pelvis, toes, contacts = walk(100, 2, self.rng)
        found = slide_removal.solve(pelvis, toes, np.zeros_like(contacts), 0.04)
        np.testing.assert_array_equal(found.pelvis, pelvis)
        np.testing.assert_array_equal(found.toes, toes)
        self.assertFalse(found.locked.any())
        self.assertEqual((found.energy, found.converged), (0.0, True))
        self.assertFalse(np.shares_memory(found.pelvis, pelvis) or np.shares_memory(found.toes, toes))

    def test_contacts_of_one_frame_ask_for_nothing(self):
        pelvis, toes, _ = walk(100, 2, self.rng)
        lone = np.zeros((100, 2), bool)
        lone[[0, 10, 12, 50, 99], 0] = lone[[3, 98], 1] = True
        found = slide_removal.solve(pelvis, toes, lone, 0.04)
        np.testing.assert_array_equal(found.pelvis, pelvis)
        np.testing.assert_array_equal(found.toes, toes)
        self.assertFalse(found.locked.any())

    def test_a_frame_alone_among_runs_is_as_if_it_were_none(self):
        pelvis, toes, contacts = walk(200, 2, self.rng)
        contacts[:, 0] = False
        contacts[20:50, 0] = contacts[90:130, 0] = True
        more = contacts.copy()
        more[[0, 70, 150, 199], 0] = True
        without, found = (slide_removal.solve(pelvis, toes, c, 0.04) for c in (contacts, more))
        np.testing.assert_array_equal(found.locked, without.locked)
        np.testing.assert_allclose(found.pelvis, without.pelvis, rtol=0, atol=1e-6)
        np.testing.assert_allclose(found.toes, without.toes, rtol=0, atol=1e-6)

    def test_contact_over_the_whole_clip(self):
        for frames in (2, 3, 24, 25, 100, 301):
            with self.subTest(frames=frames):
                pelvis, toes, contacts = walk(frames, 2, self.rng)
                contacts[:, 0] = True
                found = slide_removal.solve(pelvis, toes, contacts, 0.04)
                self.assertTrue(found.converged)
                self.check_contacts(found, contacts, 0.04)
                self.check_minimum(found, pelvis, toes, contacts, tries=6)

    def test_all_legs_planted_always(self):
        for frames in (2, 3, 100):
            with self.subTest(frames=frames):
                pelvis, toes, _ = walk(frames, 2, self.rng)
                contacts = np.ones((frames, 2), bool)
                found = slide_removal.solve(pelvis, toes, contacts, 0.04)
                self.assertTrue(found.converged)
                self.check_contacts(found, contacts, 0.04)
                self.check_minimum(found, pelvis, toes, contacts, tries=6)

    def test_any_number_of_legs(self):
        for legs in (1, 3, 4):
            with self.subTest(legs=legs):
                pelvis, toes, contacts = walk(180, legs, self.rng)
                found = slide_removal.solve(pelvis, toes, contacts, 0.04)
                self.assertTrue(found.converged)
                self.assertEqual(found.toes.shape, (180, legs, 3))
                self.check_contacts(found, contacts, 0.04)
                self.check_minimum(found, pelvis, toes, contacts, tries=6)

    def test_random_contacts(self):
        """Runs that overlap, touch the ends, follow at once after one frame: whatever a detector may say."""
        for frames, share in ((30, 0.5), (97, 0.8), (97, 0.3), (200, 0.95)):
            with self.subTest(frames=frames, share=share):
                pelvis, toes, _ = walk(frames, 2, self.rng)
                contacts = self.rng.random((frames, 2)) < share
                found = slide_removal.solve(pelvis, toes, contacts, 0.04)
                self.assertTrue(found.converged)
                self.check_contacts(found, contacts, 0.04)
                self.check_minimum(found, pelvis, toes, contacts, tries=6)

    def test_two_frames(self):
        pelvis = np.array([[0.0, 0.0, 0.9], [0.03, 0.0, 0.9]])
        toes = np.array([[[0.0, 0.1, 0.05]], [[0.03, 0.1, 0.05]]])
        found = slide_removal.solve(pelvis, toes, np.ones((2, 1), bool), 0.05)
        self.assertTrue(found.converged)
        self.check_contacts(found, np.ones((2, 1), bool), 0.05)
        self.check_minimum(found, pelvis, toes, np.ones((2, 1), bool))

    def test_one_frame_and_none(self):
        for frames in (0, 1):
            pelvis, toes, contacts = np.ones((frames, 3)), np.zeros((frames, 2, 3)), np.ones((frames, 2), bool)
            found = slide_removal.solve(pelvis, toes, contacts, 0.0)
            np.testing.assert_array_equal(found.pelvis, pelvis)
            np.testing.assert_array_equal(found.toes, toes)

    def test_no_legs(self):
        found = slide_removal.solve(np.ones((9, 3)), np.zeros((9, 0, 3)), np.zeros((9, 0), bool), 0.0)
        np.testing.assert_array_equal(found.pelvis, np.ones((9, 3)))

    def test_ground_of_the_first_frame(self):
        """A height for each leg and frame: stairs. A contact takes the one where it begins."""
        pelvis, toes, contacts = walk(150, 2, self.rng)
        ground = np.linspace(0.0, 0.3, 150)[:, None] + [0.03, 0.05]
        found = slide_removal.solve(pelvis, toes, contacts, ground)
        self.assertTrue(found.converged)
        self.check_contacts(found, contacts, ground)
        by_leg = slide_removal.solve(pelvis, toes, contacts, np.array([0.03, 0.05]))
        self.check_contacts(by_leg, contacts, np.array([0.03, 0.05]))

    def test_feet_that_do_not_slide_hardly_change(self):
        pelvis, toes, contacts = walk(200, 2, self.rng, scale=1.0)
        toes[..., 1] = [0.1, -0.1]
        toes[:, :, 2] = np.where(contacts, 0.04, toes[:, :, 2])
        found = slide_removal.solve(pelvis, toes, contacts, 0.04)
        np.testing.assert_allclose(found.pelvis, pelvis, rtol=0, atol=1e-6)
        np.testing.assert_allclose(found.toes, toes, rtol=0, atol=1e-6)

    def test_pelvis_on_a_toe(self):
        """A leg without length has no direction."""
        pelvis, toes, contacts = walk(40, 2, self.rng)
        toes[5, 0] = pelvis[5]
        toes[30, 1] = pelvis[30]
        found = slide_removal.solve(pelvis, toes, contacts, 0.04)
        self.assertTrue(np.isfinite(found.pelvis).all() and np.isfinite(found.toes).all())
        self.check_contacts(found, contacts, 0.04)

    def test_slides_of_any_kind_converge(self):
        data = clip("cmu_131_01_x125")
        pelvis, toes, contacts, ground = source_of(data)
        travel = (pelvis - pelvis[0]) * [1.0, 1.0, 0.0] / 1.25
        for factor in (0.0, 0.5, 1.5, 2.0, 3.0):
            with self.subTest(travel=factor):
                more = (factor - 1.25) * travel
                found = slide_removal.solve(pelvis + more, toes + more[:, None], contacts, ground)
                self.assertTrue(found.converged)
                self.check_contacts(found, contacts, ground)


class Reaching(RemovalCase):
    """With bounds on the length of the legs, which the article's problem has not."""

    @classmethod
    def setUpClass(cls):
        cls.pelvis, cls.toes, cls.contacts, cls.ground = source_of(clip("cmu_131_01_x125"))
        rng = np.random.default_rng(64)
        # Hips beside the pelvis, heels above and behind the toes, and legs that reach hardly further than in the clip.
        offset = np.array([[0.0, 0.1, -0.08], [0.0, -0.1, -0.08]]) + 0.005 * rng.normal(size=cls.toes.shape)
        source = np.linalg.norm(cls.pelvis[:, None] - cls.toes + offset, axis=-1)
        cls.reach = slide_removal.Reach(offset, np.maximum(source, np.percentile(source, 70.0)))
        for array in (offset, cls.reach.length):
            array.setflags(write=False)
        cls.free = removed("cmu_131_01_x125")
        cls.bound = slide_removal.solve(cls.pelvis, cls.toes, cls.contacts, cls.ground, reach=cls.reach)

    def too_long(self, found):
        length = np.linalg.norm(found.pelvis[:, None] - found.toes + self.reach.offset, axis=-1)
        return np.maximum(length - self.reach.length, 0.0)

    def solve(self, **changed):
        arguments = {"pelvis": self.pelvis, "toes": self.toes, "contacts": self.contacts, "reach": self.reach} | changed
        return slide_removal.solve(**arguments, ground_height=self.ground)

    def test_legs_stay_shorter(self):
        self.assertTrue(self.bound.converged)
        self.check_contacts(self.bound, self.contacts, self.ground)
        self.assertGreater(self.too_long(self.free).max(), 0.005)
        self.assertLess(self.too_long(self.bound).max(), 0.6 * self.too_long(self.free).max())

    def test_minimum(self):
        self.check_minimum(self.bound, self.pelvis, self.toes, self.contacts, reach=self.reach)

    def test_bounds_that_do_not_matter(self):
        long = slide_removal.Reach(self.reach.offset, self.reach.length + 1.0)
        np.testing.assert_allclose(self.solve(reach=long).pelvis, self.free.pelvis, rtol=0, atol=1e-6)

    def test_no_contact(self):
        """A leg may be as long as in the source, so without contact nothing asks for a change."""
        found = self.solve(contacts=np.zeros_like(self.contacts))
        np.testing.assert_array_equal(found.pelvis, self.pelvis)

    def test_arguments_untouched(self):
        arrays = (self.pelvis, self.toes, self.contacts, self.reach.offset, self.reach.length)
        self.assertFalse(any(array.flags.writeable for array in arrays))
        self.solve()


class Stopped(Exception):
    """What ends a solve."""


class EachStep(RemovalCase):
    """The function that is called before each step."""

    def setUp(self):
        self.pelvis, self.toes, self.contacts = walk(300, 2, np.random.default_rng(3))

    def solve(self, each_step, **options):
        return slide_removal.solve(self.pelvis, self.toes, self.contacts, 0.04, each_step=each_step, **options)

    def test_it_is_called_before_each_and_changes_nothing(self):
        calls = []
        found, plain = self.solve(lambda: calls.append(1)), self.solve(None)
        self.assertEqual(len(calls), found.steps)
        self.assertGreater(len(calls), 3)
        np.testing.assert_array_equal(found.toes, plain.toes)
        np.testing.assert_array_equal(found.pelvis, plain.pelvis)

    def test_what_it_raises_ends_the_solve(self):
        for most in (1, 3):
            calls = []

            def each_step(calls=calls, most=most):
                calls.append(1)
                if len(calls) == most:
                    raise Stopped

            with self.assertRaises(Stopped):
                self.solve(each_step)
            self.assertEqual(len(calls), most)

    def test_of_a_cycle(self):
        calls = []
        found = self.solve(lambda: calls.append(1), cyclic=True)
        self.assertEqual(len(calls), found.steps)
        self.assertGreater(len(calls), 1)


class Worlds(RemovalCase):
    """Rate, place, heading and unit do not matter."""

    def setUp(self):
        self.pelvis, self.toes, self.contacts, self.ground = source_of(clip("cmu_131_01_x125"))
        self.found = removed("cmu_131_01_x125")

    def check_moved(self, move, ground, tolerance=1e-6):
        there = slide_removal.solve(move(self.pelvis), move(self.toes), self.contacts, ground)
        self.assertTrue(there.converged)
        np.testing.assert_allclose(there.pelvis, move(self.found.pelvis), rtol=0, atol=tolerance)
        np.testing.assert_allclose(there.toes, move(self.found.toes), rtol=0, atol=tolerance)

    def test_turned(self):
        c, s = math.cos(0.8), math.sin(0.8)
        turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        self.check_moved(lambda p: p @ turn.T, self.ground)

    def test_moved(self):
        self.check_moved(lambda p: p + np.array([30.0, -70.0, 0.0]), self.ground)
        self.check_moved(lambda p: p + np.array([0.0, 0.0, -2.0]), self.ground - 2.0)

    def test_scaled(self):
        for scale in (0.1, 10.0):
            with self.subTest(scale=scale):
                self.check_moved(lambda p, scale=scale: scale * p, scale * self.ground, 1e-6 * max(scale, 1.0))

    def test_legs_in_another_order(self):
        there = slide_removal.solve(self.pelvis, self.toes[:, ::-1], self.contacts[:, ::-1], self.ground)
        np.testing.assert_allclose(there.pelvis, self.found.pelvis, rtol=0, atol=1e-6)
        np.testing.assert_allclose(there.toes[:, ::-1], self.found.toes, rtol=0, atol=1e-6)

    def test_backwards(self):
        there = slide_removal.solve(self.pelvis[::-1], self.toes[::-1], self.contacts[::-1], self.ground)
        np.testing.assert_allclose(there.pelvis[::-1], self.found.pelvis, rtol=0, atol=1e-6)

    def test_sixty_and_a_hundred_and_twenty(self):
        """The clip as it was recorded, at 120 Hz, and every second frame: the same correction to a millimetre."""
        motion = measure.load(DATA / "cmu_131_01.bvh")
        y_up = np.stack([motion.point(name) for name in ("Hips", "LeftToe", "RightToe")], axis=1)
        points = np.stack([y_up[..., 0], -y_up[..., 2], y_up[..., 1]], axis=-1)
        more = 0.25 * (points[:, :1] - points[:1, :1]) * [1.0, 1.0, 0.0]
        points = (points + more)[: 2 * len(self.contacts) - 1]
        slow = slide_removal.solve(points[::2, 0], points[::2, 1:], self.contacts, self.ground, 60.0)
        np.testing.assert_allclose(points[::2, 0], self.pelvis, rtol=0, atol=1e-9)
        contacts = np.zeros((len(points), 2), bool)
        contacts[::2] = self.contacts
        contacts[1::2] = self.contacts[1:] & self.contacts[:-1]
        fast = slide_removal.solve(points[:, 0], points[:, 1:], contacts, self.ground, 120.0)
        self.assertTrue(fast.converged)
        self.check_contacts(fast, contacts, self.ground)
        self.assertLess(np.linalg.norm(fast.pelvis[::2] - slow.pelvis, axis=-1).max(), 1e-3)
        self.assertLess(np.linalg.norm(fast.toes[::2] - slow.toes, axis=-1).max(), 1e-3)

    def test_sixty_and_thirty(self):
        """The other way the steps are coarse: contacts that begin and end on the coarse frames keep their length."""
        pelvis, toes = (resample.upsampled(a[::2], 2) for a in (self.pelvis, self.toes))
        half = self.contacts[::2]
        contacts = np.zeros((len(pelvis), 2), bool)
        contacts[::2] = half
        contacts[1::2] = half[1:] & half[:-1]
        slow = slide_removal.solve(pelvis[::2], toes[::2], half, self.ground, 30.0)
        fast = slide_removal.solve(pelvis, toes, contacts, self.ground, 60.0)
        self.assertLess(np.linalg.norm(fast.pelvis[::2] - slow.pelvis, axis=-1).max(), 2e-3)

    def test_sixty_is_the_default(self):
        there = slide_removal.solve(self.pelvis, self.toes, self.contacts, self.ground, 60.0)
        np.testing.assert_array_equal(there.pelvis, self.found.pelvis)


class Refusing(unittest.TestCase):
    def setUp(self):
        self.pelvis, self.toes, self.contacts = walk(40, 2, np.random.default_rng(63))

    def test_not_finite(self):
        for bad in (np.nan, np.inf, -np.inf):
            for name in ("pelvis", "toes"):
                arrays = {"pelvis": self.pelvis.copy(), "toes": self.toes.copy()}
                arrays[name][7, 0] = bad
                with self.assertRaisesRegex(ValueError, "finite"):
                    slide_removal.solve(arrays["pelvis"], arrays["toes"], self.contacts, 0.04)

    def test_ground_not_finite(self):
        with self.assertRaisesRegex(ValueError, "finite|ground"):
            slide_removal.solve(self.pelvis, self.toes, self.contacts, np.nan)

    def test_shapes(self):
        for pelvis, toes, contacts in (
            (self.pelvis[1:], self.toes, self.contacts),
            (self.pelvis, self.toes[1:], self.contacts),
            (self.pelvis, self.toes, self.contacts[1:]),
            (self.pelvis, self.toes[:, :1], self.contacts),
            (self.pelvis[:, :2], self.toes, self.contacts),
            (self.pelvis, self.toes[..., :2], self.contacts),
        ):
            with self.assertRaisesRegex(ValueError, "expected .*shape"):
                slide_removal.solve(pelvis, toes, contacts, 0.04)
        with self.assertRaises(ValueError):
            slide_removal.solve(self.pelvis, self.toes, self.contacts[:, 0], 0.04)
        with self.assertRaises(ValueError):
            slide_removal.solve(self.pelvis, self.toes, self.contacts, np.zeros(3))

    def test_rate(self):
        for rate in (0.0, -60.0, np.nan):
            with self.assertRaisesRegex(ValueError, "frame_rate"):
                slide_removal.solve(self.pelvis, self.toes, self.contacts, 0.04, rate)

    def test_arguments_untouched(self):
        ground = np.full((40, 2), 0.04)
        for array in (self.pelvis, self.toes, self.contacts, ground):
            array.setflags(write=False)
        found = slide_removal.solve(self.pelvis, self.toes, self.contacts, ground)
        self.assertTrue(found.pelvis.flags.writeable or found.pelvis is not self.pelvis)
