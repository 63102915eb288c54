package main

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/spf13/cobra"

	"stackagent/cmd/shadow/internal/choice"
	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/listflags"
	"stackagent/cmd/shadow/internal/times"
	"stackagent/granularity/bottle"
	"stackagent/hpc"
	"stackagent/hpc/sched"
	"stackagent/internal/listing"
	"stackagent/internal/listing/table"
	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/shadow/analysis/summary"
	"stackagent/shadow/analysis/threads"
	"stackagent/shadow/session"
	"stackagent/shadow/show/view"
)

func newThreads(env console.Env) *cobra.Command {
	var l listflags.Flags
	var counted, virtual bool
	var group string
	cmd := &cobra.Command{
		Use:   "threads DIR",
		Short: "The threads of a session with name, kind, times and counters",
		Long: `Lists the Java threads and the JVM's own service threads. With a scheduling record
(shadow run --switches) it shows where each thread's time went: running, runnable
(waiting for a CPU), in a futex (locks, monitors, park), in I/O, asleep, or blocked for
another reason. Switches are its own (it blocked) + forced ones (it was preempted). A
role is more precise than a kind: C1 or C2, carrier of virtual threads, agent (the
profiler's own).

shadow run reads the counters (switches, faults, migrations, hardware events) from
outside. The table shows them with --counters; csv and json always do. A cell is
empty if nothing was measured; ~ marks the estimate of a multiplexed counter. Times
and counters are those of the operating system's thread. If it carried several Java
threads in turn, they are in the row of the first.

With --virtual it shows how virtual threads were scheduled: how often they got onto a
carrier (per thread: median and most), how often onto another than before, how long
they waited for one when ready, and how often and how long they parked without leaving
it (pinned). json and csv without --virtual have these figures for each virtual thread
that was recorded by itself.`,
		Example: "  shadow threads /tmp/s\n  shadow threads /tmp/s --group pool\n  shadow threads /tmp/s --virtual\n  shadow threads /tmp/s --format csv",
		Args:    listflags.OneSession,
		RunE: func(_ *cobra.Command, args []string) error {
			if err := cmp.Or(l.Check(), times.CheckGroup(group)); err != nil {
				return err
			}
			s, err := env.Open(args[0])
			if err != nil {
				return err
			}
			if virtual {
				return view.ListVirtual(&l.Printer, s)
			}
			counters, err := hpc.ReadFile(s.Dir)
			if err != nil {
				env.Note("%s", text.OneLine(err.Error())) // the rest of the table stands without it
			}
			before := len(s.Warnings)
			sum, err := choice.Condense(env, s, summary.Options{Brief: true, Exact: true})
			if err != nil {
				return err
			}
			env.NoteFound(s, before)
			rows, times := addTimes(env, s, threads.Rows(sum.Threads, counters))
			if l.Format != "table" { // which does not show it of single threads
				err = threads.AddScheduling(s, rows, sum.Threads)
			}
			if err != nil {
				return err
			}
			rows = threads.Group(rows, bottle.By(group))
			if counted {
				times = nil
			}
			return printThreads(&l, rows, counters, times)
		},
	}
	l.AddTo(cmd, env, true, "table", "json", "csv")
	cmd.Flags().BoolVar(&counted, "counters", false, "show counters instead of times in the table")
	cmd.Flags().BoolVar(&virtual, "virtual", false, "how virtual threads were scheduled: a row per class of their bodies")
	cmd.Flags().StringVar(&group, "group", "thread", "a row for each thread|pool|kind")
	return cmd
}

// addTimes adds the times of the scheduling record to the rows. The second result is nil if there is
// no record.
func addTimes(env console.Env, s *session.Session, rows []threads.Row) ([]threads.Row, *session.Times) {
	times, err := s.ThreadTimes()
	if err != nil {
		env.Note("%s", text.OneLine(err.Error())) // the rest of the table stands without it
		return rows, nil
	}
	if times == nil {
		return rows, nil
	}
	rows = threads.AddTimes(rows, times, s.Manifest.JVM.PID)
	if times.Record.Source == sched.NoSource {
		env.Note("scheduling record not available: %s", table.Clean(times.Record.NotAvailable[sched.NoRecord]))
		times = nil
	}
	return rows, times
}

// printThreads prints the listing and the notes that belong to it.
func printThreads(l *listflags.Flags, rows []threads.Row, file *hpc.File, times *session.Times) error {
	if err := view.Rows(&l.Printer, listing.Refs(rows), threads.Columns(times == nil)); err != nil || l.Format != "table" {
		return err
	}
	if times != nil {
		noteTimes(l, times)
	} else {
		noteCounters(l, file)
	}
	return nil
}

// noteCounters says why cells of counters are empty.
func noteCounters(l *listflags.Flags, file *hpc.File) {
	if file == nil {
		l.Note("this session has no counters")
		return
	}
	for _, e := range hpc.AllEvents() {
		if why := file.NotAvailable[e]; why != "" {
			l.Note("%s not available: %s", e, table.Clean(why))
		}
	}
	if why := file.Partial(); why != "" {
		l.Note("%s", table.Clean(why))
	}
}

// noteTimes says from where the times are, and what is not in them.
func noteTimes(l *listflags.Flags, of *session.Times) {
	r := of.Record
	l.Note("times by %s, over %s; %s lost", r.Source, units.FormatNs(units.Ns(r.To-r.From)), text.PluralExact(min(r.Lost, math.MaxInt64), "record", "records"))
	if !of.Whole {
		l.Note("the record did not end cleanly: what happened after %s is missing", units.FormatNs(units.Ns(r.To-r.From)))
	}
	for _, what := range slices.Sorted(maps.Keys(r.NotAvailable)) {
		l.Note("%s not available: %s", table.Clean(what), table.Clean(r.NotAvailable[what]))
	}
	times.NoteAccount(l.Env, r.Account)
	times.NoteCost(l.Env, r.Cost)
	for _, err := range of.Damage {
		l.Note("%s", text.OneLine(err.Error()))
	}
}
