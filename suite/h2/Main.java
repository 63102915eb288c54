import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * The load of TPC-C on a database in memory: {@code Main THREADS ITERATIONS PASSES WAREHOUSES TRANSACTIONS}. A task is a transaction
 * in the standard's mix; StockLevel, the longest query, is done PASSES times. The standard's conditions of consistency are checked
 * after each iteration. The tables are a tenth of the standard's.
 */
public class Main {
    static final String URL = "jdbc:h2:mem:tpcc;DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=20000";

    static final ThreadLocal<Connection> CONNECTION = ThreadLocal.withInitial(Main::connect);

    static Connection connect() {
        try {
            Connection c = DriverManager.getConnection(URL);
            c.setAutoCommit(false);
            return c;
        } catch (SQLException e) {
            throw new IllegalStateException("connecting to " + URL, e);
        }
    }

    static Callable<Void> transaction(Random r, int warehouses, int passes) {
        int w = 1 + r.nextInt(warehouses), d = 1 + r.nextInt(Tables.DISTRICTS), dice = r.nextInt(100);
        long seed = r.nextLong();
        if (dice < 45) {
            return new Transactions.NewOrder(w, d, seed, warehouses);
        } else if (dice < 88) {
            return new Transactions.Payment(w, d, seed);
        } else if (dice < 92) {
            return new Transactions.OrderStatus(w, d, seed);
        } else if (dice < 96) {
            return new Transactions.Delivery(w, seed);
        }
        return new Transactions.StockLevel(w, d, seed, passes);
    }

    public static void main(String[] args) throws Exception {
        int warehouses = Integer.parseInt(args[3]), transactions = Integer.parseInt(args[4]), passes = Integer.parseInt(args[2]);
        ExecutorService pool = Executors.newFixedThreadPool(Integer.parseInt(args[0]));
        try (Connection c = connect(); Statement s = c.createStatement()) {
            Tables.create(s, warehouses);
            c.commit();
            Iterations.run(Integer.parseInt(args[1]), i -> {
                Random random = new Random(i);
                List<Future<Void>> results = new ArrayList<>();
                for (int t = 0; t < transactions; t++) {
                    results.add(pool.submit(transaction(random, warehouses, passes)));
                }
                for (Future<Void> f : results) {
                    f.get();
                }
                Tables.check(s);
                c.commit();
            });
        }
        pool.shutdown();
        Iterations.ok("the tables are consistent");
    }
}
