import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Links the classes that a file names, "module class" in each line. To ask for the methods of a
 * class links it, and so verifies it, without initialising it.
 */
public class Verify {
    public static void main(String[] args) throws Exception {
        int linked = 0;
        for (String line : Files.readAllLines(Path.of(args[0]))) {
            String[] words = line.split(" ");
            Module module = ModuleLayer.boot().findModule(words[0]).orElseThrow();
            try {
                Class<?> c = Class.forName(module, words[1].replace('/', '.'));
                if (c == null) throw new ClassNotFoundException(line);
                c.getDeclaredMethods();
                linked++;
            } catch (NoClassDefFoundError e) {
                System.out.println("missing " + line + ": " + e);
            } catch (LinkageError e) {
                System.out.println("REJECTED " + line + ": " + e.toString().replace('\n', ' '));
            }
        }
        System.out.println("linked " + linked);
    }
}
