#!/bin/sh
# Spark in local mode: a job of three stages and two queries, thousands of tasks on threads of one JVM.
what="Counts numbers by their prime factors and queries them by SQL with Apache Spark in local mode (JDK 17 or 21; 270 MB of jars)."
. "$(dirname "$0")/lib.sh"
version=$(java --version | sed -n '1s/^[^ ]* \([0-9]*\).*/\1/p')
[ "${version:-0}" -lt 24 ] || die "Spark does not run on JDK $version (it needs Subject.getSubject): set JAVA_HOME to a JDK 17 or 21"
jars
driver "$cache/lib/*"
set -- # what Spark's own launcher opens
for package in lang lang.invoke lang.reflect io net nio util util.concurrent util.concurrent.atomic; do
    set -- "$@" --add-opens "java.base/java.$package=ALL-UNNAMED"
done
profile "$@" --add-opens java.base/sun.nio.ch=ALL-UNNAMED -cp "$cache/lib/*:$work/classes" Main "$threads" "${NUMBERS:-1000000}" "${TASKS:-1000}"
