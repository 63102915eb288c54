package stackagent.inside;

/** Finds classes of a library of the program and calls its methods, by reflection. */
final class Calls {
    private Calls() {}

    /** A class that the loader of type, or of a superclass that has it, knows; null: none. */
    static Class<?> find(Class<?> type, String name) {
        try {
            return Class.forName(name, false, type.getClassLoader());
        } catch (ClassNotFoundException | LinkageError e) {
            return null;
        }
    }

    /** The superclass of an object, or its class, that has this name; null: none. */
    static Class<?> above(Object o, String name) {
        for (Class<?> c = o.getClass(); c != null; c = c.getSuperclass()) {
            if (c.getName().equals(name)) {
                return c;
            }
        }
        return null;
    }

    static Object call(Class<?> type, Object o, String method) throws Throwable {
        return type.getMethod(method).invoke(o);
    }
}
