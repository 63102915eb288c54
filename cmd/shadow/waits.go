package main

import (
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"stackagent/cmd/shadow/internal/choice"
	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/listflags"
	"stackagent/internal/listing/table"
	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/shadow/analysis/summary"
	"stackagent/shadow/analysis/wait"
	"stackagent/shadow/exchange/flame"
	"stackagent/shadow/session"
	"stackagent/shadow/show/view"
	"stackagent/shadow/store"
)

func newWaits(env console.Env) *cobra.Command {
	var l listflags.Flags
	var by, trace string
	cmd := &cobra.Command{
		Use:   "waits DIR",
		Short: "What threads waited for: locks, I/O, sleep, carriers, the collector",
		Long: `Lists what the threads of the program waited for, how often and how long, who ended the
waits, and who held the locks.

class   what was waited for: the class of a monitor's object or of a synchronizer
site    the same, divided by the program's line that waited
unit    where the time of each class of units of work went: on a CPU, waiting for a CPU,
        for locks, I/O, sleep, a carrier, the collector. With the time in the queue it
        adds up to the response time.
thread  the same for each thread; all virtual threads are one row
wait    each wait that was recorded one by one, longest first: who waited, who ended it and
        who held the lock, each with the task whose execution that was

Workers without work are not waiting: a note sums them up, and json and csv have them at
the end, with "queue" as what they waited for.

The agent records waits of 50 us and more (agent option wait), and sums up shorter
ones. With a scheduling record (shadow run --switches) the time on a CPU, the time waiting
for one, and I/O are exact.

--format collapsed writes the stacks of long waits for tools that draw flame graphs
(flamegraph.pl). The site of a long wait is exact; how its time divides among callers is
estimated from one whole stack in 16. Of shorter waits only the nearest frame of the
program is known.`,
		Example: "  shadow waits /tmp/s\n  shadow waits /tmp/s --by site --top 50\n  shadow waits /tmp/s --trace 0af7651916cd43dd8448eb211c80319c\n  shadow waits /tmp/s --by unit\n  shadow waits /tmp/s --by wait --top 100\n  shadow waits /tmp/s --by thread --format csv\n  shadow waits /tmp/s --format collapsed | flamegraph.pl > waits.svg",
		Args:    listflags.OneSession,
		RunE: func(_ *cobra.Command, args []string) error {
			if err := l.Check(); err != nil {
				return err
			}
			if !slices.Contains([]string{"class", "site", "unit", "thread", "wait"}, by) {
				return console.Usagef("--by %s: use class, site, unit, thread or wait", by)
			}
			if trace == "" {
				return listWaits(&l, args[0], by)
			}
			if err := choice.CheckTrace(summary.Filter{Trace: trace}, false); err != nil {
				return err
			}
			if by == "unit" || by == "thread" || l.Format == "collapsed" {
				return console.Usagef("--trace goes with --by class, site and wait, and with --format table, json and csv: the rest is not known by trace")
			}
			return listTraceWaits(&l, args[0], by, trace)
		},
	}
	l.AddTo(cmd, env, true, "table", "json", "csv", "collapsed")
	cmd.Flags().StringVar(&by, "by", "class", "class|site|unit|thread|wait")
	choice.AddTrace(cmd, &trace)
	return cmd
}

func listWaits(l *listflags.Flags, dir, by string) error {
	s, err := l.Env.Open(dir)
	if err != nil {
		return err
	}
	before := len(s.Warnings)
	analyse := wait.Analyse
	if by == "wait" {
		analyse = wait.AnalyseSingles
	}
	a, err := analyse(s)
	if err != nil {
		return err
	}
	noteWaits(l, s, a, before)
	if l.Format == "collapsed" {
		return flame.CollapsedWaits(l.Out, a.Stacks())
	}
	switch by {
	case "unit":
		rows := a.ByUnit()
		return view.Rows(&l.Printer, rows, view.UnitWaits(rows))
	case "thread":
		rows := a.ByThread()
		return view.Rows(&l.Printer, rows, view.ThreadWaits(rows))
	}
	return printWaitsBy(l, s, a, by)
}

// listTraceWaits lists the waits inside executions of a trace.
func listTraceWaits(l *listflags.Flags, dir, by, trace string) error {
	id, err := store.ParseTraceID(trace)
	if err != nil {
		return &console.UsageError{Err: err}
	}
	s, err := l.Env.Open(dir)
	if err != nil {
		return err
	}
	before := len(s.Warnings)
	scan, err := s.TraceScan(id)
	if err != nil {
		return err
	}
	a, err := wait.AnalyseTrace(s, scan, by == "wait")
	if err != nil {
		return err
	}
	choice.NoteOfTrace(l.Env, s, summary.Filter{Trace: trace}, scan.Executions(), &summary.Trace{Any: scan.Any(), All: scan.Executions() + scan.Parts(), Parts: scan.Parts()})
	noteWaits(l, s, a, before)
	return printWaitsBy(l, s, a, by)
}

// noteWaits says what is not known.
func noteWaits(l *listflags.Flags, s *session.Session, a *wait.Analysis, before int) {
	for _, what := range slices.Sorted(maps.Keys(a.NotAvailable)) {
		l.Note("%s not available: %s", what, table.Clean(a.NotAvailable[what]))
	}
	for _, err := range a.Damage {
		l.Note("%s", text.OneLine(err.Error()))
	}
	l.Env.NoteFound(s, before)
}

func printWaitsBy(l *listflags.Flags, s *session.Session, a *wait.Analysis, by string) error {
	if by == "wait" {
		return printSingles(l, s, a)
	}
	return printWaits(l, a.Rows(by == "site"), by == "site")
}

// printSingles prints the waits that were recorded one by one; in the table without the workers that had no work.
func printSingles(l *listflags.Flags, s *session.Session, a *wait.Analysis) error {
	to := view.Stream(&l.Printer, l.Out, false, view.SingleWaits(s))
	total, err := a.Singles(l.Limit(), l.Format != "table", to.Write)
	if err != nil {
		return err
	}
	if err := to.Close(); err != nil {
		return fmt.Errorf("printing waits: %w", err)
	}
	l.NoteCut(total > l.Limit())
	rows := a.Rows(false)
	if l.Format == "table" {
		noteIdle(l, wait.IdleOf(rows))
	}
	if waits, waited := wait.Summed(rows); waits > 0 {
		l.Note("%s, %s in all, have no row: they were too short or too many to be recorded one by one; --by class counts them", text.PluralExact(waits, "wait", "waits"), units.FormatNs(waited))
	}
	return nil
}

// printWaits prints the rows; in the table without the workers that had no work.
func printWaits(l *listflags.Flags, rows []*wait.Row, bySite bool) error {
	idle := wait.IdleOf(rows)
	if l.Format == "table" {
		rows = slices.DeleteFunc(rows, func(r *wait.Row) bool { return r.For == wait.ForQueue })
	}
	if err := view.Rows(&l.Printer, rows, view.Waits(bySite)); err != nil || l.Format != "table" {
		return err
	}
	noteIdle(l, idle)
	return nil
}

func noteIdle(l *listflags.Flags, idle wait.Idle) {
	if idle.Waits > 0 {
		l.Note("not in the table: workers waited for work %s, %s in all", text.PluralExact(idle.Waits, "time", "times"), units.FormatNs(idle.WaitedNs))
	}
}
