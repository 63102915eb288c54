#!/bin/sh
# Scala: futures on the global execution context, and a parallel collection. The driver is Java, so no compiler is fetched.
what="Counts prime numbers by Scala's futures and by a parallel collection."
. "$(dirname "$0")/lib.sh"
jars
driver "$cache/lib/*"
profile -cp "$cache/lib/*:$work/classes" Main "$threads" "${RANGES:-20000}"
