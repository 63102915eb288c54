package part

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"stackagent/scripts/bench/tool"
)

// metricTools are the compared metrics; the plain JVM is first.
func metricTools(bin tool.Binaries) []tool.Tool {
	tools := []tool.Tool{tool.Plain()}
	for _, metrics := range []string{"wall", "cpu", "wall+cpu", "wall+alloc", "wall+page-faults", "wall+cpu+alloc+page-faults", "bytecodes"} {
		tools = append(tools, tool.Stackagent("metric="+metrics, bin, "--metric", metrics))
	}
	return append(tools, tool.Stackagent("metric=wall+cpu, with constructions", bin, "--construction"))
}

// submissionTools leave out the records of submissions and call sites one after the
// other; the plain JVM is first.
func submissionTools(bin tool.Binaries) []tool.Tool {
	const sites, submissions = "--sites=false", "--submissions=false"
	return []tool.Tool{
		tool.Plain(),
		tool.Stackagent("stackagent (default)", bin),
		tool.Stackagent("without call sites", bin, sites),
		tool.Stackagent("without submissions", bin, submissions),
		tool.Stackagent("without both", bin, sites, submissions),
	}
}

// Metric measures the cost of each work metric per task, with the newest JDK.
func Metric(ctx context.Context, c Config) (string, error) {
	return variants(ctx, c, metricTools(c.Bin), "exec", "create")
}

// Submission measures the cost of recording submissions and call sites per task, with
// the newest JDK.
func Submission(ctx context.Context, c Config) (string, error) {
	return variants(ctx, c, submissionTools(c.Bin), "create", "pool", "fj")
}

// variants makes a table for each workload, with the newest JDK.
func variants(ctx context.Context, c Config, tools []tool.Tool, workloads ...string) (string, error) {
	classes, err := c.Compile(ctx)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Medians of %d JVMs each; the tools alternate. A JVM's figure is the median of %d iterations after %d ms of warm-up.\n",
		c.rounds(5), iterations, pick(c, warmupMs, 100))
	for _, w := range Workloads {
		if !slices.Contains(workloads, w.Name) || !c.wants(w.Name) {
			continue
		}
		text, err := taskTable(ctx, c, c.newest(), w, tools, classes)
		if err != nil {
			return "", err
		}
		b.WriteString(text)
	}
	return b.String(), nil
}
