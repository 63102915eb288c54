#!/bin/sh
# waits.sh: compiles the program of examples/waits.
. common/lib.sh
javac -nowarn --release 17 -d "$folder/classes" ../examples/waits/Main.java
