#!/bin/sh
# Reactor: a pipeline on parallel rails, callables on the elastic scheduler, delays.
what="Counts prime factors with Project Reactor, on each of its kinds of schedulers."
. "$(dirname "$0")/lib.sh"
jars
driver "$cache/lib/*"
profile -cp "$cache/lib/*:$work/classes" Main "$threads" "${NUMBERS:-200000}"
