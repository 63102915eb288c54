import org.sunflow.Benchmark;

/**
 * Renders Sunflow's own benchmark scene: {@code Main RESOLUTION THREADS FRAMES}. Every frame starts THREADS
 * threads, which take buckets of 32x32 pixels from a shared list.
 */
public class Main {
    public static void main(String[] args) {
        int resolution = Integer.parseInt(args[0]);
        int threads = Integer.parseInt(args[1]);
        int frames = Integer.parseInt(args[2]);
        for (int i = 0; i < frames; i++) {
            Benchmark frame = new Benchmark(resolution, false, false, true, threads, false);
            frame.kernelBegin();
            frame.kernelMain();
        }
        System.out.println("rendered " + frames + " frames");
    }
}
