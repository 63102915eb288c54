import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * A warm-up that is known: iterations of five jobs on a pool of two. A job of iteration 1, 2, 3 computes until it has had 36, 24, 18 ms
 * of CPU time, one of iterations 4 to 8 until it has had 12. So the program is warm from iteration 4, and the jobs lose
 * 5 * (24 + 12 + 6) = 210 ms. The call in step() reaches one class in iterations 1 and 2, another in 3 and 4, a third from 5 on: the
 * compiler's guess is wrong in 3 and in 5. Each iteration ends with a line: its number, System.nanoTime(), and the CPU time of its jobs. Before each one the
 * program sleeps for a moment, in which its line gets read.
 */
public class Main {
    interface Shape {
        double area(double x);
    }

    static class Square implements Shape {
        public double area(double x) {
            return x * x % 1000;
        }
    }

    static class Circle implements Shape {
        public double area(double x) {
            return 3.14 * x % 1000;
        }
    }

    static class Line implements Shape {
        public double area(double x) {
            return x % 1000 - 1;
        }
    }

    static final ThreadMXBean BEAN = ManagementFactory.getThreadMXBean();
    static final int[] MILLIS = {36, 24, 18, 12, 12, 12, 12, 12};
    static final Shape[] SHAPES = {new Square(), new Circle(), new Line()};
    static volatile double sink;

    static double step(Shape shape, double x) {
        for (int i = 0; i < 20_000; i++) {
            x = shape.area(x + i);
        }
        return x;
    }

    static class Job implements Runnable {
        final long nanos;
        final Shape shape;
        long had;

        Job(int iteration) {
            nanos = MILLIS[iteration] * 1_000_000L;
            shape = SHAPES[Math.min(iteration / 2, 2)];
        }

        public void run() {
            long begin = BEAN.getCurrentThreadCpuTime();
            do {
                sink += step(shape, 1);
                had = BEAN.getCurrentThreadCpuTime() - begin;
            } while (had < nanos);
        }
    }

    /** Without the operator +, whose first use takes long: the line follows its time at once. */
    static void print(int iteration, long had) {
        StringBuilder line = new StringBuilder("done ").append(iteration).append(' ');
        long now = System.nanoTime();
        line.append(now).append(' ').append(had);
        if (iteration > 0) {
            System.out.println(line);
        }
    }

    public static void main(String[] args) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        print(0, 0);
        System.out.println(new StringBuilder("begin ").append(System.nanoTime()));
        for (int k = 0; k < MILLIS.length; k++) {
            Thread.sleep(30);
            List<Job> jobs = new ArrayList<>();
            List<Future<?>> ends = new ArrayList<>();
            for (int i = 0; i < 5; i++) {
                jobs.add(new Job(k));
                ends.add(pool.submit(jobs.get(i)));
            }
            long had = 0;
            for (int i = 0; i < 5; i++) {
                ends.get(i).get();
                had += jobs.get(i).had;
            }
            print(k + 1, had);
        }
        pool.shutdown();
    }
}
