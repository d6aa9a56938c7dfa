"""Edit Contact and Move Footprint: contacts by hand, at the playhead or over a range, and where they stand."""

from dataclasses import dataclass, replace

import bpy
import numpy as np
from bpy.props import BoolProperty, EnumProperty, FloatProperty, FloatVectorProperty, IntProperty

from ..rig import clip as clips
from ..rig import contact_property, curves, footprints, mapping, names, nla, results, sources
from ..rig.contact_property import PROTECTED
from ..rig.stepwise import part
from ..solvers import contact_report, contacts, label_edits
from ..solvers.errors import FootlockError
from ..solvers.wording import Listed, Said, contacts_of, counted, together
from . import clip_solving, remove_sliding
from .base import ActionOperator
from .long_work import LongWork

# How long a contact is that is made at the playhead, seconds.
_LENGTH = 0.2
# No footprint is moved so far on purpose, metres, or turned, radians.
_FARTHEST = 1000.0
_EDITS = (
    ("PLANT", "Plant", "A new contact from this frame on, or over the range"),
    ("FREE", "Free", "No contact at this frame, which is deleted as a whole, or in the range"),
    ("SPLIT", "Split", "Lift the foot in this frame, so that the contact becomes two"),
    ("JOIN", "Join", "Make one contact of those before and after this frame, or of this one and the next"),
    ("START", "Start Here", "The contact, or the next one, begins in this frame"),
    ("END", "End Here", "The contact, or the one before, ends with this frame"),
    ("SHIFT", "Shift", "The whole contact some frames later or earlier"),
)
_DESCRIPTIONS = {name: description for name, _, description in _EDITS}
# What is said where a leg has nothing of the kind to edit.
_NOTHING = {
    "PLANT": "{leg} is planted already in this frame: move the playhead.",
    "FREE": "{leg} has no contact in this frame: move the playhead.",
    "SPLIT": "{leg} has no contact of which this frame is the middle: move the playhead.",
    "JOIN": "{leg} has no two contacts to join here: move the playhead.",
    "START": "{leg} has no other contact that could begin in this frame: move the playhead.",
    "END": "{leg} has no other contact that could end in this frame: move the playhead.",
    "SHIFT": "{leg} has no contact in this frame, or no room to shift it: move the playhead.",
}


@dataclass(frozen=True)
class Labels:
    """Contact curves of an action: ``values`` (frames, legs) at ``frames`` (n,) of it, at ``frame_rate`` Hz; ``at``:
    the index of the frame that is edited; ``time``: where in the scene the frames are; ``period``: frames after which a
    cyclic clip begins anew, else 0."""

    legs: names.LegMap
    frames: np.ndarray
    values: np.ndarray
    frame_rate: float
    at: int
    time: nla.StripTime
    period: int = 0

    @property
    def step(self):
        """Frames of the action from one of the clip to the next."""
        return self.frames[1] - self.frames[0]

    def runs_here(self, leg):
        """(first, one past the last) index of the contact of a leg at the frame that is edited, and of its other part
        where a cyclic clip begins anew within it; empty without."""
        values, total = self.values[:, leg], len(self.frames)
        here = label_edits.contact_at(values, self.at)
        if here is None or not self.period or (here[0] > 0 and here[1] < total):
            return [here] if here else []
        ends = (label_edits.contact_at(values, end) for end in (0, total - 1))
        return sorted({here, *filter(None, ends)})

    def spans_here(self, leg):
        """(first, last) frame of the action of the same."""
        return [(self.frames[first], self.frames[stop - 1]) for first, stop in self.runs_here(leg)]


def labels(scene, armature, frame, check=True):
    """The Labels of an armature's action, at a frame of the scene, or the one next to it. Raises FootlockError where
    there is no clip, or, with ``check``, the frame is not in it."""
    legs = mapping.of(armature)
    frames, time = clips.grid(armature)
    at = float(time.to_action(frame))
    step = frames[1] - frames[0]
    if check and not frames[0] - 0.5 * step < at < frames[-1] + 0.5 * step:
        first, last = time.to_scene(frames[[0, -1]])
        raise FootlockError(
            "Frame {frame:g} is outside the action, which goes from {first:g} to {last:g}: move the playhead into it.",
            frame=frame,
            first=first,
            last=last,
        )
    values = contact_property.weights(armature, legs, frames)
    values = np.zeros((len(frames), len(legs.legs))) if values is None else values
    rate = clips.played_rate(scene, step * time.scale)
    return Labels(legs, frames, values, rate, int(np.abs(frames - at).argmin()), time)


class ContactOperator(LongWork, ActionOperator):
    """Edits contacts of a leg, or of all, in a frame, and brings the correction up to date."""

    leg: IntProperty(
        name="Leg", description="Which leg of the list, from 0; -1 for all that have something to edit",
        default=-1, min=-1,
    )  # fmt: skip
    frame: FloatProperty(
        name="Frame", description="Frame of the scene that is edited; that of the playhead unless it is given",
        min=-1e6, max=1e6, options={"SKIP_SAVE"},
    )  # fmt: skip
    update: BoolProperty(
        name="Update Result", description="Remove the sliding anew where it was removed before", default=True
    )  # fmt: skip

    def _labels(self, context, armature):
        results.check_writable(armature)
        scene = context.scene
        given = self.properties.is_property_set("frame")
        frame = self.frame if given else scene.frame_current_final
        found = labels(scene, armature, frame, check=not self._is_for_range())
        if self.leg >= len(found.legs.legs):
            raise FootlockError(
                "There is no leg {leg}: choose one of {count}, from 0.", leg=self.leg, count=len(found.legs.legs)
            )
        return found

    def _is_for_range(self):
        """True where it does not matter which frame is edited."""
        return False

    def _in_cycle(self, context, armature, found):
        """Steps that find out whether the clip of Labels is a loop that shall stay one, as the correction sees it; the
        Labels with that."""
        given = context.scene.footlock
        if not given.cyclic or given.method != "offline":
            return found
        with sources.shown(armature, sources.beginning(armature)):
            clip = yield from clips.reading(context.scene, armature, found.legs, given.unit)
        return replace(found, period=clip_solving.period(clip))

    def _writing(self, context, armature, edit):
        """Steps that write an Edit, and the correction anew where there is one; what is said of that."""
        if not self.update or sources.of(armature) is None:
            edit.write()
            mapping.forget(armature)
            return ""
        scene, legs = context.scene, mapping.of(armature)
        try:
            done = yield from remove_sliding.removing_as_set(scene, armature, legs, scene.footlock, edit)
        except remove_sliding.EditRefused:
            raise
        except FootlockError as error:
            edit.write()
            mapping.forget(armature)
            return together(Said("The result was not updated."), error.said)
        return remove_sliding.sentence(legs, done)


def _held(grid, values):
    """Numbers (n, legs) of contacts as a function of frames (n,) of the action, from those at ``grid``."""

    def at(frames):
        index = np.searchsorted(grid, frames + curves.SAME_FRAME, side="right") - 1
        return values[np.clip(index, 0, len(grid) - 1)]

    return at


class FOOTLOCK_OT_edit_contact(ContactOperator, bpy.types.Operator):
    bl_idname = "footlock.edit_contact"
    bl_label = "Edit Contact"
    bl_description = "Edit the contact of a foot in the frame of the playhead, and the result with it"

    edit: EnumProperty(name="Edit", description="What is done to the contact", items=_EDITS, default="PLANT")
    by: IntProperty(name="By", description="Frames by which a contact is shifted", default=1, soft_min=-10, soft_max=10)
    use_range: BoolProperty(
        name="Range", description="Plant, or free, from one frame to another and not at the playhead", default=False
    )
    range_start: IntProperty(name="From", description="First frame of the range", default=1)
    range_end: IntProperty(name="To", description="Last frame of the range", default=1)

    @classmethod
    def description(cls, context, properties):
        return bpy.app.translations.pgettext_tip(_DESCRIPTIONS[properties.edit])

    def work(self, context, armature):
        found = yield from self._in_cycle(context, armature, self._labels(context, armature))
        which = range(len(found.legs.legs)) if self.leg < 0 else [self.leg]
        states = contact_property.states(armature, found.legs)
        edited = {i: new for i in which if (new := self._edited(found, found.values[:, i])) is not None}
        for i in edited or which:
            if states[i] in PROTECTED:
                leg = found.legs.legs[i].label
                raise FootlockError(
                    "The contact curve of {leg} is {state}: unlock and unmute it to edit it.",
                    leg=leg,
                    state=states[i].said,
                )
        if not edited:
            if self.leg < 0:
                raise FootlockError("No leg has anything to edit in this frame: move the playhead.")
            raise FootlockError(_NOTHING[self.edit], leg=found.legs.legs[self.leg].label)
        said = yield from self._writing(context, armature, self._edit(armature, found, edited))
        counts = (contacts_of(found.legs.legs[i].label, len(label_edits.runs(new))) for i, new in edited.items())
        return together(Said("{contacts}.", contacts=Listed(counts)), said)

    def _edit(self, armature, found, edited):
        """The Edit that gives some legs, by index, new numbers (frames,)."""
        values, placed = found.values.copy(), footprints.stored(armature)
        origins = list(contact_property.origins(armature, found.legs))
        for i, new in edited.items():
            values[:, i], origins[i] = new, contact_report.HAND
            placed = self._placed(placed, found, i, new)

        def write():
            for i, new in edited.items():
                others = [leg for leg in range(values.shape[1]) if leg != i]
                for first, stop in contacts.runs(new != found.values[:, i]):
                    span = found.frames[first], found.frames[stop - 1]
                    contact_property.write(armature, found.legs, found.frames, values, span, skip=others)
            footprints.store(armature, placed)
            mapping.remember(armature, found.legs)

        return remove_sliding.Edit(_held(found.frames, values), placed, origins, write)

    def _placed(self, placed, found, leg, new):
        """The Footprints when a leg's numbers (frames,) are new."""
        bone, frames = found.legs.legs[leg].bearer, found.frames
        if self.edit == "FREE":
            freed = contacts.runs(found.values[:, leg] > new)
            return footprints.without(placed, bone, *((frames[first], frames[stop - 1]) for first, stop in freed))
        if self.edit == "SHIFT":
            first, length = frames[0], found.period * found.step
            by = found.step * self._room(found, found.values[:, leg])

            def when(frame):
                return first + (frame + by - first) % length if length else np.clip(frame + by, first, frames[-1])

            return footprints.moved(placed, bone, found.spans_here(leg), lambda frame: float(when(frame)))
        return placed

    def _edited(self, found, values):
        """New values (frames,) of a leg, None where there is nothing to edit."""
        edit = self._editing(found)
        if not found.period:
            return edit(values, 0)
        if self.edit in ("START", "END", "SHIFT") and label_edits.always(values[: found.period]):
            return None  # it has neither start nor end
        return label_edits.repeated(edit, values, found.period)

    def _is_for_range(self):
        return self.use_range and self.edit in ("PLANT", "FREE")

    def _editing(self, found):
        """The edit as a function of values (frames,), and of how far the indices of frames are on there."""
        if self._is_for_range():
            first, last = self._range(found)
            edit = label_edits.planted if self.edit == "PLANT" else label_edits.freed
            return lambda values, on: edit(values, first + on, last + on)
        at = found.at % found.period if found.period else found.at
        if self.edit == "PLANT":
            return lambda values, on: label_edits.made(values, at + on, round(_LENGTH * found.frame_rate))
        if self.edit == "SHIFT":
            return lambda values, on: label_edits.shifted(values, at + on, self._frames(found))
        edits = {
            "FREE": label_edits.deleted,
            "SPLIT": label_edits.split,
            "JOIN": label_edits.joined,
            "START": label_edits.started,
            "END": label_edits.ended,
        }
        return lambda values, on: edits[self.edit](values, at + on)

    def _room(self, found, values):
        """By how many frames the contact of values (frames,) of a leg is shifted."""
        if not found.period:
            return label_edits.room(values, found.at, self._frames(found))
        at = found.at % found.period + found.period
        return label_edits.room(np.tile(values[: found.period], 3), at, self._frames(found))

    def _range(self, found):
        """Indices of the first and last frame of the range."""
        if self.range_end < self.range_start:
            raise FootlockError(
                "The range ends at frame {range_end}, before it starts at {range_start}: set its end later.",
                range_end=self.range_end,
                range_start=self.range_start,
            )
        ends = found.time.to_action([self.range_start, self.range_end])
        half = 0.5 * found.step
        if ends[1] < found.frames[0] - half or ends[0] > found.frames[-1] + half:
            first, last = found.time.to_scene(found.frames[[0, -1]])
            raise FootlockError(
                "The range, frames {range_start} to {range_end}, is outside the action, which goes from {first:g} to"
                " {last:g}: set it there.",
                range_start=self.range_start,
                range_end=self.range_end,
                first=first,
                last=last,
            )
        return (int(np.abs(found.frames - frame).argmin()) for frame in ends)

    def _frames(self, found):
        """By how many of the clip's frames a contact is shifted."""
        return round(self.by / (found.time.scale * found.step))


class FOOTLOCK_OT_move_footprint(ContactOperator, bpy.types.Operator):
    bl_idname = "footlock.move_footprint"
    bl_label = "Move Footprint"
    bl_description = "Have a contact stand elsewhere, or turned: the rest of the motion follows as little as it can"

    offset: FloatVectorProperty(
        name="Move (m)", description="Where the footprint goes from where it is, in the world, metres: over the floor,"
        " and up from it", size=3, min=-_FARTHEST, max=_FARTHEST, precision=3, step=1,
    )  # fmt: skip
    turn: FloatProperty(
        name="Turn", description="By how much the foot turns about the vertical", subtype="ANGLE", default=0.0,
        min=-_FARTHEST, max=_FARTHEST,
    )  # fmt: skip

    def work(self, context, armature):
        scene = context.scene
        if self.leg < 0:
            raise FootlockError("No footprint is chosen: click one in the viewport.")
        if scene.footlock.method == "runtime":
            raise FootlockError(
                "The runtime lock holds feet where they land: set Method to Whole Clip to move footprints."
            )
        if not (np.abs([*self.offset, self.turn]) < _FARTHEST).all():
            raise FootlockError(
                "A footprint moves by up to {farthest:g} m, and turns by an angle: give it less.", farthest=_FARTHEST
            )
        found = yield from self._in_cycle(context, armature, self._labels(context, armature))
        leg = found.legs.legs[self.leg]
        run = label_edits.contact_at(found.values[:, self.leg], found.at)
        if run is None:
            raise FootlockError("{leg} has no contact in this frame: choose another footprint.", leg=leg.label)
        clip = yield from part(clips.reading(scene, armature, found.legs, scene.footlock.unit), 0.0, 0.2)
        spans, placed = found.spans_here(self.leg), footprints.stored(armature)
        middle = float(clip.frames[(run[0] + run[1]) // 2])
        old = footprints.of_contact(placed, leg.bearer, *spans) or footprints.Footprint(leg.bearer, middle)
        toe = np.median(clip.leg_pose().toe[run[0] : run[1], self.leg], axis=0)
        there = toe if old.place is None else footprints.world(clip, old)
        place = footprints.in_armature(clip, old.frame, there + np.array([*self.offset[:2], 0.0]))
        new = replace(old, place=place, lift=old.lift + self.offset[2], turn=_turned(old.turn + self.turn))
        edit = _placing(armature, found, [*footprints.without(placed, leg.bearer, *spans), new])
        edit = replace(edit, check=lambda done: _check_reach(done, found.legs, self.leg, spans))
        said = yield from part(self._writing(context, armature, edit), 0.2, 1.0)
        return together(Said("The footprint of {leg} moved.", leg=leg.label), said)


class FOOTLOCK_OT_reset_footprint(ContactOperator, bpy.types.Operator):
    bl_idname = "footlock.reset_footprint"
    bl_label = "Reset Footprint"
    bl_description = "Have the contact stand where the correction finds best, as before it was moved"

    def work(self, context, armature):
        found = yield from self._in_cycle(context, armature, self._labels(context, armature))
        before = placed = footprints.stored(armature)
        for i in range(len(found.legs.legs)) if self.leg < 0 else [self.leg]:
            placed = footprints.without(placed, found.legs.legs[i].bearer, *found.spans_here(i))
        count = len(before) - len(placed)
        if not count:
            raise FootlockError("No footprint was moved by hand here: choose another one.")
        said = yield from self._writing(context, armature, _placing(armature, found, placed))
        found_again = counted(
            count, "{count} footprint is where it was found.", "{count} footprints are where they were found."
        )
        return together(found_again, said)


def _turned(angle):
    """The same turn by no more than half of a whole one, so far as a property in single precision tells it."""
    return round(float(np.remainder(angle + np.pi, 2.0 * np.pi) - np.pi), 6) + 0.0


def _check_reach(done, legs, leg, spans):
    """Raise EditRefused where a leg does not reach a contact, from one frame to another, in most of its frames."""
    there = np.any([curves.within(done.clip.frames, span) for span in spans], axis=0)
    if done.out_of_reach[there, leg].mean() > 0.5:
        raise remove_sliding.EditRefused(
            "{leg} does not reach that far: move the footprint less.", leg=legs.legs[leg].label
        )


def _placing(armature, found, placed):
    """The Edit that changes no contact, but where they stand."""

    def write():
        footprints.store(armature, placed)
        mapping.remember(armature, found.legs)

    origins = contact_property.origins(armature, found.legs)
    return remove_sliding.Edit(_held(found.frames, found.values), placed, origins, write)
