import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.CountDownLatch;

/**
 * java.util.Timer: its thread is a task of class java.util.TimerThread.
 * Known answer: a repeated TimerTask is one task with four executions.
 */
public class Main {
    static int ran;

    static class Once extends TimerTask {
        public void run() {
            ran++;
        }
    }

    static class Repeated extends TimerTask {
        final CountDownLatch done = new CountDownLatch(1);

        public void run() {
            ran++;
            if (++n == 4) {
                cancel();
                done.countDown();
            }
        }

        int n;
    }

    static class Cancelled extends TimerTask {
        public void run() {
            ran++;
        }
    }

    static class Stop extends TimerTask {
        public void run() {
            ran++;
            timer.cancel();
        }
    }

    static final Timer timer = new Timer("beat");

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < 5; i++) {
            timer.schedule(new Once(), i);
        }
        Cancelled c = new Cancelled();
        timer.schedule(c, 60_000);
        c.cancel();
        Repeated r = new Repeated();
        timer.schedule(r, 10, 2);
        r.done.await();
        timer.schedule(new Stop(), 5);
        Thread beat = Thread.getAllStackTraces().keySet().stream()
                .filter(t -> t.getName().equals("beat")).findFirst().orElse(null);
        if (beat != null) {
            beat.join();
        }
        System.out.println("ran " + ran);
    }
}
