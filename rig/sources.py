"""The source of a correction in place: the action as it was, kept in the file beside the action that was corrected.

It is a copy whose name begins with a dot, so that menus do not list it, and only the corrected action refers to it, so
that it is saved and goes away together with that one. With it a second run begins where the first one did and not where
it ended, the two can be compared, and the way back stays open after the file was saved. Which curves a correction has
written, and what they were then, is kept too: what a person edits since is the person's.
"""

import hashlib
import json
from contextlib import contextmanager, suppress

import bpy

from ..solvers.errors import FootlockError
from . import compat, curves, restoring, results
from .stepwise import NOTING, each, plain

# Properties of a corrected action, with the handle of the slot: its source; the names of the bones whose curves a
# correction read, and what these were after it.
_SOURCE, _CORRECTED = "footlock_source", "footlock_corrected"
# While the source is shown: whether the corrected action had a fake user; the influence that a layer had.
_FAKE_USER, _INFLUENCE = "footlock_compared_fake_user", "footlock_compared_influence"


def of(armature):
    """(action, handle of the slot) of what was corrected: the source of the action in use, which a copy of that has,
    too, or the action of which it is a copy or a layer; None without."""
    action = results.subject(armature)
    if action is None:
        return None
    found = action.get(_key(_SOURCE, armature))
    if isinstance(found, bpy.types.Action):
        return found, compat.slot_handle(armature)
    base = results.original(action)
    return None if base is None else (base, action[results.SLOT])


def unedited(armature):
    """What ``of`` says where the curves that the correction read are still those that it left. None where a person has
    edited them, and without a source."""
    found = of(armature)
    if found is None or armature.animation_data.action is None:
        return None
    known = _follow(armature, armature.animation_data.action, found)
    return found if known and known["state"] == _state(armature, known["bones"], known["names"]) else None


def beginning(armature):
    """What ``unedited`` says where another run can begin there: not in tweak mode, where no other action can be
    shown."""
    return None if armature.animation_data.use_tweak_mode else unedited(armature)


@contextmanager
def shown(armature, source):
    """While this lasts the armature has the action of ``source``, as ``beginning`` gives it, or its own by None."""
    if source is None:
        yield
        return
    action, slot = armature.animation_data.action, compat.slot_handle(armature)
    # Nothing else may use it meanwhile, and Blender does not save what nothing uses.
    had_fake_user, action.use_fake_user = action.use_fake_user, True
    compat.assign(armature, *source)
    try:
        yield
    finally:
        with suppress(ReferenceError):  # the armature may be gone
            compat.assign(armature, action, slot)
            action.use_fake_user = had_fake_user


@contextmanager
def begun(armature, source, keeps):
    """While this lasts the action in use is corrected, from what it is in ``source``, as ``beginning`` gives it, or by
    None from what it is; with ``keeps`` that is its source afterwards, in place of an earlier one. Where it fails all
    is as it was."""
    if source is None and not keeps:
        yield
        return
    action, key = armature.animation_data.action, _key(_SOURCE, armature)
    copy = action.copy()
    copy.name, copy.use_fake_user = f".{action.name} source", False
    for name in [name for name in copy.keys() if name.startswith((_SOURCE, _CORRECTED))]:  # noqa: SIM118
        del copy[name]
    before = copy, compat.slot_handle(armature)
    bones = _known(armature)["bones"] if source is not None else ()
    names = restoring.names(armature)
    try:
        if source is not None:
            _put_back(armature, source, bones)
        yield
    except BaseException:
        with suppress(ReferenceError):  # the armature, or the action, may be gone
            found = restoring.renamed(armature, names)
            held = compat.held_by(*before)
            for curve in held.fcurves if found and held else ():
                curves.rename_bone(curve, found)
            _put_back(armature, before, [found.get(name, name) for name in bones])
        bpy.data.actions.remove(copy)
        raise
    if source is None:
        forget(armature)
        action[key] = copy
    else:
        bpy.data.actions.remove(copy)


def sealing(armature, bones):
    """Steps that look at the curves of ``bones``, names of those that a correction read, and return what ``seal`` notes
    of them."""
    found = {name: _place(armature.data.bones[name]) for name in sorted(bones)}
    return json.dumps({"bones": found, "names": {}, "state": (yield from _looking(armature, found, {}))})


def seal(armature, noted):
    """Note what the curves are after a correction, as ``sealing`` has it."""
    armature.animation_data.action[_key(_CORRECTED, armature)] = noted


def revert(armature):
    """Put the source back into the action that was corrected in place, and forget it; returns that action. Raises
    FootlockError, with nothing changed, where bones that it moves are gone."""
    source = of(armature)
    known = _followed(armature, armature.animation_data.action, source)
    _put_back(armature, source, known["bones"])
    forget(armature)
    armature.update_tag(refresh={"TIME"})
    return armature.animation_data.action


def forget(armature):
    """The action in use has no source."""
    action = armature.animation_data.action
    old = action.pop(_key(_SOURCE, armature), None)
    action.pop(_key(_CORRECTED, armature), None)
    if old is not None:
        # Others that share the action and show its source, for comparison, get it back: they could not any more.
        for ob in bpy.data.objects:
            if ob.animation_data and ob.animation_data.action == old and _set_aside(ob) == action:
                _end_comparison(ob, action)
    if isinstance(old, bpy.types.Action) and old.users == 0:
        bpy.data.actions.remove(old)


def in_place(armature):
    """True where the action in use was corrected itself, and can be put back."""
    data = armature.animation_data
    return (
        data is not None
        and data.action is not None
        and results.original(data.action) is None
        and of(armature) is not None
        and _known(armature) is not None
    )


def compared(armature):
    """The corrected action in whose place an armature shows the source, or None: where another action was assigned
    since, too."""
    corrected, data = _set_aside(armature), armature.animation_data
    if corrected is None or data is None or data.action is None:
        return None
    source = corrected.get(_key(_SOURCE, armature)) or results.original(corrected)
    return corrected if data.action == source else None


def shows_source(armature):
    """True while the source is shown for comparison."""
    found = results.layer(armature)
    return compared(armature) is not None or bool(found and _INFLUENCE in found[1].action)


def compare(armature):
    """Show the source in place of the correction, or the correction again, at once. Raises FootlockError, with nothing
    changed, in tweak mode, where nothing was corrected, and where bones that it moves are gone."""
    data = armature.animation_data
    corrected, found = compared(armature), results.layer(armature)
    if data is not None and data.use_tweak_mode:
        raise FootlockError("A strip is being tweaked: leave tweak mode (Tab in the NLA Editor) and compare again.")
    if corrected is not None:
        slot = compat.slot_handle(armature)
        _followed(armature, corrected, (data.action, slot))
        _end_comparison(armature, corrected)
    elif found:
        action = found[1].action
        if results.keyed_influence(found[1]):
            raise FootlockError(
                "The influence of the correction layer is animated: mute its track in the NLA Editor to see the source."
            )
        before = results.influence(armature)
        if _INFLUENCE not in action:
            action[_INFLUENCE] = before
        results.set_influence(armature, 0.0 if before > 0.0 else action.pop(_INFLUENCE))
    else:
        source = of(armature)
        if source is None:
            raise FootlockError(
                "“{armature}” was not corrected yet: click Remove Sliding first.", armature=armature.name
            )
        corrected = data.action
        _followed(armature, corrected, source)
        # Nothing else may use it meanwhile, and Blender does not save what nothing uses.
        if _FAKE_USER not in corrected:
            corrected[_FAKE_USER] = corrected.use_fake_user
        corrected.use_fake_user = True
        armature.footlock_compared = corrected
        compat.assign(armature, *source)
    armature.update_tag(refresh={"TIME"})


def _end_comparison(ob, corrected):
    """Show the corrected action again."""
    compat.assign(ob, corrected, compat.slot_handle(ob))
    ob.property_unset("footlock_compared")
    # Another armature that shares the action may show the source still.
    if not any(_set_aside(other) == corrected for other in bpy.data.objects):
        corrected.use_fake_user = corrected.pop(_FAKE_USER, False)


def _put_back(armature, source, bones):
    """Give the curves of ``bones``, names, the keys and modifiers that they have in ``source``, and remove those that
    are not there; others, and contact curves, stay as they are."""
    there = curves.of_bones(compat.held_by(*source), bones)
    for (path, index), curve in curves.of_bones(compat.channels(armature), bones).items():
        if (path, index) not in there:
            compat.remove_fcurve(armature, path, index)
        elif not curves.alike(there[path, index], curve):
            curves.copy(there[path, index], curve)
    # A curve that is missing here was removed: it is made anew.
    for (path, index), curve in there.items():
        made = compat.ensure_fcurve(armature, path, index, curve.group.name if curve.group else "")
        if not curves.alike(curve, made):
            curves.copy(curve, made)


def _set_aside(ob):
    """The corrected action that an object has noted for its comparison, or None. Up to 4.5 a look at a property that is
    not set makes it."""
    return ob.footlock_compared if ob.is_property_set("footlock_compared") else None


def _known(armature, action=None):
    """What was noted of an action, the one in use without: "bones", their names and places at rest; "names": what those
    were called that have another name now; and "state". None without."""
    found = (action or armature.animation_data.action).get(_key(_CORRECTED, armature))
    return json.loads(found) if isinstance(found, str) else None


def _followed(armature, corrected, source):
    """What ``_follow`` says. Raises FootlockError where bones are gone."""
    known = _follow(armature, corrected, source)
    if known is None and _known(armature, corrected) is not None:
        raise FootlockError(
            "Bones of “{armature}” that its correction moves were removed or made anew since: undo that (Ctrl"
            " Z) and try again.",
            armature=armature.name,
        )
    return known


def _follow(armature, corrected, source):
    """What is known of a ``corrected`` action, its curves and those of its ``source`` under the names that bones have
    now: Blender itself renames bones in actions that are in use only. None where bones are gone, or nothing is known.

    A bone that is not called so any more is the one that is in its place at rest.
    """
    known = _known(armature, corrected)
    if known is None:
        return None
    renamed = _renamed(armature.data.bones, {name: tuple(place) for name, place in known["bones"].items()})
    if not renamed:
        return None if renamed is None else known
    used = {ob.animation_data.action for ob in bpy.data.objects if ob.animation_data}
    for action, slot in ((corrected, compat.slot_handle(armature)), source):
        if action in used or action.library is not None:
            continue  # renamed by Blender, or not to be
        held = compat.held_by(action, slot)
        for curve in held.fcurves if held else ():
            curves.rename_bone(curve, renamed)
    known["bones"] = {renamed.get(name, name): place for name, place in known["bones"].items()}
    first = {new: known["names"].get(old, old) for old, new in renamed.items()}
    known["names"] = {**{name: old for name, old in known["names"].items() if name not in renamed}, **first}
    corrected[_key(_CORRECTED, armature)] = json.dumps(known)
    return known


def _renamed(bones, known):
    """Name → new name of bones, ``known`` by their names and places at rest, that have another now; None where one is
    gone, or it is not clear which it is. A bone whose place was edited, and that kept its name, is still the same; that
    another one has its name is told by that one's place: left and right may have been swapped."""
    if all(name in bones and tuple(_place(bones[name])) == place for name, place in known.items()):
        return {}
    now = {bone.name: tuple(_place(bone)) for bone in bones}
    moved = {name: place for name, place in known.items() if now.get(name) != place}
    places = set(moved.values())
    there = {}
    for name, place in now.items():
        if name in moved or name not in known:
            there.setdefault(place, []).append(name)
    found = {}
    for name, place in moved.items():
        if name in now and now[name] not in places:
            continue
        others = there.get(place)
        if not others:
            return None
        # Control rigs have several in one place.
        mirrored = bpy.utils.flip_name(name)
        free = [other for other in others if other not in known]
        found[name] = mirrored if mirrored in others else (free or others)[-1]
    return found if len(set(found.values())) == len(found) else None


def _place(bone):
    """Where a bone is at rest, its roll included, so far as single precision tells it."""
    return [round(number, 5) + 0.0 for row in bone.matrix_local for number in row] + [round(bone.length, 5)]


def _looking(armature, bones, names):
    """Steps that tell what the curves of bones are, by what these were called."""
    found = []
    for (path, index), curve in curves.of_bones(compat.channels(armature), bones).items():
        bone, channel = curves.bone_and_property(path)
        found.append(((names.get(bone, bone), channel, index), curve))
    found.sort(key=lambda one: one[0])
    digest = hashlib.sha1(usedforsecurity=False)
    yield from each(NOTING, lambda one: digest.update(repr(one[0]).encode() + curves.digest(one[1])), found)
    return digest.hexdigest()


_state = plain(_looking)


def _key(name, armature):
    return f"{name}_{compat.slot_handle(armature)}"
