"""What drives the legs of a rig: the bones whose keys move them, and when.

In a plain skeleton each bone of a leg has its own keys. In a control rig constraints move it, and these are followed
to the bones that an animator keys: a copied transform to what it copies, inverse kinematics from its target up to the
bone that carries it. No name is asked for, so Rigify, Auto-Rig Pro and rigs that somebody built are the same. Where a
switch decides between two ways, both are found, each with the constraints that must be on or off for it to count.
"""

from dataclasses import dataclass, replace
from functools import cached_property

from ..solvers.errors import FootlockError
from ..solvers.wording import Said
from . import compat, curves
from .names import HAND

# Constraints that give a bone the rotation of another.
_COPIES = ("COPY_TRANSFORMS", "COPY_ROTATION")
# The same for the place.
_PLACES = ("COPY_TRANSFORMS", "COPY_LOCATION")
# Constraints after which a bone's own keys no longer say where it points.
_AIMS = ("DAMPED_TRACK", "TRACK_TO", "LOCKED_TRACK", "STRETCH_TO", "SPLINE_IK", "ACTION", "FOLLOW_PATH", "TRANSFORM")
# Constraints that stand for a parent: a bone's own keys count from there.
PARENTS = ("ARMATURE", "CHILD_OF", "PIVOT")
# Of a bone's three rotations, so many locked ones make it no handle to turn.
_LOCKED = 2
# What to do where constraints or drivers leave no bone with keys of its own.
BAKE = Said("bake the action first (Pose, Animation, Bake Action, with Visual Keying and Clear Constraints)")
# An influence below this is none.
_NO_INFLUENCE = 1e-3


@dataclass(frozen=True)
class Source:
    """A bone that moves a part of a leg while its ``conditions`` hold, (bone, constraint, on or off) each. ``tip``: of
    inverse kinematics the target, whose head the ankle follows; "" where it is the ankle itself. ``local``: only what
    it turns in its own space is copied."""

    bone: str
    conditions: tuple = ()
    tip: str = ""
    local: bool = False

    def active(self, influences):
        """In which frames it does: (frames,) bool, or True for all. influences: (bone, constraint) → (frames,)."""
        share = 1.0
        for bone, constraint, on in self.conditions:
            influence = influences[bone, constraint]
            share = share * (influence if on else 1.0 - influence)
        return share > _NO_INFLUENCE


@dataclass(frozen=True)
class Limb:
    """The Sources of a leg. ``places`` bring the ankle to its place, and turn as what they carry, "foot" or "toe", or,
    where both are turned by other bones, not at all, "". ``turns``: of each part that is turned by itself, by its
    role."""

    places: tuple
    turns: dict
    carry: str = "foot"

    def sources(self):
        """All of them."""
        return [*self.places, *(source for sources in self.turns.values() for source in sources)]


@dataclass(frozen=True)
class Controls:
    """What drives a rig's legs. ``carrier``: the bone whose location moves the pelvis. ``carriers``: bones that carry
    pelvis and feet alike, nearest first. ``constrained``: more than keys moves the legs."""

    carrier: str
    carriers: tuple
    limbs: tuple
    constrained: bool

    def channels(self):
        """Names of the bones that get keys, and which: "place", "turn", or both as a set."""
        found = {self.carrier: {"place"}}
        for limb in self.limbs:
            for source in limb.places:
                found.setdefault(source.bone, set()).update(("place", "turn") if limb.carry else ("place",))
            for sources in limb.turns.values():
                for source in sources:
                    found.setdefault(source.bone, set()).add("turn")
        return found

    def tips(self):
        """Names of the bones that ankles follow."""
        return {source.tip for limb in self.limbs for source in limb.places if source.tip}

    def conditions(self):
        """(bone, constraint) whose influences decide which Sources count, each once."""
        sources = (source for limb in self.limbs for source in limb.sources())
        return list(dict.fromkeys(one[:2] for source in sources for one in source.conditions))


def of(armature, legs):
    """The Controls of a LegMap's legs. Raises FootlockError where what moves them has no keys of its own."""
    return _Tracer(armature, legs).controls()


def handles(armature, legs):
    """The bone by which an animator moves each foot, "" where that is its toe or the foot itself; always the same,
    whatever has keys."""
    try:
        tracer = _Tracer(armature, legs)
        tracer.keyed = {}
        limbs = tracer.controls().limbs
    except FootlockError:
        return [""] * len(legs.legs)
    names = []
    for leg, limb in zip(legs.legs, limbs, strict=True):
        sources = [*limb.places, *(limb.turns["toe"] if leg.toe else limb.turns["foot"])]
        names.append(sources[0].bone if sources and tracer.is_moved(leg.toe or leg.foot) else "")
    return ["" if name in leg.bones else name for name, leg in zip(names, legs.legs, strict=True)]


def found(armature, legs):
    """The Controls of a LegMap's legs, or None where what moves them has no keys of its own."""
    try:
        return of(armature, legs)
    except FootlockError:
        return None


def acting(armature, owner):
    """The constraints of an object or pose bone that have an influence, now or on another frame."""
    if not owner.constraints:  # most bones have none, and all curves need not be gone through
        return []
    animated = _animated(armature)
    return [one for one in owner.constraints if _may_act(one, animated)]


def _animated(armature):
    """Paths of the curves and drivers that animate constraints."""
    paths = {path for path, _ in curves.by_path(armature)}
    data = armature.animation_data
    paths |= {driver.data_path for driver in data.drivers} if data else set()
    return [path for path in paths if "constraints[" in path]


def _may_act(constraint, animated):
    path = constraint.path_from_id()
    if not constraint.is_valid:
        return False
    return (not constraint.mute and constraint.influence > 0.0) or any(one.startswith(path) for one in animated)


class _Tracer:
    def __init__(self, armature, legs):
        self.armature, self.legs = armature, legs
        self.bones = armature.pose.bones
        self.animated = _animated(armature)
        data = armature.animation_data
        self.driven = (
            {curves.bone_and_property(one.data_path)[0] for one in data.drivers if _moves(one)} if data else set()
        )
        self.above_pelvis = {legs.pelvis, *self._all_above(legs.pelvis)}

    def controls(self):
        passed = [self._passed_by(leg) for leg in self.legs.legs]
        self.shared = {name for i, names in enumerate(passed) for other in passed[:i] for name in names & other}
        limbs = tuple(self._limb(leg) for leg in self.legs.legs)
        carrier = self._carrier(limbs)
        return Controls(carrier, self._carriers(carrier, limbs), limbs, self._is_constrained)

    def is_moved(self, name):
        """True where more than keys moves a bone."""
        return name in self.driven or bool(self._acting(self.bones[name])) or name in self._chains

    @cached_property
    def _is_constrained(self):
        return any(self.is_moved(name) for name in limb_bones(self.armature, self.legs))

    def _acting(self, bone):
        return [one for one in bone.constraints if _may_act(one, self.animated)]

    def _always(self, constraint):
        """True where nothing takes a constraint's whole influence away."""
        path = constraint.path_from_id()
        whole = not constraint.mute and constraint.influence >= 1.0
        return whole and not any(one.startswith(path) for one in self.animated)

    @cached_property
    def _chains(self):
        """The constraints of inverse kinematics over each bone: name → [(bone that has it, constraint)]."""
        chains = {}
        for holder in self.bones:
            for constraint in self._acting(holder):
                if constraint.type == "IK":
                    chain = [holder, *holder.parent_recursive]
                    first = 0 if constraint.use_tail else 1
                    last = first + constraint.chain_count if constraint.chain_count else len(chain)
                    for bone in chain[first:last]:
                        chains.setdefault(bone.name, []).append((holder, constraint))
        return chains

    @cached_property
    def keyed(self):
        """Bones with keys: name → properties."""
        keyed = {}
        for curve in compat.fcurves(self.armature):
            bone, name = curves.bone_and_property(curve.data_path)
            keyed.setdefault(bone, set()).add(name.split("_")[0])
        return keyed

    def _target(self, constraint, owner):
        """The bone that a constraint refers to. Raises FootlockError where it is another object."""
        if constraint.target is not self.armature or not constraint.subtarget:
            raise FootlockError(
                "Bone “{bone}” follows another object by its constraint “{constraint}”: {bake}.",
                bone=owner.name,
                constraint=constraint.name,
                bake=BAKE,
            )
        return self.bones[constraint.subtarget]

    def _limb(self, leg):
        places, visited, turns, direct = [], set(), {}, True
        above = set(self._all_above(leg.thigh))
        for role in ("shin", "foot", "toe"):
            name = getattr(leg, role)
            for source, chain in self._parts(name, above) if name else ():
                if chain is not None:
                    if role == "shin":
                        place, passed, plain = self._place(*chain, leg)
                        places.append(Source(place, source.conditions, chain[1].subtarget if plain else ""))
                        visited |= passed
                        direct &= plain
                else:
                    turns.setdefault(role, []).append(source)
        loose = _is_loose(leg, self.bones) and not self._acting(self.bones[leg.foot])
        if loose:
            places += turns.pop("foot", [])
        turns["thigh"] = self._thighs(leg, turns.get("shin", ()))
        for role in ("shin", "foot", "toe"):
            taken = {one.bone for upper in ("thigh", "shin", "foot") if upper != role for one in turns.get(upper, ())}
            own = getattr(leg, role)
            turns[role] = [self._handle(one, own, taken) for one in turns.get(role, ())]
        names = {source.bone for source in places}
        carried = [one for one in turns["foot"] if one.bone in visited or self._hangs(one.bone, names)]
        carry = "toe" if not direct else "foot" if carried or loose else ""
        turns["foot"] = [one for one in turns["foot"] if one not in carried]
        if any(one.local for one in carried):
            # It turns with the shin, and how the control turns in its own space is none of its places.
            carry, turns["foot"] = "", []
        turns["toe"] = [one for one in turns["toe"] if one.bone not in visited | names]
        if leg.place == HAND:
            # All fingers go with the hand: the one that bears the contact is like the others.
            turns["toe"] = []
        self._check_driven(leg, turns, places)
        turns = {role: tuple(dict.fromkeys(found)) for role, found in turns.items()}
        return Limb(tuple(dict.fromkeys(places)), turns, carry)

    def _parts(self, name, above=()):
        """What turns a bone of a leg, as ``_sources`` gives it, without what cannot be and what carries the pelvis or
        those ``above`` it, too."""
        for source, chain in self._sources(self.bones[name]):
            possible = not any((*one[:2], not one[2]) in source.conditions for one in source.conditions)
            if possible and (chain is not None or not (source.bone in self.above_pelvis or source.bone in above)):
                yield source, chain

    def _check_driven(self, leg, turns, places):
        for source in [*places, *(one for found in turns.values() for one in found)]:
            if source.bone in self.driven:
                raise FootlockError(
                    "Bone “{bone}” is moved by a driver, so keys on it would do nothing: {bake}.",
                    bone=source.bone,
                    bake=BAKE,
                )
        if not (places or (turns["thigh"] and turns["shin"])):
            raise FootlockError(
                "Nothing with keys moves the leg “{thigh}”: choose its bones anew under Legs, or {bake}.",
                thigh=leg.thigh,
                bake=BAKE,
            )

    def _sources(self, bone, conditions=(), seen=(), local=False):
        """What turns a bone: (Source, None) of each bone with keys of its own, (Source, (holder, constraint)) where
        inverse kinematics does it."""
        if bone.name in seen:
            return
        seen = (*seen, bone.name)
        for holder, chain in self._chains.get(bone.name, ()):
            yield Source(bone.name, (*conditions, (holder.name, chain.name, True))), (holder, chain)
            if self._always(chain):
                return
            conditions = (*conditions, (holder.name, chain.name, False))
        aimed = None
        for constraint in reversed(self._acting(bone)):
            if constraint.type in _COPIES and _copies_all(constraint):
                on = (*conditions, (bone.name, constraint.name, True))
                own_space = constraint.owner_space not in ("WORLD", "POSE")
                yield from self._sources(self._target(constraint, bone), on, seen, local or own_space)
                if self._always(constraint):
                    return
                conditions = (*conditions, (bone.name, constraint.name, False))
            elif constraint.type in _AIMS and self._always(constraint):
                aimed = aimed or constraint
        if len(seen) == 1 or sum(bone.lock_rotation) < _LOCKED:
            if aimed is not None:
                raise FootlockError(
                    "Bone “{bone}” is moved by the constraint “{aimed}”, so keys on it do nothing: {bake}.",
                    bone=bone.name,
                    aimed=aimed.name,
                    bake=BAKE,
                )
            yield Source(bone.name, conditions, local=local), None
        elif bone.parent is not None:
            yield from self._sources(bone.parent, conditions, seen, local)

    def _handle(self, source, own, taken):
        """The Source with the bone that an animator takes hold of: of those that a constraint leads to, the nearest
        upwards that has keys or a shape to click."""
        if source.bone == own:
            return source
        bone = self.bones[source.bone]
        for one in (bone, *bone.parent_recursive):
            if one.name in self.above_pelvis or one.name in taken or self._acting(one):
                break
            if one.custom_shape is not None or "rotation" in self.keyed.get(one.name, ()):
                return replace(source, bone=one.name)
        return source

    def _thighs(self, leg, shins):
        """What turns the thigh, for each Source of the shin: its own sources, or the handle above the shin's that
        begins nearest to the hip."""
        found = []
        for shin in shins:
            if shin.bone == leg.shin:
                found += [one for one, chain in self._parts(leg.thigh) if chain is None]
                continue
            hip = self.bones[leg.thigh].bone.head_local
            above = [
                bone
                for bone in self.bones[shin.bone].parent_recursive
                if bone.name not in self.above_pelvis and sum(bone.lock_rotation) < _LOCKED and not self._acting(bone)
            ]
            if above:
                nearest = min(above, key=lambda bone: (bone.bone.head_local - hip).length)
                found.append(Source(nearest.name, shin.conditions))
        return found

    def _place(self, holder, chain, leg):
        """The bone that carries the target of inverse kinematics, the names of all that were passed on the way, and
        whether there was no other inverse kinematics on it."""
        if any((holder, chain) in self._chains.get(name, ()) for name in self.above_pelvis):
            raise FootlockError(
                "The inverse kinematics of “{bone}” moves the pelvis, too: set its Chain Length so that it"
                " ends at the thigh.",
                bone=holder.name,
            )
        passed, direct = self._way_up(holder, chain)
        movable = [name for name, is_movable in passed.items() if is_movable]
        # What carries another foot, too, moves none alone.
        candidates = [name for name in movable if name not in self.shared] or movable
        if not candidates:
            raise FootlockError(
                "The target of the leg “{thigh}” has no location to key: unlock the foot control, or {bake}.",
                thigh=leg.thigh,
                bake=BAKE,
            )
        return self._chosen(candidates), set(passed), direct

    def _way_up(self, holder, chain):
        """The bones from the target of inverse kinematics up to what carries the pelvis, name → whether its own
        location moves the target, and whether no other inverse kinematics is among them."""
        passed, direct = {}, True
        bone = self._target(chain, holder)
        while bone is not None and bone.name not in passed and bone.name not in self.above_pelvis:
            direct &= bone.name not in self._chains
            upper, passed[bone.name] = self._upwards(bone)
            bone = upper
        return passed, direct

    def _passed_by(self, leg):
        """Names of the bones that carry the targets of a leg."""
        chains = [chain for _, chain in self._sources(self.bones[leg.shin]) if chain is not None]
        return {name for chain in chains for name in self._way_up(*chain)[0]}

    def _upwards(self, bone):
        """The next bone on the way to what moves a bone, and whether its own location does."""
        for holder, chain in self._chains.get(bone.name, ()):
            return self._target(chain, holder), False
        for constraint in reversed(self._acting(bone)):
            if constraint.type in _PLACES and self._always(constraint):
                return self._target(constraint, bone), False
        return bone.parent, self._is_movable(bone)

    def _is_movable(self, bone):
        locked = all(bone.lock_location) or bone.bone.use_connect or bone.name in self.driven
        return not locked and all(one.type in PARENTS or one.type.startswith("LIMIT") for one in self._acting(bone))

    def _chosen(self, names):
        """Of bones one above the other the highest that has keys on its location, else the highest with a shape to
        click, else the highest."""
        keyed = [name for name in names if "location" in self.keyed.get(name, ())]
        shaped = [name for name in names if self.bones[name].custom_shape is not None]
        return (keyed or shaped or names)[-1]

    def _carrier(self, limbs):
        """The bone whose location moves the pelvis and no foot control."""
        places = {source.bone for limb in limbs for source in limb.places}
        carrying = places | {one.name for name in places for one in self.bones[name].parent_recursive}
        if self.legs.carrier and self.legs.carrier not in carrying:
            return self.legs.carrier
        pelvis = self.bones[self.legs.pelvis]
        if not self._is_constrained or self._is_movable(pelvis):
            return pelvis.name
        passed, candidates, bone = [], [], pelvis
        while bone is not None and bone.name not in passed and bone.name not in carrying:
            passed.append(bone.name)
            bone, movable = self._upwards(bone)
            if movable:
                candidates.append(passed[-1])
        if not candidates:
            raise FootlockError(
                "No bone moves the pelvis “{pelvis}” without the feet: choose the bone that does under Legs.",
                pelvis=pelvis.name,
            )
        return self._chosen(candidates)

    def _carriers(self, carrier, limbs):
        """Bones above the carrier that carry all feet too, nearest first."""
        ends = [source.bone for limb in limbs for source in limb.places]
        above = [set(self._all_above(name)) | {name} for name in ends]
        return tuple(
            name
            for name in self._all_above(carrier)
            if all(name in others for others in above) and self._is_movable(self.bones[name])
        )

    def _all_above(self, name):
        """Bones that carry a bone, by being its parent or by a constraint that stands for one, nearest first."""
        found, waiting = [], [self.bones[name]]
        while waiting:
            bone = waiting.pop(0)
            nexts = [bone.parent] if bone.parent is not None else []
            for constraint in self._acting(bone):
                if constraint.type == "ARMATURE":
                    targets = [one for one in constraint.targets if one.weight > 0.0]
                    nexts += [
                        self.bones[one.subtarget] for one in targets if one.target is self.armature and one.subtarget
                    ]
                elif constraint.type in (*PARENTS, *_PLACES) and constraint.target is self.armature:
                    nexts += [self.bones[constraint.subtarget]] if constraint.subtarget else []
            for one in nexts:
                if one.name not in found and one.name != name:
                    found.append(one.name)
                    waiting.append(one)
        return found

    def _hangs(self, name, above):
        return name in above or any(one.name in above for one in self.bones[name].parent_recursive)


def limb_bones(armature, legs):
    """Names of the bones from the pelvis down to the toes, those in between included, and the one that carries the
    pelvis."""
    wanted = {legs.carrier or legs.pelvis, legs.pelvis}
    for leg in legs.legs:
        for name in leg.bones:  # a foot that hangs loose has its shin not above it
            bone = armature.pose.bones[name]
            while bone is not None and bone.name not in (legs.pelvis, legs.carrier):
                wanted.add(bone.name)
                bone = bone.parent
    return wanted


def _is_loose(leg, bones):
    return bones[leg.shin] not in bones[leg.foot].parent_recursive


def _copies_all(constraint):
    """True where a constraint leaves nothing of the bone's own rotation."""
    if constraint.type == "COPY_TRANSFORMS":
        return constraint.mix_mode == "REPLACE"
    return constraint.use_x and constraint.use_y and constraint.use_z and constraint.mix_mode == "REPLACE"


def _moves(driver):
    """True for a driver of a bone's own location, rotation or scale."""
    bone, name = curves.bone_and_property(driver.data_path)
    return bone is not None and name.startswith(("location", "rotation", "scale"))
