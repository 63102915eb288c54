#!/bin/sh
# Sunflow, the ray tracer: its own benchmark scene, one thread a CPU and frame.
what="Renders the benchmark scene of the ray tracer Sunflow a few times."
. "$(dirname "$0")/lib.sh"

# The packages are unpacked, not installed: no root needed.
if [ ! -e "$cache/deb/.done" ]; then
    command -v apt-get >/dev/null || die "fetching needs apt-get (Debian, Ubuntu)"
    echo "$name: fetching Sunflow from the Debian archive" >&2
    (cd "$cache" && apt-get -o APT::Sandbox::User=root download -q libsunflow-java libjanino-java >&2) \
        || die "apt-get could not fetch libsunflow-java; run apt-get update?"
    for deb in "$cache"/*.deb; do dpkg -x "$deb" "$cache/deb"; done
    touch "$cache/deb/.done"
fi
jars=$cache/deb/usr/share/java
cp=$jars/sunflow.jar:$jars/janino.jar:$jars/commons-compiler.jar
driver "$cp"
mkdir -p "$work/run/resources" # the picture is written there
out=$(realpath -m "$out")
cd "$work/run"
profile -Djava.awt.headless=true -cp "$cp:$work/classes" Main "${RESOLUTION:-128}" "$threads" "${FRAMES:-4}"
