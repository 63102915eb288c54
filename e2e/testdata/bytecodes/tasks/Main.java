import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * args: THREADS TASKS. Tasks of ten sizes, whose instructions follow from the task's number alone:
 * collections, strings, exceptions, a task inside the task. Chance decides which thread runs which.
 */
public final class Main {
    private Main() {}

    static final class Inner implements Runnable {
        private final int size;
        int sum;

        Inner(int size) {
            this.size = size;
        }

        @Override
        public void run() {
            for (int i = 0; i < size * 37; i++) {
                sum += i % 7 == 0 ? i : -i;
            }
        }
    }

    static final class Job implements Callable<Integer> {
        private final int size;

        Job(int number) {
            this.size = number % 10 + 1;
        }

        @Override
        public Integer call() {
            Map<String, Integer> words = new HashMap<>();
            for (int i = 0; i < 50 * size; i++) {
                words.merge("w" + i % 13, i, Integer::sum);
            }
            List<Integer> values = new ArrayList<>(new TreeMap<>(words).values());
            values.sort(null);
            Inner inner = new Inner(size);
            inner.run();
            int sum = inner.sum;
            for (int v : values) {
                try {
                    sum += Math.floorDiv(v, v % 2);
                } catch (ArithmeticException e) {
                    sum--;
                }
            }
            return sum;
        }
    }

    public static void main(String[] args) throws Exception {
        int threads = Integer.parseInt(args[0]);
        int tasks = Integer.parseInt(args[1]);
        Callable<Integer> first = new Job(9);
        first.call(); // classes are initialised, call sites linked, before any other task
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        List<Future<Integer>> all = new ArrayList<>();
        for (int i = 0; i < tasks; i++) {
            all.add(pool.submit(new Job(i)));
        }
        long sum = 0;
        for (Future<Integer> f : all) {
            sum += f.get();
        }
        pool.shutdown();
        System.out.println(sum);
    }
}
