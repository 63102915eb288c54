#!/bin/sh
# Prints the home of the JDK to build with: JAVA_HOME, or that of the java or javac on the PATH,
# or the first under /usr/lib/jvm. One line on stderr when there is none.
usable() { [ -x "$1/bin/javac" ] && [ -e "$1/include/jvmti.h" ]; }

if [ -n "${JAVA_HOME:-}" ]; then
    if usable "$JAVA_HOME"; then echo "$JAVA_HOME"; exit 0; fi
    echo "JAVA_HOME=$JAVA_HOME is not a JDK: it has no bin/javac or no include/jvmti.h" >&2
    exit 1
fi
for tool in java javac; do
    path=$(command -v $tool) || continue
    home=$(dirname "$(dirname "$(readlink -f "$path")")")
    if usable "$home"; then echo "$home"; exit 0; fi
done
for home in /usr/lib/jvm/*; do
    if usable "$home"; then echo "$home"; exit 0; fi
done
echo "no JDK (17 or newer, with javac and jvmti.h): set JAVA_HOME, or apt-get install openjdk-17-jdk-headless" >&2
exit 1
