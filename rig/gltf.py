"""glTF files, .glb and .gltf: what their animations hold, and the same file with other numbers in some of them.

Written after the glTF 2.0 specification (Khronos Group). Everything that is not replaced stays as it is in the file:
meshes, skins, materials, extensions, and the keys of all other nodes.
"""

import base64
import json
import operator
import os
import struct
from copy import deepcopy
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import unquote

import numpy as np

from ..solvers import rotations as rot
from ..solvers.errors import FootlockError
from ..solvers.wording import Said, clause
from . import file_nodes, whole_file
from .file_nodes import Local

_MAGIC, _JSON, _BIN = b"glTF", b"JSON", b"BIN\0"
_DATA_URI = "data:application/octet-stream;base64,"
_COMPONENTS = {5120: "<i1", 5121: "<u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
_FLOAT = 5126
_WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT2": 4, "MAT3": 9, "MAT4": 16}
_STATIC = {"translation": (0.0, 0.0, 0.0), "rotation": (0.0, 0.0, 0.0, 1.0), "scale": (1.0, 1.0, 1.0)}
# Values of a document: a large scene has some 100,000.
_MOST = 10_000_000
# Key times that differ by less than this, seconds, are the same.
_SAME_TIME = 2e-5


@dataclass(frozen=True, eq=False)
class GltfFile:
    """A glTF file. ``document``: its JSON; ``binary``: the binary chunk of a .glb, b"" without; ``further``: chunks
    behind it, as they are; ``folder``: where its resources are."""

    name: str
    folder: Path
    document: dict
    binary: bytes
    further: bytes
    is_binary: bool
    # Buffers that were read, by their addresses.
    _read: dict = field(default_factory=dict, repr=False)

    @property
    def names(self):
        """What Blender's importer calls each node, before it makes names unique."""
        return [one.get("name") or f"Node_{i}" for i, one in enumerate(self._nodes)]

    @property
    def parents(self):
        """Index of the parent of each node, -1 without."""
        above = {child: i for i, one in enumerate(self._nodes) for child in one.get("children", ())}
        return [above.get(i, -1) for i in range(len(self._nodes))]

    @property
    def takes(self):
        """What Blender's importer calls each animation: its name, cut to 63 bytes and made unique."""
        found, counts = {}, {}
        for i, animation in enumerate(self.document.get("animations", [])):
            wanted, name = animation.get("name") or f"Anim_{i}", ""
            while not name or name in found:
                count = counts.get(wanted, 0)
                end = f".{count:03d}" if count else ""
                name = wanted.encode()[: 63 - len(end)].decode(errors="ignore") + end
                counts[wanted] = count + 1
            found[name] = i
        return list(found)

    @property
    def _nodes(self):
        return self.document.get("nodes", [])

    def check(self):
        """Raise ValueError, or what else comes of it, for what Blender's importer has no bound for: nodes that hang
        from themselves, accessors of sizes that nothing has, and files that are none."""
        children = [child for one in self._nodes for child in one.get("children", ())]
        if len(set(children)) < len(children):
            raise ValueError("a node that hangs from two")
        file_nodes.check_tree(self.parents)
        total = 0
        for one in self.document.get("accessors", ()):
            count, sparse = operator.index(one["count"]), one.get("sparse", {"count": 0})
            if not 0 <= operator.index(sparse["count"]) <= count:
                raise ValueError("an accessor of another size than it says")
            total += count * _WIDTHS[one["type"]] * np.dtype(_COMPONENTS[one["componentType"]]).itemsize
        if total > whole_file.LARGEST:
            raise ValueError("accessors that are too large")
        for one in (*self.document.get("buffers", ()), *self.document.get("images", ())):
            uri = one.get("uri", "data:")
            if not uri.startswith("data:") and os.path.exists(self.folder / unquote(uri)):
                whole_file.check_is_file(self.folder / unquote(uri), "glTF")

    def rate(self):
        """See FbxFile: a glTF file has times in seconds and no frames."""

    def animated(self, take):
        """(node, property) of all that an animation moves."""
        channels = self.document["animations"][take]["channels"]
        return {(channel["target"].get("node"), channel["target"]["path"]) for channel in channels}

    def still(self):
        """The file without its animations."""
        return replace(self, document={name: one for name, one in self.document.items() if name != "animations"})

    def key_times(self):
        """Times of all keys in the file, seconds, each once."""
        inputs = {sampler["input"] for one in self.document.get("animations", []) for sampler in one["samplers"]}
        return np.unique(np.concatenate([[], *(self._accessor(index)[:, 0] for index in sorted(inputs))]))

    def local(self, take, node, times):
        """A node's Local in an animation at ``times`` (n,)."""
        turned = np.roll(self._values(take, node, "rotation", times), 1, axis=1)
        return Local(self._values(take, node, "translation", times), rot.to_matrix(rot.normalized(turned)))

    def _values(self, animation, node, path, times):
        """A node's translation, rotation (x, y, z, w) or scale (n, width) in an animation at ``times``; what stands
        with the node where the animation does not have it."""
        channel = self._channel(animation, node, path)
        if channel is None:
            return np.tile(self._static(node, path), (len(times), 1))
        sampler = self._sampler(animation, channel)
        keys, values = self._accessor(sampler["input"])[:, 0], self._accessor(sampler["output"])
        if sampler.get("interpolation") == "CUBICSPLINE":
            values = values[1::3]
        if path == "rotation":
            values = rot.continuous(values)
        after = np.clip(np.searchsorted(keys, times - _SAME_TIME), 1, len(keys) - 1) if len(keys) > 1 else None
        if after is None:
            return np.tile(values[:1], (len(times), 1))
        before = after - 1
        share = np.clip((times - keys[before]) / np.maximum(keys[after] - keys[before], 1e-9), 0.0, 1.0)
        if sampler.get("interpolation") == "STEP":
            share = np.floor(share + 1e-6)
        found = values[before] + share[:, None] * (values[after] - values[before])
        return rot.normalized(found) if path == "rotation" else found

    def replaced(self, changes):
        """See FbxFile. Keys that stand at the wanted times stay where they are in the file and get new values."""
        document, binary = deepcopy(self.document), bytearray(self.binary)
        done = replace(self, document=document, binary=binary)
        added, times_of = bytearray(), {}
        for animation, node, path, times, values in _channels(changes):
            if done._overwrite(animation, node, path, times, values):
                continue
            key = animation, times.tobytes()
            if key not in times_of:
                keys = np.ascontiguousarray(times, "<f4")
                limits = {"min": [float(keys.min())], "max": [float(keys.max())]}
                times_of[key] = done._add(added, keys, {"type": "SCALAR", **limits})
            output = done._add(added, values, {"type": f"VEC{values.shape[1]}"})
            one = document["animations"][animation]
            one["samplers"].append({"input": times_of[key], "output": output, "interpolation": "LINEAR"})
            channel = done._channel(animation, node, path)
            if channel is None:
                channel = {"target": {"node": node, "path": path}}
                one["channels"].append(channel)
            channel["sampler"] = len(one["samplers"]) - 1
        done._attach(added)
        return replace(done, binary=bytes(binary))

    def write(self, target):
        """Write the file in one step, and copy what it refers to beside it where it comes into another folder. Raises
        FootlockError where that cannot be."""
        text = json.dumps(self.document, ensure_ascii=False, separators=(",", ":")).encode()
        if not self.is_binary:
            self._copy_resources(target)
            whole_file.write(target, [text])
            return
        chunks = _chunk(_JSON, text, b" ") + (_chunk(_BIN, self.binary, b"\0") if self.binary else b"") + self.further
        whole_file.write(target, [_MAGIC, struct.pack("<II", 2, 12 + len(chunks)), chunks])

    def resources(self):
        """The files that it refers to, by where they are from its folder."""
        named = (one.get("uri", "data:") for key in ("buffers", "images") for one in self.document.get(key, ()))
        return [unquote(uri) for uri in named if not uri.startswith("data:") and "://" not in uri]

    def _copy_resources(self, target):
        for place in self.resources():
            source, copy = self.folder / place, target.parent / place
            try:
                if not Path(os.path.realpath(copy)).is_relative_to(os.path.realpath(target.parent)):
                    raise FootlockError(
                        "“{file}” uses “{uri}”, which is outside of its folder and would be written outside of the"
                        " output's: put it beside the file, or give an output that ends in .blend.",
                        file=self.name,
                        uri=whole_file.printable(place[:60]),
                    )
                if copy.exists() and copy.samefile(source):
                    continue
                if copy.exists() and copy.read_bytes() != source.read_bytes():
                    raise FootlockError(
                        "“{copy}” is another file than the one of that name that “{file}” uses: choose another folder.",
                        copy=copy,
                        file=self.name,
                    )
                copy.parent.mkdir(parents=True, exist_ok=True)
                # In one step, for two files that use one picture may be written at the same time.
                whole_file.write(copy, [source.read_bytes()])
            except (OSError, ValueError) as error:
                raise FootlockError(
                    "“{source}”, which “{file}” uses, cannot be copied ({reason}): choose a folder that can be"
                    " written to.",
                    source=whole_file.printable(source.name),
                    file=self.name,
                    reason=getattr(error, "strerror", None) or str(error),
                ) from error

    def _static(self, node, path):
        one = self._nodes[node]
        if "matrix" not in one:
            return np.array(one.get(path, _STATIC[path]), float)
        matrix = np.array(one["matrix"], float).reshape(4, 4).T
        size = np.linalg.norm(matrix[:3, :3], axis=0)
        if path == "scale":
            return size
        return matrix[:3, 3] if path == "translation" else _xyzw(rot.from_matrix(matrix[:3, :3] / size))

    def _channel(self, animation, node, path):
        """The channel of a node in an animation, or None."""
        for channel in self.document["animations"][animation]["channels"]:
            target = channel["target"]
            if target.get("node") == node and target["path"] == path:
                return channel
        return None

    def _sampler(self, animation, channel):
        return self.document["animations"][animation]["samplers"][channel["sampler"]]

    def _accessor(self, index):
        """The numbers (n, width) of an accessor."""
        accessor = self.document["accessors"][index]
        view = self.document["bufferViews"][accessor["bufferView"]] if "bufferView" in accessor else None
        if "sparse" in accessor or view is None or _compressed(view):
            raise FootlockError(
                "“{file}” has compressed animations: export it without compression of meshes and animations.",
                file=self.name,
            )
        kind, width = np.dtype(_COMPONENTS[accessor["componentType"]]), _WIDTHS[accessor["type"]]
        start, count = view.get("byteOffset", 0) + accessor.get("byteOffset", 0), accessor["count"]
        stride = view.get("byteStride", kind.itemsize * width)
        data = self._buffer(view["buffer"])
        inside = start >= 0 and stride >= kind.itemsize * width and count >= 1
        if not inside or start + stride * (count - 1) + kind.itemsize * width > len(data):
            raise self._broken("its animations point behind its end")
        values = np.ndarray((count, width), kind, data, start, (stride, kind.itemsize)).astype(float)
        if kind.kind != "f":
            values = np.maximum(values / np.iinfo(kind).max, -1.0)
        if not np.isfinite(values).all():
            raise self._broken("it has keys that are not numbers")
        return values

    def _buffer(self, index):
        uri = self.document["buffers"][index].get("uri")
        if uri is None:
            return self.binary
        try:
            if uri not in self._read:
                inside = uri.startswith("data:")
                self._read[uri] = (
                    base64.b64decode(uri.partition(",")[2])
                    if inside
                    else whole_file.read(self.folder / unquote(uri), "glTF")
                )
            return self._read[uri]
        except (FootlockError, ValueError) as error:
            raise FootlockError(
                "“{file}” uses “{uri}”, which cannot be read: put it beside the file.",
                file=self.name,
                uri=whole_file.printable(uri[:60]),
            ) from error

    def _overwrite(self, animation, node, path, times, values):
        """Put values where those of a channel are, if it has plain keys at just these times and nobody else reads
        them."""
        channel = self._channel(animation, node, path)
        if channel is None or not self.is_binary:
            return False
        sampler = self._sampler(animation, channel)
        keys = self._accessor(sampler["input"])[:, 0]
        output = self.document["accessors"][sampler["output"]]
        view = self.document["bufferViews"][output["bufferView"]]
        plain = output["componentType"] == _FLOAT and "byteStride" not in view
        own = self.document["buffers"][view["buffer"]].get("uri") is None
        if (
            not (plain and own)
            or sampler.get("interpolation", "LINEAR") != "LINEAR"
            or len(keys) != len(times)
            or np.abs(keys - times).max() > _SAME_TIME
            or self._readers(sampler["output"]) != 1
        ):
            return False
        start = view.get("byteOffset", 0) + output.get("byteOffset", 0)
        self.binary[start : start + values.nbytes] = values.tobytes()
        for name, limit in (("min", values.min(axis=0)), ("max", values.max(axis=0))):
            if name in output:
                output[name] = limit.astype(float).tolist()
        return True

    def _readers(self, index):
        """How many channels read the numbers of an accessor."""
        one, all_ = self.document["accessors"][index], self.document["accessors"]
        view = self.document["bufferViews"][one["bufferView"]]
        views = [
            i
            for i, other in enumerate(self.document["bufferViews"])
            if other["buffer"] is not None
            and (other["buffer"], other.get("byteOffset", 0)) == (view["buffer"], view.get("byteOffset", 0))
        ]
        same = {
            i
            for i, other in enumerate(all_)
            if other.get("bufferView") in views and other.get("byteOffset", 0) == one.get("byteOffset", 0)
        }
        return sum(
            animation["samplers"][channel["sampler"]]["output"] in same
            for animation in self.document["animations"]
            for channel in animation["channels"]
        )

    def _add(self, added, values, described):
        """A new accessor of numbers, which are put behind ``added``; its index."""
        views, accessors = self.document.setdefault("bufferViews", []), self.document.setdefault("accessors", [])
        views.append({"buffer": None, "byteOffset": len(added), "byteLength": values.nbytes})
        accessors.append({"bufferView": len(views) - 1, "componentType": _FLOAT, "count": len(values), **described})
        added += values.tobytes()
        return len(accessors) - 1

    def _attach(self, added):
        """Bytes of new accessors at the end of the binary chunk, or where the file has none as a buffer of its own."""
        buffers, binary = self.document.setdefault("buffers", []), self.binary
        inside = self.is_binary and buffers and "uri" not in buffers[0]
        if inside:
            binary.extend(b"\0" * (-len(binary) % 4))
        elif added:
            buffers.append({"byteLength": len(added), "uri": _DATA_URI + base64.b64encode(added).decode()})
        for view in self.document.get("bufferViews", ()):
            if view["buffer"] is None:
                view["buffer"] = 0 if inside else len(buffers) - 1
                view["byteOffset"] += len(binary) if inside else 0
        if inside:
            binary.extend(added)
            buffers[0]["byteLength"] = len(binary)

    def _broken(self, why):
        return FootlockError("“{file}” is damaged, {why}: export it again.", file=self.name, why=clause(why))


def _channels(changes):
    """The channels of changes: (animation, node, path, times (n,), values (n, width)) of each."""
    for take, node, times, local, moved, turned in changes:
        if moved:
            yield take, node, "translation", times, np.ascontiguousarray(local.location, "<f4")
        if turned:
            rotations = rot.continuous(rot.from_matrix(local.rotation))
            yield take, node, "rotation", times, np.ascontiguousarray(_xyzw(rotations), "<f4")


def read(path):
    """Read a .glb or .gltf file. Raises FootlockError for one that cannot be opened, is something else, or cut off."""
    data = whole_file.read(path, "glTF")
    if not data.strip():
        raise whole_file.error(path, "is empty")
    binary, further, is_binary = b"", b"", data[:4] == _MAGIC
    if is_binary:
        if len(data) < 20 or struct.unpack_from("<I", data, 8)[0] > len(data):
            raise whole_file.error(path, "is cut off")
        if struct.unpack_from("<I", data, 4)[0] != 2:
            raise whole_file.error(path, "is not of version 2 of glTF", "export it again as glTF 2.0")
        with whole_file.damaged(path):
            text, at = _chunk_at(data, 12)
            if at < len(data) and data[at + 4 : at + 8] == _BIN:
                binary, at = _chunk_at(data, at)
            further = data[at:]
    elif path.suffix.lower() == ".glb":
        raise whole_file.error(path, "is not a .glb file, whatever its name says", "choose one")
    else:
        text = data
    try:
        document = whole_file.json_of(text, _MOST)
        version = document["asset"]["version"]
    except (ValueError, KeyError, TypeError) as error:
        raise whole_file.error(path, "is not a glTF file, or damaged") from error
    if not str(version).startswith("2."):
        raise whole_file.error(
            path, Said("is of version {version} of glTF", version=str(version)), "export it again as glTF 2.0"
        )
    found = GltfFile(path.name, path.parent, document, binary, further, is_binary)
    with whole_file.damaged(path):
        found.check()
    return found


def _chunk_at(data, at):
    """The content of a chunk of a .glb, and where the next begins."""
    length = struct.unpack_from("<I", data, at)[0]
    return data[at + 8 : at + 8 + length], at + 8 + length


def _chunk(kind, content, padding):
    content = bytes(content) + padding * (-len(content) % 4)
    return struct.pack("<I", len(content)) + kind + content


def _compressed(view):
    return any(name.endswith("_compression") for name in view.get("extensions", {}))


def _xyzw(q):
    return np.roll(q, -1, axis=-1)
