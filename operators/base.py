"""What all operators share: which armature they work on, and how an error reaches the user."""

from bpy.app.translations import pgettext_tip as tip_

from ..rig import live, mapping, nla, results, sentences, sources
from ..solvers.errors import FootlockError
from ..solvers.wording import Said, counted
from . import long_work, properties


def muted():
    """Why nothing can be done with a correction layer that is not seen."""
    return tip_("The correction layer is muted: unmute its track in the NLA Editor")


class ArmatureOperator:
    """Works on the active armature. ``run`` does the work and returns what is reported, a Said, or several as
    ``wording.together`` makes them; a FootlockError that it raises before it has changed anything becomes the report
    instead, and the operator is cancelled. Where it is not clear which the legs are, the panel gets the question:
    nothing else changes by it."""

    bl_options = {"REGISTER", "UNDO"}
    # The panel shows what a run said until the next one.
    remembered = False

    @classmethod
    def poll(cls, context):
        armature = context.object
        if long_work.is_running():
            cls.poll_message_set(tip_("Footlock is at work: Esc stops it"))
            return False
        if armature is None or armature.type != "ARMATURE":
            cls.poll_message_set(tip_("Select the armature of the character"))
            return False
        if armature.library is not None:
            cls.poll_message_set(tip_("The armature is linked from another file: make a library override of it"))
            return False
        if armature.mode == "EDIT":
            cls.poll_message_set(tip_("Leave Edit Mode"))
            return False
        return True

    def execute(self, context):
        armature = context.object
        try:
            self.check_given(context)
            with live.paused():
                return self.ended(armature, self.run(context, armature))
        except FootlockError as error:
            return self.refused(armature, error)

    def check_given(self, context):
        """Raise FootlockError for settings that are no numbers to work with."""
        properties.check(self.properties)

    def ended(self, armature, message):
        """What the operator returns when its work is done, which is reported."""
        message = sentences.translated(message)
        self.report({"INFO"}, message)
        if self.remembered:
            remember(armature, message)
        return {"FINISHED"}

    def refused(self, armature, error):
        """What it returns for a FootlockError, which is reported."""
        if isinstance(error, mapping.UnclearLegs):
            mapping.ask(armature, error.maps)
        self.report({"ERROR"}, sentences.translated(error))
        return {"CANCELLED"}


class ActionOperator(ArmatureOperator):
    """Works on the active armature's action."""

    remembered = True

    @classmethod
    def poll(cls, context):
        if not super().poll(context):
            return False
        if sources.shows_source(context.object):
            cls.poll_message_set(tip_("The source is shown for comparison: click Compare to go back"))
            return False
        data = context.object.animation_data
        if data is None or data.action is None:
            if results.layer(context.object):
                cls.poll_message_set(tip_("A correction layer lies over the action: click Revert first"))
            elif results.muted_layer(context.object):
                cls.poll_message_set(muted())
            elif nla.live_strips(data):
                cls.poll_message_set(tip_("NLA strips alone move it: click Bake from NLA, or tweak a strip"))
            else:
                cls.poll_message_set(tip_("Assign or import an animation first"))
            return False
        return True

    def check_given(self, context):
        super().check_given(context)
        properties.check(context.scene.footlock)


def remember(armature, message):
    """Keep what a run said with the action, for the panel to show."""
    action = results.subject(armature)
    if action is not None and action.library is None:
        action.footlock_said = message


def legs_notes(legs):
    """What is said of legs that a person should look at: where there is one only, or no name told which they are."""
    if len(legs.legs) == 1:
        yield Said("Only one leg ({leg}) is mapped.", leg=legs.legs[0].label)
    if legs.by_shape:
        yield Said("The legs were found by the shape of the skeleton: check them under Legs.")


def moved_note(count):
    """What is said of footprints that stand where a person has put them."""
    if not count:
        return ""
    return counted(count, "{count} footprint stays where it was put.", "{count} footprints stay where they were put.")
