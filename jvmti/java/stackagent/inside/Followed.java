package stackagent.inside;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/** The live objects of a class, by weak references, in the order in which they were made. */
final class Followed {
    private static final int MOST = 1_000;

    /** One of them. */
    static final class One extends WeakReference<Object> {
        final int number; // from 1

        One(Object o, int number) {
            super(o);
            this.number = number;
        }
    }

    private final int slot;
    private final List<One> all = new ArrayList<>();
    private int made;

    Followed(int slot) {
        this.slot = slot;
    }

    List<One> now() {
        List<Object> news = new ArrayList<>();
        for (StackagentMonitor m = StackagentMonitor.taken(slot); m != null; m = m.after()) {
            Object o = m.get();
            if (o != null) {
                news.add(o);
            }
        }
        for (Iterator<One> i = all.iterator(); i.hasNext();) {
            if (i.next().refersTo(null)) {
                i.remove();
            }
        }
        for (int i = news.size() - 1; i >= 0; i--) {
            made++;
            if (all.size() < MOST) {
                all.add(new One(news.get(i), made));
            }
        }
        return all;
    }
}
