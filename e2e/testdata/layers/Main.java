import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Does something in all layers at once, when a line on standard input asks for it, and prints when: begin and end. */
public class Main {
    static volatile Object sink;

    static class Late {
        static final int X = Integer.getInteger("x", 1);
    }

    public static void main(String[] args) throws Exception {
        var pool = Executors.newFixedThreadPool(1);
        pool.submit(() -> {}).get();
        System.out.println(ProcessHandle.current().pid());
        System.in.read();
        Thread.sleep(300); // nothing happens before and after
        long begin = System.nanoTime();
        var tasks = new ArrayList<Future<?>>();
        for (int i = 0; i < 200; i++) {
            tasks.add(pool.submit(() -> {}));
        }
        for (var t : tasks) {
            t.get();
        }
        var touched = ByteBuffer.allocateDirect(64 << 20); // zeroed: each page is touched
        sink = touched;
        Path file = Files.createTempFile("layers", "");
        try (var c = FileChannel.open(file, StandardOpenOption.WRITE)) {
            for (int i = 0; i < 300; i++) {
                c.write(ByteBuffer.wrap(new byte[100]));
            }
            c.force(true);
        }
        Files.delete(file);
        for (int i = 0; i < 5; i++) {
            var t = new Thread(() -> {});
            t.start();
            t.join();
        }
        sink = Late.X;
        for (int i = 0; i < 4; i++) {
            System.gc();
        }
        long end = System.nanoTime();
        Thread.sleep(300);
        pool.shutdown();
        System.out.println(begin + " " + end);
        System.in.read();
        System.in.read();
    }
}
