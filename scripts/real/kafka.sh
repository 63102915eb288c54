#!/bin/sh
# Kafka: a broker in KRaft mode on loopback under its own producer benchmark, which is a JVM of its own. SIDE=producer
# profiles that.
what="Runs a Kafka broker and sends it 500,000 records by Kafka's ProducerPerformance (54 MB of jars)."
. "$(dirname "$0")/lib.sh"
jars
driver "$cache/lib/*"
profile -cp "$cache/lib/*:$work/classes" Main "${SIDE:-broker}" "$threads" "${RECORDS:-500000}" "${BYTES:-1000}"
