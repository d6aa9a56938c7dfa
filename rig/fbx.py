"""The animations of an FBX file, and the same file with other keys in some of them. No Blender here.

A file holds objects, and connections between them: curves belong to curve nodes, these to a model's property and to the
layer of a take. Everything that is not replaced stays as it is in the file.
"""

import copy
from dataclasses import dataclass, field

import numpy as np

from ..solvers.errors import FootlockError
from ..solvers.wording import Said
from . import fbx_format, file_nodes, kinematics, whole_file
from .fbx_format import record
from .file_nodes import Local

# Parts of a second that the file counts, by the definition of time that newer files name.
_TICKS_OLD, _TICKS_NEW = 46186158000, 141120000
_TICKS = {0: _TICKS_NEW, 127: _TICKS_OLD}
# Frames per second, and what Blender divides them by, of the time modes; 14 is a custom rate.
_RATES = {
    1: (120, 1.0), 2: (100, 1.0), 3: (60, 1.0), 4: (50, 1.0), 5: (48, 1.0), 6: (30, 1.0), 7: (30, 1.0), 8: (30, 1.001),
    9: (30, 1.001), 10: (25, 1.0), 11: (24, 1.0), 13: (24, 1.001), 15: (96, 1.0), 16: (72, 1.0), 17: (60, 1.001),
    18: (120, 1.001),
}  # fmt: skip
_CUSTOM = 14
# Orders of rotation, first turned first, as Blender calls them.
_ORDERS = ("XYZ", "XZY", "YZX", "YXZ", "ZXY", "ZYX")
_AXES = (b"d|X", b"d|Y", b"d|Z")
_LOCATION, _ROTATION, _SCALE = b"Lcl Translation", b"Lcl Rotation", b"Lcl Scaling"
_CURVE_NODES = {_LOCATION: b"T", _ROTATION: b"R"}
# Interpolation of a key that is a straight line, with handles that do not count.
_LINEAR = 1 << 2 | 1 << 8 | 1 << 13 | 1 << 14
_LINEAR_DATA = (0.0, 0.0, 9.419963346924634e-30, 0.0)
_KEYS = (b"KeyTime", b"KeyValueFloat", b"KeyAttrFlags", b"KeyAttrDataFloat", b"KeyAttrRefCount")
# A key closer than this to a frame is meant to be there, seconds.
_SAME_TIME = 2e-5


@dataclass(eq=False)
class FbxFile:
    """An FBX file. ``takes``: names of its takes; ``names`` and ``parents`` of its nodes, -1 for none."""

    name: str
    file: fbx_format.FbxRecords
    ticks: int
    takes: list = field(init=False)
    names: list = field(init=False)
    parents: list = field(init=False)

    def __post_init__(self):
        self._objects = {one.value(0): one for one in self._part(b"Objects").records if one.properties}
        self._above, self._below = {}, {}
        for one in self._part(b"Connections").records:
            link = tuple(one.value(i) for i in range(len(one.properties)))
            if len(link) >= 3 and link[0] in (b"OO", b"OP"):
                below, above, name = link[1], link[2], link[3] if len(link) > 3 else b""
                self._above.setdefault(below, []).append((above, name))
                self._below.setdefault(above, []).append((below, name))
        self._models = [key for key, one in self._objects.items() if one.name == b"Model"]
        self._stacks = [key for key, one in self._objects.items() if one.name == b"AnimationStack"]
        at = {key: i for i, key in enumerate(self._models)}
        self.names = [self._name_of(key) for key in self._models]
        self.takes = [self._name_of(key) for key in self._stacks]
        self.parents = [
            next((at[above] for above, _ in self._above.get(key, ()) if above in at), -1) for key in self._models
        ]

    def rate(self):
        """(fps, fps_base) that the file says it has, or None."""
        settings = self._part(b"GlobalSettings")
        mode = _property(settings, b"TimeMode")
        if mode and mode[0] != _CUSTOM:
            return _RATES.get(mode[0])
        custom = _property(settings, b"CustomFrameRate")
        if not custom or not 0.1 < custom[0] < 1e4:
            return None
        return max(round(custom[0]), 1), max(round(custom[0]), 1) / custom[0]

    def animated(self, take):
        """(node, property) of all that a take moves."""
        return {
            (node, name)
            for node, model in enumerate(self._models)
            for name in (_LOCATION, _ROTATION, _SCALE)
            if self._curve_node(take, model, name) is not None
        }

    def key_times(self):
        """Times of all keys of nodes' transforms, seconds, each once."""
        found = [
            self._times(curve)
            for model in self._models
            for stack in range(len(self._stacks))
            for name in (_LOCATION, _ROTATION)
            for curve in self._curves(stack, model, name)
            if curve is not None
        ]
        return np.unique(np.concatenate([[], *found]))

    def local(self, take, node, times):
        """A node's Local in a take at ``times`` (n,)."""
        model = self._models[node]
        turned = self._turned(model, self._values(take, model, _ROTATION, times))
        return Local(self._values(take, model, _LOCATION, times) + self._arm(model, turned), turned)

    def replaced(self, changes):
        """The file with other keys. changes: (take, node, times (n,), Local, whether its location is one of them,
        whether its rotation is)."""
        done = FbxFile(self.name, copy.deepcopy(self.file), self.ticks)
        for take, node, times, local, moved, turned in changes:
            model = done._models[node]
            arm = done._arm(model, local.rotation)
            if moved or (turned and np.ptp(arm, axis=0).max() > 0.0):
                done._put(take, model, _LOCATION, times, local.location - arm)
            if turned:
                old = np.radians(self._values(take, self._models[node], _ROTATION, times))
                pre, post, order = done._turns(model)
                inner = np.swapaxes(pre, -1, -2) @ local.rotation @ post
                angles = np.degrees(kinematics.rotation_channel(inner, order, old))
                done._put(take, model, _ROTATION, times, angles)
        return done

    def resources(self):
        """See Gltf: what an FBX file refers to is not written."""
        return []

    def write(self, target):
        """Write the file in one step. Raises FootlockError where it cannot be written."""
        fbx_format.write(target, self.file)

    def _part(self, name):
        found = next((one for one in self.file.records if one.name == name), None)
        if found is None:
            raise FootlockError(
                "“{file}” lacks its {part}, so it is damaged: export it again.", file=self.name, part=name.decode()
            )
        return found

    def _name_of(self, key):
        return self._objects[key].value(1).split(b"\0\1")[0].decode(errors="ignore")

    def _values(self, take, model, name, times):
        """The three numbers (n, 3) of a node's property in a take."""
        static = self._vector(model, name)
        found = np.tile(static, (len(times), 1))
        for i, curve in enumerate(self._curves(take, model, name)):
            if curve is not None:
                at, values = self._times(curve), curve.first(b"KeyValueFloat").value(0).astype(float)
                order = np.argsort(at, kind="stable")
                found[:, i] = np.interp(times, at[order], values[order])
        return found

    def _turned(self, model, degrees):
        """Rotation matrices (n, 3, 3) of a node."""
        pre, post, order = self._turns(model)
        return pre @ kinematics.rotation_matrix(np.radians(degrees), order) @ np.swapaxes(post, -1, -2)

    def _turns(self, model):
        """Rotations (1, 3, 3) before and behind a node's own, and the order of its angles."""
        active = self._number(model, b"RotationActive", 0)
        turns = (
            kinematics.rotation_matrix(np.radians(self._vector(model, name))[None] * bool(active), "XYZ")
            for name in (b"PreRotation", b"PostRotation")
        )
        order = self._number(model, b"RotationOrder", 0) if active else 0
        return *turns, _ORDERS[order] if 0 <= order < len(_ORDERS) else "XYZ"

    def _arm(self, model, turned):
        """Where a node's origin is (n, 3) seen from its translation: its pivots turn with it."""
        offset, pivot, scale_offset, scale_pivot = (
            self._vector(model, name)
            for name in (b"RotationOffset", b"RotationPivot", b"ScalingOffset", b"ScalingPivot")
        )
        size = self._vector(model, _SCALE, 1.0)
        return offset + pivot + turned @ (scale_offset + scale_pivot * (1.0 - size) - pivot)

    def _vector(self, model, name, default=0.0):
        found = _property(self._objects[model], name)
        return np.array(found if found and len(found) == 3 else (default, default, default), float)

    def _number(self, model, name, default):
        found = _property(self._objects[model], name)
        return int(found[0]) if found else default

    def _curves(self, take, model, name):
        """The curves of a node's property in a take, three, None where there is none."""
        node = self._curve_node(take, model, name)
        found = {axis: curve for curve, axis in reversed(self._below.get(node, ())) if curve in self._objects}
        return [self._objects.get(found.get(axis)) for axis in _AXES]

    def _curve_node(self, take, model, name):
        """The key of the curve node of a node's property in a take, or None."""
        layers = {key for key, _ in self._below.get(self._stacks[take], ())}
        for key, what in self._below.get(model, ()):
            if what == name and any(above in layers for above, _ in self._above.get(key, ())):
                return key
        return None

    def layers(self, take):
        """Names of the layers of a take that have curves."""
        layers = [key for key, _ in self._below.get(self._stacks[take], ()) if key in self._objects]
        return [self._name_of(key) for key in layers if self._below.get(key)]

    def _times(self, curve):
        return curve.first(b"KeyTime").value(0).astype(float) / self.ticks

    def _put(self, take, model, name, times, values):
        """Keys (n, 3) of a node's property in a take, straight from each to the next."""
        node = self._curve_node(take, model, name)
        if node is None:
            static = self._vector(model, name)
            node = self._new(
                b"AnimationCurveNode", _CURVE_NODES[name] + b"\0\1AnimCurveNode",
                record(b"Properties70", within=[
                    record(b"P", (b"S", axis), (b"S", b"Number"), (b"S", b""), (b"S", b"A"), (b"D", float(value)))
                    for axis, value in zip(_AXES, static, strict=True)
                ]),
            )  # fmt: skip
            layer = next(key for key, _ in self._below[self._stacks[take]] if key in self._objects)
            self._connect(node, layer)
            self._connect(node, model, name)
        ticks = np.round(times * self.ticks).astype(np.int64)
        for axis, curve, column in zip(_AXES, self._curves(take, model, name), values.T, strict=True):
            if curve is None or len(self._above[curve.value(0)]) > 1:
                if curve is not None:  # another property has it too
                    self._disconnect(curve.value(0), node)
                key = self._new(b"AnimationCurve", b"\0\1AnimCurve", record(b"Default", (b"D", float(column[0]))),
                                record(b"KeyVer", (b"I", 4009)))  # fmt: skip
                self._connect(key, node, axis)
                curve = self._objects[key]
            old = curve.first(b"KeyTime")
            kept = old is not None and len(old.value(0)) == len(ticks)
            kept = kept and np.abs(old.value(0) - ticks).max() < _SAME_TIME * self.ticks
            keys = (
                (b"l", old.value(0) if kept else ticks), (b"f", column), (b"i", [_LINEAR]), (b"f", _LINEAR_DATA),
                (b"i", [len(ticks)]),
            )  # fmt: skip
            for what, (kind, numbers) in zip(_KEYS, keys, strict=True):
                held = curve.first(what)
                if held is None:
                    held = record(what)
                    curve.records.append(held)
                held.set(0, kind, numbers)

    def _new(self, kind, name, *within):
        """The key of a new object."""
        key = max(self._objects, default=0) + 1
        one = record(kind, (b"L", key), (b"S", name), (b"S", b""), within=within)
        self._part(b"Objects").records.append(one)
        self._objects[key] = one
        definitions = next((part for part in self.file.records if part.name == b"Definitions"), None)
        for counted in definitions.all(b"ObjectType") if definitions else ():
            if counted.value(0) == kind and counted.first(b"Count"):
                counted.first(b"Count").set(0, b"I", counted.first(b"Count").value(0) + 1)
        return key

    def _connect(self, below, above, name=b""):
        link = [(b"S", b"OP" if name else b"OO"), (b"L", below), (b"L", above)]
        self._part(b"Connections").records.append(record(b"C", *link, *([(b"S", name)] if name else [])))
        self._above.setdefault(below, []).append((above, name))
        self._below.setdefault(above, []).append((below, name))

    def _disconnect(self, below, above):
        links = self._part(b"Connections").records
        links[:] = [one for one in links if (one.value(1), one.value(2)) != (below, above)]
        self._above[below] = [one for one in self._above[below] if one[0] != above]
        self._below[above] = [one for one in self._below[above] if one[0] != below]


def read(path):
    """Read a binary FBX file. Raises FootlockError for one that cannot be opened, is something else, or cut off."""
    file = fbx_format.read(path)
    if file.version < 7100:
        raise whole_file.error(
            path, Said("is of version {version}", version=file.version), "export it as FBX 2011 or newer"
        )
    with whole_file.damaged(path):
        found = FbxFile(path.name, file, _ticks(file))
        file_nodes.check_tree(found.parents)
    return found


def _ticks(file):
    if file.version >= 8000:
        return _TICKS_NEW
    records = file.records
    for name in (b"FBXHeaderExtension", b"OtherFlags", b"TCDefinition"):
        found = next((one for one in records if one.name == name), None)
        if found is None:
            return _TICKS_OLD
        records = found.records
    return _TICKS.get(found.value(0), _TICKS_NEW)


def _property(owner, name):
    """The numbers of a property of an object, or None."""
    properties = owner.first(b"Properties70")
    for one in properties.records if properties else ():
        if one.properties and one.value(0) == name:
            return [one.value(i) for i in range(4, len(one.properties))]
    return None
