package advice

import (
	"fmt"

	"stackagent/internal/text"
	"stackagent/internal/units"
)

// CostlyPauses are collections that keep the program from working for too long.
type CostlyPauses struct {
	Share   float64   `json:"share"`
	Stopped units.Ns  `json:"stopped_ns"`
	Around  bool      `json:"with_reaching"` // Stopped includes the time to reach the safepoints and to leave them
	Reached units.Ns  `json:"reach_ns"`      // of Stopped: until all threads had stopped, and after that; 0: not known
	Waited  *units.Ns `json:"cpu_wait_ns"`   // of Stopped: see Waits; null: not known
	Beside  *units.Ns `json:"concurrent_ns"` // see Waits; null: not known
	Stalled *units.Ns `json:"stalled_ns"`    // see Waits; null: not known
	held    units.Ns  // see Waits
	// Asked is the part of the cost in collections that someone asked for, as far as their
	// causes were seen: a larger heap does not avoid them.
	Asked units.Ns `json:"asked_for_ns"`
	// Unseen is whether most collections may have been asked for: their causes are not known.
	Unseen bool `json:"causes_unknown"`
	// Cause is the most frequent one of those that nobody asked for, in HotSpot's words, and OfCause their number; "": not known.
	Cause   string `json:"cause,omitempty"`
	OfCause int64  `json:"of_cause,omitempty"` // how many pauses, or collections, had it
	// Late are threads that were seen to stop late, most CPU time first; wall_ns is how long that took in all samples.
	Late []Seen `json:"late,omitempty"`
}

// all is the time stopped, without that lost to waiting for processors, and the time
// in which a concurrent collector kept threads of the program from processors or from
// memory.
func (e *CostlyPauses) all() units.Ns {
	return e.Stopped - orZero(e.Waited) + orZero(e.Beside) + orZero(e.Stalled)
}

// late reports whether most of the time stopped is that until threads had stopped, without that in which they waited for processors.
func (e *CostlyPauses) late() bool {
	waited := orZero(e.Waited)
	return e.Reached-waited > (e.Stopped-waited)/2
}

// lateText names the threads that were seen to stop late.
func (e *CostlyPauses) lateText() string {
	list := e.Late[:min(len(e.Late), maxNamed)]
	if len(list) == 0 {
		return " Which thread is not known: no sample of a busy one shows it."
	}
	var seen []string
	for _, x := range list {
		seen = append(seen, fmt.Sprintf("%s in %s (%s on average)", x.Thread, x.Site, units.FormatNs(x.Wall/units.Ns(max(1, x.Samples)))))
	}
	return " Seen to stop late: " + text.AllOf(seen) + "."
}

// saves is the cost without that of collections which someone asked for: no heap and no
// collector saves more.
func (e *CostlyPauses) saves() units.Ns { return e.all() - e.Asked }

// cost is what the program lost if the threads that the collector did not hold up went on
// meanwhile.
func (e *CostlyPauses) cost() units.Ns { return e.all() - orZero(e.Stalled) + e.held }

func orZero(n *units.Ns) units.Ns {
	if n == nil {
		return 0
	}
	return *n
}

// costlyPauses finds collections that cost too much, without those that someone asked for.
func costlyPauses(s *search) *Finding {
	e, c := s.collections()
	if len(threadLocals(s)) > 0 {
		return nil // they run because of these
	}
	if e == nil || c.Other == 0 && c.Explicit+c.Asked > 0 {
		return nil // no collection was seen that ran because of the heap
	}
	e.Asked = c.part(e.all(), c.ExplicitTime+c.AskedTime)
	e.Unseen = c.Other == 0 || c.Explicit+c.Asked > 0 && c.Unseen >= c.Explicit+c.Asked+c.Other
	e.Cause, e.OfCause = c.Cause, c.OfCause
	if s.tooLittle(e.cost() - e.Asked) {
		return nil
	}
	x := found("", e)
	x.cannotTell(errHeap)
	return x
}

// Explicit are collections that the program itself asked for.
type Explicit struct {
	Count  int64    `json:"collections"`
	Unseen int64    `json:"causes_unknown"` // collections of which only the number is known
	Cost   units.Ns `json:"cost_ns"`        // of all collections
	Others units.Ns `json:"others_ns"`      // of Cost: in collections that ran for another known reason
	Paused bool     `json:"of_pauses"`      // the numbers are of pauses, of which a concurrent collection has several
	// Askers are the places in the program that asked for them, most first; none: not known.
	Askers  []Asker `json:"askers,omitempty"`
	Buffers int64   `json:"for_buffers,omitempty"` // of Count: the JDK asked, because a direct buffer found no memory
}

// saves is the cost without that of the collections that ran for another reason.
func (e *Explicit) saves() units.Ns { return e.Cost - e.Others }

// explicit finds calls of System.gc() that cost too much: those that were seen must.
func explicit(s *search) *Finding {
	cost, c := s.collections()
	if cost == nil || c.Explicit == 0 || s.tooLittle(c.part(cost.cost(), c.ExplicitTime)) {
		return nil
	}
	e := &Explicit{c.Explicit, c.Unseen, cost.all(), c.part(cost.all(), c.OtherTime+c.AskedTime), c.Paused, c.Askers, c.Buffers}
	return s.replayed(found("", e, NotNeeded), func(r Replayer) (units.Ns, error) { return r.WithoutCollections(SystemGC) })
}

// collections is what the collections cost; nil if that is not known. Their causes are
// empty if these are not known.
func (s *search) collections() (*CostlyPauses, *Collections) {
	if s.Duration <= 0 {
		return nil, nil
	}
	e, c := &CostlyPauses{Stopped: s.GC.Total}, &Collections{}
	if u := s.Units; u != nil {
		if u.Collections != nil {
			c = u.Collections
			e.Stopped, e.Around, e.Reached = c.Stopped, c.Around, c.Reached
			e.Late = u.Late
		}
		if u.Waits != nil {
			e.Waited, e.Beside = new(min(u.Waits.Stopped, e.Stopped)), new(u.Waits.Beside)
			e.Stalled, e.held = new(u.Waits.Stalled), u.Waits.Held
		}
	}
	e.Share = float64(e.Stopped) / float64(s.Duration)
	return e, c
}

// part is the part of a cost that collections took which lasted so long. Their time
// includes waiting for processors, which the cost leaves out.
func (c *Collections) part(cost, time units.Ns) units.Ns {
	if all := max(c.ExplicitTime+c.AskedTime+c.OtherTime, c.Stopped); time > 0 && all > 0 {
		return max(0, units.Ns(float64(cost)*(float64(time)/float64(all))))
	}
	return 0
}

// tooLittle reports whether collections cost too little to be worth an advice. If the JVM
// waited for processors for more than half of the session, half of it counts: 5 % of
// the little that is left could be chance.
func (s *search) tooLittle(cost units.Ns) bool {
	return float64(cost) < s.t.GCShare*float64(max(s.time(s.Duration), s.Duration/2))
}
