#!/bin/sh
# prepare.sh: Kotlin's coroutines, and its compiler for the driver (60 MB).
. common/lib.sh
jars lib org.jetbrains.kotlinx:kotlinx-coroutines-core-jvm:1.9.0
jars compiler org.jetbrains.kotlin:kotlin-compiler-embeddable:2.0.21
rm -rf "$folder/classes"
java -cp "$folder/compiler/*:$folder/lib/*" org.jetbrains.kotlin.cli.jvm.K2JVMCompiler -nowarn -no-stdlib -no-reflect \
    -cp "$(printf '%s:' "$folder"/lib/*.jar)" -d "$folder/classes" coroutines/Main.kt
