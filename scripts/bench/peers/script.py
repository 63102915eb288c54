"""Reads and sorts a trace in CSV (`shadow tasks --format csv`) in plain Python, as scripts around a
tracing profiler do, and prints the figures of `shadow hotspots` as JSON.

    script.py FILE.csv
"""
import csv
import json
import math
import sys

METRICS = ["wall_ns", "cpu_ns", "self_wall_ns", "self_cpu_ns"]
QUANTILES = {"p1": 0.01, "p5": 0.05, "p25": 0.25, "p50": 0.5, "p75": 0.75, "p95": 0.95, "p99": 0.99, "p999": 0.999}


def describe(values):
    values.sort()
    n = len(values)
    mean = sum(values) / n
    out = {"count": n, "sum": sum(values), "mean": mean, "min": values[0], "max": values[-1]}
    out["stddev"] = math.sqrt(sum((v - mean) ** 2 for v in values) / (n - 1)) if n > 1 else 0.0
    for name, q in QUANTILES.items():
        out[name] = values[max(0, math.ceil(q * n) - 1)]
    return out


def main():
    classes = {}
    with open(sys.argv[1], newline="") as f:
        rows = csv.reader(f)
        header = next(rows)
        at = [header.index(m) for m in METRICS]
        name, execution, task, thread = (header.index(c) for c in ("class", "execution", "task_id", "thread"))
        for row in rows:
            c = classes.get(row[name])
            if c is None:
                c = classes[row[name]] = {"tasks": set(), "never": 0, "threads": set(), "values": [[] for _ in METRICS]}
            c["tasks"].add(row[task])
            if row[execution] in ("", "0"):  # created and never executed
                c["never"] += 1
                continue
            c["threads"].add(row[thread])
            for values, i in zip(c["values"], at):
                if row[i]:
                    values.append(int(row[i]))
    out = []
    for name, c in classes.items():
        metrics = {m: describe(v) for m, v in zip(METRICS, c["values"]) if v}
        executions = len(c["values"][0])
        out.append({"class": name, "created": len(c["tasks"]), "executions": executions, "never_executed": c["never"], "threads": len(c["threads"]), "metrics": metrics})
    json.dump(out, sys.stdout)


main()
