package dev.stackagent.build;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A {@code java} that runs every JVM under the shadow, for build tools that let the user choose the {@code java} of their
 * tests. The session is whole when this {@code java} has ended.
 */
public final class Jvm {
    // Stands for the session's folder in a command line: no word begins with it.
    private static final String SESSION = "\0";

    private Jvm() {}

    /**
     * Writes the {@code java} and empties the folder of sessions.
     *
     * @param folder where it goes: {@code folder/jdk/bin/java}; its sessions go to {@code folder/sessions}
     * @param javaHome the JDK that it starts
     * @param shadow the command
     * @param flags further flags of {@code shadow run}
     * @return the path of the {@code java}
     * @throws IOException if a file cannot be written
     */
    public static Path write(Path folder, Path javaHome, Shadow shadow, List<String> flags) throws IOException {
        Path sessions = sessions(folder);
        delete(sessions);
        Files.createDirectories(sessions);
        Path java = folder.resolve("jdk").resolve("bin").resolve("java").toAbsolutePath();
        Files.createDirectories(java.getParent());
        // Surefire reads the JDK's version in this file, beside the bin of the java that it is given.
        Path release = javaHome.resolve("release");
        if (Files.exists(release)) {
            Files.copy(release, folder.resolve("jdk").resolve("release"), StandardCopyOption.REPLACE_EXISTING);
        }
        String real = quote(javaHome.resolve("bin").resolve("java").toString());
        List<String> all = new ArrayList<>(List.of("--marker-file", SESSION + ".markers.json"));
        all.addAll(flags);
        String run = shadow.run(SESSION, all).stream()
                .map(w -> w.startsWith(SESSION) ? "\"$STACKAGENT_SESSION\"" + w.substring(SESSION.length()) : quote(w)).collect(Collectors.joining(" "));
        String script = "#!/bin/sh\n"
                + "# Written by stackagent: each JVM runs under shadow and has a session of its own.\n"
                + "[ \"$1\" = -version ] && exec " + real + " \"$@\"\n"
                + "STACKAGENT_SESSION=" + quote(sessions.toAbsolutePath().toString()) + "/jvm-$$\n"
                + "export STACKAGENT_SESSION\n"
                + "exec " + run + " " + real + " \"$@\"\n";
        Files.writeString(java, script);
        if (!java.toFile().setExecutable(true)) {
            throw new IOException("cannot make " + java + " executable");
        }
        return java;
    }

    static Path sessions(Path folder) {
        return folder.resolve("sessions");
    }

    private static String quote(String word) {
        return "'" + word.replace("'", "'\\''") + "'";
    }

    private static void delete(Path folder) throws IOException {
        if (!Files.exists(folder)) {
            return;
        }
        try (Stream<Path> all = Files.walk(folder)) {
            for (Path p : all.sorted(Comparator.reverseOrder()).collect(Collectors.toList())) {
                Files.delete(p);
            }
        }
    }
}
