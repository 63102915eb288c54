package io.opentelemetry.context;

/** Keeps the context of a thread, as OpenTelemetry's class of this name does. */
enum ThreadLocalContextStorage {
    INSTANCE;

    private static final ThreadLocal<Context> THREAD_LOCAL_STORAGE = new ThreadLocal<>();

    Scope attach(Context to) {
        Context before = current();
        if (to == null || to == before) {
            return () -> {};
        }
        THREAD_LOCAL_STORAGE.set(to);
        return new ScopeImpl(before, to);
    }

    Context current() {
        return THREAD_LOCAL_STORAGE.get();
    }

    private class ScopeImpl implements Scope {
        private final Context before, to;
        private boolean closed;

        ScopeImpl(Context before, Context to) {
            this.before = before;
            this.to = to;
        }

        @Override
        public void close() {
            if (!closed && current() == to) {
                closed = true;
                THREAD_LOCAL_STORAGE.set(before);
            }
        }
    }
}
