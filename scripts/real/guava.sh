#!/bin/sh
# Guava's listenable futures and Caffeine's asynchronous cache, on one pool.
what="Counts prime numbers by Guava's futures and by a cache of Caffeine's."
. "$(dirname "$0")/lib.sh"
jars
driver "$cache/lib/*"
profile -cp "$cache/lib/*:$work/classes" Main "$threads" "${RANGES:-20000}"
