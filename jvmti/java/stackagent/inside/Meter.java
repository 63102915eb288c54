package stackagent.inside;

import java.lang.ref.WeakReference;
import java.lang.reflect.Method;

/** A meter of a library: a few methods of an object of the program. */
final class Meter extends Item {
    private final WeakReference<Object> of;
    private final Method[] methods;
    private final Object[][] arguments;

    Meter(String what, Object of, Method[] methods, Object[][] arguments, int[] ids) {
        super(what, ids);
        this.of = new WeakReference<>(of);
        this.methods = methods;
        this.arguments = arguments;
    }

    @Override
    boolean alive() {
        return !of.refersTo(null);
    }

    @Override
    void read(double[] values) throws Throwable {
        Object o = of.get();
        for (int i = 0; i < methods.length; i++) {
            values[i] = o == null ? Double.NaN : Jmx.number(methods[i].invoke(o, arguments[i]));
        }
    }
}
