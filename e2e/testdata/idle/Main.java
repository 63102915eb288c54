/** Runs one task, then sleeps until it is stopped. */
public class Main {
    public static void main(String[] args) throws InterruptedException {
        Thread worker = new Thread(() -> {});
        worker.start();
        worker.join();
        System.out.println("asleep");
        try {
            Thread.sleep(Long.MAX_VALUE);
        } finally {
            System.out.println("awake");
        }
    }
}
