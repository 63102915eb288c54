import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A second JVM, which is not profiled: clients of a server. It answers each line of its input with a line of output. */
final class Peer implements AutoCloseable {
    private static final String MARK = "answer ";

    interface Answer {
        String to(String line) throws Exception;
    }

    private final Process process;
    private final BufferedReader out;
    private final PrintStream in;

    /** Starts {@code main} with the class path of this JVM. */
    Peer(List<String> options, String main, String... args) throws IOException {
        List<String> command = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", System.getProperty("java.class.path")));
        command.addAll(options);
        command.add(main);
        command.addAll(List.of(args));
        ProcessBuilder b = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT);
        b.environment().keySet().removeAll(List.of("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS"));
        process = b.start();
        out = process.inputReader();
        in = new PrintStream(process.getOutputStream(), true);
    }

    /** Sends a line and waits for the answer. Other output of the peer goes to stderr. */
    String ask(String line) throws IOException {
        in.println(line);
        for (String s; (s = out.readLine()) != null;) {
            if (s.startsWith(MARK)) {
                return s.substring(MARK.length());
            }
            System.err.println(s);
        }
        throw new IOException("the clients ended without an answer");
    }

    @Override
    public void close() throws IOException {
        in.close();
        try {
            int code = process.waitFor();
            if (code != 0) {
                throw new IOException("the clients ended with exit code " + code);
            }
        } catch (InterruptedException e) {
            throw new IOException(e);
        }
    }

    /** The peer's side: answers until its input ends. */
    static void serve(Answer answer) {
        try (BufferedReader in = new BufferedReader(new InputStreamReader(System.in))) {
            for (String line; (line = in.readLine()) != null;) {
                System.out.println(MARK + answer.to(line));
            }
        } catch (Exception e) {
            e.printStackTrace();
            System.exit(1);
        }
        System.exit(0);
    }
}
