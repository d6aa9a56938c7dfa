"""Fuzz cases of actions and rigs: each button ends in a correct result or in one clear sentence, and leaves alone what
is not its own."""

import json
from contextlib import ExitStack, contextmanager, suppress
from unittest import mock

import bpy
import numpy as np
from blender import rigs
from fuzz import characters
from fuzz.characters import chosen
from fuzz.odd_bytes import mutated, odd_labels

from footlock.operators import remove_sliding
from footlock.rig import clip as clips
from footlock.rig import compat, controls, correction, curves, live, mapping, presets, root, trail_cache
from footlock.solvers.errors import FootlockError

# Shares of a leg's length: by how much planted toes may slide more than before from frame to frame, and how far bones
# may change their length. Blender poses in single precision.
_SLIDES, _LENGTH, _EVEN = 1e-3, 1e-4, 1e-5


def case(seed, folder):
    """A character, something wrong with it, and one or two buttons."""
    rng = np.random.default_rng(seed)
    frames = np.arange(1.0, float(rng.integers(12, 33)))
    armature = characters.made(rng, frames)
    characters.beside(rng)
    for _ in range(chosen(rng, (0, 0, 1, 1, 1, 2, 3))):
        print("damage:", characters.damage(rng, armature))
    rigs.set_frame(bpy.context.scene, float(chosen(rng, list(frames))))
    bpy.context.view_layer.update()
    ends = []
    with mock.patch.object(presets, "_folder", lambda: folder / "presets"):
        for _ in range(chosen(rng, (1, 1, 2))):
            name, arguments = chosen(rng, _BUTTONS)(rng, armature, folder)
            ends.append(_pressed(armature, name, arguments))
    if live.is_on(armature):
        live.stop(armature)
    return " ".join(ends)


def _pressed(armature, name, arguments):
    """Press a button; how that ends, in a word."""
    before, used, removals = held(), _used(armature), []
    with ExitStack() as stack:
        stack.enter_context(_seen(removals, armature))
        said = stack.enter_context(rigs.reports())
        print(f"footlock.{name} {arguments}")
        try:
            ended = getattr(bpy.ops.footlock, name)(**arguments)
        except RuntimeError as error:
            text = str(error).strip()
            _check_sentence(text)
            _check_same(before, held(), lambda key: False)
            return f"{name}:poll" if "poll()" in text else f"{name}:refused"
    assert ended == {"FINISHED"}, ended
    for text in said:
        _check_sentence(text)
    _check_same(before, held(), _own(armature, before, used))
    for removal in removals:
        _check_removal(armature, *removal)
    trail_cache.refresh(bpy.context.scene, armature, step=True)
    return f"{name}:done"


def _check_sentence(text):
    text = str(text).strip()
    assert text, "nothing is said"
    assert "Traceback" not in text, text
    assert len(text.splitlines()) == 1 or "poll()" in text, text
    assert len(text) < 1500, text


def held():
    """All that is in the file, by keys: see ``rigs.everything``, and what stands in channels and on objects."""
    state = {key: repr(value) for key, value in rigs.everything().items()}
    for one in bpy.data.objects:
        data = one.animation_data
        state[("place", one.name)] = repr((one.matrix_basis[:], one.parent, one.lock_location[:], one.scale[:]))
        if data is not None:
            state[("nla", one.name)] = repr([
                (track.name, track.mute, [(strip.name, strip.frame_start, strip.frame_end) for strip in track.strips])
                for track in data.nla_tracks
            ])  # fmt: skip
            state[("drivers", one.name)] = repr([driver.data_path for driver in data.drivers])
        if one.type == "ARMATURE":
            animated = {curve.data_path for curve in compat.fcurves(one)} if data and data.action else set()
            for bone in () if data and len(data.nla_tracks) else one.pose.bones:
                for channel in ("location", "rotation_quaternion", "rotation_euler", "rotation_axis_angle", "scale"):
                    if bone.path_from_id(channel) not in animated:
                        state[("channel", one.name, bone.name, channel)] = repr(tuple(getattr(bone, channel)))
    for one in bpy.data.armatures:
        state[("data", one.name)] = repr((one.pose_position, [
            (bone.name, bone.parent and bone.parent.name, bone.matrix_local[:], bone.length, bone.use_connect)
            for bone in one.bones
        ]))  # fmt: skip
    for one in bpy.data.meshes:
        state[("mesh", one.name)] = repr([tuple(v.co) for v in one.vertices])
    for one in bpy.data.actions:
        state[("markers", one.name)] = repr([(m.name, m.frame) for m in one.pose_markers])
        state[("fake", one.name)] = repr((one.use_fake_user, sorted(one.keys())))
    scene = bpy.context.scene
    state["scene"] = repr((scene.frame_start, scene.frame_end, scene.render.fps_base, len(bpy.data.objects)))
    return state


def _check_same(before, after, own):
    """Nothing differs but what is the button's own, by its key."""
    for key in before.keys() | after.keys():
        if key[0] == "channel" and not (key in before and key in after):
            continue  # a key more or less for it
        if before.get(key) != after.get(key) and not own(key):
            raise AssertionError(f"{key} changed:\n  {str(before.get(key))[:300]}\n  {str(after.get(key))[:300]}")


def _used(armature):
    data = armature.animation_data
    return {data.action.name} if data and data.action else set()


def _own(armature, before, used_before):
    """A function that says whether a button may change what has a key."""
    keyed, bearers, used = _keyed(armature), set(), _used(armature)
    with suppress(FootlockError):
        bearers = {leg.bearer for leg in mapping.of(armature).legs}
    actions = {key[1] for key in before if key[0] == "action"}

    def own(key):
        kind, name = key[0], key[1] if len(key) > 1 else ""
        if name.startswith(".") and kind in ("action", "curve", "groups", "markers", "fake"):
            return True  # a source, which goes with its result
        if kind == "legs":
            return name == armature.name or bpy.data.objects[name].data is armature.data
        if kind in ("object", "nla"):
            return name == armature.name
        if kind == "curve":
            bone, channel = curves.bone_and_property(key[3])
            if name in actions and name not in used:
                return False
            return name not in actions or (bone, channel) in keyed or (bone in bearers and '["contact' in channel)
        if kind == "fake":  # an action that is kept beside its copy
            return name in used | used_before or name not in actions
        if kind in ("action", "groups", "markers"):
            return name in used or name not in actions or kind == "action"
        if kind == "bone":  # others that play the same action show the same
            return bool(used & _used(bpy.data.objects[name])) and key[2] in bearers
        return kind == "channel" and name == armature.name and key[2:] in keyed

    return own


def _keyed(armature):
    """(bone, channel) of all that a correction may key."""
    found = set()
    with suppress(FootlockError):
        legs = mapping.of(armature)
        above = armature.data.bones[legs.pelvis].parent_recursive
        carriers = [legs.pelvis, legs.carrier, *(bone.name for bone in above), *root.tops(armature)]
        found |= {(bone, "location") for bone in carriers}
        driven_by = controls.of(armature, legs)
        found |= {(bone.name, name) for bone, names in correction.keyed(armature, legs, driven_by) for name in names}
    return found


@contextmanager
def _seen(removals, armature):
    """Keep each Removal, and where Blender had the joints of the legs before it."""
    removing = remove_sliding.removing

    def seen(scene, one, legs, *arguments, **options):
        source = None
        if one is armature:
            try:
                source = _Measured(armature, clips.read(scene, armature, legs, 0.0))
            except Exception:
                source = None
        done = yield from removing(scene, one, legs, *arguments, **options)
        if source is not None and source.comparable(done.clip):
            settings, extent = arguments[0], arguments[3]
            # A lock may still be on its way, and a planted foot has to travel to a pose that stays.
            travels = settings.method == "runtime" or extent.pin_first or extent.pin_last
            removals.append((source, done, travels))
        return done

    with mock.patch.object(remove_sliding, "removing", seen):
        yield


class _Measured:
    """Where Blender itself has the joints of a clip's legs: (frames, legs, 5, 3), world."""

    def __init__(self, armature, clip):
        self.frames, self.legs = clip.scene_frames, clip.legs
        self.joints = [clip.joint_bones(leg) for leg in clip.legs.legs]
        self.points = self.read(armature)

    def read(self, armature):
        scene = bpy.context.scene
        stood = scene.frame_current, scene.frame_subframe
        bones = [bone for leg in self.joints for bone, _ in leg]
        heads, tails = rigs.evaluated(armature, self.frames, bones)
        at_tail = np.array([tail for leg in self.joints for _, tail in leg])[:, None]
        scene.frame_set(stood[0], subframe=stood[1])
        return np.where(at_tail, tails, heads).reshape(len(self.frames), len(self.joints), 5, 3)

    def comparable(self, clip):
        """Whether the correction began with what was measured, and not with a source that was kept."""
        return np.array_equal(self.frames, clip.scene_frames)


def _lengths(points):
    return np.linalg.norm(np.diff(points[:, :, :4], axis=2), axis=-1)


def _check_removal(armature, source, done, travels):
    """Planted toes slide no more than they did, but where they have to travel; bones keep their lengths, and nothing
    moves where nothing is planted; all as Blender has it."""
    old, new = source.points, source.read(armature)
    assert np.isfinite(new).all(), "points that are no numbers"
    precision = 8.0 * np.finfo(np.float32).eps * max(np.abs(old).max(), np.abs(new).max())
    leg = float(np.median(_lengths(old)[:, :, :2].sum(axis=2)))
    moved = np.abs(new - old).max()
    if not (done.weights > 0.0).any():
        assert moved <= 1e-5 * leg + precision, f"{moved} of {leg} though nothing is planted"
        return
    steps_old, steps_new = (np.linalg.norm(np.diff(one[:, :, 3], axis=0), axis=-1) for one in (old, new))
    planted = done.labels & ~done.out_of_reach
    both = planted[1:] & planted[:-1]
    slid = [(steps * both).sum(axis=0) for steps in (steps_old, steps_new)]
    allowed = slid[0] + (_SLIDES * leg + precision) * np.maximum(both.sum(axis=0), 1)
    assert travels or (slid[1] <= allowed).all(), f"slide {slid[0]} becomes {slid[1]}, leg {leg}; {done.notes}"
    even = (
        np.ptp(_lengths(old), axis=0) < _EVEN * leg
    )  # scale that is animated, or uneven, gives others to turned bones
    changed = np.abs(_lengths(new) - _lengths(old)).max(axis=0)[even].max(initial=0.0)
    assert changed <= _LENGTH * leg + precision, f"lengths change by {changed} of {leg}"


def _some(rng, **options):
    """Some of the arguments, each one of several."""
    return {name: chosen(rng, values) for name, values in options.items() if rng.random() < 0.25}


def _remove(rng, armature, folder):
    return "remove_sliding", _some(
        rng, method=("offline", "runtime"), keep_path=(0.0, 1.0, 0.5), lower_hips=(0.0, 1.0), hold_heading=(True,),
        smooth_time=(0.0, 0.2, 1.0), softening=(0.0, 0.05, 10.0), ground=("REST", "HEIGHT", "OBJECT"),
        cyclic=(True, False, False), pin_first=(True,), pin_last=(True,), keys=("SOURCE", "REDUCED"),
        keep_dips=(True,), unit=(0.0, 0.0, 1e3),
        solve_range=(True,), solve_start=(1, 5, -100), solve_end=(20, 4, 1_000_000), result=("NEW", "LAYER"),
        ground_height=(0.0, 0.5, -1e5), ground_object=("Floor", "Floor", "Above", ""), follow_slope=(0.0,),
    )  # fmt: skip


def _detect(rng, armature, folder):
    return "detect_contacts", _some(
        rng, mode=("AUTO", "THRESHOLD"), velocity=(0.0, 1e3), height=(0.0, 1e3), vote=(0.0, 10.0), bake=(True,),
        auto_velocity=(True,), auto_height=(True,), replace_edited=(True,), use_range=(True,), range_start=(-5, 5),
        range_end=(4, 10**6), smoothing=(0.1, 10.0), auto_floor=(False,), floor=(1e5,), unit=(1e3, 1e-3),
    )  # fmt: skip


def _fit(rng, armature, folder):
    return "fit_root", _some(rng, result=("NEW", "LAYER"), unit=(0.01, 1.0))


def _edit(rng, armature, folder):
    edits = ("PLANT", "FREE", "SPLIT", "JOIN", "START", "END", "SHIFT")
    return "edit_contact", {
        "leg": chosen(rng, (0, 1, -1, 7)), "edit": chosen(rng, edits),
        **_some(rng, by=(1, -3, 10**6), use_range=(True,), range_start=(-5, 3), range_end=(9, 10**6)),
    }  # fmt: skip


def _move(rng, armature, folder):
    far = chosen(rng, (0.02, 1.0, 1e5))
    return "move_footprint", {"leg": chosen(rng, (0, 1, 9)), "offset": tuple(rng.normal(size=3) * far),
                              **_some(rng, turn=(0.3, 1e4))}  # fmt: skip


def _labels(rng, armature, folder):
    path = folder / chosen(rng, ("labels.json", "ünï 🦶.json", "{0} %s.json"))
    text = odd_labels(rng, [bone.name for bone in armature.data.bones])
    if rng.random() < 0.9:
        path.write_bytes(text)
    return "import_contacts", {"filepath": str(chosen(rng, (path, path, path, folder, "", "//x.json", "/dev/zero")))}


def _to_file(rng, armature, folder):
    names = ("out", "ünï 🦶", "{0} %s", "a" * 250, "a\\b", "new\nline", "..", "no/such/folder/out")
    path = str(folder / chosen(rng, names)) + chosen(rng, ("", ".json", ".csv", ".svg"))
    odd = chosen(rng, (str(folder), "", "//out", "/dev/full", "/proc/none/out", "/dev/null"))
    return chosen(rng, ("export_contacts", "save_report", "save_plot")), {"filepath": chosen(rng, (path, path, odd))}


def _preset(rng, armature, folder):
    if rng.random() < 0.3:
        (folder / "presets").mkdir(exist_ok=True)
        text = {"footlock_legs": 1, "pelvis": "pelvis", "legs": [{"side": "L", "thigh": "a", "shin": "b", "foot": "c"}]}
        data = mutated(rng, json.dumps(text).encode()) if rng.random() < 0.8 else b"[" * 100_000
        (folder / "presets" / "odd.json").write_bytes(data)
        return "load_leg_preset", {"name": "odd"}
    kind = chosen(rng, ("save_leg_preset", "load_leg_preset", "delete_leg_preset"))
    return kind, {"name": characters.odd_name(rng)}


def _other(rng, armature, folder):
    return chosen(rng, (
        ("update_report", {}), ("contacts_to_markers", {}), ("markers_to_contacts", {}), ("map_legs", {}),
        ("map_legs", {"left": "|".join(b.name for b in list(armature.data.bones)[1:4])}), ("add_hands", {}),
        ("revert", {}), ("bake_nla", {}), ("refresh_overlay", {}), ("explain_frame", {}), ("live_lock", {}),
        ("bake_live", {}), ("compare", {}), ("copy_report", {}), ("mirror_leg", {}), ("add_leg", {}),
    ))  # fmt: skip


_BUTTONS = (_remove, _remove, _remove, _detect, _detect, _fit, _edit, _move, _labels, _to_file, _preset, _other)
