package early;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

public final class Main {
    private Main() {}

    public static void main(String[] args) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(3);
        for (int i = 0; i < 1000; i++) {
            pool.execute(new Child());
            pool.submit(new Unlinked());
        }
        for (int i = 0; i < 10; i++) {
            new Agent.Borrower().run();
        }
        pool.shutdown();
        System.out.println(pool.awaitTermination(1, TimeUnit.MINUTES) + " " + Base.RAN.get());
    }
}
