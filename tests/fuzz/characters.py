"""Characters for the fuzz test: armatures that an honest program would not make, and what is wrong with their keys."""

import bpy
import numpy as np
from blender import rigs
from mathutils import Matrix, Vector

from footlock.rig import compat, contact_property, curves, names

# Names that Blender allows, with what has a meaning in paths, files, patterns and formats.
ODD_NAMES = (
    'a "quoted" one', "it's", "back\\slash", "sla/sh", "../../up", "..", ".", "{braces} {0} %s", "[brackets]", '"]["x',
    "new\nline", "tab\ttab", "\x01\x7f", "ünï 🦶👣", "\u202eright to left", " blank ", "N" * 63, "🦶" * 15 + "abc",
    "con", "%", "a|b", "<b>&amp;</b>", "contact", "L", "0", "nul\u2028l",
)  # fmt: skip
_VALUES = (np.nan, np.inf, -np.inf, 1e30, -3e38, 2e9, 1e6, 1e-30, 0.0)


def chosen(rng, options, shares=None):
    """One of the options, not turned into numpy's."""
    return options[int(rng.choice(len(options), p=shares))]


def odd_name(rng):
    """A name as long as Blender allows."""
    return chosen(rng, ODD_NAMES)


def made(rng, frames):
    """A character with an action, in an empty file: the armature object."""
    rigs.new_file()
    frames = frames + chosen(rng, (0.0, 0.0, 0.0, -3.0, 0.25, 900.0, 1e6))
    kind = chosen(rng, ("biped", "biped", "limbs", "tree"))
    if kind == "tree":
        armature = _tree(rng)
        rigs.wobble(armature, frames, scale=chosen(rng, (0.0, 0.0, 0.2)), seed=int(rng.integers(1 << 30)))
    else:
        armature = _biped(rng, kind)
        mode = chosen(rng, rigs.MODES)
        rigs.walk(armature, frames, speed=rng.uniform(-2.0, 2.0), mode=mode, size=armature.data.bones["pelvis"].length)
        if rng.random() < 0.2:
            rigs.wobble(armature, frames, interpolation=int(rng.integers(3)), seed=int(rng.integers(1 << 30)))
    _placed(rng, armature)
    if rng.random() < 0.3:
        _renamed(rng, armature)
    if rng.random() < 0.85:
        _labelled(rng, armature, frames)
    bpy.context.view_layer.update()
    return armature


def beside(rng):
    """What else is in the file, none of which may change: another animated character, an object and its mesh."""
    active = bpy.context.view_layer.objects.active
    other = rigs.biped("Other", sides="L")
    rigs.wobble(other, np.arange(1.0, 4.0), only={"pelvis", "toe.L"})
    mesh = bpy.data.meshes.new(odd_name(rng))
    mesh.from_pydata([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [], [(0, 1, 2)])
    ball = bpy.data.objects.new(odd_name(rng), mesh)
    bpy.context.scene.collection.objects.link(ball)
    wide = float(chosen(rng, (0.0, 1.0, 1e3, 1e6)))
    slope = bpy.data.meshes.new("Floor")
    slope.from_pydata(
        [(-wide, -wide, 0), (wide, -wide, 0.1 * wide), (wide, wide, 0), (-wide, wide, 0)], [], [(0, 1, 2, 3)]
    )
    bpy.context.scene.collection.objects.link(bpy.data.objects.new("Floor", slope))
    rigs.key(ball, "location", rigs.wave(rng, np.arange(1.0, 6.0), 3, 1.0), np.arange(1.0, 6.0), 2)
    bpy.context.view_layer.objects.active = active
    return ball


def _biped(rng, kind):
    size = chosen(rng, (1.0, 1.0, 1.0, 0.01, 100.0, 1e-4, 1e4))
    joints = np.array(rigs._JOINTS)
    if rng.random() < 0.3:
        joints = joints + rng.normal(size=joints.shape) * 0.04
    if rng.random() < 0.15:  # a bone without length
        i = int(rng.integers(4))
        joints[i + 1] = joints[i] + chosen(rng, (1e-5, 1e-3)) / max(size, 1.0) * np.array([0.0, 0.0, -1.0])
    flags = {name: bool(rng.random() < 0.3) for name in ("root", "socket", "twist", "connect")}
    armature = rigs.biped(
        sides=chosen(rng, ("LR", "LR", "LR", "L")), toes=bool(rng.random() < 0.85), size=size,
        seed=int(rng.integers(99)), joints=tuple(map(tuple, joints)), **flags,
    )  # fmt: skip
    if kind == "limbs":
        _edited(armature, lambda bones: _grown(rng, bones, int(rng.integers(1, 9)), size))
        for bone in armature.data.bones:
            if rng.random() < 0.1:
                bone.inherit_scale = chosen(rng, rigs.INHERIT_SCALE)
            if rng.random() < 0.03:
                bone.use_inherit_rotation = False
            if rng.random() < 0.1:
                bone.use_local_location = False
    return armature


def _tree(rng):
    """Bones anywhere. Some chains of them are legs, because the map says so."""
    data = bpy.data.armatures.new(odd_name(rng))
    armature = bpy.data.objects.new(odd_name(rng), data)
    bpy.context.scene.collection.objects.link(armature)
    bpy.context.view_layer.objects.active = armature
    _edited(armature, lambda bones: _grown(rng, bones, int(rng.integers(5, 15)), chosen(rng, (0.01, 1.0, 1.0, 50.0))))
    for pose_bone in armature.pose.bones:
        pose_bone.rotation_mode = chosen(rng, rigs.MODES)
    chains = [bone for bone in data.bones if len(bone.parent_recursive) >= 4]
    for bone in chains[: int(rng.integers(1, 3))] if rng.random() < 0.9 else ():
        toe, foot, shin, thigh, pelvis = (bone, *bone.parent_recursive[:4])
        data.footlock.pelvis = pelvis.name
        item = data.footlock.legs.add()
        item.side, item.thigh, item.shin, item.foot, item.toe = "L", thigh.name, shin.name, foot.name, toe.name
    return armature


def _edited(armature, change):
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    change(armature.data.edit_bones)
    bpy.ops.object.mode_set(mode="OBJECT")


def _grown(rng, bones, count, size):
    """More bones on those that there are, or on none."""
    for _ in range(count):
        there = list(bones)
        parent = there[int(rng.integers(max(len(there) - 2, 0), len(there)))] if there and rng.random() < 0.95 else None
        bone = bones.new(odd_name(rng) if rng.random() < 0.7 else "bone")
        bone.parent = parent
        bone.head = parent.tail if parent else Vector(rng.normal(size=3) * 0.1 * size)
        bone.tail = bone.head + Vector(rng.normal(size=3) * chosen(rng, (0.3, 0.3, 0.3, 1e-4)) * size)
        bone.use_connect = bool(parent and rng.random() < 0.2)


def _placed(rng, armature):
    """The object somewhere, of some size."""
    if rng.random() < 0.25:
        armature.location = rng.normal(size=3) * chosen(rng, (1.0, 1e3, 1e6))
    if rng.random() < 0.25:
        armature.rotation_euler = rng.uniform(-3.0, 3.0, 3)
    if rng.random() < 0.25:
        scale = chosen(rng, (0.01, 100.0, 0.1, 10.0, 1e-6, 1e6, 0.0, -1.0))
        armature.scale = (scale, scale, scale * chosen(rng, (1.0,) * 7 + (1.5,)))
    if rng.random() < 0.1:
        above = bpy.data.objects.new("Above", None)
        bpy.context.scene.collection.objects.link(above)
        armature.parent = above
        above.matrix_basis = Matrix.Rotation(rng.uniform(-3.0, 3.0), 4, "Y") @ Matrix.Scale(rng.uniform(0.5, 2.0), 4)
    if rng.random() < 0.1:
        bpy.context.scene.unit_settings.scale_length = chosen(rng, (0.01, 1e-3, 100.0))
    if rng.random() < 0.3:
        bpy.context.scene.render.fps = chosen(rng, (1, 12, 30, 60, 120, 240, 1000))


def _renamed(rng, armature):
    """Odd names for some bones, the object, its data and the action; a map of its legs goes with them."""
    try:
        legs = names.find_legs({bone.name: bone.parent.name if bone.parent else None for bone in armature.data.bones})
    except Exception:
        legs = None
    mapped = armature.data.footlock
    if legs and not len(mapped.legs):
        mapped.pelvis = legs.pelvis
        for leg in legs.legs:
            item = mapped.legs.add()
            item.side, item.thigh, item.shin, item.foot, item.toe = leg.side, leg.thigh, leg.shin, leg.foot, leg.toe
    for bone in armature.data.bones:
        if rng.random() < 0.4:
            old, bone.name = bone.name, odd_name(rng)
            for owner in (mapped, *mapped.legs):
                for role in ("pelvis", "thigh", "shin", "foot", "toe"):
                    if getattr(owner, role, "") == old:
                        setattr(owner, role, bone.name)
    armature.name, armature.data.name = odd_name(rng), odd_name(rng)
    armature.animation_data.action.name = odd_name(rng)


def _labelled(rng, armature, frames):
    """Contact curves, of which some are odd."""
    legs = _legs(armature)
    if legs is None:
        return
    values = np.zeros((len(frames), len(legs.legs)))
    for leg in range(values.shape[1]):
        for _ in range(int(rng.integers(0, 4))):
            start = int(rng.integers(len(frames)))
            values[start : start + int(rng.integers(1, 15)), leg] = chosen(rng, (1.0, 1.0, 1.0, 0.5, 0.02, -1.0, -0.3))
    contact_property.write(armature, legs, frames, values)
    if rng.random() < 0.25:
        curves = [curve for curve in compat.fcurves(armature) if curve.data_path.endswith('["contact"]')]
        curve = chosen(rng, curves)
        chosen(rng, _DAMAGES)(rng, armature, curve)


def _legs(armature):
    from footlock.rig import mapping

    try:
        return mapping.of(armature)
    except Exception:
        return None


def damage(rng, armature):
    """Something goes wrong with the action, or the rig; what, in a word."""
    kind = chosen(rng, _DAMAGES + _OF_ALL)
    held = list(compat.fcurves(armature))
    if kind in _DAMAGES:
        if held:
            kind(rng, armature, chosen(rng, held))
    else:
        kind(rng, armature)
    bpy.context.view_layer.update()
    return kind.__name__.strip("_")


def _value(rng, armature, curve):
    points = curve.keyframe_points
    if not len(points):
        return
    co = np.empty(2 * len(points), np.float32)
    points.foreach_get("co", co)
    co[2 * int(rng.integers(len(points))) + 1] = chosen(rng, _VALUES)
    points.foreach_set("co", co)


def _no_frame(rng, armature, curve):
    points = curve.keyframe_points
    if len(points):
        points[int(rng.integers(len(points)))].co[0] = chosen(rng, (np.nan, np.inf, -1e9, 1e5, 3e8, 1e6))


def _shuffled(rng, armature, curve):
    points = curve.keyframe_points
    co = np.empty(2 * len(points), np.float32)
    points.foreach_get("co", co)
    points.foreach_set("co", rng.permutation(co.reshape(-1, 2)).ravel())


def _doubled(rng, armature, curve):
    points = curve.keyframe_points
    count = len(points)
    if not count:
        return
    co = np.empty(2 * count, np.float32)
    points.foreach_get("co", co)
    points.add(count)
    again = np.concatenate([co.reshape(-1, 2)] * 2)
    again[count:, 1] += rng.normal(size=count) * 0.1
    points.foreach_set("co", again[np.argsort(again[:, 0], kind="stable")].ravel())


def _one_key(rng, armature, curve):
    while len(curve.keyframe_points) > 1:
        curve.keyframe_points.remove(curve.keyframe_points[-1], fast=True)


def _no_keys(rng, armature, curve):
    curve.keyframe_points.clear()


def _handles(rng, armature, curve):
    points = curve.keyframe_points
    for side in ("left", "right"):
        points.foreach_set(f"handle_{side}_type", rng.integers(0, 5, len(points)).astype(np.int32))
        far = rng.normal(size=2 * len(points)) * chosen(rng, (1.0, 1e3, np.nan))
        points.foreach_set(f"handle_{side}", far.astype(np.float32))
    points.foreach_set("interpolation", rng.integers(0, 13, len(points)).astype(np.int32))
    if rng.random() < 0.5:
        curve.update()


def _silent(rng, armature, curve):
    setattr(curve, chosen(rng, ("mute", "lock", "hide")), True)


def _modified(rng, armature, curve):
    modifier = curve.modifiers.new(chosen(rng, ("NOISE", "CYCLES", "LIMITS", "GENERATOR", "STEPPED", "ENVELOPE")))
    modifier.mute = bool(rng.random() < 0.2)
    curve.extrapolation = chosen(rng, ("CONSTANT", "LINEAR"))


def _lost_path(rng, armature, curve):
    curve.data_path = chosen(
        rng, ('pose.bones["gone"].location', 'pose.bones["', "nonsense", "", "pose.bones[0].scale")
    )


def _elsewhere(rng, armature, curve):
    if not len(armature.animation_data.nla_tracks):  # Blender itself crashes where a strip plays such a curve
        curve.array_index = chosen(rng, (3, 4, 99))


_DAMAGES = (
    _value, _no_frame, _shuffled, _doubled, _one_key, _no_keys, _handles, _silent, _modified, _lost_path, _elsewhere,
)  # fmt: skip


def _fewer(rng, armature):
    held = compat.channels(armature)
    share = chosen(rng, (0.2, 0.8, 1.0))
    for curve in list(held.fcurves) if held else ():
        if rng.random() < share:
            held.fcurves.remove(curve)


def _silent_group(rng, armature):
    held = compat.channels(armature)
    if held and len(held.groups):
        setattr(chosen(rng, list(held.groups)), chosen(rng, ("mute", "lock")), True)


def _fewer_keys(rng, armature):
    step = int(rng.integers(2, 9))
    for curve in compat.fcurves(armature):
        points = curve.keyframe_points
        co = np.empty(2 * len(points), np.float32)
        points.foreach_get("co", co)
        kept = co.reshape(-1, 2)[::step]
        points.clear()
        points.add(len(kept))
        points.foreach_set("co", kept.ravel())
        curve.update()


def _constrained(rng, armature):
    bone = chosen(rng, list(armature.pose.bones))
    kinds = ("COPY_TRANSFORMS", "LIMIT_ROTATION", "DAMPED_TRACK", "IK", "CHILD_OF", "COPY_LOCATION", "STRETCH_TO")
    constraint = bone.constraints.new(chosen(rng, kinds))
    if hasattr(constraint, "target") and rng.random() < 0.9:
        constraint.target = armature
        if rng.random() < 0.9:
            constraint.subtarget = chosen(rng, list(armature.pose.bones)).name
    constraint.influence = chosen(rng, (1.0, 0.5, 0.0))


def _driven(rng, armature):
    bone = chosen(rng, list(armature.pose.bones))
    driver = bone.driver_add(chosen(rng, ("location", "scale")), int(rng.integers(3))).driver
    driver.expression = chosen(rng, ("frame * 0.1", "nonsense(", "0.5", "1e40", "1/0"))


def _still_scale(rng, armature):
    bone = chosen(rng, list(armature.pose.bones))
    bone.scale = chosen(rng, ((0.0,) * 3, (1e-9,) * 3, (1.0, 2.0, 1.0), (-1.0,) * 3, (np.nan,) * 3, (1e20,) * 3))


def _rest(rng, armature):
    armature.data.pose_position = "REST"


def _other_mode(rng, armature):
    bpy.ops.object.mode_set(mode="POSE")


def _rotation_modes(rng, armature):
    for bone in armature.pose.bones:
        if rng.random() < 0.5:
            bone.rotation_mode = chosen(rng, rigs.MODES)


def _action_gone(rng, armature):
    if rng.random() < 0.5:
        armature.animation_data.action = None
    else:
        rigs.new_action(armature, odd_name(rng))


def _slots(rng, armature):
    action = armature.animation_data.action
    if not compat.LAYERED or action is None:
        return
    action.slots.new("OBJECT", odd_name(rng) or "Slot")
    if rng.random() < 0.5:
        armature.animation_data.action_slot = chosen(rng, [None, *action.slots])
    if rng.random() < 0.3 and not len(action.layers):
        action.layers.new("Layer")


def _strips(rng, armature):
    data = armature.animation_data
    if data.action is None:
        return
    if not all(curves.is_within(armature, c.data_path, c.array_index) for c in compat.fcurves(armature)):
        return  # see _elsewhere
    track = data.nla_tracks.new()
    strip = track.strips.new(odd_name(rng), int(rng.integers(-5, 50)), data.action)
    strip.scale = chosen(rng, (1.0, 0.5, 2.0, 1e-4))
    strip.mute = bool(rng.random() < 0.3)
    strip.use_reverse = bool(rng.random() < 0.3)
    if rng.random() < 0.5:
        data.action = None


def _map(rng, armature):
    legs = armature.data.footlock.legs
    if not len(legs) and _legs(armature) is not None:
        bpy.ops.footlock.map_legs()
    if len(legs):
        role = chosen(rng, ("thigh", "shin", "foot", "toe"))
        setattr(chosen(rng, list(legs)), role, chosen(rng, ["", "nowhere", *(b.name for b in armature.data.bones)]))


def _shared(rng, armature):
    other = armature.copy()
    bpy.context.scene.collection.objects.link(other)


def _rates(rng, armature):
    bpy.context.scene.render.fps_base = chosen(rng, (1.001, 1e3, 1e-5, np.nan, 0.5))


def _property(rng, armature):
    bone = chosen(rng, list(armature.pose.bones))
    bone.pop("contact", None)
    bone["contact"] = chosen(rng, ("north", 3, [1.0, 2.0], {"a": 1}))


_OF_ALL = (
    _fewer, _silent_group, _fewer_keys, _constrained, _driven, _still_scale, _rest, _other_mode, _rotation_modes,
    _action_gone, _slots, _strips, _map, _shared, _rates, _property,
)  # fmt: skip
