package advice

import "stackagent/internal/units"

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
		v.Waiting, v.Active, v.CPU.OrZero() / units.Ns(f.CPUs)}
	if float64(held) < s.t.Pinned*float64(all) || float64(e.saves()) < s.t.Pinned*float64(v.Active) {
		return nil
	}
	return s.replayed(found(v.Class, e), Replayer.Unpinned)
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
