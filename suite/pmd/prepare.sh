#!/bin/sh
# prepare.sh: PMD, and the sources of Apache Commons Lang for it to analyse.
. common/lib.sh
jars lib net.sourceforge.pmd:pmd-java:7.18.0 net.sourceforge.pmd:pmd-cli:7.18.0
unpacked src org.apache.commons:commons-lang3:3.19.0:jar:sources
driver 17 "$folder/lib/*"
