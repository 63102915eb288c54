#!/bin/sh
# Profiles six programs of different kinds and takes the pictures of their reports that the documentation shows.
# Called by `make pictures`, which has built everything. The sessions and pages stay in build/pictures.
set -eu
cd "$(dirname -- "$0")/.."
java=$JAVA_HOME/bin
dir=$PWD/build/pictures
rm -rf "$dir" && mkdir -p "$dir/classes/pipeline" "$dir/classes/forkjoin"
"$java/javac" -d "$dir/classes/pipeline" examples/pipeline/Main.java
"$java/javac" -d "$dir/classes/forkjoin" examples/forkjoin/Main.java
go build -o "$dir/pictures" ./scripts/pictures

record() { # NAME ARGS: of examples
  name=$1 classes=$2; shift 2
  bin/shadow run --quiet -o "$dir/$name" -- "$java/java" -cp "$dir/classes/$classes" Main "$@" >&2
}
record pipeline pipeline 16000
record healthy pipeline 16000 even
record forkjoin forkjoin 34
suite() { name=$1; shift; go run ./scripts/suite run "$name" -options --quiet "$@" >&2; }
suite pmd-cli -o "$dir/pmd"
suite kafka -o "$dir/kafka" -iterations 1 -tasks=false
suite httpserver -o "$dir/httpserver" executor=virtual

for name in pipeline healthy forkjoin pmd kafka httpserver; do
  bin/shadow report "$dir/$name" -o "$dir/$name.html" >&2
  "$dir/pictures" "file://$dir/$name.html" "$dir/$name.png" 1280x860
done
picture() { "$dir/pictures" "file://$dir/$1.html#$2" "docs/images/$3.png" "$4" ${5-}; }
cp "$dir/pipeline.png" docs/images/report-pipeline.png
picture pmd view=overview report-pmd 1280x860 dark
picture pmd view=class\&name=net.sourceforge.pmd.lang.impl.MultiThreadProcessor%241 report-class 1280x1000
echo "pictures: docs/images/report-*.png; all six first screens are in $dir"
