package part

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"stackagent/scripts/bench/result"
	"stackagent/scripts/bench/tool"
)

// cost is what an event of a kind adds to the time of its thread: ns, one figure a round.
type cost struct {
	hot  []float64 // in a loop of nothing else
	cold []float64 // after the program has used the caches
}

// costs of all kinds.
type costs map[string]*cost

// calibrations say how the cost of a kind is measured: what the program Probes prints of it, with which detail.
var calibrations = []struct {
	kind, hot, cold string
	summarised      bool
}{
	{tool.Executions, "execution", "cold-execution", false},
	{tool.SummarisedExecutions, "execution", "cold-execution", true},
	{tool.Creations, "creation", "cold-creation", false},
	{tool.SummarisedCreations, "creation", "cold-creation", true},
	{tool.Submissions, "submission", "cold-submission", false},
	{tool.SummarisedSubmissions, "submission", "cold-submission", true},
	{tool.Waits, "no-wait", "no-wait", false},
	{tool.LongWaits, "long-wait", "long-wait", false},
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
	t := result.Table{Head: []string{"the cost of probes", "plain JVM ns", "added ns", "plain, cold", "added, cold"}}
	for _, k := range calibrations {
		with := took[1]
		if k.summarised {
			with = took[2]
		}
		of := &cost{}
		var hot, cold []float64
		for round := range rounds {
			plain := took[0][round]
			hot, cold = append(hot, plain[k.hot]), append(cold, plain[k.cold])
			of.hot, of.cold = append(of.hot, with[round][k.hot]-plain[k.hot]), append(of.cold, with[round][k.cold]-plain[k.cold])
		}
		found[k.kind] = of
		t.Add(k.kind, result.Interval(result.OfMedian(hot)), result.Interval(result.OfMedian(of.hot)), result.Interval(result.OfMedian(cold)), result.Interval(result.OfMedian(of.cold)))
	}
	return found, "\nTime of a thread for each event (`scripts/bench/java/Probes.java`), JDK " + p.JDK.Full + ". *Cold*: between two events the program reads and writes 4 MiB.\n\n" + t.String(), nil
}

// parseProbes reads the output of java/Probes.java. Every kind must be there.
func parseProbes(out string) (map[string]float64, error) {
	printed := map[string]float64{}
	for line := range strings.Lines(out) {
		kind, number, _ := strings.Cut(strings.TrimSpace(line), " ")
		if ns, err := strconv.ParseFloat(number, 64); err == nil { // else a tool's line
			printed[kind] = ns
		}
	}
	for _, k := range calibrations {
		for _, kind := range []string{k.hot, k.cold} {
			if _, found := printed[kind]; !found {
				return nil, fmt.Errorf("the program Probes printed no %s: %q", kind, out)
			}
		}
	}
	return printed, nil
}
