package dev.stackagent.junit;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** When the tests began and ended, as the iterations of a session. */
final class Markers {
    // The shadow reads no more markers of a session, and no longer lines.
    private static final int MAX = 65_536;
    private static final int MAX_LINE = 160;

    private final List<String> markers = new ArrayList<>();
    private int running;
    private int dropped;
    private boolean parallel;

    synchronized void begin(String test) {
        parallel |= running++ > 0;
        add(true, test);
    }

    synchronized void end(String test) {
        running--;
        add(false, test);
    }

    private void add(boolean begin, String test) {
        if (markers.size() >= MAX) {
            dropped++;
            return;
        }
        // On Linux nanoTime is CLOCK_MONOTONIC, the clock of the session.
        markers.add("{\"at_ns\":" + System.nanoTime() + ",\"begin\":" + begin + ",\"stream\":\"stdout\",\"line\":"
                + Json.quote(Json.cut(test, MAX_LINE)) + "}");
    }

    /** Tests that ran at the same time do not divide the session into iterations. */
    synchronized void write(Path file) throws IOException {
        if (parallel) {
            Files.deleteIfExists(file);
            return;
        }
        Files.writeString(file, "{\"version\":1,\"marker\":\"a test ended\",\"marker_begin\":\"a test began\",\"markers\":["
                + String.join(",\n", markers) + "],\"dropped\":" + dropped + ",\"long_lines\":0}\n");
    }
}
