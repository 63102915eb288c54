#!/bin/sh
# Tomcat, embedded: requests over HTTP on loopback, from clients in a JVM of their own.
what="Answers 20,000 HTTP requests with an embedded Tomcat; the clients are a JVM of their own."
. "$(dirname "$0")/lib.sh"
jars
driver "$cache/lib/*"
profile -cp "$cache/lib/*:$work/classes" Main "$threads" "${CLIENTS:-8}" "${REQUESTS:-20000}" "$work"
