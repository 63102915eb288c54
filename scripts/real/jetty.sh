#!/bin/sh
# Jetty, embedded: a request is answered on a virtual thread where the JVM has them (JDK 21 and later).
what="Answers 10,000 HTTP requests with an embedded Jetty, on virtual threads where there are; the clients are in the same JVM."
. "$(dirname "$0")/lib.sh"
jars
driver "$cache/lib/*"
profile -cp "$cache/lib/*:$work/classes" Main "${CLIENTS:-16}" "${REQUESTS:-10000}" "${WAIT:-2}"
