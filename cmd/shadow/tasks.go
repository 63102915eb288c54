package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"stackagent/cmd/shadow/internal/choice"
	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/files"
	"stackagent/cmd/shadow/internal/listflags"
	"stackagent/cmd/shadow/internal/tgp"
	"stackagent/internal/listing"
	"stackagent/internal/listing/table"
	"stackagent/internal/text"
	"stackagent/shadow/analysis/summary"
	"stackagent/shadow/session"
	"stackagent/shadow/session/callsite"
	"stackagent/shadow/session/unit"
	"stackagent/shadow/show/view"
	"stackagent/shadow/store"
)

func newTasks(env console.Env) *cobra.Command {
	var l listflags.Flags
	var filter summary.Filter
	var output, metric string
	var inUnits bool
	cmd := &cobra.Command{
		Use:   "tasks DIR",
		Short: "The raw trace: a row per execution and per task never executed",
		Long: `Prints the raw trace. Times are CLOCK_MONOTONIC nanoseconds of the profiled machine.
A cell is empty (null in JSON and Parquet) if nothing was measured: a task never
executed has no execution, start, end, thread or work. docs/columns.md describes the
columns.`,
		Example: `  shadow tasks /tmp/s --format csv -o tasks.csv
  shadow tasks /tmp/s --format parquet -o tasks.parquet
  shadow tasks /tmp/s --format tgp -o traces
  shadow tasks /tmp/s --app --top 50
  shadow tasks /tmp/s --trace 0af7651916cd43dd8448eb211c80319c`,
		Args: listflags.OneSession,
		RunE: func(_ *cobra.Command, args []string) error {
			if err := l.Check(); err != nil {
				return err
			}
			if err := filter.Check(); err != nil {
				return &console.UsageError{Err: err}
			}
			if filter.Trace != "" && (inUnits || l.Format == "tgp") {
				return console.Usagef("--trace goes with rows of tasks, not with --units or --format tgp")
			}
			if inUnits && !slices.Contains(unitFormats, l.Format) {
				return console.Usagef("--units --format %s: use one of %s", l.Format, strings.Join(unitFormats, ", "))
			}
			if l.Format == "tgp" && output == "" {
				return console.Usagef("--format tgp: name a folder with -o, for its four files")
			}
			if l.Format == "parquet" && output == "" {
				return console.Usagef("--format parquet: name a file with -o")
			}
			s, err := env.Open(args[0])
			if err != nil {
				return err
			}
			if inUnits {
				return printUnits(&l, s, filter, output)
			}
			if l.Format == "tgp" {
				before := len(s.Warnings)
				if err := tgp.Export(env, s, filter, metric, output); err != nil {
					return err
				}
				if err := noteSummarised(&l, s, filter); err != nil {
					return err
				}
				env.NoteFound(s, before)
				return nil
			}
			return printTasks(&l, s, filter, output)
		},
	}
	l.AddTo(cmd, env, true, "table", "csv", "json", "parquet", "tgp")
	choice.AddFilter(cmd, &filter)
	choice.AddUnits(cmd, &inUnits)
	choice.AddTrace(cmd, &filter.Trace)
	cmd.Flags().StringVarP(&output, "output", "o", "", "file to write (default: standard output); of tgp's format a folder")
	cmd.Flags().StringVar(&metric, "metric", "", "of tgp's format: the metric of its granularities (default: the first that the session has of bytecodes, ref_cycles, instructions, cycles, cpu, wall)")
	return cmd
}

func printTasks(l *listflags.Flags, s *session.Session, filter summary.Filter, output string) error {
	return files.Write(l.Out, output, func(w io.Writer) error {
		before := len(s.Warnings)
		traces, err := s.Traces()
		if err != nil {
			return err
		}
		sink := view.Stream(&l.Printer, w, output != "", view.Tasks(s, traces.Any()))
		total, err := eachTask(l, s, filter, traces, sink)
		if err != nil {
			return err
		}
		if err := sink.Close(); err != nil {
			return fmt.Errorf("printing tasks: %w", err)
		}
		if err := noteSummarised(l, s, filter); err != nil {
			return err
		}
		l.NoteCut(total > l.Limit())
		if s.Manifest.Summarised.Sum() == 0 { // else some may have no row
			choice.NoteNone(l.Env, s, filter, total)
		}
		l.Env.NoteFound(s, before)
		return nil
	})
}

// maxNamed is how many classes a note names.
const maxNamed = 5

// noteSummarised says what has no row since it was not recorded one by one.
func noteSummarised(l *listflags.Flags, s *session.Session, filter summary.Filter) error {
	if s.Manifest.Summarised.Sum() == 0 {
		return nil
	}
	per := map[string]uint64{}
	var executions, creations uint64
	err := s.Summaries(func(x *session.Summary) error {
		name := unit.UnknownClass(x.Class)
		if c := s.ClassByID(x.Class); c != nil {
			if name = c.Name; !filter.Match(c.Name, c.Kinds) {
				return nil
			}
		}
		per[name] += x.Executions + x.Creations
		executions, creations = executions+x.Executions, creations+x.Creations
		return nil
	})
	if err != nil {
		return fmt.Errorf("reading the summaries of %s: %w", s.Dir, err)
	}
	if executions+creations == 0 {
		return nil
	}
	names := slices.SortedFunc(maps.Keys(per), func(a, b string) int { return cmp.Or(cmp.Compare(per[b], per[a]), cmp.Compare(a, b)) })
	more := ""
	if len(names) > maxNamed {
		names, more = names[:maxNamed], fmt.Sprintf(" and %d others", len(names)-maxNamed)
	}
	for i, n := range names {
		names[i] = table.Clean(n)
	}
	l.Note("%s and %s have no row: they were too fast to be recorded one by one and are in the summaries of %s%s; shadow hotspots counts them",
		text.PluralExact(executions, "execution", "executions"), text.PluralExact(int64(creations), "creation", "creations"), strings.Join(names, ", "), more)
	return nil
}

// eachTask hands the rows that pass on, at most as many as wanted.
// total is one more than that if there are others.
func eachTask(l *listflags.Flags, s *session.Session, filter summary.Filter, traces *session.Traces, to listing.Sink[view.Task]) (total int, err error) {
	limit := l.Limit()
	inherited, named, err := callsite.OfTasks(s)
	if err != nil {
		return 0, fmt.Errorf("reading the call sites of the tasks of %s: %w", s.Dir, err)
	}
	var trace session.TraceID
	if filter.Trace != "" {
		if trace, err = store.ParseTraceID(filter.Trace); err != nil {
			return 0, err
		}
	}
	var inTrace int64
	undecided, err := s.EachTask(func(t *session.Task) error {
		if filter.Trace != "" {
			if !traces.HasTask(trace, t) {
				return nil
			}
			inTrace++
		}
		name := named(t)
		if t.Class != nil && !filter.Match(t.Class.Name, t.Class.Kinds) && (name == "" || !filter.MatchNamed(name, t.Class.Name, 0)) {
			return nil
		}
		total++
		if limit > 0 && total > limit {
			return view.ErrEnough
		}
		return to.Write(view.Task{Task: t, CreatedAt: cmp.Or(inherited(t), t.CreatedAt), Name: name, Span: traces.OfTask(t)})
	})
	if err != nil && !errors.Is(err, view.ErrEnough) {
		return total, fmt.Errorf("listing the tasks of %s: %w", s.Dir, err)
	}
	if filter.Trace != "" && total == 0 {
		choice.NoteNoTask(l.Env, s, filter, traces.Any(), inTrace)
	}
	noteUndecided(l, s, filter, undecided)
	return total, nil
}
