package stackagent.inside;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Meters of the MeterRegistry objects of Micrometer. A composite one passes on to others, which are read. */
final class Micrometer extends Source {
    private static final String CORE = "io.micrometer.core.instrument.";

    /** The types of meters, and what is read of each: method, suffix of the name, unit, counter. The first that fits counts. */
    private static final String[][] TYPES = {
        {"Timer", "count", ".count", "", "c", "totalTime", ".total_ns", "ns", "c"},
        {"FunctionTimer", "count", ".count", "", "c", "totalTime", ".total_ns", "ns", "c"},
        {"LongTaskTimer", "activeTasks", ".active", "", "g", "duration", ".duration_ns", "ns", "g"},
        {"DistributionSummary", "count", ".count", "", "c", "totalAmount", ".total", null, "c"},
        {"Counter", "count", "", null, "c"},
        {"FunctionCounter", "count", "", null, "c"},
        {"Gauge", "value", "", null, "g"},
    };

    private final Followed registries;

    Micrometer(int slot) {
        super("micrometer");
        registries = new Followed(slot);
    }

    @Override
    Map<Object, Item> find() throws Throwable {
        Map<Object, Item> found = new HashMap<>();
        for (Followed.One one : registries.now()) {
            Object registry = one.get();
            Class<?> type = registry == null ? null : Calls.above(registry, CORE + "MeterRegistry");
            if (type == null || Calls.above(registry, CORE + "composite.CompositeMeterRegistry") != null) {
                continue;
            }
            Class<?> meters = Calls.find(type, CORE + "Meter");
            Object list = Calls.call(type, registry, "getMeters");
            if (meters == null || !(list instanceof List)) {
                continue;
            }
            for (Object meter : new ArrayList<>((List<?>) list)) {
                Object key = new Key(meter);
                if (found.size() < MOST) {
                    found.put(key, items.containsKey(key) ? null : item(meters, meter));
                }
            }
        }
        return found;
    }

    private static Item item(Class<?> meters, Object meter) throws Throwable {
        for (String[] row : TYPES) {
            Class<?> type = Calls.find(meters, CORE + row[0]);
            if (type != null && type.isInstance(meter)) {
                return item(row, type, meter, Calls.call(meters, meter, "getId"));
            }
        }
        return null;
    }

    private static Item item(String[] row, Class<?> type, Object meter, Object id) throws Throwable {
        String name = (String) Calls.call(id.getClass(), id, "getName");
        String unit = (String) Calls.call(id.getClass(), id, "getBaseUnit");
        List<String> labels = new ArrayList<>();
        for (Object tag : (Iterable<?>) Calls.call(id.getClass(), id, "getTags")) {
            Class<?> tags = Calls.find(type, CORE + "Tag");
            labels.add((String) Calls.call(tags, tag, "getKey"));
            labels.add((String) Calls.call(tags, tag, "getValue"));
        }
        int n = row.length / 4;
        Method[] methods = new Method[n];
        Object[][] arguments = new Object[n][];
        int[] ids = new int[n];
        for (int i = 0; i < n; i++) {
            boolean time = "ns".equals(row[4 * i + 3]);
            methods[i] = time ? type.getMethod(row[4 * i + 1], TimeUnit.class) : type.getMethod(row[4 * i + 1]);
            arguments[i] = time ? new Object[] {TimeUnit.NANOSECONDS} : new Object[0];
            String of = row[4 * i + 3] == null ? unit == null ? "" : unit : row[4 * i + 3];
            ids[i] = Reader.declare(Reader.labelled("app.micrometer." + name + row[4 * i + 2], labels), "application", of, row[4 * i + 4].equals("c"),
                    "registries", "");
        }
        return new Meter("meter " + name, meter, methods, arguments, ids);
    }

    /** A meter by identity. */
    private static final class Key extends java.lang.ref.WeakReference<Object> {
        private final int hash;

        Key(Object o) {
            super(o);
            hash = System.identityHashCode(o);
        }

        @Override
        public int hashCode() {
            return hash;
        }

        @Override
        public boolean equals(Object o) {
            Object mine = get();
            return this == o || mine != null && o instanceof Key && ((Key) o).refersTo(mine);
        }
    }
}
