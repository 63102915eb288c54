#!/bin/sh
# The JDK's web server with requests that mostly wait, and its clients in the same JVM: the program of examples/waits.
what="Answers 720 HTTP requests that wait for PERMITS of a semaphore and for a log (LOG=one, or own for each request)."
. "$(dirname "$0")/lib.sh"
javac -nowarn -d "$work/classes" "$root/examples/waits/Main.java"
profile -Dsun.net.httpserver.nodelay=true -cp "$work/classes" Main "${CLIENTS:-12}" "${REQUESTS:-60}" "${PERMITS:-4}" "${LOG:-one}"
