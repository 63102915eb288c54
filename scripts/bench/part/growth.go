package part

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"stackagent/scripts/bench/measure"
	"stackagent/scripts/bench/result"
	"stackagent/scripts/bench/tool"
)

// linear is the power above which a step is called a bend: more than linear, and by more than measurements scatter.
const linear = 1.15

// Growth measures how costs grow, and draws each as a figure.
func Growth(ctx context.Context, c Config) (string, error) {
	classes, err := c.Compile(ctx)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Medians of %d runs each; the tools alternate. Both axes of a figure are logarithmic. *Grows as n^p*: from the first size to the last; 0 is flat, 1 linear. *Steepest step*: the same between neighbours, and where it begins if it is more than linear.\n", c.rounds(3))
	for _, of := range []struct {
		name    string
		measure func(context.Context, Config, string) (string, error)
	}{
		{"threads", growthOfThreads},
		{"classes", growthOfClasses},
		{"jvms", growthOfJVMs},
		{"sessions", growthOfSessions},
	} {
		if !c.wants(of.name) {
			continue
		}
		text, err := of.measure(ctx, c, classes)
		if err != nil {
			return "", fmt.Errorf("growth by %s: %w", of.name, err)
		}
		b.WriteString(text)
	}
	return b.String(), nil
}

// figure writes a figure beside the page, if there is one, and refers to it.
func (c Config) figure(name string, f result.Figure) (string, error) {
	if c.Images == "" {
		return "", nil
	}
	if err := os.MkdirAll(c.Images, 0o755); err != nil {
		return "", fmt.Errorf("the folder of the figures: %w", err)
	}
	file := "growth-" + name + ".svg"
	if err := f.Write(filepath.Join(c.Images, file)); err != nil {
		return "", err
	}
	return fmt.Sprintf("\n![%s](../images/%s)\n", f.Title, file), nil
}

// growthText is a figure, its figures as a table, and how each grows.
func (c Config) growthText(name, what string, f result.Figure) (string, error) {
	t := result.Table{Head: []string{f.X}}
	for _, curve := range f.Curves {
		t.Head = append(t.Head, curve.Name)
	}
	for i, x := range f.Curves[0].X {
		row := []string{result.Grouped(int64(x))}
		for _, curve := range f.Curves {
			row = append(row, result.Interval(curve.Y[i]))
		}
		t.Add(row...)
	}
	powers, steepest := []string{"grows as n^p"}, []string{"steepest step"}
	for _, curve := range f.Curves {
		power, from := curve.Steepest()
		note := ""
		if power > linear {
			note = " from " + result.Grouped(int64(from))
		}
		powers, steepest = append(powers, result.Number(curve.Power())), append(steepest, result.Number(power)+note)
	}
	t.Add(powers...)
	t.Add(steepest...)
	image, err := c.figure(name, f)
	return fmt.Sprintf("\n**By %s**: %s\n%s\n%s", name, what, image, t.String()), err
}

// numbers runs a program under a tool and reads the numbers that it prints.
func (c Config) numbers(ctx context.Context, t tool.Tool, p tool.Program, want int) (numbers []float64, run tool.Run, err error) {
	err = c.inScratch(func(dir string) error {
		if run, err = t.Run(ctx, p, dir); err != nil {
			return err
		}
		for _, word := range strings.Fields(run.Stdout) {
			v, err := strconv.ParseFloat(word, 64)
			if err != nil {
				return fmt.Errorf("%v printed %q: %w", p.Args, run.Stdout, err)
			}
			numbers = append(numbers, v)
		}
		if len(numbers) != want {
			return fmt.Errorf("%v printed %q, want %d numbers", p.Args, run.Stdout, want)
		}
		return nil
	})
	return numbers, run, err
}

// grown are the numbers that a program printed, by size, tool, number and round.
type grown [][][][]float64

// grow runs a program of each size under the plain JVM and under the agent, and hands on what they print.
func (c Config) grow(ctx context.Context, name string, sizes []int, t tool.Tool, p func(size int) tool.Program, want int) (grown, error) {
	all := make(grown, len(sizes))
	tools := []tool.Tool{tool.Plain(), t}
	for s, size := range sizes {
		all[s] = make([][][]float64, len(tools))
		err := alternate(c.rounds(3), len(tools), func(round, i int) error {
			numbers, run, err := c.numbers(ctx, tools[i], p(size), want)
			if err != nil {
				return fmt.Errorf("%d %s under %s: %w", size, name, tools[i].Name, err)
			}
			c.say("%9d %s round %d %-20s %v, %.1f s", size, name, round+1, tools[i].Name, numbers, run.JVM.Wall.Seconds())
			if round == 0 {
				all[s][i] = make([][]float64, want)
			}
			for n, v := range numbers {
				all[s][i][n] = append(all[s][i][n], v)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// curves of the n-th number: the plain JVM's, and what the agent adds, both multiplied by scale(size).
func (g grown) curves(sizes []int, n int, what string, scale func(size int) float64) []result.Curve {
	plain, added := result.Curve{Name: what + ", plain JVM"}, result.Curve{Name: what + ", added"}
	for s, size := range sizes {
		for i, curve := range []*result.Curve{&plain, &added} {
			e := result.OfMedian(g[s][0][n])
			if i == 1 {
				e = result.Difference(g[s][1][n], g[s][0][n])
			}
			k := scale(size)
			e.Value, e.Low, e.High = e.Value*k, e.Low*k, e.High*k
			curve.X, curve.Y = append(curve.X, float64(size)), append(curve.Y, e)
		}
	}
	return []result.Curve{plain, added}
}

func one(int) float64 { return 1 }

func growthOfThreads(ctx context.Context, c Config, classes string) (string, error) {
	sizes := pick(c, []int{1, 10, 100, 1_000, 10_000}, []int{1, 10})
	executions := pick(c, 20_000_000, 1_000_000)
	all, err := c.grow(ctx, "threads", sizes, tool.Stackagent("stackagent", c.Bin), func(size int) tool.Program {
		return c.own("threads", "", classes, "Growth", strconv.Itoa(size), strconv.Itoa(executions)).Program
	}, 3)
	if err != nil {
		return "", err
	}
	text, err := c.growthText("threads", fmt.Sprintf("%s executions of a tiny task, shared by that many threads.", result.Grouped(int64(executions))),
		result.Figure{Title: "CPU time of an execution by number of threads", X: "threads", Y: "ns per execution", Curves: all.curves(sizes, 0, "ns per execution", one)})
	if err != nil {
		return "", err
	}
	rest := append(all.curves(sizes, 1, "CPU ms per second", one), all.curves(sizes, 2, "MiB", func(int) float64 { return 1.0 / 1024 })...)
	more, err := c.growthText("waiting-threads", "CPU time of the process while all of them wait, and its resident memory.",
		result.Figure{Title: "Threads that wait", X: "threads", Y: "CPU ms per second, MiB", Curves: rest})
	return text + more, err
}

func growthOfClasses(ctx context.Context, c Config, classes string) (string, error) {
	sizes := pick(c, []int{1_000, 10_000, 100_000}, []int{1_000, 2_000})
	var curves []result.Curve
	for _, kind := range []string{"Plain", "Submits"} {
		all, err := c.grow(ctx, kind+" classes", sizes, tool.Idle(c.Bin), func(size int) tool.Program {
			p := c.own("classes", "", classes, "DefinedClasses", kind, strconv.Itoa(size)).Program
			p.Args = append([]string{"-Xmx1g"}, p.Args...)
			return p
		}, 1)
		if err != nil {
			return "", err
		}
		curves = append(curves, all.curves(sizes, 0, "CPU ms, "+kind, func(size int) float64 { return float64(size) / 1e6 })...)
	}
	return c.growthText("classes", "CPU time of the process to define that many classes, after a fifth of that number as warm-up; of *Submits*, each is woven.",
		result.Figure{Title: "Classes", X: "classes", Y: "CPU ms", Curves: curves})
}

// perMinute are the executions that a JVM records in a minute in the sessions of growthOfSessions: 2,000 a second.
const perMinute = 120_000

func growthOfSessions(ctx context.Context, c Config, _ string) (string, error) {
	minutes := pick(c, []int{1, 10, 60, 360, 1440}, []int{1, 2})
	names := []string{"stats s", "stats MiB of memory", "disk MiB"}
	curves := make([]result.Curve, len(names))
	for i, name := range names {
		curves[i].Name = name
	}
	for _, m := range minutes {
		figures := make([][]float64, len(names))
		err := c.inScratch(func(dir string) error {
			gen := measure.Command{Args: []string{"go", "run", "./scripts/gensession", "-n", strconv.Itoa(m * perMinute), dir, "session"}, Dir: c.Root}
			if _, err := measure.Run(ctx, gen); err != nil {
				return err
			}
			session := filepath.Join(dir, "session")
			for range c.rounds(3) {
				r, err := measure.Run(ctx, measure.Command{Args: []string{c.Bin.Shadow, "stats", session, "--format", "json"}})
				if err != nil {
					return err
				}
				c.say("%5d minutes: stats %.2f s", m, r.Wall.Seconds())
				for i, v := range []float64{r.Wall.Seconds(), float64(r.PeakBytes) / (1 << 20), float64(folderSize(session)) / (1 << 20)} {
					figures[i] = append(figures[i], v)
				}
			}
			return nil
		})
		if err != nil {
			return "", err
		}
		for i := range curves {
			curves[i].X, curves[i].Y = append(curves[i].X, float64(m)), append(curves[i].Y, result.OfMedian(figures[i]))
		}
	}
	return c.growthText("sessions", fmt.Sprintf("sessions of that many minutes with %s executions a minute, made by `scripts/gensession`: time and memory of `shadow stats`, size on the disk.",
		result.Grouped(perMinute)), result.Figure{Title: "Length of a session", X: "minutes", Y: "s, MiB", Curves: curves})
}
