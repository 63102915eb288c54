import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.eclipse.jetty.ee10.servlet.ServletContextHandler;
import org.eclipse.jetty.ee10.servlet.ServletHolder;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.VirtualThreads;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

/**
 * Jetty and its clients in one JVM: {@code Main CLIENTS REQUESTS WAIT}. If the JVM has virtual threads, each request runs
 * on one. A request sorts words and waits for WAIT ms, as for a database. The clients check each answer.
 */
public class Main {
    static final class Words extends HttpServlet {
        private static final long serialVersionUID = 1;
        private final int wait;

        Words(int wait) {
            this.wait = wait;
        }

        @Override
        protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
            int n = Integer.parseInt(request.getParameter("n"));
            List<String> words = new ArrayList<>(n);
            for (int i = 0; i < n; i++) {
                words.add(Integer.toString(i * 7919 % n, 36));
            }
            words.sort(null);
            try {
                Thread.sleep(wait);
            } catch (InterruptedException e) {
                throw new IOException(e);
            }
            response.setContentType("text/plain");
            byte[] body = (words.get(0) + " " + words.size()).getBytes(StandardCharsets.US_ASCII);
            response.setContentLength(body.length);
            response.getOutputStream().write(body);
        }
    }

    static Callable<Integer> client(int port, int requests) {
        return () -> {
            int right = 0;
            try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
                socket.setTcpNoDelay(true);
                OutputStream out = socket.getOutputStream();
                BufferedReader in = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII));
                for (int i = 0; i < requests; i++) {
                    int n = 200 + i % 100;
                    out.write(("GET /words?n=" + n + " HTTP/1.1\r\nHost: x\r\n\r\n").getBytes(StandardCharsets.US_ASCII));
                    int length = 0;
                    for (String line = in.readLine(); !line.isEmpty(); line = in.readLine()) {
                        if (line.toLowerCase().startsWith("content-length: ")) {
                            length = Integer.parseInt(line.substring(16));
                        }
                    }
                    char[] body = new char[length];
                    for (int at = 0; at < length;) {
                        at += in.read(body, at, length - at);
                    }
                    if (new String(body).equals("0 " + n)) {
                        right++;
                    }
                }
            }
            return right;
        };
    }

    public static void main(String[] args) throws Exception {
        int clients = Integer.parseInt(args[0]);
        int requests = Integer.parseInt(args[1]) / clients;
        QueuedThreadPool threads = new QueuedThreadPool(16, 4);
        threads.setVirtualThreadsExecutor(VirtualThreads.getDefaultVirtualThreadsExecutor()); // null if the JVM has none
        Server server = new Server(threads);
        ServerConnector connector = new ServerConnector(server, 1, 1);
        connector.setHost("127.0.0.1");
        server.addConnector(connector);
        ServletContextHandler context = new ServletContextHandler("/");
        context.addServlet(new ServletHolder(new Words(Integer.parseInt(args[2]))), "/words");
        server.setHandler(context);
        server.start();
        ExecutorService pool = Executors.newFixedThreadPool(clients);
        List<Future<Integer>> all = new ArrayList<>();
        for (int i = 0; i < clients; i++) {
            all.add(pool.submit(client(connector.getLocalPort(), requests)));
        }
        int right = 0;
        for (Future<Integer> f : all) {
            right += f.get();
        }
        pool.shutdown();
        server.stop();
        System.out.println(right + " right answers");
        System.exit(right == clients * requests ? 0 : 1);
    }
}
