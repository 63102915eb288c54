#!/bin/sh
# jars.sh GROUP:ARTIFACT:VERSION...: fetches these jars with all they need and compiles the driver.
. common/lib.sh
[ $# -eq 0 ] || jars lib "$@"
driver 17 "$folder/lib/*"
