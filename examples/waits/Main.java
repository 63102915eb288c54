import com.sun.net.httpserver.HttpServer;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URL;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.LongAdder;

/**
 * The JDK's HTTP server with requests that mostly wait: java Main [clients] [requests of each] [permits] [one|own]. Four requests, or as
 * many as there are permits, may use the database at a time (a semaphore, 6 ms asleep), one at a time writes the log (a monitor, 1 ms
 * asleep); with own, each request has a log of its own.
 * Known answer: the program measures itself how long it waits for the semaphore and the monitor, and how long it sleeps, and prints
 * the sums in ns. Requests use next to no CPU time. A task for each client; how many the server makes depends on when it notices the
 * end of a connection.
 */
public class Main {
    static final class Log {}

    static Semaphore permits;
    static Log log; // null: each request has its own
    static final LongAdder semaphore = new LongAdder(), monitor = new LongAdder(), sleep = new LongAdder(), wall = new LongAdder(), done = new LongAdder();

    static long nap(long from, int ms) throws InterruptedException {
        Thread.sleep(ms);
        long to = System.nanoTime();
        sleep.add(to - from);
        return to;
    }

    static void handle() throws InterruptedException {
        long start = System.nanoTime();
        permits.acquire();
        long at = System.nanoTime();
        semaphore.add(at - start);
        at = nap(at, 6);
        permits.release();
        at = System.nanoTime();
        long end;
        synchronized (log != null ? log : new Log()) {
            long in = System.nanoTime();
            monitor.add(in - at);
            end = nap(in, 1);
        }
        wall.add(end - start);
        done.increment();
    }

    public static void main(String[] args) throws Exception {
        int clients = args.length > 0 ? Integer.parseInt(args[0]) : 12;
        int requests = args.length > 1 ? Integer.parseInt(args[1]) : 60;
        permits = new Semaphore(args.length > 2 ? Integer.parseInt(args[2]) : 4);
        log = args.length > 3 && args[3].equals("own") ? null : new Log();
        ExecutorService pool = Executors.newFixedThreadPool(clients);
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/order", exchange -> {
            try {
                handle();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            exchange.sendResponseHeaders(200, -1);
            exchange.close();
        });
        server.setExecutor(pool);
        server.start();
        String url = "http://" + server.getAddress().getHostString() + ":" + server.getAddress().getPort() + "/order";
        Thread[] list = new Thread[clients];
        for (int i = 0; i < clients; i++) {
            list[i] = new Thread(() -> {
                for (int k = 0; k < requests; k++) {
                    get(url);
                }
            }, "client-" + i);
            list[i].start();
        }
        for (Thread t : list) t.join();
        server.stop(0);
        pool.shutdown();
        System.out.println("requests " + done + " wall " + wall + " semaphore " + semaphore + " monitor " + monitor + " sleep " + sleep);
    }

    static void get(String url) {
        try (InputStream in = new URL(url).openStream()) {
            in.readAllBytes();
        } catch (java.io.IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }
}
