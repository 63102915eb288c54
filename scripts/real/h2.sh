#!/bin/sh
# H2: transfers between accounts of an in-memory database, in parallel.
what="Answers 100,000 requests with an in-memory H2 database, in parallel."
. "$(dirname "$0")/lib.sh"
jars
driver "$cache/lib/*"
profile -cp "$cache/lib/*:$work/classes" Main "$threads" "${ACCOUNTS:-10000}" "${REQUESTS:-100000}" "${PASSES:-1}"
