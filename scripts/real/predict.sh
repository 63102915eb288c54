#!/bin/sh
# predict.sh [PROGRAM...]: asks `shadow whatif` what a change gains in real programs, makes the change and measures. Base and changed runs
# are taken in turns, ROUNDS of each, all profiled; the least of each count. It fails if a prediction is more than 20 % off, and the reason is
# not known. PROGRAM is the name of a script beside this one. KEEP=DIR keeps the sessions there; with REUSE=1 those that are there are
# not recorded again. Called by `make predictions`.
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
root=$(CDPATH= cd -- "$here/../.." && pwd)
shadow=$root/bin/shadow
rounds=${ROUNDS:-3}
dir=${KEEP:-$(mktemp -d)}
mkdir -p "$dir"
[ -n "${KEEP:-}" ] || trap 'rm -rf "$dir"' EXIT
one_cpu='JAVA=taskset -c 0 java'
serial=-XX:+UseSerialGC # the same collector on any number of CPUs

# An experiment a line: program | change | options of whatif | environment of the base runs | of the changed ones | the reason why it is off,
# if that is known. Entries of an environment are separated by commas.
experiments() {
    cat <<END
pmd|1 -> 2 threads|--pool ThreadPoolExecutor=2|THREADS=1|THREADS=2
pmd|1 -> 2 CPUs|--cpus 2|THREADS=2,JAVA_FLAGS=$serial,$one_cpu|THREADS=2,JAVA_FLAGS=$serial
pmd|heap 64 -> 400 MB|--no-gc all|JAVA_FLAGS=$serial -Xmx64m|JAVA_FLAGS=$serial -Xms400m -Xmn300m
h2|1 -> 2 threads|--pool ThreadPoolExecutor=2|THREADS=1|THREADS=2
h2|audits twice as fast|--faster Main\$Audit=2|PASSES=4,SHADOW_FLAGS=--detail all|PASSES=2,SHADOW_FLAGS=--detail all
lucene|1 -> 2 threads|--pool ThreadPoolExecutor=2|THREADS=1|THREADS=2
lucene|searches twice as fast|--faster Main\$Search=2|PASSES=2|PASSES=1
sunflow|1 -> 2 CPUs|--cpus 2|THREADS=2,JAVA_FLAGS=$serial,$one_cpu|THREADS=2,JAVA_FLAGS=$serial|its threads take a third more CPU time on two CPUs: they slow one another down in memory that they share
sunflow|half the pixels|--faster BucketThread=2|RESOLUTION=181|RESOLUTION=128
guava|1 -> 2 threads|--pool ThreadPoolExecutor=2|THREADS=1,SHADOW_FLAGS=--detail all|THREADS=2,SHADOW_FLAGS=--detail all
waits|nobody waits for the log|--free Main\$Log|LOG=one|LOG=own
waits|a permit for each client|--free Semaphore|PERMITS=4|PERMITS=12
jetty|waits of 1 ms, not 2|--faster Words=2|WAIT=2,SHADOW_FLAGS=--task @jetty|WAIT=1,SHADOW_FLAGS=--task @jetty
netty|2 -> 1 CPUs|--cpus 1|JAVA_FLAGS=$serial|JAVA_FLAGS=$serial,$one_cpu
httpserver|1 -> 2 threads|--pool ThreadPoolExecutor=2|THREADS=1|THREADS=2
tomcat|1 -> 2 threads|--pool http-nio=2|THREADS=1|THREADS=2
kafka|2 -> 1 CPUs|--cpus 1||$one_cpu
waits|12 permits, nobody waits for the log|--free Main\$Log|PERMITS=12|PERMITS=12,LOG=own|the replay has the server's dispatcher handle requests in the recorded order, so the gain is a lower bound
END
}

# record FOLDER SCRIPT ENVIRONMENT: a profiled run of a program.
record() (
    out=$1 script=$2
    [ "${REUSE:-0}" = 1 ] && [ -e "$out" ] && exit 0
    rm -rf "$out"
    flags=
    IFS=,
    for entry in $3; do
        case $entry in
        SHADOW_FLAGS=*) flags=${entry#SHADOW_FLAGS=} ;;
        *) export "${entry?}" ;;
        esac
    done
    unset IFS
    export SHADOW_FLAGS="--quiet $flags"
    "$here/$script.sh" "$out" >"$out.log" 2>&1 || { tail -3 "$out.log" >&2; exit 1; }
)

# experiment NUMBER PROGRAM CHANGE OPTIONS BASE CHANGED KNOWN: records the runs and asks for the prediction from each base run.
experiment() {
    at=$dir/$1-$2
    mkdir -p "$at"
    printf '%s\n' "$2" "$3" "$7" >"$at/what"
    for round in $(seq "$rounds"); do
        echo "$2, $3: round $round of $rounds" >&2
        record "$at/base$round" "$2" "$5" && record "$at/changed$round" "$2" "$6" || return 1
        for run in base changed; do
            "$shadow" stats "$at/$run$round" --format json >"$at/$run$round.json" 2>/dev/null
        done
        # shellcheck disable=SC2086 # options are words
        "$shadow" whatif "$at/base$round" $4 --format json >"$at/predicted$round.json" 2>"$at/predicted$round.log" || cat "$at/predicted$round.log" >&2
        [ -n "${KEEP:-}" ] || rm -rf "$at/base$round" "$at/changed$round"
    done
}

number=0 bad=0
experiments >"$dir/experiments"
while IFS='|' read -r program change options base changed known; do
    number=$((number + 1))
    case " ${*:-$program} " in *" $program "*) ;; *) continue ;; esac
    experiment "$number" "$program" "$change" "$options" "$base" "$changed" "$known" </dev/null || bad=1
done <"$dir/experiments"
python3 "$here/predicted.py" "$dir" || bad=1
exit $bad
