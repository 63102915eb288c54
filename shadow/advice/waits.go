package advice

import "stackagent/internal/units"

// WaitsForItself is a pool whose workers wait for tasks in its own queue.
type WaitsForItself struct {
	PoolName
	Waiting int64    `json:"waiting_units"`
	Parts   int64    `json:"parts"`
	Never   int64    `json:"never_begun"`
	Time    units.Ns `json:"waited_ns"`
	Workers int64    `json:"workers"`
}

// selfWaiting: workers wait for tasks queued behind them in their own pool.
func selfWaiting(s *search, p *Pool) *Finding {
	q := &p.Queued
	if q.Waiting == 0 || q.Span < s.t.PoolTime || float64(q.Time-p.readyOf(q.CPU)) < s.t.SelfWait*float64(q.Span)*float64(q.Workers) {
		return nil
	}
	x := &Finding{Class: q.Class, Evidence: &WaitsForItself{p.PoolName, q.Waiting, q.Parts, q.Never, q.Time, q.Workers}}
	if q.Never > 0 {
		return x
	}
	saved := q.Any
	if p.CPU.Measured() {
		saved = min(saved, q.Span-p.CPU/units.Ns(max(1, s.Units.CPUs)))
	}
	x.Gain = bound(saved, s.Units.Duration)
	return x
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
	Units   int64   `json:"units"`
	Workers int64   `json:"workers"`
	Inside  float64 `json:"inside_share"`
	One     float64 `json:"one_wants_cpu_share"`
	Several float64 `json:"several_want_cpu_share"`
}

// oneAtATime: all workers are inside units, but only one at a time makes progress.
// Independent tasks do not behave like this: if at least one of them wants a processor
// for 0.9 of the time by chance, two or more do so for 0.46 of it (two workers) to 0.67
// (many). Threads with uneven work are an imbalance instead, except where workers take
// from one queue: there one may get the lock again and again.
func oneAtATime(s *search, p *Pool, span units.Ns) *Finding {
	f, n := s.Units, len(p.Workers)
	if n < 2 || f.CPUs < 2 || p.Units < s.t.PoolUnits || !p.CPU.Measured() || p.work() < s.t.PoolTime || occupied(p, span) < s.t.Busy || p.Threads && p.unevenly(s.t) ||
		!p.One.Measured() || float64(p.One+p.Several) < (1+s.t.Busy)/2*float64(span) || float64(p.Several) > s.t.OneAtATime*float64(span) {
		return nil
	}
	return &Finding{
		Class: p.LongestClass, Gain: bound(span-p.CPU/units.Ns(min(n, f.CPUs)), f.Duration),
		Evidence: &OneAtATime{p.PoolName, p.Units, int64(n), min(1, occupied(p, span)), float64(p.One) / float64(span), float64(p.Several) / float64(span)},
	}
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
}

// pinned: virtual threads keep their carriers while parked, and others wait for one.
func pinned(s *search) *Finding {
	f := s.Units
	if f == nil || f.Virtual == nil || f.Virtual.Partly || f.Lost || f.Virtual.Pins < max(1, s.t.PoolUnits) || f.Virtual.Active < s.t.PoolTime || f.Virtual.Carriers <= 0 || f.CPUs <= 0 {
		return nil
	}
	v := f.Virtual
	n := min(v.Carriers, f.CPUs) // the JDK adds carriers for blocked ones
	all, held := v.Active*units.Ns(n), v.held(n)
	saved := min(v.Pinned, v.Waiting, v.Active-orNone(v.CPU)/units.Ns(f.CPUs))
	if float64(held) < s.t.Pinned*float64(all) || float64(saved) < s.t.Pinned*float64(v.Active) {
		return nil
	}
	s.isPinned = true
	return &Finding{
		Class: v.Class, Gain: bound(saved, f.Duration),
		Evidence: &Pinned{v.JDK, v.Pins, v.Pinned, v.ClassPins, v.ClassPinned, f.siteOf(v.Class), n, float64(held) / float64(all)},
	}
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
