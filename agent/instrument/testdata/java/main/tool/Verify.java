package tool;

import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Links the classes that a file names, "module class" in each line, and prints what is wrong. To
 * ask for the methods of a class links it, and so verifies it, without initialising it. Prints how
 * many classes were linked, and how many of them have the probes in their bytes.
 */
public class Verify {
    public static void main(String[] args) throws Exception {
        int linked = 0, woven = 0;
        ModuleLayer boot = ModuleLayer.boot();
        List<String> lines = Files.readAllLines(Path.of(args[0]));
        for (String line : lines) {
            String[] words = line.split(" ");
            Module module = boot.findModule(words[0]).orElse(null);
            if (module == null) {
                System.out.println("no module " + words[0]);
                continue;
            }
            try {
                Class<?> c = Class.forName(module, words[1].replace('/', '.'));
                if (c == null) {
                    System.out.println("no class " + line);
                    continue;
                }
                c.getDeclaredMethods();
                linked++;
                if (isWoven(module, words[1])) woven++;
            } catch (NoClassDefFoundError e) {
                System.out.println("missing " + line + ": " + e);
            } catch (LinkageError e) {
                System.out.println("REJECTED " + line + ": " + e.toString().replace('\n', ' '));
            }
        }
        System.out.println("linked " + linked + " woven " + woven);
    }

    private static boolean isWoven(Module module, String name) throws Exception {
        try (InputStream in = module.getResourceAsStream(name + ".class")) {
            return in != null && new String(in.readAllBytes(), "ISO-8859-1").contains("java/lang/Stackagent");
        }
    }
}
