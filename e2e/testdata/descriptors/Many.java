import java.util.ArrayList;
import java.util.List;

/** {@code Many N}: N threads that live for some seconds. */
public class Many {
    public static void main(String[] args) throws Exception {
        List<Thread> all = new ArrayList<>();
        for (int i = 0; i < Integer.parseInt(args[0]); i++) {
            Thread t = new Thread(() -> {
                try {
                    Thread.sleep(3000);
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            });
            t.start();
            all.add(t);
        }
        for (Thread t : all) {
            t.join();
        }
        System.out.println(all.size());
    }
}
