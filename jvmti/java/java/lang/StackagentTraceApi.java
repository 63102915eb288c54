package java.lang;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/**
 * How to get at the span of a context: from the context to the span's own, from that to the ids. Kept with the class that stores contexts,
 * so that nothing here keeps a class loader alive.
 */
final class StackagentTraceApi extends ClassValue<MethodHandle[]> {
    private static final String STORAGE = "io.opentelemetry.context.ThreadLocalContextStorage";

    @Override
    protected MethodHandle[] computeValue(Class<?> storage) {
        try {
            return handles(storage);
        } catch (ReflectiveOperationException | LinkageError none) { // only contexts, no spans: the library has two parts
            return new MethodHandle[0];
        }
    }

    private static MethodHandle[] handles(Class<?> storage) throws ReflectiveOperationException {
        String name = storage.getName();
        int at = name.indexOf(STORAGE);
        if (at < 0) {
            return new MethodHandle[0];
        }
        String root = name.substring(0, at) + "io.opentelemetry."; // a copy inside an agent has a prefix
        Class<?> context = of(storage, root + "context.Context");
        Class<?> span = of(storage, root + "api.trace.Span");
        Class<?> ids = of(storage, root + "api.trace.SpanContext");
        MethodHandles.Lookup lookup = MethodHandles.publicLookup();
        MethodHandle from = lookup.findStatic(span, "fromContext", MethodType.methodType(span, context));
        MethodHandle of = lookup.findVirtual(span, "getSpanContext", MethodType.methodType(ids));
        MethodType id = MethodType.methodType(String.class, Object.class);
        return new MethodHandle[] {
            MethodHandles.filterReturnValue(from, of).asType(MethodType.methodType(Object.class, Object.class)),
            lookup.findVirtual(ids, "getTraceId", MethodType.methodType(String.class)).asType(id),
            lookup.findVirtual(ids, "getSpanId", MethodType.methodType(String.class)).asType(id),
        };
    }

    private static Class<?> of(Class<?> storage, String name) throws ClassNotFoundException {
        return Class.forName(name, false, storage.getClassLoader());
    }
}
