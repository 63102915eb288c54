package java.lang;

/** Probes of constructions that do nothing. */
public class StackagentConstruction {
    public static int constructing() { return 0; }
    public static void delegating(int token) {}
    public static void constructed(Object task, int token, Class<?> declaring) {}
}
