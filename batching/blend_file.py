"""A .blend file in the batch: the actions that are in use, or those that are named, each as a clip of its own."""

from pathlib import Path

import bpy
import numpy as np

from ..rig import compat, controls, correction, curves, mapping, nla, nla_bake, standing
from ..solvers.errors import FootlockError
from ..solvers.wording import Said
from . import choosing
from .choosing import LEAST_FRAMES, Shot


class BlendFile:
    """A .blend file: a clip of each animated armature in it, or of each action that is asked for."""

    spoiled = True

    def __init__(self, source, options):
        _open(source)
        self._source = source
        # Of all actions, one may fail without the others.
        self.separate = bool(options.action)
        self.left, self._before = [], {}
        self.read = [Path(bpy.path.abspath(one.filepath)) for one in bpy.data.libraries]
        if options.action:
            self.shots = self._of_actions(options)
        else:
            self.shots = _in_use(source, options)

    def begin(self, shot, unit):
        """See BvhFile."""
        if shot.key:
            _assign(shot.armature, *shot.key)
            standing.put(shot.armature, self._before[shot.armature][1])

    def finish(self, shot, done):
        """See BvhFile."""
        if shot.key:
            used, stood = self._before[shot.armature]
            _use(shot.armature, used)
            standing.put(shot.armature, stood)

    def _of_actions(self, options):
        """A Shot of each action that is asked for and moves legs; what is said of the others is in ``left``."""
        found, problem = [], None
        for scene, armature in _armatures(self._source, options):
            data = armature.animation_data
            if armature.library is not None:
                problem = FootlockError(
                    "“{armature}” is linked from another file: run on that file.", armature=armature.name
                )
                continue
            if data is not None and data.use_tweak_mode:
                problem = FootlockError(
                    "A strip of “{armature}” is being tweaked: leave tweak mode (Tab in the NLA Editor), and save the"
                    " file.",
                    armature=armature.name,
                )
                continue
            try:
                found.append((scene, armature, mapping.of(armature)))
            except FootlockError as error:
                problem = error
        if not found:
            raise problem or FootlockError("“{file}” has no armature: choose another file.", file=self._source.name)
        chosen = choosing.actions(bpy.data.actions, options.action, self._source)
        for _, armature, _ in found:
            self._before[armature] = _used(armature), standing.read(armature)
        shots = [shot for action in chosen for shot in self._shots(action, found)]
        if not shots:
            why = self.left[0]
            raise FootlockError(
                "No action of “{file}” can be corrected (“{action}” {why}): check --action and --armature.",
                file=self._source.name,
                action=why["action"],
                why=why["left_alone"],
            )
        return shots

    def _shots(self, action, found):
        """A Shot of each slot of an action that moves the legs of one of the armatures ``found``."""
        if action.library is not None:
            return self._leave(action, Said("is linked from another file"))
        shots, slots = [], compat.object_slots(action)
        for handle, slot in slots:
            held = compat.held_by(action, handle)
            keyed = [curve for curve in (held.fcurves if held else ()) if len(curve.keyframe_points)]
            bones = {curves.bone_and_property(curve.data_path)[0] for curve in keyed} - {None}
            ranked = sorted(
                (one for one in found if any(name in one[1].pose.bones for name in bones)),
                key=lambda one: self._rank(one[1], action, handle, bones),
            )
            mover = next((one for one in ranked if self._moves(one, action, handle, bones)), None)
            if mover is None:
                continue
            name = f"{action.name} ({slot})" if len(slots) > 1 else action.name
            span = np.array([curve.range() for curve in keyed])
            if span[:, 1].max() - span[:, 0].min() < LEAST_FRAMES - 1:
                self._leave(action, Said("is a pose of fewer than {count} frames", count=LEAST_FRAMES))
                continue
            shots.append(Shot(*mover, name, (action, handle)))
        if not shots and not any(one["action"] == action.name for one in self.left):
            return self._leave(action, Said("moves no leg"))
        return shots

    def _leave(self, action, why):
        self.left.append({"action": action.name, "left_alone": why})
        return []

    def _rank(self, armature, action, handle, bones):
        """What is least for the armature that an action is of: it plays it, or has the bones that it moves."""
        played = [(strip.action, compat.strip_slot(strip)) for strip in nla.live_strips(armature.animation_data)]
        use = 0 if self._before[armature][0] == (action, handle) else 1 if (action, handle) in played else 2
        return use, -sum(name in armature.pose.bones for name in bones)

    def _moves(self, one, action, handle, bones):
        """True where an action moves legs of an armature, by themselves or by what drives them."""
        _, armature, legs = one
        moved = {legs.pelvis, *(name for leg in legs.legs for name in leg.bones)}
        if bones & moved:
            return True
        _assign(armature, action, handle)
        driven_by = controls.found(armature, legs)
        drivers = {bone.name for bone, _ in correction.keyed(armature, legs, driven_by)} if driven_by else set()
        _use(armature, self._before[armature][0])
        return bool(bones & drivers)


def _used(armature):
    """(action, handle of the slot) that an armature uses; None where it has no data of animation."""
    data = armature.animation_data
    return None if data is None else (data.action, compat.slot_handle(armature))


def _assign(armature, action, handle):
    if armature.animation_data is None:
        armature.animation_data_create()
    compat.assign(armature, action, handle)


def _use(armature, used):
    """Have an armature use again what ``_used`` has found."""
    if used is None:
        armature.animation_data_clear()
    else:
        compat.assign(armature, *used)


def _open(source):
    try:
        bpy.ops.wm.open_mainfile(filepath=str(source), load_ui=False, use_scripts=False)
    except RuntimeError as error:
        raise FootlockError(
            "“{file}” cannot be opened by Blender {version}: it is damaged, or saved by a newer one; save it again by"
            " this version or an older one.",
            file=source.name,
            version=bpy.app.version_string,
        ) from error


def _armatures(source, options):
    """(scene, armature) of those that are meant, each once for each scene."""
    found = [(scene, one) for scene in bpy.data.scenes for one in scene.objects if one.type == "ARMATURE"]
    chosen = choosing.armatures(list(dict.fromkeys(one for _, one in found)), options.armature, source)
    return [(scene, one) for scene, one in found if one in chosen]


def _in_use(source, options):
    """A Shot of each animated character. What NLA strips play becomes an action, where that is asked for."""
    found, problem, seen = [], None, set()
    for scene, armature in _armatures(source, options):
        if armature.animation_data is None:
            continue
        if armature.animation_data.action is None and nla_bake.can(armature):
            if not options.bake_nla:
                problem = FootlockError(
                    "“{armature}” has no action, for NLA strips move it: run with --bake-nla.",
                    armature=armature.name,
                )
                continue
            nla_bake.bake(scene, armature)
        if armature.animation_data.action is None:
            continue
        # An action that several objects or scenes show is corrected once, and each of its copies.
        key = armature.animation_data.action, compat.slot_name(armature)
        if options.result != "in-place":
            key = (*key, armature)
        if key in seen:
            continue
        seen.add(key)
        try:
            found.append(Shot(scene, armature, mapping.of(armature), armature.animation_data.action.name))
        except FootlockError as error:
            problem = error
    if not found:
        raise problem or FootlockError(
            "“{file}” has no armature with an action: save one with the animation assigned.", file=source.name
        )
    return found
