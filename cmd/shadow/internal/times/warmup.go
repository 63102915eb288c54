package times

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"stackagent/cmd/shadow/internal/choice"
	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/files"
	"stackagent/cmd/shadow/internal/listflags"
	"stackagent/shadow/session/catalog"
	"stackagent/shadow/show/figure"
	"stackagent/shadow/show/warm"
)

// warmupFlags are the flags of shadow warmup.
type warmupFlags struct {
	listflags.Flags
	choice.Iterations
	warm.Study
	within string
	output string
}

// NewWarmup is shadow warmup.
func NewWarmup(env console.Env) *cobra.Command {
	var f warmupFlags
	cmd := &cobra.Command{
		Use:   "warmup DIR...",
		Short: "When a program is warm, and what the time before costs",
		Long: `Shows for each iteration of a session how long it took, its CPU time, the compiler's
and the collector's share of it, and deoptimisations. The program is warm from the
iteration from which on each takes at most 1.5 % longer than the fastest one.

Then lists the classes of tasks by the time that they lost: how much more work their
executions took before the program was warm than as many warm ones.

Several sessions are runs of one program: shows means with 95 % confidence intervals.

What an iteration is: a line of the output (shadow run --marker), an execution of a
method (shadow run --task) or of a class (--iterations-of). Where there are none,
--every compares windows of equal length by the time per task.`,
		Example: `  shadow warmup /tmp/s
  shadow warmup out/run-1 out/run-2 out/run-3 -o warmup.svg
  shadow warmup /tmp/s --iterations-of 'com.acme.Iteration'
  shadow warmup /tmp/s --every 1s --format json`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return console.Usagef("missing session folder")
			}
			return f.check()
		},
		RunE: func(_ *cobra.Command, args []string) error { return f.run(env, args) },
	}
	f.AddTo(cmd, env, true, "table", "json", "csv")
	f.AddIterationsOf(cmd)
	cmd.Flags().DurationVar(&f.Every, "every", 0, "compare windows of this length instead of iterations")
	cmd.Flags().StringVar(&f.within, "within", "1.5%", "`SHARE`: how much longer than the fastest iteration a warm one takes at most")
	cmd.Flags().StringVar(&f.Metric, "metric", "wall", "wall|cpu: compare iterations by wall time, or by the CPU time of all threads of the JVM, which a busy machine changes less")
	cmd.Flags().StringVarP(&f.output, "output", "o", "", "write the figure to FILE.svg|png|pdf")
	return cmd
}

func (f *warmupFlags) check() error {
	if err := errors.Join(f.Flags.Check(), f.Iterations.CheckIteration(), files.CheckFigure(f.output)); err != nil {
		return err
	}
	percent, err := strconv.ParseFloat(strings.TrimSuffix(f.within, "%"), 64)
	if err != nil || !(percent > 0 && percent <= 1000) {
		return console.Usagef("--within %s: use a share above 0, as 1.5%%", f.within)
	}
	f.Share = percent / 100
	if f.Metric != "wall" && f.Metric != "cpu" {
		return console.Usagef("--metric %s: use wall or cpu", f.Metric)
	}
	if f.Every < 0 || f.Every > 0 && f.Every < time.Millisecond {
		return console.Usagef("--every %v: use a time of 1ms or more", f.Every)
	}
	if f.Every > 0 && f.IterationsOf != "" {
		return console.Usagef("--every and --iterations-of: use one of them")
	}
	return nil
}

func (f *warmupFlags) run(env console.Env, dirs []string) error {
	f.Study.Printer, f.Of = &f.Flags.Printer, f.IterationsOf
	var runs []*warm.Run
	labels := catalog.FolderLabels(dirs)
	for i, dir := range dirs {
		s, err := env.Open(dir)
		if err != nil {
			return err
		}
		r, err := f.Study.Measure(s, labels[i], func(before int) { env.NoteFound(s, before) })
		if err != nil {
			return err
		}
		runs = append(runs, r)
	}
	w := f.Study.Join(runs)
	if f.output != "" {
		return files.WriteFigure(env, f.output, figure.Warmup(f.Curve(w)))
	}
	return f.Print(w)
}
