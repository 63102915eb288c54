import com.sun.net.httpserver.HttpServer;
import java.io.InputStream;
import java.lang.reflect.Method;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URL;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * The JDK's HTTP server with two handlers, on a pool or on virtual threads: java Main pool|virtual [requests]. The JDK submits each
 * request; the program has no call site.
 * Known answer: each request is a unit of work of /quote (3 ms) or /order (6 ms), and nearly all CPU time is theirs.
 */
public class Main {
    static volatile long sink;

    static void burn(int ms) {
        long end = System.nanoTime() + ms * 1_000_000L, n = 0;
        while (System.nanoTime() < end) n++;
        sink = n;
    }

    static ExecutorService executor(String kind) throws Exception {
        if (kind.equals("virtual")) {
            Method make = Executors.class.getMethod("newVirtualThreadPerTaskExecutor");
            return (ExecutorService) make.invoke(null);
        }
        return Executors.newFixedThreadPool(2);
    }

    public static void main(String[] args) throws Exception {
        int requests = args.length > 1 ? Integer.parseInt(args[1]) : 50;
        ExecutorService executor = executor(args.length > 0 ? args[0] : "pool");
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/quote", exchange -> {
            burn(3);
            exchange.sendResponseHeaders(200, -1);
            exchange.close();
        });
        server.createContext("/order", exchange -> {
            burn(6);
            exchange.sendResponseHeaders(200, -1);
            exchange.close();
        });
        server.setExecutor(executor);
        server.start();
        String base = "http://" + server.getAddress().getHostString() + ":" + server.getAddress().getPort();
        for (int i = 0; i < requests; i++) {
            get(base + "/quote");
            get(base + "/order");
        }
        server.stop(0);
        executor.shutdown();
        System.out.println("requests " + 2 * requests);
    }

    static void get(String url) throws Exception {
        try (InputStream in = new URL(url).openStream()) {
            in.readAllBytes();
        }
    }
}
