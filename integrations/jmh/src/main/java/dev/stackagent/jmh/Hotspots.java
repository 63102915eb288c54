package dev.stackagent.jmh;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.openjdk.jmh.results.AggregationPolicy;
import org.openjdk.jmh.results.BenchmarkResult;
import org.openjdk.jmh.results.BenchmarkResultMetaData;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.ScalarResult;

/** What {@code shadow hotspots --format csv} says, as results of JMH. */
final class Hotspots {
    private final List<Map<String, String>> rows = new ArrayList<>();

    Hotspots(String csv, int top) {
        List<List<String>> lines = parse(csv);
        for (List<String> line : lines.subList(Math.min(1, lines.size()), lines.size())) {
            Map<String, String> row = new HashMap<>();
            for (int i = 0; i < line.size(); i++) {
                row.put(lines.get(0).get(i), line.get(i));
            }
            // The harness's own tasks are not the benchmark's.
            if (rows.size() < top && !row.get("class").startsWith("org.openjdk.jmh.")) {
                rows.add(row);
            }
        }
    }

    List<Result<?>> results(BenchmarkResult benchmark) {
        List<Result<?>> out = new ArrayList<>();
        BenchmarkResultMetaData m = benchmark.getMetadata();
        for (Map<String, String> row : rows) {
            String name = row.get("class");
            Double executions = figure(row, "executions");
            if (m != null && executions != null) {
                add(out, "tasks", name, executions / (m.getWarmupOps() + m.getMeasurementOps()), "tasks/op");
                add(out, "rate", name, executions * 1000 / (m.getStopTime() - m.getStartTime()), "tasks/s");
            }
            add(out, "cpu", name, figure(row, "self_cpu_ns_mean"), "ns/task");
            add(out, "queue.p50", name, figure(row, "queue_ns_p50"), "ns");
            add(out, "queue.p99", name, figure(row, "queue_ns_p99"), "ns");
        }
        return out;
    }

    /** A figure that the session does not have is left out. */
    private static void add(List<Result<?>> out, String what, String task, Double value, String unit) {
        if (value != null) {
            out.add(new ScalarResult(what + "." + task, value, unit, AggregationPolicy.AVG));
        }
    }

    private static Double figure(Map<String, String> row, String column) {
        String s = row.get(column);
        return s == null || s.isEmpty() ? null : Double.valueOf(s);
    }

    /** Parses CSV as RFC 4180 has it. */
    static List<List<String>> parse(String csv) {
        List<List<String>> lines = new ArrayList<>();
        List<String> line = new ArrayList<>();
        StringBuilder cell = new StringBuilder();
        boolean quoted = false;
        for (int i = 0; i < csv.length(); i++) {
            char c = csv.charAt(i);
            if (c == '"') {
                if (quoted && i + 1 < csv.length() && csv.charAt(i + 1) == '"') {
                    cell.append('"');
                    i++;
                } else {
                    quoted = !quoted;
                }
            } else if (quoted || c != ',' && c != '\n') {
                cell.append(c);
            } else {
                line.add(cell.toString());
                cell.setLength(0);
                if (c == '\n') {
                    lines.add(line);
                    line = new ArrayList<>();
                }
            }
        }
        return lines;
    }
}
