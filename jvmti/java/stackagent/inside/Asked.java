package stackagent.inside;

/** What runs code of the program. */
abstract class Asked {
    final String what; // how messages name it
    long due; // System.nanoTime() of the next time
    private long before; // how long it took the last time
    boolean waits; // it did not answer in time
    volatile boolean answered; // then it did

    Asked(String what) {
        this.what = what;
    }

    /** How long it takes: the less of the last two times, as the first time is special. */
    final long cost(long took) {
        long least = Math.min(took, before);
        before = took;
        return least;
    }

    /** It did not answer in time. */
    void hangs() {}

    /** Is it due? One that did not answer is asked again some time after it did. */
    final boolean isDue(long now, long rest) {
        if (waits && answered) {
            waits = answered = false;
            due = now + rest;
        }
        return !waits && now - due >= 0;
    }
}
