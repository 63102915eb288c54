package sched

import (
	"time"

	"golang.org/x/sys/unix"

	"stackagent/internal/units"
)

// Account compares the record with the kernel: the CPU time of the process
// between two moments by its own clock, and the running time of its threads in
// the record between the same moments.
type Account struct {
	From    units.MonoNs `json:"from_ns"`
	To      units.MonoNs `json:"to_ns"`
	CPU     units.Ns     `json:"cpu_ns"`
	Running units.Ns     `json:"running_ns"`
	// Estimated is what perf's estimates add to Running (negative: take from it): the
	// time of the switches themselves, and what the machine took.
	Estimated units.Ns `json:"estimated_ns"`
	// Behind is how much CPU may be off: the kernel updates the time of a running thread
	// only at its clock's ticks and at switches. If the clock was read during a stay, what
	// the hypervisor took of the stay is known only at its end.
	Behind units.Ns `json:"behind_ns"`
}

// reading is the CPU time of a process at a moment.
type reading struct {
	at  units.MonoNs
	cpu units.Ns
}

// readAccount reads the CPU clock of a process: the time of its threads, ended ones
// included. It fails if there is no clock, or if the reading took too long, compared
// with the time since the first one, to be of one moment.
func readAccount(pid int, first units.MonoNs) (reading, bool) {
	const (
		soon  = units.MonoNs(50 * time.Microsecond)
		share = 1000
	)
	clock := int32(^pid<<3 | 2) // CPUCLOCK_SCHED of the process, clock_getcpuclockid(3)
	var t unix.Timespec
	before := now()
	if unix.ClockGettime(clock, &t) != nil {
		return reading{}, false
	}
	after := now()
	if took := after - before; took > max(soon, (after-first)/share) {
		return reading{}, false
	}
	return reading{(before + after) / 2, units.Ns(t.Nano())}, true
}

// measured is a reading and what the record says up to then.
type measured struct {
	reading
	ran    units.Ns // without estimates
	behind units.Ns // by how much the reading may be less than what the threads have used
}

// longestTick is the tick of a kernel built with the lowest rate.
const longestTick = units.Ns(10 * time.Millisecond)

// comparison collects what an Account and, by perf, the estimates need.
type comparison struct {
	first, last measured // zero: none yet
	part        measured // the first one of this part
	gaps        int      // of the record, at first
	added       units.Ns // estimated between first and last
	late        units.Ns // estimated after last
}

// compare takes a reading at a moment when exactly the events before it are applied.
// Where the state of a thread is unknown, the comparison starts anew.
func (b *builder) compare(r reading) {
	ran, behind, ok := b.ranBy(r.at)
	if !ok {
		return
	}
	c, m := &b.account, measured{r, ran, behind}
	if c.first.at == 0 || c.gaps != b.gaps {
		*c = comparison{first: m, gaps: b.gaps}
	}
	if c.part.at == 0 {
		c.part = m
	}
	c.last = m
	c.added, c.late = c.added+c.late, 0
}

// ranBy is how long the threads have been running in all, and how much the kernel's
// clock may be behind; unknown while the state of one thread is.
func (b *builder) ranBy(at units.MonoNs) (sum, behind units.Ns, ok bool) {
	sum = b.ran
	for _, t := range b.threads {
		switch {
		case t.state == Unknown || t.state == Running && !t.certain:
			return 0, 0, false
		case t.state == Running:
			stay := units.Ns(max(0, at-t.since))
			sum, behind = sum+stay, behind+min(stay, longestTick)
		}
	}
	return sum, behind, true
}

// took notes that a part of an ended stay went to interrupts or the hypervisor and
// is not charged. A reading during the stay counted the whole stay, because nobody knows
// how much was taken before the reading.
func (c *comparison) took(from, to units.MonoNs, taken units.Ns) {
	for _, m := range []*measured{&c.first, &c.last} {
		if from < m.at && m.at < to {
			m.behind += min(taken, units.Ns(m.at-from))
		}
	}
}

// ran notes a stay on a CPU that is known only now that it has ended. A reading during the stay counted nothing of it.
func (c *comparison) ran(from, to units.MonoNs) {
	for _, m := range []*measured{&c.first, &c.last} {
		if from < m.at {
			stay := units.Ns(min(m.at, to) - from)
			m.ran += stay
			m.behind += min(stay, longestTick)
		}
	}
}

// result is nil without two readings to compare.
func (c *comparison) result() *Account {
	if c.last.at <= c.first.at || c.last.cpu < c.first.cpu { // a clock that went back is another process's
		return nil
	}
	return &Account{From: c.first.at, To: c.last.at, CPU: c.last.cpu - c.first.cpu,
		Running: c.last.ran - c.first.ran + c.added, Estimated: c.added, Behind: c.first.behind + c.last.behind}
}

// until compares the record with the process's clock, if that was read before at.
func (p *process) until(at units.MonoNs) {
	if p.reading.at != 0 && p.reading.at < at {
		p.b.compare(p.reading)
		p.reading = reading{}
	}
}

// readAccount reads the process's clock: often at first, every second later.
func (p *process) readAccount(pid int) {
	const share, most = 20, units.MonoNs(time.Second)
	at := now()
	if p.reading.at != 0 || at-p.readAt < min((at-p.b.begin)/share, most) {
		return
	}
	if r, ok := readAccount(pid, p.b.account.first.at); ok {
		p.reading, p.readAt = r, r.at
	}
}
