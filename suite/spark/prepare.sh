#!/bin/sh
# prepare.sh: Spark, the queries of TPC-H from its tests, and their tables at two scales.
. common/lib.sh
spark=org.apache.spark:spark-sql_2.13:4.2.0
jars lib "$spark"
unpacked queries "$spark:jar:tests"
find "$folder/queries" -mindepth 1 -maxdepth 1 ! -name tpch ! -name .done -exec rm -rf {} +
if once tables tpchgen-cli==4.0.0; then
    need python3 python3
    python3 -m pip install -q --no-deps --only-binary :all: --target "$folder/tpchgen" tpchgen-cli==4.0.0
    for scale in 0.01 0.1; do
        "$folder/tpchgen/bin/tpchgen-cli" parquet --scale-factor "$scale" --output-dir "$at/$scale"
    done
    rm -rf "$folder/tpchgen"
    done_
fi
driver 17 "$folder/lib/*"
{
    for package in lang lang.invoke lang.reflect io net nio util util.concurrent util.concurrent.atomic; do # what Spark's own launcher opens
        echo "--add-opens java.base/java.$package=ALL-UNNAMED"
    done
    for package in jdk.internal.ref sun.nio.ch sun.nio.cs sun.security.action sun.util.calendar; do
        echo "--add-opens java.base/$package=ALL-UNNAMED"
    done
} >"$folder/java.args"
