#!/bin/sh
# Netty: requests over HTTP on loopback, from clients in the same JVM.
what="Answers 40,000 HTTP requests with Netty, each by a worker of a group; the clients are in the same JVM."
. "$(dirname "$0")/lib.sh"
jars
driver "$cache/lib/*"
profile -cp "$cache/lib/*:$work/classes" Main "$threads" "${CLIENTS:-8}" "${REQUESTS:-40000}"
