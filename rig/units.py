"""How long a unit of the scene is, judged from the legs that stand in it."""

from math import log

from ..solvers.errors import FootlockError

# Metres of an adult's thigh and shin together, and what is plausible without a second thought: a child, a giant.
_LEG = 0.83
_PLAUSIBLE = (0.35, 1.6)
# Metres of the units that motion comes in: the usual ones first, then inch, foot and the CMU database's own.
_USUAL = (1.0, 0.01, 0.001)
_OTHERS = (0.0254, 0.3048, 0.056444)
# Metres of the least and the largest unit that anybody has: a micrometre, and a kilometre.
RANGE = (1e-6, 1e3)


def check(unit):
    """Raise FootlockError for metres of one unit of the scene that cannot be meant."""
    # A property in single precision may be a little less.
    if not RANGE[0] * 0.999 <= unit <= RANGE[1]:
        raise FootlockError(
            "A unit of the scene is taken for {unit:g} m: set Scene Unit to metres from {least:g} to {most:g}, or to 0"
            " to have it judged from the legs.",
            unit=unit,
            least=RANGE[0],
            most=RANGE[1],
        )


def judged(leg_length, scene_scale=1.0):
    """Metres of one unit, from the length of thigh and shin in units and what the scene says of itself.

    The scene's word, metres, centimetres and millimetres are believed in this order where they give a plausible leg;
    then the other units by how near they come to an adult's; where nothing fits (a toy, a dragon), the scene's word
    stands.
    """
    for unit in (scene_scale, *_USUAL):
        if _PLAUSIBLE[0] <= leg_length * unit <= _PLAUSIBLE[1]:
            return unit
    if leg_length <= 0.0:
        return scene_scale
    nearest = min(_OTHERS, key=lambda unit: abs(log(leg_length * unit / _LEG)))
    return nearest if _PLAUSIBLE[0] <= leg_length * nearest <= _PLAUSIBLE[1] else scene_scale
