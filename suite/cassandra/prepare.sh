#!/bin/sh
# prepare.sh: Cassandra, and the options that its own launcher gives the JVM.
. common/lib.sh
jars lib org.apache.cassandra:cassandra-all:5.0.5
driver 17 "$folder/lib/*"
{
    for package in java.base/jdk.internal.misc java.base/jdk.internal.ref java.base/sun.nio.ch java.base/java.lang.ref \
        java.management.rmi/com.sun.jmx.remote.internal.rmi java.rmi/sun.rmi.registry java.rmi/sun.rmi.server java.sql/java.sql jdk.unsupported/sun.misc; do
        echo "--add-exports $package=ALL-UNNAMED"
    done
    for package in java.lang java.lang.module java.io java.nio java.util java.util.concurrent java.util.concurrent.atomic sun.nio.ch \
        jdk.internal.loader jdk.internal.ref jdk.internal.reflect jdk.internal.math jdk.internal.module jdk.internal.util.jar; do
        echo "--add-opens java.base/$package=ALL-UNNAMED"
    done
    echo "--add-opens jdk.management/com.sun.management.internal=ALL-UNNAMED"
    echo "-Djdk.attach.allowAttachSelf=true"
} >"$folder/java.args"
