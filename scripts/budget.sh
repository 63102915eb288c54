#!/bin/sh
# scripts/budget.sh TIMES BUDGET prints what the tests whose records are in the folder TIMES took beside what the file BUDGET
# allows, and exits 1 if something took more.
set -u
times=$1 budget=$2
[ -r "$budget" ] && [ -s "$times/parts" ] || { echo "budget: no $budget, or no $times/parts: run make test first" >&2; exit 1; }
{
	[ ! -e "$times/counts" ] || sort "$times/counts" | uniq -c
	# The package of each test binary that ran, once.
	cat "$times"/*.json | sed -n 's/.*"Action":"run","Package":"\([^"]*\)".*/\1/p' | sort -u | awk 'END { print NR, "binary" }'
	awk '{ s += $2 } END { print s, "cpu" }' "$times/parts"
	[ ! -e bin/shadow ] || echo $((($(wc -c < bin/shadow) + 999999) / 1000000)) megabyte
} | awk -v budget="$budget" '
{ took[$2] += $1 }
END {
	while ((getline line < budget) > 0) {
		if (line ~ /^#/ || line !~ /[^ ]/) continue
		split(line, f)
		much = (took[f[1]] > f[2])
		printf "%-8s %6d of %6d%s\n", f[1], took[f[1]], f[2], (much ? "  OVER THE BUDGET of " budget : "")
		over = over || much
		delete took[f[1]]
	}
	for (what in took) { print "budget: " budget " has no line for " what; over = 1 }
	exit over
}'
