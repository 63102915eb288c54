import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.jar.JarFile;
import org.apache.maven.cli.MavenCli;

/**
 * Builds eight libraries of Apache Commons by Maven, modules of one project: {@code Main FOLDER THREADS ITERATIONS MODULES CLASSES}. MODULES are
 * a list with commas between; CLASSES are all in their jars. Nothing is fetched: prepare.sh has done it once.
 */
public class Main {
    static void build(Path folder, String threads, String modules) throws Exception {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        PrintStream print = new PrintStream(out);
        int code = new MavenCli().doMain(new String[] {"-o", "-q", "-B", "-T", threads, "-pl", modules, "-Dmaven.repo.local=" + folder.resolve("repository"),
            "clean", "package"}, folder.resolve("project").toString(), print, print);
        Iterations.expect(0, code, "exit code of Maven, which printed " + out);
    }

    static int classes(Path folder, String modules) throws Exception {
        int n = 0;
        for (String m : modules.split(",")) {
            try (JarFile jar = new JarFile(folder.resolve("project/" + m + "/target/" + m + "-1.jar").toFile())) {
                n += jar.stream().filter(e -> e.getName().endsWith(".class")).count();
            }
        }
        return n;
    }

    public static void main(String[] args) {
        Path folder = Path.of(args[0]);
        System.setProperty("maven.home", folder.resolve("dist").toString());
        System.setProperty("maven.multiModuleProjectDirectory", folder.resolve("project").toString());
        int want = Integer.parseInt(args[4]);
        Iterations.run(Integer.parseInt(args[2]), i -> {
            build(folder, args[1], args[3]);
            Iterations.near(want, classes(folder, args[3]), "classes"); // compilers differ in the classes that they make up
        });
        Iterations.ok("about " + want + " classes");
    }
}
