package dev.stackagent.maven;

import dev.stackagent.build.Shadow;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import org.apache.maven.plugin.AbstractMojo;
import org.apache.maven.plugin.MojoExecutionException;
import org.apache.maven.plugins.annotations.Parameter;
import org.apache.maven.project.MavenProject;

/** The settings of both goals. */
abstract class Settings extends AbstractMojo {
    @Parameter(defaultValue = "${project}", readonly = true, required = true)
    MavenProject project;

    /** The shadow command, or the folder of stackagent. Default: STACKAGENT_HOME, then PATH. */
    @Parameter(property = "stackagent.home")
    private String home;

    /** Where sessions and the summary go. */
    @Parameter(property = "stackagent.directory", defaultValue = "${project.build.directory}/stackagent")
    private File directory;

    /** Whether to do nothing. */
    @Parameter(property = "stackagent.skip", defaultValue = "false")
    boolean skip;

    Shadow shadow() throws MojoExecutionException {
        try {
            return Shadow.find(home);
        } catch (IOException e) {
            throw new MojoExecutionException("stackagent: " + e.getMessage(), e);
        }
    }

    Path folder() {
        return directory.toPath();
    }
}
