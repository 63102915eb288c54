import com.lmax.disruptor.EventHandler;
import com.lmax.disruptor.dsl.Disruptor;
import com.lmax.disruptor.util.DaemonThreadFactory;

/**
 * Counts the prime numbers below 100 * RANGES by LMAX's Disruptor: {@code Main THREADS RANGES}. A range is an event; each
 * of THREADS handlers takes its share of them, and one after them adds up.
 */
public class Main {
    static final int RANGE = 100;

    static final class Event {
        int from, primes;
    }

    record Counter(int number, int of) implements EventHandler<Event> {
        @Override
        public void onEvent(Event event, long sequence, boolean endOfBatch) {
            if (sequence % of == number) {
                event.primes = primes(event.from);
            }
        }
    }

    static final class Adder implements EventHandler<Event> {
        private int sum;

        @Override
        public void onEvent(Event event, long sequence, boolean endOfBatch) {
            sum += event.primes;
        }
    }

    static int primes(int from) {
        int primes = 0;
        for (int n = Math.max(2, from); n < from + RANGE; n++) {
            boolean prime = true;
            for (int d = 2; prime && d * d <= n; d++) {
                prime = n % d != 0;
            }
            primes += prime ? 1 : 0;
        }
        return primes;
    }

    public static void main(String[] args) {
        int threads = Integer.parseInt(args[0]), ranges = Integer.parseInt(args[1]);
        Disruptor<Event> disruptor = new Disruptor<>(Event::new, 1024, DaemonThreadFactory.INSTANCE);
        Counter[] counters = new Counter[threads];
        for (int i = 0; i < threads; i++) {
            counters[i] = new Counter(i, threads);
        }
        Adder adder = new Adder();
        disruptor.handleEventsWith(counters).then(adder);
        disruptor.start();
        for (int i = 0; i < ranges; i++) {
            disruptor.publishEvent((event, sequence, from) -> event.from = from, i * RANGE);
        }
        disruptor.shutdown(); // waits until all events are handled
        System.out.println(adder.sum + " primes below " + ranges * RANGE);
    }
}
