#!/bin/sh
# Cassandra, embedded: clients in a JVM of their own write, read and add to counters. Few counters are contended.
what="Answers 40,000 requests with an embedded Cassandra, SYNC=periodic or batch; the clients are a JVM of their own (JDK 17; 71 MB of jars)."
. "$(dirname "$0")/lib.sh"
version=$(java --version | sed -n '1s/^[^ ]* \([0-9]*\).*/\1/p')
[ "${version:-0}" -lt 18 ] || die "Cassandra does not run on JDK $version: set JAVA_HOME to a JDK 17"
jars
driver "$cache/lib/*"
set -- # what Cassandra's own launcher opens
for package in jdk.internal.misc jdk.internal.ref sun.nio.ch java.lang.ref; do
    set -- "$@" --add-exports "java.base/$package=ALL-UNNAMED"
done
for package in java.lang java.lang.module java.io java.nio java.util java.util.concurrent java.util.concurrent.atomic sun.nio.ch \
    jdk.internal.loader jdk.internal.ref jdk.internal.reflect jdk.internal.math jdk.internal.module jdk.internal.util.jar; do
    set -- "$@" --add-opens "java.base/$package=ALL-UNNAMED"
done
profile "$@" --add-exports java.management.rmi/com.sun.jmx.remote.internal.rmi=ALL-UNNAMED --add-exports java.rmi/sun.rmi.registry=ALL-UNNAMED \
    --add-exports java.rmi/sun.rmi.server=ALL-UNNAMED --add-exports java.sql/java.sql=ALL-UNNAMED --add-exports jdk.unsupported/sun.misc=ALL-UNNAMED \
    --add-opens jdk.management/com.sun.management.internal=ALL-UNNAMED -Djdk.attach.allowAttachSelf=true \
    -cp "$cache/lib/*:$work/classes" Main "$threads" "${CLIENTS:-8}" "${REQUESTS:-40000}" "${COUNTERS:-1}" "${SYNC:-periodic}"
