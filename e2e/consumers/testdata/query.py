"""Runs a script of DuckDB's and then queries: python query.py VIEWS.sql QUERY...; prints a JSON array of rows for each query."""
import json
import sys

import duckdb

db = duckdb.connect()
db.execute(open(sys.argv[1], encoding="utf-8").read())
for query in sys.argv[2:]:
    print(json.dumps([list(row) for row in db.execute(query).fetchall()], default=str))
