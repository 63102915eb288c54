package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"stackagent/cmd/shadow/internal/choice"
	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/files"
	"stackagent/cmd/shadow/internal/listflags"
	"stackagent/cmd/shadow/internal/receiver"
	"stackagent/granularity"
	"stackagent/shadow/analysis/summary"
	"stackagent/shadow/exchange/flame"
	"stackagent/shadow/session"
)

// exportFormat is what a session can be written as. A format is added by a line in exportFormats.
type exportFormat struct {
	name, doc string
	output    string // what -o names
	needed    bool   // -o must be given
	windows   bool   // it takes --from, --to, --iteration and --max
	filters   bool   // it takes --app and --class
	sends     bool   // it takes --slowest and how to reach a receiver
	write     func(x *exporting) error
}

var exportFormats = []exportFormat{
	{"perfetto", "threads, tasks, hand-overs, waits, queues and pauses over time, for Perfetto (.gz compresses it)", "a file", true, true, true, false, exportPerfetto},
	{"jfr", "tasks, submissions, queue times, waits and pauses, for the command jfr and JDK Mission Control", "a file", true, true, true, false, exportJFR},
	{"duckdb", "SQL that makes views of the session's tables, with names in place of ids, for DuckDB", "a file", false, false, false, false, exportDuckDB},
	{"otlp", "counts and times by class, pauses and the slowest tasks as spans, for OpenTelemetry", "the URL of a receiver, or a file (JSON lines)", true, true, true, true, exportOTLP},
	{"pprof", "the work by context, or by executor, call site and class, for pprof", "a file", true, false, true, false, exportPprof},
	{"collapsed", "the same for flamegraph.pl", "a file", false, false, true, false, exportCollapsed},
}

// exporting is one run of shadow export.
type exporting struct {
	env     console.Env
	session *session.Session
	window  choice.Window
	filter  summary.Filter
	max     int
	output  string // as given with -o
	before  int    // warnings of the session that were noted

	slowest  int            // of otlp: executions of each class that become spans
	receiver receiver.Flags // of otlp
	cmd      *cobra.Command

	units bool              // of stacks: units of work
	sort  granularity.Order // of stacks: greatest first by this
}

// file lets f write the output: to standard output, or to a file that appears whole or not at all.
func (x *exporting) file(f func(io.Writer) error) error {
	return files.Write(x.env.Out, x.output, f)
}

// progress shows how far the export is; call done at its end.
func (x *exporting) progress() (show func(what string, done, total uint64), done func()) {
	if bar := x.env.Bar(); bar != nil {
		return bar.Show, bar.Clear
	}
	return func(string, uint64, uint64) {}, func() {}
}

func formatNames() []string {
	names := make([]string, len(exportFormats))
	for i, f := range exportFormats {
		names[i] = f.name
	}
	return names
}

// formatTable is the list of formats in the help.
func formatTable() string {
	var b strings.Builder
	for _, f := range exportFormats {
		fmt.Fprintf(&b, "  %-10s %s; -o names %s\n", f.name, f.doc, f.output)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func newExport(env console.Env) *cobra.Command {
	x := exporting{env: env}
	var format string
	cmd := &cobra.Command{
		Use:   "export DIR",
		Short: "Write a session for other tools",
		Long: `Writes a session in the format of another tool:

` + formatTable() + `

With --from and --to, an export holds what overlaps the window, with its true times.
A file appears whole or not at all. See docs/export.md and docs/open-in.md.`,
		Example: `  shadow export /tmp/s --format perfetto -o tasks.pftrace
  shadow export /tmp/s --format perfetto --from 10s --to 12s -o tasks.pftrace.gz
  shadow export /tmp/s --format jfr -o tasks.jfr
  shadow export /tmp/s --format duckdb -o views.sql
  shadow export /tmp/s --format otlp -o http://127.0.0.1:4318
  shadow export /tmp/s --format otlp --slowest 100 -o tasks.otlp.jsonl
  shadow export /tmp/s --format pprof -o tasks.pb.gz
  shadow export /tmp/s --format collapsed | flamegraph.pl > tasks.svg`,
		Args: listflags.OneSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			x.cmd = cmd
			f, err := x.check(cmd, format)
			if err != nil {
				return err
			}
			if x.session, err = env.Open(args[0]); err != nil {
				return err
			}
			x.before = len(x.session.Warnings)
			if err := f.write(&x); err != nil {
				return fmt.Errorf("exporting %s as %s: %w", x.session.Dir, f.name, err)
			}
			env.NoteFound(x.session, x.before)
			return nil
		},
	}
	cmd.Flags().StringVar(&format, "format", "", strings.Join(formatNames(), "|"))
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(formatNames(), cobra.ShellCompDirectiveNoFileComp))
	cmd.Flags().StringVarP(&x.output, "output", "o", "", "what to write (default: standard output, where the format allows it)")
	cmd.Flags().IntVar(&x.max, "max", 0, "write at most N executions")
	cmd.Flags().IntVar(&x.slowest, "slowest", defaultSlowest, "otlp: executions of each class, by response time, that become spans")
	x.receiver.AddTo(cmd)
	x.window.AddTo(cmd)
	choice.AddFilter(cmd, &x.filter)
	return cmd
}

// check refuses wrong usage before anything is read.
func (x *exporting) check(cmd *cobra.Command, name string) (*exportFormat, error) {
	if name == "" {
		return nil, console.Usagef("missing --format: use one of %s", strings.Join(formatNames(), ", "))
	}
	i := slices.IndexFunc(exportFormats, func(f exportFormat) bool { return f.name == name })
	if i < 0 {
		return nil, console.Usagef("--format %s: use one of %s", name, strings.Join(formatNames(), ", "))
	}
	f := &exportFormats[i]
	if err := x.window.Check(); err != nil {
		return nil, err
	}
	if err := x.filter.Check(); err != nil {
		return nil, &console.UsageError{Err: err}
	}
	switch {
	case x.max < 0:
		return nil, console.Usagef("--max %d: use 0, for all executions, or more", x.max)
	case x.slowest < 0 || x.slowest > maxSlowest:
		return nil, console.Usagef("--slowest %d: use a number from 0 to %d", x.slowest, maxSlowest)
	case !f.sends && (cmd.Flags().Changed("slowest") || x.receiver.Any()):
		return nil, console.Usagef("--format %s: --slowest, --otlp-header and --otlp-insecure are for --format otlp", f.name)
	case f.needed && x.output == "":
		return nil, console.Usagef("--format %s: name %s with -o", f.name, f.output)
	case !f.windows && (!x.window.Whole() || x.max > 0):
		return nil, console.Usagef("--format %s holds the whole session: use it without --from, --to, --iteration and --max", f.name)
	case !f.filters && x.filter.Active():
		return nil, console.Usagef("--format %s holds all classes: use it without --app and --class", f.name)
	}
	return f, nil
}

func exportPprof(x *exporting) error { return exportStacks(x, flame.Pprof, flame.PprofContexts) }

func exportCollapsed(x *exporting) error {
	return exportStacks(x,
		func(w io.Writer, _ *session.Session, stacks []summary.Stack) error { return flame.Collapsed(w, stacks) },
		func(w io.Writer, _ *session.Session, contexts []summary.Context) error {
			return flame.CollapsedContexts(w, contexts)
		})
}
