# Sourced by the scripts beside it: where things are, how they are fetched, how they are run.
set -eu

here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
root=$(CDPATH= cd -- "$here/../.." && pwd)
name=$(basename "$0" .sh)
work=$root/build/real/$name # what this tree makes
cache=${REAL_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/stackagent/real}/$name # what is fetched, for every tree
mkdir -p "$work" "$cache"

die() { echo "$name: $*" >&2; exit 1; }

usage() {
    cat <<EOF
$0 [OUTDIR]

$1

OUTDIR      the folder of the session (default ./shadow-$name; must not exist)
PROFILE=0   run the program without the agent
PRINT=1     do not run it: print the folder to run it in and java's arguments, a NUL after each
THREADS=N   threads of the program (default: the number of CPUs)
SHADOW=...  the command to use (default bin/shadow)
SHADOW_FLAGS=...  more options of \`shadow run\`
JAVA_FLAGS=...    options of the JVM
JAVA=...          what to run in place of java, such as "taskset -c 0 java"
REAL_CACHE=DIR    where jars and sources are kept (default ~/.cache/stackagent/real)
EOF
}

case "${1:-}" in -h|--help) usage "$what"; exit 0 ;; esac

if [ -n "${JAVA_HOME:-}" ]; then PATH=$JAVA_HOME/bin:$PATH; fi
command -v javac >/dev/null || die "no JDK: set JAVA_HOME or put javac on the PATH"
threads=${THREADS:-$(nproc)}
out=${1:-shadow-$name}

# maven ARGS...: runs Maven, silent unless it fails.
maven() {
    command -v mvn >/dev/null || die "fetching needs Maven: apt-get install maven"
    mvn -q -B "$@" >"$work/maven.log" 2>&1 || { cat "$work/maven.log" >&2; die "Maven could not fetch what is needed (above)"; }
}

# fetched FOLDER: whether FOLDER is there and is of the versions that NAME.pom.xml asks for now.
fetched() { [ -e "$1/.done" ] && cmp -s "$1/.done" "$here/$name.pom.xml"; }

# jars: the jars named in NAME.pom.xml, with all they need, in $cache/lib. Fetched once.
jars() {
    fetched "$cache/lib" && return
    echo "$name: fetching the jars from Maven Central" >&2
    rm -rf "$cache/lib"
    maven -f "$here/$name.pom.xml" dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$cache/lib"
    cp "$here/$name.pom.xml" "$cache/lib/.done"
}

# sources ARTIFACT: the sources of a Maven artifact, unpacked into $cache/src.
sources() {
    [ -e "$cache/src/.done" ] && return
    maven dependency:copy -Dartifact="$1:jar:sources" -DoutputDirectory="$cache"
    mkdir -p "$cache/src"
    (cd "$cache/src" && jar xf "$cache"/*-sources.jar)
    touch "$cache/src/.done"
}

# driver CLASSPATH: compiles the program's driver in examples/real.
driver() {
    javac -nowarn -d "$work/classes" -cp "$1" "$root/examples/real/$name"/*.java
}

# profile JAVA_ARGS...: runs java under `shadow run`, or plainly with PROFILE=0.
profile() {
    if [ "${PRINT:-0}" = 1 ]; then
        printf '%s\0' "$PWD" "$@"
        return
    fi
    if [ "${PROFILE:-1}" = 0 ]; then
        # shellcheck disable=SC2086 # flags are words
        exec ${JAVA:-java} ${JAVA_FLAGS:-} "$@"
    fi
    shadow=${SHADOW:-$root/bin/shadow}
    [ -x "$shadow" ] || die "no $shadow: run make first"
    # shellcheck disable=SC2086
    exec "$shadow" run -o "$out" ${SHADOW_FLAGS:-} -- ${JAVA:-java} ${JAVA_FLAGS:-} "$@"
}
