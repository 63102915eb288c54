#!/bin/sh
# Kotlin coroutines: their bodies are no Runnables, so the method that resumes one is named as a task.
what="Counts prime numbers by Kotlin coroutines (fetches the Kotlin compiler, 60 MB)."
. "$(dirname "$0")/lib.sh"
jars
if [ ! -e "$cache/compiler/.done" ]; then
    maven -f "$here/$name.pom.xml" dependency:copy-dependencies -DincludeScope=provided -DoutputDirectory="$cache/compiler"
    touch "$cache/compiler/.done"
fi
java -cp "$cache/compiler/*:$cache/lib/*" org.jetbrains.kotlin.cli.jvm.K2JVMCompiler -nowarn -no-stdlib -no-reflect \
    -cp "$(printf '%s:' "$cache"/lib/*.jar)" -d "$work/classes" "$root/examples/real/$name/Main.kt"
SHADOW_FLAGS="--task kotlin.coroutines.jvm.internal.BaseContinuationImpl#resumeWith ${SHADOW_FLAGS:-}"
profile -cp "$cache/lib/*:$work/classes" MainKt "${RANGES:-2000}"
