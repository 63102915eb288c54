package scaling

import (
	"stackagent/hpc"
	"stackagent/shadow/session"
)

// Counters are the events of a whole run, summed over its threads, counted from outside.
type Counters struct {
	Events map[hpc.Event]float64
	// Estimated has the events that the kernel multiplexed on some thread.
	Estimated map[hpc.Event]bool
	// NotAvailable says why an event is missing.
	NotAvailable map[string]string
}

// notCounted are events in the papers' tables that cannot be counted from outside.
const notCounted = "not counted from outside by this version; shadow run --metric LLC-load-misses counts them in tasks"

// CountersOf sums up the counters of a session. They cover the whole run, so a part of it
// has none.
func CountersOf(s *session.Session, r Region) (Counters, error) {
	c := Counters{Events: map[hpc.Event]float64{}, Estimated: map[hpc.Event]bool{}, NotAvailable: map[string]string{"llc_loads, llc_misses, l1": notCounted}}
	file, err := hpc.ReadFile(s.Dir)
	if err != nil {
		return c, err
	}
	why := "the run was not counted from outside (shadow run --counters)"
	if !r.Whole() {
		file, why = nil, "counters cover the whole run, not a region of it"
	}
	if file != nil {
		if partial := file.Partial(); partial != "" {
			c.NotAvailable[hpc.SomeThreads] = partial
		}
	}
	for _, e := range hpc.AllEvents() {
		if file == nil {
			c.NotAvailable[e.String()] = why
			continue
		}
		if reason, absent := file.NotAvailable[e]; absent {
			c.NotAvailable[e.String()] = reason
		}
		for i := range file.Threads {
			t := file.Threads[i].Counts[e]
			switch {
			case t == nil:
			case t.Multiplexed:
				c.Events[e] += t.Estimate
				c.Estimated[e] = true
			default:
				c.Events[e] += float64(t.Counted)
			}
		}
	}
	return c, nil
}

// Ratio divides an event of a run by that of the base; false if either has none.
func (c Counters) Ratio(base Counters, e hpc.Event) (float64, bool) {
	n, ok := c.Events[e]
	d, there := base.Events[e]
	if !ok || !there || d <= 0 {
		return 0, false
	}
	return n / d, true
}
