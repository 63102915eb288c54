package io.opentelemetry.context;

/** As long as it is open, a context is current. */
public interface Scope extends AutoCloseable {
    @Override
    void close();
}
