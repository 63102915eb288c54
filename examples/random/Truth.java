import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * What the tasks measure of themselves. Their clock is System.nanoTime; how long a thread was on a CPU, and ready for one, is the kernel's
 * account. Each part has the least and the most that it can be: a thread may lose its CPU between a clock and what the clock is for.
 */
final class Truth {
    private Truth() {}

    enum Part { QUEUE, SLEEP, LOCK, PERMIT, ELEMENT, JOIN, READY, COMPUTE, OTHER }

    static final Queue<Run> runs = new ConcurrentLinkedQueue<>();

    /** What a thread used at a moment. */
    static final class Clocks {
        static final ThreadLocal<Clocks> ofThread = ThreadLocal.withInitial(Clocks::new);

        long at, cpu, ready;
        boolean hooked; // the pool says when it begins and has ended a task
        Run run; // that has not ended

        /** Reads them again if the thread lost its CPU in between: then they are not of one moment. */
        Clocks read() {
            int tries = 0;
            do {
                at = System.nanoTime();
                ready = delayed();
                cpu = THREADS.getCurrentThreadCpuTime();
            } while (System.nanoTime() - at > 100_000 && ++tries < 10);
            return this;
        }

        Clocks as(Clocks c) {
            at = c.at;
            cpu = c.cpu;
            ready = c.ready;
            return this;
        }

        /** How long it waited since: neither on a CPU nor ready for one. */
        long waited(Clocks now) { return now.at - at - (now.cpu - cpu) - (now.ready - ready); }

        static void begin() {
            Clocks c = ofThread.get();
            c.hooked = true;
            c.read();
        }

        static void end() {
            Clocks c = ofThread.get();
            c.run.left.read();
            c.run.count();
        }
    }

    /** A time in which something is waited for, or held. */
    record Span(Part part, Object what, long from, long to) {}

    /** An execution of a task, and what its time goes to. */
    static class Run {
        final Clocks begin = new Clocks().read(), end = new Clocks();
        final Clocks taken, left = new Clocks(); // by its pool, around the other two
        final Clocks before = new Clocks();
        final Thread thread = Thread.currentThread();
        final Main.Job job;
        final Main.Program program;
        final Run previous; // of the same task
        final long handedOver;
        final long[] waits = new long[Part.values().length];
        final List<Span> waited = new ArrayList<>(), held = new ArrayList<>();
        long handing; // waited while it handed others over

        Run(Main.Job job) {
            this.job = job;
            program = job.program;
            previous = job.previous;
            handedOver = job.handedOver;
            Clocks c = Clocks.ofThread.get();
            if (!c.hooked && c.run != null) { c.run.left.as(begin); } // at the latest
            c.run = this;
            taken = new Clocks().as(c.hooked ? c : begin);
        }

        void end() {
            end.read();
            left.as(end);
            if (!Clocks.ofThread.get().hooked) { count(); }
        }

        void count() {
            runs.add(this);
            program.left.countDown();
        }

        /** How much later than handedOver it may have been handed over. */
        long late() {
            if (job.kind.how == Main.HandOver.GAP && previous != null) { return previous.left.at - previous.end.at; }
            return Math.min(job.submitted - job.submits, begin.at - handedOver);
        }

        void before() { before.read(); }

        /** What passed since before() is a wait, but for the time on a CPU or ready for one. */
        void after(Part p, Object what) {
            long ns = before.waited(new Clocks().read());
            waits[p.ordinal()] += ns;
            if (what != null) { waited.add(new Span(p, what, before.at, before.at + ns)); } // it is ready after that
        }

        void afterHandOver() { handing += before.waited(new Clocks().read()); }

        void held(Object what, long since) { held.add(new Span(null, what, since, System.nanoTime())); }

        Object pool() { return program.pools.get(job.kind.pool); }

        /** When its worker was in it, by what it knows itself (0) or what its pool knows (1). */
        long from(int by) { return (by == 0 ? begin : taken).at; }

        long to(int by) { return (by == 0 ? end : left).at; }

        /** Adds its parts if it was in the queue until then, and ran from one moment to the other. */
        void addTo(long[] parts, long queued, Clocks from, Clocks to) {
            long rest = to.at - from.at;
            for (int i = 0; i < waits.length; i++) {
                parts[i] += waits[i];
                rest -= waits[i];
            }
            parts[Part.QUEUE.ordinal()] += queued;
            parts[Part.READY.ordinal()] += to.ready - from.ready;
            parts[Part.COMPUTE.ordinal()] += to.cpu - from.cpu;
            parts[Part.OTHER.ordinal()] += rest - (to.ready - from.ready) - (to.cpu - from.cpu);
        }
    }

    static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    /** The kernel's account of how long this thread was ready for a CPU, in ns; 0 where there is none. */
    static long delayed() {
        RandomAccessFile f = SCHEDULED.get();
        if (f == null) { return 0; }
        try {
            byte[] b = new byte[64];
            f.seek(0);
            int n = f.read(b), i = 0;
            while (i < n && b[i] != ' ') { i++; }
            long ns = 0;
            for (i++; i < n && b[i] != ' '; i++) { ns = 10 * ns + b[i] - '0'; }
            return ns;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static final ThreadLocal<RandomAccessFile> SCHEDULED = ThreadLocal.withInitial(() -> {
        try {
            return new RandomAccessFile("/proc/thread-self/schedstat", "r");
        } catch (IOException e) {
            return null;
        }
    });

    /**
     * Who had what the units of a class waited for: by the class of the holder, in ns of the waits. Null where several may have it at once,
     * or where some wait for it until a time limit: nobody records who gives a lock back that nobody waits for any more.
     */
    static Map<String, Long> holders(List<Run> of, List<Run> all) {
        Map<String, Long> sum = new TreeMap<>();
        for (Run r : of) {
            for (Span w : r.waited) {
                if (w.part != Part.LOCK) { continue; }
                if (w.what instanceof ReentrantReadWriteLock || r.program.limited.contains(w.what)) { return null; }
                for (Run x : all) {
                    for (Span h : x.held) {
                        if (h.what == w.what) { add(sum, x.job.getClass().getName(), Math.min(w.to, h.to) - Math.max(w.from, h.from)); }
                    }
                }
            }
        }
        return sum;
    }

    static void add(Map<String, Long> sum, String name, long ns) {
        if (ns > 0) { sum.merge(name, ns, Long::sum); }
    }

    /**
     * What the workers did while the units of a class were in their queue: by the class of the unit in which a worker is. Each worker
     * counts the same, from its first unit to its last.
     */
    static Map<String, Long> workers(List<Run> of, List<Run> all, int by) {
        if (of.get(0).pool() instanceof ForkJoinPool) { return null; }
        Map<Thread, long[]> lives = new HashMap<>();
        for (Run x : all) {
            if (x.pool() != of.get(0).pool()) { continue; }
            long[] life = lives.computeIfAbsent(x.thread, t -> new long[] {x.from(by), x.to(by)});
            life[0] = Math.min(life[0], x.from(by));
            life[1] = Math.max(life[1], x.to(by));
        }
        Map<String, Long> sum = new TreeMap<>();
        for (Run r : of) {
            List<Long> cuts = new ArrayList<>(List.of(r.handedOver, r.from(by)));
            for (long[] life : lives.values()) {
                for (long at : life) {
                    if (at > r.handedOver && at < r.from(by)) { cuts.add(at); }
                }
            }
            cuts.sort(null);
            for (int i = 1; i < cuts.size(); i++) { share(sum, cuts.get(i - 1), cuts.get(i), r.pool(), lives, all, by); }
        }
        return sum;
    }

    /** Divides a time between the workers that a pool has in it. */
    static void share(Map<String, Long> sum, long from, long to, Object pool, Map<Thread, long[]> lives, List<Run> all, int by) {
        int workers = 0;
        for (long[] life : lives.values()) { workers += life[0] <= from && to <= life[1] ? 1 : 0; }
        long idle = to - from;
        for (Run x : all) {
            long ns = workers == 0 || x.pool() != pool ? 0 : (Math.min(to, x.to(by)) - Math.max(from, x.from(by))) / workers;
            add(sum, x.job.getClass().getName(), ns);
            idle -= Math.max(0, ns);
        }
        add(sum, "idle", idle);
    }

    static void print(int place, int kind, String seed) {
        long[] least = new long[Part.values().length], most = new long[least.length];
        long handing = 0;
        List<Run> of = new ArrayList<>(), all = new ArrayList<>();
        for (Run r : runs) {
            if (r.program.place != place) { continue; }
            all.add(r);
            if (r.job.kind.number != kind) { continue; }
            of.add(r);
            handing += r.handing;
            r.addTo(least, r.taken.at - r.handedOver - r.late(), r.begin, r.end);
            r.addTo(most, r.begin.at - r.handedOver, r.taken, r.left);
        }
        if (of.isEmpty()) { return; }
        StringBuilder b = new StringBuilder("{\"seed\":" + seed + ",\"class\":\"" + of.get(0).job.getClass().getName() + "\",\"how\":\"" + of.get(0).pool().getClass().getSimpleName() + " "
                + of.get(0).job.kind.how + "\",\"units\":" + of.size() + ",\"handing_ns\":" + handing + ",\"parts\":{");
        for (Part p : Part.values()) {
            long x = least[p.ordinal()], y = most[p.ordinal()];
            b.append(p.ordinal() > 0 ? "," : "").append('"').append(p.name().toLowerCase()).append("\":[").append(Math.min(x, y)).append(',').append(Math.max(x, y)).append(']');
        }
        b.append("},\"behind\":{");
        Map<String, Long> holders = holders(of, all);
        behind(b, "lock", holders, holders);
        behind(b, "queue", workers(of, all, 0), workers(of, all, 1));
        if (b.charAt(b.length() - 1) == ',') { b.setLength(b.length() - 1); }
        System.out.println(b.append("}}"));
    }

    /** Adds each class's share of the sum, by one account and by the other. */
    static void behind(StringBuilder b, String part, Map<String, Long> one, Map<String, Long> other) {
        if (one == null || one.isEmpty() || other.isEmpty()) { return; }
        double sum = one.values().stream().mapToLong(n -> n).sum(), otherSum = other.values().stream().mapToLong(n -> n).sum();
        b.append('"').append(part).append("\":{");
        one.keySet().forEach(name -> other.putIfAbsent(name, 0L));
        other.forEach((name, ns) -> {
            double x = one.getOrDefault(name, 0L) / sum, y = ns / otherSum;
            b.append('"').append(name).append("\":[").append(Math.min(x, y)).append(',').append(Math.max(x, y)).append("],");
        });
        b.setCharAt(b.length() - 1, '}');
        b.append(',');
    }
}
