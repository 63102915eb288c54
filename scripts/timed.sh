#!/bin/sh
# scripts/timed.sh FILE NAME COMMAND... runs a command and adds a line "SECONDS NAME" to a file.
set -u
file=$1 name=$2
shift 2
mkdir -p "$(dirname "$file")"
began=$(date +%s)
"$@"
code=$?
echo "$(($(date +%s) - began)) $name" >>"$file"
exit $code
