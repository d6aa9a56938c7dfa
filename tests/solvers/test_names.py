"""Legs by names: each convention of the field, among the bones that usually stand around them."""

import random
import re
import unittest

from footlock.rig import names, words
from footlock.rig.names import Leg, LegMap


def skeleton(text):
    """Parents from an indented list of bones, two spaces a level."""
    parents, above = {}, []
    for line in filter(str.strip, text.splitlines()):
        name = line.strip()
        depth = (len(line) - len(line.lstrip())) // 2
        assert depth <= len(above), line
        del above[depth:]
        assert name not in parents, name
        parents[name] = above[-1] if above else None
        above.append(name)
    return parents


def mirrored(pelvis, left, swap, root=(), spine=("Spine", "Chest", "Head")):
    """A pelvis under ``root``, a spine and two legs, the right one by ``swap``."""
    parents, above = {}, None
    for name in (*root, pelvis):
        parents[name], above = above, name
    for name in spine:
        parents[name], above = above, name
    for side in (lambda name: name, swap):
        above = pelvis
        for name in map(side, left):
            parents[name], above = above, name
    return parents


def swapper(*pairs):
    def swap(name):
        for left, right in pairs:
            name = name.replace(left, right)
        return name

    return swap


def suffix_l(name):
    """Before a number that Blender or the rig has put behind it, too."""
    return re.sub(r"(?<=[._])[Ll](?=$|\.\d+$)", lambda found: {"L": "R", "l": "r"}[found[0]], name)


LEFT_RIGHT = swapper(("Left", "Right"), ("left", "right"))
PREFIX_L = swapper(("LHip", "RHip"), ("LThigh", "RThigh"), ("LShin", "RShin"), ("LFoot", "RFoot"), ("LToe", "RToe"))
PREFIX_SMALL = swapper(*((f"l{word}", f"r{word}") for word in ("Thigh", "Shin", "Foot", "Toe")))
MIDDLE_L = swapper((" L ", " R "), ("_L_", "_R_"))


class NamesCase(unittest.TestCase):
    def check(self, parents, pelvis, left, swap):
        """The legs are these, whatever the order in which the bones are listed."""
        wanted = [Leg("L", *left), Leg("R", *map(swap, left))]
        shuffled = list(parents.items())
        for seed in range(3):
            found = names.find_legs(dict(shuffled))
            self.assertIsNotNone(found)
            self.assertEqual(list(found.legs), wanted)
            self.assertEqual(found.pelvis, pelvis)
            random.Random(seed).shuffle(shuffled)


class Conventions(NamesCase):
    def test_mixamo(self):
        for prefix in ("mixamorig:", "mixamorig1:", "mixamorig_", "Bob:", "Bob_", "a:b:", ""):
            with self.subTest(prefix=prefix):
                left = [prefix + name for name in ("LeftUpLeg", "LeftLeg", "LeftFoot", "LeftToeBase")]
                arms = (prefix + "LeftArm", prefix + "LeftForeArm", prefix + "LeftHand")
                parents = mirrored(prefix + "Hips", [*left, prefix + "LeftToe_End"], LEFT_RIGHT, spine=arms)
                self.check(parents, prefix + "Hips", left, LEFT_RIGHT)

    def test_human_ik(self):
        """With the roll bones that MotionBuilder can write, beside and inside of the leg."""
        for prefix in ("", "Character1_"):
            text = f"""
{prefix}Reference
  {prefix}Hips
    {prefix}Spine
    {prefix}LeftUpLeg
      {prefix}LeftUpLegRoll
      {prefix}LeftLeg
        {prefix}LeftLegRoll
        {prefix}LeftFoot
          {prefix}LeftToeBase
    {prefix}RightUpLeg
      {prefix}RightUpLegRoll
      {prefix}RightLeg
        {prefix}RightLegRoll
        {prefix}RightFoot
          {prefix}RightToeBase
"""
            left = [prefix + name for name in ("LeftUpLeg", "LeftLeg", "LeftFoot", "LeftToeBase")]
            self.check(skeleton(text), prefix + "Hips", left, LEFT_RIGHT)

    def test_lafan(self):
        left = ["LeftUpLeg", "LeftLeg", "LeftFoot", "LeftToe"]
        self.check(mirrored("Hips", left, LEFT_RIGHT), "Hips", left, LEFT_RIGHT)

    def test_geno(self):
        """With the leaves that it has at every end."""
        left = ["LeftUpLeg", "LeftLeg", "LeftFoot", "LeftToeBase"]
        parents = mirrored("Hips", [*left, "LeftToeBaseEnd"], LEFT_RIGHT)
        for side in ("Left", "Right"):
            parents |= {f"{side}LegEnd": f"{side}Leg", f"{side}UpLegEnd": f"{side}UpLeg"}
        self.check(parents, "Hips", left, LEFT_RIGHT)

    def test_cmu(self):
        left = ["LeftUpLeg", "LeftLeg", "LeftFoot", "LeftToeBase"]
        swap = swapper(("Left", "Right"), ("LHip", "RHip"))
        self.check(mirrored("Hips", ["LHipJoint", *left], swap), "Hips", left, swap)

    def test_hip_knee_ankle(self):
        """Also with the extra joint that the clips in tests/data have."""
        left = ["LeftHip", "LeftKnee", "LeftAnkle", "LeftToe"]
        swap = swapper(("Left", "Right"), ("LHip", "RHip"))
        self.check(mirrored("Hips", left, swap), "Hips", left, swap)
        self.check(mirrored("Hips", ["LHipJoint", *left], swap), "Hips", left, swap)
        self.check(mirrored("Hips", left[:3], swap), "Hips", left[:3], swap)

    def test_old_bvh(self):
        left = ["lThigh", "lShin", "lFoot"]
        for pelvis in ("hip", "Hips"):
            self.check(mirrored(pelvis, left, PREFIX_SMALL), pelvis, left, PREFIX_SMALL)

    def test_bandai_namco(self):
        left = ["UpperLeg_L", "LowerLeg_L", "Foot_L", "Toes_L"]
        self.check(mirrored("Hips", left, suffix_l, root=["joint_Root"]), "Hips", left, suffix_l)

    def test_unreal(self):
        text = """
root
  pelvis
    spine_01
      upperarm_l
        lowerarm_l
          hand_l
    thigh_l
      thigh_twist_01_l
      thigh_twist_02_l
      thigh_correctiveRoot_l
        thigh_bck_l
      calf_l
        calf_twist_01_l
        calf_twist_02_l
        calf_knee_l
        foot_l
          ankle_bck_l
          ball_l
            bigtoe_01_l
    thigh_r
      thigh_twist_01_r
      thigh_twist_02_r
      thigh_correctiveRoot_r
        thigh_bck_r
      calf_r
        calf_twist_01_r
        calf_twist_02_r
        calf_knee_r
        foot_r
          ankle_bck_r
          ball_r
            bigtoe_01_r
  ik_foot_root
    ik_foot_l
    ik_foot_r
  ik_hand_root
    ik_hand_gun
"""
        self.check(skeleton(text), "pelvis", ["thigh_l", "calf_l", "foot_l", "ball_l"], suffix_l)

    def test_rigify_metarig(self):
        text = """
spine
  spine.001
    spine.002
  pelvis.L
  pelvis.R
  thigh.L
    shin.L
      foot.L
        toe.L
        heel.02.L
  thigh.R
    shin.R
      foot.R
        toe.R
        heel.02.R
"""
        left = ["thigh.L", "shin.L", "foot.L", "toe.L"]
        self.check(skeleton(text), "spine", left, suffix_l)
        self.check(mirrored("hips", left, suffix_l), "hips", left, suffix_l)

    def test_xsens(self):
        left = ["LeftUpperLeg", "LeftLowerLeg", "LeftFoot", "LeftToe"]
        for pelvis in ("Pelvis", "Hips"):
            self.check(mirrored(pelvis, left, LEFT_RIGHT), pelvis, left, LEFT_RIGHT)

    def test_rokoko(self):
        for left in (
            ["LeftUpLeg", "LeftLeg", "LeftFoot", "LeftToe"],
            ["LeftThigh", "LeftShin", "LeftFoot", "LeftToe"],
            ["LeftThigh", "LeftShin", "LeftFoot", "LeftToeBase"],
        ):
            with self.subTest(left=left):
                self.check(mirrored("Hips", left, LEFT_RIGHT), "Hips", left, LEFT_RIGHT)

    def test_perception_neuron(self):
        for prefix in ("", "Robot_"):
            left = [prefix + name for name in ("LeftUpLeg", "LeftLeg", "LeftFoot")]
            self.check(mirrored(prefix + "Hips", left, LEFT_RIGHT), prefix + "Hips", left, LEFT_RIGHT)

    def test_optitrack(self):
        for prefix in ("", "Skeleton:", "Skeleton_", "Bob 001:"):
            with self.subTest(prefix=prefix):
                left = [prefix + name for name in ("LThigh", "LShin", "LFoot", "LToe")]
                self.check(mirrored(prefix + "Hip", left, PREFIX_L), prefix + "Hip", left, PREFIX_L)

    def test_smpl(self):
        """What is called foot there is the ball."""
        for prefix in ("", "m_avg_", "f_avg_"):
            left = [prefix + name for name in ("L_Hip", "L_Knee", "L_Ankle", "L_Foot")]
            swap = swapper(("L_", "R_"))
            parents = mirrored(prefix + "Pelvis", left, swap, spine=[prefix + "Spine1", prefix + "L_Collar"])
            self.check(parents, prefix + "Pelvis", left, swap)

    def test_smpl_x(self):
        left = ["left_hip", "left_knee", "left_ankle", "left_foot"]
        parents = mirrored("pelvis", left, LEFT_RIGHT, spine=["spine1", "left_collar", "left_shoulder", "left_elbow"])
        self.check(parents, "pelvis", left, LEFT_RIGHT)
        self.check(mirrored("pelvis", left, LEFT_RIGHT, root=["root"]), "pelvis", left, LEFT_RIGHT)

    def test_biped(self):
        """Thighs under the pelvis or, as 3ds Max does it by itself, under the spine."""
        for root, space in (("Bip001", " "), ("Bip01", " "), ("Bip001", "_")):
            left = [f"{root} L {name}".replace(" ", space) for name in ("Thigh", "Calf", "Foot", "Toe0")]
            pelvis, spine = f"{root}{space}Pelvis", f"{root}{space}Spine"
            nub = f"{root}{space}L{space}Toe0Nub"
            with self.subTest(root=root, space=space):
                parents = mirrored(pelvis, [*left, nub], MIDDLE_L, root=[root], spine=[spine])
                self.check(parents, pelvis, left, MIDDLE_L)
                parents |= {left[0]: spine, MIDDLE_L(left[0]): spine}
                self.check(parents, pelvis, left, MIDDLE_L)

    def test_character_creator(self):
        text = """
RL_BoneRoot
  CC_Base_Hip
    CC_Base_Waist
      CC_Base_Spine01
    CC_Base_Pelvis
      CC_Base_L_Thigh
        CC_Base_L_ThighTwist01
          CC_Base_L_ThighTwist02
        CC_Base_L_KneeShareBone
        CC_Base_L_Calf
          CC_Base_L_CalfTwist01
            CC_Base_L_CalfTwist02
          CC_Base_L_Foot
            CC_Base_L_ToeBaseShareBone
            CC_Base_L_ToeBase
              CC_Base_L_BigToe1
              CC_Base_L_PinkyToe1
      CC_Base_R_Thigh
        CC_Base_R_ThighTwist01
          CC_Base_R_ThighTwist02
        CC_Base_R_KneeShareBone
        CC_Base_R_Calf
          CC_Base_R_CalfTwist01
            CC_Base_R_CalfTwist02
          CC_Base_R_Foot
            CC_Base_R_ToeBaseShareBone
            CC_Base_R_ToeBase
              CC_Base_R_BigToe1
              CC_Base_R_PinkyToe1
"""
        left = [f"CC_Base_L_{name}" for name in ("Thigh", "Calf", "Foot", "ToeBase")]
        self.check(skeleton(text), "CC_Base_Pelvis", left, MIDDLE_L)

    def test_daz(self):
        """Genesis 1 and 2, and the split thigh of 3 and 8 with its metatarsals."""
        left = ["lThigh", "lShin", "lFoot", "lToe"]
        self.check(mirrored("hip", left, PREFIX_SMALL), "hip", left, PREFIX_SMALL)
        chain = ["lThighBend", "lThighTwist", "lShin", "lFoot", "lMetatarsals", "lToe", "lBigToe", "lBigToe_2"]
        swap = swapper(*((f"l{word}", f"r{word}") for word in ("Thigh", "Shin", "Foot", "Meta", "Toe", "Big")))
        parents = mirrored("pelvis", chain, swap, root=["hip"])
        self.check(parents, "pelvis", ["lThighBend", "lShin", "lFoot", "lToe"], swap)

    def test_makehuman_game_and_cmu(self):
        left = ["thigh_l", "calf_l", "foot_l", "ball_l"]
        self.check(mirrored("pelvis", left, suffix_l, root=["Root"]), "pelvis", left, suffix_l)

    def test_vroid(self):
        left = [f"J_Bip_L_{name}" for name in ("UpperLeg", "LowerLeg", "Foot", "ToeBase")]
        parents = mirrored("J_Bip_C_Hips", left, MIDDLE_L, root=["Root"])
        parents |= {"J_Sec_L_Skirt1": "J_Bip_C_Hips", "J_Adj_L_FaceEye": "Head", "J_Sec_L_SkirtLeg": left[0]}
        self.check(parents, "J_Bip_C_Hips", left, MIDDLE_L)

    def test_vrm_add_on(self):
        left = ["upper_leg.L", "lower_leg.L", "foot.L", "toes.L"]
        self.check(mirrored("hips", left, suffix_l), "hips", left, suffix_l)

    def test_unity(self):
        left = ["LeftUpperLeg", "LeftLowerLeg", "LeftFoot", "LeftToes"]
        self.check(mirrored("Hips", left, LEFT_RIGHT), "Hips", left, LEFT_RIGHT)

    def test_source_engine(self):
        left = [f"ValveBiped.Bip01_L_{name}" for name in ("Thigh", "Calf", "Foot", "Toe0")]
        self.check(mirrored("ValveBiped.Bip01_Pelvis", left, MIDDLE_L), "ValveBiped.Bip01_Pelvis", left, MIDDLE_L)

    def test_freemocap(self):
        left = ["thigh.L", "shin.L", "foot.L"]
        parents = mirrored("pelvis", left, suffix_l) | {"heel.02.L": "foot.L", "heel.02.R": "foot.R"}
        self.check(parents, "pelvis", left, suffix_l)


class RarerConventions(NamesCase):
    """Skeletons of the list whose words are their own."""

    def test_auto_rig_pro_deform(self):
        left = ["thigh_stretch.l", "leg_stretch.l", "foot.l", "toes_01.l"]
        parents = mirrored("root.x", left, suffix_l, spine=["spine_01.x"])
        for side in "lr":
            parents |= {f"thigh_twist.{side}": f"thigh_stretch.{side}", f"leg_twist.{side}": f"leg_stretch.{side}"}
        self.check(parents, "root.x", left, suffix_l)

    def test_auto_rig_pro_reference(self):
        left = ["thigh_ref.l", "leg_ref.l", "foot_ref.l", "toes_ref.l"]
        self.check(mirrored("root_ref.x", left, suffix_l), "root_ref.x", left, suffix_l)

    def test_makehuman_default(self):
        chain = ["upperleg01.L", "upperleg02.L", "lowerleg01.L", "lowerleg02.L", "foot.L", "toe1-1.L", "toe1-2.L"]
        parents = mirrored("spine05", ["pelvis.L", *chain], suffix_l, root=["root"])
        for toe in range(2, 6):
            parents |= {f"toe{toe}-1.{side}": f"foot.{side}" for side in "LR"}
        found = names.find_legs(parents)
        self.assertIsNotNone(found)
        self.assertEqual([leg.side for leg in found.legs], ["L", "R"])
        left = found.legs[0]
        self.assertEqual((left.thigh, left.shin, left.foot), ("upperleg01.L", "lowerleg01.L", "foot.L"))
        self.assertRegex(left.toe, r"^toe\d-1\.L$")


RIGIFY_LIMB = """
    thigh_parent.L
      MCH-thigh_ik_target_parent.L
      MCH-thigh_parent_widget.L
      thigh_ik.L
        MCH-thigh_ik.L
          MCH-thigh_ik_swing.L
      thigh_fk.L
        shin_fk.L
          MCH-foot_fk.L
            foot_fk.L
              toe_fk.L
              MCH-toe.L
      ORG-thigh.L
        thigh_tweak.L
        MCH-thigh_tweak.L
        thigh_tweak.L.001
        ORG-shin.L
          shin_tweak.L
          shin_tweak.L.001
          ORG-foot.L
            foot_tweak.L
            ORG-toe.L
              toe.L
            ORG-heel.02.L
"""
RIGIFY_DEFORM = """
    DEF-thigh.L
      DEF-thigh.L.001
        DEF-shin.L
          DEF-shin.L.001
            DEF-foot.L
              DEF-toe.L
"""
RIGIFY_ROOT = """
  MCH-foot_ik.parent.L
    foot_ik.L
      foot_spin_ik.L
        foot_heel_ik.L
          MCH-heel.02_roll.L
          MCH-thigh_ik_target.L
          toe_ik.L
  thigh_ik_target.L
  VIS_thigh_ik_pole.L
"""


def rigify(deform_under):
    """The names of a rig that Rigify makes, its deform legs under the ORG spine, where it leaves them, or not."""
    own = RIGIFY_LIMB + (RIGIFY_DEFORM if deform_under == "ORG-spine" else "")
    lines = "root\n  MCH-torso.parent\n    torso\n      MCH-hips\n        hips\n      spine_fk\n      MCH-spine\n"
    lines += "      tweak_spine\n      ORG-spine\n        ORG-spine.001\n        ORG-pelvis.L\n        ORG-pelvis.R\n"
    for text in (own, own.replace(".L", ".R")):
        lines += "".join(f"    {line}\n" for line in text.splitlines())
    lines += RIGIFY_ROOT + RIGIFY_ROOT.replace(".L", ".R")
    lines += "  DEF-spine\n    DEF-spine.001\n    DEF-pelvis.L\n    DEF-pelvis.R\n"
    if deform_under == "DEF-spine":
        lines += RIGIFY_DEFORM + RIGIFY_DEFORM.replace(".L", ".R")
    return skeleton(lines)


class Rigify(NamesCase):
    LEFT = ["DEF-thigh.L", "DEF-shin.L", "DEF-foot.L", "DEF-toe.L"]

    def test_deform_bones_among_all_others(self):
        """Controls, mechanism, copies and the second halves of the split bones stand around."""
        for above in ("ORG-spine", "DEF-spine"):
            with self.subTest(above=above):
                self.check(rigify(above), above, self.LEFT, suffix_l)

    def test_deform_bones_alone(self):
        """As a game export leaves them."""
        parents = {name: parent for name, parent in rigify("DEF-spine").items() if name.startswith("DEF-")}
        parents["DEF-spine"] = None
        self.check(parents, "DEF-spine", self.LEFT, suffix_l)

    def test_more_than_two_segments(self):
        chain = [f"DEF-{bone}.L{end}" for bone in ("thigh", "shin") for end in ("", ".001", ".002", ".003")]
        parents = mirrored("DEF-spine", [*chain, "DEF-foot.L", "DEF-toe.L"], suffix_l)
        self.check(parents, "DEF-spine", self.LEFT, suffix_l)


class NoLegs(unittest.TestCase):
    def test_table(self):
        parents = {"Table": None} | {f"Leg{i}": "Table" for i in range(1, 5)}
        self.assertIsNone(names.find_legs(parents))
        parents = skeleton("Top\n  LegLeft\n    FootLeft\n  LegRight\n    FootRight")
        self.assertIsNone(names.find_legs(parents))

    def test_fish(self):
        parents = skeleton("spine\n  spine.001\n    tail\n      tail.001\n  fin.L\n  fin.R\n  head\n    jaw")
        self.assertIsNone(names.find_legs(parents))

    def test_arms_only(self):
        text = "Hips\n  Spine\n    LeftShoulder\n      LeftArm\n        LeftForeArm\n          LeftHand"
        self.assertIsNone(names.find_legs(skeleton(text)))

    def test_nothing_and_one_bone(self):
        self.assertIsNone(names.find_legs({}))
        self.assertIsNone(names.find_legs({"Bone": None}))

    def test_helpers_alone(self):
        """IK targets and twist bones named like a leg are none."""
        text = "root\n  thigh_twist_l\n    calf_twist_l\n      foot_twist_l\n  thigh_ik_l\n    calf_ik_l\n      ik_foot"
        self.assertIsNone(names.find_legs(skeleton(text)))

    def test_each_helper_word(self):
        for helper in ["twist", "roll", "share", "tweak", "MCH", "ik", "pole", "target", "corrective", "ctrl"]:
            for form in ("{}_{}_l", "{1}_{0}_l", "{0}-{1}.L"):
                thigh, shin, foot = (form.format(helper, bone) for bone in ("thigh", "calf", "foot"))
                self.assertIsNone(names.find_legs({"root": None, thigh: "root", shin: thigh, foot: shin}), thigh)

    def test_names_without_the_hierarchy(self):
        """Bones called like a leg that do not hang from one another."""
        parents = {"Hips": None} | {name: "Hips" for name in ("LeftUpLeg", "LeftLeg", "LeftFoot", "LeftToeBase")}
        self.assertIsNone(names.find_legs(parents))

    def test_odd_names(self):
        parents = {"": None, ".": "", "___": ".", "123": None, "L": "123", ":": None, "x:": ":", "💃": None}
        self.assertIsNone(names.find_legs(parents))

    def test_a_ring_of_parents_ends(self):
        parents = {"LeftUpLeg": "LeftFoot", "LeftLeg": "LeftUpLeg", "LeftFoot": "LeftLeg"}
        names.find_legs(parents)


class Sides(unittest.TestCase):
    def test_one_leg_only(self):
        for side, word in (("L", "Left"), ("R", "Right")):
            bones = [word + name for name in ("UpLeg", "Leg", "Foot", "ToeBase")]
            parents = dict(zip(bones, ["Hips", *bones], strict=False)) | {"Hips": None}
            self.assertEqual(names.find_legs(parents), LegMap("Hips", (Leg(side, *bones),)))

    def test_one_whole_leg_and_a_stump(self):
        left = ["LeftUpLeg", "LeftLeg", "LeftFoot", "LeftToeBase"]
        parents = mirrored("Hips", left, LEFT_RIGHT)
        del parents["RightFoot"], parents["RightToeBase"]
        self.assertEqual(names.find_legs(parents), LegMap("Hips", (Leg("L", *left),)))

    def test_a_toe_on_one_side_only(self):
        left = ["LeftUpLeg", "LeftLeg", "LeftFoot", "LeftToeBase"]
        parents = mirrored("Hips", left, LEFT_RIGHT)
        del parents["RightToeBase"]
        right = Leg("R", "RightUpLeg", "RightLeg", "RightFoot")
        self.assertEqual(names.find_legs(parents), LegMap("Hips", (Leg("L", *left), right)))

    def test_inherited(self):
        """Feet and toes without a side have that of the leg they hang from."""
        text = """
Hips
  LeftHip
    LeftKnee
      Ankle
        Toe
  RightHip
    RightKnee
      Ankle.001
        Toe.001
"""
        left = Leg("L", "LeftHip", "LeftKnee", "Ankle", "Toe")
        right = Leg("R", "RightHip", "RightKnee", "Ankle.001", "Toe.001")
        self.assertEqual(names.find_legs(skeleton(text)), LegMap("Hips", (left, right)))

    def test_tokens(self):
        left = "LeftFoot left_foot foot_left LFoot lFoot L_Foot foot.L foot-L J_Bip_L_Foot Lf_Foot foot_lf LEFT_FOOT"
        for name in (*left.split(), "foot L", "Bip01 L Foot", "mixamorig:LeftFoot"):
            with self.subTest(name=name):
                read = words.read(name)
                self.assertEqual((read.side, read.words[-1]), ("L", "foot"))
        for name in ("RightFoot", "rFoot", "foot.R", "foot_rt", "R_Foot", "foot_r.001"):
            with self.subTest(name=name):
                self.assertEqual(words.read(name).side, "R")
        for name in ("Foot", "Rotor", "LowerLeg", "ball", "Root", "spine.001"):
            with self.subTest(name=name):
                self.assertEqual(words.read(name).side, "")

    def test_legs_have_names_for_people_and_a_bearer(self):
        leg = Leg("L", "a", "b", "foot", "toe")
        self.assertEqual((leg.label, leg.bearer), ("Left", "toe"))
        self.assertEqual(Leg("R", "a", "b", "foot").bearer, "foot")
        self.assertEqual(Leg("R", "a", "b", "foot").label, "Right")
        self.assertEqual(Leg("", "a", "b", "foot").label, "foot")

    def test_ancestors(self):
        parents = {"a": None, "b": "a", "c": "b"}
        self.assertEqual(names.ancestors("c", parents), ["b", "a"])
        self.assertEqual(names.ancestors("a", parents), [])
        self.assertEqual(names.ancestors("x", {"x": "gone"}), ["gone"])
        self.assertEqual(names.ancestors("a", {"a": "b", "b": "a"}), ["b", "a"])
