import com.sun.tools.attach.VirtualMachine;
import java.io.IOException;
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutorService;

/**
 * {@code DefinedClasses KIND N [AGENT OPTIONS]}: defines N classes, renamed copies of one template, and prints the CPU
 * time of the process per class, in nanoseconds. With an agent it then prints the CPU time of attaching and detaching it,
 * in microseconds.
 */
public class DefinedClasses {
    /** No task, and no site. */
    static class Plain_000000 {
        int a;
        String text = "x";

        int sum(int[] numbers) {
            int s = a;
            for (int n : numbers) {
                s += n;
            }
            return s;
        }

        String text(Object o) {
            return text + o.hashCode() + sum(new int[] {1, 2});
        }
    }

    /** Nobody's task. */
    public static class Parts {
        public Parts() {}

        void submit(String part) {
            System.out.println(part);
        }
    }

    /** No task: it calls a method named like one that submits tasks. */
    static class Named_000000 {
        Parts parts;

        void send() {
            parts.submit("a");
        }
    }

    /** No task: it has a method like a task's. */
    static class Run_000000 {
        int a;

        public void run() {
            a++;
        }
    }

    /** No task: it extends a class of the program. */
    static class Below_000000 extends Parts implements Comparable<String> {
        int a;

        @Override
        public int compareTo(String other) {
            return a - other.length();
        }
    }

    /** It makes objects of the program that are no tasks. */
    static class Making_000000 {
        Object make() {
            return new Parts();
        }
    }

    /** It makes a thread. */
    static class Threads_000000 {
        Thread make() {
            return new Thread("a");
        }
    }

    /** It submits a task. */
    static class Submits_000000 {
        void give(ExecutorService to, Runnable task) {
            to.submit(task);
        }
    }

    static final class Loader extends ClassLoader {
        Loader() {
            super(DefinedClasses.class.getClassLoader());
        }

        Class<?> define(byte[] file) {
            return defineClass(null, file, 0, file.length);
        }
    }

    static byte[] template(String kind) throws IOException {
        try (InputStream in = DefinedClasses.class.getResourceAsStream("DefinedClasses$" + kind + "_000000.class")) {
            return in.readAllBytes();
        }
    }

    static long processCPU() {
        return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
    }

    static void define(Loader loader, byte[] template, int from, int to) {
        String text = new String(template, StandardCharsets.ISO_8859_1);
        for (int i = from; i < to; i++) {
            byte[] file = template.clone();
            byte[] number = String.format("%06d", i).getBytes(StandardCharsets.ISO_8859_1);
            for (int at = text.indexOf("_000000"); at >= 0; at = text.indexOf("_000000", at + 1)) {
                System.arraycopy(number, 0, file, at + 1, number.length);
            }
            loader.define(file);
        }
    }

    /** Needs a JVM that may attach to itself. */
    static void attach(String agent, String options) throws Exception {
        VirtualMachine self = VirtualMachine.attach(Long.toString(ProcessHandle.current().pid()));
        for (String what : new String[] {options, "detach"}) {
            long start = processCPU();
            self.loadAgentPath(agent, what);
            System.out.println((processCPU() - start) / 1000);
        }
        self.detach();
    }

    public static void main(String[] args) throws Exception {
        byte[] template = template(args[0]);
        int n = Integer.parseInt(args[1]), warm = n / 5;
        Loader loader = new Loader();
        define(loader, template, 0, warm);
        long start = processCPU();
        define(loader, template, warm, warm + n);
        System.out.println((processCPU() - start) / n);
        if (args.length > 2) {
            attach(args[2], args[3]);
        }
    }
}
