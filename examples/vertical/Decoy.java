import java.io.FileOutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Timer;
import java.util.TimerTask;

/** What happens near the dips and does not cause them. */
final class Decoy {
    private Decoy() {
    }

    private static final Timer LATER = new Timer("later", true);

    /** Makes the timer's thread before there is a dip. */
    static void prepare() {
        LATER.purge();
    }

    /** Runs body every millisecond from delay to delay + lasts milliseconds after the begin of a dip. */
    static void after(int delay, int lasts, String name, Scenario.Body body) {
        LATER.schedule(new TimerTask() {
            @Override
            public void run() {
                try {
                    for (long end = System.nanoTime() + lasts * 1_000_000L; System.nanoTime() < end; Thread.sleep(1)) {
                        body.run();
                    }
                } catch (Exception e) {
                    throw new IllegalStateException(name, e);
                }
            }
        }, delay);
    }

    /** An alarm that writes down what it sees: later than what it is about. */
    static Scenario.Body log() throws Exception {
        Path file = Files.createTempFile("alarm", ".log");
        FileOutputStream out = new FileOutputStream(file.toFile());
        file.toFile().deleteOnExit();
        byte[] line = new byte[200];
        return () -> {
            for (int i = 0; i < 5; i++) {
                out.write(line);
            }
        };
    }

    /** A plug-in that is loaded by chance at the time. */
    static Scenario.Body classes() throws Exception {
        byte[] code = InLibraries.probe();
        return () -> InLibraries.load(code);
    }

    static Scenario.Body exceptions() {
        return () -> {
            for (int i = 0; i < 20; i++) {
                try {
                    Integer.parseInt("x");
                } catch (NumberFormatException e) {
                    Main.sink = e.hashCode();
                }
            }
        };
    }
}
