import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Supplier;

/** Dips without a cause that any monitor shows. */
final class NoCause {
    private NoCause() {
    }

    static List<Supplier<Scenario>> all() {
        return List.of(Growing::new, Jitter::new, Locality::new);
    }

    /** The same method computes longer. Decoy: an alarm that comes 200 ms later. */
    static final class Growing extends Scenario {
        private Body alarm;

        Growing() {
            super("growing", "none: the program's own computation takes longer");
        }

        @Override
        String prepare() throws Exception {
            alarm = Decoy.log();
            return null;
        }

        @Override
        void enter(int dip) {
            Decoy.after(200, Main.DIP, "alarm", alarm);
        }

        @Override
        void work(boolean dip) {
            Main.compute(dip ? 2500 : units);
        }
    }

    /** Each order takes a random time; the dips are no dips at all. */
    static final class Jitter extends Scenario {
        Jitter() {
            super("jitter", "none: random times");
            units = 300;
        }

        @Override
        void work(boolean dip) {
            Main.compute((int) (units * 4 * Math.pow(ThreadLocalRandom.current().nextDouble(), 3)));
        }
    }

    /** The same reads in another order, so that they miss the caches: only hardware counters would show it. */
    static final class Locality extends Scenario {
        private final int[] table = new int[64 << 20];

        Locality() {
            super("locality", "none without hardware counters: cache misses");
            workers = 1;
        }

        @Override
        void work(boolean dip) {
            int step = dip ? 15_485_863 : 1, at = (int) (Main.sink & 0xffffff), sum = 0;
            for (int i = 0; i < 20_000; i++) {
                at = at + step & table.length - 1;
                sum += table[at];
                at += sum; // zero, but the next read waits for this one
            }
            Main.sink = at + sum;
        }

        @Override
        String prepare() throws Exception {
            for (int i = 0; i < table.length; i += 512) {
                table[i] = 0;
            }
            warm(50);
            return null;
        }
    }
}
