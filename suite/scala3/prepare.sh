#!/bin/sh
# prepare.sh: the Scala 3 compiler, and the sources of two libraries for it to compile.
. common/lib.sh
jars lib org.scala-lang:scala3-compiler_3:3.3.7 org.typelevel:cats-kernel_3:2.12.0 org.typelevel:scalac-compat-annotation_3:0.1.4
unpacked cats org.typelevel:cats-core_3:2.12.0:jar:sources
unpacked parsers org.scala-lang.modules:scala-parser-combinators_3:2.4.0:jar:sources
driver 17 "$folder/lib/*"
