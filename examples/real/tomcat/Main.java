import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.catalina.Context;
import org.apache.catalina.startup.Tomcat;

/**
 * A web server and its clients in one JVM: {@code Main THREADS CLIENTS REQUESTS FOLDER}. Tomcat has
 * THREADS threads for requests; every client is one task that sends its share of the requests, one
 * after the other, on one connection. The clients check each answer.
 */
public class Main {
    /** Sorts as many words as the request asks for. */
    static final class Words extends HttpServlet {
        private static final long serialVersionUID = 1;

        @Override
        protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
            int n = Integer.parseInt(request.getParameter("n"));
            List<String> words = new ArrayList<>(n);
            for (int i = 0; i < n; i++) {
                words.add(Integer.toString(i * 7919 % n, 36));
            }
            words.sort(null);
            response.setContentType("text/plain");
            response.getWriter().print(words.get(0) + " " + words.size());
        }
    }

    static Callable<Integer> client(HttpClient http, int port, int requests) {
        return () -> {
            int right = 0;
            for (int i = 0; i < requests; i++) {
                int n = 200 + i % 100;
                HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/words?n=" + n)).build();
                HttpResponse<String> answer = http.send(request, HttpResponse.BodyHandlers.ofString());
                if (answer.statusCode() == 200 && answer.body().equals("0 " + n)) {
                    right++;
                }
            }
            return right;
        };
    }

    public static void main(String[] args) throws Exception {
        int threads = Integer.parseInt(args[0]);
        int clients = Integer.parseInt(args[1]);
        int requests = Integer.parseInt(args[2]) / clients;
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir(args[3]);
        tomcat.setPort(0);
        tomcat.getConnector().setProperty("address", "127.0.0.1");
        tomcat.getConnector().setProperty("maxThreads", Integer.toString(threads));
        tomcat.getConnector().setProperty("minSpareThreads", Integer.toString(threads));
        Context context = tomcat.addContext("", new File(args[3]).getAbsolutePath());
        Tomcat.addServlet(context, "words", new Words());
        context.addServletMappingDecoded("/words", "words");
        tomcat.start();
        ExecutorService pool = Executors.newFixedThreadPool(clients);
        HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
        List<Future<Integer>> all = new ArrayList<>();
        for (int i = 0; i < clients; i++) {
            all.add(pool.submit(client(http, tomcat.getConnector().getLocalPort(), requests)));
        }
        int right = 0;
        for (Future<Integer> f : all) {
            right += f.get();
        }
        pool.shutdown();
        tomcat.stop();
        tomcat.destroy();
        System.out.println(right + " right answers");
        System.exit(right == clients * requests ? 0 : 1); // the client's selector thread would keep the JVM alive for a while
    }
}
