package part

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"stackagent/scripts/bench/result"
	"stackagent/scripts/bench/tool"
)

// computations are the workloads of java/Compute.java, one thread each.
var computations = []struct{ name, what string }{
	{"fib", "recursion of a tiny method"},
	{"tree", "virtual calls in a tree"},
	{"sieve", "sieve"},
	{"matrix", "matrix product"},
	{"arrays", "sums of arrays (vectorised by the JIT)"},
	{"floats", "floating point in a loop"},
	{"hashmap", "hash map of words"},
	{"treemap", "tree map"},
	{"strings", "strings"},
	{"sorting", "sorting of strings"},
	{"boxed", "streams of boxed numbers"},
	{"grouping", "grouping by a stream"},
	{"bigint", "big integers"},
	{"throwing", "exceptions thrown and caught"},
	{"getters", "objects read by getters"},
	{"parser", "a recursive parser"},
}

// countedPrograms are the programs of part real that are compared here.
var countedPrograms = []string{"pmd", "sunflow", "lucene", "h2"}

// Bytecodes measures how much counting instructions slows programs down, with the
// newest JDK: computations and whole programs, plain, with the default metrics, and
// with counts.
func Bytecodes(ctx context.Context, c Config) (string, error) {
	classes, err := c.Compile(ctx)
	if err != nil {
		return "", err
	}
	rounds := c.rounds(5)
	var b strings.Builder
	if text, err := c.computeTable(ctx, classes, rounds); err != nil {
		return "", err
	} else {
		b.WriteString(text)
	}
	text, err := c.countedTable(ctx, classes, rounds)
	b.WriteString(text)
	return b.String(), err
}

// computeTable compares the computations by the lowest CPU time of an iteration, which
// other programs on the machine disturb least.
func (c Config) computeTable(ctx context.Context, classes string, rounds int) (string, error) {
	tools := []tool.Tool{tool.Plain(), tool.Stackagent("bytecodes", c.Bin, "--metric", "wall+cpu+bytecodes", "--switches", "off")}
	t := result.Table{Head: []string{"JDK " + c.newest().Full, "plain ms", "counting ms", "times plain"}}
	var ratios []float64
	for _, w := range computations {
		if !c.wants(w.name) {
			continue
		}
		least := make([]float64, len(tools))
		err := alternate(rounds, len(tools), func(round, i int) error {
			ns, err := c.compute(ctx, tools[i], w.name, classes)
			if err != nil {
				return fmt.Errorf("%s under %s: %w", w.name, tools[i].Name, err)
			}
			c.say("%-12s round %d %-28s %8.3f ms", w.name, round+1, tools[i].Name, ns/1e6)
			if round == 0 || ns < least[i] {
				least[i] = ns
			}
			return nil
		})
		if err != nil {
			return "", err
		}
		ratios = append(ratios, least[1]/least[0])
		t.Add(w.what, result.Number(least[0]/1e6), result.Number(least[1]/1e6), result.Number(least[1]/least[0]))
	}
	if len(ratios) == 0 {
		return "", nil
	}
	t.Add("geometric mean", "", "", result.Number(geometricMean(ratios)))
	return fmt.Sprintf("CPU time of an iteration in one thread: the lowest of %d JVMs with %d iterations each, after %d ms of warm-up. Plain and counting JVMs alternate.\n\n%s",
		rounds, iterations, pick(c, warmupMs, 100), t.String()), nil
}

// compute runs a computation once and gives its fastest iteration in nanoseconds.
func (c Config) compute(ctx context.Context, t tool.Tool, name, classes string) (least float64, err error) {
	p := tool.Program{JDK: c.newest(), Args: []string{"-cp", classes, "Compute", name, strconv.Itoa(pick(c, warmupMs, 100)), strconv.Itoa(iterations)}}
	err = c.inScratch(func(dir string) error {
		run, err := t.Run(ctx, p, dir)
		if err != nil {
			return err
		}
		least, err = leastIteration(run.Stdout)
		return err
	})
	return least, err
}

// leastIteration reads the output of java/Compute.java.
func leastIteration(out string) (float64, error) {
	least := math.Inf(1)
	for line := range strings.Lines(out) {
		if text, ok := strings.CutPrefix(strings.TrimSpace(line), "iteration "); ok {
			v, err := strconv.ParseFloat(text, 64)
			if err != nil || v <= 0 {
				return 0, fmt.Errorf("reading %q of the program's output: want nanoseconds above 0", text)
			}
			least = min(least, v)
		}
	}
	if math.IsInf(least, 1) {
		return 0, fmt.Errorf("the program printed no figures: %q", out)
	}
	return least, nil
}

// countedTable compares whole programs.
func (c Config) countedTable(ctx context.Context, classes string, rounds int) (string, error) {
	tools := []tool.Tool{
		tool.Plain(),
		tool.Stackagent("default", c.Bin),
		tool.Stackagent("bytecodes", c.Bin, "--metric", "wall+cpu+bytecodes"),
	}
	t := result.Table{Head: []string{"", "wall s", "default", "bytecodes", "CPU s of the JVM", "default", "bytecodes"}}
	var ratios [2][2][]float64 // wall and CPU; of each tool but the plain JVM
	var b strings.Builder
	for _, prepare := range c.realPrograms(ctx, classes, whole) {
		if !slices.Contains(countedPrograms, prepare.name) || !c.wants(prepare.name) {
			continue
		}
		text, err := c.wholeText(ctx, prepare, nil, tools, rounds, func(p program, _ []tool.Tool, runs [][]wholeRun) string {
			row := []string{p.what}
			for k, of := range []func(wholeRun) float64{wholeWall, wholeCPU} {
				base := figures(runs[0], of)
				row = append(row, result.Number(result.Median(base)))
				for i := range ratios[k] {
					e := result.Ratio(figures(runs[i+1], of), base)
					ratios[k][i] = append(ratios[k][i], e.Value)
					row = append(row, result.Interval(e))
				}
			}
			t.Add(row...)
			return ""
		})
		if err != nil {
			return "", err
		}
		b.WriteString(text) // the failure
	}
	if len(t.Rows) == 0 {
		return b.String(), nil
	}
	row := []string{"geometric mean"}
	for k := range ratios {
		row = append(row, "")
		for i := range ratios[k] {
			row = append(row, result.Number(geometricMean(ratios[k][i])))
		}
	}
	t.Add(row...)
	return fmt.Sprintf("\nWhole programs with 2 threads, medians of %d runs. The runs alternate. Columns of a tool are multiples of the plain JVM.\n\n%s%s",
		rounds, t.String(), b.String()), nil
}

// geometricMean of ratios above 0.
func geometricMean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += math.Log(x)
	}
	return math.Exp(sum / float64(len(v)))
}
