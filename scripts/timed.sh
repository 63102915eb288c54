#!/bin/sh
# scripts/timed.sh FILE NAME COMMAND... runs a command and adds a line "SECONDS CPU NAME" to a file; CPU is the processor time, in seconds.
# Of processes whose parent does not wait for them it is not known.
set -u
file=$1 name=$2
shift 2
mkdir -p "$(dirname "$file")"
began=$(date +%s)
"$@"
code=$?
times >"$file.cpu" # of the shell itself, and of what it waited for: "0m0.01s 0m0.00s"; not in a subshell, which waited for nothing
cpu=$(awk 'NR == 2 { for (i = 1; i <= 2; i++) { split($i, t, /[ms]/); s += 60 * t[1] + t[2] } printf "%d", s }' "$file.cpu")
rm -f "$file.cpu"
echo "$(($(date +%s) - began)) $cpu $name" >>"$file"
exit $code
