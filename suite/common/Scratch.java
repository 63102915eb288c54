import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Deletes a program's temporary files. */
final class Scratch {
    private Scratch() {
    }

    static void delete(Path folder) throws IOException {
        try (var files = Files.walk(folder)) {
            files.sorted((a, b) -> b.compareTo(a)).forEach(f -> f.toFile().delete());
        }
    }
}
