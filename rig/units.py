"""How long a unit of the scene is, judged from the legs that stand in it."""

from math import log

# Metres of an adult's thigh and shin together, and what is plausible without a second thought: a child, a giant.
_LEG = 0.83
_PLAUSIBLE = (0.35, 1.6)
# Metres of the units that motion comes in: the usual ones first, then inch, foot and the CMU database's own.
_USUAL = (1.0, 0.01, 0.001)
_OTHERS = (0.0254, 0.3048, 0.056444)


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
