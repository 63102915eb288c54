package part

import (
	"context"
	"fmt"
	"strings"

	"stackagent/scripts/bench/tool"
)

// metricTools are the metrics that are compared, the plain JVM first.
func metricTools(bin tool.Binaries) []tool.Tool {
	tools := []tool.Tool{tool.Plain()}
	for _, metrics := range []string{"wall", "cpu", "wall+cpu", "wall+alloc", "wall+page-faults", "wall+cpu+alloc+page-faults", "bytecodes"} {
		tools = append(tools, tool.Stackagent("metric="+metrics, bin, "--metric", metrics))
	}
	return append(tools, tool.Stackagent("metric=wall+cpu, with constructions", bin, "--construction"))
}

// Metric measures what each work metric costs per task, with the newest JDK.
func Metric(ctx context.Context, c Config) (string, error) {
	classes, err := c.Compile(ctx)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Medians of %d JVMs each, started in turns; a JVM's figure is the median of %d iterations after %d ms of warm-up.\n",
		c.rounds(5), iterations, pick(c, warmupMs, 100))
	for _, w := range Workloads {
		if w.Name != "exec" && w.Name != "create" || !c.wants(w.Name) {
			continue
		}
		text, err := taskTable(ctx, c, c.newest(), w, metricTools(c.Bin), classes)
		if err != nil {
			return "", err
		}
		b.WriteString(text)
	}
	return b.String(), nil
}
