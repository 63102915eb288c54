import java.util.ArrayDeque;
import java.util.Queue;

/** Loops that take pieces of work and pass them to a method, as servers have them. */
public class Loops {
    static final class Request {
        long dequeued;

        void setDequeued(long at) {
            dequeued = at;
        }
    }

    interface Apis {
        void handle(Request request, String where);
    }

    static final class Channel {
        final Queue<Request> queue = new ArrayDeque<>();

        Request receiveRequest(long timeout) {
            return queue.poll();
        }
    }

    /** Kafka's request handler in small. */
    static class Handler implements Runnable {
        final Channel channel = new Channel();
        Apis apis;

        @Override
        public void run() {
            while (true) {
                Request r = channel.receiveRequest(300);
                if (r == null) {
                    return;
                }
                r.setDequeued(System.nanoTime());
                apis.handle(r, "here");
            }
        }
    }

    interface Event {
        void run(Request r) throws Exception;
    }

    /** The loop is in a method of its own. */
    static class Events implements Runnable {
        final Queue<Event> queue = new ArrayDeque<>();

        @Override
        public void run() {
            try {
                handleEvents();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }

        private void handleEvents() throws Exception {
            for (Event e = queue.poll(); e != null; e = queue.poll()) {
                e.run(null);
            }
        }
    }

    /** Calls only itself: within its own execution that is none. */
    static class Steps implements Runnable {
        int left = 3;

        @Override
        public void run() {
            while (left > 0) {
                doWork(null);
            }
        }

        void doWork(Request r) {
            left--;
        }
    }

    interface Client {
        Object poll(long timeout);
    }

    /** Kafka's sender in small: each step of the loop is a method of its own. */
    static class Sender implements Runnable {
        volatile boolean running = true;
        Client client;

        @Override
        public void run() {
            while (running) {
                runOnce();
            }
        }

        void runOnce() {
            client.poll(100);
        }
    }

    /** No loop. */
    static class Once implements Runnable {
        Apis apis;

        @Override
        public void run() {
            apis.handle(null, "");
        }
    }
}
