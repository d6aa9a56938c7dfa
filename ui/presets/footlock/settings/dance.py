import bpy

settings = bpy.context.scene.footlock
settings.reset()
settings.keep_path = 0.5
settings.lower_hips = 0.3
