"""An object of the scene as the ground: its height under a foot, by rays along gravity."""

import numpy as np
from mathutils.bvhtree import BVHTree

from ..solvers.errors import FootlockError

# Rays start so far above the object (metres).
_ABOVE = 1.0
# A triangle whose normal rises by less than this is a wall.
_WALL = 0.05


class ObjectSurface:
    """The evaluated mesh of an object as it is in the current frame, in metres. The ground is the highest face over a
    place: a clip that walks on the level knows nothing of how high the ground will be where it goes."""

    def __init__(self, scene_object, depsgraph, unit):
        """unit: metres of one unit of the scene. Raises FootlockError for an object without faces, or one whose shape
        Blender does not work out."""
        self._name = scene_object.name
        if not any(one.original == scene_object for one in depsgraph.ids):
            raise FootlockError(
                "The floor “{name}” is disabled in viewports or its collection is excluded, so Blender does"
                " not work out its shape: enable it.",
                name=self._name,
            )
        evaluated = scene_object.evaluated_get(depsgraph)
        try:
            mesh = evaluated.to_mesh()
        except RuntimeError:
            mesh = None
        if mesh is None or not len(mesh.polygons):
            raise FootlockError(
                "“{name}” has no faces to stand on: choose a mesh as the floor.", name=scene_object.name
            )
        world = np.array(evaluated.matrix_world, float)
        points = np.empty(3 * len(mesh.vertices), np.float32)
        mesh.vertices.foreach_get("co", points)
        mesh.calc_loop_triangles()
        corners = np.empty(3 * len(mesh.loop_triangles), np.int32)
        mesh.loop_triangles.foreach_get("vertices", corners)
        evaluated.to_mesh_clear()
        points = (points.reshape(-1, 3) @ world[:3, :3].T + world[:3, 3]) * unit
        self._top = float(points[:, 2].max()) + _ABOVE
        self._tree = BVHTree.FromPolygons(points.tolist(), corners.reshape(-1, 3).tolist(), all_triangles=True)

    def check_under(self, points):
        """Raise FootlockError where there is nothing under any of the points (n, 3)."""
        if len(points) and np.isnan(self.sample(points)[0]).all():
            raise FootlockError(
                "The floor “{name}” is nowhere under the feet: move it, or choose another object.", name=self._name
            )

    def sample(self, points):
        """See ``solvers.ground.Surface``."""
        heights, normals = np.full(len(points), np.nan), np.tile([0.0, 0.0, 1.0], (len(points), 1))
        cast = self._tree.ray_cast
        for i, (x, y, _) in enumerate(points.tolist()):
            hit, normal, _, _ = cast((x, y, self._top), (0.0, 0.0, -1.0))
            if hit is None:
                continue
            heights[i] = hit.z
            if abs(normal.z) > _WALL:
                normals[i] = normal if normal.z > 0.0 else -normal
        return heights, normals
