import dotty.tools.dotc.reporting.Reporter;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * Compiles a library by the Scala 3 compiler: {@code Main FOLDER THREADS ITERATIONS LIBRARY CLASSES}. THREADS threads write class files. Each
 * class that comes out is loaded and verified by the JVM.
 */
public class Main {
    static List<String> files(Path folder, String suffix) throws IOException {
        try (Stream<Path> all = Files.walk(folder)) {
            return all.map(Path::toString).filter(f -> f.endsWith(suffix)).sorted().toList();
        }
    }

    static void compile(String classPath, Path sources, Path out, String threads) throws IOException {
        List<String> args = new ArrayList<>(List.of("-classpath", classPath, "-d", out.toString(), "-nowarn", "-Ykind-projector",
            "-language:implicitConversions", "-Ybackend-parallelism", threads));
        args.addAll(files(sources, ".scala"));
        args.addAll(files(sources, ".java"));
        Reporter r = dotty.tools.dotc.Main.process(args.toArray(new String[0]));
        Iterations.expect(false, r.hasErrors(), "errors of the compiler");
    }

    /** Loads the classes and has each verified. */
    static int verified(Path out) throws Exception {
        List<String> classes = files(out, ".class");
        try (URLClassLoader loader = new URLClassLoader(new URL[] {out.toUri().toURL()}, Main.class.getClassLoader())) {
            for (String c : classes) {
                String name = out.relativize(Path.of(c)).toString().replace(".class", "").replace('/', '.');
                Class.forName(name, false, loader).getMethods();
            }
        }
        return classes.size();
    }

    public static void main(String[] args) {
        Path folder = Path.of(args[0]);
        String classPath = System.getProperty("java.class.path");
        int want = Integer.parseInt(args[4]);
        Iterations.run(Integer.parseInt(args[2]), i -> {
            Path out = Files.createTempDirectory("scala");
            compile(classPath, folder.resolve(args[3]), out, args[1]);
            Iterations.expect(want, verified(out), "classes");
            Scratch.delete(out);
        });
        Iterations.ok(want + " classes");
    }
}
