#!/bin/sh
# prepare.sh: Maven, and a project whose modules are libraries of Apache Commons. It is built once, so that all plugins are there.
. common/lib.sh
unpacked dist org.apache.maven:apache-maven:3.9.11:zip:bin
[ -e "$folder/dist/lib" ] || mv "$folder"/dist/apache-maven-*/* "$folder/dist"
chmod +x "$folder/dist/bin/mvn"

# module NAME VERSION GROUP [MODULE...]: a module with the sources of GROUP:NAME:VERSION, which needs these modules.
module() {
    m=$1 coordinate=$3:$1:$2
    shift 3
    unpacked "project/$m/src/main/java" "$coordinate:jar:sources"
    find "$folder/project/$m" -name module-info.java -delete
    {
        echo "<project><modelVersion>4.0.0</modelVersion><parent><groupId>suite</groupId><artifactId>commons</artifactId><version>1</version></parent>"
        echo "<artifactId>$m</artifactId><dependencies>"
        for d; do echo "<dependency><groupId>suite</groupId><artifactId>$d</artifactId><version>1</version></dependency>"; done
        echo "</dependencies></project>"
    } >"$folder/project/$m/pom.xml"
    modules="$modules<module>$m</module>"
}

modules=
module commons-lang3 3.19.0 org.apache.commons
module commons-codec 1.19.0 commons-codec
module commons-io 2.20.0 commons-io
module commons-cli 1.10.0 commons-cli
module commons-collections4 4.5.0 org.apache.commons
module commons-math3 3.6.1 org.apache.commons
module commons-text 1.14.0 org.apache.commons commons-lang3
module commons-exec 1.5.0 org.apache.commons
cat >"$folder/project/pom.xml" <<END
<project><modelVersion>4.0.0</modelVersion><groupId>suite</groupId><artifactId>commons</artifactId><version>1</version><packaging>pom</packaging>
<properties><maven.compiler.release>17</maven.compiler.release><project.build.sourceEncoding>UTF-8</project.build.sourceEncoding></properties>
<modules>$modules</modules></project>
END
driver 17 "$folder/dist/lib/*"
"$folder/dist/bin/mvn" -q -B -C -f "$folder/project" -Dmaven.repo.local="$folder/repository" clean package
