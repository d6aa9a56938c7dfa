"""Armature and animation data: the only place that reads or writes it."""
