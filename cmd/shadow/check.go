package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"stackagent/cmd/shadow/internal/choice"
	"stackagent/cmd/shadow/internal/listflags"
	"stackagent/hpc"
	"stackagent/internal/listing"
	"stackagent/internal/listing/table"
	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/shadow/analysis/crosscheck"
	"stackagent/shadow/analysis/summary"
	"stackagent/shadow/show/view"
)

// checkFileName is the file of a session folder that holds the comparison of
// the two views.
const checkFileName = "check.json"

// compareViews is shadow stats --check: it prints the comparison and keeps it
// in the session.
func compareViews(l *listflags.Flags, dir string) error {
	s, err := l.Env.Open(dir)
	if err != nil {
		return err
	}
	counters, err := hpc.ReadFile(s.Dir)
	if err != nil {
		l.Note("%s", text.OneLine(err.Error()))
	}
	usage, err := hpc.ReadUsage(s.Dir)
	if err != nil {
		l.Note("%s", text.OneLine(err.Error()))
	}
	sum, err := choice.Condense(l.Env, s, summary.Options{Brief: true, Exact: true})
	if err != nil {
		return err
	}
	r := crosscheck.Compare(sum, s.ExtraMetrics(), counters, usage)
	if err := hpc.WriteJSON(filepath.Join(s.Dir, checkFileName), r); err != nil {
		l.Note("cannot store the comparison in the session: %s", text.OneLine(err.Error()))
	}
	if l.Format == "json" {
		return l.JSON(r)
	}
	return printCheck(l, &r)
}

func printCheck(l *listflags.Flags, r *crosscheck.Result) error {
	rows := slices.DeleteFunc(listing.Refs(r.Threads), func(t *crosscheck.Thread) bool { return t.Tasks == nil })
	if err := view.Table(l.Out, l.TableOptions(false), rows[:min(len(rows), view.DefaultTop)], checkThreadColumns); err != nil {
		return err
	}
	fmt.Fprintln(l.Out)
	if err := printNotInTasks(l, r); err != nil {
		return err
	}
	fmt.Fprintln(l.Out)
	for _, line := range checkLines(r) {
		fmt.Fprintln(l.Out, table.Clean(line))
	}
	return nil
}

var checkThreadColumns = []listing.Column[*crosscheck.Thread]{
	{Title: "thread", Kind: listing.Name, Value: func(t *crosscheck.Thread) listing.Value { return listing.NameOf(t.Label) }},
	{Title: "kind", Kind: listing.Word, Value: func(t *crosscheck.Thread) listing.Value { return listing.WordOf(t.Kind) }},
	{Title: "kernel", Kind: listing.Int, Unit: listing.Ns, Value: inKernel(func(t *crosscheck.Thread) listing.Value { return listing.IntOf(*t.Kernel) })},
	{Title: "in tasks", Kind: listing.Int, Unit: listing.Ns, Value: func(t *crosscheck.Thread) listing.Value { return listing.IntOf(*t.Tasks) }},
	{Title: "outside", Kind: listing.Int, Unit: listing.Ns, Value: inKernel(func(t *crosscheck.Thread) listing.Value { return listing.IntOf(*t.Outside) })},
	{Title: "share", Kind: listing.Float, Unit: listing.Share, Value: inKernel(func(t *crosscheck.Thread) listing.Value {
		if *t.Kernel <= 0 {
			return listing.Null
		}
		return listing.FloatOf(float64(*t.Tasks) / float64(*t.Kernel))
	})},
	{Title: "executions", Kind: listing.Int, Unit: listing.Count, Value: func(t *crosscheck.Thread) listing.Value { return listing.IntOf(t.Executions) }},
	{Title: "not ended", Kind: listing.Int, Unit: listing.Count, Value: func(t *crosscheck.Thread) listing.Value { return listing.IntOf(t.Running) }},
	{Title: "events, kernel / tasks", Kind: listing.Word, Show: eventsOf},
}

// inKernel leaves a cell empty if the kernel's account of the thread is not known.
func inKernel(of func(*crosscheck.Thread) listing.Value) func(*crosscheck.Thread) listing.Value {
	return func(t *crosscheck.Thread) listing.Value {
		if t.Outside == nil {
			return listing.Null
		}
		return of(t)
	}
}

// eventsOf lists the events that both views count.
func eventsOf(t *crosscheck.Thread) string {
	var list []string
	for _, c := range t.Counters {
		estimated := ""
		if c.Estimated {
			estimated = "~"
		}
		list = append(list, fmt.Sprintf("%s %s%s / %s", c.Event, estimated, units.FormatCount(int64(c.Kernel)), units.FormatCount(c.Tasks)))
	}
	return strings.Join(list, ", ")
}

// outsideColumns are the columns of the CPU time that is not in tasks.
var outsideColumns = []listing.Column[*crosscheck.Part]{
	{Title: "CPU", Kind: listing.Int, Unit: listing.Ns, Value: func(p *crosscheck.Part) listing.Value { return listing.IntOf(p.CPU) }},
	{Title: "threads", Kind: listing.Int, Unit: listing.Count, Value: func(p *crosscheck.Part) listing.Value {
		if p.Threads == 0 {
			return listing.Null
		}
		return listing.IntOf(int64(p.Threads))
	}},
	{Title: "not in tasks", Kind: listing.Word, Value: func(p *crosscheck.Part) listing.Value { return listing.WordOf(p.What) }},
}

func printNotInTasks(l *listflags.Flags, r *crosscheck.Result) error {
	return view.Table(l.Out, l.TableOptions(false), listing.Refs(r.Process.NotTasks), outsideColumns)
}

// checkLines say in sentences how the views agree.
func checkLines(r *crosscheck.Result) []string {
	p := &r.Process
	lines := []string{fmt.Sprintf("Tasks: %s of CPU time, all threads seen: %s.", units.FormatNs(p.Tasks), units.FormatNs(p.Threads))}
	if p.Usage != nil {
		lines = append(lines, fmt.Sprintf("The process by the kernel's account: %s (user %s, system %s); threads seen make up %s of it.",
			units.FormatNs(p.Usage.CPU()), units.FormatNs(p.Usage.User), units.FormatNs(p.Usage.System),
			units.FormatPercent(float64(p.Threads)/float64(max(1, p.Usage.CPU())))))
	} else {
		lines = append(lines, "The process's own account is not in the session: only `shadow run -- java ...` sees it.")
	}
	if b := &r.Loops; b.Threads > 0 {
		lines = append(lines, fmt.Sprintf("Threads that lived and ended as executions: %d; the agent has %s of the %s that the kernel has (%s); of one with %s or more it misses at most %s.",
			b.Threads, units.FormatNs(b.Tasks), units.FormatNs(b.Kernel), units.FormatPercent(b.Share()), units.FormatNs(crosscheck.LeastCPU), units.FormatPercent(b.Worst)))
	}
	for i := range r.Threads {
		if t := &r.Threads[i]; t.TooMuch {
			lines = append(lines, fmt.Sprintf("caution: the tasks of %s have %s more than the thread: a bug in stackagent; please report it.", t.Label, units.FormatNs(-*t.Outside)))
		}
	}
	return lines
}
