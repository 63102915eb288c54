import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import kafka.server.KafkaConfig;
import kafka.server.KafkaRaftServer;
import kafka.tools.StorageTool;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.tools.ProducerPerformance;

/**
 * A Kafka broker in KRaft mode on loopback, and its own producer benchmark in a JVM of its own:
 * {@code Main broker|producer THREADS RECORDS BYTES}. The first argument is the one that is profiled, in this
 * JVM. The broker has THREADS request handlers and as many network threads. It ends when the producer has
 * sent all records.
 */
public class Main {
    static int freePort() throws IOException {
        try (ServerSocket s = new ServerSocket(0)) {
            return s.getLocalPort();
        }
    }

    /** The configuration of a broker that is its own controller. */
    static Properties configuration(Path folder, int threads, int port, int controller) {
        Properties p = new Properties();
        p.put("process.roles", "broker,controller");
        p.put("node.id", "1");
        p.put("controller.quorum.voters", "1@127.0.0.1:" + controller);
        p.put("controller.listener.names", "CONTROLLER");
        p.put("listeners", "PLAINTEXT://127.0.0.1:" + port + ",CONTROLLER://127.0.0.1:" + controller);
        p.put("listener.security.protocol.map", "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT");
        p.put("log.dirs", folder.resolve("log").toString());
        p.put("num.io.threads", Integer.toString(threads));
        p.put("num.network.threads", Integer.toString(threads));
        p.put("num.partitions", "4");
        p.put("offsets.topic.replication.factor", "1");
        p.put("transaction.state.log.replication.factor", "1");
        p.put("transaction.state.log.min.isr", "1");
        return p;
    }

    static void format(Path folder, Properties p) throws IOException {
        Path file = folder.resolve("server.properties");
        try (var out = Files.newOutputStream(file)) {
            p.store(out, null);
        }
        int code = StorageTool.execute(new String[] {"format", "-t", "MkU3OEVBNTcwNTJENDM2Qk", "-c", file.toString()}, System.out);
        if (code != 0) {
            throw new IOException("kafka.tools.StorageTool ended with " + code);
        }
    }

    /** A class in a JVM of its own, without the agent. */
    static Process start(String main, List<String> args) throws IOException {
        List<String> command = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-cp", System.getProperty("java.class.path"), main));
        command.addAll(args);
        ProcessBuilder b = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).redirectOutput(ProcessBuilder.Redirect.INHERIT);
        b.environment().remove("JAVA_TOOL_OPTIONS");
        return b.start();
    }

    static List<String> benchmark(int port, String records, String bytes) {
        return List.of("--topic", "numbers", "--num-records", records, "--record-size", bytes, "--throughput", "-1",
            "--producer-props", "bootstrap.servers=127.0.0.1:" + port, "acks=1");
    }

    /** The benchmark in this JVM. The broker in another one ends when its input does. */
    static void produce(String[] args) throws Exception {
        int port = freePort();
        Process broker = start("Main", List.of("serve", args[1], Integer.toString(port)));
        ProducerPerformance.main(benchmark(port, args[2], args[3]).toArray(new String[0]));
        broker.getOutputStream().close();
        System.exit(broker.waitFor());
    }

    public static void main(String[] args) throws Exception {
        if (args[0].equals("producer")) {
            produce(args);
        }
        Path folder = Files.createTempDirectory("kafka");
        boolean alone = args[0].equals("serve");
        int port = alone ? Integer.parseInt(args[2]) : freePort();
        Properties p = configuration(folder, Integer.parseInt(args[1]), port, freePort());
        format(folder, p);
        KafkaRaftServer server = new KafkaRaftServer(KafkaConfig.fromProps(p), Time.SYSTEM);
        server.startup();
        int code = 0;
        if (alone) {
            System.in.transferTo(java.io.OutputStream.nullOutputStream());
        } else {
            code = start("org.apache.kafka.tools.ProducerPerformance", benchmark(port, args[2], args[3])).waitFor();
        }
        server.shutdown();
        server.awaitShutdown();
        try (var files = Files.walk(folder)) {
            files.sorted((a, b) -> b.compareTo(a)).forEach(f -> f.toFile().delete());
        }
        System.exit(code);
    }
}
