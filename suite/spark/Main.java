import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;

/**
 * Queries of TPC-H in Spark's local mode: {@code Main FOLDER THREADS ITERATIONS PARTITIONS SCALE QUERIES CHECKSUM}. The tables are Parquet files
 * of tpchgen, the queries those in Spark's own tests. Each iteration does the first QUERIES, at most 22; CHECKSUM is that of all rows, decimals rounded.
 */
public class Main {
    static int hash(Row row) {
        int h = 0;
        for (int i = 0; i < row.size(); i++) {
            Object v = row.get(i);
            h = 31 * h + (v instanceof Number n && !(v instanceof Long) && !(v instanceof Integer) ? String.format("%.2f", n.doubleValue()).hashCode() : String.valueOf(v).hashCode());
        }
        return h;
    }

    /** The sum of the rows' hashes: rows with equal keys come in any order. */
    static long query(SparkSession spark, String sql) {
        long sum = 0;
        for (Row row : spark.sql(sql).collectAsList()) {
            sum += hash(row);
        }
        return sum;
    }

    public static void main(String[] args) throws Exception {
        Path folder = Path.of(args[0]);
        List<String> queries = new ArrayList<>();
        for (int q = 1; q <= Integer.parseInt(args[5]); q++) {
            queries.add(Files.readString(folder.resolve("queries/tpch/q" + q + ".sql")));
        }
        try (SparkSession spark = SparkSession.builder().master("local[" + args[1] + "]").appName("tpch")
                .config("spark.ui.enabled", "false").config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1")
                .config("spark.log.level", "ERROR").config("spark.sql.warehouse.dir", System.getProperty("java.io.tmpdir"))
                .config("spark.sql.shuffle.partitions", args[3]).getOrCreate()) {
            try (var tables = Files.list(folder.resolve("tables/" + args[4]))) {
                tables.forEach(t -> spark.read().parquet(t.toString()).createOrReplaceTempView(t.getFileName().toString().replace(".parquet", "")));
            }
            Iterations.run(Integer.parseInt(args[2]), i -> {
                long sum = 0;
                for (String sql : queries) {
                    sum = 31 * sum + query(spark, sql);
                }
                Iterations.expect(args[6], Long.toHexString(sum), "checksum of the answers");
            });
        }
        Iterations.ok("the answers to " + queries.size() + " queries are those expected");
    }
}
