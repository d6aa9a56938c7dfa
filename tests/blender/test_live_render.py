"""Live lock: what is rendered is what is played."""

import tempfile

import bpy
import numpy as np
from blender.live_clips import LiveCase, channels, differ, sliding_walk, switch

from footlock.rig import live, mapping


class Rendered(LiveCase):
    """An animation that is rendered shows what is played, of the legs and of all else: Blender renders from data of its
    own, which has to be told all of it."""

    SIZE, WIDTH = 64, 2.4

    def mark(self, armature, bone, colour):
        """A glowing cube at a bone, as seen by the camera in one of the colours."""
        mesh = bpy.data.meshes.new(bone)
        corners = [(x, y, z) for x in (-0.05, 0.05) for y in (-0.05, 0.05) for z in (-0.05, 0.05)]
        faces = [(0, 1, 3, 2), (4, 5, 7, 6), (0, 1, 5, 4), (2, 3, 7, 6), (0, 2, 6, 4), (1, 3, 7, 5)]
        mesh.from_pydata(corners, [], faces)
        material = bpy.data.materials.new(bone)
        material.use_nodes = True
        nodes = material.node_tree.nodes
        nodes.clear()
        glow, out = nodes.new("ShaderNodeEmission"), nodes.new("ShaderNodeOutputMaterial")
        glow.inputs[0].default_value = colour
        material.node_tree.links.new(glow.outputs[0], out.inputs[0])
        mesh.materials.append(material)
        marked = bpy.data.objects.new(bone, mesh)
        bpy.context.scene.collection.objects.link(marked)
        constraint = marked.constraints.new("COPY_LOCATION")
        constraint.target, constraint.subtarget = armature, bone

    def seen(self, path, centre):
        """Where the two marks are in a picture, (2, 2), metres."""
        image = bpy.data.images.load(path)
        pixels = np.array(image.pixels[:]).reshape(self.SIZE, self.SIZE, 4)
        bpy.data.images.remove(image)
        places = []
        for channel in (0, 1):
            weight = np.where(pixels[..., channel] > 0.02, pixels[..., channel], 0.0)
            y, x = (np.indices(weight.shape) * weight).reshape(2, -1).sum(axis=1) / weight.sum()
            places.append(((np.array([x, y]) + 0.5) / self.SIZE - 0.5) * self.WIDTH + centre)
        return places

    def test_animation(self):
        armature, scene = sliding_walk(), bpy.context.scene
        toe, wrist = mapping.stored(armature).legs[1].toe, "LeftWrist"
        scene.footlock.lock_distance, scene.footlock.blend_time = 1.0, 0.1
        for bone, colour in ((toe, (1.0, 0.0, 0.0, 1.0)), (wrist, (0.0, 1.0, 0.0, 1.0))):
            self.mark(armature, bone, colour)
        scene.frame_set(50)
        centre = np.array(armature.matrix_world @ armature.pose.bones[toe].head)[:2]
        camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
        scene.collection.objects.link(camera)
        camera.data.type, camera.data.ortho_scale, camera.location = "ORTHO", self.WIDTH, (*centre, 5.0)
        scene.camera, scene.view_settings.view_transform = camera, "Raw"
        try:
            scene.render.engine = "CYCLES"
        except TypeError:
            self.skipTest("this Blender has no Cycles, which is what renders without a graphics card")
        scene.cycles.device, scene.cycles.samples, scene.cycles.use_denoising = "CPU", 8, False
        scene.render.resolution_x = scene.render.resolution_y = self.SIZE
        scene.frame_start, scene.frame_end = 20, 60
        frames = range(20, 61)

        def heads():
            rows = []
            for frame in frames:
                scene.frame_set(frame)
                rows.append([(armature.matrix_world @ armature.pose.bones[bone].head)[:2] for bone in (toe, wrist)])
            return np.array(rows)

        sliding = heads()
        scene.frame_set(20)
        switch()
        standing = heads()
        self.assertGreater(np.abs(sliding - standing)[:, 0].max(), 0.02)
        scene.frame_set(200)
        before = channels(armature)
        with tempfile.TemporaryDirectory() as folder:
            scene.render.filepath = f"{folder}/"
            bpy.ops.render.render(animation=True)
            seen = np.array([self.seen(f"{folder}/{frame:04d}.png", centre) for frame in frames])
        self.assertLess(np.abs(seen - standing).max(), 0.01)
        self.assertEqual(scene.frame_current, 200)
        bpy.context.view_layer.update()
        self.assertEqual(differ(channels(armature), before), [])
        self.assertTrue(live.is_on(armature))
