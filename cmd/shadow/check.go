package main

import (
	"fmt"
	"path/filepath"

	"stackagent/hpc"
	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/shadow/check"
	"stackagent/shadow/summary"
	"stackagent/shadow/view/table"
)

// checkFileName is the file of a session folder that holds the comparison of
// the two views.
const checkFileName = "check.json"

// checkSession is shadow stats --check: it prints the comparison and keeps it
// in the session.
func (l *listing) checkSession(dir string) error {
	s, err := open(l.env, dir)
	if err != nil {
		return err
	}
	counters, err := hpc.ReadFile(s.Dir)
	if err != nil {
		l.env.note("%s", text.OneLine(err.Error()))
	}
	usage, err := hpc.ReadUsage(s.Dir)
	if err != nil {
		l.env.note("%s", text.OneLine(err.Error()))
	}
	sum, err := condense(l.env, s, summary.Options{Brief: true})
	if err != nil {
		return err
	}
	r := check.Compare(sum, s.ExtraMetrics(), counters, usage)
	if err := hpc.WriteJSON(filepath.Join(s.Dir, checkFileName), r); err != nil {
		l.env.note("cannot store the comparison in the session: %s", text.OneLine(err.Error()))
	}
	if l.format == "json" {
		return writeJSON(l.env.Out, r)
	}
	return l.printCheck(&r)
}

func (l *listing) printCheck(r *check.Result) error {
	t := table.New(table.Column{Title: "thread", Flexible: true}, table.Column{Title: "kind"}, right("kernel"), right("in tasks"),
		right("outside"), right("share"), right("executions"), right("not ended"), table.Column{Title: "events, kernel / tasks"})
	shown := 0
	for i := range r.Threads {
		if row := &r.Threads[i]; row.Tasks != nil && shown < defaultTop {
			t.Row(checkCells(row)...)
			shown++
		}
	}
	if err := t.Render(l.env.Out, table.ForWriter(l.env.Out, l.env.Getenv)); err != nil {
		return err
	}
	fmt.Fprintln(l.env.Out)
	if err := l.printNotInTasks(r); err != nil {
		return err
	}
	fmt.Fprintln(l.env.Out)
	for _, line := range checkLines(r) {
		fmt.Fprintln(l.env.Out, clean(line))
	}
	return nil
}

func checkCells(row *check.Thread) []string {
	cells := []string{row.Label, row.Kind, "", units.FormatNs(*row.Tasks), "", "",
		units.FormatExact(row.Executions), units.FormatExact(row.Running), ""}
	if row.Outside != nil {
		cells[2], cells[4] = units.FormatNs(*row.Kernel), units.FormatNs(*row.Outside)
		if *row.Kernel > 0 {
			cells[5] = units.FormatPercent(float64(*row.Tasks) / float64(*row.Kernel))
		}
	}
	for i, c := range row.Counters {
		if i > 0 {
			cells[8] += ", "
		}
		estimated := ""
		if c.Estimated {
			estimated = "~"
		}
		cells[8] += fmt.Sprintf("%s %s%s / %s", c.Event, estimated, units.FormatCount(int64(c.Kernel)), units.FormatCount(c.Tasks))
	}
	return cells
}

func (l *listing) printNotInTasks(r *check.Result) error {
	t := table.New(right("CPU"), right("threads"), table.Column{Title: "not in tasks"})
	for _, p := range r.Process.NotTasks {
		threads := ""
		if p.Threads > 0 {
			threads = units.FormatExact(int64(p.Threads))
		}
		t.Row(units.FormatNs(p.CPU), threads, p.What)
	}
	return t.Render(l.env.Out, table.ForWriter(l.env.Out, l.env.Getenv))
}

// checkLines say in sentences how the views agree.
func checkLines(r *check.Result) []string {
	p := &r.Process
	lines := []string{fmt.Sprintf("Tasks: %s of CPU time, all threads seen: %s.", units.FormatNs(p.Tasks), units.FormatNs(p.Threads))}
	if p.Usage != nil {
		lines = append(lines, fmt.Sprintf("The process by the kernel's account: %s (user %s, system %s); threads seen make up %s of it.",
			units.FormatNs(p.Usage.CPU()), units.FormatNs(p.Usage.User), units.FormatNs(p.Usage.System),
			units.FormatPercent(float64(p.Threads)/float64(max(1, p.Usage.CPU())))))
	} else {
		lines = append(lines, "The process's own account is not in the session: only `shadow run -- java ...` sees it.")
	}
	if b := &r.Bodies; b.Threads > 0 {
		lines = append(lines, fmt.Sprintf("Threads that lived and ended as executions: %d; the agent has %s of the %s that the kernel has (%s); of one with %s or more it misses at most %s.",
			b.Threads, units.FormatNs(b.Tasks), units.FormatNs(b.Kernel), units.FormatPercent(b.Share()), units.FormatNs(check.LeastCPU), units.FormatPercent(b.Worst)))
	}
	for i := range r.Threads {
		if t := &r.Threads[i]; t.TooMuch {
			lines = append(lines, fmt.Sprintf("caution: the tasks of %s have %s more than the thread: a fault of this program's, please report it.", t.Label, units.FormatNs(-*t.Outside)))
		}
	}
	return lines
}
