#!/bin/sh
# Pekko (the open continuation of Akka): actors that count the prime numbers of many ranges.
what="Counts prime numbers by actors of Pekko, a message a range."
. "$(dirname "$0")/lib.sh"
jars
driver "$cache/lib/*"
profile -cp "$cache/lib/*:$work/classes" Main "$threads" "${RANGES:-20000}"
