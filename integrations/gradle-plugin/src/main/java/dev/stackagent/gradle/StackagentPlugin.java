package dev.stackagent.gradle;

import org.gradle.api.Plugin;
import org.gradle.api.Project;
import org.gradle.api.tasks.testing.Test;

/** Runs the JVMs of all Test tasks under the shadow, and checks their budgets when they have ended. */
public final class StackagentPlugin implements Plugin<Project> {
    /** For Gradle. */
    public StackagentPlugin() {}

    @Override
    public void apply(Project project) {
        StackagentExtension settings = project.getExtensions().create("stackagent", StackagentExtension.class);
        // configureEach is newer than the oldest Gradle that this works with.
        project.getTasks().withType(Test.class).all(test -> Recorded.set(project, test, settings));
    }
}
