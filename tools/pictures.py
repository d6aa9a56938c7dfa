# SPDX-License-Identifier: GPL-3.0-or-later
"""Make the README's picture of a walk before and after, out of the recorded walk, by the two buttons.

    python3 tools/blender.py tools/pictures.py docs

Writes before_after.jpg: a step of the figure of tools/demo.py, drawn at four moments of one contact. Needs Cycles. (The
pictures of the panel and the overlay are screenshots of tests/window.)
"""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import bpy  # noqa: I001  first: the module has bmesh and mathutils
import bmesh
import demo
import numpy as np
from mathutils import Vector

MOMENTS = 4
SIZE = 1200, 440
# The limbs that are drawn: nothing above the hips.
_LEGS = ("HipJoint", "LeftHip", "RightHip", "Knee", "Ankle", "Toe")
_PALE, _STRONG = (0.16, 0.18, 0.21), {"before": (0.8, 0.09, 0.03), "after": (0.01, 0.2, 0.6)}


def main(folder):
    demo.batch.load_package().register()
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    armature = demo.figure_of(demo.walk(demo.SCENES["Too Fast"]))
    bpy.ops.footlock.detect_contacts()
    leg, start, stop = furthest_slide(armature)
    frames = np.linspace(start, stop, MOMENTS).astype(int)
    way = point(armature, "Hips", stop) - point(armature, "Hips", start)
    across = np.array([way[1], -way[0], 0.0]) / np.linalg.norm(way[:2])
    ghosts, targets = {}, {}
    for name in _STRONG:
        ghosts[name] = drawn(armature, leg, frames, name)
        targets[name] = np.mean([toe(armature, leg, frame) for frame in frames], axis=0)
        if name == "before":
            bpy.ops.footlock.remove_sliding()
    armature.hide_render = True
    next(one for one in armature.children if one.type == "MESH").hide_render = True
    pictures = []
    for name in _STRONG:
        for other, ones in ghosts.items():
            for one in ones:
                one.hide_render = other != name
        path = Path(folder) / f"{name}.png"
        rendered(path, targets[name], across)
        pictures.append(pixels(path))
        path.unlink()
    stacked = np.concatenate([pictures[1], np.ones((6, SIZE[0], 4), np.float32), pictures[0]])  # from below
    image = bpy.data.images.new("both", SIZE[0], len(stacked))
    image.pixels.foreach_set(stacked.ravel())
    image.filepath_raw, image.file_format = str(Path(folder).absolute() / "before_after.jpg"), "JPEG"
    image.save(quality=88)


def furthest_slide(armature):
    """(index of the leg, first, last frame) of the contact in whose frames the toe goes furthest."""
    from footlock.rig import contact_property, mapping

    scene, found = bpy.context.scene, []
    frames = range(scene.frame_start, scene.frame_end + 1)
    for number, leg in enumerate(mapping.find(armature).legs):
        held, at = [], []
        for frame in frames:
            at.append(toe(armature, number, frame))
            held.append(armature.pose.bones[leg.toe]["contact"] > contact_property.LEVEL)
        edges = np.flatnonzero(np.diff(np.concatenate([[False], held, [False]]).astype(int)))
        for first, stop in edges.reshape(-1, 2):
            if stop - first < 120:  # a step, and not where it stands about
                found.append((np.linalg.norm(at[stop - 1] - at[first]), number, frames[first], frames[stop - 1]))
    return max(found)[1:]


def toe(armature, leg, frame):
    from footlock.rig import mapping

    return point(armature, mapping.find(armature).legs[leg].toe, frame)


def point(armature, bone, frame):
    """Where a bone begins in a frame, world (3,)."""
    bpy.context.scene.frame_set(int(frame))
    return np.array(armature.matrix_world @ armature.pose.bones[bone].head)


def drawn(armature, leg, frames, name):
    """A still of the body at each frame, the foot that stands in a strong colour."""
    from footlock.rig import mapping

    body = next(one for one in armature.children if one.type == "MESH")
    found, limbs = [], mapping.find(armature).legs[leg]
    strong = {group.index for group in body.vertex_groups if group.name in (limbs.foot, limbs.toe)}
    drawn = {group.index for group in body.vertex_groups if group.name.endswith(_LEGS)}
    for number, frame in enumerate(frames):
        bpy.context.scene.frame_set(int(frame))
        seen = body.evaluated_get(bpy.context.evaluated_depsgraph_get())
        mesh = bpy.data.meshes.new_from_object(seen)
        mesh.transform(body.matrix_world)
        share = 0.3 + 0.7 * number / (len(frames) - 1)
        mesh.materials.clear()
        mesh.materials.append(demo.material(f"pale {number}", tuple(1.0 - share * (1.0 - c) for c in _PALE)))
        mesh.materials.append(demo.material(name, _STRONG[name]))
        of = [{group.group for group in vertex.groups} for vertex in body.data.vertices]
        for face in mesh.polygons:
            face.material_index = int(bool(of[face.vertices[0]] & strong))
        made = bmesh.new()
        made.from_mesh(mesh)
        made.verts.ensure_lookup_table()
        bmesh.ops.delete(made, geom=[made.verts[i] for i, own in enumerate(of) if not own & drawn], context="VERTS")
        made.to_mesh(mesh)
        made.free()
        ghost = bpy.data.objects.new(f"{name} {frame}", mesh)
        bpy.context.collection.objects.link(ghost)
        found.append(ghost)
    return found


def rendered(path, target, across):
    """Look at the legs from the side, where ``across`` (3,) points, level with the hips."""
    scene = bpy.context.scene
    if scene.camera is None:
        floor = bpy.data.meshes.new("Plane")
        far = 60.0
        floor.from_pydata([(-far, -far, 0), (far, -far, 0), (far, far, 0), (-far, far, 0)], [], [(0, 1, 2, 3)])
        floor.materials.append(demo.material("Plane", (0.6, 0.6, 0.6)))
        along = np.cross([0.0, 0.0, 1.0], across)
        bars = [bar(target + 0.1 * number * along, across, along, number) for number in range(-12, 13)]
        sun = bpy.data.objects.new("Sun", bpy.data.lights.new("Sun", "SUN"))
        sun.data.energy, sun.data.angle = 2.4, 0.2
        sun.rotation_euler = Vector(0.5 * across - 0.2 * along + [0.0, 0.0, 1.0]).to_track_quat("Z", "Y").to_euler()
        scene.camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
        scene.camera.data.lens = 70.0
        for one in (bpy.data.objects.new("Plane", floor), *bars, sun, scene.camera):
            scene.collection.objects.link(one)
        scene.world = bpy.data.worlds.new("Sky")
        scene.world.use_nodes = True
        sky = next(node for node in scene.world.node_tree.nodes if node.type == "BACKGROUND")
        sky.inputs[0].default_value, sky.inputs[1].default_value = (0.9, 0.95, 1.0, 1.0), 0.45
    camera, aim = scene.camera, Vector((target[0], target[1], 0.34))
    camera.location = aim + Vector(4.6 * across) + Vector((0.0, 0.0, 1.1))
    camera.rotation_euler = (aim - camera.location).to_track_quat("-Z", "Y").to_euler()
    scene.render.engine = "CYCLES"
    scene.cycles.samples, scene.cycles.use_denoising = 24, True
    scene.view_settings.view_transform = "Standard"
    scene.render.resolution_x, scene.render.resolution_y = SIZE
    scene.render.filepath = str(path)
    bpy.ops.render.render(write_still=True)


def bar(middle, across, along, number):
    """A line over the floor; each fifth is a wide one."""
    wide = (0.003 if number % 5 else 0.008) * along
    mesh = bpy.data.meshes.new("Bar")
    middle = middle * (1.0, 1.0, 0.0) + (0.0, 0.0, 1e-3)
    corners = [middle + 0.55 * one * across + other * wide for one, other in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
    mesh.from_pydata(np.array(corners).tolist(), [], [(0, 1, 2, 3)])
    mesh.materials.append(demo.material("Bar", (0.2, 0.2, 0.2)))
    return bpy.data.objects.new("Bar", mesh)


def pixels(path):
    """(height, width, 4), from below."""
    image = bpy.data.images.load(str(path))
    values = np.empty(len(image.pixels), np.float32)
    image.pixels.foreach_get(values)
    return values.reshape(SIZE[1], SIZE[0], 4)


if __name__ == "__main__":
    own = sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else sys.argv[1:]
    if len(own) != 1 or not Path(own[0]).is_dir():
        print(__doc__.strip())
        os._exit(2)
    main(own[0])
    sys.stdout.flush()
    os._exit(0)
