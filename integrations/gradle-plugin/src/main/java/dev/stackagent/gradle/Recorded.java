package dev.stackagent.gradle;

import dev.stackagent.build.Gate;
import dev.stackagent.build.Jvm;
import dev.stackagent.build.Shadow;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.gradle.api.Action;
import org.gradle.api.GradleException;
import org.gradle.api.Project;
import org.gradle.api.Task;
import org.gradle.api.tasks.testing.Test;
import org.gradle.util.GradleVersion;

/** A Test task whose JVMs are recorded. */
final class Recorded {
    private final Test test;
    private final StackagentExtension settings;
    private final Path folder;
    private final Path reports;
    private final Path projectDir;

    @SuppressWarnings("deprecation") // see below
    private Recorded(Project project, Test test, StackagentExtension settings) {
        this.test = test;
        this.settings = settings;
        Path build = project.getBuildDir().toPath(); // its successor has another type in each version of Gradle
        this.folder = build.resolve("stackagent").resolve(test.getName());
        this.reports = build.resolve("test-results").resolve(test.getName());
        this.projectDir = project.getProjectDir().toPath();
    }

    static void set(Project project, Test test, StackagentExtension settings) {
        Recorded r = new Recorded(project, test, settings);
        // What changes the verdict makes the tests run again.
        test.getInputs().files((Callable<Object>) () -> settings.getBudgets() == null ? List.of() : settings.getBudgets());
        test.getInputs().files((Callable<Object>) () -> settings.getBaseline() == null ? List.of() : settings.getBaseline());
        test.getInputs().property("stackagent", (Callable<Object>) () -> settings.isEnabled() + " " + settings.isAllowEmpty() + " " + settings.getOptions());
        // Anonymous classes, not lambdas: Gradle cannot tell whether a task that runs a lambda is up to date.
        test.doFirst(new Action<Task>() {
            @Override
            public void execute(Task t) {
                r.prepare();
            }
        });
        test.doLast(new Action<Task>() {
            @Override
            public void execute(Task t) {
                r.check();
            }
        });
    }

    private void prepare() {
        if (!settings.isEnabled()) {
            return;
        }
        try {
            Shadow shadow = Shadow.find(settings.getHome());
            if (GradleVersion.current().compareTo(GradleVersion.version("6.7")) >= 0) {
                Launcher.replace(test, home -> Jvm.write(folder, home, shadow, settings.getOptions()));
            } else {
                Path home = Path.of(test.getExecutable()).toRealPath().getParent().getParent();
                test.setExecutable(Jvm.write(folder, home, shadow, settings.getOptions()).toString());
            }
        } catch (IOException e) {
            throw new GradleException("stackagent: cannot prepare the test JVM: " + e.getMessage(), e);
        }
    }

    private Path path(File f) {
        return f == null ? null : projectDir.resolve(f.toPath());
    }

    private void check() {
        if (!settings.isEnabled()) {
            return;
        }
        Path markdown = folder.resolve("summary.md");
        Gate.Verdict v;
        try {
            v = new Gate(Shadow.find(settings.getHome()), folder, path(settings.getBudgets()), path(settings.getBaseline()), settings.isAllowEmpty())
                    .check(reports, markdown);
        } catch (IOException e) {
            throw new GradleException("stackagent: " + e.getMessage(), e);
        }
        if (v.sessions == 0) {
            test.getLogger().warn("stackagent: no test JVM was recorded, so no budget was checked");
        }
        if (v.broken) {
            test.getLogger().error(v.text);
            throw new GradleException("stackagent: a budget is broken; see the lines above and " + markdown);
        }
        test.getLogger().lifecycle(v.text);
    }
}
