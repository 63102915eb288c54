#!/bin/sh
# Builds a release into a folder: scripts/dist.sh DIR [VERSION]
#
# For each machine a tarball with the command, the agent library, manual pages, completions, licences and the list of
# what is linked (SBOM, CycloneDX); for Linux also .deb and .rpm; SHA256SUMS. The same commit, JDK, C compiler and Go give
# the same bytes, whenever and wherever it is run. An architecture whose C compiler is missing is left out, and said.
set -eu
cd "$(dirname "$0")/.."
out=${1:?usage: scripts/dist.sh DIR [VERSION]}
described=$(git describe --tags --always --dirty 2>/dev/null || echo unknown)
case ${2:-$described} in
v[0-9]*) version=${2:-$described}; version=${version#v} ;;
[0-9]*.*) version=${2:-$described} ;;
*) version=0.0.0-g$described ;; # no release yet
esac
: "${SOURCE_DATE_EPOCH:=$(git log -1 --format=%ct 2>/dev/null || echo 0)}"
export SOURCE_DATE_EPOCH LC_ALL=C TZ=UTC0 GOFLAGS='-buildvcs=false -trimpath'
JAVA_HOME=${JAVA_HOME:-$(scripts/java-home.sh)} # its headers
export JAVA_HOME CGO_CFLAGS="-O2 -I$JAVA_HOME/include -I$JAVA_HOME/include/linux"
go=scripts/go.sh
gomod=github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.9.0
nfpm=github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.43.0
say() { echo "dist: $*" >&2; }
umask 022
mkdir -p "$out"
out=$(cd "$out" && pwd)
rm -f "$out"/stackagent-* "$out/SHA256SUMS" # of another run
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT INT TERM

linked="-s -w -X main.version=$version -X stackagent/agent.Version=$version"
shadow() { # OS ARCH FILE
	CGO_ENABLED=0 GOOS=$1 GOARCH=$2 $go build -ldflags "$linked" -o "$3" ./cmd/shadow
}
agent() { # ARCH CC FILE
	CGO_ENABLED=1 GOOS=linux GOARCH=$1 CC=$2 $go build -ldflags "$linked -X runtime.godebugDefault=asyncpreemptoff=1" \
		-buildmode=c-shared -o "$3" ./cmd/stackagent
	rm -f "${3%.so}.h"
}

# What is the same on every machine.
common=$stage/common
mkdir -p "$common/share/man/man1" "$common/share/completions" "$common/sbom"
say "version $version: manual pages, completions, lists of what is linked"
shadow "$($go env GOHOSTOS)" "$($go env GOHOSTARCH)" "$stage/shadow"
"$stage/shadow" man "$common/share/man/man1"
gzip -9n "$common"/share/man/man1/*.1
for s in bash zsh fish; do "$stage/shadow" completion "$s" >"$common/share/completions/shadow.$s"; done
cp LICENSE THIRD_PARTY_NOTICES README.md CHANGELOG.md "$common/"
(cd shadow/show/page/front && npm sbom --sbom-format=cyclonedx --package-lock-only --omit=dev) >"$stage/page.json"

# list writes what a part is made of, without the moment and the number of this run; the version is the release's.
list() { # FROM TO
	node -e '
		const fs = require("fs"), [from, to, version] = process.argv.slice(1), bom = JSON.parse(fs.readFileSync(from));
		delete bom.serialNumber; delete bom.metadata.timestamp;
		if (bom.metadata.component) bom.metadata.component.version = version;
		fs.writeFileSync(to, JSON.stringify(bom, null, 1) + "\n")' "$1" "$2" "$version"
}
list "$stage/page.json" "$common/sbom/page.cdx.json"
linkedin() { # COMMAND CGO OS ARCH FOLDER
	CGO_ENABLED=$2 GOOS=$3 GOARCH=$4 "$stage/cyclonedx-gomod" app -json -noserial -licenses=false -main "./cmd/$1" -output "$stage/$1.json" . 2>"$stage/log" ||
		{ cat "$stage/log" >&2; exit 1; }
	list "$stage/$1.json" "$5/sbom/$1.cdx.json"
}
GOBIN=$stage GOFLAGS='' $go install "$gomod"
GOBIN=$stage GOFLAGS='' $go install "$nfpm"
PATH=$(dirname "$($go env GOROOT)/bin/go"):$PATH # cyclonedx-gomod calls go

pack() { # FOLDER: its tarball
	find "$stage/$1" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
	tar -C "$stage" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" --format=gnu -cf - "$1" | gzip -9n >"$out/$1.tar.gz"
	say "$1.tar.gz"
}

for arch in amd64 arm64; do
	case $arch in amd64) cc=x86_64-linux-gnu-gcc ;; arm64) cc=aarch64-linux-gnu-gcc ;; esac
	[ "$($go env GOHOSTARCH)" = $arch ] && cc=${CC:-cc}
	if ! command -v "$cc" >/dev/null; then
		say "linux-$arch is left out: no $cc (apt-get install gcc-aarch64-linux-gnu libc6-dev-arm64-cross)"
		continue
	fi
	name=stackagent-$version-linux-$arch
	cp -a "$common" "$stage/$name"
	mkdir "$stage/$name/bin"
	shadow linux $arch "$stage/$name/bin/shadow"
	agent $arch "$cc" "$stage/$name/bin/libstackagent.so"
	chmod 0644 "$stage/$name/bin/libstackagent.so"
	linkedin shadow 0 linux $arch "$stage/$name"
	linkedin stackagent 1 linux $arch "$stage/$name"
	pack "$name"
	sed -e "s|@ARCH@|$arch|; s|@VERSION@|$version|; s|@ROOT@|$stage/$name|" deploy/packages/nfpm.yaml >"$stage/nfpm.yaml"
	for format in deb rpm; do
		"$stage/nfpm" package --config "$stage/nfpm.yaml" --packager $format --target "$out/stackagent-$version-linux-$arch.$format" >/dev/null
		say "$name.$format"
	done
done

# Elsewhere the command reads sessions; the agent is for Linux.
for arch in arm64 amd64; do
	name=stackagent-$version-darwin-$arch
	cp -a "$common" "$stage/$name"
	mkdir "$stage/$name/bin"
	shadow darwin $arch "$stage/$name/bin/shadow"
	linkedin shadow 0 darwin $arch "$stage/$name"
	pack "$name"
done
(cd "$out" && sha256sum stackagent-"$version"-* >SHA256SUMS)
say "in $out, checked by: sha256sum -c SHA256SUMS"
