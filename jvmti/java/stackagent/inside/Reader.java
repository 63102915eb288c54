package stackagent.inside;

import java.lang.reflect.InvocationTargetException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Reads the monitors that run code of the program: MBeans, meters, pools. The agent defines these classes with the boot loader if the
 * user asks for such monitors, and runs them on a thread of its own. A read that hangs keeps its thread; another thread goes on
 * without that monitor.
 */
final class Reader {
    /** A monitor takes at most this share of the thread's time: a slow one is read more rarely. */
    private static final long SHARE = 100;

    private static final long SEARCH_NS = 1_000_000_000L;
    private static final long LONGEST_NS = 10_000_000_000L;

    private static List<Source> sources;
    private static Asked current; // that is being asked
    private static final Set<String> names = new HashSet<>();

    private Reader() {}

    /** The loop of a thread; called from C. */
    private static void run(int generation) {
        if (StackagentMonitor.begins(generation)) {
            names.clear();
            current = null;
            sources = sources();
        }
        leaveOut();
        while (pause0()) {
            for (Source s : sources) {
                if (!search(s, generation) || !read(s, generation)) {
                    return;
                }
            }
        }
        sources = null;
    }

    /** What hung before is not asked until it has answered. */
    private static void leaveOut() {
        Asked hung = current;
        current = null;
        if (hung != null) {
            hung.waits = true;
            hung.hangs();
        }
    }

    private static List<Source> sources() {
        List<Source> list = new ArrayList<>();
        String line;
        for (int slot = 0; (line = StackagentMonitor.line(slot)) != null; slot++) {
            switch (line.charAt(0)) {
                case 'J':
                    int tab = line.indexOf('\t', 2);
                    list.add(new Jmx(line.substring(2, tab), line.substring(tab + 1)));
                    break;
                case 'M':
                    list.add(new Micrometer(slot));
                    break;
                case 'D':
                    list.add(new Dropwizard(slot));
                    break;
                case 'P':
                    list.add(new Pools(slot));
                    break;
                case 'I':
                    list.add(new Libraries());
                    break;
                default:
            }
        }
        return list;
    }

    /** False: this thread has been replaced. */
    private static boolean search(Source s, int generation) {
        long now = System.nanoTime();
        if (!s.isDue(now, 0)) {
            return true;
        }
        Map<Object, Item> found = null;
        current = s;
        if (!StackagentMonitor.enters(generation, s.what)) {
            return false;
        }
        Throwable failure = null;
        try {
            found = s.find();
        } catch (Throwable t) {
            failure = t;
        }
        if (!StackagentMonitor.leaves(generation)) {
            s.answered = true;
            return false;
        }
        current = null;
        if (found != null) {
            s.take(found);
        } else if (failure != null && names.add(s.what)) {
            declare("app." + s.what, "application", "", false, s.what, reason(failure));
        }
        long after = System.nanoTime();
        s.due = after + Math.max(s.items.isEmpty() ? SEARCH_NS / 10 : SEARCH_NS, s.cost(after - now) * SHARE);
        return true;
    }

    private static boolean read(Source s, int generation) {
        for (Item item : s.items.values()) {
            long now = System.nanoTime();
            if (!item.isDue(now, LONGEST_NS) || !item.alive()) {
                continue;
            }
            current = item;
            if (!StackagentMonitor.enters(generation, item.what)) {
                return false;
            }
            Throwable failure = null;
            try {
                item.read();
            } catch (Throwable t) {
                failure = t;
            }
            if (!StackagentMonitor.leaves(generation)) {
                item.answered = true;
                return false;
            }
            current = null;
            long after = System.nanoTime();
            long rest = Math.min(LONGEST_NS, item.cost(after - now) * SHARE);
            if (failure == null) {
                item.pass();
            } else {
                rest = Math.max(rest, Math.min(LONGEST_NS, 10_000_000L << Math.min(10, item.failed(failure))));
            }
            item.due = after + rest - (after - now);
        }
        return true;
    }

    /** Why something has no values, in one line. */
    static String reason(Throwable t) {
        for (int i = 0; i < 8; i++) {
            Throwable cause = t instanceof InvocationTargetException || t.getClass().getName().startsWith("javax.management.") ? t.getCause() : null;
            if (cause == null) {
                break;
            }
            t = cause;
        }
        return "it throws " + t.getClass().getName(); // its message may be code of the program
    }

    /** A value that was read at that System.nanoTime(). */
    static void sample(int id, double value, long at) {
        sample0(id, value, System.nanoTime() - at);
    }

    static void why(int id, String why) {
        why0(id, why);
    }

    /** A new monitor; Item.NONE: there is one of this name already, or there are too many. */
    static int declare(String name, String layer, String unit, boolean counter, String source, String why) {
        if (names.contains("=" + name)) {
            return Item.NONE;
        }
        int id = declare0(name, layer, unit, counter, source, why);
        if (id != Item.NONE) { // else there are too many: their names are not kept either
            names.add("=" + name);
        }
        return id;
    }

    /** NAME{key="value"}; labels: keys and values in turn. */
    static String labelled(String name, List<String> labels) {
        StringBuilder b = new StringBuilder(clean(name));
        for (int i = 0; i + 1 < labels.size(); i += 2) {
            b.append(i == 0 ? '{' : ',').append(clean(labels.get(i))).append("=\"").append(clean(labels.get(i + 1))).append('"');
        }
        return labels.isEmpty() ? b.toString() : b.append('}').toString();
    }

    /** Replaces what a name cannot have. */
    private static String clean(String s) {
        StringBuilder b = new StringBuilder();
        for (int i = 0; i < s.length() && i < 200; i++) {
            char c = s.charAt(i);
            b.append(c <= ' ' || c == 0x7F || c == '"' || c == '{' || c == '}' || c == '\\' ? '_' : c);
        }
        return b.toString();
    }

    private static native boolean pause0();

    private static native void sample0(int id, double value, long before);

    private static native void why0(int id, String why);

    private static native int declare0(String name, String layer, String unit, boolean counter, String source, String why);
}
