import java.math.BigInteger;
import java.time.LocalDate;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Properties;
import java.util.Timer;
import java.util.TimerTask;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/** Patterns of the paper on vertical profiling that are not dips: a gradual rise (section 4.1) and a period (4.5). */
final class InPaper {
    private InPaper() {
    }

    static List<Supplier<Scenario>> all() {
        return List.of(Steps::new, Rise::new, Period::new);
    }

    /** Each task uses another amount of heap for the first time (section 4.4). Without a stream. */
    static final class Steps extends Scenario {
        static final int STEPS = 20;

        Steps() {
            super("steps", "page faults on heap that was never used");
            perMilli = 0;
        }

        static final class Step implements Runnable {
            private final int megabytes;

            Step(int megabytes) {
                this.megabytes = megabytes;
            }

            @Override
            public void run() {
                for (int i = 0; i < megabytes * 16; i++) {
                    Main.sink += new byte[64 << 10].length;
                }
                try {
                    Thread.sleep(150); // the JVM updates what it says of the heap every 50 ms
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }
        }

        @Override
        void run() throws Exception {
            ExecutorService pool = Executors.newSingleThreadExecutor();
            List<Main.Stretch> steps = new ArrayList<>();
            for (int i = 0; i < STEPS; i++) {
                Main.Stretch s = new Main.Stretch();
                pool.submit(new Step(2 + i * 7 % STEPS * 5)).get();
                steps.add(s.end());
            }
            pool.shutdown();
            Main.truth(this, List.of(), steps);
        }
    }

    /** Much of the class library from a cold start: the JIT compiles it bit by bit. With -Xint there is nothing to rise. */
    static final class Rise extends Scenario {
        Rise() {
            super("rise", "code is compiled bit by bit");
            workers = 1;
            perMilli = 50;
            warmUp = 0;
        }

        @Override
        void work(boolean dip) throws Exception {
            long n = Main.finished.sum() % 1000;
            String text = String.format(Locale.ROOT, "%05d;%s;%x", n, LocalDate.ofEpochDay(n).format(DateTimeFormatter.ISO_DATE), n);
            TreeMap<String, Integer> words = new TreeMap<>();
            for (String word : Pattern.compile("[;-]").split(text)) {
                words.merge(word, word.length(), Integer::sum);
            }
            Properties p = new Properties();
            p.load(new java.io.StringReader("a=" + text + "\\nb=" + words));
            BigInteger big = new BigInteger("1" + n).pow(40).mod(BigInteger.valueOf(n + 7));
            int sum = IntStream.range(0, 50).boxed().sorted((a, b) -> b - a).mapToInt(i -> i).sum();
            Main.sink += big.intValue() + sum + p.size();
        }

        @Override
        void run() throws Exception {
            List<Main.Stretch> slow = List.of(Main.stretch(500));
            Thread.sleep(1500);
            Main.truth(this, List.of(Main.stretch(1500)), slow);
        }
    }

    /** Every half a second a timer has its own task, which holds a lock that the orders want for 100 ms. */
    static final class Period extends Scenario {
        static final int EVERY = 500, LASTS = 100;
        private final Object index = new Object();
        private final List<Main.Stretch> dips = new ArrayList<>();

        Period() {
            super("period", "a timer's task, Reindex");
        }

        final class Reindex extends TimerTask {
            @Override
            public void run() {
                Main.Stretch s = new Main.Stretch();
                synchronized (index) {
                    while (System.nanoTime() < s.from + LASTS * 1_000_000L) {
                        Main.compute(100);
                    }
                }
                dips.add(s.end());
            }
        }

        @Override
        void work(boolean dip) {
            Main.compute(units);
            synchronized (index) {
                Main.sink++;
            }
        }

        @Override
        void run() throws Exception {
            Timer timer = new Timer("index", true);
            timer.scheduleAtFixedRate(new Reindex(), 0, EVERY);
            Main.Stretch all = Main.stretch(4000);
            timer.cancel();
            Thread.sleep(LASTS + 50);
            Main.truth(this, List.of(all), dips);
        }
    }
}
