#!/bin/sh
# prepare.sh: the ray tracer Sunflow, which is in Debian and not in Maven Central, and pictures to compare its frames with.
. common/lib.sh
debs deb libsunflow-java libjanino-java
share=$folder/deb/usr/share/java
jars=$share/sunflow.jar:$share/janino.jar:$share/commons-compiler.jar
driver 17 "$jars"
mkdir -p "$folder/reference/resources"
(cd "$folder/reference" && java -Djava.awt.headless=true -cp "$jars:$folder/classes" 'Main$Reference' 128 181)
