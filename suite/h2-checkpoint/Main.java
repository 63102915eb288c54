import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.Statement;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * Writers insert rows into an H2 database on disk, a task a row, while one thread asks for a checkpoint every PAUSE milliseconds:
 * {@code Main THREADS CHECKPOINTS PAUSE}. H2 writes what changed and syncs its file, and writers wait. The program prints
 * when each checkpoint began and ended, by System.nanoTime.
 */
public class Main {
    static String url;
    static final ThreadLocal<PreparedStatement> INSERT = new ThreadLocal<>();

    /** A row. */
    static final class Insert implements Callable<Void> {
        final long id;
        final Semaphore free;

        Insert(long id, Semaphore free) {
            this.id = id;
            this.free = free;
        }

        @Override
        public Void call() throws Exception {
            try {
                if (INSERT.get() == null) {
                    INSERT.set(DriverManager.getConnection(url).prepareStatement("insert into entry values(?, ?, ?)"));
                }
                PreparedStatement p = INSERT.get();
                p.setLong(1, id * 7919 % 1_000_003 * 1_000_000 + id); // all over the index
                p.setLong(2, id);
                p.setBytes(3, new byte[2000]);
                p.execute();
            } finally {
                free.release();
            }
            return null;
        }
    }

    public static void main(String[] args) throws Exception {
        int threads = Integer.parseInt(args[0]), checkpoints = Integer.parseInt(args[1]), pause = Integer.parseInt(args[2]);
        Path folder = Files.createTempDirectory(Path.of("."), "h2-checkpoint");
        url = "jdbc:h2:file:" + folder.resolve("data") + ";WRITE_DELAY=60000;AUTO_COMPACT_FILL_RATE=0";
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        try (Connection c = DriverManager.getConnection(url); Statement s = c.createStatement()) {
            s.execute("create table entry(id bigint primary key, number bigint, body varbinary)");
            Thread feeder = new Thread(() -> feed(pool, threads), "feeder");
            feeder.start();
            Thread.sleep(2000L + pause);
            for (int i = 0; i < checkpoints; i++) {
                long from = System.nanoTime();
                s.execute("checkpoint sync");
                System.out.println("truth scenario=h2-checkpoint from_ns=" + from + " to_ns=" + System.nanoTime()
                        + " cause=a checkpoint writes and syncs the database");
                Thread.sleep(pause);
            }
            feeder.interrupt();
            feeder.join();
            pool.shutdown();
            pool.awaitTermination(1, TimeUnit.MINUTES);
            var rows = s.executeQuery("select count(*) from entry");
            rows.next();
            System.out.println(rows.getLong(1) == fed ? "ok, all rows are there" : "rows are missing");
        }
        Scratch.delete(folder);
    }

    static volatile long fed;

    static void feed(ExecutorService pool, int threads) {
        Semaphore free = new Semaphore(threads * 4);
        try {
            for (long n = 0; ; n++) {
                free.acquire();
                pool.submit(new Insert(n, free));
                fed = n + 1;
            }
        } catch (InterruptedException e) {
            return;
        }
    }
}
