"""Cases that go wrong in each way, for the test of the fuzz test itself."""

import os


def case(seed, folder):
    """Well, an error, or a crash."""
    assert seed != 1, "this is found"
    if seed == 2:
        os.abort()
    return "well"
