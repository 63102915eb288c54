#!/bin/sh
# Runs the Go of this tree: build/go (put there by install-deps.sh) or the one on the PATH.
# --which prints its path. A Go before 1.21 cannot read this go.mod and does not count.
root=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd)
for go in "$root/build/go/bin/go" "$(command -v go)" /usr/local/go/bin/go; do
    [ -x "$go" ] || continue
    minor=$("$go" version | sed -n 's/.* go1\.\([0-9]*\).*/\1/p')
    [ "${minor:-0}" -ge 21 ] || continue
    if [ "${1:-}" = --which ]; then echo "$go"; exit 0; fi
    PATH=$(dirname -- "$go"):$PATH exec "$go" "$@" # for tools that call go themselves
done
echo "no Go of version 1.21 or newer: run scripts/install-deps.sh, or see https://go.dev/dl" >&2
exit 1
