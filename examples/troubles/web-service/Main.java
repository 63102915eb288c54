import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Not a public report, but a service as many are: 16 workers share two permits for a remote call of 6 ms, and a cache whose lock is held for about 2 ms of computing.
 * Symptom: fewer than 300 requests a second, while the CPUs are mostly idle. Truth: requests wait for a permit first of all, and behind that for the cache. fixed: 16
 * permits, and a cache divided by article. healthy: the same with as many clients as the two permits can serve. "permits" and "cache" mend one of the two.
 */
public class Main {
    static final int WORKERS = 16, REQUESTS = 1000;
    /** The cache computes for this long: less than the 3 ms for which a request has the permits to itself. */
    static final int COMPUTE_NS = 1_900_000;
    static final int TRIED = 1_500_000;
    static volatile int rounds = TRIED;

    /** The stock of articles: the remote part of a request. */
    static final class Inventory {
        final Semaphore connections;

        Inventory(int permits) {
            connections = new Semaphore(permits);
        }

        int lookup(int article) throws InterruptedException {
            connections.acquire();
            try {
                Thread.sleep(6); // the remote call
                return article * 31;
            } finally {
                connections.release();
            }
        }
    }

    /** Prices by article, all under one lock, or each under that of its entry. */
    static final class Prices {
        final Map<Integer, Long> one = new HashMap<>(), divided = new ConcurrentHashMap<>();
        final boolean isDivided;

        Prices(boolean isDivided) {
            this.isDivided = isDivided;
        }

        long of(int article) {
            if (isDivided) return divided.compute(article, (k, old) -> compute(k));
            return locked(article);
        }

        synchronized long locked(int article) {
            return one.compute(article, (k, old) -> compute(k));
        }

        static long compute(int article) {
            long x = article | 1;
            for (int i = 0, n = rounds; i < n; i++) { x ^= x << 13; x ^= x >>> 7; x ^= x << 17; }
            return x;
        }
    }

    static void answer(HttpExchange e, Inventory inventory, Prices prices) {
        try (e) {
            int article = Integer.parseInt(e.getRequestURI().getQuery());
            byte[] body = (inventory.lookup(article) + " " + prices.of(article) + "\n").getBytes(StandardCharsets.US_ASCII);
            e.sendResponseHeaders(200, body.length);
            e.getResponseBody().write(body);
        } catch (IOException | InterruptedException x) {
            throw new IllegalStateException(x);
        }
    }

    /** Asks one request after another on one connection. */
    static void ask(int port, AtomicLong left) throws IOException {
        try (Socket s = new Socket(InetAddress.getLoopbackAddress(), port)) {
            s.setTcpNoDelay(true);
            BufferedReader in = new BufferedReader(new InputStreamReader(s.getInputStream(), StandardCharsets.US_ASCII));
            for (long n; (n = left.decrementAndGet()) >= 0; ) {
                s.getOutputStream().write(("GET /quote?" + n + " HTTP/1.1\r\nHost: localhost\r\n\r\n").getBytes(StandardCharsets.US_ASCII));
                while (!in.readLine().isEmpty()) {}
                if (in.readLine() == null) throw new IOException("no answer to " + n);
            }
        }
    }

    /** Compiles the computation, and finds how many rounds of it this machine does in COMPUTE_NS. */
    static void calibrate() {
        long least = Long.MAX_VALUE;
        for (int i = 0; i < 200; i++) {
            long begin = System.nanoTime();
            Prices.compute(i);
            least = Math.min(least, System.nanoTime() - begin);
        }
        rounds = (int) ((long) TRIED * COMPUTE_NS / least);
    }

    public static void main(String[] args) throws Exception {
        String mode = args.length == 0 ? "" : args[0];
        Inventory inventory = new Inventory(mode.equals("fixed") || mode.equals("permits") ? WORKERS : 2);
        Prices prices = new Prices(mode.equals("fixed") || mode.equals("cache"));
        int clients = mode.equals("healthy") ? 2 : WORKERS;
        calibrate();
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        ExecutorService workers = Executors.newFixedThreadPool(WORKERS);
        server.setExecutor(workers);
        server.createContext("/quote", e -> answer(e, inventory, prices));
        server.start();
        AtomicLong left = new AtomicLong(REQUESTS);
        CountDownLatch done = new CountDownLatch(clients);
        long begin = System.nanoTime();
        for (int i = 0; i < clients; i++) {
            new Thread(() -> {
                try {
                    ask(server.getAddress().getPort(), left);
                } catch (IOException x) {
                    x.printStackTrace();
                }
                done.countDown();
            }, "client-" + i).start();
        }
        done.await();
        double s = (System.nanoTime() - begin) / 1e9;
        System.out.printf("truth requests_per_s=%.0f%n", REQUESTS / s);
        server.stop(0);
        workers.shutdown();
    }
}
