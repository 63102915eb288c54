import java.nio.file.Path;
import net.sourceforge.pmd.PMDConfiguration;
import net.sourceforge.pmd.PmdAnalysis;
import net.sourceforge.pmd.reporting.Report;

/** Runs PMD's rules over the sources in a folder: {@code Main THREADS ITERATIONS FOLDER PART VIOLATIONS}. A task is a source file. */
public class Main {
    static int violations(Path folder, int threads) {
        PMDConfiguration c = new PMDConfiguration();
        c.addInputPath(folder);
        c.addRuleSet("rulesets/java/quickstart.xml");
        c.setThreads(threads);
        c.setIgnoreIncrementalAnalysis(true);
        try (PmdAnalysis pmd = PmdAnalysis.create(c)) {
            Report report = pmd.performAnalysisAndCollectReport();
            Iterations.expect(0, report.getProcessingErrors().size(), "files that could not be analysed");
            return report.getViolations().size();
        }
    }

    public static void main(String[] args) {
        int want = Integer.parseInt(args[4]);
        int[] first = new int[1];
        Iterations.run(Integer.parseInt(args[1]), i -> {
            int found = violations(Path.of(args[2], args[3]), Integer.parseInt(args[0]));
            first[0] = i == 1 ? found : first[0];
            Iterations.expect(first[0], found, "violations");
            Iterations.near(want, found, "violations"); // PMD looks into the classes of the JDK that it runs on
        });
        Iterations.ok(first[0] + " violations");
    }
}
