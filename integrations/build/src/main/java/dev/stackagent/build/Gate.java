package dev.stackagent.build;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Checks the budgets of recorded test JVMs with {@code shadow check}. */
public final class Gate {
    /** Exit code of {@code shadow check} if a budget is broken or cannot be decided. */
    private static final int BROKEN = 3;

    private final Shadow shadow;
    private final Path folder;
    private final Path budgets;
    private final Path baseline;
    private final boolean allowEmpty;

    /**
     * A gate for what the {@code java} in a folder recorded.
     *
     * @param shadow the command
     * @param folder the folder given to {@link Jvm#write}
     * @param budgets a file of budgets that every session has to keep, or null
     * @param baseline a file of figures to compare with, or null
     * @param allowEmpty budgets pass of which a selector matches nothing, or a figure is not available
     */
    public Gate(Shadow shadow, Path folder, Path budgets, Path baseline, boolean allowEmpty) {
        this.shadow = shadow;
        this.folder = folder;
        this.budgets = budgets;
        this.baseline = baseline;
        this.allowEmpty = allowEmpty;
    }

    /** What a check said. */
    public static final class Verdict {
        /** A budget is broken. */
        public final boolean broken;
        /** The number of sessions that were found. */
        public final int sessions;
        /** What to print. */
        public final String text;

        Verdict(boolean broken, int sessions, String text) {
            this.broken = broken;
            this.sessions = sessions;
            this.text = text;
        }
    }

    /**
     * Checks each session against the budgets in the file and those of its tests. Writes JUnit XML and Markdown.
     *
     * @param reports the folder of the JUnit XML files
     * @param markdown the Markdown file
     * @return the verdict
     * @throws IOException if shadow cannot check
     */
    public Verdict check(Path reports, Path markdown) throws IOException {
        if (budgets != null && !Files.isRegularFile(budgets)) {
            throw new IOException("no file of budgets at " + budgets);
        }
        StringBuilder text = new StringBuilder();
        StringBuilder summary = new StringBuilder();
        boolean broken = false;
        Files.createDirectories(reports);
        deleteOld(reports);
        List<Path> sessions = sessions();
        for (Path session : sessions) {
            List<String> words = new ArrayList<>(List.of("check", session.toString()));
            for (Path file : new Path[] {budgets, beside(session, ".budgets.yaml")}) {
                if (file != null && Files.exists(file)) {
                    words.addAll(List.of("--budget", file.toString()));
                }
            }
            if (!words.contains("--budget")) {
                continue;
            }
            if (baseline != null) {
                words.addAll(List.of("--baseline", baseline.toString()));
            }
            if (allowEmpty) {
                words.add("--allow-empty");
            }
            String junit = reports.resolve("TEST-stackagent-" + session.getFileName() + ".xml").toString();
            broken |= one(words, "--format", "junit", "-o", junit).code == BROKEN;
            summary.append(one(words, "--format", "markdown").out);
            Shadow.Output said = one(words);
            text.append(said.err).append(said.out); // notes first: what of the session is not known
        }
        Files.createDirectories(markdown.toAbsolutePath().getParent());
        Files.writeString(markdown, summary);
        return new Verdict(broken, sessions.size(), text.toString());
    }

    private Shadow.Output one(List<String> words, String... more) throws IOException {
        List<String> line = new ArrayList<>(words);
        line.addAll(List.of(more));
        Shadow.Output o = shadow.call(line);
        if (o.code != 0 && o.code != BROKEN) {
            throw new IOException("shadow check failed: " + o.err.trim());
        }
        return o;
    }

    private List<Path> sessions() throws IOException {
        Path all = Jvm.sessions(folder);
        if (!Files.isDirectory(all)) {
            return List.of();
        }
        try (Stream<Path> list = Files.list(all)) {
            return list.filter(Files::isDirectory).sorted().collect(Collectors.toList());
        }
    }

    /** Reports of earlier runs are not of this one. */
    private static void deleteOld(Path reports) throws IOException {
        try (DirectoryStream<Path> old = Files.newDirectoryStream(reports, "TEST-stackagent-*.xml")) {
            for (Path p : old) {
                Files.delete(p);
            }
        }
    }

    private static Path beside(Path session, String suffix) {
        return session.resolveSibling(session.getFileName() + suffix);
    }
}
