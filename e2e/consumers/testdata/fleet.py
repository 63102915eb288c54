"""Runs a script of views and then queries in an engine; prints the rows of each query as a line of JSON.

fleet.py duckdb|chdb|spark VIEWS QUERY...   ENDPOINT is the address of an S3 server, if there is one.
"""
import json
import os
import sys

engine, views, queries = sys.argv[1], open(sys.argv[2]).read(), sys.argv[3:]
endpoint = os.environ.get("ENDPOINT", "")


def statements(script):
    lines = [line for line in script.splitlines() if not line.startswith("--")]
    return [s for s in "\n".join(lines).split(";\n") if s.strip()]


if engine == "duckdb":
    import duckdb

    db = duckdb.connect()
    if endpoint:
        import importlib.util

        found = importlib.util.find_spec("duckdb_extension_httpfs")
        folder = found.submodule_search_locations[0]
        for at, _, names in os.walk(folder):
            for name in names:
                if name.endswith(".duckdb_extension"):
                    db.execute(f"LOAD '{os.path.join(at, name)}'")
        db.execute(
            f"CREATE SECRET (TYPE s3, KEY_ID '{os.environ['AWS_ACCESS_KEY_ID']}', SECRET '{os.environ['AWS_SECRET_ACCESS_KEY']}', "
            f"ENDPOINT '{endpoint.removeprefix('http://')}', USE_SSL false, URL_STYLE 'path', REGION 'eu-central-1')"
        )
    for s in statements(views):
        db.execute(s)
    rows = lambda q: db.execute(q).fetchall()
elif engine == "chdb":
    from chdb import session

    s3 = session.Session()
    for s in statements(views):
        if endpoint:  # the credentials are the server's to know; this one has no configuration
            s = s.replace(", 'Parquet',", f", '{os.environ['AWS_ACCESS_KEY_ID']}', '{os.environ['AWS_SECRET_ACCESS_KEY']}', 'Parquet',")
            s = s.replace(", 'JSONEachRow',", f", '{os.environ['AWS_ACCESS_KEY_ID']}', '{os.environ['AWS_SECRET_ACCESS_KEY']}', 'JSONEachRow',")
        s3.query(s)

    def rows(q):
        out = s3.query(q, "JSONCompactEachRow").bytes().decode()
        return [json.loads(line) for line in out.splitlines()]
else:
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config("spark.sql.session.timeZone", "UTC").config("spark.sql.shuffle.partitions", "4").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    for s in statements(views):
        spark.sql(s)
    rows = lambda q: [list(r) for r in spark.sql(q).collect()]

for q in queries:
    print(json.dumps([[int(v) if isinstance(v, str) and v.lstrip("-").isdigit() else float(v) if type(v).__name__ == "Decimal" else v for v in r] for r in rows(q)], default=str))
