#!/bin/sh
# PMD, the static analyser, over the sources of Apache Commons Lang: one task a source file.
what="Runs PMD over the sources of Apache Commons Lang."
. "$(dirname "$0")/lib.sh"
jars
sources org.apache.commons:commons-lang3:3.19.0
profile -cp "$cache/lib/*" net.sourceforge.pmd.cli.PmdCli check --dir "$cache/src/${SOURCES:-}" \
    --rulesets rulesets/java/quickstart.xml --format text --report-file "$work/report.txt" \
    --threads "$threads" --no-cache --no-progress --no-fail-on-violation
