#!/bin/sh
# Runs every fuzz target of the tree for TIME (20s) or a number of executions (5000x, the default) each: scripts/fuzz.sh [TIME]
set -eu
root=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd)
cd "$root"
time=${1:-5000x}
found=0
for dir in $(grep -rl --include='*_test.go' '^func Fuzz' . | xargs -n1 dirname | sort -u); do
    for target in $(grep -rh --include='*_test.go' '^func Fuzz' "$dir"/*_test.go | sed 's/^func \(Fuzz[A-Za-z0-9_]*\).*/\1/'); do
        echo "fuzz $dir $target $time"
        scripts/go.sh test -run '^$' -fuzz "^$target\$" -fuzztime "$time" "$dir"
        found=$((found + 1))
    done
done
[ "$found" -gt 0 ] || { echo "fuzz: no fuzz targets found" >&2; exit 1; }
echo "fuzz: $found targets"
