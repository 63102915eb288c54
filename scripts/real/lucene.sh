#!/bin/sh
# Lucene: parallel indexing of generated text, then parallel queries.
what="Indexes 20,000 documents and answers 20,000 queries with Lucene, in parallel."
. "$(dirname "$0")/lib.sh"
jars
driver "$cache/lib/*"
profile -cp "$cache/lib/*:$work/classes" Main "$threads" "${DOCUMENTS:-20000}" "${QUERIES:-20000}" "${PASSES:-1}"
