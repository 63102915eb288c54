import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.File;
import java.io.IOException;
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
import org.apache.catalina.Context;
import org.apache.catalina.startup.Tomcat;

/**
 * A web server, and its clients in a JVM of their own, which is not profiled: {@code Main THREADS CLIENTS
 * REQUESTS FOLDER}. Tomcat has THREADS threads for requests. Every client sends its share of the requests,
 * one after the other, on one connection, and checks each answer.
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

    static int client(HttpClient http, int port, int requests) throws IOException, InterruptedException {
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
    }

    /** Sends the requests and ends the JVM: 0 if all answers were right. */
    static void clients(int port, int clients, int requests) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(clients);
        HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
        List<Future<Integer>> all = new ArrayList<>();
        for (int i = 0; i < clients; i++) {
            all.add(pool.submit(() -> client(http, port, requests / clients)));
        }
        int right = 0;
        for (Future<Integer> f : all) {
            right += f.get();
        }
        System.out.println(right + " right answers");
        System.exit(right == requests / clients * clients ? 0 : 1); // the client's selector thread would keep the JVM alive for a while
    }

    static Tomcat server(int threads, String folder) {
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir(folder);
        tomcat.setPort(0);
        tomcat.getConnector().setProperty("address", "127.0.0.1");
        tomcat.getConnector().setProperty("maxThreads", Integer.toString(threads));
        tomcat.getConnector().setProperty("minSpareThreads", Integer.toString(threads));
        Context context = tomcat.addContext("", new File(folder).getAbsolutePath());
        Tomcat.addServlet(context, "words", new Words());
        context.addServletMappingDecoded("/words", "words");
        return tomcat;
    }

    public static void main(String[] args) throws Exception {
        if (args[0].equals("clients")) {
            clients(Integer.parseInt(args[1]), Integer.parseInt(args[2]), Integer.parseInt(args[3]));
        }
        Tomcat tomcat = server(Integer.parseInt(args[0]), args[3]);
        tomcat.start();
        ProcessBuilder b = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-cp", System.getProperty("java.class.path"), "Main", "clients",
            Integer.toString(tomcat.getConnector().getLocalPort()), args[1], args[2]).inheritIO();
        b.environment().remove("JAVA_TOOL_OPTIONS"); // the clients are not profiled
        int code = b.start().waitFor();
        tomcat.stop();
        tomcat.destroy();
        System.exit(code);
    }
}
