/** Sleeps for args[0] seconds. */
final class Quiet {
    public static void main(String[] args) throws InterruptedException {
        Thread.sleep(1000L * Integer.parseInt(args[0]));
    }
}
