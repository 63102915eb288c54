#!/bin/sh
# The JDK's own web server on a pool or, with EXECUTOR=virtual, on virtual threads (JDK 21 or newer).
what="Answers 20,000 HTTP requests with the JDK's HttpServer on EXECUTOR=pool or virtual; the clients are a JVM of their own."
. "$(dirname "$0")/lib.sh"
driver "$work/classes"
profile -Dsun.net.httpserver.nodelay=true -cp "$work/classes" Main "${EXECUTOR:-pool}" "$threads" "${CLIENTS:-4}" "${REQUESTS:-20000}"
