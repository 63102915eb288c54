#!/bin/sh
# Installs what is missing to build the project, and nothing that is there:
#
#   scripts/install-deps.sh           a JDK, a C compiler, make, Go
#   scripts/install-deps.sh demo      ... and Maven, which fetches the demo's program
#   scripts/install-deps.sh test      ... and what the tests use beyond that: node and npm for the page, Chromium
#
# For Debian and Ubuntu, as root or with sudo. Elsewhere it only says what is missing.
# Go of the version that go.mod asks for is put into build/go when neither the machine nor the
# distribution has it; nothing outside the tree is changed for that.
set -eu
root=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd)
say() { echo "install-deps: $*" >&2; }

packages=
need() { command -v "$1" >/dev/null 2>&1 || packages="$packages $2"; }

if ! "$root/scripts/java-home.sh" >/dev/null 2>&1; then packages="$packages default-jdk-headless"; fi
need cc gcc
[ -e /usr/include/stdlib.h ] || packages="$packages libc6-dev"
need make make
case "${1:-}" in demo | test) need mvn maven ;; esac
case "${1:-}" in test)
    need node nodejs
    need npm npm
    need chromium chromium
    ;;
esac

# want is the version in go.mod; Go from 1.21 on fetches a newer one by itself.
want=$(sed -n 's/^go //p' "$root/go.mod")
minor() { "$1" version 2>/dev/null | sed -n 's/.* go1\.\([0-9]*\).*/\1/p'; }
go=$("$root/scripts/go.sh" --which 2>/dev/null || true)
if [ -z "$go" ]; then packages="$packages golang-go ca-certificates"; fi

if [ -n "$packages" ]; then
    if ! command -v apt-get >/dev/null; then
        say "missing:$packages (named as in Debian); install them by your system's means"
        exit 1
    fi
    sudo=
    if [ "$(id -u)" != 0 ]; then
        command -v sudo >/dev/null || { say "missing:$packages; run as root, or install sudo"; exit 1; }
        sudo=sudo
    fi
    say "installing$packages"
    $sudo apt-get update -qq
    # shellcheck disable=SC2086 # packages are words
    DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends $packages >/dev/null
fi

go=$("$root/scripts/go.sh" --which 2>/dev/null || command -v go || true)
[ -n "$go" ] || { say "no Go: install Go $want"; exit 1; }
if [ "$(minor "$go")" -lt 21 ]; then
    # Too old to fetch its successor by itself, but it can fetch the module in which every
    # release is published, checked against the checksum database as any module.
    say "$("$go" version | cut -d' ' -f3) of this distribution is too old: fetching Go $want into build/go"
    arch=$("$go" env GOARCH)
    dir=$(cd / && GOFLAGS=-modcacherw "$go" mod download -json "golang.org/toolchain@v0.0.1-go$want.linux-$arch" |
        sed -n 's/.*"Dir": "\(.*\)".*/\1/p')
    [ -n "$dir" ] || { say "could not fetch Go $want; install it from https://go.dev/dl"; exit 1; }
    mkdir -p "$root/build"
    rm -rf "$root/build/go"
    cp -r "$dir" "$root/build/go"
    chmod -R u+w "$root/build/go"
    chmod +x "$root"/build/go/bin/* "$root"/build/go/pkg/tool/*/*
fi
