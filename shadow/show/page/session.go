package page

import (
	"maps"
	"slices"
	"strings"

	"stackagent/granularity"
	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/shadow/analysis/advice"
	"stackagent/shadow/analysis/summary"
	"stackagent/shadow/store"
)

// session fills in the session's line and what is folded below the verdict.
func (b *builder) session() {
	s := b.sum
	to := &b.data.Session
	*to = Session{Name: printable(s.Session), Program: printable(s.JVM.MainClass), JVM: jvmText(s.JVM.Name, s.JVM.Version), Collector: printable(s.JVM.GC),
		Host: printable(s.JVM.Host), PID: s.JVM.PID, CPUs: s.JVM.CPUs, Started: s.Started, DurationNs: float64(s.DurationNs), Running: s.Ended == store.EndedRunning,
	}
	if l := s.Labels; l != nil {
		to.Labels = printable(strings.TrimSpace(l.Service + " " + l.Version + " " + l.Env))
	}
	to.Losses = append(to.Losses, s.Warnings...)
	to.Account, to.NeverAtMost = s.AccountText(), s.NeverAtMost()
	if s.Incomplete != nil {
		if s.Lost.Events+s.Lost.Switches > 0 || s.Lost.Batches > 0 {
			to.Losses = append(to.Losses, to.Account)
		}
		to.Account = "This session is incomplete: " + s.Incomplete.Text() + "."
		if s.Incomplete.Partial() {
			to.Account += " " + summary.PartText + "."
		}
		to.Losses = append(to.Losses, to.Account)
	}
	for i := range s.Findings {
		switch f := &s.Findings[i]; f.Kind {
		case advice.Fact:
			to.Facts = append(to.Facts, f.Text)
		case advice.Caution:
			to.Cautions = append(to.Cautions, f.Text)
		}
	}
	if s.Hidden != nil {
		to.Cautions = append(to.Cautions, s.Hidden.Text())
	}
	if t := b.tasks; t.Units != nil {
		if note := advice.NoteText(t.Units); note != "" {
			to.Facts = append(to.Facts, note)
		}
	}
	b.counts()
	for _, what := range slices.Sorted(maps.Keys(s.NotAvailable)) {
		b.missing(what, s.NotAvailable[what])
	}
	to.Account = sentence(to.Account)
	for _, list := range [][]string{to.Losses, to.Facts, to.Cautions} {
		for i := range list {
			list[i] = sentence(list[i])
		}
	}
}

// sentence makes a text printable that may hold names.
func sentence(s string) string { return text.Cut(text.Clean(s, '?'), 8*nameLength) }

func jvmText(name, version string) string {
	if name == "" {
		return printable(version)
	}
	return printable(name + " " + version)
}

// counts fills in the numbers of the session, and what was not instrumented.
func (b *builder) counts() {
	s, to := b.sum, &b.data.Session
	steps := granularity.Steps(s.Rows)
	add := func(label string, n int64, note string, unless ...string) {
		if note == "" && s.Incomplete.Partial() {
			note = "as far as recorded"
		}
		if slices.ContainsFunc(unless, func(key string) bool { return s.NotAvailable[key] != "" }) {
			return // of an imported session; it is among what is missing
		}
		to.Counts = append(to.Counts, Count{Label: label, Value: float64(n), Note: note})
	}
	seen, atMost, on := "", "", ""
	if s.NotAvailable[advice.CreationsUnseen] != "" {
		seen = "as far as seen"
	}
	if s.NeverAtMost() {
		atMost = "at most: what is missing may have run some"
	}
	if s.Tasks.ThreadsLow {
		on = "or more: " + summary.UnknownVirtual
	}
	add("tasks created", s.Tasks.Created, seen, store.NoCreations)
	if s.InUnits != nil {
		add(s.InUnits.Of.Many(), s.InUnits.Tasks.Executions, "one for each submission by the program")
	}
	add(s.Of.Many(), s.Tasks.Executions, "", store.NoExecutions)
	if n := s.Tasks.Summarised; n > 0 {
		add("summarised", n, "of the "+s.Of.Many()+": counted exactly, not recorded one by one")
	}
	add("never executed", s.Tasks.NeverExecuted-steps, atMost, store.NoCreations)
	if steps > 0 {
		add("CompletableFuture stages that ran inline or were skipped", steps, "")
	}
	add("ended by an exception", s.Tasks.Threw, "", "threw")
	if n := s.Tasks.Running; n > 0 {
		add("still running at the end", n, "")
	}
	add("threads that ran tasks", s.Tasks.Threads, on, store.NoExecutions)
	add("events lost", int64(s.Lost.Events), "", store.NoLostCount)
	for _, r := range s.Refusals {
		to.Refusals = append(to.Refusals, Count{Label: printable(r.Reason), Value: float64(r.Count), Note: printable(r.Sample)})
	}
}

// virtual fills in the virtual threads.
func (b *builder) virtual() {
	v := b.sum.Virtual
	if v == nil {
		b.missing("virtual", "no virtual thread was mounted")
		return
	}
	for i := range v.List[:min(len(v.List), mostRows)] {
		c := &v.List[i]
		ready := units.Ns(-1)
		if c.ReadyNs != nil {
			ready = *c.ReadyNs
		}
		b.data.Virtual = append(b.data.Virtual, Virtual{Class: printable(c.Class), Threads: float64(c.Threads), Mounts: float64(c.Mounts), Changes: float64(c.Changes),
			AwayNs: float64(c.AwayNs), ReadyNs: float64(ready), MostReadyNs: float64(c.MostReadyNs), Pins: float64(c.Pins), PinnedNs: float64(c.PinnedNs)})
	}
}
