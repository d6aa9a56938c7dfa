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
    if not LAYERED:
        return data.action
    if data.action_slot is None:
        return None
    for layer in data.action.layers:
        for strip in layer.strips:
            if strip.type == "KEYFRAME":
                bag = strip.channelbag(data.action_slot)
                if bag:
                    return bag
    return None


def fcurves(owner):
    """The F-curves that animate ``owner``; none without an action."""
    held = channels(owner)
    return held.fcurves if held else ()


def all_fcurves(action):
    """The F-curves of an action, of all its slots."""
    if not LAYERED:
        return list(action.fcurves)
    strips = [strip for layer in action.layers for strip in layer.strips if strip.type == "KEYFRAME"]
    bags = [bag for strip in strips for slot in action.slots if (bag := strip.channelbag(slot))]
    return [curve for bag in bags for curve in bag.fcurves]


def slot_of(strip):
    """The slot that an NLA strip uses; None without, and where actions have none."""
    return strip.action_slot if LAYERED else None


def assign(owner, action, slot=None):
    """Let ``owner`` use an action, by a slot of it: the given one, or else the first that fits."""
    data = owner.animation_data
    data.action = action
    if LAYERED and action is not None:
        slots = list(data.action_suitable_slots)
        wanted = slot if slot in slots else next(iter(slots), None)
        if wanted is not None:
            data.action_slot = wanted


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
