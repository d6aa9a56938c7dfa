"""Files that mean harm are refused in one sentence, in bounded memory and time, and write nothing beside the output.

Each is read in a process of its own with little room, as Blender's importers would be given it after that.
"""

import json
import os
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib
from pathlib import Path
from unittest import mock

import numpy as np
from fuzz import blocks

from footlock.rig import fbx_format, gltf, labels
from footlock.rig.fbx_format import record
from footlock.rig.names import Leg, LegMap
from footlock.solvers.errors import FootlockError

# Bytes beside the interpreter with numpy, and seconds, that a file may take which is no larger than some MB.
ROOM, TIME = 400 << 20, 120.0
MB = 1 << 20
READERS = {
    "bvh": "from footlock.rig import bvh; bvh.read(path)",
    "fbx": "from footlock.rig import fbx; file = fbx.read(path); file.key_times()",
    "glb": "from footlock.rig import gltf; file = gltf.read(path); file.takes; file.key_times()",
    "gltf": "from footlock.rig import gltf; file = gltf.read(path); file.takes; file.key_times()",
    "json": "from footlock.rig import labels; labels.read(path, LEGS, 10)",
}
# Prints the sentence of each error; what else is raised ends it with a traceback.
PROGRAM = """
import sys
from pathlib import Path
sys.path.insert(0, {tests!r})
from fuzz import blocks
blocks.load_footlock()
from footlock.rig import whole_file
from footlock.rig.names import Leg, LegMap
from footlock.solvers.errors import FootlockError
LEGS = LegMap("Hips", (Leg("L", "UpLeg", "Leg", "Foot", "Toe"),))
blocks.bound_memory({room})
for path in map(Path, sys.argv[1:]):
    try:
        with whole_file.damaged(path):
            {reader}
    except FootlockError as error:
        print(error)
    else:
        print("read")
"""


def numbers(count, size, coded, data, kind=b"d"):
    """A property that is an array, of which nothing need be true."""
    return kind, struct.pack("<III", count, coded, size) + data


@unittest.skipIf(blocks.bpy, "files that mean harm are read by processes without Blender")
class Hostile(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def said(self, kind, *contents):
        """What is said of files of such contents, read with little room: a line of each."""
        paths = [self.folder / f"harm{i}.{kind}" for i in range(len(contents))]
        for path, content in zip(paths, contents, strict=True):
            path.write_bytes(content)
        program = PROGRAM.format(tests=str(blocks.ROOT / "tests"), room=ROOM, reader=READERS[kind])
        done = subprocess.run(
            [sys.executable, "-c", program, *map(str, paths)], capture_output=True, text=True, timeout=TIME, check=False
        )
        self.assertEqual(done.stderr, "")
        lines = done.stdout.splitlines()
        self.assertEqual(len(lines), len(contents), done.stdout)
        return lines

    def refused(self, kind, *contents, pattern="damaged"):
        for said in self.said(kind, *contents):
            self.assertRegex(said, pattern)
            self.assertRegex(said, r"^“[^”]+” .*: .*\.$")
            self.assertLess(len(said), 400)


class Bvh(Hostile):
    HEAD = b"HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 3 Xrotation Yrotation Zrotation\n"

    def test_claims(self):
        self.refused("bvh", self.HEAD + b"}\nMOTION\nFrames: 999999999999\nFrame Time: .01\n1 2 3\n", pattern="cut off")

    def test_many_joints(self):
        joints = b"".join(b"JOINT j%d {OFFSET 0 0 0 CHANNELS 0}" % i for i in range(200_000))
        self.refused(
            "bvh",
            self.HEAD + joints + b"}\nMOTION\nFrames: 1\nFrame Time: .01\n1 2 3\n",
            pattern="more than 10000 joints",
        )

    def test_nested(self):
        joints = b"".join(b"JOINT j%d {OFFSET 0 0 0 " % i for i in range(100_000))
        self.refused("bvh", self.HEAD + joints, pattern="nested")

    def test_words_without_end(self):
        self.refused(
            "bvh", self.HEAD + b"}\nMOTION\nFrames: 1\nFrame Time: .01\n" + b"1" * (20 * MB), pattern="cut off|instead"
        )


class Fbx(Hostile):
    def content(self, *records):
        path = self.folder / "made.fbx"
        fbx_format.write(path, fbx_format.FbxRecords(7400, list(records), bytes(16)))
        return path.read_bytes()

    def test_bombs(self):
        bomb = zlib.compress(bytes(100 * MB), 9)
        contents = []
        for said in (10, 2**32 - 1, 100 * MB // 8):
            made = record(b"Objects")
            made.properties.append(numbers(said, len(bomb), 1, bomb))
            contents.append(self.content(made, record(b"Connections")))
        self.refused("fbx", *contents[:2])
        self.assertEqual(self.said("fbx", contents[2]), ["read"])  # it holds what it says, and nobody asks for it

    def test_claims(self):
        contents = []
        for data in (numbers(2**31, 0, 0, b""), numbers(2**31, 2**31, 0, b""), numbers(5, 8, 0, bytes(8))):
            made = record(b"Objects")
            made.properties.append(data)
            contents.append(self.content(made))
        self.refused("fbx", *contents)

    def test_many_small_things(self):
        made = record(b"Objects")
        made.properties = [(b"C", b"\1")] * 20_000
        path = self.folder / "many.fbx"
        with mock.patch.object(fbx_format, "_MOST", 10_000):
            for one in (made, fbx_format.Record(b"Objects", [], [fbx_format.Record(b"")] * 20_000, True)):
                path.write_bytes(self.content(one))
                with self.assertRaisesRegex(FootlockError, "damaged"):
                    fbx_format.read(path)
        # What the header claims is not begun with.
        claim = b"Objects" + b"C\1" * 1_000_000
        head = b"Kaydara FBX Binary  \0\x1a\0" + struct.pack("<I", 7400)
        at = len(head) + 13
        content = head + struct.pack("<IIIB", at + len(claim), 2**31, len(claim) - 7, 7) + claim + bytes(200)
        self.refused("fbx", content)

    def test_nested(self):
        made = record(b"Objects")
        for _ in range(500):
            made = record(b"a", within=[made])
        self.refused("fbx", self.content(made))

    def test_cycles(self):
        nodes = [record(b"Model", (b"L", i), (b"S", b"n%d\0\1Model" % i), (b"S", b"")) for i in range(1, 4)]
        for links in (((1, 2), (2, 3), (3, 1)), ((1, 1),)):
            links = [record(b"C", (b"S", b"OO"), (b"L", a), (b"L", b)) for a, b in links]
            self.refused("fbx", self.content(record(b"Objects", within=nodes), record(b"Connections", within=links)))

    def test_offsets(self):
        contents = []
        for place in (27, 31, 35):
            for value in (0xFFFFFFFF, 28, 0x7FFFFFFF):
                changed = bytearray(self.content(record(b"Objects", (b"L", 5)), record(b"Connections")))
                struct.pack_into("<I", changed, place, value)
                contents.append(bytes(changed))
        self.refused("fbx", *contents, pattern="damaged|lacks")


class Gltf(Hostile):
    def document(self, **changed):
        made = {
            "asset": {"version": "2.0"},
            "nodes": [{"name": "a", "children": [1]}, {"name": "b"}],
            "buffers": [{"byteLength": 64, "uri": "data:application/octet-stream;base64," + "A" * 88}],
            "bufferViews": [{"buffer": 0, "byteLength": 64}],
            "accessors": [{"bufferView": 0, "componentType": 5126, "count": 4, "type": "SCALAR"}] * 2,
            "animations": [
                {
                    "samplers": [{"input": 0, "output": 1}],
                    "channels": [{"sampler": 0, "target": {"node": 0, "path": "scale"}}],
                }
            ],
        }
        return {**made, **changed}

    def refused_with(self, *changes, pattern="damaged"):
        """Each of the documents that have other things in them is refused."""
        self.refused("gltf", *(json.dumps(self.document(**one)).encode() for one in changes), pattern=pattern)

    def test_good(self):
        self.assertEqual(self.said("gltf", json.dumps(self.document()).encode()), ["read"])

    def test_accessors(self):
        one = self.document()["accessors"][0]
        view = {"buffer": 0, "byteLength": 64}
        self.refused_with(
            {"accessors": [{**one, "count": 10**12}] * 2},
            {"accessors": [{"componentType": 5126, "count": 10**10, "type": "MAT4"}, one]},
            {"accessors": [{**one, "count": 10**8}] * 2, "bufferViews": [{**view, "byteStride": 0}]},
            {"accessors": [{**one, "count": 3}] * 2, "bufferViews": [{**view, "byteStride": -4, "byteOffset": 40}]},
            {"accessors": [{**one, "byteOffset": -4}] * 2},
            {"accessors": [{**one, "sparse": {"count": 10**9}}] * 2},
            {"accessors": [{**one, "count": value} for value in (float("nan"), "4")]},
        )

    def test_cycles(self):
        trees = [{"children": [1]}, {"children": [0]}], [{"children": [0]}], [{"children": [1, 1]}, {}]
        self.refused_with(*({"nodes": nodes} for nodes in trees))

    def test_many_takes_of_a_name(self):
        takes = [{"name": "a" * 70, "samplers": [], "channels": []}] * 20_000
        self.assertEqual(self.said("gltf", json.dumps(self.document(animations=takes)).encode()), ["read"])

    def test_json(self):
        many = b'{"asset":{"version":"2.0"},"nodes":[' + b"{}," * 11_000_000 + b"{}]}"
        self.refused("gltf", b"[" * 1_000_000, many, pattern="not a glTF file")

    def test_chunks(self):
        heads = [b"glTF" + struct.pack("<III", 2, 28, length) + b"JSON" for length in (0xFFFFFFFF, 0, 10**6)]
        self.refused("glb", *(head + b"{}      " for head in heads), pattern="damaged|cut off")

    @unittest.skipUnless(Path("/dev/zero").exists(), "no such device on this system")
    def test_devices(self):
        endless = [{"byteLength": 64, "uri": "/dev/zero"}]
        self.refused_with({"buffers": endless}, {"images": endless}, pattern="device|cannot be read")

    def test_paths_that_lead_out(self):
        """Nothing is written outside of the output's folder, whatever a file calls its own."""
        inside, out, secret = self.folder / "in" / "deep", self.folder / "out" / "deep", b"secret" * 20
        for folder in (inside, out):
            folder.mkdir(parents=True)
        (self.folder / "in" / "secret.bin").write_bytes(secret)
        source = inside / "clip.gltf"
        for uri in ("../secret.bin", "..%2Fsecret.bin", "x/../../secret.bin", str(self.folder / "in" / "secret.bin")):
            with self.subTest(uri=uri):
                (inside / "x").mkdir(exist_ok=True)
                source.write_text(json.dumps(self.document(buffers=[{"byteLength": 64, "uri": uri}])))
                file = gltf.read(source)
                before = sorted(self.folder.rglob("*"))
                with self.assertRaisesRegex(FootlockError, "outside of its folder"):
                    file.write(out / "clip.gltf")
                self.assertEqual(sorted(self.folder.rglob("*")), before)
        (inside / "own").mkdir()
        (inside / "own" / "a.bin").write_bytes(secret)
        source.write_text(json.dumps(self.document(buffers=[{"byteLength": 64, "uri": "own/a.bin"}])))
        gltf.read(source).write(out / "clip.gltf")
        self.assertEqual((out / "own" / "a.bin").read_bytes(), secret)


class Labels(Hostile):
    def test_all(self):
        texts = (
            b"[" * 20_000_000,
            b'{"contacts": {"Toe": [' + b"[]," * 15_000_000 + b"0]}}",
            b'{"contacts": {"Toe": [' + b"1," * 7_000_000 + b"0]}}",
            b'{"contacts": {"Toe": ' + b"9" * 10_000_000 + b"}}",
        )
        self.refused("json", *texts, pattern="labels")

    def test_names_that_lead_out(self):
        """A bone's name is never a path."""
        legs = LegMap("Hips", (Leg("L", "a", "b", "c", "../../../x"),))
        labels.write(self.folder / "labels.json", legs, np.ones((3, 1)), 60.0, 1)
        self.assertEqual(os.listdir(self.folder), ["labels.json"])
        self.assertEqual(labels.read(self.folder / "labels.json", legs, 3).tolist(), [[1.0]] * 3)
