import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Clients of a web server, in a JVM of their own: {@code Load PORT CLIENTS REQUESTS}, once for each line of input. Each client
 * sends its next request, {@code GET /words?n=N}, after an answer and checks that: the first of N sorted words, and N.
 */
public final class Load {
    static int client(int port, int requests) throws IOException {
        int right = 0;
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.setTcpNoDelay(true);
            OutputStream out = socket.getOutputStream();
            BufferedReader in = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII));
            for (int i = 0; i < requests; i++) {
                int n = 200 + i % 100;
                out.write(("GET /words?n=" + n + " HTTP/1.1\r\nHost: x\r\n\r\n").getBytes(StandardCharsets.US_ASCII));
                if (body(in).equals("0 " + n)) {
                    right++;
                }
            }
        }
        return right;
    }

    static String body(BufferedReader in) throws IOException {
        int length = -1;
        boolean fine = line(in).contains(" 200");
        for (String line = line(in); !line.isEmpty(); line = line(in)) {
            if (line.toLowerCase().startsWith("content-length: ")) {
                length = Integer.parseInt(line.substring(16));
            }
        }
        if (length < 0) {
            throw new IOException("an answer without content-length");
        }
        char[] body = new char[length];
        for (int at = 0, n; at < length; at += n) {
            if ((n = in.read(body, at, length - at)) < 0) {
                throw new IOException("the server closed the connection");
            }
        }
        return fine ? new String(body) : "an error";
    }

    static String line(BufferedReader in) throws IOException {
        String s = in.readLine();
        if (s == null) {
            throw new IOException("the server closed the connection");
        }
        return s;
    }

    public static void main(String[] args) {
        int port = Integer.parseInt(args[0]), clients = Integer.parseInt(args[1]), requests = Integer.parseInt(args[2]) / clients;
        ExecutorService pool = Executors.newFixedThreadPool(clients);
        Peer.serve(round -> {
            List<Future<Integer>> all = new ArrayList<>();
            for (int i = 0; i < clients; i++) {
                all.add(pool.submit(() -> client(port, requests)));
            }
            int right = 0;
            for (Future<Integer> f : all) {
                right += f.get();
            }
            return right + " right of " + requests * clients;
        });
    }

    /** What the server does for a request: sorts n words. */
    static String words(int n) {
        List<String> words = new ArrayList<>(n);
        for (int i = 0; i < n; i++) {
            words.add(Integer.toString(i * 7919 % n, 36));
        }
        words.sort(null);
        return words.get(0) + " " + words.size();
    }

    /** The server's side: rounds of requests, an iteration each. */
    static void rounds(int iterations, int port, String clients, String requests) throws Exception {
        int all = Integer.parseInt(requests) / Integer.parseInt(clients) * Integer.parseInt(clients);
        try (Peer peer = new Peer(List.of(), "Load", Integer.toString(port), clients, requests)) {
            Iterations.run(iterations, i -> Iterations.expect(all + " right of " + all, peer.ask("go"), "answers"));
        }
    }
}
