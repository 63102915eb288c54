#!/bin/sh
# LMAX's Disruptor: its events are no Runnables, so the method that handles one is named as a task.
what="Counts prime numbers by handlers of a Disruptor, an event a range."
. "$(dirname "$0")/lib.sh"
jars
driver "$cache/lib/*"
SHADOW_FLAGS="--task com.lmax.disruptor.EventHandler#onEvent ${SHADOW_FLAGS:-}"
profile -cp "$cache/lib/*:$work/classes" Main "$threads" "${RANGES:-20000}"
