package stackagent.inside;

import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;

/** Finds items of one kind, again and again: what the program registers later has values from then on. */
abstract class Source extends Asked {
    /** Most items of a source. */
    static final int MOST = 2_000;

    final Map<Object, Item> items = new HashMap<>();
    private boolean crowded;

    Source(String what) {
        super(what);
    }

    /** Returns what there is now, by keys that stay the same; null for a value: it is in items already. It may run code of the program. */
    abstract Map<Object, Item> find() throws Throwable;

    /** Takes over what find has found. */
    final void take(Map<Object, Item> found) {
        for (Iterator<Object> i = items.keySet().iterator(); i.hasNext();) {
            if (!found.containsKey(i.next())) {
                i.remove();
            }
        }
        for (Map.Entry<Object, Item> e : found.entrySet()) {
            if (e.getValue() != null && items.size() < MOST) {
                items.put(e.getKey(), e.getValue());
            } else if (e.getValue() != null && !crowded) {
                crowded = true;
                Reader.declare("app." + what + ".others", "application", "", false, what, "only " + MOST + " are read");
            }
        }
    }
}
