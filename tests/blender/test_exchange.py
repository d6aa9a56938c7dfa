"""FBX and glTF files through the batch: what is written, imported again by Blender, has feet that stand and all else as
it was."""

import json
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import bpy
import clips
import numpy as np
from blender import game_loops, rigs
from blender.test_batch import run

from footlock.operators import fit_root
from footlock.rig import compat, exchange, fbx, fbx_format, frame_times, gltf, mapping, names

COUNT = 44
FRAMES = np.arange(1.0, COUNT + 1.0)
LEGS = {f"{role}.{side}" for role in ("thigh", "shin", "foot", "toe") for side in "LR"}
TOES = ("toe.L", "toe.R")
# Each foot twice for a quarter of a second.
PLANTED = np.zeros((len(FRAMES), 2), bool)
PLANTED[3:10, 0] = PLANTED[24:31, 0] = PLANTED[14:21, 1] = PLANTED[35:42, 1] = True
# Metres a frame.
STANDS = 0.05e-3


def quietly(function, **arguments):
    with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
        return function(**arguments)


def character(name="Biped", *, size=1.0, frames=FRAMES, root=False, speed=1.0):
    """A walking biped whose root travels too far, with a skinned mesh and custom properties."""
    armature = rigs.biped(name, size=size, root=root)
    rigs.walk(armature, frames, size=size, speed=speed)
    armature.animation_data.action.name = f"{name} walk"
    mesh = bpy.data.meshes.new(f"{name} skin")
    corners = [bone.head_local for bone in armature.data.bones] + [bone.tail_local for bone in armature.data.bones]
    count = len(armature.data.bones)
    mesh.from_pydata(corners, [], [(i, (i + 1) % count, i + count) for i in range(count)])
    mesh.materials.append(bpy.data.materials.new(f"{name} material"))
    skin = bpy.data.objects.new(f"{name} skin", mesh)
    bpy.context.scene.collection.objects.link(skin)
    skin.parent = armature
    skin.modifiers.new("Armature", "ARMATURE").object = armature
    for i, bone in enumerate(armature.data.bones):
        skin.vertex_groups.new(name=bone.name).add([i, i + count], 0.75, "REPLACE")
    armature["hair"] = "red"
    return armature


def prop():
    """Another animated object."""
    mesh = bpy.data.meshes.new("Ball")
    mesh.from_pydata([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [], [(0, 1, 2)])
    ball = bpy.data.objects.new("Ball", mesh)
    bpy.context.scene.collection.objects.link(ball)
    rigs.key(ball, "location", rigs.wave(np.random.default_rng(5), FRAMES, 3, 1.0), FRAMES)
    return ball


def stash(armature, actions):
    """Each action on an NLA track of its own, from which the exporters make takes."""
    for action in actions:
        track = armature.animation_data.nla_tracks.new()
        track.name = action.name
        track.strips.new(action.name, 1, action)
    armature.animation_data.action = None
    set_range()


def set_range(rate=30, base=1.0):
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = int(FRAMES[0]), int(FRAMES[-1])
    scene.render.fps, scene.render.fps_base = rate, base


def export(path, **options):
    """The scene as a file, with a key on every frame."""
    if path.suffix == ".fbx":
        given = {"bake_anim_use_nla_strips": False, "bake_anim_use_all_actions": False, **options}
        quietly(
            bpy.ops.export_scene.fbx, filepath=str(path), add_leaf_bones=False, bake_anim_simplify_factor=0.0,
            use_custom_props=True, **given,
        )  # fmt: skip
    else:
        kind = "GLB" if path.suffix == ".glb" else "GLTF_SEPARATE"
        given = {"export_animation_mode": "ACTIVE_ACTIONS", **options}
        quietly(bpy.ops.export_scene.gltf, filepath=str(path), export_format=kind, export_extras=True, **given)
    return path


_exported = {}


def exported(folder, kind):
    """The walking character alone as a file of this kind, which is exported once."""
    if kind not in _exported:
        rigs.new_file()
        character()
        set_range()
        with tempfile.TemporaryDirectory() as made:
            export(Path(made) / f"walk{kind}")
            _exported[kind] = {path.name: path.read_bytes() for path in Path(made).iterdir()}
    for name, content in _exported[kind].items():
        (folder / name).write_bytes(content)
    return folder / f"walk{kind}"


def import_file(path, rate=30):
    """The file in an empty scene."""
    rigs.new_file()
    if path.suffix == ".fbx":
        quietly(bpy.ops.import_scene.fbx, filepath=str(path), anim_offset=0.0)
    else:
        bpy.context.scene.render.fps = rate
        quietly(bpy.ops.import_scene.gltf, filepath=str(path))
    bpy.context.view_layer.update()


def armatures():
    return sorted((one for one in bpy.data.objects if one.type == "ARMATURE"), key=lambda one: one.name)


def shape():
    """What the file holds besides keys."""
    found = {}
    for one in bpy.data.objects:
        found[one.name] = (
            one.type,
            one.parent.name if one.parent else None,
            sorted(one.keys()),
            *map(tuple, one.matrix_world),
        )
        if one.type == "MESH":
            groups = [[(g.group, g.weight) for g in v.groups] for v in one.data.vertices]
            found[one.name] += (
                [tuple(v.co) for v in one.data.vertices], groups, [m.name for m in one.data.materials if m],
                [g.name for g in one.vertex_groups],
            )  # fmt: skip
        if one.type == "ARMATURE":
            found[one.name] += (
                [
                    (bone.name, bone.parent and bone.parent.name, *map(tuple, bone.matrix_local))
                    for bone in one.data.bones
                ],
            )
    return found


def keys(owner, action=None):
    """Keys (n, 2) of all curves of the action in use."""
    curves = compat.fcurves(owner)
    return {(c.data_path, c.array_index): np.stack(rigs.values(c), axis=1) for c in curves}


def toes(armature, frames):
    return rigs.evaluated(armature, frames, TOES)[0]


class Exchange(clips.InFolder):
    def setUp(self):
        super().setUp()
        rigs.new_file()

    def corrected(self, path, *options, target=None, clips_=("",)):
        """The batch's output, and what it said. Feet are planted as PLANTED says; ``clips_``: names of the clips where
        the file has several."""
        target = target or self.folder / "out" / path.name
        for name in clips_:
            labels = self.folder / (f"labels.{name}.json" if name else "labels.json")
            contacts = {toe: PLANTED[:, i].astype(int).tolist() for i, toe in enumerate(TOES)}
            labels.write_text(json.dumps({"contacts": contacts}))
        status, said = run(path, "-o", target, "--contacts", self.folder / "labels.json", "--root-scale", 1.2, *options)
        self.assertEqual(status, 0, said)
        return target, said

    def stands(self, path, unit=1.0, rate=30, which=0):
        """Planted toes stand in the written file, on every frame."""
        import_file(path, rate)
        self.stands_here(unit, which)

    def stands_here(self, unit=1.0, which=0):
        """The same in the file that was imported last."""
        armature = armatures()[which]
        first, last = armature.animation_data.action.frame_range
        frames = np.arange(round(first), round(last) + 1.0)
        self.assertEqual(len(frames), len(PLANTED))
        self.stand_at(toes(armature, frames) * unit)

    def stand_at(self, points):
        step = np.linalg.norm(np.diff(points, axis=0), axis=2)
        planted = PLANTED[: len(points)]
        planted = planted[1:] & planted[:-1]
        self.assertLess(step[planted].max(), STANDS)
        self.assertGreater(step[~planted].max(), 100.0 * STANDS)

    def only_legs_changed(self, source, target, rate=30):
        """All but the keys of legs and pelvis is the same to the bit; names of the channels that are not. The target
        stays imported."""
        import_file(source, rate)
        held, before = shape(), {one.name: keys(one) for one in bpy.data.objects if one.animation_data}
        import_file(target, rate)
        self.assertEqual(shape(), held)
        changed = set()
        for name, old in before.items():
            new = keys(bpy.data.objects[name])
            self.assertEqual(new.keys(), old.keys())
            for key, values in old.items():
                self.assertEqual(new[key].shape, values.shape, key)
                np.testing.assert_allclose(new[key][:, 0], values[:, 0], atol=1e-3)
                if not np.array_equal(new[key], values):
                    changed.add(key[0])
                    # What is decomposed from another matrix is another number in its last digits.
                    if key[0].endswith("scale"):
                        np.testing.assert_allclose(new[key], values, atol=1e-5)
        names = {path.split('"')[1] for path in changed}
        self.assertLessEqual(names, LEGS | {"pelvis", "root"})
        self.assertGreater(len(names), 6)
        return changed

    def through(self, path, *options, rate=30, **more):
        target, _ = self.corrected(path, *options)
        self.only_legs_changed(path, target, rate)
        self.stands_here(**more)

    def test_each_kind(self):
        for kind in (".fbx", ".glb", ".gltf"):
            with self.subTest(kind):
                rigs.new_file()
                character()
                prop()
                set_range()
                self.through(export(self.folder / f"walk{kind}"))

    def test_other_spaces(self):
        """Axes, units, bones' axes and the object's place as other programs have them."""
        cases = {
            "z up": dict(axis_forward="Y", axis_up="Z"),
            "x up": dict(axis_forward="Y", axis_up="X"),
            "scaled in the file": dict(apply_scale_options="FBX_SCALE_ALL"),
            "in units": dict(apply_scale_options="FBX_SCALE_UNITS"),
            "bones along x": dict(primary_bone_axis="X", secondary_bone_axis="Y"),
            "bones along -z": dict(primary_bone_axis="-Z", secondary_bone_axis="X"),
            "root node": dict(armature_nodetype="ROOT"),
            "joint node": dict(armature_nodetype="LIMBNODE"),
            "baked": dict(bake_space_transform=True),
        }
        for name, options in cases.items():
            with self.subTest(name):
                rigs.new_file()
                character(root=name in ("z up", "joint node"))
                set_range()
                # Blender's importer drops the scale of an armature that is a joint itself.
                unit = 100.0 if name == "joint node" else 1.0
                self.through(export(self.folder / f"{name}.fbx", **options), unit=unit)

    def test_joints_without_an_armature_node(self):
        """As Mixamo writes them: the hips are the top of the file, in centimetres."""
        armature = character(size=100.0)
        armature.scale = (0.01, 0.01, 0.01)
        bpy.data.objects.remove(bpy.data.objects["Biped skin"])
        set_range()
        path = export(self.folder / "hips.fbx", axis_forward="Y", axis_up="Z")
        file = fbx.read(path)
        null = file._models[file.names.index("Biped")]
        objects, links = file._part(b"Objects").records, file._part(b"Connections").records
        objects[:] = [one for one in objects if one.value(0) != null]
        links[:] = [one for one in links if one.value(1) != null and (one.value(0) == b"OO" or one.value(2) != null)]
        for one in links:
            if one.value(2) == null:
                one.set(2, b"L", 0)
        file.write(path)
        self.assertEqual(sum(parent < 0 for parent in fbx.read(path).parents), 1)
        self.through(path)

    def test_placed_objects(self):
        """The armature object scaled, turned, moved and hung from a turned parent, in both formats."""
        for kind in (".fbx", ".glb"):
            with self.subTest(kind):
                rigs.new_file()
                armature = character(size=100.0)
                armature.scale = (0.01, 0.01, 0.01)
                armature.rotation_euler, armature.location = (0.0, 0.0, 1.0), (3.0, -2.0, 0.0)
                above = bpy.data.objects.new("Above", None)
                bpy.context.scene.collection.objects.link(above)
                above.rotation_euler, above.location = (0.0, 0.0, -0.4), (0.0, 5.0, 0.0)
                armature.parent = above
                set_range()
                self.through(export(self.folder / f"placed{kind}"))

    def test_frame_rates(self):
        for kind in (".fbx", ".glb"):
            for rate, base in ((24, 1.0), (30, 1.001), (60, 1.0), (120, 1.0)):
                with self.subTest(kind=kind, rate=rate, base=base):
                    rigs.new_file()
                    character()
                    # glTF's exporter takes the product for the rate where Blender has the quotient.
                    set_range(rate, base if kind == ".fbx" else 1.0 / base)
                    path = export(self.folder / f"{rate} {base}{kind}")
                    target, said = self.corrected(path)
                    self.assertIn(f"{COUNT} frames at {rate / base:g} Hz", said)
                    before, after = (one.key_times() for one in map(self.read, (path, target)))
                    np.testing.assert_allclose(after, before, atol=1e-5)

    @staticmethod
    def read(path):
        return (fbx if path.suffix == ".fbx" else gltf).read(path)

    def test_joint_orients_and_orders(self):
        """Joints with rotations before and behind their own, every order of angles, and pivots, as Maya and Max write
        them."""
        path, turned = exported(self.folder, ".fbx"), self.folder / "turned.fbx"
        file, rng = fbx.read(path), np.random.default_rng(7)
        times = file.key_times()
        nodes = [i for i, name in enumerate(file.names) if name in LEGS | {"pelvis"}]
        locals_ = {i: file.local(0, i, times) for i in nodes}
        for i in nodes:
            properties = file._objects[file._models[i]].first(b"Properties70")
            for name, values in (
                (b"PreRotation", rng.uniform(-90.0, 90.0, 3)), (b"PostRotation", rng.uniform(-90.0, 90.0, 3)),
                (b"RotationPivot", rng.uniform(-1.0, 1.0, 3)),
            ):  # fmt: skip
                head = [(b"S", name), (b"S", b"Vector3D"), (b"S", b"Vector"), (b"S", b"")]
                properties.records.append(fbx_format.record(b"P", *head, *((b"D", float(value)) for value in values)))
            for name, kind, value in ((b"RotationActive", b"bool", 1), (b"RotationOrder", b"enum", i % 6)):
                head = [(b"S", name), (b"S", kind), (b"S", b""), (b"S", b"")]
                properties.records.append(fbx_format.record(b"P", *head, (b"I", value)))
        file.replaced([(0, i, times, locals_[i], True, True) for i in nodes]).write(turned)
        import_file(path)
        before = rigs.evaluated(armatures()[0], FRAMES, sorted(LEGS))[0]
        import_file(turned)
        after = rigs.evaluated(armatures()[0], FRAMES, sorted(LEGS))[0]
        self.assertLess(np.abs(after - before).max(), 1e-5)
        target, _ = self.corrected(turned)
        self.only_legs_changed(turned, target)
        self.stands_here()

    def test_curves_that_are_missing(self):
        """A toe without any curve, and one with a single one, get what the correction needs."""
        for kind in (".fbx", ".glb"):
            with self.subTest(kind):
                rigs.new_file()
                character()
                set_range()
                path = export(
                    self.folder / f"bare{kind}", **({} if kind == ".fbx" else {"export_optimize_animation_size": True})
                )
                file = self.read(path)
                if kind == ".fbx":
                    connections = file._part(b"Connections").records
                    models = {file._models[file.names.index(name)] for name in ("toe.L", "toe.R")}
                    gone = [one for one in connections if one.value(0) == b"OP" and one.value(2) in models]
                    connections[:] = [one for one in connections if one not in gone]
                    file.write(path)
                else:
                    toes_ = {file.names.index(name) for name in ("toe.L", "toe.R")}
                    for one in file.document["animations"]:
                        one["channels"] = [c for c in one["channels"] if c["target"]["node"] not in toes_]
                    file.write(path)
                target, _ = self.corrected(path)
                self.stands(target)

    def test_twins_and_takes(self):
        """Two characters of the same bones, each with its own motion, in one file."""
        for kind in (".fbx", ".glb"):
            with self.subTest(kind):
                rigs.new_file()
                character("One")
                other = character("Two", speed=1.3)
                other.location = (2.0, 0.0, 0.0)
                set_range()
                path = export(self.folder / f"twins{kind}")
                names = ("One Scene", "Two Scene") if kind == ".fbx" else ("One Animation", "Two Animation")
                target, said = self.corrected(path, clips_=names)
                self.assertEqual(said.count("slide"), 4)
                self.only_legs_changed(path, target)
                for which in range(2):
                    self.stands_here(which=which)

    def test_several_takes(self):
        """Every take is a clip of its own and keeps its name; a pose of one frame stays as it is."""
        for kind in (".fbx", ".glb"):
            with self.subTest(kind):
                rigs.new_file()
                armature = character()
                first = armature.animation_data.action
                rigs.new_action(armature, "Stroll")
                rigs.walk(armature, FRAMES, speed=0.6)
                second = armature.animation_data.action
                rigs.new_action(armature, "T-pose")
                rigs.walk(armature, FRAMES[:1])
                pose = armature.animation_data.action
                stash(armature, (pose, second, first))
                options = (
                    {"bake_anim_use_nla_strips": True} if kind == ".fbx" else {"export_animation_mode": "NLA_TRACKS"}
                )
                path = export(self.folder / f"takes{kind}", **options)
                report = self.folder / "report.json"
                clips_ = ("Biped walk", "Stroll")
                target, said = self.corrected(path, "--report", report, clips_=clips_)
                entries = json.loads(report.read_text(encoding="utf-8"))["clips"]
                self.assertEqual({one["action"]: one["frames"] for one in entries}, dict.fromkeys(clips_, COUNT))
                self.assertEqual(self.read(target).takes, self.read(path).takes)
                self.assertIn("“Stroll”", said)
                import_file(target)
                one = armatures()[0]
                for track in list(one.animation_data.nla_tracks):
                    one.animation_data.nla_tracks.remove(track)
                for action in clips_:
                    compat.assign(one, next(a for a in bpy.data.actions if action in a.name))
                    start = round(one.animation_data.action.frame_range[0])
                    self.stand_at(toes(one, start + np.arange(COUNT)))

    def test_nothing_to_fix_gives_the_same_file(self):
        """Without contacts the written FBX has the same content, and the .glb the same bytes."""
        for kind in (".fbx", ".glb"):
            with self.subTest(kind):
                path, labels = exported(self.folder, kind), self.folder / "none.json"
                labels.write_text(json.dumps({"contacts": {f"toe.{side}": [0] * COUNT for side in "LR"}}))
                target = self.folder / f"out{kind}"
                status, said = run(path, "-o", target, "--contacts", labels)
                self.assertEqual(status, 0, said)
                if kind == ".fbx":
                    self.assertEqual(fbx_format.read(target), fbx_format.read(path))
                else:
                    self.assertEqual(gltf.read(target).document, gltf.read(path).document)
                    self.assertEqual(gltf.read(target).binary, gltf.read(path).binary)

    def test_to_blend(self):
        """As a .blend the contact curves come along."""
        for kind in (".fbx", ".glb"):
            with self.subTest(kind):
                path = exported(self.folder, kind)
                target, _ = self.corrected(path, "--stretch", 0.01, target=self.folder / "out.blend")
                bpy.ops.wm.open_mainfile(filepath=str(target))
                armature = armatures()[0]
                curve = clips.curves(armature)[('pose.bones["toe.L"]["contact"]', 0)]
                frames = round(armature.animation_data.action.frame_range[0]) + np.arange(COUNT)
                self.assertEqual([curve.evaluate(frame) > 0.5 for frame in frames], PLANTED[:, 0].tolist())
                self.stand_at(toes(armature, frames))

    def test_a_root_that_travels_in_one_take_of_many(self):
        """Game characters at scale 100 with loose feet: the travel that Fit Root gives is in the file, and other takes
        are as they were."""
        cases = (
            ("character", "CharacterArmature|Walk", None),
            ("horse", "AnimalArmature|Gallop", game_loops.LEGS["horse"]),
        )
        for name, wanted, legs in cases:
            with self.subTest(name):
                path = clips.DATA / "rigs" / f"quaternius_{name}.glb"
                target = self.folder / path.name
                opened = exchange.open_gltf(path)
                armature = armatures()[0]
                if legs:
                    sides = [(pattern.replace("{}", side).split("|"), side) for pattern in legs for side in "LR"]
                    legs = names.LegMap("Body", tuple(names.Leg(side, *bones, "") for bones, side in sides))
                else:
                    legs = mapping.find(armature)
                take = next(one for one in opened.takes if one.name == wanted)
                opened.use(take)
                before = opened.read(armature, legs, 0.0)
                done = fit_root.fit(opened.scene, armature, legs, before.unit)
                self.assertEqual(done.fit.kind, "path")
                opened.keep(take, armature, legs, before)
                frames = before.frames
                expected = rigs.evaluated(armature, frames, [bone.name for bone in armature.pose.bones])[0]
                opened.write(target)
                again = exchange.open_gltf(target)
                armature = armatures()[0]
                again.use(next(one for one in again.takes if one.name == wanted))
                found = rigs.evaluated(armature, frames, [bone.name for bone in armature.pose.bones])[0]
                # The file counts in hundredths of a metre of tiny bones.
                self.assertLess(np.abs(found - expected).max(), 1e-5 * np.abs(expected).max())
                self.assertGreater(np.ptp(found[:, 0, :2], axis=0).max(), 0.5)
                old, new = gltf.read(path), gltf.read(target)
                for i, other in enumerate(old.takes):
                    for node in range(len(old.names)):
                        if other != wanted:
                            a, b = (one.local(i, node, frames / 24.0) for one in (old, new))
                            np.testing.assert_array_equal(a.location, b.location)
                            np.testing.assert_array_equal(a.rotation, b.rotation)

    def test_bvh_to_blend(self):
        target, report = self.folder / "out.blend", self.folder / "report.json"
        status, said = run(clips.part(self.folder), "-o", target, "--root-scale", 1.2, "--report", report)
        self.assertEqual(status, 0, said)
        bpy.ops.wm.open_mainfile(filepath=str(target))
        armature = armatures()[0]
        points = rigs.evaluated(armature, np.arange(1.0, 301.0), ["LeftToe"])[0][:, 0]
        curve = clips.curves(armature)[('pose.bones["LeftToe"]["contact"]', 0)]
        planted = np.array([curve.evaluate(frame) > 0.5 for frame in range(1, 301)])
        step = np.linalg.norm(np.diff(points, axis=0), axis=1)[planted[1:] & planted[:-1]]
        self.assertGreater(len(step), 150)
        self.assertLess(step.max(), STANDS)

    def test_labels_go_out(self):
        for kind in (".fbx", ".glb"):
            with self.subTest(kind):
                labels = self.folder / "exported.json"
                self.corrected(exported(self.folder, kind), "--export-contacts", labels)
                wanted = json.loads(labels.read_text())
                self.assertAlmostEqual(wanted["frame_rate"], 30.0)
                self.assertEqual(wanted["contacts"]["toe.R"], PLANTED[:, 1].astype(int).tolist())

    def test_kinds_that_cannot_be(self):
        for target in ("out.glb", "out.bvh"):
            status, said = run(self.folder / "walk.fbx", "-o", self.folder / target)
            self.assertEqual(status, 2)
            self.assertIn("comes out as .fbx or .blend", said)
        status, said = run(self.folder / "walk.obj", "-o", self.folder / "out.obj")
        self.assertEqual(status, 2)

    def test_a_folder_of_each_kind(self):
        """Damaged files are said in one sentence each; the others come out."""
        good = [exported(self.folder, kind) for kind in (".fbx", ".glb", ".gltf")]
        rigs.new_file()
        character()
        set_range()
        bpy.ops.wm.save_as_mainfile(filepath=str(self.folder / "scene.blend"))
        good += [self.folder / "scene.blend", clips.part(self.folder)]
        bad = []
        for path in good[:3]:
            data = path.read_bytes()
            for name, content in (
                ("empty", b""), ("short", data[:20]), ("cut", data[: len(data) * 2 // 3]), ("text", b"Dear diary"),
                ("other", good[-1].read_bytes()),
            ):  # fmt: skip
                bad.append(self.folder / f"{name}{path.suffix}")
                bad[-1].write_bytes(content)
        noise = bytearray(good[0].read_bytes())
        noise[3000:3400] = bytes(400)
        bad.append(self.folder / "noise.fbx")
        bad[-1].write_bytes(noise)
        out, report = self.folder / "out", self.folder / "report.json"
        status, said = run(*good, *bad, "-o", out, "--report", report)
        self.assertEqual(status, 1)
        self.assertNotIn("Traceback", said)
        self.assertNotIn("did not expect", said)
        kinds = {path.suffix for path in good}
        written = sorted(path.name for path in out.iterdir() if path.suffix in kinds)
        self.assertEqual(written, sorted(path.name for path in good), said)
        entries = json.loads(report.read_text(encoding="utf-8"))
        self.assertEqual(entries["failed"], len(bad))
        for one in entries["clips"][len(good) :]:
            self.assertRegex(one["error"], r"^“[^.]+\.\w+” .*: [^:]+\.$")

    def test_judged_rates(self):
        for rate in ((24, 1.0), (25, 1.0), (30, 1.0), (30, 1.001), (60, 1.0), (120, 1.0), (33, 1.0)):
            with self.subTest(rate=rate):
                times = np.arange(400) / rate[0] * rate[1]
                got = frame_times.judged(times)
                self.assertAlmostEqual(got[0] / got[1], rate[0] / rate[1], delta=1e-3)
        # Few keys of a clip at 30 fps, and a file that says so.
        self.assertEqual(frame_times.judged(np.array([0.0, 1.0, 2.5]), (30, 1.0)), (30, 1.0))
        self.assertEqual(frame_times.judged(np.array([0.0, 0.0371, 0.1123, 0.21])), (60, 1.0))

    def test_what_a_take_does_not_move(self):
        """Stands as the file has it, whatever another take does with it."""
        for kind in (".glb", ".fbx"):
            with self.subTest(kind):
                rigs.new_file()
                armature = character()
                first = armature.animation_data.action
                rigs.new_action(armature, "Stroll")
                rigs.walk(armature, FRAMES, speed=0.6)
                stash(armature, (armature.animation_data.action, first))
                self.still_in_the_last_take(kind)

    def still_in_the_last_take(self, kind):
        options = {"bake_anim_use_nla_strips": True} if kind == ".fbx" else {"export_animation_mode": "NLA_TRACKS"}
        path = export(self.folder / f"takes{kind}", **options)
        file = self.read(path)
        still = {file.names.index(name) for name in ("thigh.L", "pelvis")}
        if kind == ".glb":
            one = file.document["animations"][-1]
            one["channels"] = [c for c in one["channels"] if c["target"]["node"] not in still]
            for node in still:
                file.document["nodes"][node]["rotation"] = [0.0, 0.2, 0.0, 0.96**0.5]
        else:
            gone = {
                file._curve_node(1, file._models[node], name)
                for node in still
                for name in (fbx._ROTATION, fbx._LOCATION, fbx._SCALE)
            }
            links = file._part(b"Connections").records
            links[:] = [link for link in links if link.value(1) not in gone]
        file.write(path)
        opened = exchange.open_gltf(path) if kind == ".glb" else exchange.open_fbx(path)
        armature = armatures()[0]
        legs = mapping.find(armature)
        for take in (*opened.takes, *opened.takes):
            opened.use(take)
            clip = opened.read(armature, legs, 1.0)
            self.assertLess(opened._fitted(take, armature, clip).error, 0.1)
