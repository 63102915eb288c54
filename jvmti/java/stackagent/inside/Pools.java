package stackagent.inside;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ThreadPoolExecutor;

/** Thread pools of the JDK, of its subclasses too. */
final class Pools extends Source {
    private final Followed pools;

    Pools(int slot) {
        super("pools");
        pools = new Followed(slot);
    }

    @Override
    Map<Object, Item> find() {
        Map<Object, Item> found = new HashMap<>();
        for (Followed.One one : pools.now()) {
            Object pool = one.get();
            if (pool != null) {
                found.put(one, items.containsKey(one) ? null : new Pool(one, name(pool, one.number), pool instanceof ThreadPoolExecutor));
            }
        }
        return found;
    }

    private static String name(Object pool, int number) {
        if (pool instanceof ForkJoinPool && pool == ForkJoinPool.commonPool()) {
            return "common pool";
        }
        String name = pool.getClass().getName();
        return name.substring(name.lastIndexOf('.') + 1) + "-" + number;
    }

    private static final class Pool extends Item {
        private final Followed.One one;

        Pool(Followed.One one, String name, boolean counts) {
            super("pool " + name, declare(name, "threads", false), declare(name, "active", false), declare(name, "queued", false), counts ? declare(name, "completed", true) : NONE);
            this.one = one;
        }

        private static int declare(String pool, String what, boolean counter) {
            return Reader.declare(Reader.labelled("pool." + what, Arrays.asList("pool", pool)), "framework", what.equals("threads") || what.equals("active") ? "threads" : "tasks",
                    counter, "inside", "");
        }

        @Override
        boolean alive() {
            return !one.refersTo(null);
        }

        @Override
        void read(double[] values) {
            Object pool = one.get();
            Arrays.fill(values, Double.NaN);
            if (pool instanceof ThreadPoolExecutor) {
                ThreadPoolExecutor p = (ThreadPoolExecutor) pool;
                values[0] = p.getPoolSize();
                values[1] = p.getActiveCount();
                values[2] = p.getQueue().size();
                values[3] = p.getCompletedTaskCount();
            } else if (pool instanceof ForkJoinPool) {
                ForkJoinPool p = (ForkJoinPool) pool;
                values[0] = p.getPoolSize();
                values[1] = p.getActiveThreadCount();
                values[2] = p.getQueuedTaskCount() + p.getQueuedSubmissionCount();
            }
        }
    }
}
