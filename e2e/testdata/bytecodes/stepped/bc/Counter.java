package bc;

/** The thread's count of instructions, as the JVM reports them to a debugger one by one (oracle.c). */
final class Counter {
    private Counter() {}

    static native void begin();

    static native long end();
}
