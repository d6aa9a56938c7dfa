import bpy

settings = bpy.context.scene.footlock
settings.reset()
settings.lower_hips = 0.05
settings.keep_dips = True
