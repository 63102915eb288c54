package dev.stackagent.maven;

import dev.stackagent.build.Gate;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import org.apache.maven.plugin.MojoExecutionException;
import org.apache.maven.plugin.MojoFailureException;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;

/** Checks the budgets of the recorded test JVMs and fails the build if one is broken. */
@Mojo(name = "check", defaultPhase = LifecyclePhase.VERIFY, threadSafe = true)
public final class CheckMojo extends Settings {
    /** A file of budgets that every test JVM has to keep. Budgets of tests are in their annotations. */
    @Parameter(property = "stackagent.budgets")
    private File budgets;

    /** A file of figures that budgets compare with, written by {@code shadow check --write-baseline}. */
    @Parameter(property = "stackagent.baseline")
    private File baseline;

    /** Whether budgets pass that cannot be decided: a selector matches nothing, or a figure is not available. */
    @Parameter(property = "stackagent.allowEmpty", defaultValue = "false")
    private boolean allowEmpty;

    /** Whether a broken budget fails the build. */
    @Parameter(property = "stackagent.failOnBroken", defaultValue = "true")
    private boolean failOnBroken;

    /** Where the JUnit XML goes. */
    @Parameter(property = "stackagent.reports", defaultValue = "${project.build.directory}/surefire-reports")
    private File reports;

    /** For the goal. */
    public CheckMojo() {}

    @Override
    public void execute() throws MojoExecutionException, MojoFailureException {
        if (skip) {
            return;
        }
        Path markdown = folder().resolve("summary.md");
        Gate.Verdict v;
        try {
            v = new Gate(shadow(), folder(), path(budgets), path(baseline), allowEmpty).check(reports.toPath(), markdown);
        } catch (IOException e) {
            throw new MojoExecutionException("stackagent: " + e.getMessage(), e);
        }
        if (v.sessions == 0) {
            getLog().warn("stackagent: no test JVM was recorded, so no budget was checked");
        }
        v.text.lines().forEach(v.broken ? getLog()::error : getLog()::info);
        if (v.broken && failOnBroken) {
            throw new MojoFailureException("stackagent: a budget is broken; see the lines above and " + markdown);
        }
    }

    private static Path path(File f) {
        return f == null ? null : f.toPath();
    }
}
