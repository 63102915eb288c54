package advice

import "stackagent/internal/units"

// WaitsForItself is a pool whose workers wait for tasks in its own queue.
type WaitsForItself struct {
	PoolName
	Waiting int64    `json:"waiting_units"`
	Parts   int64    `json:"parts"`
	Never   int64    `json:"never_begun"`
	GaveUp  int64    `json:"given_up,omitempty"` // of Parts: still queued when the wait's time limit ended
	Time    units.Ns `json:"waited_ns"`
	Workers int64    `json:"workers"`
	Any     units.Ns `json:"any_ns"`       // during which at least one worker waited so
	Span    units.Ns `json:"pool_time_ns"` // of the pool
	Least   units.Ns `json:"least_ns"`     // that its work takes on all processors
}

// saves is how long a worker waited for the pool itself, at most what the pool's time
// exceeds its work spread over the processors.
func (e *WaitsForItself) saves() units.Ns { return min(e.Any, e.Time, e.Span-e.Least) }

// selfWaiting: workers wait for tasks queued behind them in their own pool.
func selfWaiting(s *search, p *Pool) *Finding {
	q := &p.Queued
	waited := q.Time - p.readyOf(q.CPU)
	if q.Waiting == 0 || q.Span < s.t.PoolTime || float64(waited) < s.t.SelfWait*float64(q.Span)*float64(q.Workers) {
		return nil
	}
	e := &WaitsForItself{p.PoolName, q.Waiting, q.Parts, q.Never, q.GaveUp, waited, q.Workers, q.Any, q.Span, max(0, p.CPU) / units.Ns(max(1, s.Units.CPUs))}
	if q.Never > 0 {
		return (&Finding{Class: q.Class, Worth: units.NotMeasured, Evidence: e}).cannotTell(errLeft) // it may be a deadlock
	}
	if q.GaveUp > 0 {
		return found(q.Class, e).cannotTell(errGaveUp)
	}
	return found(q.Class, e)
}

// readyOf estimates how long units with this CPU time waited for processors: in
// proportion to all units of their pool.
func (p *Pool) readyOf(cpu units.Ns) units.Ns {
	if p.CPU <= 0 {
		return 0
	}
	return units.Ns(float64(orNone(p.Runnable)) * float64(cpu) / float64(p.CPU))
}

// OneAtATime is a pool whose tasks wait for one another.
type OneAtATime struct {
	PoolName
	Units   int64    `json:"units"`
	Workers int64    `json:"workers"`
	Inside  float64  `json:"inside_share"`
	One     float64  `json:"one_wants_cpu_share"`
	Several float64  `json:"several_want_cpu_share"`
	Span    units.Ns `json:"pool_time_ns"`
	Stalled units.Ns `json:"cpu_wait_ns"` // a worker was ready, and none had a processor
	Work    units.Ns `json:"work_ns"`     // CPU time of the units
	Lanes   int      `json:"lanes"`       // workers, at most one a processor
	Lock    *Lock    `json:"lock,omitempty"`
}

// saves is the pool's time in which a worker computed or all waited for something else
// than a processor, less the work spread over the workers.
func (e *OneAtATime) saves() units.Ns { return e.Span - e.Stalled - e.Work/units.Ns(e.Lanes) }

// oneAtATime: all workers are inside units, but only one at a time makes progress.
// Independent tasks do not behave like this: if at least one of them wants a processor
// for 0.9 of the time by chance, two or more do so for 0.46 of it (two workers) to 0.67
// (many). Threads with uneven work are an imbalance instead, except where workers take
// from one queue: there one may get the lock again and again.
func oneAtATime(s *search, p *Pool, span units.Ns) *Finding {
	if x := inTurn(s, p, span); x != nil {
		return x
	}
	f, n := s.Units, len(p.Workers)
	if n < 2 || f.CPUs < 2 || p.Units < s.t.PoolUnits || !p.CPU.Measured() || p.work() < s.t.PoolTime || occupied(p, span) < s.t.Busy || p.Threads && p.unevenly(s.t) ||
		!p.One.Measured() {
		return nil
	}
	own := float64(max(1, span-orNone(p.Stalled)))
	if float64(p.One+p.Several) < (1+s.t.Busy)/2*own || float64(p.Several) > s.t.OneAtATime*own {
		return nil
	}
	e := &OneAtATime{p.PoolName, p.Units, int64(n), min(1, occupied(p, span)), float64(p.One) / own, float64(p.Several) / own,
		span, orNone(p.Stalled), p.CPU, min(n, f.CPUs), p.lockOf(p.Wall - p.demand() - p.held())}
	return found(p.LongestClass, e, NoWaits)
}

// InTurn is a pool whose tasks wait for one another while the one that they wait for
// waits too.
type InTurn struct {
	PoolName
	Units   int64    `json:"units"`
	Workers int64    `json:"workers"`
	Wall    units.Ns `json:"wall_ns"`
	Demand  float64  `json:"cpu_share"` // of Wall: used or wanted a processor
	Mutual  units.Ns `json:"mutual_wait_ns"`
	Span    units.Ns `json:"pool_time_ns"`
	Waited  units.Ns `json:"cpu_wait_ns"` // of a worker on average: for a processor, or for the collector
	Least   units.Ns `json:"least_ns"`    // of a worker on average: computed, slept, or waited for files or the network
	Lock    *Lock    `json:"lock,omitempty"`
	Handed  *Lock    `json:"handed,omitempty"` // if no lock explains it: what most of Wall was waited for
}

// saves is the pool's time without what a worker takes for itself on average.
func (e *InTurn) saves() units.Ns { return e.Span - e.Waited - e.Least }

// inTurn: all workers are inside units and hardly compute, and what some wait for is
// another one of them. A thread with a single unit may be a loop, which waits for its next
// piece of work: that shows no lock.
func inTurn(s *search, p *Pool, span units.Ns) *Finding {
	wall, mutual, handed := p.Wall-p.held(), p.mutual(span), p.mostHanded()
	if len(p.Workers) < 2 || p.Units < s.t.PoolUnits || p.Units < 2*int64(len(p.Workers)) || p.Virtual || !p.CPU.Measured() || wall <= 0 || occupied(p, span) < s.t.Busy ||
		float64(p.demand()) >= s.t.WaitShare*float64(wall) || handed == nil && float64(orNone(mutual)) < s.t.Mutual*float64(wall) {
		return nil
	}
	e := &InTurn{p.PoolName, p.Units, int64(len(p.Workers)), wall, float64(p.demand()) / float64(wall), mutual,
		span, (orNone(p.Runnable) + p.held()) / units.Ns(len(p.Workers)), (p.CPU + p.outside()) / units.Ns(len(p.Workers)), p.lockOf(mutual), nil}
	if e.Lock == nil && handed != nil {
		e.Handed = handed
		return found(handed.Unit, e).cannotTell(errHanded)
	}
	return found(p.LongestClass, e, NoWaits)
}

// Pinned are virtual threads that kept their carriers while parked.
type Pinned struct {
	JDK         int      `json:"jdk"`
	Pins        int64    `json:"pins"`
	Pinned      units.Ns `json:"pinned_ns"`
	ClassPins   int64    `json:"class_pins"`
	ClassPinned units.Ns `json:"class_pinned_ns"`
	Site        string   `json:"site,omitempty"`
	Carriers    int      `json:"carriers"`
	Held        float64  `json:"held_share"` // of the carriers' time, while others waited for one
	Waiting     units.Ns `json:"waiting_ns"` // at most so long did one wait for a carrier
	Active      units.Ns `json:"active_ns"`  // a unit waited or ran on a virtual thread
	Least       units.Ns `json:"least_ns"`   // that their work takes on all processors
}

// saves is the least of how long threads were pinned, how long one waited for a
// carrier, and what the time exceeds the work spread over the processors.
func (e *Pinned) saves() units.Ns { return min(e.Pinned, e.Waiting, e.Active-e.Least) }

// pinned: virtual threads keep their carriers while parked, and others wait for one.
func pinned(s *search) *Finding {
	f := s.Units
	if f == nil || f.Virtual == nil || f.Virtual.Partly || f.Lost || f.Virtual.Pins < max(1, s.t.PoolUnits) || f.Virtual.Active < s.t.PoolTime || f.Virtual.Carriers <= 0 || f.CPUs <= 0 {
		return nil
	}
	v := f.Virtual
	n := min(v.Carriers, f.CPUs) // the JDK adds carriers for blocked ones
	all, held := v.Active*units.Ns(n), v.held(n)
	e := &Pinned{v.JDK, v.Pins, v.Pinned, v.ClassPins, v.ClassPinned, f.siteOf(v.Class), n, float64(held) / float64(all),
		v.Waiting, v.Active, orNone(v.CPU) / units.Ns(f.CPUs)}
	if float64(held) < s.t.Pinned*float64(all) || float64(e.saves()) < s.t.Pinned*float64(v.Active) {
		return nil
	}
	x := s.replayed(found(v.Class, e), Replayer.Unpinned)
	s.isPinned = x != nil
	return x
}

// held is the least share of the carriers' time that pinned threads took while another
// thread waited. While one waits, every carrier has a thread: it is either parked or
// working.
func (v *VirtualFacts) held(carriers int) units.Ns {
	return min(v.Pinned, v.Waited*units.Ns(carriers)-v.Mounted)
}

// siteOf is the site at which a class was submitted, "" if unknown.
func (f *UnitFacts) siteOf(class string) string {
	for i := range f.Classes {
		if c := &f.Classes[i]; c.Name == class {
			return c.Site
		}
	}
	return ""
}
