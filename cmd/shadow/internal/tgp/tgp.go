// Package tgp has the verbs about tgp's traces: shadow tgp post-processes them, shadow import makes sessions of them, and
// Export writes a session as one.
package tgp

import (
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/files"
	"stackagent/cmd/shadow/internal/listflags"
	"stackagent/internal/text"
	"stackagent/shadow/analysis/summary"
	"stackagent/shadow/exchange/tgp"
	"stackagent/shadow/session"
)

// tgpFlags choose what the post-processing of tgp works on.
type tgpFlags struct {
	listflags.Flags
	raw, withGC bool
	asTgp       bool // the rule of tgp on a session, too
	class       string
	metric      string
	maxRows     int
	limits      tgp.Limits
	centre      int64
	output      string
}

// New is shadow tgp: tgp's own post-processing.
func New(env console.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "tgp",
		Short: "The post-processing of tgp: aggregation, diagnosis, fine- and coarse-grained classes",
		Long: `Does what the scripts of tgp do, on a session or on the files of tgp. A nested
execution is merged into its outer one, recursively, if the outer task is not a
thread, or if the nested task was not submitted and was created and executed by that
thread. Of a session, the program's units of work are used instead: that rule would merge all
tasks of a pool into its workers' loops; --as-tgp applies it. Samples taken during a
collection are left out. docs/tgp.md describes the differences from the scripts.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return console.Usagef("missing command; %s --help lists them", cmd.CommandPath())
		},
	}
	cmd.AddCommand(newTgpAggregate(env), newTgpDiagnose(env),
		newTgpOnly(env, "fine", "Classes that spawn only fine-grained tasks", tgp.Fine),
		newTgpOnly(env, "coarse", "Classes that spawn only coarse-grained tasks", tgp.Coarse))
	return cmd
}

// addInput gives cmd the flags about what is read.
func (f *tgpFlags) addInput(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.metric, "metric", "", "of a session: the metric of the granularities (default: the first it has of bytecodes, ref_cycles, instructions, cycles, cpu, wall)")
	flags.BoolVar(&f.asTgp, "as-tgp", false, "of a session: merge by the rule of tgp, tasks of a pool into the worker's loop (default: the program's units of work)")
	flags.IntVar(&f.maxRows, "max-rows", tgp.DefaultMaxRows, "refuse more rows; about 150 bytes of memory each")
}

// addAnalysis gives cmd the flags about how it is prepared.
func (f *tgpFlags) addAnalysis(cmd *cobra.Command) {
	f.addInput(cmd)
	cmd.Flags().BoolVar(&f.raw, "raw", false, "do not aggregate nested executions first")
	cmd.Flags().BoolVar(&f.withGC, "with-gc", false, "keep samples taken during collections")
}

func tgpArgs(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return console.Usagef("missing input: name a session folder, or tasks.csv and the other files of tgp")
	}
	return nil
}

// tgpInput is what is analysed.
type tgpInput struct {
	trace   *tgp.Trace
	tasks   []tgp.Task // aggregated, unless --raw
	merged  *tgp.Aggregated
	samples tgp.Samples
}

func (f *tgpFlags) load(args []string) (*tgpInput, error) {
	if f.maxRows < 1 {
		return nil, console.Usagef("--max-rows %d: use a number above 0", f.maxRows)
	}
	in := &tgpInput{}
	pauses, err := f.read(args, in)
	if err != nil {
		return nil, err
	}
	switch {
	case f.raw:
		in.tasks = in.trace.Tasks
	case in.merged == nil:
		if in.merged, err = tgp.Aggregate(in.trace); err != nil {
			return nil, fmt.Errorf("aggregating: %w", err)
		}
	}
	if in.merged != nil {
		in.tasks = in.merged.Tasks
	}
	if !f.withGC {
		in.samples = in.samples.Outside(pauses)
	}
	return in, nil
}

// read takes a session's folder, a folder with the files of tgp, or the files.
func (f *tgpFlags) read(args []string, in *tgpInput) (pauses []tgp.Pause, err error) {
	if info, err := os.Stat(args[0]); err == nil && info.IsDir() && len(args) == 1 {
		files := []string{filepath.Join(args[0], tgp.TasksFile)}
		if _, err := os.Stat(files[0]); err != nil {
			return f.readSession(args[0], in)
		}
		for _, name := range []string{tgp.GCFile, tgp.CSFile, tgp.CPUFile} {
			if path := filepath.Join(args[0], name); fileExists(path) {
				files = append(files, path)
			}
		}
		args = files
	}
	in.trace, pauses, in.samples, err = readTgp(args, f.maxRows)
	if err == nil && in.trace == nil {
		err = console.Usagef("no %s among the files", tgp.TasksFile)
	}
	return pauses, err
}

func fileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func (f *tgpFlags) readSession(dir string, in *tgpInput) ([]tgp.Pause, error) {
	s, err := f.Env.Open(dir)
	if err != nil {
		return nil, err
	}
	m, err := chooseMetric(s, f.metric)
	if err != nil {
		return nil, err
	}
	if in.samples, err = samplesOf(s); err != nil {
		return nil, err
	}
	c := tgp.NewCollector(f.maxRows)
	if err := eachTgpRow(s, summary.Filter{}, m, c.Write); err != nil {
		return nil, err
	}
	f.noteSession(s, m)
	in.trace = &c.Trace
	if !f.raw && !f.asTgp && !tgp.Imported(s) { // tgp knows no submissions, by which units are found
		if in.merged, err = inUnits(s, in.trace, m.metric); err != nil {
			return nil, err
		}
	}
	return pausesOf(s), nil
}

func (f *tgpFlags) noteSession(s *session.Session, m selfMetric) {
	f.Env.Note("the granularity is self %s", m.name)
	if n := s.Manifest.Summarised.Executions; n > 0 {
		f.Env.Note("%s summarised and not included; record with --detail all to have all", text.PluralExact(n, "execution", "executions"))
	}
}

func newTgpAggregate(env console.Env) *cobra.Command {
	var f tgpFlags
	f.Env = env
	cmd := &cobra.Command{
		Use:     "aggregate PATH... -o FILE",
		Short:   "Write the trace with nested executions merged into their outer ones",
		Example: `  shadow tgp aggregate traces/tasks.csv -o aggregated-tasks.csv`,
		Args:    tgpArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			in, err := f.load(args)
			if err != nil {
				return err
			}
			err = files.Write(env.Out, f.output, func(w io.Writer) error {
				out := tgp.NewTaskWriter(w)
				for i := range in.tasks {
					if err := out.Write(in.trace.Row(&in.tasks[i])); err != nil {
						return err
					}
				}
				return out.Close()
			})
			if err != nil {
				return err
			}
			a := in.merged
			env.Note("merged %d of %s into others; %s not in the trace; left out %s never executed", a.Executions-int64(len(a.Tasks)),
				text.PluralExact(a.Executions, "execution", "executions"), text.PluralExact(a.Missing, "outer task is", "outer tasks are"), text.PluralExact(a.NotExecuted, "task", "tasks"))
			return nil
		},
	}
	f.addInput(cmd)
	cmd.Flags().StringVarP(&f.output, "output", "o", "", "file to write (default: standard output)")
	return cmd
}

func newTgpDiagnose(env console.Env) *cobra.Command {
	var f tgpFlags
	cmd := &cobra.Command{
		Use:   "diagnose PATH...",
		Short: "Statistics of the granularity, and of the machine meanwhile",
		Example: `  shadow tgp diagnose traces
  shadow tgp diagnose /tmp/s --class com.acme.Job --around 100000`,
		Args: tgpArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			if err := f.Check(); err != nil {
				return err
			}
			in, err := f.load(args)
			if err != nil {
				return err
			}
			d := tgp.Diagnose(in.tasks, func(t *tgp.Task) bool { return f.class == "" || in.trace.Classes[t.Class] == f.class }, f.centre, in.samples)
			return f.printDiagnosis(&d)
		},
	}
	f.AddTo(cmd, env, false, "table", "json", "csv")
	f.addAnalysis(cmd)
	cmd.Flags().StringVar(&f.class, "class", "", "only executions of this class")
	cmd.Flags().Int64Var(&f.centre, "around", 100_000, "report the share of tasks within a factor of ten of this granularity")
	return cmd
}

func newTgpOnly(env console.Env, use, short string, limits tgp.Limits) *cobra.Command {
	f := tgpFlags{limits: limits}
	cmd := &cobra.Command{
		Use:   use + " PATH...",
		Short: short,
		Long: short + `: every task of the
class keeps to the limits. The averages of context switches and CPU utilisation
are over the samples taken while its tasks were executed, once for each.`,
		Example: `  shadow tgp ` + use + ` traces
  shadow tgp ` + use + ` /tmp/s --min-tasks 100 --format csv`,
		Args: tgpArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			if err := f.Check(); err != nil {
				return err
			}
			in, err := f.load(args)
			if err != nil {
				return err
			}
			found, outside := tgp.Only(in.tasks, in.trace.Classes, f.limits, in.samples)
			return f.printClasses(found, outside, use)
		},
	}
	f.AddTo(cmd, env, true, "table", "json", "csv")
	f.addAnalysis(cmd)
	flags := cmd.Flags()
	flags.Int64Var(&f.limits.MinGranularity, "min-gran", limits.MinGranularity, "no task of the class below this (MIN_GRAN)")
	flags.Int64Var(&f.limits.MaxGranularity, "max-gran", limits.MaxGranularity, "no task of the class above this (MAX_GRAN)")
	flags.Int64Var(&f.limits.MaxDifference, "max-diff", limits.MaxDifference, "largest less smallest of the class (MAX_DIFF); -1: any")
	flags.Int64Var(&f.limits.MinTasks, "min-tasks", limits.MinTasks, "the class has at least this many tasks (MIN_TASKS)")
	flags.Int64Var(&f.limits.MaxTasks, "max-tasks", limits.MaxTasks, "the class has at most this many tasks (MAX_TASKS); 0: any")
	return cmd
}

// meanText is a mean with two decimals, n/a without samples.
func meanText(m *tgp.Mean) string {
	if m == nil || math.IsNaN(m.Mean) {
		return "n/a"
	}
	return fmt.Sprintf("%.2f", m.Mean)
}
