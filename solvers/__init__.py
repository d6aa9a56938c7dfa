"""Foot locking on plain arrays: numpy and the standard library, nothing of Blender.

Space: world, z up, metres, seconds, radians; quaternions (w, x, y, z), unit length. Frames come first: ``(frames,
legs, 3)``. Arguments are never written to. Shapes are checked at the public edge; wrong ones raise ``ValueError``.

The method is Daniel Holden's article "Inverse Kinematics and Foot Locking" (The Orange Duck); each module says where
it departs from it.
"""
