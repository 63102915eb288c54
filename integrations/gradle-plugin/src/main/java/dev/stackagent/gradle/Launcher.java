package dev.stackagent.gradle;

import java.io.IOException;
import java.nio.file.Path;
import org.gradle.api.file.RegularFile;
import org.gradle.api.tasks.testing.Test;
import org.gradle.jvm.toolchain.JavaInstallationMetadata;
import org.gradle.jvm.toolchain.JavaLauncher;

/** The launcher of a Test task with another {@code java}. Gradle has launchers since 6.7. */
final class Launcher implements JavaLauncher {
    private final JavaLauncher real;
    private final RegularFile java;

    private Launcher(JavaLauncher real, RegularFile java) {
        this.real = real;
        this.java = java;
    }

    /** Writes the {@code java} that takes the place of a JDK's. */
    interface Writer {
        Path write(Path javaHome) throws IOException;
    }

    static void replace(Test test, Writer writer) throws IOException {
        JavaLauncher real = test.getJavaLauncher().get();
        if (real instanceof Launcher) {
            real = ((Launcher) real).real;
        }
        Path java = writer.write(real.getMetadata().getInstallationPath().getAsFile().toPath());
        test.getJavaLauncher().set(new Launcher(real, java::toFile));
    }

    @Override
    public JavaInstallationMetadata getMetadata() {
        return real.getMetadata();
    }

    @Override
    public RegularFile getExecutablePath() {
        return java;
    }
}
