package stackagent.inside;

/** What is read in one go: one value, or a few. */
abstract class Item extends Asked {
    /** Instead of an id: this value is not to be sampled. */
    static final int NONE = 0;

    final int[] ids;
    private final double[] values, last;
    private final boolean[] known, flat; // flat: the last value was read again since it was passed on
    private long read; // when it was read last

    private int failures;

    Item(String what, int... ids) {
        super(what);
        this.ids = ids;
        values = new double[ids.length];
        last = new double[ids.length];
        known = new boolean[ids.length];
        flat = new boolean[ids.length];
    }

    /** Reads the values; NaN: there is none now. It may run code of the program. */
    abstract void read(double[] values) throws Throwable;

    /** False: what it reads is gone. */
    boolean alive() {
        return true;
    }

    final void read() throws Throwable {
        read(values);
    }

    /** Passes on what has changed. */
    final void pass() {
        long at = System.nanoTime();
        for (int i = 0; i < ids.length; i++) {
            if (ids[i] == NONE || Double.isNaN(values[i]) || known[i] && values[i] == last[i]) {
                flat[i] = true;
                continue;
            }
            if (failures > 0) {
                Reader.why(ids[i], "");
            }
            if (known[i] && flat[i]) {
                Reader.sample(ids[i], last[i], read); // it was so at that time
            }
            known[i] = true;
            flat[i] = false;
            last[i] = values[i];
            Reader.sample(ids[i], values[i], at);
        }
        read = at;
        failures = 0;
    }

    /** Notes that a read has failed; the result is how many did in a row. */
    final int failed(Throwable t) {
        if (failures == 0) {
            leave(Reader.reason(t));
        }
        return ++failures;
    }

    @Override
    final void hangs() {
        failures = 1;
        leave("it did not answer within a second");
    }

    private void leave(String why) {
        for (int id : ids) {
            if (id != NONE) {
                Reader.why(id, why);
            }
        }
    }
}
