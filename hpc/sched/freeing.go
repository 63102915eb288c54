package sched

import (
	"time"

	"stackagent/internal/units"
)

// The last thread of a process to end frees its memory, for which the kernel charges it: 100 ms and more after a large heap. Which
// thread that is, is chance, and it is no work of it. From Linux 6.16 on the kernel reports the end of a thread before that.

// EndOfProcess is the name of the thread that stands for it. It has no number.
const EndOfProcess = "end of process"

// freeingLeast is the least time on a CPU after a thread's end that is not the thread's: ending itself takes less.
const freeingLeast = units.MonoNs(time.Millisecond)

// exits notes that t is about to end.
func (b *builder) exits(t *live, at units.MonoNs) {
	if t.exitAt != 0 {
		return
	}
	t.exitAt = at
	if b.exiting++; b.exiting == len(b.threads) {
		b.freer = t
	}
}

// freeing ends t, if it is the last thread of the process and still has a CPU at at. What it does after its end is another thread's,
// which it returns; else t.
func (b *builder) freeing(t *live, at units.MonoNs) *live {
	if t == nil || t != b.freer || t.state != Running || !t.certain {
		return t
	}
	from := max(t.exitAt, t.since)
	if at-from < freeingLeast {
		return t
	}
	used := units.NotMeasured
	if t.cpuSeen.Measured() && t.begun != 0 && t.switches == t.cpuAt {
		used = t.cpuSeen + units.Ns(max(from-t.begun, 0))
	}
	n := &live{state: Running, certain: true, cpu: t.cpu, begun: from, after: true, counted: t.counted, switches: t.switches,
		cpuAt: t.cpuAt, cpuSeen: used, base: used, exitAt: t.exitAt, frees: true, since: from, prior: -1, index: b.next}
	n.Thread = Thread{TID: t.TID, Name: EndOfProcess, First: from, Last: from, BeginSeen: true, CPU: units.NotMeasured}
	base := t.base
	b.finish(t, Running, from, true)
	if used.Measured() && base.Measured() {
		b.ended[len(b.ended)-1].CPU = used - base
	}
	b.next, b.gone = b.next+1, false
	b.threads[n.TID], b.exiting = n, b.exiting+1
	return n
}
