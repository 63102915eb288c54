"""predicted.py DIR: the table of predict.sh from what it left in DIR. Exits 1 if a prediction is more than 20 % off for no known reason."""
import glob
import json
import os
import re
import sys

TOLERANCE = 0.2
HEAD = ["program", "JDK", "change", "recorded", "replayed", "predicted", "measured", "(min..max)", "off"]


def read(path):
    try:
        with open(path) as f:
            return json.load(f)
    except (OSError, ValueError):
        return None


def seconds(ns):
    return f"{ns / 1e9:.2f} s"


def percent(x):
    return f"{100 * x:+.0f} %"


def rounds(folder):
    """The base runs with their predictions, by duration, and the durations of the changed ones."""
    base, changed = [], []
    for path in glob.glob(os.path.join(folder, "base*.json")):
        n = re.search(r"base(\d+)\.json$", path).group(1)
        run, after = read(path), read(os.path.join(folder, f"changed{n}.json"))
        if run and after:
            base.append((run["duration_ns"], run["jvm"]["version"], read(os.path.join(folder, f"predicted{n}.json"))))
            changed.append(after["duration_ns"])
    return sorted(base, key=lambda b: b[0]), sorted(changed)


def row(folder):
    """The row of an experiment, a note about it, and whether it is off for no known reason; None: it has no runs."""
    with open(os.path.join(folder, "what")) as f:
        program, change, known = f.read().splitlines()
    base, changed = rounds(folder)
    if not base:
        return None
    duration, version, answer = base[0]
    out = [program, re.sub(r"\D.*", "", version), change, seconds(duration)]
    measured = [seconds(changed[0]), f"{changed[0] / 1e9:.2f}..{changed[-1] / 1e9:.2f}"]
    if answer is None or answer["predicted_ns"] is None:
        why = answer["cannot_tell"] if answer else "whatif failed"
        return out + ["-", "cannot tell", *measured, "-"], f"{program}, {change}: cannot tell: {why}", False
    predicted = duration - (answer["recorded_ns"] - answer["predicted_ns"])
    off = predicted / changed[0] - 1
    far = abs(off) > TOLERANCE
    note = f"{program}, {change}: {known or 'off, and nobody knows why'}" if far else None
    return out + [percent(answer["replay_error"]), seconds(predicted), *measured, percent(off)], note, far and not known


def main(folder):
    found = [row(f) for f in sorted(glob.glob(os.path.join(folder, "*-*/")), key=lambda f: int(re.match(r"\d+", os.path.basename(f[:-1])).group()))]
    rows = [HEAD] + [r for r, _, _ in filter(None, found)]
    widths = [max(len(r[i]) for r in rows) for i in range(len(HEAD))]
    for r in rows:
        print("  ".join(cell.ljust(w) if i < 3 else cell.rjust(w) for i, (cell, w) in enumerate(zip(r, widths))))
    for note in (n for _, n, _ in filter(None, found) if n):
        print(note)
    return any(bad for _, _, bad in filter(None, found))


sys.exit(main(sys.argv[1]))
