#!/bin/sh
# shares.sh [PROGRAM...]: profiles real programs and prints which share of the work bears names of the program
# or its framework. It fails if that is below 90 % and no --task was printed that would show more. PROGRAM is one of
# suite/*.yaml, with options of `shadow run` behind a colon: kafka:--task=@kafka. Called by `make real`.
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
root=$(CDPATH= cd -- "$here/../.." && pwd)
shadow=$root/bin/shadow
[ $# -gt 0 ] || set -- cassandra kafka kafka:--task=@kafka httpserver httpserver:--task=@httpserver h2 lucene-index lucene-search pmd spark spark:--task=@spark tomcat tomcat:--task=@tomcat
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
bad=0
printf '%-34s %12s %12s %12s  %s\n' program units executors sites 'to see more'
for program; do
    name=${program%%:*}
    flags=${program#"$name"}
    rm -rf "$dir/s"
    if ! (cd "$root" && scripts/go.sh run ./scripts/suite run "$name" -o "$dir/s" -tasks=false -options "--quiet ${flags#:}") >"$dir/out" 2>&1; then
        printf '%-34s does not run: %s\n' "$program" "$(tail -1 "$dir/out")"
        bad=1
        continue
    fi
    # share COLUMN ARGS: the share of the work in rows with names of the program
    share() {
        column=$1
        shift
        "$shadow" hotspots "$dir/s" --units --format json "$@" 2>/dev/null | python3 -c '
import json, re, sys
jdk = re.compile(r"^(java|jdk|sun|com\.sun)\.|^\(|#[0-9]+$")
rows = json.load(sys.stdin) or []
total = sum(r["work_ns"] or 0 for r in rows)
own = sum(r["work_ns"] or 0 for r in rows if not jdk.search(r.get(sys.argv[1]) or "("))
print("%.1f" % (100 * own / total) if total else "-")' "$column"
    }
    units=$(share class)
    more=$("$shadow" stats "$dir/s" --format json | python3 -c 'import json, sys; h = json.load(sys.stdin).get("hidden"); print(" ".join("--task=" + t for t in h["tasks"]) if h else "")')
    printf '%-34s %10s %% %10s %% %10s %%  %s\n' "$program" "$units" "$(share executor --by executor)" "$(share site --by site)" "$more"
    if [ "$units" = - ] || { [ "${units%.*}" -lt 90 ] && [ -z "$more" ]; }; then
        bad=1
    fi
done
exit $bad
