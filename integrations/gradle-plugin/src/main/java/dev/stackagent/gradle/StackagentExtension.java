package dev.stackagent.gradle;

import java.io.File;
import java.util.ArrayList;
import java.util.List;

/** The settings {@code stackagent { ... }} of a build. */
public class StackagentExtension {
    private String home;
    private File budgets;
    private File baseline;
    private boolean allowEmpty;
    private boolean enabled = true;
    private List<String> options = new ArrayList<>();

    /** For Gradle. */
    public StackagentExtension() {}

    /** The shadow command, or the folder of stackagent; null: STACKAGENT_HOME, then PATH. */
    public String getHome() {
        return home;
    }

    /** Sets the shadow command, or the folder of stackagent. */
    public void setHome(String home) {
        this.home = home;
    }

    /** A file of budgets that every test JVM has to keep, or null. */
    public File getBudgets() {
        return budgets;
    }

    /** Sets the file of budgets. */
    public void setBudgets(File budgets) {
        this.budgets = budgets;
    }

    /** A file of figures that budgets compare with, written by {@code shadow check --write-baseline}, or null. */
    public File getBaseline() {
        return baseline;
    }

    /** Sets the file of the baseline. */
    public void setBaseline(File baseline) {
        this.baseline = baseline;
    }

    /** Whether budgets pass that cannot be decided: a selector matches nothing, or a figure is not available. */
    public boolean isAllowEmpty() {
        return allowEmpty;
    }

    /** Sets whether budgets pass that cannot be decided. */
    public void setAllowEmpty(boolean allowEmpty) {
        this.allowEmpty = allowEmpty;
    }

    /** Whether tests are recorded. */
    public boolean isEnabled() {
        return enabled;
    }

    /** Sets whether tests are recorded. */
    public void setEnabled(boolean enabled) {
        this.enabled = enabled;
    }

    /** Further flags of {@code shadow run}. */
    public List<String> getOptions() {
        return options;
    }

    /** Sets further flags of {@code shadow run}. */
    public void setOptions(List<String> options) {
        this.options = options;
    }
}
