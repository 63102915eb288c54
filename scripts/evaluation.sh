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
    small=--small
    programs=${PROGRAMS:-lucene-search,pmd,xalan,h2}
    statistics=${STATISTICS:-lucene-search,pmd,xalan,h2,sunflow}
    collectors=Serial,G1,ZGC heaps=1.5x,2x,4x lbo_runs=2 scale_runs=2 nominal_runs=2 skip=GMU,GLK,PCC
else
    out=build/evaluation
    small=
    programs=${PROGRAMS:-batik,h2,kafka,lucene-index,lucene-search,maven,pmd,scala3,spark,sunflow,tomcat,xalan}
    statistics=${STATISTICS:-$programs}
    collectors=Serial,Parallel,G1,ZGC,Shenandoah heaps=1x,1.5x,2x,3x,6x lbo_runs=10 scale_runs=5 nominal_runs=5 skip=
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

# shellcheck disable=SC2086 # $small is a word or none
{
    # Lower-bound overheads (Rethinking Java Performance Analysis, figures 1 and 5), with the smallest heaps.
    step lbo "$shadow" lbo --suite "$suite" --programs "$programs" $small --collectors "$collectors" --heaps "$heaps" --repeat "$lbo_runs" --iteration last -o "$out/lbo"

    # Statistics and principal components (the same paper, table 1 and figure 4).
    step characterize "$shadow" characterize --suite "$suite" --programs "$statistics" $small --repeat "$nominal_runs" --skip "$skip" --runs "$out/characterize"
    step components "$shadow" characterize --suite "$suite" --programs "$statistics" $small --repeat "$nominal_runs" --skip "$skip" --runs "$out/characterize" -o "$out/components.svg"
}
