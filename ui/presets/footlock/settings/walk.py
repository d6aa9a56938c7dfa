import bpy

settings = bpy.context.scene.footlock
settings.reset()
