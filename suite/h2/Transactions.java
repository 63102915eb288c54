import java.math.BigDecimal;
import java.sql.SQLException;
import java.util.Random;

/** The five transactions of TPC-C. */
final class Transactions {
    private Transactions() {
    }

    static final class NewOrder extends Transaction {
        private final int w, d, warehouses;

        NewOrder(int w, int d, long seed, int warehouses) {
            super(seed);
            this.w = w;
            this.d = d;
            this.warehouses = warehouses;
        }

        @Override
        void run(Random r) throws SQLException {
            int customer = skewed(r, 1023, Tables.CUSTOMERS), lines = 5 + r.nextInt(11);
            boolean wrong = r.nextInt(100) == 0; // one in a hundred has an item that does not exist and is rolled back
            update("update district set d_next_o_id = d_next_o_id + 1 where d_w_id = ? and d_id = ?", w, d);
            int order = number("select d_next_o_id - 1 from district where d_w_id = ? and d_id = ?", w, d);
            update("insert into orders values(?, ?, ?, ?, null, ?)", w, d, order, customer, lines);
            update("insert into new_order values(?, ?, ?)", w, d, order);
            int item = 0;
            for (int i = 1; i <= lines; i++) {
                item = Math.min(Tables.ITEMS, item + 1 + r.nextInt(Tables.ITEMS / 16)); // ascending: no deadlocks over stock
                line(r, order, i, wrong && i == lines ? -1 : item);
            }
        }

        private void line(Random r, int order, int number, int item) throws SQLException {
            BigDecimal price = (BigDecimal) first("select i_price from item where i_id = ?", item);
            if (price == null) {
                c.rollback();
                return;
            }
            int from = warehouses > 1 && r.nextInt(100) == 0 ? 1 + r.nextInt(warehouses) : w, quantity = 1 + r.nextInt(10);
            update("update stock set s_quantity = case when s_quantity >= ? + 10 then s_quantity - ? else s_quantity - ? + 91 end, s_ytd = s_ytd + ?,"
                + " s_orders = s_orders + 1 where s_w_id = ? and s_i_id = ?", quantity, quantity, quantity, quantity, from, item);
            update("insert into order_line values(?, ?, ?, ?, ?, ?, ?)", w, d, order, number, item, quantity, price.multiply(BigDecimal.valueOf(quantity)));
        }
    }

    static final class Payment extends Transaction {
        private final int w, d;

        Payment(int w, int d, long seed) {
            super(seed);
            this.w = w;
            this.d = d;
        }

        @Override
        void run(Random r) throws SQLException {
            BigDecimal amount = BigDecimal.valueOf(100 + r.nextInt(499_900), 2);
            update("update warehouse set w_ytd = w_ytd + ? where w_id = ?", amount, w);
            update("update district set d_ytd = d_ytd + ? where d_w_id = ? and d_id = ?", amount, w, d);
            int customer = r.nextInt(100) < 60
                ? number("select c_id from customer where c_w_id = ? and c_d_id = ? and c_last = ? order by c_id", w, d, "NAME" + r.nextInt(100))
                : skewed(r, 1023, Tables.CUSTOMERS);
            update("update customer set c_balance = c_balance - ?, c_payments = c_payments + 1 where c_w_id = ? and c_d_id = ? and c_id = ?", amount, w, d, customer);
            update("insert into history values(?, ?, ?, ?)", w, d, customer, amount);
        }
    }

    static final class OrderStatus extends Transaction {
        private final int w, d;

        OrderStatus(int w, int d, long seed) {
            super(seed);
            this.w = w;
            this.d = d;
        }

        @Override
        void run(Random r) throws SQLException {
            int customer = skewed(r, 1023, Tables.CUSTOMERS);
            first("select c_balance from customer where c_w_id = ? and c_d_id = ? and c_id = ?", w, d, customer);
            Object order = first("select max(o_id) from orders where o_w_id = ? and o_d_id = ? and o_c_id = ?", w, d, customer);
            if (order != null) {
                first("select sum(ol_amount) from order_line where ol_w_id = ? and ol_d_id = ? and ol_o_id = ?", w, d, order);
            }
        }
    }

    /** Delivers the oldest new order of each district. */
    static final class Delivery extends Transaction {
        private final int w;

        Delivery(int w, long seed) {
            super(seed);
            this.w = w;
        }

        @Override
        void run(Random r) throws SQLException {
            int carrier = 1 + r.nextInt(10);
            for (int d = 1; d <= Tables.DISTRICTS; d++) {
                Object order = first("select min(no_o_id) from new_order where no_w_id = ? and no_d_id = ?", w, d);
                if (order == null) {
                    continue;
                }
                update("delete from new_order where no_w_id = ? and no_d_id = ? and no_o_id = ?", w, d, order);
                update("update orders set o_carrier = ? where o_w_id = ? and o_d_id = ? and o_id = ?", carrier, w, d, order);
                Object sum = first("select sum(ol_amount) from order_line where ol_w_id = ? and ol_d_id = ? and ol_o_id = ?", w, d, order);
                Object customer = first("select o_c_id from orders where o_w_id = ? and o_d_id = ? and o_id = ?", w, d, order);
                update("update customer set c_balance = c_balance + ? where c_w_id = ? and c_d_id = ? and c_id = ?", sum, w, d, customer);
            }
        }
    }

    /** Counts the items of the last twenty orders of which little is left. */
    static final class StockLevel extends Transaction {
        private final int w, d, passes;

        StockLevel(int w, int d, long seed, int passes) {
            super(seed);
            this.w = w;
            this.d = d;
            this.passes = passes;
        }

        @Override
        void run(Random r) throws SQLException {
            int next = number("select d_next_o_id from district where d_w_id = ? and d_id = ?", w, d);
            for (int pass = 0; pass < passes; pass++) {
                number("select count(distinct s_i_id) from order_line join stock on s_w_id = ol_w_id and s_i_id = ol_i_id"
                    + " where ol_w_id = ? and ol_d_id = ? and ol_o_id between ? and ? and s_quantity < ?", w, d, next - 20, next - 1, 10 + r.nextInt(11));
            }
        }
    }
}
