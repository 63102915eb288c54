import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Future;
import java.util.concurrent.RecursiveTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

/**
 * Parallel work in a process that is unusual in one way; main lists the modes. Each line "count CLASS N" is the number
 * of executions of the class.
 */
public class Main {
    public static final LongAdder jobs = new LongAdder();
    static final LongAdder asks = new LongAdder();
    static final LongAdder sums = new LongAdder();
    static final LongAdder starters = new LongAdder();

    static class Job implements Runnable {
        @Override
        public void run() {
            jobs.increment();
        }
    }

    static class Ask implements Callable<Integer> {
        final int n;

        Ask(int n) {
            this.n = n;
        }

        @Override
        public Integer call() {
            asks.increment();
            if (n % 16 == 0) {
                throw new IllegalStateException("asked too much");
            }
            return n;
        }
    }

    static class Sum extends RecursiveTask<Integer> {
        private static final long serialVersionUID = 1;
        final int n;

        Sum(int n) {
            this.n = n;
        }

        @Override
        protected Integer compute() {
            sums.increment();
            if (n < 2) {
                return n;
            }
            Sum left = new Sum(n - 1);
            Sum right = new Sum(n - 2);
            right.fork();
            return left.invoke() + right.join();
        }
    }

    static class Starter extends Thread {
        @Override
        public void run() {
            starters.increment();
            new Job().run();
        }
    }

    /** Takes all memory that is left. */
    static class Glutton implements Callable<Integer> {
        @Override
        public Integer call() {
            List<byte[]> eaten = new ArrayList<>();
            while (true) {
                eaten.add(new byte[128 << 10]);
            }
        }
    }

    /** Calls itself until there is no stack left. */
    static class Deep implements Runnable {
        @Override
        public void run() {
            new Deep().run();
        }
    }

    /** Waits until all tasks of its class have begun. */
    static class Standing extends Thread {
        final CountDownLatch begun;
        final CountDownLatch go;

        Standing(CountDownLatch begun, CountDownLatch go) {
            super(null, null, "standing", 64 << 10);
            this.begun = begun;
            this.go = go;
        }

        @Override
        public void run() {
            begun.countDown();
            try {
                go.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            new Job().run();
        }
    }

    /** Ends the process while others work. */
    static class Ending implements Runnable {
        final String how;
        final int code;

        Ending(String how, int code) {
            this.how = how;
            this.code = code;
        }

        @Override
        public void run() {
            switch (how) {
                case "exit" -> System.exit(code);
                case "halt" -> Runtime.getRuntime().halt(code);
                default -> kill();
            }
        }

        static void kill() {
            try {
                new ProcessBuilder("kill", "-9", Long.toString(ProcessHandle.current().pid())).start().waitFor();
                Thread.sleep(60_000);
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }
    }

    /** Defines its classes itself, each time anew. */
    static class Fresh extends ClassLoader {
        Fresh() {
            super(Main.class.getClassLoader());
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.equals("Main$Passing")) {
                return super.loadClass(name, resolve);
            }
            try (InputStream in = Main.class.getResourceAsStream("Main$Passing.class")) {
                byte[] b = in.readAllBytes();
                return defineClass(name, b, 0, b.length);
            } catch (java.io.IOException e) {
                throw new ClassNotFoundException(name, e);
            }
        }
    }

    public static class Passing implements Runnable {
        final Runnable inside;

        public Passing() {
            this(null);
        }

        public Passing(Runnable inside) {
            this.inside = inside;
        }

        @Override
        public void run() {
            jobs.increment();
            if (inside != null) {
                inside.run();
            }
        }
    }

    static void work(int n) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(3);
        List<Future<Integer>> asked = new ArrayList<>();
        int refused = 0;
        for (int i = 0; i < n; i++) {
            pool.execute(new Job());
            if (i % 2 == 0) {
                asked.add(pool.submit(new Ask(i)));
            }
            if (i % 4 == 0) {
                int k = i;
                asked.add(pool.submit(() -> k));
            }
        }
        for (Future<Integer> f : asked) {
            try {
                f.get();
            } catch (ExecutionException e) {
                refused++;
            }
        }
        pool.shutdown();
        pool.awaitTermination(1, TimeUnit.MINUTES);
        int sum = new ForkJoinPool(2).invoke(new Sum(12));
        for (int i = 0; i < 4; i++) {
            Starter s = new Starter();
            s.start();
            s.join();
        }
        System.out.println("refused " + refused + " sum " + sum);
    }

    static void count() {
        System.out.println("count Main$Job " + jobs.sum());
        System.out.println("count Main$Ask " + asks.sum());
        System.out.println("count Main$Sum " + sums.sum());
        System.out.println("count Main$Starter " + starters.sum());
    }

    static void oom(int n) throws Exception {
        ExecutorService pool = Executors.newSingleThreadExecutor();
        int oom = 0;
        for (int i = 0; i < n; i++) {
            try {
                pool.submit(new Glutton()).get();
            } catch (ExecutionException e) {
                oom += e.getCause() instanceof OutOfMemoryError ? 1 : 0;
            }
            pool.submit(new Job()).get();
        }
        pool.shutdown();
        System.out.println("out of memory " + oom);
        System.out.println("count Main$Glutton " + n);
        System.out.println("count Main$Job " + jobs.sum());
    }

    static void deep(int n) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        int overflown = 0;
        for (int i = 0; i < n; i++) {
            try {
                pool.submit(new Deep()).get();
            } catch (ExecutionException e) {
                overflown += e.getCause() instanceof StackOverflowError ? 1 : 0;
            }
            pool.submit(new Job()).get();
        }
        pool.shutdown();
        System.out.println("no stack " + overflown);
        System.out.println("count Main$Job " + jobs.sum());
    }

    static void threads(int n) throws Exception {
        CountDownLatch begun = new CountDownLatch(n);
        CountDownLatch go = new CountDownLatch(1);
        List<Thread> all = new ArrayList<>();
        for (int i = 0; i < n; i++) {
            all.add(new Standing(begun, go));
            all.get(i).start();
        }
        begun.await();
        go.countDown();
        for (Thread t : all) {
            t.join();
        }
        System.out.println("count Main$Standing " + n);
        System.out.println("count Main$Job " + jobs.sum());
    }

    static void end(String how, int code) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(3);
        for (int i = 0; i < 20_000; i++) {
            pool.execute(new Job());
        }
        pool.execute(new Ending(how, code));
        while (true) {
            pool.execute(new Job());
            Thread.sleep(0, 1000);
        }
    }

    static void loaders(int n) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        for (int i = 0; i < n; i++) {
            Runnable r = (Runnable) new Fresh().loadClass("Main$Passing").getDeclaredConstructor().newInstance();
            pool.submit(r).get();
            if (i % 100 == 99) {
                System.gc();
            }
        }
        pool.shutdown();
        System.out.println("count Main$Passing " + jobs.sum());
    }

    /** Throws ThreadDeath into threads that execute tasks, wherever they are (until JDK 19). */
    static void stop(int n) throws Exception {
        LongAdder died = new LongAdder();
        for (int i = 0; i < n; i++) {
            CountDownLatch begun = new CountDownLatch(1);
            Thread t = new Thread(() -> {
                begun.countDown();
                while (true) {
                    new Job().run();
                }
            });
            t.setUncaughtExceptionHandler((thread, e) -> died.increment());
            t.start();
            begun.await();
            Thread.sleep(i % 3);
            Thread.class.getMethod("stop").invoke(t);
            t.join();
        }
        System.out.println("died " + died.sum());
        work(100);
    }

    /** Called by native threads. */
    static void job() {
        new Job().run();
    }

    static native void attached(int threads, int times, boolean leaving);

    static void natives(String library, int n) {
        System.load(library);
        attached(4, n, true);
        attached(n, 1, false);
        System.out.println("count Main$Job " + jobs.sum());
    }

    /** Works until a line is read. */
    static void load() throws Exception {
        LongAdder wrong = new LongAdder();
        Thread[] all = new Thread[3];
        boolean[] over = {false};
        for (int i = 0; i < all.length; i++) {
            all[i] = new Thread(() -> {
                try {
                    for (boolean end = false; !end;) {
                        ExecutorService pool = Executors.newFixedThreadPool(2);
                        for (int k = 1; k <= 100; k++) {
                            pool.execute(new Job());
                            if (pool.submit(new Ask(17 * k + 1 - k % 2)).get() < 0) {
                                wrong.increment();
                            }
                        }
                        pool.shutdown();
                        pool.awaitTermination(1, TimeUnit.MINUTES);
                        Nestings.fresh(new Nestings.Deep(100, false)).run();
                        synchronized (over) {
                            end = over[0];
                        }
                    }
                } catch (ExecutionException e) {
                    if (!(e.getCause() instanceof IllegalStateException)) {
                        wrong.increment();
                        e.printStackTrace();
                    }
                } catch (Throwable e) {
                    wrong.increment();
                    e.printStackTrace();
                }
            });
            all[i].start();
        }
        System.out.println("ready");
        System.in.read();
        synchronized (over) {
            over[0] = true;
        }
        for (Thread t : all) {
            t.join();
        }
        System.out.println("wrong " + wrong.sum());
    }

    public static void main(String[] args) throws Exception {
        int n = args.length > 1 ? Integer.parseInt(args[1]) : 0;
        switch (args[0]) {
            case "work" -> {
                work(n);
                count();
            }
            case "oom" -> oom(n);
            case "deep" -> deep(n);
            case "nested" -> Nestings.run(n, args.length > 2);
            case "threads" -> threads(n);
            case "loaders" -> loaders(n);
            case "stop" -> stop(n);
            case "natives" -> natives(args[2], n);
            case "load" -> load();
            case "eat" -> System.out.println(new Glutton().call());
            default -> end(args[0], n);
        }
        String neighbour = System.getProperty("neighbour.saw");
        if (neighbour != null) {
            System.out.println("the neighbour saw " + Class.forName("Neighbour").getMethod("seen").invoke(null));
        }
    }
}
