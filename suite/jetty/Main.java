import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.eclipse.jetty.ee10.servlet.ServletContextHandler;
import org.eclipse.jetty.ee10.servlet.ServletHolder;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.VirtualThreads;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

/**
 * Jetty, embedded: {@code Main ITERATIONS CLIENTS REQUESTS WAIT}. If the JVM has virtual threads, each request runs on one. A
 * request sorts words and waits for WAIT ms, as for a database. The clients are a JVM of their own.
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
            byte[] body = Load.words(Integer.parseInt(request.getParameter("n"))).getBytes(StandardCharsets.US_ASCII);
            try {
                Thread.sleep(wait);
            } catch (InterruptedException e) {
                throw new IOException(e);
            }
            response.setContentType("text/plain");
            response.setContentLength(body.length);
            response.getOutputStream().write(body);
        }
    }

    public static void main(String[] args) throws Exception {
        QueuedThreadPool threads = new QueuedThreadPool(16, 4);
        threads.setVirtualThreadsExecutor(VirtualThreads.getDefaultVirtualThreadsExecutor()); // null if the JVM has none
        Server server = new Server(threads);
        ServerConnector connector = new ServerConnector(server, 1, 1);
        connector.setHost("127.0.0.1");
        server.addConnector(connector);
        ServletContextHandler context = new ServletContextHandler("/");
        context.addServlet(new ServletHolder(new Words(Integer.parseInt(args[3]))), "/words");
        server.setHandler(context);
        server.start();
        Load.rounds(Integer.parseInt(args[0]), connector.getLocalPort(), args[1], args[2]);
        server.stop();
        Iterations.ok("every answer was right");
    }
}
