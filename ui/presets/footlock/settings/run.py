import bpy

settings = bpy.context.scene.footlock
settings.reset()
settings.smooth_time = 0.02
settings.lower_hips = 0.1
