"""Every difference between the versions of Blender, 4.2 to 5.3.

Up to 4.3 an action holds F-curves itself; since 4.4 it has slots, and the curves of a slot are in its channelbag.
``Action.fcurves`` then stands for the first slot only and is gone in 5.0, so nothing else in the project touches it.
Features are asked for, not version numbers.
"""

import bpy

# Actions have slots.
LAYERED = "action_slot" in bpy.types.AnimData.bl_rna.properties


def channels(owner):
    """What holds the F-curves and groups that animate ``owner`` (an ID): the action, or the channelbag of the slot in
    use; None without."""
    data = owner.animation_data
    if data is None or data.action is None:
        return None
    return held_by(data.action, slot_handle(owner))


def held_by(action, handle):
    """What holds the curves of the slot of this handle in an action, or the action itself where actions have none."""
    if not LAYERED:
        return action
    slot = _slot(action, handle)
    if slot is None:
        return None
    for layer in action.layers:
        for strip in layer.strips:
            if strip.type == "KEYFRAME":
                bag = strip.channelbag(slot)
                if bag:
                    return bag
    return None


def fcurves(owner):
    """The F-curves that animate ``owner``; none without an action."""
    held = channels(owner)
    return held.fcurves if held else ()


def strip_fcurves(strip):
    """The F-curves that an NLA strip plays."""
    held = held_by(strip.action, strip_slot(strip)) if strip.action else None
    return held.fcurves if held else ()


def all_fcurves(action):
    """The F-curves of an action, of all its slots."""
    if not LAYERED:
        return list(action.fcurves)
    strips = [strip for layer in action.layers for strip in layer.strips if strip.type == "KEYFRAME"]
    bags = [bag for strip in strips for slot in action.slots if (bag := strip.channelbag(slot))]
    return [curve for bag in bags for curve in bag.fcurves]


def object_slots(action):
    """(handle, name) of the slots of an action by which objects move; (0, "") where actions have none."""
    if not LAYERED:
        return [(0, "")] if action.id_root == "OBJECT" else []
    own = [slot for slot in action.slots if slot.target_id_type in ("OBJECT", "UNSPECIFIED")]
    return [(slot.handle, slot.name_display) for slot in own]


def strip_slot(strip):
    """The number by which copies of an action know the slot that an NLA strip plays; 0 without."""
    return strip.action_slot.handle if LAYERED and strip.action_slot else 0


def has_unassigned_slots(owner):
    """True where ``owner`` has an action with slots of which it uses none, so that nothing moves and no error says
    why."""
    data = owner.animation_data
    return (
        LAYERED
        and data is not None
        and data.action is not None
        and data.action_slot is None
        and len(data.action.slots) > 0
    )


def ensure_fcurve(owner, data_path, index, group):
    """The F-curve of ``data_path`` in the action in use by ``owner``, made in the group of that name where it is
    missing."""
    held = channels(owner)
    curve = held.fcurves.find(data_path, index=index) if held else None
    if curve:
        return curve
    # Neither a new curve nor a new property has Blender look anew at what moves what; without this the property keeps
    # its value on every frame until something else does.
    owner.update_tag()
    action = owner.animation_data.action
    if not LAYERED:
        return action.fcurves.new(data_path, index=index, action_group=group)
    curve = action.fcurve_ensure_for_datablock(owner, data_path, index=index)
    held = channels(owner)
    curve.group = held.groups.get(group) or held.groups.new(group)
    return curve


def is_muted(curve):
    """True where the curve does not move anything. Up to 4.3 the mute of its group counts too; later it only looks
    so."""
    return curve.mute or (not LAYERED and curve.group is not None and curve.group.mute)


def is_locked(curve):
    """True where the curve, or its group, may not be edited."""
    return curve.lock or (curve.group is not None and curve.group.lock)


def locked_groups(owner):
    """Names of the groups of curves that may not be edited."""
    held = channels(owner)
    return [group.name for group in held.groups if group.lock] if held else []


def remove_fcurve(owner, data_path, index):
    """Remove an F-curve from the action in use, if it is there; says whether it was."""
    held = channels(owner)
    curve = held.fcurves.find(data_path, index=index) if held else None
    if curve:
        held.fcurves.remove(curve)
        owner.update_tag()
    return curve is not None


def slot_name(owner):
    """What tells the slot that ``owner`` uses from others of its action; "" where actions have none."""
    return owner.animation_data.action_slot.identifier if LAYERED and owner.animation_data.action_slot else ""


def slot_handle(owner):
    """The number by which copies of an action know the slot that ``owner`` uses; 0 without."""
    return owner.animation_data.action_slot.handle if LAYERED and owner.animation_data.action_slot else 0


def assign(owner, action, handle=0):
    """Have ``owner`` use an action and its slot of this handle, by 0 the first that fits; a new action gets its slot
    with the first curve."""
    data = owner.animation_data
    data.action = action
    if LAYERED and action:
        slot = _slot(action, handle) if handle else next(iter(data.action_suitable_slots), None)
        if slot:
            data.action_slot = slot


def set_strip_slot(strip, handle):
    """Have an NLA strip play the slot of this handle of its action."""
    if LAYERED:
        strip.action_slot = _slot(strip.action, handle)


def sharers(owner):
    """The objects that play the same slot of the same action as ``owner``, itself included."""
    action, handle = owner.animation_data.action, slot_handle(owner)
    return [ob for ob in bpy.data.objects if ob.animation_data and (action, handle) in _played(ob.animation_data)]


def _played(data):
    """(action, handle of the slot) of all that an object's animation plays."""
    players = [data, *(strip for track in data.nla_tracks for strip in track.strips)]
    return [(one.action, one.action_slot.handle if LAYERED and one.action_slot else 0) for one in players if one.action]


def _slot(action, handle):
    return next((slot for slot in action.slots if slot.handle == handle), None)
