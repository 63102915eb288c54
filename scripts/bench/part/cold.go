package part

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"stackagent/internal/testjvm"
	"stackagent/scripts/bench/result"
	"stackagent/scripts/bench/tool"
)

// coldName is a workload of the part task, beside Workloads.
const coldName = "cold"

// coldEvents are the columns of its table: what java/Probes.java prints.
var coldEvents = []struct{ probe, what string }{
	{"execution", "an execution"},
	{"cold-execution", "cold"},
	{"creation", "a creation"},
	{"cold-creation", "cold"},
}

// coldTable compares the cost of single events after the program has used the caches with that in a loop.
func coldTable(ctx context.Context, c Config, jdk testjvm.JDK, tools []tool.Tool, classes string) (string, error) {
	p := tool.Program{JDK: jdk, Args: []string{"-cp", classes, "Probes", strconv.Itoa(pick(c, 200, 20))}, Methods: []string{"Probes$Small::run", "Probes$Small::<init>"}}
	took, failed := make([][]map[string]float64, len(tools)), make([]error, len(tools))
	err := alternate(c.rounds(5), len(tools), func(round, i int) error {
		if failed[i] != nil {
			return nil
		}
		err := c.inScratch(func(dir string) error {
			run, err := tools[i].Run(ctx, p, dir)
			if err != nil {
				return err
			}
			printed, err := parseProbes(run.Stdout)
			c.say("%s %-6s round %d %-28s %v", jdk, coldName, round+1, tools[i].Name, printed)
			took[i] = append(took[i], printed)
			return err
		})
		if err != nil && (i == 0 || ctx.Err() != nil) {
			return errors.Join(err, ctx.Err())
		}
		failed[i] = err
		return nil
	})
	if err != nil {
		return "", err
	}
	return coldText(jdk, tools, took, failed), nil
}

func coldText(jdk testjvm.JDK, tools []tool.Tool, took [][]map[string]float64, failed []error) string {
	t := result.Table{Head: []string{coldName}}
	for _, e := range coldEvents {
		t.Head = append(t.Head, e.what)
	}
	notes := ""
	for i, x := range tools {
		row := []string{x.Name}
		if failed[i] != nil {
			reason, _, _ := strings.Cut(failed[i].Error(), "\n")
			notes += fmt.Sprintf("\n%s failed: %s\n", x.Name, reason)
			t.Add(x.Name, "failed")
			continue
		}
		for _, e := range coldEvents {
			of := func(runs []map[string]float64) (v []float64) {
				for _, r := range runs {
					v = append(v, r[e.probe])
				}
				return v
			}
			if i == 0 {
				row = append(row, result.Interval(result.OfMedian(of(took[0]))))
			} else {
				row = append(row, result.Interval(result.Difference(of(took[i]), of(took[0]))))
			}
		}
		t.Add(row...)
	}
	return fmt.Sprintf("\n**%s**, JDK %s: one thread executes and creates tasks, a thousand in a row, or each after it has read and written 4 MiB (*cold*): ns for each, under a tool what it adds.\n\n%s%s",
		coldName, jdk.Full, t.String(), notes)
}
