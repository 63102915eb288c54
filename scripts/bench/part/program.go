package part

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"stackagent/internal/testjvm"
	"stackagent/scripts/bench/tool"
	"stackagent/shadow/experiment/suite"
)

// program is a whole program, measured from start to end.
type program struct {
	name, what string
	tool.Program
}

// wholeRun is one run of a whole program under one tool.
type wholeRun struct {
	wall, cpu  float64 // of the JVM, seconds
	own        float64 // CPU of the JVM without its children, to 10 ms
	whole      float64 // seconds until the session is complete; without a shadow those of the JVM
	shadow     float64 // CPU of the shadow, seconds
	shadowPeak float64 // bytes
	executions uint64
	lost       uint64

	switches, lostSwitches uint64 // of the scheduling record
}

// real prepares a program of suite/, which is fetched the first time; size replaces that of the suite if there is one. It runs for
// one iteration.
func (c Config) real(ctx context.Context, jdk testjvm.JDK, name, what, of, size string) (program, error) {
	p, err := suite.Find(of, filepath.Join(c.Root, "suite", "programs.yaml"), filepath.Join(c.Root, "suite", "frameworks.yaml"))
	if err != nil {
		return program{}, err
	}
	folder, err := p.Ready(ctx)
	if err != nil {
		return program{}, err
	}
	p.Size = cmp.Or(size, p.Size)
	argv, err := p.Argv(suite.Values{Folder: folder, Threads: 2, Iterations: 1, Small: c.Quick})
	if err != nil {
		return program{}, err
	}
	return program{name, what, tool.Program{JDK: jdk, Dir: p.Dir, Args: argv[1:]}}, nil
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
		r = wholeRun{wall: run.JVM.Wall.Seconds(), cpu: run.JVM.CPU.Seconds(), own: run.JVM.Own.Seconds(), whole: run.JVM.Wall.Seconds()}
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
func wholeOwn(r wholeRun) float64    { return r.own }
func wholeWhole(r wholeRun) float64  { return r.whole }
func wholeShadow(r wholeRun) float64 { return r.shadow }
