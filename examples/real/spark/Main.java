import java.util.ArrayList;
import java.util.List;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
import scala.Tuple2;

/**
 * Counts the numbers below N by their number of prime factors, in Spark's local mode: {@code Main THREADS N}. 40
 * tasks map, 20 reduce.
 */
public class Main {
    static final int MAPS = 40, REDUCES = 20;

    static int factors(int n) {
        int count = 0;
        for (int d = 2; d * d <= n; d++) {
            for (; n % d == 0; n /= d) {
                count++;
            }
        }
        return n > 1 ? count + 1 : count;
    }

    public static void main(String[] args) {
        SparkConf conf = new SparkConf().setMaster("local[" + args[0] + "]").setAppName("factors")
                .set("spark.ui.enabled", "false").set("spark.driver.host", "127.0.0.1").set("spark.driver.bindAddress", "127.0.0.1");
        int n = Integer.parseInt(args[1]);
        try (JavaSparkContext spark = new JavaSparkContext(conf)) {
            spark.setLogLevel("WARN");
            List<Integer> starts = new ArrayList<>();
            for (int i = 0; i < MAPS; i++) {
                starts.add(i);
            }
            var counts = spark.parallelize(starts, MAPS).flatMapToPair(start -> {
                List<Tuple2<Integer, Integer>> out = new ArrayList<>();
                for (int i = start; i < n; i += MAPS) {
                    out.add(new Tuple2<>(factors(i), 1));
                }
                return out.iterator();
            }).reduceByKey(Integer::sum, REDUCES).sortByKey().collect();
            counts.forEach(c -> System.out.println(c._1 + " factors: " + c._2));
        }
    }
}
