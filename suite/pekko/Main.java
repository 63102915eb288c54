import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import java.util.concurrent.CompletableFuture;
import org.apache.pekko.actor.AbstractActor;
import org.apache.pekko.actor.ActorRef;
import org.apache.pekko.actor.ActorSystem;
import org.apache.pekko.actor.Props;
import org.apache.pekko.routing.RoundRobinPool;

/**
 * Counts the prime numbers below 100 * RANGES by actors: {@code Main THREADS RANGES}. A range is a
 * message to one of 16 actors, its count a message to the actor that adds up.
 */
public class Main {
    static final int RANGE = 100;

    record Range(int from) {}

    record Count(int primes) {}

    static final class Counter extends AbstractActor {
        @Override
        public Receive createReceive() {
            return receiveBuilder().match(Range.class, r -> getSender().tell(new Count(count(r.from)), getSelf())).build();
        }

        static int count(int from) {
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
    }

    static final class Adder extends AbstractActor {
        private final CompletableFuture<Integer> result;
        private int left;
        private int sum;

        Adder(int ranges, CompletableFuture<Integer> result) {
            this.left = ranges;
            this.result = result;
        }

        @Override
        public Receive createReceive() {
            return receiveBuilder().match(Count.class, c -> {
                sum += c.primes;
                if (--left == 0) {
                    result.complete(sum);
                }
            }).build();
        }
    }

    public static void main(String[] args) throws Exception {
        int threads = Integer.parseInt(args[0]);
        int ranges = Integer.parseInt(args[1]);
        Config config = ConfigFactory.parseString("pekko.actor.default-dispatcher.fork-join-executor { parallelism-min = " + threads
                + ", parallelism-max = " + threads + " }\npekko.loglevel = WARNING").withFallback(ConfigFactory.load());
        ActorSystem system = ActorSystem.create("primes", config);
        CompletableFuture<Integer> result = new CompletableFuture<>();
        ActorRef counters = system.actorOf(new RoundRobinPool(16).props(Props.create(Counter.class, Counter::new)));
        ActorRef adder = system.actorOf(Props.create(Adder.class, () -> new Adder(ranges, result)));
        for (int i = 0; i < ranges; i++) {
            counters.tell(new Range(i * RANGE), adder);
        }
        System.out.println(result.get() + " primes below " + ranges * RANGE);
        system.terminate();
        system.getWhenTerminated().toCompletableFuture().get();
    }
}
