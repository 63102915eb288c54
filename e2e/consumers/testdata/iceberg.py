"""Sums executions and their wall time by service in an Iceberg table of roll-ups; prints them as JSON.

iceberg.py pyiceberg|duckdb|spark METADATA   ENDPOINT is the address of an S3 server, if there is one; JAR is Iceberg's for Spark.
"""
import importlib.util
import json
import os
import sys

engine, metadata = sys.argv[1:]
endpoint = os.environ.get("ENDPOINT", "")

if engine == "pyiceberg":
    from pyiceberg.expressions import In
    from pyiceberg.table import StaticTable

    properties = {}
    if endpoint:
        properties = {
            "s3.endpoint": endpoint,
            "s3.access-key-id": os.environ["AWS_ACCESS_KEY_ID"],
            "s3.secret-access-key": os.environ["AWS_SECRET_ACCESS_KEY"],
            "s3.region": "eu-central-1",
        }
    table = StaticTable.from_metadata(metadata, properties)
    scan = table.scan(row_filter=In("metric", ["executions", "wall_ns"]), selected_fields=("service_name", "metric", "count", "sum", "bucket_count"))
    rows = [(r["service_name"], r["metric"], r["count"], r["sum"], sum(r["bucket_count"])) for r in scan.to_arrow().to_pylist()]
elif engine == "spark":
    from pyspark.sql import SparkSession

    store, _, rest = metadata.partition("/iceberg/")
    catalogue = "spark.sql.catalog.shadow"
    spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config("spark.jars", os.environ["JAR"])
    spark = spark.config(catalogue, "org.apache.iceberg.spark.SparkCatalog").config(catalogue + ".type", "hadoop").config(catalogue + ".warehouse", store)
    rows = (
        spark.getOrCreate()
        .sql(
            f"SELECT service_name, metric, count, sum, aggregate(bucket_count, 0L, (a, b) -> a + b) FROM shadow.iceberg.{rest.partition('/')[0]} "
            "WHERE metric IN ('executions', 'wall_ns')"
        )
        .collect()
    )
else:
    import duckdb

    db = duckdb.connect()
    for extension in ["avro", "iceberg"] + ["httpfs"] * bool(endpoint):
        folder = importlib.util.find_spec(f"duckdb_extension_{extension}").submodule_search_locations[0]
        for at, _, names in os.walk(folder):
            for name in names:
                if name.endswith(".duckdb_extension"):
                    db.execute(f"LOAD '{os.path.join(at, name)}'")
    if endpoint:
        db.execute(
            f"CREATE SECRET (TYPE s3, KEY_ID '{os.environ['AWS_ACCESS_KEY_ID']}', SECRET '{os.environ['AWS_SECRET_ACCESS_KEY']}', "
            f"ENDPOINT '{endpoint.removeprefix('http://')}', USE_SSL false, URL_STYLE 'path', REGION 'eu-central-1')"
        )
    rows = db.execute(
        f"SELECT service_name, metric, count, sum, list_sum(bucket_count) FROM iceberg_scan('{metadata}') WHERE metric IN ('executions', 'wall_ns')"
    ).fetchall()

sums = {}
for service, metric, count, total, buckets in rows:
    of = sums.setdefault(service, {"executions": 0, "wall_ns": 0, "buckets": 0})
    if metric == "executions":
        of["executions"] += count
    else:
        of["wall_ns"] += total
        of["buckets"] += int(buckets)
print(json.dumps(sums))
