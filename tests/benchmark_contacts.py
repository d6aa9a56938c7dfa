"""How well contacts are found: F1 per clip and condition, the root's scale, what Fit Root to Feet leaves, and time.

    python3 tests/benchmark_contacts.py

Needs numpy alone. Truth is the threshold detector on the clean clip at 60 Hz (``motions.truth``). Nothing is asserted.
"""

import importlib.util
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))
spec = importlib.util.spec_from_file_location("footlock", ROOT / "__init__.py", submodule_search_locations=[str(ROOT)])
footlock = importlib.util.module_from_spec(spec)
sys.modules["footlock"] = footlock
spec.loader.exec_module(footlock)

import motions  # noqa: E402
import numpy as np  # noqa: E402

from footlock.solvers import auto_contacts, contacts, root_fit  # noqa: E402

VELOCITIES = np.geomspace(0.1, 2.0, 14)
HEIGHTS = (0.03, 0.05, 0.07, 0.1, 0.15)
FACTORS = (0.5, 0.75, 1.25, 1.5, 2.0)


def cases():
    """Clip, condition, Motion and the labels that are wanted, at the Motion's frames."""
    found = []
    for name in motions.CLIPS:
        clip = motions.load(name)
        clip = clip.at_rate(motions.TRUTH_RATE)
        faster = motions.load(name)
        faster = motions.replace(faster, rate=1.4 * faster.rate).at_rate(motions.TRUTH_RATE)
        for source, label in ((clip, name), (faster, f"{name} ×1.4 speed")):
            wanted = motions.truth(source)
            for condition, motion in motions.conditions(source):
                found.append((label, condition, motion, motions.at_frames(wanted, len(motion.root), motion.rate)))
    return found


def automatic(motion):
    return auto_contacts.detect(motion.toes, motion.hips, motion.root, motion.leg_lengths, motion.rate).labels


def fit(motion):
    return root_fit.fit(motion.toes, motion.root, automatic(motion), motion.rate)


def threshold(motion, settings):
    return contacts.detect(motion.toes, motion.rate, contacts.floor_height(motion.toes), settings).labels


def best_setting(given):
    """The thresholds with the best mean F1 over all cases."""
    tried = [contacts.ThresholdSettings(float(v), h) for v in VELOCITIES for h in HEIGHTS]
    scores = [np.mean([motions.f1(threshold(motion, one), wanted) for _, _, motion, wanted in given]) for one in tried]
    return tried[int(np.argmax(scores))]


def print_table(title, given, detector):
    conditions = list(dict.fromkeys(condition for _, condition, _, _ in given))
    print(f"\n{title}\n{'':<24}" + "".join(f"{condition:>13}" for condition in conditions) + f"{'mean':>8}")
    rows = {}
    for clip, condition, motion, wanted in given:
        rows.setdefault(clip, {})[condition] = motions.f1(detector(motion), wanted)
    for clip, row in rows.items():
        print(f"{clip:<24}" + "".join(f"{row[c]:>13.3f}" for c in conditions) + f"{np.mean(list(row.values())):>8.3f}")
    columns = {c: [row[c] for row in rows.values()] for c in conditions}
    for what, function in (("least", min), ("mean", np.mean)):
        print(f"{what:<24}" + "".join(f"{function(columns[c]):>13.3f}" for c in conditions))


def drift(motion, labels):
    """Mean distance, mm, of toes from the first to the last frame of their contacts, level."""
    way = [
        np.linalg.norm((motion.toes[stop - 1, leg] - motion.toes[start, leg])[:2])
        for leg in range(labels.shape[1])
        for start, stop in contacts.runs(labels[:, leg])
    ]
    return 1000.0 * np.mean(way)


def print_root():
    print("\nFit Root to Feet: scale found, drift of planted toes (mm per contact of the clean clip) before → after")
    for name in motions.CLIPS:
        source = motions.load(name).at_rate(motions.TRUTH_RATE)
        wanted = motions.truth(source)
        speed = np.linalg.norm(np.diff(source.root[:, :2], axis=0), axis=1).mean() * source.rate
        print(f"{name}: drift of the clean clip {drift(source, wanted):.1f} mm, {speed:.3f} m/s")
        for factor in (*FACTORS, 0.0):
            motion = motions.root_scaled(source, factor)
            found, noisy = fit(motion), fit(motions.noisy(motion, 0.005))
            shift = np.concatenate([found.shift, np.zeros((len(found.shift), 1))], axis=1)[:, None]
            after = motions.replace(motion, toes=motion.toes + shift)
            print(
                f"  ×{factor:<5g}{found.kind:>6}  scale {found.scale:.3f}"
                f"  drift {drift(motion, wanted):7.1f} → {drift(after, wanted):5.1f}"
                f"  root {found.root_speed:.3f} m/s, feet {found.feet_speed:.3f} m/s{'  in place' * found.in_place}"
                f"  with 5 mm of noise: {noisy.kind} {noisy.scale:.3f}"
            )


def print_time():
    source = motions.root_scaled(motions.load("cmu_12_01").at_rate(60.0), 1.25)
    way = (source.root[-1] - source.root[0]) * motions.LEVEL
    seconds = {}
    for frames in (10_000, 100_000):
        times = -(-frames // len(source.root))
        long = source.moved(lambda points, n=times, f=frames: np.concatenate([points + way * i for i in range(n)])[:f])
        best = min(_seconds(automatic, long) for _ in range(3 if frames < 50_000 else 1))
        fit = _seconds(root_fit.fit, long.toes, long.root, automatic(long), long.rate)
        seconds[frames] = best
        print(f"{frames} frames: {best:.3f} s, and {fit:.3f} s for the root's fit")
    print(f"ten times the frames take {seconds[100_000] / seconds[10_000]:.1f} times as long")


def _seconds(function, *arguments):
    start = time.perf_counter()
    function(*arguments)
    return time.perf_counter() - start


def main():
    given = cases()
    print_table("automatic", given, automatic)
    print_table("thresholds, 0.25 m/s and 0.1 m", given, lambda motion: threshold(motion, contacts.ThresholdSettings()))
    best = best_setting(given)
    print_table(
        f"thresholds, best single setting: {best.velocity:.2f} m/s and {best.height:g} m",
        given,
        lambda motion: threshold(motion, best),
    )
    print_root()
    print()
    print_time()


if __name__ == "__main__":
    main()
