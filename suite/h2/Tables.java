import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/** The tables of TPC-C that its transactions need, a tenth as large. */
final class Tables {
    static final int DISTRICTS = 10, CUSTOMERS = 300, ITEMS = 10_000;

    private static final String[] CREATE = {
        "create table warehouse(w_id int primary key, w_tax decimal(4, 4), w_ytd decimal(14, 2))",
        "create table district(d_w_id int, d_id int, d_tax decimal(4, 4), d_ytd decimal(14, 2), d_next_o_id int, primary key(d_w_id, d_id))",
        "create table customer(c_w_id int, c_d_id int, c_id int, c_last varchar(16), c_discount decimal(4, 4), c_balance decimal(14, 2),"
            + " c_payments int, c_data varchar(500), primary key(c_w_id, c_d_id, c_id))",
        "create index customer_name on customer(c_w_id, c_d_id, c_last)",
        "create table history(h_w_id int, h_d_id int, h_c_id int, h_amount decimal(8, 2))",
        "create table item(i_id int primary key, i_name varchar(24), i_price decimal(6, 2))",
        "create table stock(s_w_id int, s_i_id int, s_quantity int, s_ytd int, s_orders int, s_data varchar(50), primary key(s_w_id, s_i_id))",
        "create table orders(o_w_id int, o_d_id int, o_id int, o_c_id int, o_carrier int, o_lines int, primary key(o_w_id, o_d_id, o_id))",
        "create index orders_customer on orders(o_w_id, o_d_id, o_c_id)",
        "create table new_order(no_w_id int, no_d_id int, no_o_id int, primary key(no_w_id, no_d_id, no_o_id))",
        "create table order_line(ol_w_id int, ol_d_id int, ol_o_id int, ol_number int, ol_i_id int, ol_quantity int, ol_amount decimal(8, 2),"
            + " primary key(ol_w_id, ol_d_id, ol_o_id, ol_number))",
    };

    private Tables() {
    }

    static void create(Statement s, int warehouses) throws SQLException {
        for (String sql : CREATE) {
            s.execute(sql);
        }
        String w = "system_range(1, " + warehouses + ")", d = "system_range(1, " + DISTRICTS + ")";
        s.execute("insert into warehouse select x, 0.1, 0 from " + w);
        s.execute("insert into district select w.x, d.x, 0.05, 0, 1 from " + w + " w, " + d + " d");
        s.execute("insert into customer select w.x, d.x, c.x, 'NAME' || mod(c.x, 100), 0.1, -10, 1, repeat('customer', 30)"
            + " from " + w + " w, " + d + " d, system_range(1, " + CUSTOMERS + ") c");
        s.execute("insert into item select x, 'item' || x, 1 + mod(x * 7919, 9900) / 100.0 from system_range(1, " + ITEMS + ")");
        s.execute("insert into stock select w.x, i.x, 10 + mod(i.x * 31, 91), 0, 0, repeat('stock', 6) from " + w + " w, system_range(1, " + ITEMS + ") i");
    }

    /** Conditions 1 to 4 of the standard's clause 3.3.2, and that balances are those of the payments. Each counts what breaks it. */
    static void check(Statement s) throws SQLException {
        zero(s, "warehouses whose sum is not that of their districts",
            "select count(*) from warehouse where w_ytd <> (select sum(d_ytd) from district where d_w_id = w_id)");
        zero(s, "districts whose next order is not one above the last",
            "select count(*) from district where d_next_o_id - 1 <> (select coalesce(max(o_id), 0) from orders where o_w_id = d_w_id and o_d_id = d_id)");
        zero(s, "districts with gaps in their new orders",
            "select count(*) from (select max(no_o_id) - min(no_o_id) + 1 - count(*) as gap from new_order group by no_w_id, no_d_id) where gap <> 0");
        zero(s, "districts whose orders have another number of lines",
            "select count(*) from (select o_w_id w, o_d_id d, sum(o_lines) n from orders group by o_w_id, o_d_id) o"
                + " where n <> (select count(*) from order_line where ol_w_id = w and ol_d_id = d)");
        zero(s, "cents between the payments and what the warehouses have",
            "select 100 * ((select coalesce(sum(h_amount), 0) from history) - (select sum(w_ytd) from warehouse))");
    }

    private static void zero(Statement s, String what, String sql) throws SQLException {
        try (ResultSet r = s.executeQuery(sql)) {
            r.next();
            Iterations.expect(0, r.getInt(1), what);
        }
    }
}
