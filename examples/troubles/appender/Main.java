import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;

/**
 * Report: https://github.com/apache/logging-log4j2/issues/2447 (all request threads are blocked in OutputStreamManager.writeBytes).
 * Symptom: requests are slow, all threads BLOCKED. Truth: Appender.append is synchronized and waits 5 ms for the log server's answer while it
 * holds the lock; 8 threads take turns. fixed: the request only queues its line, one thread writes. healthy: the same lock, but the log server
 * answers at once and a request spends its time in a backend.
 */
public class Main {
    static final LongAdder blocked = new LongAdder();
    static volatile long sink;

    /** Computes for about that many microseconds. */
    static long work(int micros) {
        long x = System.nanoTime() | 1;
        for (int i = 0; i < micros * 500; i++) { x ^= x << 13; x ^= x >>> 7; x ^= x << 17; }
        return x;
    }

    static final class Appender {
        final Socket socket;
        Appender(int port) throws IOException {
            socket = new Socket(InetAddress.getLoopbackAddress(), port);
            socket.setTcpNoDelay(true);
        }
        synchronized void append(int line) throws IOException {
            socket.getOutputStream().write(line);
            socket.getInputStream().read(); // the server has stored it
        }
    }

    record Request(Appender appender, BlockingQueue<Integer> lines, boolean backend) implements Runnable {
        @Override public void run() {
            sink = work(500);
            long begin = System.nanoTime();
            try {
                if (lines != null) lines.add(1);
                else appender.append(1);
                blocked.add(System.nanoTime() - begin);
                if (backend) Thread.sleep(20);
            } catch (IOException | InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    /** Answers each byte after so many milliseconds. */
    static void serve(ServerSocket server, int millis) {
        try (Socket s = server.accept()) {
            s.setTcpNoDelay(true);
            DataInputStream in = new DataInputStream(s.getInputStream());
            for (int b; (b = in.read()) >= 0; ) {
                if (millis > 0) Thread.sleep(millis);
                s.getOutputStream().write(b);
            }
        } catch (IOException | InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    static void daemon(String name, Runnable r) {
        Thread t = new Thread(r, name);
        t.setDaemon(true);
        t.start();
    }

    public static void main(String[] args) throws Exception {
        String mode = args.length == 0 ? "" : args[0];
        for (int i = 0; i < 100; i++) work(100);
        boolean healthy = mode.equals("healthy");
        ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        daemon("log-server", () -> serve(server, healthy ? 0 : 5));
        Appender appender = new Appender(server.getLocalPort());
        BlockingQueue<Integer> lines = mode.equals("fixed") ? new LinkedBlockingQueue<>() : null;
        if (lines != null) daemon("async-logger", () -> {
            try {
                for (;;) appender.append(lines.take());
            } catch (IOException | InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        ExecutorService pool = Executors.newFixedThreadPool(8);
        long begin = System.nanoTime();
        for (int i = 0; i < 400; i++) pool.execute(new Request(appender, lines, healthy));
        pool.shutdown();
        pool.awaitTermination(1, TimeUnit.MINUTES);
        System.out.println("truth elapsed_ms=" + (System.nanoTime() - begin) / 1_000_000 + " append_mean_us=" + blocked.sum() / 400 / 1_000);
    }
}
