import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Future;
import java.util.concurrent.RecursiveAction;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Programs with a known critical path. Usage: Main SHAPE NUMBER MILLISECONDS. Work is a sleep, so that two CPUs are enough
 * for any width. Prints how long the shape took: "took NANOSECONDS".
 */
public class Main {
    public static void main(String[] args) throws Exception {
        int number = Integer.parseInt(args[1]);
        long millis = Long.parseLong(args[2]);
        long from = System.nanoTime();
        switch (args[0]) {
            case "pool" -> pool(number, millis);
            case "pipeline" -> pipeline(number, millis);
            case "tree" -> tree(number, millis);
            case "convoy" -> convoy(number, millis);
            case "locks" -> locks(number, millis, new ReentrantLock());
            case "unlocked" -> locks(number, millis, null);
            case "pools" -> pools(number, millis);
            case "futures" -> futures(number, millis);
            case "served" -> served(number, millis);
            case "web" -> web(number, millis);
            default -> throw new IllegalArgumentException(args[0]);
        }
        System.out.println("took " + (System.nanoTime() - from));
    }

    static void sleep(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    record Job(long millis) implements Runnable {
        public void run() {
            sleep(millis);
        }
    }

    /** 12 jobs on a pool of so many threads. */
    static void pool(int width, long millis) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(width);
        List<Future<?>> all = new ArrayList<>();
        for (int i = 0; i < 12; i++) {
            all.add(pool.submit(new Job(millis)));
        }
        for (Future<?> f : all) {
            f.get();
        }
        pool.shutdown();
    }

    /** So many rounds of a task that the JDK runs on a thread of its own, or on the only worker of the common pool. */
    static void futures(int rounds, long millis) {
        for (int i = 0; i < rounds; i++) {
            CompletableFuture.runAsync(() -> sleep(millis)).join();
        }
    }

    static final int ELEMENTS = 20;

    record Producer(BlockingQueue<Integer> queue) implements Runnable {
        public void run() {
            for (int i = 0; i < ELEMENTS; i++) {
                sleep(10);
                put(i);
            }
        }

        void put(int i) {
            try {
                queue.put(i);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    record Consumer(BlockingQueue<Integer> queue, long millis) implements Runnable {
        public void run() {
            for (int i = 0; i < ELEMENTS; i++) {
                take();
                sleep(millis);
            }
        }

        void take() {
            try {
                queue.take();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    /** 20 elements through a queue of that capacity: 10 ms to make one, so many to use it. */
    static void pipeline(int capacity, long millis) throws Exception {
        BlockingQueue<Integer> queue = new ArrayBlockingQueue<>(capacity);
        Thread producer = new Thread(new Producer(queue), "producer");
        Thread consumer = new Thread(new Consumer(queue, millis), "consumer");
        producer.start();
        consumer.start();
        producer.join();
        consumer.join();
    }

    static class Node extends RecursiveAction {
        final int depth;
        final long millis;

        Node(int depth, long millis) {
            this.depth = depth;
            this.millis = millis;
        }

        @Override
        protected void compute() {
            if (depth == 0) {
                sleep(millis);
                return;
            }
            Node left = new Node(depth - 1, millis), right = new Node(depth - 1, millis);
            left.fork();
            right.compute();
            left.join();
        }
    }

    record Handler(Socket client, long millis) implements Runnable {
        public void run() {
            try (client) {
                while (client.getInputStream().read() >= 0) {
                    sleep(millis);
                    client.getOutputStream().write(1);
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    record Client(int port) implements Runnable {
        public void run() {
            try (Socket server = new Socket(InetAddress.getLoopbackAddress(), port)) {
                for (int i = 0; i < 20; i++) {
                    server.getOutputStream().write(1);
                    server.getInputStream().read();
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    /** So many clients, each with a thread of the server, which takes so long for each of 20 requests. */
    static void served(int clients, long millis) throws Exception {
        try (ServerSocket server = new ServerSocket(0, clients, InetAddress.getLoopbackAddress())) {
            List<Thread> all = new ArrayList<>();
            for (int i = 0; i < clients; i++) {
                all.add(new Thread(new Client(server.getLocalPort()), "client-" + i));
                all.get(2 * i).start();
                all.add(new Thread(new Handler(server.accept(), millis), "handler-" + i));
                all.get(2 * i + 1).start();
            }
            for (Thread t : all) {
                t.join();
            }
        }
    }

    /** So many requests, one after the other, of the JDK's HTTP client to its server, which takes so long for each. */
    static void web(int requests, long millis) throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(Executors.newFixedThreadPool(2));
        server.createContext("/", exchange -> {
            sleep(millis);
            exchange.sendResponseHeaders(200, -1);
            exchange.close();
        });
        server.start();
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/")).build();
        HttpClient client = HttpClient.newHttpClient();
        for (int i = 0; i < requests; i++) {
            client.send(request, HttpResponse.BodyHandlers.discarding());
        }
        System.exit(0);
    }

    /** A tree with 64 leaves on a fork/join pool of so many threads. */
    static void tree(int width, long millis) {
        ForkJoinPool pool = new ForkJoinPool(width);
        pool.invoke(new Node(6, millis));
        pool.shutdown();
    }

    static final Object LOCK = new Object();

    record Waiter(long millis) implements Runnable {
        public void run() {
            for (int i = 0; i < 5; i++) {
                sleep(5);
                synchronized (LOCK) {
                    sleep(millis);
                }
            }
        }
    }

    /** So many threads, each 5 times 5 ms outside of a lock and so many inside. */
    static void convoy(int threads, long millis) throws Exception {
        List<Thread> all = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            all.add(new Thread(new Waiter(millis), "waiter-" + i));
        }
        for (Thread t : all) {
            t.start();
        }
        for (Thread t : all) {
            t.join();
        }
    }

    record Locker(ReentrantLock shared, long millis) implements Runnable {
        public void run() {
            ReentrantLock lock = shared == null ? new ReentrantLock() : shared;
            for (int i = 0; i < 5; i++) {
                sleep(5);
                lock.lock();
                try {
                    sleep(millis);
                } finally {
                    lock.unlock();
                }
            }
        }
    }

    /** As convoy, with a lock that they share, or one each. */
    static void locks(int threads, long millis, ReentrantLock lock) throws Exception {
        List<Thread> all = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            all.add(new Thread(new Locker(lock, millis), "locker-" + i));
        }
        for (Thread t : all) {
            t.start();
        }
        for (Thread t : all) {
            t.join();
        }
    }

    record Query(long millis) implements Runnable {
        public void run() {
            sleep(millis);
        }
    }

    record Request(ExecutorService database, long millis) implements Runnable {
        public void run() {
            sleep(5);
            try {
                database.submit(new Query(millis)).get();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
            sleep(5);
        }
    }

    /** 12 requests on 6 threads: each sleeps 5 ms, waits for a query on a pool of so many threads, and sleeps 5 ms. */
    static void pools(int width, long millis) throws Exception {
        ExecutorService web = Executors.newFixedThreadPool(6), database = Executors.newFixedThreadPool(width);
        List<Future<?>> all = new ArrayList<>();
        for (int i = 0; i < 12; i++) {
            all.add(web.submit(new Request(database, millis)));
        }
        for (Future<?> f : all) {
            f.get();
        }
        web.shutdown();
        database.shutdown();
    }
}
