import java.util.List;
import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** Causes in the program itself. */
final class InProgram {
    private InProgram() {
    }

    static List<Supplier<Scenario>> all() {
        return List.of(Cached::new, Mix::new, Dependency::new, Periodic::new, Locked::new);
    }

    /** The program's cache, with counters that only the program knows. Decoy: an alarm that comes 200 ms later. */
    static final class Cached extends Scenario {
        static volatile long hits, misses;
        private Body alarm;

        Cached() {
            super("cache", "the cache Cached misses");
        }

        @Override
        String prepare() throws Exception {
            alarm = Decoy.log();
            return null;
        }

        @Override
        void enter(int dip) {
            Decoy.after(200, Main.DIP, "alarm", alarm);
        }

        @Override
        void work(boolean dip) {
            boolean miss = dip;
            synchronized (Cached.class) {
                if (miss) {
                    misses++;
                } else {
                    hits++;
                }
            }
            Main.compute(miss ? 2500 : units);
        }
    }

    /** Every fourth order becomes a report, which takes 40 times as long. */
    static final class Mix extends Scenario {
        Mix() {
            super("mix", "tasks of class Report");
        }

        static final class Report extends Order {
            Report(Scenario s) {
                super(s);
            }

            @Override
            public void run() {
                Main.compute(5000);
                Main.finished.increment();
            }
        }

        @Override
        Runnable order(long n) {
            return Main.dip && n % 4 == 0 ? new Report(this) : super.order(n);
        }
    }

    /** Orders end with a call of a dependency that has one thread, and that sleeps. */
    static final class Dependency extends Scenario {
        private final ThreadPoolExecutor calls = new ThreadPoolExecutor(1, 1, 0, TimeUnit.SECONDS,
                new ArrayBlockingQueue<>(64), new ThreadPoolExecutor.DiscardPolicy());

        Dependency() {
            super("dependency", "calls wait for a slow dependency");
        }

        /** What an order asks of the dependency. */
        static final class Call implements Runnable {
            @Override
            public void run() {
                try {
                    Main.compute(10);
                    if (Main.dip) {
                        Thread.sleep(3);
                    }
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
                Main.finished.increment();
            }
        }

        @Override
        Runnable order(long n) {
            return () -> {
                Main.compute(units);
                if (calls.getQueue().remainingCapacity() > 0) {
                    calls.execute(new Call());
                }
            };
        }

        @Override
        void close() {
            calls.shutdown();
        }
    }

    /** A timer's task that has ten threads compact something. */
    static final class Periodic extends Scenario {
        private static final int SLICES = 10;
        private final Timer timer = new Timer("compaction timer", true);
        private final ExecutorService pool = Executors.newFixedThreadPool(SLICES);

        Periodic() {
            super("timer", "a timer's task takes the CPUs: Compaction");
            units = 400;
        }

        final class Compaction extends TimerTask {
            @Override
            public void run() {
                CountDownLatch done = new CountDownLatch(SLICES);
                for (int i = 0; i < SLICES; i++) {
                    pool.execute(new Slice(done));
                }
                try {
                    done.await();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }
        }

        static final class Slice implements Runnable {
            private final CountDownLatch done;

            Slice(CountDownLatch done) {
                this.done = done;
            }

            @Override
            public void run() {
                while (Main.dip) {
                    Main.compute(100);
                }
                done.countDown();
            }
        }

        @Override
        void enter(int dip) {
            Main.dip = true;
            timer.schedule(new Compaction(), 0);
        }

        @Override
        void close() {
            pool.shutdown();
            timer.cancel();
        }
    }

    /** A lock that an auditor holds most of the time. Decoy: exceptions of the alarm, 150 ms later. */
    static final class Locked extends Scenario {
        private final Ledger ledger = new Ledger();

        Locked() {
            super("lock", "contention for the lock of Ledger");
        }

        static final class Ledger {
            synchronized void post() {
                Main.compute(5);
            }

            synchronized void audit() throws InterruptedException {
                Thread.sleep(20);
            }
        }

        @Override
        String prepare() {
            Main.inDips("auditor", () -> {
                ledger.audit();
                Thread.sleep(1);
            });
            return null;
        }

        @Override
        void enter(int dip) {
            Decoy.after(150, Main.DIP, "alarm", Decoy.exceptions());
        }

        @Override
        void work(boolean dip) {
            Main.compute(units);
            ledger.post();
        }
    }
}
