package bc;

/** The thread's count of instructions, as the agent's woven code keeps it. */
final class Counter {
    private static long start;

    private Counter() {}

    static void begin() {
        start = Stackagent.mark();
    }

    static long end() {
        return Stackagent.mark() - start;
    }
}
