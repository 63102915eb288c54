import java.io.IOException;
import java.io.InputStream;
import java.lang.module.Configuration;
import java.lang.module.ModuleFinder;
import java.nio.file.Path;
import java.util.Set;

/**
 * The same class in several loaders, a loader that delegates only java.*, and a named module.
 * Known answer: the tasks of all of them are recorded, classes of one name under one name.
 */
public class Main {
    /** Defines the package plugin itself, delegates java.*, and knows nothing else. */
    static final class Strict extends ClassLoader {
        Strict() {
            super(null);
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (name.startsWith("java.")) {
                return super.loadClass(name, resolve);
            }
            if (!name.startsWith("plugin.")) {
                throw new ClassNotFoundException(name);
            }
            synchronized (this) {
                Class<?> c = findLoadedClass(name);
                return c != null ? c : define(name);
            }
        }

        private Class<?> define(String name) throws ClassNotFoundException {
            String file = name.replace('.', '/') + ".class";
            try (InputStream in = Main.class.getClassLoader().getResourceAsStream(file)) {
                byte[] b = in.readAllBytes();
                return defineClass(name, b, 0, b.length);
            } catch (IOException e) {
                throw new ClassNotFoundException(name, e);
            }
        }
    }

    static void runIn(ClassLoader loader, String name) throws Exception {
        Class<?> c = Class.forName(name, true, loader);
        for (int i = 0; i < 4; i++) {
            ((Runnable) c.getDeclaredConstructor().newInstance()).run();
        }
        System.out.println(name + " ran " + c.getField("ran").getInt(null));
    }

    public static void main(String[] args) throws Exception {
        runIn(Main.class.getClassLoader(), "plugin.Job");
        runIn(new Strict(), "plugin.Job");
        runIn(new Strict(), "plugin.Job");
        Path modules = Path.of(Main.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        ModuleLayer boot = ModuleLayer.boot();
        Configuration conf = boot.configuration().resolve(
                ModuleFinder.of(modules.resolve("module-tasks")), ModuleFinder.of(), Set.of("tasks"));
        ModuleLayer layer = boot.defineModulesWithOneLoader(conf, null);
        runIn(layer.findLoader("tasks"), "tasks.api.ModuleJob");
    }
}
