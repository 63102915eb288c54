package com.acme;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Future;
import java.util.concurrent.RecursiveTask;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/** Benchmarks with known numbers of tasks per operation. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@Fork(1)
@Warmup(iterations = 1, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 2, time = 300, timeUnit = TimeUnit.MILLISECONDS)
public class Tasks {
    private final ExecutorService pool = Executors.newFixedThreadPool(2);
    private final ForkJoinPool forkJoin = new ForkJoinPool(2);

    static final class Sum extends RecursiveTask<Integer> {
        private final int depth;

        Sum(int depth) {
            this.depth = depth;
        }

        @Override
        protected Integer compute() {
            if (depth == 0) {
                return 1;
            }
            Sum left = new Sum(depth - 1);
            Sum right = new Sum(depth - 1);
            left.fork();
            return right.compute() + left.join();
        }
    }

    static final class Job implements Runnable {
        volatile int runs;

        @Override
        public void run() {
            runs++;
        }
    }

    /** A tree of depth 5: 63 calls of compute. */
    @Benchmark
    public int tree() {
        return forkJoin.invoke(new Sum(5));
    }

    /** 20 jobs in an operation. */
    @Benchmark
    public void jobs() throws Exception {
        submit(20);
    }

    /** 20 jobs in 10 operations. */
    @Benchmark
    @OperationsPerInvocation(10)
    public void batch() throws Exception {
        submit(20);
    }

    private void submit(int jobs) throws Exception {
        List<Future<?>> all = new ArrayList<>();
        for (int i = 0; i < jobs; i++) {
            all.add(pool.submit(new Job()));
        }
        for (Future<?> f : all) {
            f.get();
        }
    }

    @TearDown
    public void end() {
        pool.shutdown();
        forkJoin.shutdown();
    }
}
