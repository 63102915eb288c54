import com.codahale.metrics.MetricRegistry;
import com.codahale.metrics.SharedMetricRegistries;
import io.micrometer.core.instrument.*;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

public class Meters {
    static final AtomicInteger depth = new AtomicInteger();
    public static void main(String[] a) throws Exception {
        SimpleMeterRegistry own = new SimpleMeterRegistry();
        io.micrometer.core.instrument.Metrics.addRegistry(own);
        Counter orders = io.micrometer.core.instrument.Metrics.counter("orders", "region", "eu");
        Gauge.builder("queue.depth", depth, AtomicInteger::get).baseUnit("tasks").register(own);
        Gauge.builder("bad", () -> { throw new IllegalStateException(); }).register(own);
        Timer timer = own.timer("request");
        DistributionSummary size = DistributionSummary.builder("size").baseUnit("bytes").register(own);
        MetricRegistry registry = SharedMetricRegistries.getOrCreate("main");
        com.codahale.metrics.Counter open = registry.counter("open");
        com.codahale.metrics.Meter marks = registry.meter("marks");
        com.codahale.metrics.Timer t = registry.timer("t");
        registry.register("level", (com.codahale.metrics.Gauge<Integer>) depth::get);
        for (int i = 1; i <= 200; i++) {
            orders.increment(2);
            depth.set(i);
            timer.record(3, TimeUnit.MILLISECONDS);
            size.record(100);
            open.inc();
            marks.mark(3);
            t.update(1, TimeUnit.SECONDS);
            Thread.sleep(5);
        }
        open.dec(50);
        Thread.sleep(300);
        System.out.println("orders " + orders.count() + " timer " + timer.count() + " " + timer.totalTime(TimeUnit.NANOSECONDS));
    }
}
