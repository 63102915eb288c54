import java.awt.image.BufferedImage;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import javax.imageio.ImageIO;
import org.apache.batik.transcoder.TranscoderException;
import org.apache.batik.transcoder.TranscoderInput;
import org.apache.batik.transcoder.TranscoderOutput;
import org.apache.batik.transcoder.image.ImageTranscoder;
import org.apache.batik.transcoder.image.PNGTranscoder;

/** Draws flags: {@code Main FOLDER THREADS ITERATIONS WIDTH EVERY}. A task makes a PNG of an SVG file; EVERY file is taken. */
public class Main {
    static final long REFUSED = -1;

    record Flag(Path svg, float width) implements Callable<Long> {
        @Override
        public Long call() throws Exception {
            PNGTranscoder t = new PNGTranscoder();
            t.addTranscodingHint(ImageTranscoder.KEY_WIDTH, width);
            t.addTranscodingHint(ImageTranscoder.KEY_HEIGHT, width * 3 / 4);
            ByteArrayOutputStream png = new ByteArrayOutputStream();
            try {
                t.transcode(new TranscoderInput(svg.toUri().toString()), new TranscoderOutput(png));
            } catch (TranscoderException e) { // a few use what came with SVG 2
                return REFUSED;
            }
            BufferedImage image = ImageIO.read(new ByteArrayInputStream(png.toByteArray()));
            Iterations.expect((int) width, image.getWidth(), "width of " + svg.getFileName());
            Iterations.expect((int) width * 3 / 4, image.getHeight(), "height of " + svg.getFileName());
            return brightness(image);
        }

        static long brightness(BufferedImage image) {
            long sum = 0;
            for (int rgb : image.getRGB(0, 0, image.getWidth(), image.getHeight(), null, 0, image.getWidth())) {
                sum += (rgb >> 16 & 255) + (rgb >> 8 & 255) + (rgb & 255);
            }
            return sum;
        }
    }

    static List<Path> flags(Path folder, int every) throws Exception {
        try (var files = Files.list(folder)) {
            List<Path> all = files.filter(f -> f.toString().endsWith(".svg")).sorted().toList();
            List<Path> chosen = new ArrayList<>();
            for (int i = 0; i < all.size(); i += every) {
                chosen.add(all.get(i));
            }
            return chosen;
        }
    }

    /** France is blue, white and red in equal parts: #000091, #fff and #e1000f. */
    static void checkFrance(Path folder, int width) throws Exception {
        long want = (long) width * (width * 3 / 4) * (0x91 + 3 * 255 + 0xe1 + 0x0f) / 3, got = new Flag(folder.resolve("fr.svg"), width).call();
        Iterations.expect(true, Math.abs(got - want) < want / 200, "the brightness of the flag of France, " + got + ", is within 0.5 % of " + want);
    }

    public static void main(String[] args) throws Exception {
        Path folder = Path.of(args[0], "flags/package/flags/4x3");
        int width = Integer.parseInt(args[3]);
        List<Path> files = flags(folder, Integer.parseInt(args[4]));
        ExecutorService pool = Executors.newFixedThreadPool(Integer.parseInt(args[1]));
        long[] first = new long[1];
        Iterations.run(Integer.parseInt(args[2]), i -> {
            List<Flag> flags = new ArrayList<>();
            for (Path f : files) {
                flags.add(new Flag(f, width));
            }
            long sum = 0;
            int refused = 0;
            for (Future<Long> f : pool.invokeAll(flags)) {
                sum += Math.max(0, f.get());
                refused += f.get() == REFUSED ? 1 : 0;
            }
            Iterations.expect(true, refused * 50 <= files.size(), "at most 2 % of the files are refused, not " + refused + " of " + files.size());
            first[0] = i == 1 ? sum : first[0];
            Iterations.expect(first[0], sum, "brightness of all flags");
            checkFrance(folder, width);
        });
        pool.shutdown();
        Iterations.ok(files.size() + " flags");
    }
}
