"""A clip: the poses of a character's legs over the frames of its action, in armature space, and the way from there to
the world in metres."""

from dataclasses import dataclass, field, replace

import numpy as np

from ..solvers import rotations as rot
from ..solvers.errors import FootlockError
from ..solvers.leg_chain import LegPose
from . import compat, curves, key_grid, kinematics, names, nla, stepping, units
from .controls import BAKE, PARENTS, Controls, acting, limb_bones
from .stepwise import Step, finish, job, part, plain

# A tail further from the toe's joint than this share of thigh and shin, or nearer, is no toe end: leaf bones have any
# length.
_TOE_LENGTHS = (0.02, 0.35)
# The same for a foot without a toe bone.
_FOOT_LENGTHS = (0.08, 0.6)
# Scales along the axes that differ by more than this share make another shape of the character.
_UNIFORM = 1e-3

# What is being done.
_READING = "reading curves"

# Nothing is so far from the world's origin (metres): in single precision not even a step could be told there.
_FARTHEST = 1e7

# Frames per second of a clip that has steps to be told, far beyond any that is.
_RATES = (0.1, 1e5)

# A bone whose scale is less than this share of what it is elsewhere has none.
_NOTHING = 1e-6

# Curves of the object itself that move it.
_OBJECT_TRANSFORMS = ("location", "rotation", "scale", "delta_")

_ROTATION_PROPERTIES = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}


@dataclass(frozen=True)
class Clip:
    """Poses over time. ``frames`` (n,): frames of the action, evenly spaced, not always whole. ``frame_rate``: Hz, of
    these frames as the scene plays them. ``unit``: metres of one unit of the scene. ``bones``: Bone of the legs, the
    pelvis and all above, parents first. ``channels``: Channels of each bone. ``poses``: (n, 4, 4) of each bone,
    armature space. ``world_from_armature``: (n or 1, 4, 4), metres. ``time``: where in the scene the frames are.
    ``controls``: Controls of the legs, whose bones are among these, or None where nothing is to be written;
    ``influences``: (bone, constraint) → (n,), of those that decide which of the controls count."""

    frames: np.ndarray
    frame_rate: float
    unit: float
    legs: names.LegMap
    bones: tuple
    channels: tuple
    poses: tuple
    world_from_armature: np.ndarray
    time: nla.StripTime = nla.AS_IT_IS
    controls: Controls | None = None
    influences: dict = field(default_factory=dict)

    @property
    def scene_frames(self):
        """The frames (n,) of the scene at which those of the action are."""
        return self.time.to_scene(self.frames)

    def span_in_action(self, span):
        """(first, last) frame of the action of a span of scene frames. Raises FootlockError where it has none of the
        clip's frames."""
        first, last = self.time.to_action(span)
        if not curves.within(self.frames, (first, last)).any():
            raise FootlockError(
                "The range {first:g} to {last:g} has no frame of the action, which goes from {start:g}"
                " to {end:g}: choose another range.",
                first=span[0],
                last=span[1],
                start=self.scene_frames[0],
                end=self.scene_frames[-1],
            )
        return first, last

    def index(self, name):
        """Index of a bone by its name."""
        return next(i for i, bone in enumerate(self.bones) if bone.name == name)

    def head(self, name):
        """Head of a bone in the world (n, 3), metres."""
        return self._to_world(self.poses[self.index(name)][:, :3, 3])

    def tail(self, name):
        """Tail of a bone in the world (n, 3), metres."""
        i = self.index(name)
        return self._to_world(self.poses[i][:, :3, 3] + self.poses[i][:, :3, 1] * self.bones[i].length)

    def world_rotation(self, name):
        """World rotation matrices (n, 3, 3) of a bone, without its scale."""
        turned = self.world_from_armature[:, :3, :3] @ self.poses[self.index(name)][:, :3, :3]
        return turned / np.linalg.norm(turned, axis=-2, keepdims=True)

    def leg_pose(self):
        """LegPose (n, legs) in the world, metres."""
        joints = [self._joints(leg) for leg in self.legs.legs]
        return LegPose(*(np.stack(points, axis=1) for points in zip(*joints, strict=True)))

    def rest_pose(self):
        """LegPose (1, legs) of the rest pose, where the object is in the first frame, metres."""
        rest = tuple(np.array(bone.rest)[None] for bone in self.bones)
        return replace(self, poses=rest, world_from_armature=self.world_from_armature[:1]).leg_pose()

    def rest_floor(self):
        """Height of the lowest joint of the feet in the rest pose: world z, metres."""
        pose = self.rest_pose()
        return float(min(points[..., 2].min() for points in (pose.heel, pose.toe, pose.toe_end)))

    def joint_bones(self, leg):
        """Where hip, knee, heel, toe and toe end of a leg are: (bone, whether at its tail) each."""
        hip, knee, heel = self.head(leg.thigh), self.head(leg.shin), self.head(leg.foot)
        length = float(np.median(rot.length(knee - hip) + rot.length(heel - knee)))
        last, shares = (leg.toe, _TOE_LENGTHS) if leg.toe else (leg.foot, _FOOT_LENGTHS)
        end = last, _plausible(self.tail(last) - self.head(last), length, shares)
        toe = (leg.toe, False) if leg.toe else end
        return (leg.thigh, False), (leg.shin, False), (leg.foot, False), toe, end

    def _joints(self, leg):
        return [self.tail(name) if tail else self.head(name) for name, tail in self.joint_bones(leg)]

    def _to_world(self, points):
        return (self.world_from_armature[:, :3, :3] @ points[..., None])[..., 0] + self.world_from_armature[:, :3, 3]


def reading(scene, armature, legs, unit=0.0, driven_by=None, also=(), frames=None):
    """Steps that read the clip of an armature object's action, and return it.

    legs: LegMap. unit: metres of one unit of the scene; 0 to judge it from the legs (``units``). driven_by: Controls of
    the legs, whose bones are read too, and those ``also`` named. frames: those of a reading before keys were written,
    which would else tell of others where keys stood twice in a frame, or out of order. The poses come from the curves
    by forward kinematics in numpy, and by stepping the scene's frames only where something else moves the bones or the
    object. Raises FootlockError where there is no clip to correct.
    """
    _check_usable(armature)
    paths = curves.by_path(armature)
    limbs, beside = set(limb_bones(armature, legs)), set(also)
    if driven_by is not None:
        limbs.update(driven_by.channels())
        beside.update(driven_by.carriers, driven_by.tips())
    bones = _bones(armature, limbs | beside)
    nla.check(armature, limbs)
    time = nla.time(armature)
    if frames is None:
        frames = key_grid.frames(armature, paths)
    rate = played_rate(scene, (frames[-1] - frames[0]) / (len(frames) - 1) * time.scale)
    posed = _posing(scene, armature, bones, paths, frames, time, driven_by)
    channels, poses, world, influences = yield from part(posed, 0.0, 0.8)
    _check_world(armature, world)
    lost = yield from part(job(_READING, _lost, bones, poses), 0.8, 0.85)
    if lost is not None:
        _refuse_lost(armature, lost)
    clip = Clip(frames, rate, 1.0, legs, bones, channels, poses, world, time, driven_by, influences)
    nothing = yield from part(job(_READING, _sized_to_nothing, clip, limb_bones(armature, legs)), 0.85, 0.95)
    if nothing is not None:
        raise FootlockError(
            "Bone “{bone}” is scaled to nothing in some frames, so it has no pose to correct: give it a"
            " scale, or choose other bones under Legs.",
            bone=nothing.name,
        )
    if not unit:
        length = yield from part(job(_READING, lambda: float(np.median(clip.leg_pose().leg_lengths()))), 0.95, 1.0)
        unit = units.judged(length, scene.unit_settings.scale_length)
    units.check(unit)
    return _near(replace(clip, unit=unit, world_from_armature=_in_metres(world, unit)))


read = plain(reading)


def grid(armature):
    """The frames (n,) of an armature's action that ``read`` would read, and the StripTime by which they are in the
    scene. Raises FootlockError where there is no clip."""
    _check_usable(armature)
    return key_grid.frames(armature, curves.by_path(armature)), nla.time(armature)


def reading_halfway(scene, armature, clip):
    """Steps to the Clip between each two frames of one that was read, as the action in use has it now: a frame less."""
    frames = 0.5 * (clip.frames[1:] + clip.frames[:-1])
    paths = curves.by_path(armature)
    posed = _posing(scene, armature, clip.bones, paths, frames, clip.time, clip.controls)
    channels, poses, world, influences = yield from posed
    world = _in_metres(world, clip.unit)
    return replace(
        clip, frames=frames, channels=channels, poses=poses, world_from_armature=world, influences=influences
    )


def limbs(armature, legs):
    """Bone of the legs, the pelvis and all above, parents first."""
    return _bones(armature, limb_bones(armature, legs))


def moved_by_curves_alone(armature, bones):
    """True where ``read`` need not step the scene's frames for these Bones, which takes time and is seen."""
    return not _moved_by_more_than_curves(armature, bones)


def played_by(armature, clip, paths):
    """The Clip as other curves, of ``curves.by_path_in``, play it, where curves alone move the bones."""
    channels = tuple(finish(_sampling(armature, bone, paths, clip.frames)) for bone in clip.bones)
    return replace(clip, channels=channels, poses=forward(clip.bones, channels, len(clip.frames)))


def as_shown(scene, armature, legs, frames, unit=0.0):
    """The Clip that the scene shows at its ``frames`` (n,), evenly spaced, whatever moves it there. Raises
    FootlockError where Blender would not move the armature."""
    bones = limbs(armature, legs)
    channels = tuple(finish(_sampling(armature, bone, {}, frames)) for bone in bones)
    poses, world, _ = finish(stepping.posing(scene, armature, bones, frames, ()))
    _check_world(armature, world)
    rate = played_rate(scene, frames[1] - frames[0])
    clip = Clip(frames, rate, 1.0, legs, bones, channels, poses, world)
    unit = unit or units.judged(float(np.median(clip.leg_pose().leg_lengths())), scene.unit_settings.scale_length)
    units.check(unit)
    return _near(replace(clip, unit=unit, world_from_armature=_in_metres(world, unit)))


def frame_rate(scene):
    """Frames of the scene per second."""
    return scene.render.fps / scene.render.fps_base


def played_rate(scene, step):
    """Frames per second of a clip whose frames are ``step`` frames of the scene apart. Raises FootlockError for a rate
    at which a foot's speed tells nothing; work with such would not end, for what is judged are times in seconds."""
    rate = frame_rate(scene) / step
    if not _RATES[0] <= rate <= _RATES[1]:
        raise FootlockError(
            "The action plays at {rate:.3g} frames per second, and steps are told from {least:g} to {most:g}: set the"
            " scene's frame rate and its base, or the strip's scale.",
            rate=rate,
            least=_RATES[0],
            most=_RATES[1],
        )
    return rate


def rotation_property(bone):
    """Name of the property that a bone's rotation mode reads."""
    return _ROTATION_PROPERTIES.get(bone.rotation_mode, "rotation_euler")


def forward(bones, channels, frames):
    """Poses (frames, 4, 4) of each bone from the channels, parents first."""
    poses = []
    for bone, channel in zip(bones, channels, strict=True):
        parent = (bones[bone.parent], poses[bone.parent]) if bone.parent >= 0 else (None, None)
        matrix = kinematics.basis(channel, bone.rotation_mode, bone.connected)
        poses.append(kinematics.pose(kinematics.space(bone, *parent), matrix))
    return tuple(np.broadcast_to(pose, (frames, 4, 4)) for pose in poses)


def _posing(scene, armature, bones, paths, frames, time, driven_by):
    """Steps to channels and poses of bones at frames of the action, the armature's world matrices, and the influences
    that Controls need."""
    conditions = driven_by.conditions() if driven_by is not None else ()
    stepped = bool(conditions) or _moved_by_more_than_curves(armature, bones)
    sampled = 0.1 if stepped else 0.6
    channels = []
    for i, bone in enumerate(bones):
        own = _sampling(armature, bone, paths, frames)
        channels.append((yield from part(own, sampled * i / len(bones), sampled * (i + 1) / len(bones))))
    if stepped:
        posed = stepping.posing(scene, armature, bones, time.to_scene(frames), conditions)
        return tuple(channels), *(yield from part(posed, sampled, 1.0))
    world = np.array(armature.matrix_world, float)[None]
    poses = yield from part(job(_READING, forward, bones, channels, len(frames)), sampled, 1.0)
    return tuple(channels), poses, world, {}


def _in_metres(world, unit):
    return world * np.array([unit, unit, unit, 1.0])[:, None]


def _check_usable(armature):
    if armature.data.pose_position == "REST":
        raise FootlockError(
            "“{armature}” shows its rest position: switch it to Pose Position in the armature's properties.",
            armature=armature.name,
        )
    data = armature.animation_data
    if data is None or data.action is None:
        if nla.live_strips(data):
            raise FootlockError(
                "“{armature}” is moved by NLA strips and has no action: click Bake from NLA, or tweak a strip"
                " (Tab in the NLA Editor).",
                armature=armature.name,
            )
        raise FootlockError("“{armature}” has no action: assign or import an animation first.", armature=armature.name)
    if compat.has_unassigned_slots(armature):
        raise FootlockError(
            "“{armature}” uses no slot of the action “{action}”: choose its slot in the Action Editor.",
            armature=armature.name,
            action=data.action.name,
        )


def check_size(armature, world):
    """Raise FootlockError where the matrices (n, 4, 4) of an armature object are no place, or have no size."""
    if not np.isfinite(world).all():
        raise FootlockError(
            "“{armature}” has a location, rotation or scale that is not a number: set it anew in the object's"
            " properties.",
            armature=armature.name,
        )
    nothing = np.linalg.det(world[:, :3, :3]) == 0.0
    if nothing.all():
        raise FootlockError(
            "“{armature}” is scaled to nothing: give the object a scale (Alt S in Object Mode).", armature=armature.name
        )
    if nothing.any():
        raise FootlockError(
            "“{armature}” is scaled to nothing in some frames: give the object a scale there and run again.",
            armature=armature.name,
        )


def _check_world(armature, world):
    check_size(armature, world)
    scale = np.linalg.norm(world[:, :3, :3], axis=1)
    if np.any(np.ptp(scale, axis=1) > _UNIFORM * scale.max(axis=1)) or np.any(np.linalg.det(world[:, :3, :3]) <= 0.0):
        raise FootlockError(
            "“{armature}” is scaled unevenly or mirrored: apply its scale (Ctrl A in Object Mode) and run again.",
            armature=armature.name,
        )


def _near(clip):
    """The Clip. Raises FootlockError where a bone is farther away than any that moves on purpose."""
    for bone in clip.bones:
        far = np.abs(clip.head(bone.name)).max(axis=1)
        if far.max() > _FARTHEST:
            raise FootlockError(
                "Bone “{bone}” is {distance:.3g} km from the world's origin in frame {frame:g}, which is far too much:"
                " look for a value that is too large in what moves it, or set Scene Unit.",
                bone=bone.name,
                distance=far.max() / 1000.0,
                frame=clip.scene_frames[far.argmax()],
            )
    return clip


def _lost(bones, poses):
    """A bone that is nowhere in some frame, or None."""
    return next((bone for bone, pose in zip(bones, poses, strict=True) if not np.isfinite(pose).all()), None)


def _refuse_lost(armature, bone):
    """Raise FootlockError for a bone that is nowhere, with the curve that does it."""
    for curve in compat.fcurves(armature):
        curves.sample(curve, curves.keys(curve)[0])
    raise FootlockError(
        "Bone “{bone}” has a place that is not a number: look for one in the values of what moves it, and set it anew.",
        bone=bone.name,
    )


def _sized_to_nothing(clip, limbs):
    """A bone of those named that is scaled to nothing in some frame, or None."""
    for bone, pose in zip(clip.bones, clip.poses, strict=True):
        size = np.linalg.norm(pose[:, :3, :3], axis=1)
        if bone.name in limbs and not (size > _NOTHING * max(1.0, float(size.max()))).all():
            return bone
    return None


def _bones(armature, names_of):
    """Bone of each name and all above them, parents first."""
    wanted = set()
    for name in names_of:
        bone = armature.data.bones[name]
        while bone is not None and bone.name not in wanted:
            wanted.add(bone.name)
            bone = bone.parent
    ordered = [bone for bone in armature.data.bones if bone.name in wanted]
    for bone in ordered:
        if np.linalg.det(np.array(bone.matrix_local, float)) == 0.0:  # as Blender 5.3 has it
            raise FootlockError(
                "The bone “{bone}” of “{armature}” has no length: move its tip away from its root in Edit Mode and run"
                " again.",
                bone=bone.name,
                armature=armature.name,
            )
    index = {bone.name: i for i, bone in enumerate(ordered)}
    return tuple(
        kinematics.Bone(
            name=bone.name,
            parent=index[bone.parent.name] if bone.parent else -1,
            rest=np.array(bone.matrix_local, float),
            length=bone.length,
            rotation_mode=armature.pose.bones[bone.name].rotation_mode,
            connected=bone.use_connect,
            inherit_rotation=bone.use_inherit_rotation,
            inherit_scale=bone.inherit_scale,
            local_location=bone.use_local_location,
            follows=any(one.type in PARENTS for one in acting(armature, armature.pose.bones[bone.name])),
        )
        for bone in ordered
    )


def _sampling(armature, bone, paths, frames):
    """Steps to the Channels of a bone; one without curves has a single frame."""
    pose_bone = armature.pose.bones[bone.name]
    channels = []
    for name in ("location", rotation_property(bone), "scale"):
        path = pose_bone.path_from_id(name)
        value = np.array(getattr(pose_bone, name), float)
        columns = list(value)
        for i in range(len(value)):
            if curve := paths.get((path, i)):
                columns[i] = curves.sample(curve, frames)
                yield Step((len(channels) + (i + 1) / len(value)) / 3.0, _READING)
        if all(np.ndim(column) == 0 for column in columns):
            channels.append(value[None])
        else:
            channels.append(np.stack([np.broadcast_to(column, len(frames)) for column in columns], axis=1))
    return kinematics.Channels(*channels)


def _moved_by_more_than_curves(armature, bones):
    """True where the poses or the object's place depend on more than the curves of the bones."""
    moved = {curves.bone_and_property(driver.data_path)[0] for driver in armature.animation_data.drivers}
    moved |= {bone.name for bone in bones if acting(armature, armature.pose.bones[bone.name])}
    return bool(
        moved & {None, *(bone.name for bone in bones)}
        or armature.parent is not None
        or acting(armature, armature)
        or any(path.startswith(_OBJECT_TRANSFORMS) for path, _ in curves.by_path(armature))
        or nla.moves(armature, {bone.name for bone in bones})
    )


def check_keys_move(armature, bones):
    """Raise FootlockError where a bone (by name) that is to be keyed is moved by a constraint or a driver instead."""
    driven = {curves.bone_and_property(driver.data_path)[0] for driver in armature.animation_data.drivers}
    for name in bones:
        found = acting(armature, armature.pose.bones[name])
        if found or name in driven:
            raise FootlockError(
                "Bone “{bone}” is moved by the constraint “{constraint}”, so keys on it would do nothing: {bake}."
                if found
                else "Bone “{bone}” is moved by a driver, so keys on it would do nothing: {bake}.",
                bone=name,
                constraint=found[0].name if found else "",
                bake=BAKE,
            )


def _plausible(bone, leg_length, shares):
    length = float(np.median(rot.length(bone)))
    return shares[0] * leg_length <= length <= shares[1] * leg_length
