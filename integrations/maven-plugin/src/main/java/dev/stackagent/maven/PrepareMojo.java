package dev.stackagent.maven;

import dev.stackagent.build.Jvm;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.maven.plugin.MojoExecutionException;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;

/** Has Surefire and Failsafe run each test JVM under the shadow: it sets their property {@code jvm}. */
@Mojo(name = "prepare", defaultPhase = LifecyclePhase.PROCESS_TEST_CLASSES, threadSafe = true)
public final class PrepareMojo extends Settings {
    /** Further flags of {@code shadow run}, for example {@code --metric wall+cpu+alloc}. */
    @Parameter
    private List<String> options = new ArrayList<>();

    /** The JDK of the tests. */
    @Parameter(property = "stackagent.javaHome", defaultValue = "${java.home}")
    private File javaHome;

    /** For the goal. */
    public PrepareMojo() {}

    @Override
    public void execute() throws MojoExecutionException {
        if (skip) {
            return;
        }
        try {
            Path java = Jvm.write(folder(), javaHome.toPath(), shadow(), options);
            project.getProperties().setProperty("jvm", java.toString());
            getLog().info("stackagent: test JVMs are recorded in " + folder().resolve("sessions"));
        } catch (IOException e) {
            throw new MojoExecutionException("stackagent: cannot prepare the test JVM: " + e.getMessage(), e);
        }
    }
}
