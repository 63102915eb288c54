import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/** Causes in native code, the operating system, or outside the program. */
final class InSystem {
    private InSystem() {
    }

    static List<Supplier<Scenario>> all() {
        return List.of(Mapped::new, MajorFaults::new, Fsync::new, Neighbour::new, Throttled::new, Network::new);
    }

    static FileChannel file(String name, int bytes) throws Exception {
        Path p = Files.createTempFile(name, ".data");
        p.toFile().deleteOnExit();
        FileChannel c = FileChannel.open(p, StandardOpenOption.READ, StandardOpenOption.WRITE);
        ByteBuffer block = ByteBuffer.allocateDirect(1 << 20);
        for (int i = 0; i < bytes >> 20; i++) {
            block.clear();
            c.write(block);
        }
        return c;
    }

    /** Maps and unmaps a piece of a file. */
    static final class Mapped extends Scenario {
        private final ThreadLocal<FileChannel> files = ThreadLocal.withInitial(() -> { // as a channel has a lock
            try {
                return file("mapped", 1 << 20);
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        });

        Mapped() {
            super("mmap", "mmap and munmap again and again");
        }

        @Override
        String prepare() throws Exception {
            warm(100);
            return null;
        }

        @Override
        void work(boolean dip) throws Exception {
            Main.compute(units);
            FileChannel file = files.get();
            for (int i = 0; dip && i < 200; i++) {
                MappedByteBuffer b = file.map(FileChannel.MapMode.READ_ONLY, 0, 1 << 18);
                InLibraries.free(b);
            }
        }
    }

    /** Reads a mapped file here and there, after dd has taken it out of the page cache. */
    static final class MajorFaults extends Scenario {
        private static final int SIZE = 1 << 30, STEP = 256 << 10;
        private Path file;
        private MappedByteBuffer map;
        private int next;

        MajorFaults() {
            super("major", "major faults on a mapped file");
            workers = 1;
        }

        @Override
        String prepare() throws Exception {
            file = Files.createTempFile("table", ".data"); // /tmp may be in memory
            file.toFile().deleteOnExit();
            try (FileChannel c = FileChannel.open(file, StandardOpenOption.WRITE)) {
                ByteBuffer block = ByteBuffer.allocateDirect(8 << 20);
                for (int i = 0; i < SIZE / block.capacity(); i++) {
                    block.clear();
                    c.write(block);
                }
                c.force(true);
            }
            return map();
        }

        /** What is mapped stays in memory, and so the file is mapped anew. */
        private synchronized String map() throws Exception {
            if (map != null) {
                InLibraries.free(map);
            }
            Process dd = new ProcessBuilder("dd", "if=" + file, "iflag=nocache", "count=0").redirectErrorStream(true).start();
            dd.getInputStream().readAllBytes();
            if (dd.waitFor() != 0) {
                return "dd with iflag=nocache, which takes a file out of the page cache";
            }
            try (FileChannel c = FileChannel.open(file, StandardOpenOption.READ)) {
                map = c.map(FileChannel.MapMode.READ_ONLY, 0, SIZE);
            }
            return null;
        }

        @Override
        void work(boolean dip) {
            Main.compute(units);
            if (dip) {
                synchronized (this) {
                    next = (next + 1) % (SIZE / STEP);
                    Main.sink += map.get((int) (next * 2_654_435_761L % (SIZE / STEP)) * STEP);
                }
            }
        }

        @Override
        void leave(int dip) throws Exception {
            if (dip + 1 < Main.DIPS) {
                map();
            }
        }
    }

    /** Each order is written to disk. Decoy: exceptions from 200 ms before the end of the first dip on. */
    static final class Fsync extends Scenario {
        private final ThreadLocal<FileChannel> files = ThreadLocal.withInitial(() -> { // as a channel has a lock
            try {
                return file("journal", 1 << 20);
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        });

        Fsync() {
            super("fsync", "fsync of a log");
        }

        @Override
        String prepare() throws Exception {
            warm(3);
            return null;
        }

        @Override
        void enter(int dip) {
            if (dip == 0) {
                Decoy.after(Main.DIP - 200, Main.DIP, "plugin", Decoy.exceptions());
            }
        }

        @Override
        void work(boolean dip) throws Exception {
            Main.compute(units);
            FileChannel file = files.get();
            for (int i = 0; dip && i < 4; i++) {
                file.write(ByteBuffer.allocate(4096));
                file.force(true);
            }
        }
    }

    /** Other processes compute. Decoy: exceptions in the first dip, from 100 ms after its begin on. */
    static final class Neighbour extends Scenario {
        /** Computes for 600 ms whenever it reads a line, by commands of the shell itself. */
        private static final String SCRIPT = "now() { read up rest < /proc/uptime; now=${up%.*}${up#*.}; }\n"
                + "while read line; do now; end=$((now + 60)); while [ $now -lt $end ]; do\n"
                + "i=0; while [ $i -lt 2000 ]; do i=$((i + 1)); done; now; done; done";
        private final List<Process> others = new ArrayList<>();

        Neighbour() {
            super("neighbour", "other processes take the CPUs");
            units = 400;
        }

        @Override
        String prepare() throws Exception {
            for (int i = 0; i < 10; i++) {
                others.add(new ProcessBuilder("sh", "-c", SCRIPT).start());
            }
            return null;
        }

        @Override
        void enter(int dip) throws Exception {
            if (dip == 0) {
                Decoy.after(100, Main.DIP, "plugin", Decoy.exceptions());
            }
            for (Process p : others) {
                p.getOutputStream().write('\n');
                p.getOutputStream().flush();
            }
        }

        @Override
        void close() {
            others.forEach(Process::destroy);
        }
    }

    /** The control group gives the program an eighth of a CPU. */
    static final class Throttled extends Scenario {
        private static final Path CPU = Path.of("/sys/fs/cgroup/cpu");
        private Path group;

        Throttled() {
            super("throttle", "the control group's CPU quota");
            units = 200;
        }

        @Override
        String prepare() throws Exception {
            try {
                group = Files.createTempDirectory(CPU, "stackagent-vertical");
                Files.writeString(group.resolve("cgroup.procs"), "" + ProcessHandle.current().pid());
            } catch (java.io.IOException e) {
                return "a control group of its own: " + e;
            }
            return null;
        }

        private void quota(int micros) throws Exception {
            Files.writeString(group.resolve("cpu.cfs_quota_us"), "" + micros);
        }

        @Override
        void enter(int dip) throws Exception {
            quota(12_000);
        }

        @Override
        void leave(int dip) throws Exception {
            quota(-1);
        }

        @Override
        void close() throws Exception {
            Files.writeString(CPU.resolve("cgroup.procs"), "" + ProcessHandle.current().pid());
            Files.delete(group);
        }
    }

    /** A backup over the network takes the CPUs, mostly in the kernel. */
    static final class Network extends Scenario {
        private static final int PAIRS = 5;

        Network() {
            super("network", "a backup over the network");
            units = 400;
        }

        @Override
        String prepare() throws Exception {
            ServerSocket server = new ServerSocket(0, PAIRS, InetAddress.getLoopbackAddress());
            for (int i = 0; i < PAIRS; i++) {
                OutputStream out = new Socket(server.getInetAddress(), server.getLocalPort()).getOutputStream();
                InputStream in = server.accept().getInputStream();
                byte[] block = new byte[4 << 10];
                out.write(block);
                Main.inDips("backup", () -> out.write(block));
                Thread t = new Thread(() -> {
                    try (in) {
                        in.transferTo(OutputStream.nullOutputStream());
                    } catch (java.io.IOException e) {
                        throw new IllegalStateException(e);
                    }
                }, "store");
                t.setDaemon(true);
                t.start();
            }
            return null;
        }
    }
}
