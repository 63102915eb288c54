package evidence

import (
	"stackagent/granularity/activity"
	"stackagent/hpc/sched"
	"stackagent/internal/units"
	"stackagent/shadow/analysis/advice"
	"stackagent/shadow/session"
)

// role is the part that a thread has in collections.
type role uint8

const (
	helps    role = iota // neither: compilers, the VM's other threads
	collects             // a thread of the collector, or the VM's, which some collectors work in
	mutates              // of the program
	roles
)

// sharing sums up how the threads of a JVM shared the processors.
type sharing struct {
	cpus           int
	pauses, stops  cursor // of the collector, and with what it took to reach their safepoints
	now            units.MonoNs
	running, ready [roles]int
	held           int // threads of the program that wait for the collector
	long           int // threads of the program that wait for at least longWait
	// lost is what all threads lost by waiting, stopped what the collector lost in pauses,
	// beside the share of the processors that it had elsewhere while a thread of the
	// program waited for long.
	lost, stopped, beside float64
	// stalled is the time in which a thread of the program waited for the collector outside
	// of pauses, share that times the share of such threads among those that want to go on.
	stalled, share float64
}

// cursor goes through spans that are in order and do not overlap.
type cursor []activity.Span

// at reports whether now is in a span, and until when at most.
func (c *cursor) at(now, until units.MonoNs) (bool, units.MonoNs) {
	for len(*c) > 0 && (*c)[0].To <= now {
		*c = (*c)[1:]
	}
	switch {
	case len(*c) == 0:
		return false, until
	case (*c)[0].From <= now:
		return true, min(until, (*c)[0].To)
	}
	return false, min(until, (*c)[0].From)
}

// idle is the share of the processors that r running and w waiting threads could use
// and have not.
func (c *sharing) idle(r, w int) float64 {
	if most := min(r+w, c.cpus); most > r {
		return 1 - float64(r)/float64(most)
	}
	return 0
}

// advance adds the time up to to.
func (c *sharing) advance(to units.MonoNs) {
	for c.now < to {
		stopped, end := c.stops.at(c.now, to)
		paused, end := c.pauses.at(c.now, end)
		length, r := float64(end-c.now), c.running[collects]
		lost := length * c.idle(c.running[helps]+r+c.running[mutates], c.ready[helps]+c.ready[collects]+c.ready[mutates])
		c.lost += lost
		switch {
		case paused:
			c.stopped += length * c.idle(r, c.ready[collects])
		case stopped: // a thread of the program that has no processor does not reach the safepoint
			c.stopped += lost
		case c.held > 0:
			c.stalled += length
			c.share += length * float64(c.held) / float64(c.held+c.running[mutates]+c.ready[mutates])
		case r > 0 && c.long > 0:
			c.beside += length * float64(min(r, c.cpus)) / float64(c.cpus)
		}
		c.now = end
	}
}

// count adds by to the counts that a slice belongs to.
func (c *sharing) count(s *activity.Slice, r role, by int) {
	switch {
	case s.State == activity.Running:
		c.running[r] += by
		return
	case s.State == activity.Stalled:
		if r == mutates {
			c.held += by
		}
		return
	}
	c.ready[r] += by
	if r == mutates && s.To-s.From >= longWait { // waking up takes less
		c.long += by
	}
}

// read sums up a scheduling record. of is the role of each thread.
func (c *sharing) read(slices activity.Stream, of []role) error {
	use := func(s *activity.Slice) bool {
		return s.State == activity.Running || s.State == activity.Runnable || s.State == activity.Stalled
	}
	return activity.Sweep(slices, len(of), use, c.advance, func(s *activity.Slice, by int) { c.count(s, of[s.Thread], by) })
}

// waits is what the JVM lost by waiting for processors, by the scheduling record; nil
// if that is not known, or if it and the collections are too little to change a finding.
func (a *advisor) waits(t advice.Thresholds, stops []activity.Span) *advice.Waits {
	m := &a.s.Manifest
	if a.times == nil || m.JVM.CPUs <= 0 {
		return nil
	}
	of := make([]role, len(a.times.Threads))
	used := a.ready()
	for i := range a.times.Threads {
		x := &a.times.Threads[i]
		switch {
		case x.Kind == session.KindGC || x.Role(m.JVM.PID) == "VM thread":
			of[i] = collects
			used += x.States[sched.Running]
		case x.Carried != nil && (x.Kind == session.KindApplication || x.Kind == session.KindMain):
			of[i] = mutates
		}
	}
	record, err := a.s.Activity()
	if err != nil {
		return nil
	}
	window := activity.Span{From: max(record.From, m.StartNs), To: min(record.To, m.StartNs+units.MonoNs(m.DurationNs))}
	c := &sharing{cpus: m.JVM.CPUs, pauses: activity.Union(a.s.Spans(), window), stops: activity.Union(stops, window), now: window.From}
	for _, p := range c.stops {
		used += p.Len()
	}
	if float64(used) < t.GCShare*float64(m.DurationNs) || c.read(record.Stream(window.From, window.To), of) != nil {
		return nil
	}
	return &advice.Waits{Lost: units.Ns(c.lost), Stopped: units.Ns(c.stopped), Beside: units.Ns(c.beside), Stalled: units.Ns(c.stalled), Held: units.Ns(c.share)}
}
