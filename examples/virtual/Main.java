import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Virtual threads: started one by one, through an executor, and blocking so that they change carriers.
 * Known answer: each is a task, and so is what it runs.
 */
public class Main {
    static final AtomicInteger ran = new AtomicInteger();

    static class Started implements Runnable {
        public void run() {
            ran.incrementAndGet();
        }
    }

    static class Submitted implements Runnable {
        public void run() {
            ran.incrementAndGet();
        }
    }

    static class Blocking implements Runnable {
        public void run() {
            for (int i = 0; i < 5; i++) {
                try {
                    Thread.sleep(1);
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
                new Inner().run();
            }
            ran.incrementAndGet();
        }
    }

    static class Inner implements Runnable {
        public void run() {
            Thread.yield();
            ran.incrementAndGet();
        }
    }

    public static void main(String[] args) throws Exception {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 500; i++) {
            threads.add(Thread.startVirtualThread(new Started()));
        }
        for (int i = 0; i < 100; i++) {
            threads.add(Thread.ofVirtual().name("blocking-" + i).start(new Blocking()));
        }
        try (ExecutorService pool = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < 300; i++) {
                pool.submit(new Submitted());
            }
        }
        for (Thread t : threads) {
            t.join();
        }
        System.out.println("ran " + ran.get());
    }
}
