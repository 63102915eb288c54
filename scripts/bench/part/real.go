package part

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"stackagent/scripts/bench/result"
	"stackagent/scripts/bench/tool"
)

func realTools(c Config) []tool.Tool {
	again := tool.Plain() // its difference from itself is the resolution of these figures
	again.Name = "plain JVM, once more"
	tools := []tool.Tool{
		tool.Plain(),
		again,
		tool.Stackagent("stackagent (default: wall+cpu)", c.Bin),
		tool.Stackagent("stackagent, switches=off", c.Bin, "--switches", "off"),
		tool.Stackagent("stackagent, metric=wall", c.Bin, "--metric", "wall"),
		tool.Stackagent("stackagent, metric=wall+cpu+alloc", c.Bin, "--metric", "wall+cpu+alloc"),
		tool.Stackagent("stackagent, metric=bytecodes", c.Bin, "--metric", "bytecodes"),
		tool.FlightRecorder("JFR, its default settings", ""),
	}
	return slices.DeleteFunc(tools, func(t tool.Tool) bool { return !c.wantsTool(t.Name) })
}

// Real measures whole programs: under each tool, then the parts of what stackagent adds, each counted by itself, then pairs of
// runs, and blocks with and without recording in one JVM.
func Real(ctx context.Context, c Config) (string, error) {
	classes, err := c.Compile(ctx)
	if err != nil {
		return "", err
	}
	rounds := c.rounds(5)
	costs, text, err := c.calibrate(ctx, classes, rounds)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "JDK %s, 2 threads, medians of %d runs each; the tools alternate. Executions and losses are those of the last run.\n", c.newest().Full, rounds)
	ways := newWays(c)
	for _, prepare := range c.realPrograms(ctx, classes, whole) {
		if !c.wants(prepare.name) {
			continue
		}
		text, err := c.wholeText(ctx, prepare, nil, realTools(c), rounds, realText)
		if err != nil {
			return "", err
		}
		b.WriteString(text)
		if text, err = c.waysOf(ctx, prepare, classes, costs, rounds, &ways); err != nil {
			return "", err
		}
		b.WriteString(text)
	}
	return b.String() + ways.text() + text, nil
}

func realText(p program, tools []tool.Tool, runs [][]wholeRun) string {
	t := result.Table{Head: []string{p.name, "wall s", "wall", "CPU s of the JVM", "CPU", "shadow's CPU s", "shadow's memory", "executions", "lost"}}
	for i, x := range tools {
		r := runs[i]
		row := []string{x.Name, result.Interval(result.OfMedian(figures(r, wholeWall))), "", result.Number(result.Median(figures(r, wholeCPU)))}
		if i > 0 {
			row[2] = result.Percent(result.Ratio(figures(r, wholeWall), figures(runs[0], wholeWall)))
			row = append(row, result.Percent(result.Ratio(figures(r, wholeCPU), figures(runs[0], wholeCPU))))
		}
		if last := r[len(r)-1]; last.shadowPeak > 0 {
			peak := 0.0
			for _, one := range r {
				peak = math.Max(peak, one.shadowPeak)
			}
			row = append(row, result.Number(result.Median(figures(r, wholeShadow))), result.Bytes(peak),
				result.Grouped(int64(last.executions)), result.Grouped(int64(last.lost)))
		}
		t.Add(row...)
	}
	return fmt.Sprintf("\n**%s**: %s.\n\n%s", p.name, p.what, t.String())
}
