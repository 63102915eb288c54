package vt;

/** Five virtual threads, one after the other; each gives up its carrier three times. */
public class Virtual {
    static int n;

    static class Job implements Runnable {
        public void run() {
            for (int i = 0; i < 3; i++) {
                n++;
                Thread.yield();
            }
        }
    }

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < 5; i++) Thread.ofVirtual().start(new Job()).join();
        System.out.println("virtual " + n);
    }
}
