import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.catalina.Context;
import org.apache.catalina.startup.Tomcat;

/** Tomcat, embedded: {@code Main THREADS ITERATIONS CLIENTS REQUESTS}. Its clients are a JVM of their own. */
public class Main {
    /** Sorts as many words as the request asks for. */
    static final class Words extends HttpServlet {
        private static final long serialVersionUID = 1;

        @Override
        protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
            byte[] body = Load.words(Integer.parseInt(request.getParameter("n"))).getBytes(StandardCharsets.US_ASCII);
            response.setContentType("text/plain");
            response.setContentLength(body.length);
            response.getOutputStream().write(body);
        }
    }

    static Tomcat server(String threads, Path folder) {
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir(folder.toString());
        tomcat.setPort(0);
        tomcat.getConnector().setProperty("address", "127.0.0.1");
        tomcat.getConnector().setProperty("maxThreads", threads);
        tomcat.getConnector().setProperty("minSpareThreads", threads);
        tomcat.getConnector().setProperty("maxKeepAliveRequests", "-1");
        Context context = tomcat.addContext("", folder.toString());
        Tomcat.addServlet(context, "words", new Words());
        context.addServletMappingDecoded("/words", "words");
        return tomcat;
    }

    public static void main(String[] args) throws Exception {
        Path folder = Files.createTempDirectory("tomcat");
        Tomcat tomcat = server(args[0], folder);
        tomcat.start();
        Load.rounds(Integer.parseInt(args[1]), tomcat.getConnector().getLocalPort(), args[2], args[3]);
        tomcat.stop();
        tomcat.destroy();
        Scratch.delete(folder);
        Iterations.ok("every answer was right");
    }
}
