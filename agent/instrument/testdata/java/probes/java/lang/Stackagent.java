package java.lang;

import java.util.ArrayList;
import java.util.Map;
import java.util.TreeMap;

/** The probes of the tests: they count, in plain Java, what the real ones record. */
public class Stackagent {
    private static final class Counts {
        int created, failed, executions, returned, threw;
    }

    private static final class Frame {
        Object task;
        boolean same; // nested in an execution of the same task, super.run() for example
    }

    private static final Map<String, Counts> counts = new TreeMap<>();
    private static final ArrayList<Frame> stack = new ArrayList<>();
    private static int mismatches, mounted, unmounting;
    private static volatile int leaving, returned; // by one thread at a time; a lock might park the thread that is about to leave

    private static Counts of(Object task) {
        return counts.computeIfAbsent(name(task), k -> new Counts());
    }

    private static String name(Object task) {
        String n = task.getClass().getName();
        int i = n.indexOf("$$Lambda");
        return i < 0 ? n : n.substring(0, i + 8);
    }

    public static int started(Object task) {
        return enter(task);
    }

    public static void adapted(Object task, Object wrapped) {}

    public static int enter(Object task) {
        synchronized (counts) {
            Frame f = new Frame();
            f.task = task;
            f.same = !stack.isEmpty() && stack.get(stack.size() - 1).task == task;
            stack.add(f);
            if (!f.same) of(task).executions++;
            return stack.size() - 1;
        }
    }

    public static int enterRunnable(Object task) {
        return task instanceof Runnable ? enter(task) : -1;
    }

    public static int enterCovariant(Object task) {
        return enter(task);
    }

    public static int enterCallable(Object task) {
        return task instanceof java.util.concurrent.Callable ? enter(task) : -1;
    }

    public static int enterForkJoin(Object task) {
        return task instanceof java.util.concurrent.ForkJoinTask ? enter(task) : -1;
    }

    private static Frame pop(int token) {
        if (token != stack.size() - 1) {
            mismatches++;
            while (stack.size() > token + 1) stack.remove(stack.size() - 1);
        }
        return stack.remove(stack.size() - 1);
    }

    public static void exit(int token) {
        if (token < 0) return;
        synchronized (counts) {
            Frame f = pop(token);
            if (!f.same) of(f.task).returned++;
        }
    }

    public static void exitThrow(int token) {
        if (token < 0) return;
        synchronized (counts) {
            Frame f = pop(token);
            if (!f.same) of(f.task).threw++;
        }
    }

    private static final Map<Object, Object> copies = new java.util.IdentityHashMap<>();

    public static Object cloned(Object original, Object copy) {
        synchronized (counts) {
            if (copies.put(copy, original) == null) of(copy).created++;
        }
        return copy;
    }

    public static void created(Object task) {
        synchronized (counts) {
            of(task).created++;
        }
    }

    public static void failed(Object task) {
        synchronized (counts) {
            of(task).failed++;
        }
    }

    public static void mounted(Thread t) {
        synchronized (counts) {
            if (t != null) mounted++;
        }
    }

    public static void ready(Thread t) {}

    public static void unmounting(Thread t) {
        synchronized (counts) {
            if (t != null) unmounting++;
        }
    }

    public static void yielding(Thread t) {
    }

    public static void leaving(Thread t) {
        if (t != null) leaving++;
    }

    public static void returned(Thread t) {
        if (t != null) returned++;
    }

    /** One line per class, then what must be zero. */
    public static String report() {
        StringBuilder b = new StringBuilder();
        synchronized (counts) {
            counts.forEach((n, c) -> b.append(n).append(" created=").append(c.created)
                    .append(" failed=").append(c.failed).append(" executions=").append(c.executions)
                    .append(" returned=").append(c.returned).append(" threw=").append(c.threw).append('\n'));
            b.append("open=").append(stack.size()).append(" mismatches=").append(mismatches).append('\n');
            if (mounted + unmounting > 0) b.append("mounted=").append(mounted).append(" unmounting=").append(unmounting).append('\n');
            if (leaving + returned > 0) b.append("leaving=").append(leaving).append(" returned=").append(returned).append('\n');
        }
        return b.toString();
    }
}
