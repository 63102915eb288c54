package part

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"stackagent/scripts/bench/stat"
	"stackagent/scripts/bench/table"
	"stackagent/scripts/bench/tool"
)

// costs are what an event of each kind adds to the CPU time of its thread: ns, one figure a round.
type costs map[string][]float64

// calibrations say how the cost of a kind is measured: what the program Probes prints of it, with which detail.
var calibrations = []struct {
	kind, probe string
	summarised  bool
}{
	{tool.Executions, "execution", false},
	{tool.SummarisedExecutions, "execution", true},
	{tool.Creations, "creation", false},
	{tool.SummarisedCreations, "creation", true},
	{tool.Submissions, "submission", false},
	{tool.SummarisedSubmissions, "submission", true},
	{tool.Waits, "no-wait", false},
	{tool.LongWaits, "long-wait", false},
}

// calibrate measures the costs, and describes them.
func (c Config) calibrate(ctx context.Context, classes string, rounds int) (costs, string, error) {
	tools := []tool.Tool{
		tool.Plain(), // the order of what the columns of took are
		tool.Stackagent("detail=all", c.Bin, "--detail", "all", "--switches", "off"),
		tool.Stackagent("detail=summary", c.Bin, "--detail", "summary", "--switches", "off"),
	}
	took := make([][]map[string]float64, len(tools))
	p := c.own("probes", "", classes, "Probes", strconv.Itoa(pick(c, 300, 20)))
	err := alternate(rounds, len(tools), func(round, i int) error {
		return c.inScratch(func(dir string) error {
			run, err := tools[i].Run(ctx, p.Program, dir)
			if err != nil {
				return fmt.Errorf("the cost of the probes under %s: %w", tools[i].Name, err)
			}
			printed, err := parseProbes(run.Stdout)
			took[i] = append(took[i], printed)
			c.say("probes       round %d %-28s %s", round+1, tools[i].Name, strings.Join(strings.Fields(run.Stdout), " "))
			return err
		})
	})
	if err != nil {
		return nil, "", err
	}
	found := costs{}
	t := table.Table{Head: []string{"the cost of probes", "plain JVM ns", "added ns"}}
	for _, k := range calibrations {
		with := took[1]
		if k.summarised {
			with = took[2]
		}
		var plain []float64
		for round := range rounds {
			plain = append(plain, took[0][round][k.probe])
			found[k.kind] = append(found[k.kind], with[round][k.probe]-took[0][round][k.probe])
		}
		t.Add(k.kind, table.Interval(stat.OfMedian(plain)), table.Interval(stat.OfMedian(found[k.kind])))
	}
	return found, "\nCPU time of a thread for each event (`scripts/bench/java/Probes.java`), JDK " + p.JDK.Full + ":\n\n" + t.String(), nil
}

// parseProbes reads the output of java/Probes.java. Every kind must be there.
func parseProbes(out string) (map[string]float64, error) {
	printed := map[string]float64{}
	for line := range strings.Lines(out) {
		kind, number, _ := strings.Cut(strings.TrimSpace(line), " ")
		ns, err := strconv.ParseFloat(number, 64)
		if err != nil {
			return nil, fmt.Errorf("the program Probes printed %q: %w", line, err)
		}
		printed[kind] = ns
	}
	for _, k := range calibrations {
		if _, found := printed[k.probe]; !found {
			return nil, fmt.Errorf("the program Probes printed no %s: %q", k.probe, out)
		}
	}
	return printed, nil
}
