"""checksum.py FOLDER SCALE QUERIES: the checksum that Main.java computes, of DuckDB's answers (pip install duckdb) to the same queries on
the same tables. FOLDER is the one that prepare.sh filled."""
import decimal
import glob
import os
import sys

import duckdb


def signed(x, bits):
    x &= (1 << bits) - 1
    return x - (1 << bits) if x >> (bits - 1) else x


def java_hash(text):
    h = 0
    for c in text:
        h = signed(31 * h + ord(c), 32)
    return h


def text(value):
    if isinstance(value, (decimal.Decimal, float)):  # as Java's %.2f
        return str(decimal.Decimal(repr(float(value))).quantize(decimal.Decimal("0.01"), rounding=decimal.ROUND_HALF_UP))
    return "null" if value is None else str(value)


def row_hash(row):
    h = 0
    for value in row:
        h = signed(31 * h + java_hash(text(value)), 32)
    return h


def main(folder, scale, queries):
    db = duckdb.connect()
    for table in glob.glob(f"{folder}/tables/{scale}/*.parquet"):
        name = os.path.basename(table).removesuffix(".parquet")
        db.execute(f"create view {name} as select * from '{table}'")
    total = 0
    for q in range(1, int(queries) + 1):
        with open(f"{folder}/queries/tpch/q{q}.sql") as f:
            rows = db.execute(f.read()).fetchall()
        total = signed(31 * total + sum(map(row_hash, rows)), 64)
    print(format(total & ((1 << 64) - 1), "x"))


main(*sys.argv[1:])
