#!/bin/sh
# prepare.sh: Batik, and the flags of all countries as SVG.
. common/lib.sh
jars lib org.apache.xmlgraphics:batik-transcoder:1.19 org.apache.xmlgraphics:batik-codec:1.19
npms flags flag-icons@7.5.0
driver 17 "$folder/lib/*"
