"""What an object and its bones stand at where no action moves them: it would else be what the last action left."""

_CHANNELS = ("location", "rotation_quaternion", "rotation_euler", "rotation_axis_angle", "scale")


def read(scene_object):
    """Values of the channels, by the owner's name ("" of the object itself) and the channel's, and of the properties of
    bones that are numbers."""
    found = {}
    for key, owner in _owners(scene_object).items():
        channels = {name: tuple(getattr(owner, name)) for name in _CHANNELS}
        numbers = {name: owner[name] for name in owner.keys() if key and isinstance(owner[name], bool | int | float)}  # noqa: SIM118
        found[key] = channels, numbers
    return found


def put(scene_object, values):
    """Put back what ``read`` has found."""
    for key, owner in _owners(scene_object).items():
        channels, numbers = values[key]
        for name, value in channels.items():
            setattr(owner, name, value)
        for name, value in numbers.items():
            owner[name] = value


def _owners(scene_object):
    """An object and its pose bones, by name: all that have channels."""
    bones = scene_object.pose.bones if scene_object.pose else ()
    return {"": scene_object, **{bone.name: bone for bone in bones}}
