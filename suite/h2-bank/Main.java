import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * A bank in an in-memory H2 database: {@code Main THREADS ACCOUNTS REQUESTS PASSES}. Every request is one task
 * of a pool: transfers, and sometimes a sum over all accounts, PASSES times. The total never changes.
 */
public class Main {
    static final String URL = "jdbc:h2:mem:bank;DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=20000";

    static Connection connect() {
        try {
            return DriverManager.getConnection(URL);
        } catch (SQLException e) {
            throw new IllegalStateException("connecting to " + URL, e);
        }
    }

    static final ThreadLocal<Connection> CONNECTION = ThreadLocal.withInitial(Main::connect);

    /** Moves money between two accounts, lower number first so that no two requests wait for each other. */
    static class Transfer implements Callable<Object> {
        final int from;
        final int to;

        Transfer(int a, int b) {
            this.from = Math.min(a, b);
            this.to = Math.max(a, b);
        }

        public Object call() throws SQLException {
            Connection c = CONNECTION.get();
            c.setAutoCommit(false);
            try (PreparedStatement s = c.prepareStatement("update account set balance = balance + ? where id = ?")) {
                add(s, -1, from);
                add(s, 1, to);
                c.commit();
            } catch (SQLException e) {
                c.rollback();
                throw e;
            }
            return null;
        }

        static void add(PreparedStatement s, int amount, int id) throws SQLException {
            s.setInt(1, amount);
            s.setInt(2, id);
            s.executeUpdate();
        }
    }

    /** Sums all accounts, so many times. */
    static class Audit implements Callable<Object> {
        final int passes;

        Audit(int passes) {
            this.passes = passes;
        }

        public Object call() throws SQLException {
            long sum = 0;
            for (int pass = 0; pass < passes; pass++) {
                sum = sum(CONNECTION.get());
            }
            return sum;
        }

        static long sum(Connection c) throws SQLException {
            try (Statement s = c.createStatement();
                    ResultSet r = s.executeQuery("select sum(balance), count(distinct branch) from account")) {
                r.next();
                return r.getLong(1);
            }
        }
    }

    public static void main(String[] args) throws Exception {
        int threads = Integer.parseInt(args[0]);
        int accounts = Integer.parseInt(args[1]);
        int requests = Integer.parseInt(args[2]);
        int passes = Integer.parseInt(args[3]);
        try (Connection keep = connect(); Statement s = keep.createStatement()) {
            s.execute("create table account(id int primary key, branch int, balance bigint)");
            s.execute("insert into account select x, mod(x, 100), 1000 from system_range(1, " + accounts + ")");
            ExecutorService pool = Executors.newFixedThreadPool(threads);
            Random random = new Random(1);
            List<Future<Object>> results = new ArrayList<>();
            for (int i = 0; i < requests; i++) {
                results.add(pool.submit(i % 200 == 0 ? new Audit(passes)
                        : new Transfer(1 + random.nextInt(accounts), 1 + random.nextInt(accounts))));
            }
            for (Future<Object> f : results) {
                f.get();
            }
            pool.shutdown();
            pool.awaitTermination(1, TimeUnit.MINUTES);
            System.out.println("requests " + requests + " total kept "
                    + new Audit(1).call().equals(1000L * accounts));
        }
    }
}
