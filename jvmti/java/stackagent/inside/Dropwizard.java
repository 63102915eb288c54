package stackagent.inside;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Map;

/** Metrics of the MetricRegistry objects of Dropwizard. Its timers and histograms have no sum. */
final class Dropwizard extends Source {
    private static final String PACKAGE = "com.codahale.metrics.";

    /** The interfaces, what is read, and whether that is a counter. A Counter may fall. */
    private static final String[][] TYPES = {
        {"Timer", "getCount", ".count", "c"}, {"Meter", "getCount", "", "c"}, {"Histogram", "getCount", ".count", "c"}, {"Counter", "getCount", "", "g"},
        {"Gauge", "getValue", "", "g"},
    };

    private final Followed registries;

    Dropwizard(int slot) {
        super("dropwizard");
        registries = new Followed(slot);
    }

    @Override
    Map<Object, Item> find() throws Throwable {
        Map<Object, Item> found = new HashMap<>();
        for (Followed.One one : registries.now()) {
            Object registry = one.get();
            Class<?> type = registry == null ? null : Calls.above(registry, PACKAGE + "MetricRegistry");
            Object metrics = type == null ? null : Calls.call(type, registry, "getMetrics");
            if (!(metrics instanceof Map)) {
                continue;
            }
            for (Map.Entry<?, ?> e : new ArrayList<>(((Map<?, ?>) metrics).entrySet())) {
                String key = one.number + " " + e.getKey();
                if (found.size() < MOST) {
                    found.put(key, items.containsKey(key) ? null : item(type, String.valueOf(e.getKey()), e.getValue()));
                }
            }
        }
        return found;
    }

    private static Item item(Class<?> registry, String name, Object metric) throws Throwable {
        for (String[] row : TYPES) {
            Class<?> type = Calls.find(registry, PACKAGE + row[0]);
            if (type != null && type.isInstance(metric)) {
                int id = Reader.declare(Reader.labelled("app.dropwizard." + name + row[2], new ArrayList<>()), "application", "", row[3].equals("c"), "registries", "");
                return new Meter("metric " + name, metric, new Method[] {type.getMethod(row[1])}, new Object[][] {{}}, new int[] {id});
            }
        }
        return null;
    }
}
