#!/bin/sh
# evaluation.sh: the tables and figures of the papers, from programs of the suite, in build/evaluation. It goes on where it was
# if it was interrupted. QUICK=1 runs fewer programs on their small inputs, fewer times. Called by `make evaluation`.
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
root=$(CDPATH= cd -- "$here/.." && pwd)
cd "$root"
shadow=bin/shadow
suite=suite/programs.yaml
if [ "${QUICK:-0}" = 1 ]; then
    out=build/evaluation-quick
    small='--small --iterations 2'
    programs=${PROGRAMS:-lucene-search,pmd,h2}
    statistics=${STATISTICS:-lucene-search,pmd,h2,sunflow}
    collectors=Serial,G1,ZGC heaps=1.5x,2x,4x lbo_runs=2 scale_runs=2 nominal_runs=2 skip=GMU,GLK,PCC,PIN
    stacks=${STACKS:-pmd,xalan} threads=1,2 gc_threads=1,2
else
    out=build/evaluation
    small=
    programs=${PROGRAMS:-batik,h2,kafka,lucene-index,lucene-search,maven,pmd,scala3,spark,sunflow,tomcat,xalan}
    statistics=${STATISTICS:-$programs}
    collectors=Serial,Parallel,G1,ZGC,Shenandoah heaps=1x,1.5x,2x,3x,6x lbo_runs=10 scale_runs=5 nominal_runs=5 skip=
    stacks=${STACKS:-batik,h2,lucene-search,pmd,sunflow,xalan} threads=1,2,4 gc_threads=1,2,4
fi
mkdir -p "$out"

# step NAME COMMAND...: runs the command, whose table goes into NAME.txt.
step() {
    name=$1
    shift
    echo "evaluation: $name" >&2
    begun=$(date +%s)
    if ! "$@" >"$out/$name.txt.tmp"; then
        echo "evaluation: $name failed; give the same command again to go on" >&2
        exit 1
    fi
    mv "$out/$name.txt.tmp" "$out/$name.txt"
    echo "evaluation: $name took $(($(date +%s) - begun)) s" >&2
}

# runs PROGRAM POINT: the folders of its runs at a point of the experiment in $out/scale.
runs() { echo "$out"/scale/*"$2"*"program-$1"*/run-*; }

# shellcheck disable=SC2046,SC2086 # $small is a word or none; globs are lists of folders
{
    # Lower-bound overheads (Rethinking Java Performance Analysis, figures 1 and 5), with the smallest heaps.
    step lbo "$shadow" lbo --suite "$suite" --programs "$programs" $small --collectors "$collectors" --heaps "$heaps" --repeat "$lbo_runs" --iteration last -o "$out/lbo"

    # Speedup stacks over threads, collector threads and collectors (Analyzing the Scalability of Managed Language Applications
    # with Speedup Stacks), with the collector's work and time (Bottle Graphs, figures 5 to 9, 15 and 16).
    step scale "$shadow" scale --suite "$suite" --programs "$stacks" $small --threads "$threads" --gc-threads "$gc_threads" --collector Parallel --repeat "$scale_runs" --iteration last -o "$out/scale"

    # Bottle graphs side by side (Bottle Graphs, figures 3, 4, 10 and 11).
    for program in $(echo "$stacks" | tr , ' '); do
        step "bottle-$program" "$shadow" bottle $(runs "$program" "gcthreads-1" | tr ' ' '\n' | grep 'run-1$') --iteration last -o "$out/bottle-$program.svg"
        step "iterations-$program" "$shadow" bottle $(runs "$program" "threads-2-gcthreads-1" | cut -d' ' -f1) --each-iteration -o "$out/iterations-$program.svg"
        step "warmup-$program" "$shadow" warmup $(runs "$program" "threads-2-gcthreads-1") -o "$out/warmup-$program.svg"
    done

    # What was found once need not be looked for again.
    for folder in latency characterize; do
        mkdir -p "$out/$folder"
        [ -d "$out/$folder/smallest-heap" ] || cp -r "$out/lbo/smallest-heap" "$out/$folder/"
    done

    # Latencies over collectors (Rethinking Java Performance Analysis, figures 3 and 6).
    step latency-runs "$shadow" scale --suite "$suite" --programs lucene-search $small --collector "$collectors" --heap 4x --repeat "$scale_runs" -o "$out/latency"
    step latency "$shadow" latency "$out"/latency/*/run-* --class 'Main$Search' -o "$out/latency.svg"

    # Statistics and principal components (the same paper, table 1 and figure 4).
    step characterize "$shadow" characterize --suite "$suite" --programs "$statistics" $small --repeat "$nominal_runs" --skip "$skip" --runs "$out/characterize"
    step components "$shadow" characterize --suite "$suite" --programs "$statistics" $small --repeat "$nominal_runs" --skip "$skip" --runs "$out/characterize" -o "$out/components.svg"
}
echo "evaluation: tables and figures are in $out" >&2
