import static org.apache.spark.sql.functions.avg;
import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.count;
import static org.apache.spark.sql.functions.lit;
import static org.apache.spark.sql.functions.sum;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.sql.SparkSession;
import scala.Tuple2;

/**
 * Counts the numbers below N by their number of prime factors, then queries a table of them by SQL, in Spark's local
 * mode: {@code Main THREADS N TASKS}. The first job has 40 tasks that map and 20 that reduce, the queries TASKS each to
 * read and a tenth as many after each shuffle. At the end it prints what Spark's own listener counted.
 */
public class Main {
    static final int MAPS = 40, REDUCES = 20;

    /** Spark's own counts of its tasks. It gets one event at a time. */
    static final class Account extends SparkListener {
        int tasks;
        long cpuNs, loadCpuNs, runMs, delayMs;

        @Override
        public void onTaskEnd(SparkListenerTaskEnd end) {
            var metrics = end.taskMetrics();
            tasks++;
            cpuNs += metrics.executorCpuTime();
            loadCpuNs += metrics.executorDeserializeCpuTime();
            runMs += metrics.executorRunTime();
            // The scheduler delay, as Spark's pages call it.
            delayMs += end.taskInfo().duration() - metrics.executorRunTime() - metrics.executorDeserializeTime()
                    - metrics.resultSerializationTime();
        }
    }

    static int factors(int n) {
        int count = 0;
        for (int d = 2; d * d <= n; d++) {
            for (; n % d == 0; n /= d) {
                count++;
            }
        }
        return n > 1 ? count + 1 : count;
    }

    static void job(JavaSparkContext context, int n) {
        List<Integer> starts = new ArrayList<>();
        for (int i = 0; i < MAPS; i++) {
            starts.add(i);
        }
        var counts = context.parallelize(starts, MAPS).flatMapToPair(start -> {
            List<Tuple2<Integer, Integer>> out = new ArrayList<>();
            for (int i = start; i < n; i += MAPS) {
                out.add(new Tuple2<>(factors(i), 1));
            }
            return out.iterator();
        }).reduceByKey(Integer::sum, REDUCES).sortByKey().collect();
        counts.forEach(c -> System.out.println(c._1 + " factors: " + c._2));
    }

    static void queries(SparkSession spark, int n, int tasks) {
        var numbers = spark.range(0, n, 1, tasks).withColumn("last", col("id").mod(lit(10))).withColumn("hash", col("id").multiply(lit(2654435761L)).mod(lit(1000)));
        var groups = numbers.groupBy("hash").agg(count("id").as("numbers"), avg("id").as("mean"));
        System.out.println(groups.filter(col("numbers").gt(lit(n / 1000))).count() + " groups above the average");
        var names = spark.range(10).withColumn("name", col("id").cast("string")).withColumnRenamed("id", "last");
        numbers.join(names, "last").groupBy("name").agg(sum("hash").as("sum")).orderBy("name").collectAsList()
                .forEach(row -> System.out.println(row.get(0) + ": " + row.get(1)));
    }

    public static void main(String[] args) throws IOException {
        int n = Integer.parseInt(args[1]), tasks = Integer.parseInt(args[2]);
        Account account = new Account();
        try (SparkSession spark = SparkSession.builder().master("local[" + args[0] + "]").appName("factors")
                .config("spark.ui.enabled", "false").config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1")
                .config("spark.log.level", "WARN").config("spark.sql.warehouse.dir", System.getProperty("java.io.tmpdir"))
                .config("spark.sql.shuffle.partitions", Math.max(1, tasks / 10))
                .config("spark.sql.adaptive.coalescePartitions.enabled", "false").getOrCreate()) {
            spark.sparkContext().addSparkListener(account);
            job(JavaSparkContext.fromSparkContext(spark.sparkContext()), n);
            queries(spark, n, tasks);
        }
        // The context is stopped: all its events are delivered.
        System.err.printf("Spark's own account: %d tasks, %.3f s of CPU time and %.3f s to load them, in %.3f s; %.3f s of delay by the scheduler%n",
                account.tasks, account.cpuNs / 1e9, account.loadCpuNs / 1e9, account.runMs / 1e3, account.delayMs / 1e3);
    }
}
