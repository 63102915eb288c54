package sched

import (
	"fmt"
	"time"

	"stackagent/internal/text"
	"stackagent/internal/units"
)

// perf writes the record of a switch to a thread when it is done, while the
// kernel charges the thread from when it was chosen. How long that takes is
// unknown. The estimate is one length for all switches of a part, chosen so that the
// running times of the part add up to the kernel's CPU time. What the hypervisor and
// interrupts took is unknown, too: if the CPU time is less than the running times,
// the difference is spread evenly over them. A part has one estimate or the other.

// wayMost is more than a switch takes.
const wayMost = units.MonoNs(50 * time.Microsecond)

// turn is a switch to a thread, by perf.
type turn struct {
	at     units.MonoNs
	before int32        // index of the slice of the stay before it
	run    int32        // of the stay on the CPU
	room   units.MonoNs // by how much that can have begun before: no other thread of the process had the CPU
}

// turnTo notes a switch to a thread whose previous stay has just ended.
func (b *builder) turnTo(t *live, cpu int32) {
	if t.prior < 0 || b.slices[t.prior].To != t.since || b.slices[t.prior].State == Running {
		return
	}
	free := t.since - max(b.slices[t.prior].From, b.left[cpu])
	t.turn = turn{at: t.since, before: int32(t.prior), room: min(max(0, free), wayMost)}
}

// estimate makes the running times of this part add up to the kernel's CPU time.
func (b *builder) estimate() {
	if len(b.left) == 0 && len(b.turns) == 0 { // a thread may get a CPU, and none leave one, in a whole part
		return // the source is not perf: nothing is estimated
	}
	c := &b.account
	if ran := c.last.ran - c.part.ran; c.part.at != 0 && ran > 0 {
		missing := c.last.cpu - c.part.cpu - ran
		if missing >= -c.last.behind && missing <= c.part.behind {
			missing = 0 // so little may be an error of the clock
		}
		if way, ok := wayOf(b.turns, c.part.at, c.last.at, missing); ok {
			b.way = way
		}
		if b.taken = -float64(missing) / float64(ran); b.taken < takenLeast {
			b.taken = 0
		}
	}
	c.part = measured{}
	b.addSwitches()
	b.leaveOutTaken()
}

// addSwitches lets the stays on CPUs of this part begin with the switch.
func (b *builder) addSwitches() {
	for _, x := range b.turns {
		way := min(b.way, x.room)
		b.slices[x.before].To -= way
		b.slices[x.run].From -= way
		b.ways += units.Ns(way)
		b.account.change(units.Ns(way), x.at, x.at)
	}
	b.turned += len(b.turns)
	b.turns = b.turns[:0]
}

const (
	takenLeast = 0.002 // of the running time: less is not worth an estimate
	takenMost  = 0.95
	takenFrom  = units.MonoNs(100 * time.Microsecond) // stays from which something is taken: not to double the record
)

// leaveOutTaken makes the begin of the longer stays on CPUs of this part Runnable.
func (b *builder) leaveOutTaken() {
	if b.taken == 0 {
		return
	}
	all, long := units.MonoNs(0), units.MonoNs(0)
	for _, s := range b.slices {
		if n := s.To - s.From; s.State == Running {
			all += n
			if n >= takenFrom {
				long += n
			}
		}
	}
	if long == 0 {
		return
	}
	share := min(b.taken*float64(all)/float64(long), takenMost)
	for i := range b.slices { // those that are added are not looked at
		s := &b.slices[i]
		if s.State != Running || s.To-s.From < takenFrom {
			continue
		}
		taken := units.MonoNs(float64(s.To-s.From) * share)
		b.account.change(-units.Ns(taken), s.From, s.To)
		b.takenAway += units.Ns(taken)
		begin := s.From
		s.From += taken
		b.slices = append(b.slices, Slice{Thread: s.Thread, State: Runnable, From: begin, To: begin + taken})
	}
}

// change adds an estimate about a stretch of time, as much of it as lies between
// the readings.
func (c *comparison) change(ns units.Ns, from, to units.MonoNs) {
	if c.first.at == 0 {
		return
	}
	before, within := share(from, to, c.first.at), share(from, to, c.last.at)
	c.added += units.Ns(float64(ns) * (within - before))
	c.late += units.Ns(float64(ns) * (1 - within))
}

// share is how much of from..to is not after at, 0 to 1.
func share(from, to, at units.MonoNs) float64 {
	switch {
	case to <= at:
		return 1
	case from >= at:
		return 0
	}
	return float64(at-from) / float64(to-from)
}

// wayOf is how long each of the turns after from until to took, if they took
// missing in all: the shortest time that explains as much of it as can be. False:
// there were none.
func wayOf(turns []turn, from, to units.MonoNs, missing units.Ns) (way units.MonoNs, ok bool) {
	takes := func(way units.MonoNs) (sum units.Ns) {
		for _, x := range turns {
			if x.at > from && x.at <= to {
				sum += units.Ns(min(way, x.room))
			}
		}
		return sum
	}
	want := min(missing, takes(wayMost))
	most := wayMost
	for way < most {
		if middle := (way + most) / 2; takes(middle) >= want {
			most = middle
		} else {
			way = middle + 1
		}
	}
	return way, takes(1) > 0
}

// explainEstimates describes the estimates that were made.
func (b *builder) explainEstimates(notAvailable map[string]string) {
	if b.ways > 0 {
		notAvailable[switchItself] = fmt.Sprintf("perf records a switch to a thread when it is done, while the kernel charges the thread from its begin; "+
			"%s of running time are an estimate, %s for each of %s on average, so that running times add up to the kernel's CPU time",
			units.FormatNs(b.ways), units.FormatNs(b.ways/units.Ns(b.turned)), text.PluralExact(b.turned, "switch", "switches"))
	}
	if b.takenAway > 0 {
		notAvailable[takenTime] = fmt.Sprintf("what the hypervisor and interrupts took from the threads is not in the records of perf; "+
			"%s are an estimate, by the kernel's CPU time of the process: runnable instead of running", units.FormatNs(b.takenAway))
	}
}
