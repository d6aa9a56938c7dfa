"""The settings of the operators, defined once: the operators have them as their own, the panel keeps them in the scene.

Blender collects the annotations of plain base classes too, so each class here is a group of properties to be inherited
by an operator or a PropertyGroup. What is a solver's setting has that solver's default. None is animatable: a key on it
would do nothing. Units stand in the names: Blender's own units follow the scene's unit scale, and these do not.
"""

from inspect import get_annotations

from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, StringProperty

from ..rig import units
from ..solvers import contacts, foot_lock, foot_skate, leg_chain
from ..solvers.errors import FootlockError
from ..solvers.wording import Said

_DEFAULT = contacts.ThresholdSettings()
_REMOVAL = foot_skate.Settings()
_CHAIN = leg_chain.LegChainSettings()
_LOCK = foot_lock.FootLockSettings()
# No floor is higher or lower, metres.
_FARTHEST = 1e5
# Properties of a detection that have a meaning by thresholds only.
THRESHOLDS = ("velocity", "height", "floor", "vote", "smoothing", "level", "auto_velocity", "auto_height", "auto_floor")


class ClipProperties:
    """How a clip is read."""

    unit: FloatProperty(
        name="Scene Unit (m)",
        description="Metres of one unit of the scene; 0 to judge it from the legs",
        default=0.0, min=0.0, soft_max=1.0, max=units.RANGE[1], precision=4, options=set(),
    )  # fmt: skip


class ResultProperties(ClipProperties):
    """Where what is corrected goes."""

    result: EnumProperty(
        name="Result",
        description="Where the correction goes",
        items=(
            ("IN_PLACE", "In Place", "Into the action itself, which keeps its source: Revert goes back to it"),
            ("NEW", "New Action", "Into a copy of the action, which is kept: Revert goes back to it at any time"),
            ("LAYER", "Layer", "Into a layer over the action in the NLA, of which the influence can be set; Fit Root to"
             " Feet makes a copy first"),
        ),
        default="IN_PLACE", options=set(),
    )  # fmt: skip


class DetectionProperties(ClipProperties):
    """When a foot counts as planted."""

    mode: EnumProperty(
        name="Detection",
        description="How contacts are found",
        items=(
            ("AUTO", "Automatic", "Against the velocity of the floor that the feet themselves show, so that feet that"
             " slide, tremble or walk in place are found too"),
            ("THRESHOLD", "Thresholds", "A toe that is slower and lower than given values is planted"),
        ),
        default="AUTO", options=set(),
    )  # fmt: skip
    auto_velocity: BoolProperty(
        name="Automatic Speed",
        description="Choose the speed that comes nearest to what the automatic detection finds",
        default=False, options=set(),
    )  # fmt: skip
    velocity: FloatProperty(
        name="Speed (m/s)",
        description="A toe slower than this may be planted, metres per second",
        default=_DEFAULT.velocity, min=0.0, soft_max=2.0, max=1000.0, options=set(),
    )  # fmt: skip
    auto_height: BoolProperty(
        name="Automatic Height",
        description="Choose the height that comes nearest to what the automatic detection finds",
        default=False, options=set(),
    )  # fmt: skip
    height: FloatProperty(
        name="Height (m)",
        description="A toe lower than this over the floor may be planted, metres",
        default=_DEFAULT.height, min=0.0, soft_max=0.5, max=1000.0, options=set(),
    )  # fmt: skip
    auto_floor: BoolProperty(
        name="Automatic Floor",
        description="Take the floor to be where the toes are when they are lowest",
        default=True, options=set(),
    )  # fmt: skip
    floor: FloatProperty(
        name="Floor (m)",
        description="Height of the floor in the world, metres",
        default=0.0, min=-_FARTHEST, soft_min=-1.0, soft_max=1.0, max=_FARTHEST, precision=3, options=set(),
    )  # fmt: skip
    vote: FloatProperty(
        name="Clean Up (s)",
        description="Each frame goes with most of the frames in this time around it, seconds:"
        " contacts and gaps shorter than about half of it are removed",
        default=_DEFAULT.vote, min=0.0, soft_max=0.5, max=10.0, precision=3, options=set(),
    )  # fmt: skip
    smoothing: FloatProperty(
        name="Smoothing (s)",
        description="Standard deviation of the Gaussian that smooths the labels before they are cut at Level, seconds;"
        " 0 for none",
        default=_DEFAULT.smoothing, min=0.0, soft_max=0.2, max=10.0, precision=3, options=set(),
    )  # fmt: skip
    level: FloatProperty(
        name="Level",
        description="Smoothed labels above this are a contact; without smoothing it changes nothing",
        default=_DEFAULT.contact, min=0.0, max=1.0, subtype="FACTOR", options=set(),
    )  # fmt: skip

    use_range: BoolProperty(
        name="Only Frames",
        description="Rewrite the contact curves only between two frames",
        default=False, options=set(),
    )  # fmt: skip
    range_start: IntProperty(
        name="From", description="First frame that is rewritten", default=1, options=set()
    )  # fmt: skip
    range_end: IntProperty(
        name="To", description="Last frame that is rewritten", default=250, options=set()
    )  # fmt: skip
    replace_edited: BoolProperty(
        name="Replace Edited",
        description="Replace contact curves that were edited by hand or read from a file. Without it they are kept;"
        " locked and muted curves always are",
        default=False, options=set(),
    )  # fmt: skip
    bake: BoolProperty(
        name="Speed and Height",
        description="Write what the detection went by as two more curves of each toe bone, “contact_speed” and"
        " “contact_height”, so that the Graph Editor shows why a frame is a contact",
        default=False, options=set(),
    )  # fmt: skip


class RemovalProperties(ResultProperties):
    """How planted feet are held."""

    method: EnumProperty(
        name="Method",
        description="How the toes are held",
        items=(
            ("offline", "Whole Clip", "Solve the whole clip at once: pelvis and free feet share the correction"),
            ("runtime", "Runtime", "Lock each toe frame by frame, as a game would: the pelvis keeps its path"),
        ),
        default=_REMOVAL.method, options=set(),
    )  # fmt: skip
    softening: FloatProperty(
        name="Softening (m)",
        description="A leg is kept from stretching out over this last part of its length, metres",
        default=_CHAIN.softening, min=0.0, soft_max=0.1, max=10.0, precision=3, options=set(),
    )  # fmt: skip
    smooth_time: FloatProperty(
        name="Smoothing (s)",
        description="Time over which a foot eases into a contact and out of it, seconds; 0 for none",
        default=_REMOVAL.terms.smoothing, min=0.0, soft_max=0.2, max=1.0, precision=3, options=set(),
    )  # fmt: skip
    lower_hips: FloatProperty(
        name="Lower Hips",
        description="How freely the hips may sink so that a leg reaches its contact",
        default=_REMOVAL.terms.lower_hips, min=0.0, max=1.0, subtype="FACTOR", options=set(),
    )  # fmt: skip
    stretch: FloatProperty(
        name="Stretch Legs",
        description="By which part of its length a leg may become longer where it is too short for a contact;"
        " thigh and shin get keys on their scale, so not where keys stay where they are",
        default=_REMOVAL.stretch, min=0.0, max=0.02, precision=3, options=set(),
    )  # fmt: skip
    keep_path: FloatProperty(
        name="Keep Path",
        description="How far the pelvis keeps its path over the ground: 0 and it shares the correction, 1 and the legs"
        " do all of it",
        default=_REMOVAL.terms.keep_path, min=0.0, max=1.0, subtype="FACTOR", options=set(),
    )  # fmt: skip
    hold_heading: BoolProperty(
        name="Hold Heading",
        description="Planted feet do not turn about the vertical either",
        default=_REMOVAL.hold_heading, options=set(),
    )  # fmt: skip
    ground: EnumProperty(
        name="Floor",
        description="What the feet stand on",
        items=(
            ("CONTACTS", "Level", "A level floor at the height at which each foot stands"),
            ("REST", "Rest Pose", "A level floor on which the rest pose stands"),
            ("HEIGHT", "At Height", "A level floor at a given height, to which the whole clip is moved"),
            ("OBJECT", "Object", "An object, as a slope, stairs or a terrain"),
        ),
        default="CONTACTS", options=set(),
    )  # fmt: skip
    ground_height: FloatProperty(
        name="Height (m)",
        description="Height of the floor in the world, metres",
        default=0.0, min=-_FARTHEST, soft_min=-1.0, soft_max=1.0, max=_FARTHEST, precision=3, options=set(),
    )  # fmt: skip
    ground_object: StringProperty(
        name="Object", description="Mesh on which the feet stand", options=set()
    )  # fmt: skip
    follow_slope: FloatProperty(
        name="Follow Slope",
        description="How far planted feet pitch with the ground under them",
        default=_REMOVAL.follow_slope, min=0.0, max=1.0, subtype="FACTOR", options=set(),
    )  # fmt: skip
    keep_dips: BoolProperty(
        name="Keep Dips",
        description="Feet that are under the floor in the source may stay there",
        default=_REMOVAL.keep_dips, options=set(),
    )  # fmt: skip
    cyclic: BoolProperty(
        name="Cyclic",
        description="The clip is a loop and stays one: its last frame meets its first",
        default=False, options=set(),
    )  # fmt: skip
    pin_first: BoolProperty(
        name="Pin First Pose",
        description="The first frame stays as it is, so that the clip still meets the one before it",
        default=False, options=set(),
    )  # fmt: skip
    pin_last: BoolProperty(
        name="Pin Last Pose",
        description="The last frame stays as it is, so that the clip still meets the one after it",
        default=False, options=set(),
    )  # fmt: skip
    solve_range: BoolProperty(
        name="Only Frames",
        description="Correct only the frames between two frames; the keys outside stay as they are. The method Runtime"
        " takes no range",
        default=False, options=set(),
    )  # fmt: skip
    solve_start: IntProperty(
        name="From", description="First frame that is corrected", default=1, options=set()
    )  # fmt: skip
    solve_end: IntProperty(
        name="To", description="Last frame that is corrected", default=250, options=set()
    )  # fmt: skip
    keys: EnumProperty(
        name="Keys",
        description="Where the corrected keys are",
        items=(
            ("ALL", "Every Frame", "A key on every frame, so that nothing slides in between"),
            ("SOURCE", "Where They Are", "Keys that are there get new values, none is added: feet may slide between"),
            ("REDUCED", "Few", "As few keys as leave the legs within a tolerance, with handles to edit"),
        ),
        default="ALL", options=set(),
    )  # fmt: skip
    key_tolerance: FloatProperty(
        name="Tolerance (mm)",
        description="How far hips, knees, heels and toes may be from where they belong, millimetres",
        default=0.5, min=0.01, soft_max=5.0, max=1000.0, options=set(),
    )  # fmt: skip
    lock_distance: FloatProperty(
        name="Lock Within (m)",
        description="Runtime: a toe locks when it is this near to the source, metres",
        default=_LOCK.lock_distance, min=0.0, soft_max=0.5, max=1000.0, options=set(),
    )  # fmt: skip
    unlock_distance: FloatProperty(
        name="Unlock Beyond (m)",
        description="Runtime: a toe is let go when the source is this far, metres",
        default=_LOCK.unlock_distance, min=0.0, soft_max=1.0, max=1000.0, options=set(),
    )  # fmt: skip
    blend_time: FloatProperty(
        name="Blend Time (s)",
        description="Runtime: time of the change between locked and free, seconds",
        default=_LOCK.blend_time, min=0.0, soft_max=2.0, max=60.0, options=set(),
    )  # fmt: skip


def names(group):
    """The names of the properties of a group above, inherited ones first."""
    return tuple(name for base in reversed(group.__mro__) for name in get_annotations(base))


def copy(group, source, target):
    """Set the properties of a group on ``target`` to what they are on ``source``."""
    for name in names(group):
        setattr(target, name, getattr(source, name))


def check(given):
    """Raise FootlockError where a float of ``given``, the properties of an operator or of a group, is outside of its
    range: Blender clamps all that is set, but for what is not a number, and what a script writes past the property."""
    for one in given.bl_rna.properties:
        if one.type != "FLOAT":
            continue
        value = getattr(given, one.identifier)
        for number in value if one.is_array else (value,):
            if not one.hard_min <= number <= one.hard_max:
                raise FootlockError(
                    "“{setting}” is {number:g}: give it a number from {least:g} to {most:g}.",
                    setting=Said(one.name),
                    number=number,
                    least=one.hard_min,
                    most=one.hard_max,
                )
