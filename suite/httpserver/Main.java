import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * The JDK's own web server, and its clients in a JVM of their own, which is not profiled:
 * {@code Main pool|virtual THREADS CLIENTS REQUESTS}. Of the requests, half sort words and half count
 * primes. The clients check each answer.
 */
public class Main {
    /** Sorts as many words as the request asks for. */
    static final class Words implements HttpHandler {
        @Override
        public void handle(HttpExchange x) throws IOException {
            int n = number(x);
            List<String> words = new ArrayList<>(n);
            for (int i = 0; i < n; i++) {
                words.add(Integer.toString(i * 7919 % n, 36));
            }
            words.sort(null);
            answer(x, words.get(0) + " " + words.size());
        }
    }

    /** Counts the primes below the number that the request names. */
    static void primes(HttpExchange x) throws IOException {
        int n = number(x);
        int primes = 0;
        for (int i = 2; i < n; i++) {
            int d = 2;
            while (d * d <= i && i % d != 0) {
                d++;
            }
            primes += d * d > i ? 1 : 0;
        }
        answer(x, primes + " " + n);
    }

    static int number(HttpExchange x) {
        return Integer.parseInt(x.getRequestURI().getQuery());
    }

    static void answer(HttpExchange x, String text) throws IOException {
        byte[] body = text.getBytes();
        x.sendResponseHeaders(200, body.length);
        try (x) {
            x.getResponseBody().write(body);
        }
    }

    static int client(HttpClient http, int port, int requests) throws IOException, InterruptedException {
        int right = 0;
        for (int i = 0; i < requests; i++) {
            int n = 500 + i % 100;
            String path = i % 2 == 0 ? "words" : "primes";
            HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/" + path + "?" + n)).build();
            HttpResponse<String> answer = http.send(request, HttpResponse.BodyHandlers.ofString());
            if (answer.statusCode() == 200 && answer.body().endsWith(" " + n)) {
                right++;
            }
        }
        return right;
    }

    static void clients(int port, int clients, int requests) throws Exception {
        HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
        ExecutorService pool = Executors.newFixedThreadPool(clients);
        List<Future<Integer>> all = new ArrayList<>();
        for (int i = 0; i < clients; i++) {
            all.add(pool.submit(() -> client(http, port, requests / clients)));
        }
        int right = 0;
        for (Future<Integer> f : all) {
            right += f.get();
        }
        System.out.println(right + " right answers");
        System.exit(right == requests / clients * clients ? 0 : 1);
    }

    static ExecutorService executor(String kind, int threads) throws ReflectiveOperationException {
        if (kind.equals("virtual")) { // JDK 21 and later
            return (ExecutorService) Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
        }
        return Executors.newFixedThreadPool(threads);
    }

    public static void main(String[] args) throws Exception {
        if (args[0].equals("clients")) {
            clients(Integer.parseInt(args[1]), Integer.parseInt(args[2]), Integer.parseInt(args[3]));
        }
        ExecutorService executor = executor(args[0], Integer.parseInt(args[1]));
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/words", new Words());
        server.createContext("/primes", Main::primes);
        server.setExecutor(executor);
        server.start();
        ProcessBuilder b = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-cp", System.getProperty("java.class.path"), "Main", "clients",
            Integer.toString(server.getAddress().getPort()), args[2], args[3]).inheritIO();
        b.environment().remove("JAVA_TOOL_OPTIONS"); // the clients are not profiled
        int code = b.start().waitFor();
        server.stop(0);
        executor.shutdown();
        System.exit(code);
    }
}
