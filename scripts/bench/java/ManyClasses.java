import java.io.IOException;
import java.net.URI;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** {@code ManyClasses N}: loads N classes of the JDK, in the order of their names, without initialising them. */
public class ManyClasses {
    static final List<String> MODULES = List.of("java.base", "java.desktop", "java.xml", "jdk.compiler");

    static List<String> names(FileSystem jrt, String module) {
        Path top = jrt.getPath("/modules", module);
        try (Stream<Path> files = Files.walk(top)) {
            return files.map(f -> top.relativize(f).toString())
                .filter(f -> f.endsWith(".class") && !f.endsWith("-info.class"))
                .map(f -> f.substring(0, f.length() - ".class".length()).replace('/', '.'))
                .sorted().collect(Collectors.toList());
        } catch (IOException e) {
            throw new IllegalStateException("listing " + module, e);
        }
    }

    public static void main(String[] args) {
        int want = Integer.parseInt(args[0]);
        FileSystem jrt = FileSystems.getFileSystem(URI.create("jrt:/"));
        ClassLoader loader = ClassLoader.getSystemClassLoader();
        int loaded = 0;
        for (String module : MODULES) {
            for (String name : names(jrt, module)) {
                if (loaded == want) {
                    return;
                }
                try {
                    Class.forName(name, false, loader);
                    loaded++;
                } catch (ClassNotFoundException | LinkageError e) {
                    // A few refer to classes that this JDK lacks.
                }
            }
        }
        throw new IllegalStateException("only " + loaded + " classes");
    }
}
