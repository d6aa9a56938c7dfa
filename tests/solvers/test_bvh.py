"""BVH files without Blender: what is read, what is written and what is refused."""

import os
import re
import stat
import tempfile
import time
import tracemalloc
import unittest
from pathlib import Path
from unittest import mock

import numpy as np

from footlock.rig import bvh
from footlock.solvers.errors import FootlockError

DATA = Path(__file__).resolve().parents[1] / "data"

HEADER = """HIERARCHY
ROOT Hips
{
\tOFFSET 1 2 3
\tCHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation
\tJOINT Left Leg
\t{
\t\tOFFSET 0 -4.5 0
\t\tCHANNELS 3 Xrotation Zrotation Yrotation
\t\tEnd Site
\t\t{
\t\t\tOFFSET 0 0 1e-1
\t\t}
\t}
}
"""
ROWS = "1 2 3 4 5 6 7 8 9\n-1 -2 -3 -4 -5 -6 -7 -8 -9\n"
GOOD = HEADER + "MOTION\nFrames: 2\nFrame Time: .0083333\n" + ROWS


class WithFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def file(self, text, name="walk.bvh"):
        path = self.folder / name
        path.write_bytes(text.encode("utf-8") if isinstance(text, str) else text)
        return path

    def read(self, text):
        return bvh.read(self.file(text))


class Reading(WithFolder):
    def test_everything_in_a_small_file(self):
        clip = self.read(GOOD)
        hips, leg = clip.joints
        self.assertEqual((hips.name, hips.parent, hips.offset, hips.end_site), ("Hips", -1, (1.0, 2.0, 3.0), None))
        self.assertEqual((leg.name, leg.parent, leg.offset, leg.end_site), ("Left Leg", 0, (0, -4.5, 0), (0, 0, 0.1)))
        self.assertEqual((hips.first_channel, leg.first_channel), (0, 6))
        self.assertEqual(leg.channels, ("Xrotation", "Zrotation", "Yrotation"))
        self.assertEqual(clip.position_columns(0), ((0, 1, 2), "XYZ"))
        self.assertEqual(clip.rotation_columns(0), ((3, 4, 5), "ZYX"))
        self.assertEqual(clip.position_columns(1), ((), ""))
        self.assertEqual(clip.rotation_columns(1), ((6, 7, 8), "XZY"))
        self.assertEqual(clip.joint_index("Left Leg"), 1)
        self.assertEqual((clip.frame_time, clip.frame_time_text), (0.0083333, ".0083333"))
        self.assertAlmostEqual(clip.frame_rate, 120.0, places=2)
        self.assertEqual(clip.header, HEADER.encode())
        np.testing.assert_array_equal(clip.motion, [np.arange(1.0, 10.0), -np.arange(1.0, 10.0)])
        self.assertEqual(clip.motion.dtype, np.float64)
        with self.assertRaises(ValueError):
            clip.motion[0, 0] = 0.0

    def test_the_same_from_every_harmless_variant(self):
        wanted = self.read(GOOD)
        variants = {
            "CRLF": GOOD.replace("\n", "\r\n"),
            "CR": GOOD.replace("\n", "\r"),
            "spaces for tabs": GOOD.replace("\t", "    "),
            "blank lines": GOOD.replace("\n", "\n\n \t\n"),
            "trailing spaces": GOOD.replace("\n", " \t\n"),
            "braces on the lines of the names": re.sub(r"\n\t*{", " {", GOOD),
            "braces right behind the names": re.sub(r"\n\t*{", "{", GOOD),
            "lower case": GOOD.lower().replace("hips", "Hips").replace("left leg", "Left Leg"),
            "upper case": GOOD.upper().replace("HIPS", "Hips").replace("LEFT LEG", "Left Leg").replace("1E", "1e"),
            "no last newline": GOOD.rstrip(),
            "much after the end": GOOD + "\r\n\r\n   \t\r\n ",
            "rows broken anywhere": HEADER + "MOTION\nFrames:2\nFrame Time:.0083333\n" + ROWS.replace(" ", "\n"),
            "no spaces after the colons": GOOD.replace("Frames: ", "Frames:").replace("Time: ", "Time:"),
            "tabs after the colons": GOOD.replace(": ", " :\t"),
            "UTF-8 with BOM": "\ufeff" + GOOD,
            "exponents": GOOD.replace("1 2 3 4", "1e0 +2 30E-1 4."),
            "end site with a name": GOOD.replace("End Site", "End Site LegEnd"),
            "a joint's second spelling": GOOD.replace("JOINT Left Leg", "JOINT \t Left Leg  "),
        }
        for name, text in variants.items():
            with self.subTest(name):
                clip = self.read(text)
                self.assertEqual(clip.joints, wanted.joints)
                self.assertEqual(clip.frame_time_text, wanted.frame_time_text)
                np.testing.assert_array_equal(clip.motion, wanted.motion)

    def test_names_in_utf_8_and_latin_1(self):
        text = GOOD.replace("Left Leg", "Vänster ben")
        self.assertEqual(self.read(text.encode("utf-8")).joints[1].name, "Vänster ben")
        self.assertEqual(self.read(text.encode("latin-1")).joints[1].name, "Vänster ben")

    def test_names_like_keywords(self):
        for name in ("MOTION", "End", "Root", "End Site", "Channels", "OFFSET 1 2 3"):
            with self.subTest(name):
                self.assertEqual(self.read(GOOD.replace("Left Leg", name)).joints[1].name, name)

    def test_forest(self):
        second = HEADER.replace("Hips", "Prop").replace("Left Leg", "Tip")
        for between in ("", "\n"):
            for text in (HEADER + second, HEADER + between + second.removeprefix("HIERARCHY\n")):
                rows = "MOTION\nFrames: 1\nFrame Time: 0.1\n" + " ".join(map(str, range(18)))
                clip = self.read(text + rows)
                self.assertEqual([joint.parent for joint in clip.joints], [-1, 0, -1, 2])
                self.assertEqual([joint.first_channel for joint in clip.joints], [0, 6, 9, 15])

    def test_joints_without_channels(self):
        for line in ("\t\tCHANNELS 0\n", ""):
            text = GOOD.replace("\t\tCHANNELS 3 Xrotation Zrotation Yrotation\n", line)
            clip = self.read(text.replace(" 7 8 9", "").replace(" -7 -8 -9", ""))
            self.assertEqual(clip.rotation_columns(1), ((), ""))
            self.assertEqual(clip.motion.shape, (2, 6))

    def test_samples(self):
        for name, frames in (("cmu_131_01", 995), ("cmu_131_03", 1248), ("cmu_12_01", 524)):
            clip = bvh.read(DATA / f"{name}.bvh")
            self.assertEqual(clip.motion.shape, (frames, 96))
            self.assertEqual(len(clip.joints), 31)

    def test_unknown_joint(self):
        with self.assertRaisesRegex(FootlockError, "no joint “Foot”: choose one of Hips, Left Leg"):
            self.read(GOOD).joint_index("Foot")

    def test_rows_across_blocks(self):
        row = " ".join(["0.123456"] * 9) + "\n"
        frames = 3 * bvh._BLOCK // len(row)
        clip = self.read(HEADER + f"MOTION\nFrames: {frames}\nFrame Time: 0.1\n" + row * frames)
        self.assertEqual(clip.motion.shape, (frames, 9))
        self.assertTrue((clip.motion == 0.123456).all())

    def test_a_large_file_takes_no_time(self):
        row = " ".join(["-12.345678"] * 9) + "\n"
        path = self.file(HEADER + "MOTION\nFrames: 30000\nFrame Time: 0.1\n" + row * 30000)
        start = time.process_time()
        clip = bvh.read(path)
        bvh.write(path, clip)
        # A tenth of this is usual.
        self.assertLess(time.process_time() - start, 3.0)


class Refusing(WithFolder):
    def refused(self, text, pattern):
        """The sentence of the error, which names the file, is one line and says what to do."""
        path = text if isinstance(text, Path) else self.file(text)
        with self.assertRaisesRegex(FootlockError, pattern) as caught:
            bvh.read(path)
        sentence = str(caught.exception)
        self.assertTrue(sentence.startswith(f"“{path.name}” "), sentence)
        self.assertRegex(sentence, r": [a-z][^:]*\.$")
        self.assertTrue(sentence.isprintable(), sentence)
        self.assertLess(len(sentence), 400)
        return sentence

    def with_timing(self, frames="2", frame_time="0.1", rows=ROWS):
        return HEADER + f"MOTION\nFrames: {frames}\nFrame Time: {frame_time}\n{rows}"

    def test_no_file(self):
        self.refused(self.folder / "none.bvh", "cannot be read .*: choose a file that exists")
        self.refused(self.folder, "is a folder")

    @unittest.skipUnless(hasattr(os, "mkfifo"), "no pipes with names on this system")
    def test_pipe_does_not_wait(self):
        os.mkfifo(self.folder / "pipe.bvh")
        self.refused(self.folder / "pipe.bvh", "is a folder or device")

    def test_unreadable(self):
        path = self.file(GOOD)
        with mock.patch("builtins.open", side_effect=PermissionError(13, "Permission denied")):
            self.refused(path, r"cannot be read \(Permission denied\)")

    def test_too_large(self):
        path = self.file(GOOD)
        with mock.patch.object(bvh, "LARGEST_FILE", 10):
            self.refused(path, "is larger than")
        with mock.patch.object(bvh, "LARGEST_HIERARCHY", 10):
            self.refused(path, "hierarchy of more than")

    def test_not_bvh(self):
        self.refused("", "is empty")
        self.refused(" \n\r\n\t", "is empty")
        self.refused(np.random.default_rng(1).bytes(100_000), "is not a BVH file")
        self.refused("solid cube\nfacet normal 0 0 0", "is not a BVH file")
        self.refused(GOOD.encode("utf-16"), "is not a BVH file")
        self.refused(b"HIERARCHY\n" + b"\0" * 1000, "is not a BVH file")

    def test_any_cut(self):
        """A file cut off anywhere is refused, unless the cut took nothing but a part of the last number."""
        data = GOOD.rstrip().encode()
        for length in range(len(data) - 1):
            self.refused(data[:length], r"^“walk\.bvh” ")
        for length in range(HEADER.index("JOINT"), len(HEADER) - 3, 17):
            self.refused(HEADER[:length], "cut off|does not belong|channels|offset|a brace may open")

    def test_cut_in_the_motion(self):
        text = (DATA / "cmu_131_01.bvh").read_bytes()
        rows = text.split(b"\n")
        at = rows.index(b"MOTION") + 3
        cut = b"\n".join(rows[: at + 612])
        self.refused(cut, "^“walk.bvh” is cut off, its header promises 995 frames and 612 are there: export it again.$")
        self.refused(cut[:-3], "promises 995 frames and 61[12] are there")
        # Within a number that is none any more.
        self.refused(self.with_timing(rows=ROWS.replace(" -9", " -")), "promises 2 frames and 1 is there")

    def test_count_of_values(self):
        self.refused(self.with_timing("3"), "promises 3 frames and 2 are there")
        self.refused(self.with_timing("1"), "more numbers than the 1 frame of 9 channels")
        self.refused(self.with_timing(rows=ROWS + " 1"), "more numbers than the 2 frames")
        self.refused(self.with_timing("0"), "more numbers than the 0 frames")
        self.refused(self.with_timing("0", rows=""), "has no frames")

    def test_counts_are_not_believed(self):
        tracemalloc.start()
        self.addCleanup(tracemalloc.stop)
        sentence = self.refused(self.with_timing("999999999999", rows=""), "cut off")
        self.assertIn("promises 999999999999 frames and 0 are there", sentence)
        self.refused(self.with_timing("9" * 18), "cut off")
        self.refused(self.with_timing("9" * 5000), "not a number of frames")
        self.refused(HEADER.replace("CHANNELS 3", "CHANNELS 999999999999") + "MOTION\n", "not that many")
        # One word of a megabyte and many short ones must not be put into a table as wide as the longest.
        self.refused(self.with_timing(rows="1 " * 100_000 + "0" * 1_000_000), "more numbers")
        self.assertLess(tracemalloc.get_traced_memory()[1], 50e6)

    def test_surplus_is_not_read(self):
        rows = "1 " * (20 * bvh._BLOCK // 2)
        path = self.file(self.with_timing("1", rows=rows))
        tracemalloc.start()
        self.addCleanup(tracemalloc.stop)
        self.refused(path, "more numbers")
        self.assertLess(tracemalloc.get_traced_memory()[1], 100e6)

    def test_timing(self):
        for frames in ("-1", "two", "2.5", "1_0", "0x2", "²", "NaN"):
            self.refused(self.with_timing(frames), "not a number of frames")
        for frame_time in ("0", "-0.1", "NaN", "inf", "-inf", "1e-300", "0,0083", "1e9", "abc", "0_1"):
            self.refused(self.with_timing(frame_time=frame_time), "has the frame time")
        self.refused(HEADER + "MOTION\n", "no lines “Frames: …” and “Frame Time: …”")
        self.refused(HEADER + "MOTION\nFrames: 2\n" + ROWS, "no lines “Frames")
        self.refused(HEADER, "has no MOTION part")
        self.refused(HEADER + "MOTIONS\nFrames: 2\nFrame Time: 0.1\n" + ROWS, "does not belong in line 16")

    def test_braces(self):
        cases = {
            "one too many": (GOOD.replace("}\nMOTION", "}\n}\nMOTION"), "“}” where it does not belong in line 16"),
            "one missing": (GOOD.replace("}\nMOTION", "\nMOTION"), "lacks closing braces"),
            "none": (HEADER.replace("{", "").replace("}", "") + "MOTION", "where a brace may open"),
            "opened twice": (GOOD.replace("{", "{{", 1), "“{” where no brace may open in line 3"),
            "end site open": (GOOD.replace("1e-1\n\t\t}", "1e-1\n"), "lacks closing braces"),
        }
        for name, (text, pattern) in cases.items():
            with self.subTest(name):
                self.refused(text, pattern)

    def test_deep_nesting(self):
        depth = 100_000
        text = ["HIERARCHY\nROOT j\n{\nOFFSET 0 0 0\nCHANNELS 3 Xrotation Yrotation Zrotation\n"]
        text += [f"JOINT j{i}\n{{\nOFFSET 0 1 0\n" for i in range(depth)]
        text += ["}\n" * (depth + 1), "MOTION\nFrames: 1\nFrame Time: 0.1\n0 0 0\n"]
        start = time.process_time()
        self.refused("".join(text), "nested more than 1000 deep")
        self.refused("HIERARCHY\n" + "{" * depth + "}" * depth, "no brace may open")
        self.refused("HIERARCHY\n" + "}" * depth, "does not belong in line 2")
        self.assertLess(time.process_time() - start, 3.0)

    def test_deep_but_allowed(self):
        text = "HIERARCHY\nROOT j\n{\nOFFSET 0 0 0\nCHANNELS 1 Xrotation\n"
        text += "".join(f"JOINT j{i}\n{{\nOFFSET 0 1 0\n" for i in range(bvh.DEEPEST - 1)) + "}\n" * bvh.DEEPEST
        clip = self.read(text + "MOTION\nFrames: 1\nFrame Time: 0.1\n0\n")
        self.assertEqual([joint.parent for joint in clip.joints], list(range(-1, bvh.DEEPEST - 1)))

    def test_white_space_without_end_takes_no_time(self):
        space = " " * 1_000_000
        start = time.process_time()
        self.refused(HEADER + space + "\n" + space, "no MOTION")
        self.refused(HEADER + space, "no MOTION")
        self.refused(GOOD.replace("OFFSET 0", "OFFSET" + space, 1), "has the offset “-4.5 0”")
        self.refused(GOOD.replace("CHANNELS 3 X", "CHANNELS" + space + "X", 1), "does not belong")
        self.refused(HEADER + "MOTION" + space, "no lines")
        self.refused(HEADER + "MOTION\nFrames" + space + "\n", "no lines")
        self.refused(HEADER + "MOTION\nFrames:" + space + "\n", "no lines")
        self.refused(HEADER + "MOTION\nFrames: 2" + space + "Frame", "no lines")
        self.refused(self.with_timing(rows=space), "cut off")
        self.assertLess(time.process_time() - start, 5.0)

    def test_joints_and_channels(self):
        leg = "CHANNELS 3 Xrotation Zrotation Yrotation"
        cases = {
            "same name twice": (GOOD.replace("Left Leg", "Hips"), "second joint “Hips” in line 6"),
            "no name": (GOOD.replace(" Left Leg", ""), "a joint without a name in line 6"),
            "unknown": (GOOD.replace(leg, leg.replace("Y", "W")), "“Left Leg” .*Wrotation.* line 9"),
            "scale": (GOOD.replace(leg, "CHANNELS 3 Xscale Yscale Zscale"), "“Left Leg” the channels “3 Xscale"),
            "twice": (GOOD.replace(leg, leg.replace("Yr", "xR")), "“Left Leg” the channels .*line 9"),
            "too few": (GOOD.replace(leg, "CHANNELS 4 Xrotation Zrotation Yrotation"), "“Left Leg” the channels"),
            "too many": (GOOD.replace(leg, "CHANNELS 2 Xrotation Zrotation Yrotation"), "“Left Leg” the channels"),
            "negative": (GOOD.replace(leg, "CHANNELS -3 Xrotation"), "does not belong in line 9"),
            "two lists": (GOOD.replace(leg, leg + "\n" + leg), "“CHANNELS .* does not belong in line 10"),
            "no channels at all": ("HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\n}\nMOTION\n", "no channels to animate"),
            "no joints": ("HIERARCHY\nMOTION\nFrames: 1\nFrame Time: 0.1\n", "no channels to animate"),
            "no offset": (GOOD.replace("OFFSET 0 -4.5 0", ""), "no OFFSET for the joint “Left Leg”"),
            "short offset": (
                GOOD.replace("0 -4.5 0", "0 -4.5"),
                "has the offset “0 -4.5”, which is not three numbers, in line 8",
            ),
            "offset of words": (GOOD.replace("0 -4.5 0", "0 up 0"), "has the offset “0 up 0”.* line 8"),
            "CR line ends": (GOOD.replace("0 -4.5 0", "0 up 0").replace("\n", "\r"), "“0 up 0”.* line 8"),
            "offset NaN": (GOOD.replace("0 -4.5 0", "0 NaN 0"), "has the offset “0 NaN 0”"),
            "offset inf": (GOOD.replace("0 -4.5 0", "0 1e999 0"), "has the offset “0 1e999 0”"),
            "offset outside": (GOOD.replace("HIERARCHY", "HIERARCHY\nOFFSET 0 0 0"), "does not belong in line 2"),
            "joint outside": (GOOD.replace("ROOT", "JOINT"), "does not belong in line 2"),
            "root inside": (GOOD.replace("JOINT", "ROOT"), "does not belong in line 6"),
            "joint in an end site": (GOOD.replace("OFFSET 0 0 1e-1", "JOINT a"), "does not belong in line 12"),
            "channels in an end site": (GOOD.replace("OFFSET 0 0 1e-1", leg), "does not belong in line 12"),
            "end site in an end site": (GOOD.replace("OFFSET 0 0 1e-1", "End Site"), "does not belong in line 12"),
            "end site outside": (GOOD.replace("HIERARCHY", "HIERARCHY\nEnd Site"), "does not belong in line 2"),
            "a word of its own": (GOOD.replace("\tOFFSET 0", "\tFOO\x1b[31m 0"), "“FOO.*does not belong in line 8"),
        }
        for name, (text, pattern) in cases.items():
            with self.subTest(name):
                self.refused(text, pattern)

    def test_values(self):
        wrong = [*["abc", "1,5", "--1", "1_0", "0x10", "1.2.3", "1-2", "-nan(ind)", "1.#QNAN", "1d5"], "\xa01", "1\x1c"]
        for word in wrong:
            with self.subTest(word):
                rows = ROWS.replace("-8", word)
                pattern = "instead of a number for Zrotation of the joint “Left Leg” in frame 2: mend"
                self.refused(self.with_timing(rows=rows), pattern)
        for word in ("NaN", "-nan", "inf", "-Infinity", "1e999"):
            with self.subTest(word):
                rows = ROWS.replace("-5", word)
                pattern = "has the value -?(nan|inf) for Yrotation of the joint “Hips” in frame 2: mend"
                self.refused(self.with_timing(rows=rows), pattern)

    def test_names_in_messages_are_harmless(self):
        self.refused(GOOD.replace("OFFSET 0", "\x1b[2J\x07" + "x" * 10_000), "�.*…” where it does not belong")


class Writing(WithFolder):
    def test_samples_come_back(self):
        for name in ("cmu_131_01", "cmu_131_03", "cmu_12_01"):
            clip = bvh.read(DATA / f"{name}.bvh")
            path = self.folder / f"{name}.bvh"
            bvh.write(path, clip)
            again = bvh.read(path)
            self.assertEqual(again.header, clip.header)
            self.assertTrue((DATA / f"{name}.bvh").read_bytes().startswith(again.header))
            self.assertEqual(again.joints, clip.joints)
            self.assertEqual(again.frame_time_text, clip.frame_time_text)
            np.testing.assert_allclose(again.motion, clip.motion, rtol=0.0, atol=1e-12)
            first = path.read_bytes()
            bvh.write(path, again)
            self.assertEqual(path.read_bytes(), first)

    def test_variants_come_back(self):
        latin = GOOD.replace("Left Leg", "é").encode("latin-1")
        for text in (GOOD, GOOD.replace("\n", "\r\n"), "\ufeff" + GOOD, latin):
            clip = self.read(text)
            path = self.folder / "out.bvh"
            bvh.write(path, clip)
            again = bvh.read(path)
            self.assertEqual((again.header, again.joints), (clip.header, clip.joints))
            np.testing.assert_array_equal(again.motion, clip.motion)
            data = path.read_bytes()
            lines = data.count(b"\r\n") if b"\r\n" in clip.header else 0
            self.assertEqual(lines, data.count(b"\n") if lines else 0)
            self.assertIn(b"Frames: 2", data)
            self.assertIn(b"Frame Time: .0083333", data)

    def test_digits(self):
        rng = np.random.default_rng(2)
        motion = rng.uniform(-1, 1, (500, 9)) * 10.0 ** rng.integers(-9, 5, (500, 9))
        clip = self.read(GOOD).with_motion(motion)
        bvh.write(self.folder / "out.bvh", clip)
        again = bvh.read(self.folder / "out.bvh")
        np.testing.assert_allclose(again.motion, motion, rtol=0.0, atol=5.1e-8)
        self.assertNotIn(b"e", (self.folder / "out.bvh").read_bytes().split(b"Time:")[1])

    def test_with_motion(self):
        clip = self.read(GOOD)
        rows = np.ones((5, 9))
        other = clip.with_motion(rows)
        rows[:] = 7.0
        self.assertTrue((other.motion == 1.0).all())
        self.assertEqual((other.header, other.joints), (clip.header, clip.joints))
        for wrong in (np.ones((2, 8)), np.ones(9), np.ones((0, 9)), np.full((2, 9), np.nan)):
            with self.assertRaises(ValueError):
                clip.with_motion(wrong)

    def test_folder_that_cannot_be_written(self):
        clip = self.read(GOOD)
        with self.assertRaisesRegex(FootlockError, "“out.bvh” cannot be written in the folder .*none.*: choose"):
            bvh.write(self.folder / "none" / "out.bvh", clip)
        with self.assertRaisesRegex(FootlockError, "cannot be written"):
            bvh.write(self.folder / "walk.bvh" / "out.bvh", clip)
        with self.assertRaisesRegex(FootlockError, "is a folder"):
            bvh.write(self.folder, clip)
        if hasattr(os, "mkfifo"):
            os.mkfifo(self.folder / "pipe")
            with self.assertRaisesRegex(FootlockError, "is a folder or device"):
                bvh.write(self.folder / "pipe", clip)
            self.assertTrue(stat.S_ISFIFO((self.folder / "pipe").stat().st_mode))

    def test_failure_leaves_the_old_file_alone(self):
        clip = self.read(GOOD)
        path = self.folder / "walk.bvh"
        before = path.read_bytes()
        for target, error in (
            ("os.replace", OSError(28, "No space left on device")),
            ("os.fsync", OSError(5, "Input/output error")),
            ("os.replace", KeyboardInterrupt()),
        ):
            wanted = FootlockError if isinstance(error, OSError) else KeyboardInterrupt
            with mock.patch(target, side_effect=error), self.assertRaises(wanted) as caught:
                bvh.write(path, clip.with_motion(clip.motion + 1.0))
            if wanted is FootlockError:
                self.assertIn(error.strerror, str(caught.exception))
            self.assertEqual(path.read_bytes(), before)
            self.assertEqual(os.listdir(self.folder), ["walk.bvh"])

    @unittest.skipIf(os.name == "nt", "modes and links of Unix")
    def test_mode_and_link_stay(self):
        clip = self.read(GOOD)
        path = self.folder / "walk.bvh"
        path.chmod(0o640)
        link = self.folder / "link.bvh"
        link.symlink_to(path)
        bvh.write(link, clip.with_motion(clip.motion + 1.0))
        self.assertTrue(link.is_symlink())
        self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o640)
        self.assertEqual(bvh.read(path).motion[0, 0], 2.0)


if __name__ == "__main__":
    unittest.main()
