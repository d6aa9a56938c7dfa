"""Long work that is stopped: at every step at which it may be, all is as it was, and to its end it does what it does at
once."""

import contextlib
import tempfile
import time
import unittest
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import bpy
import numpy as np
from blender import control_rigs, rigs
from blender.test_nla import push_down, tweak

from footlock import operators
from footlock.operators import fit_root, long_work, remove_sliding
from footlock.operators.remove_sliding import Options
from footlock.rig import compat, contact_property, correction, curves, mapping, nla_bake, restoring, results, stepwise

# A walk just long enough to have a contact of each foot.
FRAMES = np.arange(1.0, 31.0)
CONTROL_FRAMES = 13
# Where a work may be stopped at each of many steps a Blender does so at every third, and others at those between.
BETWEEN = (10 * bpy.app.version[0] + bpy.app.version[1]) % 3


def labels():
    found = np.zeros((len(FRAMES), 2), bool)
    found[4:12, 0] = found[22:28, 0] = found[13:21, 1] = True
    return found


def walker(**options):
    """A walk as animators have it: keys of all kinds of handles, some selected, some curves with fewer keys, modifiers,
    and what a person has done to a contact curve."""
    rigs.new_file()
    armature = rigs.biped(**options)
    rigs.walk(armature, FRAMES)
    for number, curve in enumerate(rigs.curves(armature).values()):
        points = curve.keyframe_points
        points.foreach_set("interpolation", np.full(len(points), number % 3, np.int32))
        for side, kinds in (("handle_left_type", number % 5), ("handle_right_type", (number // 2) % 5)):
            points.foreach_set(side, np.full(len(points), kinds, np.int32))
        curve.update()
        points.foreach_set("select_control_point", np.arange(len(points)) % 3 == number % 3)
        points.foreach_set("select_left_handle", np.arange(len(points)) % 4 == 0)
        points.foreach_set("type", np.full(len(points), number % 4, np.int32))
        curve.extrapolation = ("CONSTANT", "LINEAR")[number % 2]
    location = rigs.curve_of(armature, "pelvis", "location", 2)
    for kind, muted in (("CYCLES", False), ("LIMITS", True), ("NOISE", False), ("STEPPED", True)):
        location.modifiers.new(kind).mute = muted
    location.modifiers[2].strength = 0.02
    every_third = rigs.curve_of(armature, "shin.L", "rotation_quaternion", 1)
    for i in reversed(range(len(FRAMES))):
        if i % 3:
            every_third.keyframe_points.remove(every_third.keyframe_points[i])
    channels = compat.channels(armature)
    for curve in [one for one in channels.fcurves if one.data_path.endswith('toe.R"].rotation_quaternion')]:
        channels.fcurves.remove(curve)
    contact_property.write(armature, mapping.of(armature), FRAMES, labels(), detected=True)
    armature.pose.bones["toe.L"].scale = (1.1, 1.1, 1.1)  # a pose without keys
    bpy.context.scene.frame_set(7, subframe=0.25)
    bpy.context.view_layer.update()
    return armature


def plain_walker():
    """A walk with keys on every frame, of channels that rest at nothing, as a layer wants it."""
    rigs.new_file()
    armature = rigs.biped()
    rigs.walk(armature, FRAMES)
    contact_property.write(armature, mapping.of(armature), FRAMES, labels())
    bpy.context.scene.frame_set(7)
    return armature


def control_rig():
    """A rig with inverse kinematics, whose controls get the keys; its labels."""
    rigs.new_file()
    with mock.patch.object(control_rigs, "FRAMES", CONTROL_FRAMES):
        rig = control_rigs.built()
        planted = control_rigs.walk(rig, {"control.L": 0.0, "control.R": 0.5}, "pelvis")
    contact_property.write(rig, mapping.of(rig), 1.0 + np.arange(CONTROL_FRAMES), planted)
    bpy.context.scene.frame_set(5)
    return rig


def plain(value):
    """The value of a custom property without Blender's own objects, whose text tells where they are in memory."""
    if isinstance(value, list):
        return [plain(one) for one in value]
    return value.to_dict() if hasattr(value, "to_dict") else value


def state():
    """All that a stopped run must leave alone, to the byte."""
    found = rigs.everything()
    for action in bpy.data.actions:
        own = {name: plain(value) for name, value in action.items()}
        found["action", action.name, "more"] = (repr(own), action.use_fake_user)
        for slot, held in rigs.containers(action):
            found["order", action.name, slot] = [(one.data_path, one.array_index) for one in held.fcurves]
            for curve in held.fcurves:
                for side in ("select_left_handle", "select_right_handle"):
                    handles = np.empty(len(curve.keyframe_points), bool)
                    curve.keyframe_points.foreach_get(side, handles)
                    found[side, action.name, slot, curve.data_path, curve.array_index] = handles.tobytes()
    for ob in bpy.data.objects:
        data = ob.animation_data
        found["nla", ob.name] = data and (
            data.use_nla,
            data.use_tweak_mode,
            [
                (track.name, track.mute, [(one.name, one.action.name, one.frame_start) for one in track.strips])
                for track in data.nla_tracks
            ],
        )
        if ob.type == "ARMATURE":
            bpy.context.view_layer.update()
            found["pose", ob.name] = [np.array(bone.matrix).tobytes() for bone in ob.pose.bones]
            found["channels", ob.name] = [
                (bone.location[:], bone.rotation_quaternion[:], bone.scale[:]) for bone in ob.pose.bones
            ]
    found["active"] = bpy.context.view_layer.objects.active.name
    return found


def stopped_after(steps, count, found):
    """Close steps after so many; False where they have ended before that. found: what their jobs gave in runs before,
    from the same start, is not calculated again, and what is new is added."""
    value, jobs = None, 0
    with contextlib.closing(steps):
        for _ in range(count):
            try:
                step = steps.send(value)
            except StopIteration:
                return False
            value = None
            if step.job is not None:
                if jobs == len(found):
                    found.append(step.job(lambda share: None))
                value = found[jobs]
                jobs += 1
    return True


class Failing(Exception):
    """What nobody expects."""


class StoppingCase(unittest.TestCase):
    maxDiff = 2000

    def tearDown(self):
        long_work.stop()

    def check(self, make, steps, least=20, every=11, first=0):
        """Stop the ``steps`` of an armature at each of them, or at some of many, from the ``first`` on; then let them
        go on to the end, once with jobs in a thread and once at once, which gives the same keys."""
        armature = make()
        before = state()
        count, writes, found = first + BETWEEN, first > 0, []
        while True:
            # Until something is written, only the frame has to be put back.
            count += every if writes else 11
            with mock.patch.object(restoring, "Kept", wraps=restoring.Kept) as kept:
                if not stopped_after(steps(armature), count, found):
                    break
                writes = kept.called
            after = state()
            differing = [key for key in before.keys() | after.keys() if before.get(key) != after.get(key)]
            self.assertEqual(differing, [], f"after {count} steps")
        self.assertGreater(count, least)
        work = stepwise.Work(steps(make()))
        while not work.advance(0.0):
            work.waits(1.0)  # a job gets the processor, and is not asked all the time
        driven = state()
        self.assertNotEqual(driven, before)
        stepwise.finish(steps(make()))
        self.assertEqual(state(), driven)
        return count


class RemoveSliding(StoppingCase):
    # So many steps are of what is removed, and at least forty follow.
    PANEL = 215

    def removing(self, **options):
        def steps(armature):
            legs = mapping.of(armature)
            return remove_sliding.removing(bpy.context.scene, armature, legs, options=Options(**options))

        return steps

    def test_in_place(self):
        self.check(walker, self.removing(), least=100, every=3)

    def test_of_reduced_keys_in_a_range(self):
        self.check(walker, self.removing(key_tolerance=1e-3, span=(8, 26)))

    def test_of_the_keys_that_are_there(self):
        self.check(plain_walker, self.removing(only_keys=True))

    def test_with_what_the_panel_keeps(self):
        """Modifiers have become keys when the report is made."""
        properties = bpy.ops.footlock.remove_sliding.get_rna_type().properties
        given = {one.identifier: one.default for one in properties if hasattr(one, "default")}
        for result in (results.IN_PLACE, results.NEW):
            with self.subTest(result):
                chosen = SimpleNamespace(**{**given, "result": result})
                self.check(
                    walker,
                    lambda armature, chosen=chosen: remove_sliding.removing_as_set(
                        bpy.context.scene, armature, mapping.of(armature), chosen
                    ),
                    least=self.PANEL + 40,
                    every=3,
                    first=self.PANEL,
                )

    def test_a_new_action(self):
        self.check(walker, self.removing(result=results.NEW), least=100)

    def test_a_new_action_that_is_one(self):
        def again():
            armature = walker()
            bpy.ops.footlock.copy_action()
            return armature

        self.check(again, self.removing(result=results.NEW))

    def test_a_layer(self):
        self.check(plain_walker, self.removing(result=results.LAYER), least=100)

    def test_a_layer_of_a_copy_that_was_made_for_it(self):
        def fitted():
            armature = plain_walker()
            bpy.ops.footlock.fit_root(result="LAYER")
            return armature

        self.check(fitted, self.removing(result=results.LAYER))

    def test_an_action_that_is_shared(self):
        def shared():
            armature = walker()
            other = armature.copy()
            bpy.context.scene.collection.objects.link(other)
            return armature

        for result in (results.IN_PLACE, results.NEW):
            self.check(shared, self.removing(result=result))

    def test_a_tweaked_strip(self):
        def tweaked():
            armature = plain_walker()
            push_down(armature)
            tweak(armature)
            bpy.context.scene.frame_set(115)
            return armature

        self.check(tweaked, self.removing())

    def test_a_control_rig(self):
        self.check(control_rig, self.removing(), least=100, every=3)

    def test_a_new_action_of_a_control_rig(self):
        self.check(control_rig, self.removing(result=results.NEW), least=100)

    def test_a_layer_of_a_control_rig(self):
        self.check(control_rig, self.removing(result=results.LAYER), least=100)


class Others(StoppingCase):
    def test_fit_root(self):
        for result in (results.IN_PLACE, results.NEW):
            with self.subTest(result):
                self.check(
                    lambda: walker(root=True),
                    lambda armature, result=result: fit_root.fitting(
                        bpy.context.scene, armature, mapping.of(armature), result=result
                    ),
                )

    def test_bake_from_nla(self):
        def strips():
            armature = plain_walker()
            push_down(armature, 11, 1.0)
            bpy.context.scene.frame_set(15)
            return armature

        self.check(strips, lambda armature: nla_bake.baking(bpy.context.scene, armature))


class Unexpected(StoppingCase):
    """An error of ours, in the middle."""

    def failing_at(self, owner, name, make, run, call=1):
        armature = make()
        before = state()
        real, calls = getattr(owner, name), []

        def fails(*arguments, **named):
            calls.append(1)
            if len(calls) > call:
                raise Failing
            return real(*arguments, **named)

        with mock.patch.object(owner, name, fails), self.assertRaises((Failing, RuntimeError)):
            run(armature)
        self.assertGreater(len(calls), call)
        self.assertEqual(state(), before)

    def test_while_keys_are_written(self):
        for call in range(3):
            self.failing_at(
                correction, "_write_curve", walker, lambda armature: bpy.ops.footlock.remove_sliding(), call
            )

    def test_while_a_layer_is_laid(self):
        for call in range(2):
            self.failing_at(
                results,
                "_strip",
                plain_walker,
                lambda armature: bpy.ops.footlock.remove_sliding(result="LAYER"),
                call,
            )

    def test_in_a_job(self):
        def run(armature):
            legs = mapping.of(armature)
            work = stepwise.Work(remove_sliding.removing(bpy.context.scene, armature, legs))
            while not work.advance(1.0):
                pass

        for make in (walker, control_rig):
            self.failing_at(remove_sliding, "_standing", make, run, 0)


def overwriting():
    """Use the memory that somebody has given back."""
    for i in range(20):
        empty = bpy.data.objects.new(f"Other {i}", None)
        empty.keyframe_insert("location")
        for curve in compat.channels(empty).fcurves:
            curve.keyframe_points.add(len(FRAMES) - 1)


class Modal(StoppingCase):
    """The operator itself, with a hand that drives it: there is no window here."""

    def start(self, armature, **options):
        """A stand-in for the operator, at work."""
        cls = remove_sliding.FOOTLOCK_OT_remove_sliding
        self.said = []
        properties = bpy.ops.footlock.remove_sliding.get_rna_type().properties
        given = {one.identifier: one.default for one in properties if hasattr(one, "default")}
        given |= options
        # All of its classes but for Blender's own, of which nobody makes an instance.
        plain = [base for base in cls.__bases__ if not issubclass(base, bpy.types.Operator)]
        own = {name: value for name, value in vars(cls).items() if not name.startswith("__")}
        operator = type("StandIn", tuple(plain), own)()
        vars(operator).update(given)
        operator.properties = SimpleNamespace(bl_rna=bpy.ops.footlock.remove_sliding.get_rna_type(), **given)
        operator.report = lambda kind, text: self.said.append((kind, text))
        self.window = Window(armature)
        with mock.patch.object(long_work, "_AT_ONCE", 0.0), mock.patch.object(long_work, "_SLICE", 0.0):
            self.assertEqual(operator.invoke(self.window.context, None), {"RUNNING_MODAL"})
        return operator

    def drive(self, operator, count=10_000):
        """Timer events, at most so many, until the operator ends; what it returned last."""
        for _ in range(count):
            with mock.patch.object(long_work, "_SLICE", 0.0):
                returned = operator.modal(self.window.context, SimpleNamespace(type="TIMER", value="NOTHING"))
            if returned & {"FINISHED", "CANCELLED"}:
                break
            time.sleep(0.001)
        return returned

    def test_to_its_end_it_is_as_at_once(self):
        self.assertEqual(self.drive(self.start(walker())), {"FINISHED"})
        driven, said = state(), self.said
        self.assertEqual(said[0][0], {"INFO"})
        armature = walker()
        with rigs.reports() as reported:
            self.assertEqual(bpy.ops.footlock.remove_sliding(), {"FINISHED"})
        self.assertEqual(state(), driven)
        self.assertEqual(said[0][1], reported[0])
        self.assertEqual(armature.data.footlock.result_action, "Action")

    def test_what_is_shown(self):
        operator = self.start(walker())
        self.assertTrue(long_work.is_running())
        self.assertFalse(bpy.ops.footlock.detect_contacts.poll())
        self.drive(operator)
        self.assertFalse(long_work.is_running())
        self.assertTrue(bpy.ops.footlock.detect_contacts.poll())
        texts = [text for text in self.window.texts if text]
        self.assertGreater(len(texts), 5)
        self.assertRegex(texts[0], r"^Footlock: Remove Sliding, \w.* … \d+ % \(Esc stops\)$")
        shares = [int(text.split(" % ")[0].rsplit(" ", 1)[1]) for text in texts]
        self.assertEqual(shares, sorted(shares))
        self.assertEqual(self.window.shares, shares)
        self.assertIsNone(self.window.texts[-1])
        self.assertEqual((self.window.timers, self.window.cursors, self.window.handlers), (0, 0, 1))

    def stop_by(self, end, make=walker):
        armature = make()
        before = state()
        for steps in (1, 60, 150):
            operator = self.start(armature)
            self.assertEqual(self.drive(operator, steps) & {"CANCELLED", "FINISHED"}, set())
            end(operator)
            self.assertFalse(long_work.is_running())
            self.assertEqual(state(), before)
            self.assertEqual((self.window.timers, self.window.cursors, self.window.texts[-1]), (0, 0, None))
        return operator

    def event(self, operator, kind, value="PRESS"):
        return operator.modal(self.window.context, SimpleNamespace(type=kind, value=value))

    def test_escape(self):
        self.stop_by(lambda operator: self.assertEqual(self.event(operator, "ESC"), {"CANCELLED"}))
        self.assertEqual(self.said, [({"WARNING"}, "Remove Sliding was stopped, and nothing is changed.")])

    def test_other_events_do_nothing(self):
        operator = self.start(walker())
        for kind, value in (("LEFTMOUSE", "PRESS"), ("RIGHTMOUSE", "PRESS"), ("ESC", "RELEASE"), ("Z", "PRESS")):
            self.assertEqual(self.event(operator, kind, value), {"RUNNING_MODAL"})
        self.assertTrue(long_work.is_running())

    def test_blender_ends_it(self):
        self.stop_by(lambda operator: operator.cancel(self.window.context))

    def test_the_extension_is_switched_off(self):
        def off(operator):
            operators.unregister()
            operators.register()
            self.assertEqual(self.event(operator, "MOUSEMOVE"), {"CANCELLED"})

        self.stop_by(off)

    def test_an_undo_stops_it_first(self):
        armature = walker()
        name, before = armature.name, rigs.dump(armature)
        bpy.ops.ed.undo_push(message="base")
        operator = self.start(armature)
        self.drive(operator, 150)
        bpy.ops.ed.undo_push(message="of a script")
        bpy.ops.ed.undo()
        self.assertFalse(long_work.is_running())
        self.assertEqual(self.event(operator, "MOUSEMOVE"), {"CANCELLED"})
        if name in bpy.data.objects:
            held = rigs.dump(bpy.data.objects[name])
            self.assertEqual(before.keys(), held.keys())

    def test_it_is_not_saved_half_done(self):
        armature = walker()
        before = state()
        operator = self.start(armature)
        while operator._running.work.what != correction._WRITING:
            self.drive(operator, 1)
        with tempfile.TemporaryDirectory() as folder:
            bpy.ops.wm.save_as_mainfile(filepath=str(Path(folder, "saved.blend")), copy=True)
        self.assertFalse(long_work.is_running())
        self.assertEqual(self.event(operator, "MOUSEMOVE"), {"CANCELLED"})
        self.assertEqual(state(), before)

    def test_a_bone_gets_another_name(self):
        for what, corrected, result in (
            ("reading curves", False, "IN_PLACE"),
            (correction._WRITING, False, "IN_PLACE"),
            (correction._WRITING, True, "IN_PLACE"),
            (correction._WRITING, False, "NEW"),
        ):
            with self.subTest(what, corrected=corrected, result=result):
                armature = walker()
                bpy.context.view_layer.objects.active = armature
                if corrected:
                    bpy.ops.footlock.remove_sliding()
                action, before = armature.animation_data.action, rigs.dump(armature)
                pose = rigs.evaluated(armature, FRAMES, ("toe.L", "toe.R", "shin.L"))[0]
                operator = self.start(armature, result=result)
                while operator._running.work.what != what:
                    self.assertEqual(self.drive(operator, 1), {"RUNNING_MODAL", "PASS_THROUGH"})
                self.drive(operator, 5)
                armature.data.bones["shin.L"].name = "Shin"
                self.assertEqual(self.drive(operator), {"CANCELLED"})
                self.assertIn("was stopped, and nothing is changed", self.said[0][1])
                armature.data.bones["Shin"].name = "shin.L"
                self.assertEqual(armature.animation_data.action, action)
                self.assertEqual(rigs.dump(armature).keys(), before.keys())
                after = rigs.evaluated(armature, FRAMES, ("toe.L", "toe.R", "shin.L"))[0]
                np.testing.assert_allclose(after, pose, atol=1e-6)
                if not corrected:  # Blender rounds some handles of a curve that it copies after its path was set
                    self.assertEqual(rigs.dump(armature), before)

    def test_another_file_stops_it(self):
        operator = self.start(walker())
        self.drive(operator, 150)
        rigs.new_file()
        self.assertFalse(long_work.is_running())
        self.assertEqual(self.event(operator, "MOUSEMOVE"), {"CANCELLED"})
        self.assertEqual(len(bpy.data.actions), 0)

    def test_the_armature_is_removed(self):
        for make, count in ((walker, 2), (walker, 150), (control_rig, 100)):
            armature = make()
            action, before = armature.animation_data.action, rigs.dump(armature)
            name = action.name
            action.use_fake_user = True
            operator = self.start(armature)
            self.drive(operator, count)
            bpy.data.objects.remove(armature)
            self.assertEqual(self.drive(operator), {"CANCELLED"})
            self.assertFalse(long_work.is_running())
            held = rigs.containers(bpy.data.actions[name])[0][1]
            after = {(curve.data_path, curve.array_index): rigs.dump_curve(curve) for curve in held.fcurves}
            self.assertEqual(after, before)

    def test_what_it_works_on_is_removed(self):
        """Also while keys are written, when Blender would write into memory that is no longer the curve's."""

        def action(armature):
            bpy.data.actions.remove(armature.animation_data.action)

        def curves_of_it(armature):
            held = compat.channels(armature).fcurves
            for curve in list(held):
                held.remove(curve)

        def one_curve(armature):
            held = compat.channels(armature).fcurves
            held.remove(held.find('pose.bones["thigh.R"].rotation_quaternion', index=2))

        def bones(armature):
            bpy.ops.object.mode_set(mode="EDIT")
            armature.data.edit_bones.remove(armature.data.edit_bones["toe.R"])
            bpy.ops.object.mode_set(mode="OBJECT")

        for remove in (action, curves_of_it, one_curve, bones):
            for before in (1, 3, 12):
                with self.subTest(remove.__name__, before=before):
                    armature = walker()
                    operator = self.start(armature)
                    written = 0
                    while written < before:
                        self.assertEqual(self.drive(operator, 1) & {"FINISHED", "CANCELLED"}, set())
                        written += operator._running.work.what == correction._WRITING
                    remove(armature)
                    overwriting()
                    self.assertEqual(self.drive(operator), {"CANCELLED"})
                    self.assertFalse(long_work.is_running())

    def test_what_the_user_can_mend_is_said(self):
        armature = walker()
        legs = mapping.of(armature)
        for leg in legs.legs:
            compat.remove_fcurve(armature, armature.pose.bones[leg.bearer].path_from_id() + '["contact"]', 0)
        before = state()
        self.assertEqual(self.drive(self.start(armature)), {"CANCELLED"})
        self.assertEqual(self.said[0][0], {"ERROR"})
        self.assertIn("click Detect Contacts first", self.said[0][1])
        self.assertEqual(state(), before)


class Window:
    """A window as the operator sees it, which counts what is done to it."""

    def __init__(self, armature):
        self.timers = self.cursors = self.handlers = 0
        self.texts, self.shares, self.windows = [], [], []
        self.context = SimpleNamespace(
            object=armature, scene=bpy.context.scene, window=None, window_manager=self, workspace=self
        )

    def event_timer_add(self, seconds, window):
        self.timers += 1
        return self

    def event_timer_remove(self, timer):
        self.timers -= 1

    def modal_handler_add(self, operator):
        self.handlers += 1

    def progress_begin(self, least, most):
        self.cursors += 1

    def progress_update(self, share):
        self.shares.append(share)

    def progress_end(self):
        self.cursors -= 1

    def status_text_set(self, text):
        self.texts.append(text)


class Keys(unittest.TestCase):
    def test_put_back_to_the_byte(self):
        """Handles that Blender would place elsewhere stay where they are."""
        armature = walker()
        curve = rigs.curve_of(armature, "thigh.L", "rotation_quaternion", 1)
        points = curve.keyframe_points
        points.foreach_set("handle_left_type", np.full(len(points), 1, np.int32))
        handles = np.random.default_rng(1).normal(size=2 * len(points)).astype(np.float32)
        points.foreach_set("handle_left", handles)
        held = rigs.dump_curve(curve)
        for changes in (self.fewer, self.moved):
            with contextlib.suppress(Failing), restoring.Kept(armature) as kept:
                kept.note(curve, curves.VALUES)
                kept.note(curve)
                changes(curve)
                self.assertNotEqual(rigs.dump_curve(curve), held)
                raise Failing
            self.assertEqual(rigs.dump_curve(curve), held)

    def fewer(self, curve):
        curve.keyframe_points.remove(curve.keyframe_points[3])

    def moved(self, curve):
        curve.keyframe_points[3].co[1] += 1.0
        curve.update()
