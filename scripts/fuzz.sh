#!/bin/sh
# Runs every fuzz target of the tree, one after another, and says at the end which failed: scripts/fuzz.sh [TIME]
# TIME is a number of executions (2000x by make; of targets that write files a twentieth) or a duration (10m) each.
# What a target fails over is left as testdata/fuzz/TARGET/... in its package: commit it with the remedy.
set -eu
root=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd)
cd "$root"
time=${1:-5000x}
found=0
failed=
for dir in $(grep -rl --include='*_test.go' '^func Fuzz' . | xargs -n1 dirname | sort -u); do
    for target in $(grep -rh --include='*_test.go' '^func Fuzz' "$dir"/*_test.go | sed 's/^func \(Fuzz[A-Za-z0-9_]*\).*/\1/'); do
        each=$time
        case $target:$time in
        FuzzStored:*x | FuzzDamaged:*x | FuzzPart:*x | FuzzPartOfSlices:*x) each=$((${time%x} / 20 + 1))x ;;
        esac
        echo "fuzz $dir $target $each"
        # Each input that reaches new code is shortened first, by default for up to a minute. Where the code that an input
        # reaches differs from run to run (pools, goroutines: Parquet), that never succeeds, and nothing else is tried.
        scripts/go.sh test -run '^$' -fuzz "^$target\$" -fuzztime "$each" -fuzzminimizetime 10x "$dir" || failed="$failed $dir:$target"
        found=$((found + 1))
    done
done
[ "$found" -gt 0 ] || { echo "fuzz: no fuzz targets found" >&2; exit 1; }
[ -z "$failed" ] || { echo "fuzz: failed:$failed" >&2; exit 1; }
echo "fuzz: $found targets"
