"""DuckDB over the Parquet files of a session: the figures of `shadow stats` or `shadow hotspots` as JSON.

    duck.py stats|hotspots DIR
"""
import json
import sys

import duckdb

METRICS = {
    "wall_ns": "wall_ns",
    "cpu_ns": "cpu_ns",
    "self_wall_ns": "wall_ns - nested_wall_ns",
    "self_cpu_ns": "cpu_ns - nested_cpu_ns",
}
FIRST = 64  # wire.First
QUANTILES = {"p1": 0.01, "p5": 0.05, "p25": 0.25, "p50": 0.5, "p75": 0.75, "p95": 0.95, "p99": 0.99, "p999": 0.999}


def columns():
    """The figures of each metric; quantile_disc is exact, nearest rank."""
    for m in METRICS.values():
        yield f"count({m}), sum({m}), avg({m}), stddev_samp({m}), min({m}), max({m}), quantile_disc({m}, {list(QUANTILES.values())})"


def figures(values):
    out = {}
    for i, m in enumerate(METRICS):
        count, total, mean, stddev, least, most, quantiles = values[7 * i : 7 * i + 7]
        out[m] = {"count": count, "sum": int(total), "mean": mean, "stddev": stddev, "min": least, "max": most}
        out[m].update(zip(QUANTILES, quantiles))
    return out


def main():
    what, folder = sys.argv[1:]
    db = duckdb.connect()
    executions = f"'{folder}/executions-*.parquet'"
    created_by = f"SELECT class, count(*) FROM '{folder}/creations-*.parquet' WHERE flags = 0 GROUP BY class"
    created = dict(db.sql(created_by).fetchall())
    # A task's first execution carries a flag, so there is no need to match creations with executions.
    counts = f"count(*), count(DISTINCT thread), count(*) FILTER (flags & {FIRST} != 0), {', '.join(columns())}"
    if what == "stats":
        n, threads, first, *values = db.sql(f"SELECT {counts} FROM {executions}").fetchall()[0]
        total = sum(created.values())
        json.dump({"tasks": {"created": total, "executions": n, "never_executed": total - first, "threads": threads}, "metrics": figures(values)}, sys.stdout)
        return
    names = dict(db.sql(f"SELECT class, any_value(name) FROM '{folder}/classes-*.parquet' GROUP BY class").fetchall())
    rows = []
    for c, n, threads, first, *values in db.sql(f"SELECT class, {counts} FROM {executions} GROUP BY class").fetchall():
        made = created.get(c, 0)
        rows.append({"class": names[c], "created": made, "executions": n, "never_executed": made - first, "threads": threads, "metrics": figures(values)})
    json.dump(rows, sys.stdout)


main()
