"""Bytes of files that are not as they should be."""

import json


def _chosen(rng, options):
    return options[int(rng.integers(len(options)))]


def odd_labels(rng, bones):
    """The bytes of a labels file for some bones, in which most is wrong."""
    count = _chosen(rng, (0, 1, 11, 12, 15, 20, 30, 31, 200_000))
    value = _chosen(rng, (0, 1, 0.5, -1, 7, True, None, "x", float("nan"), float("inf"), [1], {"a": 0}, 10**30))
    data = {"frame_rate": 60.0, "frame_start": 1, "contacts": {bone: [value] * count for bone in bones}}
    if rng.random() < 0.2:
        data = _chosen(
            rng, (None, [], 5, {"contacts": 5}, {"contacts": {}}, {"contacts": {"toe.L": 4}}, {"contacts": None})
        )
    text = json.dumps(data).encode()
    if rng.random() < 0.3:
        return mutated(rng, text)
    return _chosen(rng, (text, text, text, b"", b"[" * 100_000, b"\xff\xfe" + text, b"{" + text, text * 2))


def mutated(rng, data):
    """Bytes of which some are others, missing, or twice there."""
    data, kept = bytearray(data), rng.random() < 0.5  # as long as it was
    for _ in range(int(rng.integers(1, 9))):
        if not data:
            break
        at = int(rng.integers(len(data)))
        kind = rng.choice((0, 4)) if kept else rng.integers(6)
        if kind == 0:
            data[at] = int(rng.integers(256))
        elif kind == 1:
            data[at : at + 8] = _chosen(rng, (b"\0" * 8, b"\xff" * 8, b"\xff\xff\xff\x7f", b"1e999", b"-1", b"{", b"}"))
        elif kind == 2:
            del data[at : at + int(rng.integers(1, 200))]
        elif kind == 3:
            data[at:at] = data[at : at + int(rng.integers(1, 200))]
        elif kind == 4:
            data[at] ^= 1 << int(rng.integers(8))
        elif rng.random() < 0.3:
            del data[at:]
    return bytes(data)
