"""Settings and panels."""


def register():
    pass


def unregister():
    pass
