#!/bin/sh
# Profiles a real parallel program, PMD over the sources of Apache Commons Lang, and says where
# the report is. Called by `make demo`, which has built everything.
set -eu
root=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd)
dir=$root/demo
rm -rf "$dir"
JAVA_HOME=$("$root/scripts/java-home.sh")
export JAVA_HOME

echo "demo: profiling PMD (static analysis) over the sources of Apache Commons Lang" >&2
(cd "$root" && scripts/go.sh run ./scripts/suite run pmd-cli -o "$dir/session" -options --quiet)
"$root/bin/shadow" report "$dir/session" -o "$dir/report.html"

echo
"$root/bin/shadow" stats "$dir/session"
echo
"$root/bin/shadow" hotspots "$dir/session" --app --top 10
cat <<EOF

The report:   file://$dir/report.html
The session:  $dir/session
Next:         bin/shadow run -- java -jar your.jar
EOF
