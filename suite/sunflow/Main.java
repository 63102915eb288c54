import org.sunflow.Benchmark;

/**
 * Renders Sunflow's own benchmark scene: {@code Main THREADS ITERATIONS RESOLUTION FRAMES}. Every frame starts THREADS threads, which
 * take buckets of 32x32 pixels from a shared list. Sunflow compares each with a reference that one thread rendered.
 */
public class Main {
    /** {@code Reference RESOLUTION...}: renders the references by one thread, into the folder resources. */
    public static class Reference {
        public static void main(String[] args) {
            for (String resolution : args) {
                new Benchmark(Integer.parseInt(resolution), false, false, true, 1, false).kernelMain();
            }
        }
    }

    public static void main(String[] args) {
        int threads = Integer.parseInt(args[0]), resolution = Integer.parseInt(args[2]), frames = Integer.parseInt(args[3]);
        Iterations.run(Integer.parseInt(args[1]), i -> {
            for (int n = 0; n < frames; n++) {
                Benchmark frame = new Benchmark(resolution, false, false, false, threads, false);
                frame.kernelBegin();
                frame.kernelMain();
                frame.kernelEnd(); // throws if it is another picture
            }
        });
        Iterations.ok("all frames are like the reference");
    }
}
