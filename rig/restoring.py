"""What an armature's animation is before long work on it, so that it can be put back as it was.

Only what such work changes is noted: the keys of the channels that it writes and the values of those without keys,
which curves, groups and modifiers there are, the action in use and the tracks. The rest nobody touches, so it need not
be made anew.
"""

from contextlib import suppress

import bpy

from . import compat, curves, results


def names(armature):
    """What the bones of an armature are called, by where they are in memory."""
    return {bone.as_pointer(): bone.name for bone in armature.pose.bones}


def renamed(armature, before):
    """Old → new name of the bones that had another one in ``names`` before."""
    now = names(armature)
    return {name: now[where] for where, name in before.items() if now.get(where, name) != name}


class Kept:
    """A context that puts an armature's animation back where it is left by an exception, or closed.

    bones: (pose bone, its properties) that are going to be written. Before keys that are there are written, they have
    to be noted; new curves and actions need not be known before.
    """

    def __init__(self, armature, bones=()):
        data = armature.animation_data
        held = compat.channels(armature)
        self._armature, self._keys, self._modifiers = armature, {}, {}
        self._values = [(bone.name, name, tuple(getattr(bone, name))) for bone, names in bones for name in names]
        self._action, self._slot = data.action, compat.slot_handle(armature)
        self._curves = set(curves.all_in(held))
        self._groups = {group.name for group in held.groups} if held else set()
        self._actions = set(bpy.data.actions)
        self._fake_user = data.action is not None and data.action.use_fake_user
        self._tracks, self._use_nla = len(data.nla_tracks), data.use_nla
        self._names, self._renamed = names(armature), {}

    def note(self, curve, names=curves.EVERYTHING):
        """Note what the keys of a curve have, of which that is going to change which ``names`` call."""
        key = curve.data_path, curve.array_index
        if key not in self._curves or self._armature.animation_data.action != self._action:
            return  # it is new, or of a copy
        known = self._keys.setdefault(key, {})
        known.update(curves.attributes(curve.keyframe_points, [name for name in names if name not in known]))
        if key not in self._modifiers:
            self._modifiers[key] = curves.modifiers(curve)

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if kind is not None:
            with suppress(ReferenceError):  # the armature may be gone, and its action still be there
                self._follow_names()
                self._put_back_use()
            self._put_back_curves()

    def _follow_names(self):
        """Bones may have other names by now. Blender renames the curves of an action in use itself."""
        found = renamed(self._armature, self._names)
        self._values = [(found.get(bone, bone), *value) for bone, *value in self._values]
        if self._armature.animation_data.action != self._action:
            self._renamed = found
            return
        for noted in (self._keys, self._modifiers):
            moved = {(curves.renamed(path, found), index): held for (path, index), held in noted.items()}
            noted.clear()
            noted.update(moved)
        self._curves = {(curves.renamed(path, found), index) for path, index in self._curves}
        self._groups = {found.get(group, group) for group in self._groups}

    def _put_back_use(self):
        data = self._armature.animation_data
        used = data.action
        if used != self._action:
            compat.assign(self._armature, self._action, self._slot)
            if used is not None and used not in self._actions:
                bpy.data.actions.remove(used)
        while len(data.nla_tracks) > self._tracks:
            data.nla_tracks.remove(data.nla_tracks[-1])
        if data.use_nla != self._use_nla:
            data.use_nla = self._use_nla
        bones = self._armature.pose.bones
        for bone, name, value in self._values:
            if bone in bones:
                setattr(bones[bone], name, value)
        self._armature.update_tag(refresh={"OBJECT", "DATA", "TIME"})

    def _put_back_curves(self):
        for made in set(bpy.data.actions) - self._actions:
            if results.is_made(made):
                bpy.data.actions.remove(made)
        if self._action is None:
            return
        if self._action.use_fake_user != self._fake_user:
            self._action.use_fake_user = self._fake_user
        held = compat.held_by(self._action, self._slot)
        if held is None:
            return
        for curve in [one for one in held.fcurves if (one.data_path, one.array_index) not in self._curves]:
            held.fcurves.remove(curve)
        for group in [one for one in held.groups if one.name not in self._groups]:
            held.groups.remove(group)
        for (path, index), keys in self._keys.items():
            curve = held.fcurves.find(path, index=index)
            if curve is None:
                continue  # somebody removed it meanwhile
            curves.put_back(curve, keys)
            if curves.modifiers(curve) != self._modifiers[path, index]:
                curves.give_modifiers(curve, self._modifiers[path, index])
        if self._renamed:
            for curve in held.fcurves:
                curves.rename_bone(curve, self._renamed)
        self._action.update_tag()
