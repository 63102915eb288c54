package sched

import (
	"slices"
	"time"

	"stackagent/internal/units"
)

// The last thread of a process to end frees its memory, for which the kernel charges it: 100 ms and more after a large heap. Which
// thread that is, is chance, and it is no work of it. From Linux 6.16 on the kernel reports the end of a thread before that.

// EndOfProcess is the name of the thread that stands for it. It has no number.
const EndOfProcess = "end of process"

// freeingLeast is the least time after a thread's end that is not the thread's: ending itself takes less.
const freeingLeast = units.Ns(time.Millisecond)

// afterlife takes what the last thread of the process, which has ended at at, ran after its end out of it. It returns the row of the
// thread that has it instead; false: there is none.
func (b *builder) afterlife(t *live, at units.MonoNs) (ThreadRow, bool) {
	if t.exitAt == 0 || t.exitAt >= at || len(b.threads) > 1 {
		return ThreadRow{}, false
	}
	from := b.kept(t)
	ran := units.Ns(0)
	for i := range b.slices {
		if s := &b.slices[i]; s.Thread == t.index && s.State == Running {
			ran += units.Ns(max(0, s.To-max(s.From, from)))
		}
	}
	if ran < freeingLeast || t.CPU.Measured() && ran > t.CPU {
		return ThreadRow{}, false
	}
	row := ThreadRow{b.next, Thread{Name: EndOfProcess, First: from, Last: at, BeginSeen: true, EndSeen: true, CPU: t.CPU}}
	b.next++
	for i := 0; i < len(b.slices); i++ {
		s := &b.slices[i]
		switch {
		case s.Thread != t.index || s.To <= from:
		case s.From >= from:
			s.Thread = row.Index
		default:
			rest := *s
			rest.Thread, rest.From, s.To = row.Index, from, from
			b.slices = slices.Insert(b.slices, i+1, rest)
		}
	}
	if t.Last = from; t.CPU.Measured() {
		t.CPU, row.CPU = t.CPU-ran, ran
	}
	return row, true
}

// kept is since when t has ended, as far as that is not in an earlier part.
func (b *builder) kept(t *live) units.MonoNs {
	for i := range b.slices {
		if s := &b.slices[i]; s.Thread == t.index {
			return max(t.exitAt, s.From)
		}
	}
	return t.exitAt
}
