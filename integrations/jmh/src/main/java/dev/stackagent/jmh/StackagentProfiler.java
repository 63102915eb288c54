package dev.stackagent.jmh;

import dev.stackagent.build.Shadow;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.profile.ExternalProfiler;
import org.openjdk.jmh.profile.ProfilerException;
import org.openjdk.jmh.results.BenchmarkResult;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.TextResult;

/**
 * Shows the tasks of a benchmark: {@code -prof dev.stackagent.jmh.StackagentProfiler:dir=DIR;class=GLOB;top=N;home=DIR}.
 * Each fork runs under the shadow. Figures cover the whole fork, warm-up included, and so does the number of operations
 * that they are divided by.
 */
public final class StackagentProfiler implements ExternalProfiler {
    private final Map<String, String> options = new HashMap<>(Map.of("dir", "stackagent-jmh", "class", "*", "top", "5"));
    private final List<String> flags;
    private final Shadow shadow;
    private final int top;
    private Path session;

    /**
     * For JMH.
     *
     * @param line the options
     * @throws ProfilerException if an option is wrong or there is no shadow command
     */
    public StackagentProfiler(String line) throws ProfilerException {
        List<String> known = List.of("dir", "class", "top", "home", "flags");
        for (String option : line.split(";")) {
            int i = option.indexOf('=');
            if (!option.isEmpty() && (i < 0 || !known.contains(option.substring(0, i)))) {
                throw new ProfilerException("stackagent: no option " + option + "; use " + String.join("=, ", known) + "=, joined with ;");
            }
            if (i > 0) {
                options.put(option.substring(0, i), option.substring(i + 1));
            }
        }
        String more = options.getOrDefault("flags", "").trim();
        flags = more.isEmpty() ? List.of() : Arrays.asList(more.split(" +"));
        try {
            top = Integer.parseInt(options.get("top"));
        } catch (NumberFormatException e) {
            throw new ProfilerException("stackagent: top=" + options.get("top") + ": give a number", e);
        }
        try {
            shadow = Shadow.find(options.get("home"));
        } catch (IOException e) {
            throw new ProfilerException("stackagent: " + e.getMessage(), e);
        }
    }

    @Override
    public Collection<String> addJVMInvokeOptions(BenchmarkParams params) {
        String name = params.id().replaceAll("[^A-Za-z0-9._-]+", "_");
        session = Path.of(options.get("dir"), name);
        for (int fork = 2; Files.exists(session); fork++) {
            session = Path.of(options.get("dir"), name + "-" + fork);
        }
        try {
            Files.createDirectories(session.toAbsolutePath().getParent());
        } catch (IOException e) {
            throw new UncheckedIOException("stackagent: cannot make " + session.getParent(), e);
        }
        return shadow.run(session.toString(), flags);
    }

    @Override
    public Collection<String> addJVMOptions(BenchmarkParams params) {
        return List.of();
    }

    @Override
    public void beforeTrial(BenchmarkParams params) {
        // The command line has everything.
    }

    @Override
    @SuppressWarnings("rawtypes") // so JMH declares it
    public Collection<? extends Result> afterTrial(BenchmarkResult result, long pid, File out, File err) {
        try {
            Shadow.Output o = shadow.call(List.of("hotspots", session.toString(), "--app", "--sort", "count", "--class", options.get("class"),
                    "--format", "csv"));
            if (o.code != 0) {
                throw new IOException(o.err.trim());
            }
            List<Result<?>> results = new ArrayList<>(new Hotspots(o.out, top).results(result));
            results.add(new TextResult("session: " + session.toAbsolutePath(), "stackagent"));
            return results;
        } catch (IOException e) {
            return List.of(new TextResult("no figures of " + session + ": " + e.getMessage(), "stackagent"));
        }
    }

    @Override
    public boolean allowPrintOut() {
        return true;
    }

    @Override
    public boolean allowPrintErr() {
        return true;
    }

    @Override
    public String getDescription() {
        return "stackagent: tasks per operation, work per task, time in queues";
    }
}
