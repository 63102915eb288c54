#!/bin/sh
# Compares executions per class as counted by stackagent with the invocations of the same methods as
# counted by the JVM's own recorder (JFR method timing, JDK 25 and newer): two runs of each program,
# one with either, as their counts do not depend on the run.
#
#   scripts/jfr-oracle.sh [pmd-cli|sunflow|lucene-words|h2-bank]...     (default: pmd-cli sunflow)
#
# Exits 1 when a count differs. JFR cannot see lambdas: only named classes are compared.
set -eu
root=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# newest prints the home of the newest JDK found, which must be 25 or newer.
newest() {
    for home in "${JAVA_HOME:-}" /usr/lib/jvm/*; do
        [ -n "$home" ] && [ -x "$home/bin/jfr" ] || continue
        echo "$(sed -n 's/^JAVA_VERSION="\([0-9]*\).*/\1/p' "$home/release") $home"
    done | sort -n | tail -1
}
set -- "${@:-pmd-cli sunflow}"
found=$(newest)
[ "${found%% *}" -ge 25 ] 2>/dev/null || { echo "jfr-oracle: needs JDK 25 or newer; found ${found:-none}" >&2; exit 1; }
JAVA_HOME=${found#* }
export JAVA_HOME

# methods NAME: the execution methods to count. JFR counts a method by the class that declares it,
# stackagent an execution by the class of the object: inherited maps one to the other.
inherited='s/^net.sourceforge.pmd.lang.impl.PmdRunnable /net.sourceforge.pmd.lang.impl.MultiThreadProcessor$1 /
s/^net.sourceforge.pmd.cli.commands.internal.AbstractPmdSubcommand /net.sourceforge.pmd.cli.commands.internal.PmdCommand /'
methods() {
    case $1 in
        pmd-cli) echo 'java.util.concurrent.FutureTask::run;net.sourceforge.pmd.lang.impl.PmdRunnable::run;net.sourceforge.pmd.cli.commands.internal.AbstractPmdSubcommand::call' ;;
        sunflow) echo 'java.util.concurrent.FutureTask::run;org.sunflow.core.renderer.BucketRenderer$BucketThread::run;org.sunflow.core.LightServer$1::run' ;;
        lucene-words) echo 'Main$Search::call;Main$IndexBatch::call' ;;
        h2-bank) echo 'java.util.concurrent.FutureTask::run;Main$Transfer::call;Main$Audit::call' ;;
        *) echo "jfr-oracle: no such program: $1" >&2; return 1 ;;
    esac
}

suite() { (cd "$root" && scripts/go.sh run ./scripts/suite run "$@" -iterations 1); }

failed=0
# shellcheck disable=SC2048,SC2086 # the default is two words
for name in $*; do
    m=$(methods "$name")
    echo "jfr-oracle: $name under JFR" >&2
    suite "$name" -plain -jvm "-Xlog:jfr*=off -XX:StartFlightRecording:filename=$dir/$name.jfr,method-timing=$m" >"$dir/$name.out" 2>&1 || { cat "$dir/$name.out" >&2; exit 1; }
    echo "jfr-oracle: $name under stackagent" >&2
    suite "$name" -o "$dir/$name" -options --quiet >"$dir/$name.out" 2>&1 || { cat "$dir/$name.out" >&2; exit 1; }
    "$JAVA_HOME/bin/jfr" view --width 400 method-timing "$dir/$name.jfr" |
        awk '$1 ~ /\(/ { n = $1; sub(/\.[a-zA-Z]+\(.*/, "", n); gsub(/[^0-9]/, "", $2); print n, $2 }' |
        sed "$inherited" >"$dir/$name.theirs"
    "$root/bin/shadow" hotspots "$dir/$name" --format csv | awk -F, '
        NR == 1 { for (i = 1; i <= NF; i++) if ($i == "executions") col = i; next }
        { print $1, $col }' >"$dir/$name.ours"
    echo "$name"
    awk 'NR == FNR { ours[$1] = $2; next }
        FNR == 1 { printf "  %-62s %12s %12s\n", "class", "JFR", "stackagent" }
        { o = ours[$1] + 0; printf "  %-62s %12d %12d %s\n", $1, $2, o, ($2 == o ? "equal" : "DIFFERENT"); rows++; if ($2 != o) bad = 1 }
        END { if (!rows) { print "  JFR counted nothing: nothing to compare"; bad = 1 } exit bad }' \
        "$dir/$name.ours" "$dir/$name.theirs" || failed=1
done
exit $failed
