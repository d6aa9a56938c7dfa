"""Fuzz cases of the readers: bytes of real files of which some are others. What is read is all asked for; it is
right, or there is one sentence. No Blender, but for the .fbx file, which Blender writes."""

import functools
import tempfile
from pathlib import Path

import numpy as np
from fuzz.odd_bytes import mutated, odd_labels

from footlock.rig import bvh, fbx, gltf, labels, whole_file
from footlock.rig.names import Leg, LegMap
from footlock.solvers.errors import FootlockError

try:
    import bpy
except ModuleNotFoundError:
    bpy = None

_DATA = Path(__file__).resolve().parents[1] / "data"
_LEGS = LegMap("Hips", (Leg("L", "UpLeg", "Leg", "Foot", "Toe"), Leg("R", "a", "b", "c", "d")))
_TIMES = np.linspace(0.0, 1.0, 5)


def case(seed, folder):
    """One file with wrong bytes, read; how that ended, in a word."""
    rng = np.random.default_rng(seed)
    kind = ("bvh", "glb", "json", "fbx")[int(rng.integers(4 if bpy else 3))]
    path = folder / f"odd.{kind}"
    data = odd_labels(rng, ["Toe", "d"]) if kind == "json" else mutated(rng, _real(kind))
    path.write_bytes(data)
    try:
        with whole_file.damaged(path):
            _READ[kind](path, rng)
    except FootlockError as error:
        said = str(error)
        assert len(said.splitlines()) == 1 and said.isprintable() and 20 < len(said) < 600, said
        return f"{kind}:refused"
    return f"{kind}:read"


@functools.cache
def _real(kind):
    """The bytes of a real file."""
    if kind == "fbx":
        return _exported()
    if kind == "glb":
        return (_DATA / "rigs" / "quaternius_velociraptor.glb").read_bytes()
    head, _, rows = (_DATA / "cmu_131_01.bvh").read_bytes().partition(b"MOTION")
    lines = rows.splitlines()
    return head + b"MOTION\nFrames: 20\n" + lines[2] + b"\n" + b"\n".join(lines[3:23]) + b"\n"


def _exported():
    from blender import rigs
    from blender.test_exchange import character, export

    rigs.new_file()
    character(frames=np.arange(1.0, 13.0))
    with tempfile.TemporaryDirectory() as folder:
        return export(Path(folder) / "real.fbx").read_bytes()


def _bvh(path, rng):
    found = bvh.read(path)
    assert np.isfinite(found.motion).all() and found.frame_rate > 0.0
    for i in range(len(found.joints)):
        found.position_columns(i), found.rotation_columns(i)
    again = path.with_name("again.bvh")
    bvh.write(again, found)
    np.testing.assert_allclose(bvh.read(again).motion, found.motion, atol=6e-8)


def _nodes(file, path, rng):
    assert np.isfinite(file.key_times()).all()
    file.rate()
    for take in range(min(len(file.takes), 4)):
        file.animated(take)
        for node in rng.integers(0, max(len(file.names), 1), 6) if file.names else ():
            file.local(take, int(node), _TIMES)
    file.replaced([]).write(path.with_name(f"again{path.suffix}"))


def _labels(path, rng):
    found = labels.read(path, _LEGS, 12)
    assert found.shape == (12, 2) and (np.abs(found) <= 1.0).all()


_READ = {
    "bvh": _bvh,
    "glb": lambda path, rng: _nodes(gltf.read(path), path, rng),
    "fbx": lambda path, rng: _nodes(fbx.read(path), path, rng),
    "json": _labels,
}
