package stackagent.inside;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import javax.management.InstanceNotFoundException;
import javax.management.MBeanAttributeInfo;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import javax.management.openmbean.CompositeData;

/** Attributes of MBeans of the platform's server. */
final class Jmx extends Source {
    private final String pattern, path;

    Jmx(String pattern, String path) {
        super("jmx:" + pattern + "/" + path);
        this.pattern = pattern;
        this.path = path;
    }

    @Override
    Map<Object, Item> find() throws Throwable {
        MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        Map<Object, Item> found = new HashMap<>();
        for (ObjectName name : server.queryNames(new ObjectName(pattern), null)) {
            try {
                for (MBeanAttributeInfo a : server.getMBeanInfo(name).getAttributes()) {
                    String key = key(a.getName());
                    if (key != null && a.isReadable()) {
                        String of = name.getCanonicalName() + "/" + a.getName();
                        found.put(of, items.containsKey(of) || found.size() >= MOST ? null : new Attribute(server, name, a.getName(), key));
                    }
                }
            } catch (InstanceNotFoundException e) {
                continue; // it is gone
            }
        }
        return found;
    }

    /** The key of the composite value that is meant, "": the value itself; null: not this attribute. */
    private String key(String attribute) {
        if (path.equals(attribute) || path.endsWith("*") && attribute.startsWith(path.substring(0, path.length() - 1))) {
            return "";
        }
        return path.startsWith(attribute + ".") ? path.substring(attribute.length() + 1) : null;
    }

    private static final class Attribute extends Item {
        private final MBeanServer server;
        private final ObjectName name;
        private final String attribute, key;

        Attribute(MBeanServer server, ObjectName name, String attribute, String key) {
            super("jmx:" + name + "/" + attribute, declare(name, attribute, key));
            this.server = server;
            this.name = name;
            this.attribute = attribute;
            this.key = key;
        }

        private static int declare(ObjectName name, String attribute, String key) {
            List<String> labels = new ArrayList<>();
            for (String k : name.getCanonicalKeyPropertyListString().isEmpty() ? new String[0] : sorted(name)) {
                labels.add(k);
                labels.add(name.getKeyProperty(k));
            }
            String path = key.isEmpty() ? attribute : attribute + "." + key;
            String layer = name.getDomain().startsWith("java.") ? "vm" : "application";
            return Reader.declare(Reader.labelled("app.jmx." + name.getDomain() + "." + path, labels), layer, "", false, "jmx:" + name + "/" + path, "");
        }

        private static String[] sorted(ObjectName name) {
            String[] keys = name.getKeyPropertyList().keySet().toArray(new String[0]);
            java.util.Arrays.sort(keys);
            return keys;
        }

        @Override
        void read(double[] values) throws Throwable {
            Object value = server.getAttribute(name, attribute);
            if (!key.isEmpty()) {
                if (!(value instanceof CompositeData)) {
                    throw new IllegalArgumentException();
                }
                value = ((CompositeData) value).get(key);
            }
            values[0] = number(value);
        }
    }

    /** A number that an attribute or gauge gives; NaN: none. */
    static double number(Object value) {
        if (value instanceof Number) {
            return ((Number) value).doubleValue();
        }
        if (value instanceof Boolean) {
            return (Boolean) value ? 1 : 0;
        }
        if (value == null) {
            return Double.NaN;
        }
        throw new ClassCastException(value.getClass().getName());
    }
}
