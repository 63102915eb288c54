import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Random;
import java.util.concurrent.Callable;

/** A transaction of TPC-C, with a connection for each thread. One that meets a deadlock is rolled back and done again. */
abstract class Transaction implements Callable<Void> {
    private static final int TRIES = 50;

    private final long seed;
    Connection c;

    Transaction(long seed) {
        this.seed = seed;
    }

    abstract void run(Random r) throws SQLException;

    @Override
    public final Void call() throws SQLException {
        c = Main.CONNECTION.get();
        for (int i = 1;; i++) {
            try {
                run(new Random(seed));
                c.commit();
                return null;
            } catch (SQLException e) {
                c.rollback();
                boolean again = "40001".equals(e.getSQLState()) || "HYT00".equals(e.getSQLState());
                if (!again || i == TRIES) {
                    throw e;
                }
            }
        }
    }

    private PreparedStatement prepare(String sql, Object[] args) throws SQLException {
        PreparedStatement s = c.prepareStatement(sql);
        for (int i = 0; i < args.length; i++) {
            s.setObject(i + 1, args[i]);
        }
        return s;
    }

    void update(String sql, Object... args) throws SQLException {
        try (PreparedStatement s = prepare(sql, args)) {
            s.executeUpdate();
        }
    }

    /** The first column of the first row, null if there is none. */
    Object first(String sql, Object... args) throws SQLException {
        try (PreparedStatement s = prepare(sql, args); ResultSet r = s.executeQuery()) {
            return r.next() ? r.getObject(1) : null;
        }
    }

    int number(String sql, Object... args) throws SQLException {
        return ((Number) first(sql, args)).intValue();
    }

    /** A number that is not uniform, as the standard wants it. */
    static int skewed(Random r, int a, int n) {
        return 1 + ((r.nextInt(a + 1) | r.nextInt(n)) % n);
    }
}
