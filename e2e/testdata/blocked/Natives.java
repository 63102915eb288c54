import java.io.File;
import java.io.FileOutputStream;
import java.io.RandomAccessFile;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.channels.FileChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Threads that each wait once in a system call of the JDK: MS. For each it prints `wait THREAD NS`. Nothing is read or written before
 * MS are over. Then three threads force a file to disk, each in another way. For each it prints `forced THREAD NS`.
 */
public final class Natives {
    interface Body {
        void run() throws Exception;
    }

    /** How much a pipe holds that nobody reads from. */
    static final int PIPE = 1 << 16;

    static final List<Thread> waiters = new ArrayList<>();
    static final List<Body> ends = new ArrayList<>();

    /** await waits until end has run. */
    static void add(String name, Body await, Body end) {
        waiters.add(new Thread(() -> wait(await), "waiter-" + name));
        ends.add(end);
    }

    static void wait(Body await) {
        try {
            long from = System.nanoTime();
            await.run();
            long ns = System.nanoTime() - from;
            System.out.printf("wait %s %d%n", Thread.currentThread().getName(), ns);
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    /** A pipe of its own, open on both ends. */
    static File pipe(Path dir, String name) throws Exception {
        File f = dir.resolve(name).toFile();
        if (new ProcessBuilder("mkfifo", f.getPath()).start().waitFor() != 0) {
            throw new AssertionError("mkfifo " + f);
        }
        return f;
    }

    static void pipes(Path dir) throws Exception {
        File full = pipe(dir, "full"), empty = pipe(dir, "empty"), random = pipe(dir, "random");
        RandomAccessFile both = new RandomAccessFile(full, "rw"), reads = new RandomAccessFile(empty, "rw"), puts = new RandomAccessFile(random, "rw");
        FileOutputStream out = new FileOutputStream(full);
        RandomAccessFile in = new RandomAccessFile(random, "rw");
        out.write(new byte[PIPE]);
        add("write", () -> out.write(new byte[PIPE]), () -> both.readFully(new byte[PIPE]));
        add("random-read", () -> reads.read(), () -> new FileOutputStream(empty).write(1));
        puts.write(new byte[PIPE]);
        add("random-write", () -> puts.write(new byte[PIPE]), () -> in.readFully(new byte[PIPE]));
    }

    static void sockets(Path dir) throws Exception {
        UnixDomainSocketAddress at = UnixDomainSocketAddress.of(dir.resolve("socket"));
        ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX).bind(at);
        add("unix-accept", () -> server.accept(), () -> SocketChannel.open(at));
        InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        DatagramChannel to = DatagramChannel.open().bind(any), from = DatagramChannel.open().bind(any);
        to.connect(from.getLocalAddress());
        from.connect(to.getLocalAddress());
        add("datagram-read", () -> to.read(ByteBuffer.allocate(1)), () -> from.write(ByteBuffer.allocate(1)));
    }

    /** How much is written and forced. */
    static final int FORCED = 1 << 25;

    static void force(String name, Body body) throws Exception {
        Thread t = new Thread(() -> {
            try {
                long from = System.nanoTime();
                body.run();
                System.out.printf("forced %s %d%n", Thread.currentThread().getName(), System.nanoTime() - from);
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        }, "forcer-" + name);
        t.start();
        t.join();
    }

    static void forces(Path dir) throws Exception {
        try (RandomAccessFile f = new RandomAccessFile(dir.resolve("forced").toFile(), "rw")) {
            f.write(new byte[FORCED]);
            force("channel", () -> f.getChannel().force(true));
            f.seek(0);
            f.write(new byte[FORCED]);
            force("descriptor", () -> f.getFD().sync());
            MappedByteBuffer map = f.getChannel().map(FileChannel.MapMode.READ_WRITE, 0, FORCED);
            for (int i = 0; i < FORCED; i += 4096) {
                map.put(i, (byte) 1);
            }
            force("map", () -> map.force());
        }
    }

    public static void main(String[] args) throws Exception {
        Path dir = Files.createTempDirectory("natives");
        pipes(dir);
        sockets(dir);
        for (Thread t : waiters) {
            t.setDaemon(true);
            t.start();
        }
        Thread.sleep(Integer.parseInt(args[0]));
        for (Body end : ends) {
            end.run();
        }
        for (Thread t : waiters) {
            t.join();
        }
        forces(dir);
        for (File f : dir.toFile().listFiles()) {
            f.delete();
        }
        Files.delete(dir);
    }
}
