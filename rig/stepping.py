"""Frames of the scene, one after the other, and what Blender's own evaluation has there."""

from contextlib import contextmanager

import numpy as np

from ..solvers.errors import FootlockError
from .stepwise import Step


def stepping(scene, armature, frames, look):
    """Steps that call ``look`` with the index of each of some frames of the scene while it is the one that is
    evaluated; the scene's own is put back at the end. Raises FootlockError where Blender would not move the
    armature."""
    if armature.hide_viewport or not any(armature.name in layer.objects for layer in scene.view_layers):
        raise FootlockError(
            "“{armature}” is disabled in viewports or its collection is excluded, so Blender does not move it:"
            " enable it and run again.",
            armature=armature.name,
        )
    if scene.render.frame_map_old != scene.render.frame_map_new:
        raise FootlockError("The scene's time is remapped: set Old and New under Time Stretching to the same number.")
    with kept_frame(scene):
        for i, frame in enumerate(frames):
            whole = int(np.floor(frame))
            scene.frame_set(whole, subframe=min(float(frame - whole), 0.99999))
            look(i)
            yield Step((i + 1) / len(frames), "reading frames")


def posing(scene, armature, bones, frames, conditions):
    """Poses of each bone and the armature's world matrices (n, 4, 4), and the influences (n,) of constraints, (bone,
    constraint), by evaluating every frame."""
    poses = np.empty((len(bones), len(frames), 4, 4))
    world = np.empty((len(frames), 4, 4))
    pose_bones = [armature.pose.bones[bone.name] for bone in bones]
    deciding = [armature.pose.bones[bone].constraints[name] for bone, name in conditions]
    influences = np.zeros((len(conditions), len(frames)))

    def look(i):
        world[i] = armature.matrix_world
        for j, pose_bone in enumerate(pose_bones):
            poses[j, i] = pose_bone.matrix
        influences[:, i] = [0.0 if one.mute else one.influence for one in deciding]

    yield from stepping(scene, armature, frames, look)
    return tuple(poses), world, dict(zip(conditions, influences, strict=True))


@contextmanager
def kept_frame(scene):
    """The scene's frame, put back at the end."""
    frame, subframe = scene.frame_current, scene.frame_subframe
    try:
        yield
    finally:
        scene.frame_set(frame, subframe=subframe)
