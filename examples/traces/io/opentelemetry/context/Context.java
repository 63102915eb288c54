package io.opentelemetry.context;

/** What belongs to a request. Written for this example: of OpenTelemetry's class it has the name and what stackagent looks at. */
public interface Context {
    Object get(String key);

    static Context current() {
        Context c = ThreadLocalContextStorage.INSTANCE.current();
        return c != null ? c : key -> null;
    }

    default Scope makeCurrent() {
        return ThreadLocalContextStorage.INSTANCE.attach(this);
    }
}
