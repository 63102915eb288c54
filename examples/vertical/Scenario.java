import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** A cause of dips. Its text is the cause in the words of a person. */
abstract class Scenario {
    interface Body {
        void run() throws Exception;
    }

    final String name, cause;
    int perMilli = 2; // orders
    int workers = 2;
    int warmUp = 750; // milliseconds before the scenario runs
    int units = 60;   // of computation in an order, microseconds

    Scenario(String name, String cause) {
        this.name = name;
        this.cause = cause;
    }

    /** Makes what the scenario needs; what it misses on this machine, or null. */
    String prepare() throws Exception {
        return null;
    }

    void run() throws Exception {
        Main.twoDips(this);
    }

    /** The task that the stream submits next. */
    Runnable order(long n) {
        return new Order(this);
    }

    void work(boolean dip) throws Exception {
        Main.compute(units);
    }

    void enter(int dip) throws Exception {
    }

    void leave(int dip) throws Exception {
    }

    void close() throws Exception {
    }

    /** What a dip runs for the first time would be compiled in it: a cause of its own. */
    void warm(int times) throws Exception {
        for (int i = 0; i < times; i++) {
            work(true);
        }
    }

    static Scenario named(String name) {
        List<Supplier<Scenario>> all = Stream.of(InProgram.all(), InLibraries.all(), InJvm.all(), InSystem.all(), NoCause.all(), InPaper.all())
                .flatMap(List::stream).toList();
        for (Supplier<Scenario> s : all) {
            Scenario one = s.get();
            if (one.name.equals(name)) {
                return one;
            }
        }
        throw new IllegalArgumentException("no scenario " + name + ": one of "
                + all.stream().map(s -> s.get().name).toList());
    }

    /** The task of the stream. */
    static class Order implements Runnable {
        final Scenario scenario;

        Order(Scenario scenario) {
            this.scenario = scenario;
        }

        @Override
        public void run() {
            try {
                scenario.work(Main.dip);
            } catch (Exception e) {
                throw new IllegalStateException(scenario.name, e);
            }
            Main.finished.increment();
        }
    }
}
