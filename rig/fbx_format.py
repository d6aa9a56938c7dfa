"""The records of binary FBX files, read and written. No Blender here.

The format has no public specification; this follows what Blender Foundation's developers wrote down about it ("FBX
binary file format specification", Blender's developer blog, 2013). Properties are kept as the bytes they are and are
decoded where somebody asks, so a file that is read and written again has the same content.
"""

import struct
import zlib
from dataclasses import dataclass, field

import numpy as np

from . import whole_file

_MAGIC = b"Kaydara FBX Binary  \0\x1a\0"
_WIDE = 7500  # from this version on, offsets have eight bytes
_SIZES = {b"Y": 2, b"C": 1, b"B": 1, b"I": 4, b"F": 4, b"D": 8, b"L": 8}
_NUMBERS = {b"Y": "<h", b"C": "<?", b"B": "<?", b"I": "<i", b"F": "<f", b"D": "<d", b"L": "<q"}
_ARRAYS = {b"f": "<f4", b"d": "<f8", b"l": "<i8", b"i": "<i4", b"b": "<u1", b"c": "<u1"}
_DEEPEST = 100
# Records and properties of a file: each is an object of a hundred bytes, and takes two in the file. A scene of 40,000
# objects has so many.
_MOST = 10_000_000
# Bytes of all arrays when they are unpacked, which a thousandth of that can claim, and how many are unpacked at a time.
_LARGEST, _PIECE = 2 << 30, 1 << 20
# A file ends with these: 16 bytes of its own, 4 and some zeros up to a multiple of 16, the version, 120 zeros, and 16
# bytes that are the same in all.
_ZEROS = 120
_END = bytes.fromhex("f85a8c6adef5d97eece90ce3758f290b")


@dataclass
class Record:
    """A record: ``properties``, each its type and the bytes that follow, and the records within."""

    name: bytes
    properties: list = field(default_factory=list)
    records: list = field(default_factory=list)
    # Whether the records within are closed by an empty one, which some are without any record.
    closed: bool = False

    def first(self, name):
        """The first record within of a name, or None."""
        return next((one for one in self.records if one.name == name), None)

    def all(self, name):
        """The records within of a name."""
        return [one for one in self.records if one.name == name]

    def value(self, i):
        """The i-th property: a number, bytes, or an array."""
        kind, data = self.properties[i]
        if kind in _NUMBERS:
            return struct.unpack(_NUMBERS[kind], data)[0]
        if kind in (b"S", b"R"):
            return data[4:]
        count, coded, length = struct.unpack_from("<III", data)
        numbers = data[12 : 12 + length]
        if coded:
            # No more than it says: Blender has no bound of its own, so that was looked at when the file was read.
            numbers = zlib.decompressobj().decompress(numbers, count * np.dtype(_ARRAYS[kind]).itemsize + 1)
        return np.frombuffer(numbers, _ARRAYS[kind], count)

    def set(self, i, kind, value):
        """Put a property in the place of the i-th, or behind all."""
        self.properties[i : i + 1] = [(kind, encoded(kind, value))]


@dataclass
class FbxRecords:
    """A file: its ``version`` and top records, and the 16 bytes that its end begins with."""

    version: int
    records: list
    foot: bytes


def encoded(kind, value):
    """The bytes of a property."""
    if kind in _NUMBERS:
        return struct.pack(_NUMBERS[kind], value)
    if kind in (b"S", b"R"):
        return struct.pack("<I", len(value)) + value
    array = np.ascontiguousarray(value, _ARRAYS[kind])
    data = zlib.compress(array.tobytes(), 1)
    return struct.pack("<III", len(array), 1, len(data)) + data


def record(name, *properties, within=()):
    """A new Record of (type, value) properties and records within."""
    return Record(name, [(kind, encoded(kind, value)) for kind, value in properties], list(within), bool(within))


def read(path):
    """Read a binary FBX file. Raises FootlockError for one that cannot be opened, is something else, or cut off."""
    data = whole_file.read(path, "FBX")
    if not data.strip():
        raise whole_file.error(path, "is empty")
    if not data.startswith(_MAGIC):
        if data.lstrip().startswith(b"; FBX"):
            raise whole_file.error(path, "is a text FBX file, which Blender does not read", "export it as binary FBX")
        raise whole_file.error(path, "is not an FBX file, whatever its name says", "choose one")
    with whole_file.damaged(path):
        version = struct.unpack_from("<I", data, len(_MAGIC))[0]
        bounds = _Bounds()
        records, at = _records(data, len(_MAGIC) + 4, len(data), version >= _WIDE, 0, bounds)
    return FbxRecords(version, records, data[at : at + 16])


def write(path, file):
    """Write a file in one step. Raises FootlockError where it cannot be written."""
    wide = file.version >= _WIDE
    out = bytearray(_MAGIC + struct.pack("<I", file.version))
    for one in file.records:
        _put(out, one, wide)
    out += bytes(25 if wide else 13) + file.foot + bytes(4)
    out += bytes(16 - len(out) % 16) + struct.pack("<I", file.version) + bytes(_ZEROS) + _END
    whole_file.write(path, [out])


class _Bounds:
    """What the records of a file have taken so far. Raises ValueError for more than a file can need."""

    def __init__(self):
        self._objects = self._bytes = 0

    def count(self, objects):
        """So many more records or properties."""
        self._objects += objects
        if self._objects > _MOST:
            raise ValueError("too many records")

    def unpack(self, kind, data):
        """One more array, of which as much is unpacked at a time as takes no room."""
        count, coded, length = struct.unpack_from("<III", data)
        size = count * np.dtype(_ARRAYS[kind]).itemsize
        self._bytes += size
        if self._bytes > _LARGEST:
            raise ValueError("arrays that are too large")
        if not coded:
            found = length
        else:
            found, unpacking, rest = 0, zlib.decompressobj(), data[12 : 12 + length]
            while found <= size and not unpacking.eof:
                piece = unpacking.decompress(rest, _PIECE)
                if not piece and not unpacking.unconsumed_tail:
                    break
                found, rest = found + len(piece), unpacking.unconsumed_tail
        if found != size:
            raise ValueError("an array of another size than it says")


def _records(data, at, end, wide, depth, bounds):
    """Records from ``at`` to an empty one, or to ``end``; and where the next begins."""
    found = []
    head, size = ("<QQQB", 25) if wide else ("<IIIB", 13)
    if depth > _DEEPEST:
        raise ValueError("nested too deep")
    while at < end:
        stop, count, length, letters = struct.unpack_from(head, data, at)
        at += size
        if stop == 0:
            return found, at
        if not at + letters + length <= stop <= end:
            raise ValueError("a record ends outside")
        one = Record(data[at : at + letters])
        at += letters
        behind = at + length
        bounds.count(1 + count)
        for _ in range(count):
            kind = data[at : at + 1]
            taken = _length(kind, data, at + 1)
            if at + 1 + taken > behind:
                raise ValueError("a property ends outside")
            one.properties.append((kind, data[at + 1 : at + 1 + taken]))
            if kind in _ARRAYS:
                bounds.unpack(kind, one.properties[-1][1])
            at += 1 + taken
        at = behind
        if at < stop:
            one.closed = True
            one.records, at = _records(data, at, stop, wide, depth + 1, bounds)
        found.append(one)
        at = stop
    if depth == 0:
        raise ValueError("no end")
    return found, at


def _length(kind, data, at):
    if kind in _SIZES:
        return _SIZES[kind]
    if kind in (b"S", b"R"):
        return 4 + struct.unpack_from("<I", data, at)[0]
    if kind in _ARRAYS:
        return 12 + struct.unpack_from("<I", data, at + 8)[0]
    raise ValueError("a property of an unknown type")


def _put(out, one, wide):
    start = len(out)
    head, size = ("<QQQB", 25) if wide else ("<IIIB", 13)
    out += bytes(size) + one.name
    properties = b"".join(kind + data for kind, data in one.properties)
    out += properties
    for within in one.records:
        _put(out, within, wide)
    if one.closed:
        out += bytes(size)
    struct.pack_into(head, out, start, len(out), len(one.properties), len(properties), len(one.name))
