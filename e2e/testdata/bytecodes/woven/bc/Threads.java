package bc;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.CountDownLatch;

/** Executes the same work in several threads at once and prints what each counted. */
public final class Threads {
    private Threads() {}

    /** Collections, strings and a stream; nothing is shared. */
    private static int work() {
        Map<Integer, Integer> sums = new HashMap<>();
        for (int i = 0; i < 500; i++) {
            sums.merge(i * 7 % 61, i, Integer::sum);
        }
        List<String> names = new ArrayList<>();
        for (int key : sums.keySet()) {
            names.add("k" + key);
        }
        Collections.sort(names);
        return names.stream().mapToInt(String::length).sum() + sums.size();
    }

    private static void count(Set<Long> counts, int warm) {
        int sink = 0;
        for (int i = 0; i < warm; i++) {
            sink += work();
        }
        for (int i = 0; i < 10; i++) {
            long start = Stackagent.mark();
            sink += work();
            counts.add(Stackagent.mark() - start);
        }
        if (sink == 0) {
            throw new AssertionError();
        }
    }

    /** args: how often the work is done before it is counted, then numbers of threads; 0: a virtual thread. */
    public static void main(String[] args) throws Exception {
        int warm = Integer.parseInt(args[0]);
        for (int a = 1; a < args.length; a++) {
            int n = Integer.parseInt(args[a]);
            Set<Long> counts = new ConcurrentSkipListSet<>();
            CountDownLatch done = new CountDownLatch(Math.max(n, 1));
            Runnable body = () -> {
                count(counts, warm);
                done.countDown();
            };
            if (n == 0) {
                Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, body);
            }
            for (int i = 0; i < n; i++) {
                new Thread(body).start();
            }
            done.await();
            System.out.println(n + " " + counts);
        }
    }
}
