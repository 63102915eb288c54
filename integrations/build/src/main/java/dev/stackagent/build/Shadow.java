package dev.stackagent.build;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The command {@code shadow}, which records JVMs and analyses what it recorded. */
public final class Shadow {
    private final Path command;

    private Shadow(Path command) {
        this.command = command;
    }

    /**
     * Finds the command: {@code told} (the command, or the folder that holds it or its {@code bin}), the system property
     * {@code stackagent.home}, the environment variable {@code STACKAGENT_HOME}, PATH.
     *
     * @param told what the user configured, or null
     * @return the command
     * @throws IOException if it is nowhere; the message says where it was looked for
     */
    public static Shadow find(String told) throws IOException {
        for (String home : new String[] {told, System.getProperty("stackagent.home"), System.getenv("STACKAGENT_HOME")}) {
            if (home == null || home.isEmpty()) {
                continue;
            }
            Path at = Path.of(home);
            for (Path p : List.of(at, at.resolve("shadow"), at.resolve("bin").resolve("shadow"))) {
                if (isCommand(p)) {
                    return new Shadow(p.toAbsolutePath());
                }
            }
            throw new IOException("no shadow command in " + home + "; unpack a release of stackagent there");
        }
        String path = System.getenv("PATH");
        for (String folder : (path == null ? "" : path).split(File.pathSeparator)) {
            Path p = Path.of(folder.isEmpty() ? "." : folder, "shadow");
            if (isCommand(p) && !p.toAbsolutePath().getParent().endsWith("sbin")) {
                return new Shadow(p.toAbsolutePath());
            }
        }
        throw new IOException("no shadow command: set STACKAGENT_HOME to the folder of stackagent, or put shadow on the PATH");
    }

    private static boolean isCommand(Path p) {
        return Files.isRegularFile(p) && Files.isExecutable(p);
    }

    /**
     * The command line that runs a JVM under the shadow.
     *
     * @param session the new folder of the session
     * @param flags further flags of {@code shadow run}
     * @return the words before {@code java}
     */
    public List<String> run(String session, List<String> flags) {
        List<String> words = new ArrayList<>(List.of(command.toString(), "run", "--quiet", "-o", session));
        words.addAll(flags);
        words.add("--");
        return words;
    }

    /**
     * Runs the command and waits for its end.
     *
     * @param words its arguments
     * @return its exit code, standard output and standard error
     * @throws IOException if it cannot be started or read
     */
    public Output call(List<String> words) throws IOException {
        List<String> line = new ArrayList<>(List.of(command.toString()));
        line.addAll(words);
        Path errors = Files.createTempFile("stackagent", ".err");
        try {
            Process p = new ProcessBuilder(line).redirectError(errors.toFile()).start();
            p.getOutputStream().close();
            String out = new String(p.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            int code = p.waitFor();
            return new Output(code, out, Files.readString(errors));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while shadow ran", e);
        } finally {
            Files.deleteIfExists(errors);
        }
    }

    /** What a call gave. */
    public static final class Output {
        /** The exit code. */
        public final int code;
        /** Standard output. */
        public final String out;
        /** Standard error. */
        public final String err;

        Output(int code, String out, String err) {
            this.code = code;
            this.out = out;
            this.err = err;
        }
    }
}
