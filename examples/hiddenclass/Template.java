/** The bytes of this class are defined as hidden classes; the class itself is never used. */
class Template implements Runnable {
    public void run() {
        Main.ran++;
    }
}
