/** Main N: N virtual threads that end, one after the other, and one that still runs when the program does. */
final class Main {
    static volatile boolean never;

    public static void main(String[] args) throws InterruptedException {
        Thread.ofVirtual().start(() -> {
            while (!never) {
                Thread.onSpinWait();
            }
        });
        for (int i = Integer.parseInt(args[0]); i > 0; i--) {
            Thread.ofVirtual().start(() -> { }).join();
        }
        System.exit(0);
    }
}
