import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import kafka.server.KafkaConfig;
import kafka.server.KafkaRaftServer;
import kafka.tools.StorageTool;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.tools.ProducerPerformance;

/**
 * A Kafka broker in KRaft mode on loopback, and its own producer benchmark in a JVM of its own: {@code Main SIDE THREADS ITERATIONS RECORDS
 * BYTES}. SIDE, {@code broker} or {@code producer}, is the one in this JVM. The broker has THREADS request handlers and as many network
 * threads. Each iteration sends RECORDS records, which must be in the log at its end.
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
        p.put("num.partitions", Integer.toString(PARTITIONS));
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

    static final int PARTITIONS = 4;

    static void send(int port, String records, String bytes) throws Exception {
        ProducerPerformance.main(new String[] {"--topic", "numbers", "--num-records", records, "--record-size", bytes, "--throughput", "-1",
            "--producer-props", "bootstrap.servers=127.0.0.1:" + port, "acks=1"});
    }

    /** The records in the log, as the broker counts them. */
    static long records(int port) throws Exception {
        Map<TopicPartition, OffsetSpec> latest = new HashMap<>();
        for (int i = 0; i < PARTITIONS; i++) {
            latest.put(new TopicPartition("numbers", i), OffsetSpec.latest());
        }
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", "127.0.0.1:" + port))) {
            return admin.listOffsets(latest).all().get().values().stream().mapToLong(o -> o.offset()).sum();
        }
    }

    /** The broker, which has begun to serve. */
    record Broker(KafkaRaftServer server, Path folder, int port) implements AutoCloseable {
        static Broker start(int threads) throws IOException {
            Path folder = Files.createTempDirectory("kafka");
            int port = freePort();
            Properties p = configuration(folder, threads, port, freePort());
            format(folder, p);
            KafkaRaftServer server = new KafkaRaftServer(KafkaConfig.fromProps(p), Time.SYSTEM);
            server.startup();
            return new Broker(server, folder, port);
        }

        @Override
        public void close() throws IOException {
            server.shutdown();
            server.awaitShutdown();
            Scratch.delete(folder);
        }
    }

    /** {@code Producer PORT}: sends records for each line of its input, RECORDS BYTES. */
    public static class Producer {
        public static void main(String[] args) {
            int port = Integer.parseInt(args[0]);
            Peer.serve(line -> {
                send(port, line.split(" ")[0], line.split(" ")[1]);
                return "sent";
            });
        }
    }

    /** {@code Serve THREADS}: a broker that answers each line of its input with its port. */
    public static class Serve {
        public static void main(String[] args) throws Exception {
            Broker broker = Broker.start(Integer.parseInt(args[0]));
            Runtime.getRuntime().addShutdownHook(new Thread(() -> {
                try {
                    broker.close();
                } catch (IOException e) {
                    e.printStackTrace();
                }
            }));
            Peer.serve(line -> Integer.toString(broker.port()));
        }
    }

    public static void main(String[] args) throws Exception {
        int iterations = Integer.parseInt(args[2]);
        long records = Long.parseLong(args[3]);
        if (args[0].equals("producer")) {
            try (Peer peer = new Peer(List.of(), "Main$Serve", args[1])) {
                int port = Integer.parseInt(peer.ask("port"));
                Iterations.run(iterations, i -> {
                    send(port, args[3], args[4]);
                    Iterations.expect(i * records, records(port), "records in the log");
                });
            }
        } else {
            try (Broker broker = Broker.start(Integer.parseInt(args[1])); Peer peer = new Peer(List.of(), "Main$Producer", Integer.toString(broker.port()))) {
                Iterations.run(iterations, i -> {
                    peer.ask(args[3] + " " + args[4]);
                    Iterations.expect(i * records, records(broker.port()), "records in the log");
                });
            }
        }
        Iterations.ok("all records are in the log");
    }
}
