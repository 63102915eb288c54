#!/bin/sh
# Fetches a Java for arm64 from Debian's archive into a folder, without touching the system's packages:
# scripts/arm64-java.sh DIR. DIR/bin/java then runs it under qemu's user-mode emulation.
set -eu
dir=${1:?usage: scripts/arm64-java.sh DIR}
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
[ -x "$dir/bin/java" ] && exit 0
command -v qemu-aarch64-static >/dev/null || { echo 'arm64-java: no qemu-aarch64-static: apt-get install qemu-user-static' >&2; exit 1; }
java=openjdk-17-jre-headless
mkdir -p "$dir/state/lists/partial" "$dir/cache/archives/partial" "$dir/debs" "$dir/root" "$dir/bin"
: >"$dir/status"
apt() {
	apt-get -qq -o APT::Architecture=arm64 -o APT::Architectures::=arm64 -o Dir::State="$dir/state" -o Dir::State::status="$dir/status" \
		-o Dir::Cache="$dir/cache" -o APT::Sandbox::User=root "$@"
}
echo "arm64-java: fetching $java (50 MB) from Debian's archive into $dir" >&2
apt update
(cd "$dir/debs" && apt download $java libc6 libgcc-s1 libstdc++6 zlib1g)
for deb in "$dir"/debs/*.deb; do dpkg-deb -x "$deb" "$dir/root"; done
cat >"$dir/bin/java" <<EOF
#!/bin/sh
exec qemu-aarch64-static -L '$dir/root' '$dir/root/usr/lib/jvm/java-17-openjdk-arm64/bin/java' "\$@"
EOF
chmod +x "$dir/bin/java"
