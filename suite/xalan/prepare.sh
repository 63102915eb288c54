#!/bin/sh
# prepare.sh: Xalan, the stylesheets of DocBook and the manual of Gnumeric.
. common/lib.sh
jars lib xalan:xalan:2.7.3 xalan:serializer:2.7.3
debs deb docbook-xsl gnumeric-doc
driver 17 "$folder/lib/*"
