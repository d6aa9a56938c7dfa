"""Game loops in place: hand-made, feet that hang from the root or are loose, scale 100, NLA tracks beside."""

import bpy
import clips

from footlock.operators import detect_contacts
from footlock.rig import compat, mapping

# Bones as a person would choose them, without the toes that two of the rigs have.
LEGS = {
    "character": ("UpperLeg.{}|LowerLeg.{}|Foot.{}",),
    "horse": ("BackUpperLeg.{}|BackLowerLeg.{}|IKBackLeg.{}", "FrontUpperLeg.{}|FrontLowerLeg.{}|IKFrontLeg.{}"),
    "velociraptor": ("BackUpLeg.{}|BackLowLeg.{}|BackFoot.{}",),
}


def load(name, mapped=True):
    """The armature of a file, active; ``mapped``: with LEGS, otherwise it is left to Footlock to find its legs."""

    def make():
        clips.new_file()
        bpy.ops.import_scene.gltf(filepath=str(clips.DATA / "rigs" / f"quaternius_{name}.glb"))
        armature = next(ob for ob in bpy.data.objects if ob.type == "ARMATURE")
        bpy.context.view_layer.objects.active = armature

    armature = clips.opened(("game loop", name), make)
    if mapped:
        stored = armature.data.footlock
        stored.pelvis = "Body"
        for pattern in LEGS[name]:
            for side in "LR":
                leg = stored.legs.add()
                leg.side = side
                leg.thigh, leg.shin, leg.foot = pattern.replace("{}", side).split("|")
    return armature


def use(armature, name):
    """Make an action the one in use; what is detected in it."""
    # Blender 4.2 adds the armature's name to that of the action.
    suffix = f"_{armature.name}"
    action = next(one for one in bpy.data.actions if one.name.split("|")[-1].removesuffix(suffix) == name)
    armature.animation_data.action = action
    if compat.LAYERED:
        armature.animation_data.action_slot = action.slots[0]
    return detect_contacts.detect(bpy.context.scene, armature, mapping.of(armature))
