# SPDX-License-Identifier: GPL-3.0-or-later
"""Make a file to try Footlock on, out of a recorded walk: a figure whose feet slide, in two scenes.

    python3 tools/blender.py tools/demo.py demo.blend

“Too Fast”: the root travels a quarter too far for its feet. “In Place”: it does not travel at all, as on a treadmill.
The walk is that of tests/data/cmu_131_01.bvh; nothing in the file needs Footlock to be installed.
"""

import os
import re
import sys
from pathlib import Path

import bpy
import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import batch  # noqa: E402

WALK = ROOT / "tests" / "data" / "cmu_131_01.bvh"
SCENES = {"Too Fast": 1.25, "In Place": 0.0}
HELP = """Footlock: a walk whose feet slide.

1. Select the figure's armature, press N, open the tab Footlock.
2. Detect Contacts.
3. Scene “In Place” only: Fit Root to Feet gives the figure its travel back.
4. Remove Sliding. Show Source and Revert go back; Ctrl Z does, too.

Play it (Space) before and after. The motion is from the CMU Graphics Lab Motion Capture Database.
"""
# How thick a limb is, metres: the first whose name fits.
_THICK = (
    ("HipJoint", 0.085), ("lowerback", 0.11), ("Chest", 0.12), ("Head", 0.085), ("[Nn]eck", 0.05), ("Collar", 0.05),
    ("Shoulder", 0.045), ("Elbow", 0.038), ("[Hh]ip", 0.075), ("Knee", 0.052), ("Ankle", 0.04), ("Toe", 0.033),
    ("", 0.026),
)  # fmt: skip
# Along a limb and beyond its ends: (share of its length, how many times its thickness further, thickness).
_PROFILE = (
    (0, -0.92, 0.35), (0, -0.6, 0.8), (0, 0.0, 1.0), (0.5, 0.0, 1.05), (1, 0.0, 0.85), (1, 0.5, 0.7), (1, 0.8, 0.3),
)  # fmt: skip
_SIDES = 14


def main(path):
    """Write the file. Footlock is registered."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    for number, (name, factor) in enumerate(SCENES.items()):
        scene = bpy.context.scene if number == 0 else bpy.data.scenes.new(name)
        scene.name = name
        bpy.context.window.scene = scene
        figure = figure_of(walk(factor))
        stage(scene, figure)
    bpy.context.window.scene = bpy.data.scenes[next(iter(SCENES))]
    bpy.data.texts.new("Read me").write(HELP)
    bpy.ops.wm.save_as_mainfile(filepath=str(Path(path).absolute()), compress=True)


def walk(factor):
    """The armature of the walk in the current scene, the horizontal travel of its root scaled."""
    from footlock.rig import clip, correction, mapping

    bpy.ops.import_anim.bvh(filepath=str(WALK), update_scene_fps=True, update_scene_duration=True)
    armature = bpy.context.object
    armature.name = "Figure"
    correction.scale_travel(armature, clip.read(bpy.context.scene, armature, mapping.find(armature)), factor)
    return armature


def figure_of(armature):
    """Give an armature a body: a mesh of a limb for each bone, which it moves."""
    points, faces, limbs = [], [], {}
    for bone in armature.data.bones:
        if bone.length < 0.02:
            continue
        thickness = next(size for pattern, size in _THICK if re.search(pattern, bone.name))
        limb, around = limb_of(np.array(bone.head_local), np.array(bone.tail_local), min(thickness, 0.6 * bone.length))
        start = sum(len(one) for one in points)
        points.append(limb)
        faces += [tuple(start + i for i in face) for face in around]
        limbs[bone.name] = list(range(start, start + len(limb)))
    mesh = bpy.data.meshes.new("Body")
    mesh.from_pydata(np.concatenate(points).tolist(), [], faces)
    mesh.polygons.foreach_set("use_smooth", np.ones(len(faces), bool))
    mesh.materials.append(material("Body", (0.55, 0.6, 0.68)))
    body = bpy.data.objects.new("Body", mesh)
    bpy.context.collection.objects.link(body)
    body.parent = armature
    for name, vertices in limbs.items():
        body.vertex_groups.new(name=name).add(vertices, 1.0, "REPLACE")
    body.modifiers.new("Armature", "ARMATURE").object = armature
    armature.data.display_type = "STICK"
    return armature


def limb_of(head, tail, thickness):
    """Points (n, 3) and faces of a limb with round ends."""
    along = (tail - head) / np.linalg.norm(tail - head)
    across = np.cross(along, np.eye(3)[np.argmin(np.abs(along))])
    across /= np.linalg.norm(across)
    angle = np.linspace(0.0, 2.0 * np.pi, _SIDES, endpoint=False)[:, None]
    circle = np.cos(angle) * across + np.sin(angle) * np.cross(along, across)
    rings = [
        head + share * (tail - head) + thickness * (beyond * along + wide * circle) for share, beyond, wide in _PROFILE
    ]
    faces = [tuple(range(_SIDES))[::-1], tuple(range((len(rings) - 1) * _SIDES, len(rings) * _SIDES))]
    for ring in range(len(rings) - 1):
        for i in range(_SIDES):
            one, other = ring * _SIDES + i, ring * _SIDES + (i + 1) % _SIDES
            faces.append((one, other, other + _SIDES, one + _SIDES))
    return np.concatenate(rings), faces


def material(name, colour):
    """A material of one colour, in the viewport and rendered."""
    made = bpy.data.materials.get(name) or bpy.data.materials.new(name)
    made.use_nodes = True
    made.diffuse_color = (*colour, 1.0)
    shader = next(node for node in made.node_tree.nodes if node.type == "BSDF_PRINCIPLED")
    shader.inputs["Base Color"].default_value = (*colour, 1.0)
    shader.inputs["Roughness"].default_value = 0.6
    return made


def stage(scene, armature):
    """A floor with a line each quarter of a metre, light, and a camera that goes along."""
    mesh = bpy.data.meshes.new("Floor")
    far, step = 6.0, 0.25
    lines = np.arange(-far, far + step / 2, step)
    points = [p for x in lines for p in ((x, -far, 0.0), (x, far, 0.0), (-far, x, 0.0), (far, x, 0.0))]
    mesh.from_pydata(points, [(i, i + 1) for i in range(0, len(points), 2)], [])
    grid = bpy.data.objects.new("Floor", mesh)
    sun = bpy.data.objects.new("Sun", bpy.data.lights.new("Sun", "SUN"))
    sun.data.energy, sun.rotation_euler = 3.0, (0.6, 0.2, 0.4)
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    camera.location = (4.5, -3.0, 1.4)
    for one in (grid, sun, camera):
        scene.collection.objects.link(one)
    grid.hide_select = True
    look = camera.constraints.new("TRACK_TO")
    look.target, look.subtarget = armature, "lowerback"
    scene.camera = camera
    bpy.context.view_layer.objects.active = armature
    armature.select_set(True)


if __name__ == "__main__":
    own = sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else sys.argv[1:]
    if len(own) != 1 or not own[0].endswith(".blend"):
        print(__doc__.strip())
        os._exit(2)
    batch.load_package().register()
    main(own[0])
    sys.stdout.flush()
    os._exit(0)
