import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * Writers insert rows into an H2 database in memory, a task a row, and now and then an index is built, for which H2 locks the
 * table: {@code Main THREADS INDEXES PAUSE}. The program prints when each index was begun and done, by System.nanoTime.
 */
public class Main {
    static final String URL = "jdbc:h2:mem:entries;DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=20000";
    static final int PER_MILLI = 5;

    static final ThreadLocal<PreparedStatement> INSERT = ThreadLocal.withInitial(() -> {
        try {
            return DriverManager.getConnection(URL).prepareStatement("insert into entry values(?, ?, ?)");
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    });

    static volatile long asked;
    static volatile boolean ended;

    /** A row. */
    static final class Insert implements Runnable {
        final long id;
        final Semaphore free;

        Insert(long id, Semaphore free) {
            this.id = id;
            this.free = free;
        }

        @Override
        public void run() {
            try {
                PreparedStatement p = INSERT.get();
                p.setLong(1, id);
                p.setLong(2, id * 7919 % 1_000_003);
                p.setString(3, "entry " + id);
                p.execute();
            } catch (SQLException e) {
                throw new IllegalStateException(e);
            }
            free.release();
        }
    }

    /** A steady stream, as far as the writers keep up. */
    static void feed(ExecutorService pool, int threads) {
        Semaphore free = new Semaphore(threads * 4);
        try {
            for (long next = System.nanoTime(); !ended; next = Math.max(next + 1_000_000, System.nanoTime() - 1_000_000)) {
                for (int i = 0; i < PER_MILLI && free.tryAcquire(); i++) {
                    pool.execute(new Insert(asked++, free));
                }
                TimeUnit.NANOSECONDS.sleep(next + 1_000_000 - System.nanoTime());
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    public static void main(String[] args) throws Exception {
        int threads = Integer.parseInt(args[0]), indexes = Integer.parseInt(args[1]), pause = Integer.parseInt(args[2]);
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        try (Connection c = DriverManager.getConnection(URL); Statement s = c.createStatement()) {
            s.execute("create table entry(id bigint primary key, number bigint, body varchar)");
            s.execute("insert into entry select -x, mod(x * 7919, 1000003), 'entry' from system_range(1, 60000)");
            Thread feeder = new Thread(() -> feed(pool, threads), "feeder");
            feeder.start();
            Thread.sleep(1000L + pause);
            for (int i = 0; i < indexes; i++) {
                long from = System.nanoTime();
                s.execute("create index numbers on entry(number)");
                System.out.println("truth scenario=h2-index from_ns=" + from + " to_ns=" + System.nanoTime() + " cause=an index is built: writers wait for the table");
                s.execute("drop index numbers");
                Thread.sleep(pause);
            }
            ended = true;
            feeder.join();
            pool.shutdown();
            pool.awaitTermination(1, TimeUnit.MINUTES);
            var rows = s.executeQuery("select count(*) from entry where id >= 0");
            rows.next();
            System.out.println(rows.getLong(1) == asked ? "ok: all rows are there" : "rows are missing");
        }
    }
}
