# Sourced by the scripts that prepare programs. shadow/experiment/suite runs them in the folder of the suite with SUITE_NAME and
# SUITE_FOLDER, the folder to fill, in the environment. Maven, pip, npm and apt check the checksums of what they fetch.
set -eu
name=$SUITE_NAME
folder=$SUITE_FOLDER

die() { echo "$name: $*" >&2; exit 1; }

if [ -n "${JAVA_HOME:-}" ]; then PATH=$JAVA_HOME/bin:$PATH; fi
command -v javac >/dev/null || die "no JDK: set JAVA_HOME or put javac on the PATH"

need() { command -v "$1" >/dev/null || die "needs $1: apt-get install $2"; }

# once FOLDER KEY...: true if FOLDER is to be filled; done_ says that it is. KEY says with what.
once() {
    at=$folder/$1
    shift
    if [ -e "$at/.done" ] && [ "$(cat "$at/.done")" = "$*" ]; then return 1; fi
    rm -rf "$at"
    mkdir -p "$at"
    key=$*
}
done_() { printf '%s' "$key" >"$at/.done"; }

maven() {
    need mvn maven
    mvn -q -B -C "$@"
}

# jars FOLDER COORDINATE...: Maven artifacts (GROUP:ARTIFACT:VERSION) with all they need at run time.
jars() {
    into=$1
    shift
    once "$into" "$@" || return 0
    {
        echo '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
        echo "<groupId>suite</groupId><artifactId>$name</artifactId><version>1</version><packaging>pom</packaging><dependencies>"
        for c; do
            echo "$c" | sed 's|^\([^:]*\):\([^:]*\):\([^:]*\)$|<dependency><groupId>\1</groupId><artifactId>\2</artifactId><version>\3</version></dependency>|'
        done
        echo '</dependencies></project>'
    } >"$at/pom.xml"
    maven -f "$at/pom.xml" dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$at"
    done_
}

# unpacked FOLDER COORDINATE...: files of Maven artifacts (GROUP:ARTIFACT:VERSION:TYPE[:CLASSIFIER]), unpacked one over the other.
unpacked() {
    into=$1
    shift
    once "$into" "$@" || return 0
    for c; do
        maven dependency:copy -Dartifact="$c" -DoutputDirectory="$at/.jars"
    done
    for j in "$at"/.jars/*; do (cd "$at" && jar xf "$j"); done
    rm -rf "$at/.jars"
    done_
}

# debs FOLDER PACKAGE...: Debian packages, unpacked and not installed: no root needed.
debs() {
    into=$1
    shift
    once "$into" "$@" || return 0
    need apt-get apt
    (cd "$at" && apt-get -o APT::Sandbox::User=root download -q "$@") || die "apt-get could not fetch $*: run apt-get update?"
    for d in "$at"/*.deb; do dpkg -x "$d" "$at"; done
    rm -f "$at"/*.deb
    done_
}

# npms FOLDER PACKAGE@VERSION...: npm packages, unpacked into FOLDER/package; their scripts do not run.
npms() {
    into=$1
    shift
    once "$into" "$@" || return 0
    need npm npm
    (cd "$at" && npm pack --silent --ignore-scripts "$@")
    for t in "$at"/*.tgz; do tar -xzf "$t" -C "$at"; done
    rm -f "$at"/*.tgz
    done_
}

# driver RELEASE CLASSPATH: compiles the program's driver and what drivers share, for Java RELEASE or newer. The driver is in the
# folder of the script, or of the program's name if programs share the script.
driver() {
    source=$(dirname "$0")
    [ "${source##*/}" != common ] || source=$name
    rm -rf "$folder/classes"
    javac -nowarn -proc:none --release "$1" -d "$folder/classes" -cp "$2" common/*.java "$source"/*.java
}
