import com.datastax.driver.core.Cluster;
import com.datastax.driver.core.PreparedStatement;
import com.datastax.driver.core.Session;
import com.datastax.driver.core.exceptions.DriverException;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.cassandra.service.CassandraDaemon;

/**
 * A Cassandra server on loopback, and clients in a JVM of their own, which is not profiled: {@code Main THREADS ITERATIONS CLIENTS COUNTERS SYNC
 * REQUESTS}. The server has THREADS threads each for requests, reads, writes and counters. It syncs its commit log {@code periodic} or in a
 * {@code batch}. Of four requests one writes a row, two read one, and one adds to one of COUNTERS counters: if there are few, requests wait
 * for one another. The sum of the counters is checked after each iteration.
 */
public class Main {
    static final int ROWS = 1000;
    static final String LOGS = "logback.configurationFile";

    static int freePort() throws IOException {
        try (ServerSocket s = new ServerSocket(0)) {
            return s.getLocalPort();
        }
    }

    static void configure(Path folder, String threads, String sync, int port) throws IOException {
        String wait = sync.equals("batch") ? "" : "commitlog_sync_period: 1s\n";
        Path file = Files.writeString(folder.resolve("cassandra.yaml"), """
                cluster_name: real
                num_tokens: 1
                partitioner: org.apache.cassandra.dht.Murmur3Partitioner
                endpoint_snitch: SimpleSnitch
                seed_provider: [{class_name: org.apache.cassandra.locator.SimpleSeedProvider, parameters: [{seeds: "127.0.0.1:%1$d"}]}]
                listen_address: 127.0.0.1
                storage_port: %1$d
                start_native_transport: true
                rpc_address: 127.0.0.1
                native_transport_port: %2$d
                native_transport_max_threads: %3$s
                concurrent_reads: %3$s
                concurrent_writes: %3$s
                concurrent_counter_writes: %3$s
                commitlog_sync: %4$s
                %5$scommitlog_directory: %6$s/commitlog
                data_file_directories: [%6$s/data]
                saved_caches_directory: %6$s/caches
                hints_directory: %6$s/hints
                cdc_raw_directory: %6$s/cdc
                """.formatted(freePort(), port, threads, sync, wait, folder));
        System.setProperty("cassandra.config", file.toUri().toString());
        System.setProperty("cassandra.storagedir", folder.toString());
        System.setProperty("cassandra.jmx.local.port", Integer.toString(freePort()));
        System.setProperty("cassandra-foreground", ""); // else it closes the output
        System.setProperty("cassandra.skip_wait_for_gossip_to_settle", "0"); // there are no other nodes
        System.setProperty("cassandra.ring_delay_ms", "0");
        System.setProperty(LOGS, Files.writeString(folder.resolve("logback.xml"), "<configuration><root level='ERROR'/></configuration>").toString());
    }

    public static void main(String[] args) throws Exception {
        Path folder = Files.createTempDirectory("cassandra");
        int port = freePort(), iterations = Integer.parseInt(args[1]);
        long adds = Long.parseLong(args[5]) / 4;
        configure(folder, args[0], args[4], port);
        CassandraDaemon server = new CassandraDaemon(true);
        server.activate();
        try (Peer peer = new Peer(List.of("-D" + LOGS + "=" + System.getProperty(LOGS)), "Main$Clients", Integer.toString(port), args[2], args[5], args[3])) {
            Iterations.run(iterations, i -> Iterations.expect("0 failed, the counters are at " + i * adds, peer.ask("go"), "requests"));
        }
        server.deactivate();
        Scratch.delete(folder);
        Iterations.ok("all requests succeeded");
    }

    /** {@code Clients PORT CLIENTS REQUESTS COUNTERS}: each client sends its next request after an answer. */
    public static class Clients {
        static PreparedStatement write, read, add;

        static void tables(Session s) {
            s.execute("CREATE KEYSPACE real WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
            s.execute("CREATE TABLE real.numbers (id int PRIMARY KEY, name text, factors list<int>)");
            s.execute("CREATE TABLE real.counters (id int PRIMARY KEY, n counter)");
            write = s.prepare("INSERT INTO real.numbers (id, name, factors) VALUES (?, ?, ?)");
            read = s.prepare("SELECT name, factors FROM real.numbers WHERE id = ?");
            add = s.prepare("UPDATE real.counters SET n = n + 1 WHERE id = ?");
        }

        static void request(Session s, int i, int counters) {
            switch (i % 4) {
                case 0 -> s.execute(write.bind(i / 4 % ROWS, "number " + i, List.of(i, i + 1, i + 2)));
                case 1 -> s.execute(add.bind(i / 4 % counters));
                default -> s.execute(read.bind(i / 4 % ROWS)).one();
            }
        }

        /** Sends the requests and says how many failed, and the sum of the counters. */
        static String round(Session s, int clients, int requests, int counters) throws InterruptedException {
            AtomicInteger next = new AtomicInteger(), failed = new AtomicInteger();
            long[] times = new long[requests];
            Thread[] threads = new Thread[clients];
            for (int t = 0; t < clients; t++) {
                threads[t] = new Thread(() -> {
                    for (int i; (i = next.getAndIncrement()) < requests;) {
                        long begin = System.nanoTime();
                        try {
                            request(s, i, counters);
                        } catch (DriverException e) {
                            failed.incrementAndGet();
                        }
                        times[i] = System.nanoTime() - begin;
                    }
                });
                threads[t].start();
            }
            for (Thread t : threads) {
                t.join();
            }
            Arrays.sort(times);
            System.err.printf("median %.3f ms, 99 %% %.3f ms%n", times[requests / 2] / 1e6, times[requests * 99 / 100] / 1e6);
            return failed + " failed, the counters are at " + s.execute("SELECT sum(n) FROM real.counters").one().getLong(0);
        }

        public static void main(String[] args) throws Exception {
            int clients = Integer.parseInt(args[1]), requests = Integer.parseInt(args[2]), counters = Integer.parseInt(args[3]);
            try (Cluster c = Cluster.builder().addContactPoint("127.0.0.1").withPort(Integer.parseInt(args[0])).withoutJMXReporting().build();
                    Session s = c.connect()) {
                tables(s);
                Peer.serve(line -> round(s, clients, requests, counters));
            }
        }
    }
}
