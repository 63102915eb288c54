/**
 * One unit of work: a thread whose task calls tasks inside each other, 3,000 deep. Nobody submits them.
 * Known answer: 3,000 executions, one unit. The innermost task computes for a while, so all last long, and none is an
 * outlier: with detail=summary the outermost one has no record.
 */
public class Main {
    static volatile long sink;

    static class Deep implements Runnable {
        final int depth;

        Deep(int depth) {
            this.depth = depth;
        }

        public void run() {
            if (depth > 1) {
                new Deep(depth - 1).run();
                return;
            }
            for (long end = System.nanoTime() + 5_000_000; System.nanoTime() < end;) {
                sink++;
            }
        }
    }

    public static void main(String[] args) throws Exception {
        Thread t = new Thread(null, new Deep(3000), "deep", 1L << 28);
        t.start();
        t.join();
        System.out.println("done");
    }
}
