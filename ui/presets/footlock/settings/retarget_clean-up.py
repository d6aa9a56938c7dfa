import bpy

settings = bpy.context.scene.footlock
settings.reset()
settings.lower_hips = 0.5
settings.stretch = 0.01
settings.result = "NEW"
