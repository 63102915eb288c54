package part

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"stackagent/internal/testjvm"
	"stackagent/scripts/bench/measure"
	"stackagent/scripts/bench/stat"
	"stackagent/scripts/bench/table"
	"stackagent/scripts/bench/tool"
)

// program is a whole program, measured from start to end.
type program struct {
	name, what string
	tool.Program
}

// wholeRun is one run of a whole program under one tool.
type wholeRun struct {
	wall, cpu  float64 // of the JVM, seconds
	whole      float64 // seconds until the session is complete; without a shadow those of the JVM
	shadow     float64 // CPU of the shadow, seconds
	shadowPeak float64 // bytes
	executions uint64
	lost       uint64

	switches, lostSwitches uint64 // of the scheduling record
}

// real prepares one of scripts/real with the newest JDK; Maven or apt fetches it the first time.
func (c Config) real(ctx context.Context, name, what string, env ...string) (program, error) {
	jdk := c.newest()
	r, err := measure.Run(ctx, measure.Command{
		Args: []string{filepath.Join(c.Root, "scripts", "real", name+".sh")},
		Env:  append([]string{"PRINT=1", "THREADS=2", "JAVA_HOME=" + jdk.Home}, env...),
	})
	if err != nil {
		return program{}, fmt.Errorf("preparing %s: %w", name, err)
	}
	parts := strings.Split(strings.TrimSuffix(r.Stdout, "\x00"), "\x00")
	if len(parts) < 2 {
		return program{}, fmt.Errorf("preparing %s: it printed no command: %q", name, r.Stdout)
	}
	return program{name, what, tool.Program{JDK: jdk, Dir: parts[0], Args: parts[1:]}}, nil
}

// own is one of the programs in java/.
func (c Config) own(name, what, classes string, args ...string) program {
	return program{name, what, tool.Program{JDK: c.newest(), Args: append([]string{"-cp", classes}, args...)}}
}

// compareWhole runs a program under each tool in turns.
func (c Config) compareWhole(ctx context.Context, p program, tools []tool.Tool, rounds int) ([][]wholeRun, error) {
	runs := make([][]wholeRun, len(tools))
	err := alternate(rounds, len(tools), func(round, i int) error {
		r, err := c.wholeRun(ctx, tools[i], p)
		if err != nil {
			return fmt.Errorf("%s under %s: %w", p.name, tools[i].Name, err)
		}
		c.say("%-12s round %d %-28s %8.3f s wall, %8.3f s CPU", p.name, round+1, tools[i].Name, r.wall, r.cpu)
		runs[i] = append(runs[i], r)
		return nil
	})
	return runs, err
}

// wholeText is the table of one program. A program that fails is reported in a line,
// so that the figures of the others are kept.
func (c Config) wholeText(ctx context.Context, prepare lazy, jdk *testjvm.JDK, tools []tool.Tool, rounds int,
	text func(program, []tool.Tool, [][]wholeRun) string) (string, error) {
	p, err := prepare.get()
	if jdk != nil {
		p.JDK = *jdk
	}
	var runs [][]wholeRun
	if err == nil {
		runs, err = c.compareWhole(ctx, p, tools, rounds)
	}
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err != nil:
		c.say("%s failed: %v", prepare.name, err)
		reason, _, _ := strings.Cut(err.Error(), "\n")
		return fmt.Sprintf("\n**%s** failed: %s\n", prepare.name, reason), nil
	}
	return text(p, tools, runs), nil
}

func (c Config) wholeRun(ctx context.Context, t tool.Tool, p program) (r wholeRun, err error) {
	err = c.inScratch(func(dir string) error {
		run, err := t.Run(ctx, p.Program, dir)
		if err != nil {
			return err
		}
		r = wholeRun{wall: run.JVM.Wall.Seconds(), cpu: run.JVM.CPU.Seconds(), whole: run.JVM.Wall.Seconds()}
		if run.Shadow.Wall == 0 {
			return nil
		}
		r.whole, r.shadow, r.shadowPeak = run.Shadow.Wall.Seconds(), run.Shadow.CPU.Seconds(), float64(run.Shadow.PeakBytes)
		s, err := tool.ReadStats(ctx, c.Bin.Shadow, run.Files)
		if err != nil {
			return err
		}
		r.executions, r.lost = s.Tasks.Executions, s.Lost.Events
		r.switches, r.lostSwitches, err = recordOf(run.Files)
		return err
	})
	return r, err
}

func figures(runs []wholeRun, of func(wholeRun) float64) []float64 {
	v := make([]float64, len(runs))
	for i, r := range runs {
		v[i] = of(r)
	}
	return v
}

func wholeWall(r wholeRun) float64   { return r.wall }
func wholeCPU(r wholeRun) float64    { return r.cpu }
func wholeWhole(r wholeRun) float64  { return r.whole }
func wholeShadow(r wholeRun) float64 { return r.shadow }

func realTools(c Config) []tool.Tool {
	again := tool.Plain() // its difference from itself is the resolution of these figures
	again.Name = "plain JVM, once more"
	return []tool.Tool{
		tool.Plain(),
		again,
		tool.Stackagent("stackagent (default: wall+cpu)", c.Bin),
		tool.Stackagent("stackagent, switches=off", c.Bin, "--switches", "off"),
		tool.Stackagent("stackagent, metric=wall", c.Bin, "--metric", "wall"),
		tool.Stackagent("stackagent, metric=wall+cpu+alloc", c.Bin, "--metric", "wall+cpu+alloc"),
		tool.Stackagent("stackagent, metric=bytecodes", c.Bin, "--metric", "bytecodes"),
		tool.FlightRecorder("JFR, its default settings", ""),
	}
}

// Real measures whole programs.
func Real(ctx context.Context, c Config) (string, error) {
	classes, err := c.Compile(ctx)
	if err != nil {
		return "", err
	}
	rounds := c.rounds(5)
	var b strings.Builder
	fmt.Fprintf(&b, "JDK %s, 2 threads, medians of %d runs each; the tools alternate. Executions and losses are those of the last run.\n", c.newest().Full, rounds)
	for _, prepare := range c.realPrograms(ctx, classes) {
		if !c.wants(prepare.name) {
			continue
		}
		text, err := c.wholeText(ctx, prepare, nil, realTools(c), rounds, realText)
		if err != nil {
			return "", err
		}
		b.WriteString(text)
	}
	return b.String(), nil
}

// lazily prepared: what is not wanted is not fetched.
type lazy struct {
	name string
	get  func() (program, error)
}

func (c Config) realPrograms(ctx context.Context, classes string) []lazy {
	size := func(full, quick int) string { return strconv.Itoa(pick(c, full, quick)) }
	own := func(name, what string, args ...string) lazy {
		return lazy{name, func() (program, error) { return c.own(name, what, classes, args...), nil }}
	}
	fetched := func(name, what string, env ...string) lazy {
		return lazy{name, func() (program, error) { return c.real(ctx, name, what, env...) }}
	}
	return []lazy{
		fetched("pmd", "PMD on the sources of Apache Commons Lang, a task per source file",
			"SOURCES="+filepath.Join(c.Root, "build", "real", "pmd", "src", pick(c, "", "org/apache/commons/lang3/text"))),
		fetched("sunflow", "the ray tracer Sunflow, its benchmark scene", "FRAMES="+size(8, 1)),
		fetched("lucene", "Lucene, indexing and searching", "DOCUMENTS="+size(40_000, 2_000), "QUERIES="+size(40_000, 2_000)),
		fetched("h2", "requests to an H2 database in memory", "REQUESTS="+size(200_000, 5_000)),
		own("allocating", "tasks that make 300 KB of garbage each", "Allocating", "2", size(60_000, 1_000)),
		own("smallest", "the smallest tasks in a pool: each adds one to a sum", "Smallest", "2", size(20_000_000, 200_000)),
	}
}

func realText(p program, tools []tool.Tool, runs [][]wholeRun) string {
	t := table.Table{Head: []string{p.name, "wall s", "wall", "CPU s of the JVM", "CPU", "shadow's CPU s", "shadow's memory", "executions", "lost"}}
	for i, x := range tools {
		r := runs[i]
		row := []string{x.Name, table.Interval(stat.OfMedian(figures(r, wholeWall))), "", table.Number(stat.Median(figures(r, wholeCPU)))}
		if i > 0 {
			row[2] = table.Percent(stat.Ratio(figures(r, wholeWall), figures(runs[0], wholeWall)))
			row = append(row, table.Percent(stat.Ratio(figures(r, wholeCPU), figures(runs[0], wholeCPU))))
		}
		if last := r[len(r)-1]; last.shadowPeak > 0 {
			peak := 0.0
			for _, one := range r {
				peak = math.Max(peak, one.shadowPeak)
			}
			row = append(row, table.Number(stat.Median(figures(r, wholeShadow))), table.Bytes(peak),
				table.Grouped(int64(last.executions)), table.Grouped(int64(last.lost)))
		}
		t.Add(row...)
	}
	return fmt.Sprintf("\n**%s**: %s.\n\n%s", p.name, p.what, t.String())
}
