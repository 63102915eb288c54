package sched

import "stackagent/internal/units"

// Running is what the kernel charges a thread with. The charge passes from one thread to
// the next a little before the switch is reported, and it leaves out what the hypervisor
// and interrupts took (the latter on kernels that measure them).

// charge makes the stay on a CPU that ends with e as long as the kernel's charge
// for it. What is missing was taken from the thread, which was ready but did not
// have the CPU: it is recorded as Runnable at the start, since its real time is unknown.
func (b *builder) charge(t *live, e *event) {
	if !e.counted || !t.counted || t.switches != t.cpuAt || !e.cpuTime.Measured() || !t.cpuSeen.Measured() || t.begun == 0 {
		return
	}
	end, used := max(e.at-e.lag, t.since), units.MonoNs(e.cpuTime-t.cpuSeen)
	if used < 0 {
		return
	}
	taken := end - t.begun - used
	if taken > 0 {
		b.account.took(t.since, end, units.Ns(taken))
	}
	switch {
	case taken > 0:
		b.beginAt(t, min(t.since+taken, end))
	case taken < 0 && !t.after && t.since == t.begun: // no other thread of the process can have had the CPU
		b.beginAt(t, t.since+taken)
	}
}

// beginAt moves the start of a thread's present stay. Earlier time is taken from the
// stay before, as far as that is in this part. A thread that was created for the
// stay then starts earlier.
func (b *builder) beginAt(t *live, at units.MonoNs) {
	var before *Slice
	if t.prior >= 0 && b.slices[t.prior].To == t.since && b.slices[t.prior].State != Running {
		before = &b.slices[t.prior]
	}
	switch {
	case at < t.since && t.prior < 0 && t.since == t.First && t.BeginSeen: // it was created a moment before its record
		t.First = max(at, b.from)
		t.since = t.First
	case at < t.since && before != nil:
		before.To = max(at, before.From)
		t.since = before.To
	case at > t.since && before != nil && before.State == Runnable:
		before.To, t.since = at, at
	case at > t.since:
		b.close(t, Runnable, at)
	}
}
