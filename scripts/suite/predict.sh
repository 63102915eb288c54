#!/bin/sh
# predict.sh [PROGRAM...]: asks `shadow whatif` what a change gains in real programs, makes the change and measures. Base and changed runs
# are taken in turns, ROUNDS of each, all profiled; the least of each count. It fails if a prediction is more than 20 % off, and the reason is
# not known. PROGRAM is one of suite/*.yaml. KEEP=DIR keeps the sessions there; with REUSE=1 those that are there are
# not recorded again. Called by `make predictions`.
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
root=$(CDPATH= cd -- "$here/../.." && pwd)
cd "$root"
shadow=$root/bin/shadow
suite=$root/build/suite
scripts/go.sh build -o "$suite" ./scripts/suite
rounds=${ROUNDS:-3}
dir=${KEEP:-$(mktemp -d)}
mkdir -p "$dir"
[ -n "${KEEP:-}" ] || trap 'rm -rf "$dir"' EXIT
one_cpu='-java taskset,-c,0,java'
serial=-XX:+UseSerialGC # the same collector on any number of CPUs

# An experiment a line: program | change | options of whatif | arguments of the base runs | of the changed ones | the reason why it is off,
# if that is known. The arguments are those of `suite run`, where a comma stands for a space within one.
experiments() {
    cat <<END
pmd-cli|1 -> 2 threads|--pool ThreadPoolExecutor=2|-threads 1|-threads 2
pmd-cli|1 -> 2 CPUs|--cpus 2|-threads 2 -jvm $serial $one_cpu|-threads 2 -jvm $serial
pmd-cli|heap 64 -> 400 MB|--no-gc all|-jvm $serial,-Xmx64m|-jvm $serial,-Xms400m,-Xmn300m
h2-bank|1 -> 2 threads|--pool ThreadPoolExecutor=2|-threads 1|-threads 2
h2-bank|audits twice as fast|--faster Main\$Audit=2|-options --detail,all passes=4|-options --detail,all passes=2
lucene-words|1 -> 2 threads|--pool ThreadPoolExecutor=2|-threads 1|-threads 2
lucene-words|searches twice as fast|--faster Main\$Search=2|passes=2|passes=1
sunflow|1 -> 2 CPUs|--cpus 2|-threads 2 -jvm $serial $one_cpu|-threads 2 -jvm $serial|its threads take a third more CPU time on two CPUs: they slow one another down in memory that they share
sunflow|half the pixels|--faster BucketThread=2|resolution=181|resolution=128
guava|1 -> 2 threads|--pool ThreadPoolExecutor=2|-threads 1 -options --detail,all|-threads 2 -options --detail,all
waits|nobody waits for the log|--free Main\$Log|log=one|log=own
waits|a permit for each client|--free Semaphore|permits=4|permits=12
jetty-inside|waits of 1 ms, not 2|--faster Words=2|-options --task,@jetty wait=2|-options --task,@jetty wait=1
netty|2 -> 1 CPUs|--cpus 1|-jvm $serial|-jvm $serial $one_cpu
httpserver|1 -> 2 threads|--pool ThreadPoolExecutor=2|-threads 1|-threads 2
tomcat|1 -> 2 threads|--pool http-nio=2|-threads 1|-threads 2
kafka|2 -> 1 CPUs|--cpus 1||$one_cpu
waits|12 permits, nobody waits for the log|--free Main\$Log|permits=12|permits=12 log=own|the replay has the server's dispatcher handle requests in the recorded order, so the gain is a lower bound
END
}

# record FOLDER PROGRAM ARGUMENTS: a profiled run of a program. What is predicted for the suite's programs is one iteration.
record() {
    out=$1 program=$2
    [ "${REUSE:-0}" = 1 ] && [ -e "$out" ] && return 0
    rm -rf "$out"
    options=--quiet flags='' words=''
    # shellcheck disable=SC2086 # arguments are words
    set -- $3
    while [ $# -gt 0 ]; do
        case $1 in
        -options) options="$options $(spaced "$2")"; shift ;;
        -jvm) jvm=$(spaced "$2"); flags="$flags -jvm '$jvm'"; shift ;;
        -java) flags="$flags -java '$(spaced "$2")'"; shift ;;
        -*) flags="$flags $1 '$2'"; shift ;;
        *) words="$words '$1'" ;;
        esac
        shift
    done
    eval "\"$suite\" run \"$program\" -o \"$out\" -iterations 1 -tasks=false -options '$options' $flags $words" >"$out.log" 2>&1 || { tail -3 "$out.log" >&2; return 1; }
}

spaced() { printf '%s' "$1" | tr , ' '; }

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
