package dev.stackagent.junit;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.TestSource;
import org.junit.platform.engine.support.descriptor.ClassSource;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;

/**
 * Marks each test in the session of this JVM and collects the budgets of the tests that ran. JUnit registers it by itself.
 * It does nothing unless {@code STACKAGENT_SESSION} names the session's folder; then it writes
 * {@code FOLDER.markers.json} and {@code FOLDER.budgets.yaml}.
 */
public final class Listener implements TestExecutionListener {
    private static final Markers MARKERS = new Markers();
    private static final Map<String, Budget> BUDGETS = new LinkedHashMap<>();

    private final String session = System.getenv("STACKAGENT_SESSION");

    @Override
    public void executionStarted(TestIdentifier test) {
        if (session == null) {
            return;
        }
        TestSource source = test.getSource().orElse(null);
        if (source instanceof ClassSource) {
            ClassSource c = (ClassSource) source;
            collect(c.getClassName(), c.getJavaClass().getAnnotationsByType(Budget.class));
        } else if (source instanceof MethodSource) {
            MethodSource m = (MethodSource) source;
            collect(m.getClassName() + "." + m.getMethodName(), m.getJavaMethod().getAnnotationsByType(Budget.class));
        }
        if (test.isTest()) {
            MARKERS.begin(name(test));
        }
    }

    @Override
    public void executionFinished(TestIdentifier test, TestExecutionResult result) {
        if (session != null && test.isTest()) {
            MARKERS.end(name(test));
        }
    }

    @Override
    public void testPlanExecutionFinished(TestPlan plan) {
        if (session == null) {
            return;
        }
        try {
            MARKERS.write(Path.of(session + ".markers.json"));
            synchronized (BUDGETS) {
                if (!BUDGETS.isEmpty()) {
                    Files.writeString(Path.of(session + ".budgets.yaml"), yaml());
                }
            }
        } catch (IOException e) {
            System.err.println("stackagent: cannot write what the tests say: " + e.getMessage());
        }
    }

    private static void collect(String test, Budget[] budgets) {
        synchronized (BUDGETS) {
            for (Budget b : budgets) {
                BUDGETS.putIfAbsent(Json.cut(test + ": " + b.value(), 500), b);
            }
        }
    }

    private static String yaml() {
        StringBuilder s = new StringBuilder("budgets:\n");
        BUDGETS.forEach((name, b) -> {
            s.append("- name: ").append(Json.quote(name)).append("\n  expr: ").append(Json.quote(b.value())).append('\n');
            if (!b.why().isEmpty()) {
                s.append("  why: ").append(Json.quote(b.why())).append('\n');
            }
        });
        return s.toString();
    }

    private static String name(TestIdentifier test) {
        TestSource source = test.getSource().orElse(null);
        return source instanceof MethodSource ? ((MethodSource) source).getClassName() + "." + test.getDisplayName() : test.getDisplayName();
    }
}
