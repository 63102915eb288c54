import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Supplier;

/** What a plug-in does: 10 tasks of a class, 10 lambdas, 10 in a pool; it returns how many have run. */
public final class Plugin implements Supplier<Integer> {
    int ran;

    /** A task. */
    public static class Job implements Runnable {
        private final Plugin of;

        /** A task of a plug-in. */
        public Job(Plugin of) {
            this.of = of;
        }

        @Override
        public void run() {
            of.ran++;
        }
    }

    /** A task whose superclass holds no id. */
    public static final class SpecialJob extends Job {
        /** Makes a task of the plug-in of. */
        public SpecialJob(Plugin of) {
            super(of);
        }
    }

    @Override
    public Integer get() {
        ExecutorService pool = Executors.newSingleThreadExecutor();
        try {
            List<Future<?>> all = new ArrayList<>();
            for (int i = 0; i < 10; i++) {
                new Job(this).run();
                Runnable r = () -> ran++;
                r.run();
                all.add(pool.submit(new SpecialJob(this)));
                for (Future<?> f : all) {
                    f.get();
                }
            }
            return ran;
        } catch (Exception e) {
            throw new IllegalStateException(e);
        } finally {
            pool.shutdown();
        }
    }
}
